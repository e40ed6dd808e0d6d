"""Which figures a result has: the first is what `--plot` draws, and a report shows all of them."""

from __future__ import annotations

from collections.abc import Sequence

from provisioner.depth import Depth
from provisioner.errors import InputError
from provisioner.perf import PerformanceModel, Points
from provisioner.report import figures
from provisioner.report.comparison import Row
from provisioner.report.figures import Figure, HeatMaps, bars, cdf, curve, profile, scatter
from provisioner.report.figures.depth import of_depth
from provisioner.search import Evaluation, Front, Objective, Plan, amounts, dominates
from provisioner.traces import Description


def of_plan(plan: Plan, title: str, objective: Objective | None) -> tuple[Figure, ...]:
    """The design space of the winner's design; where rates were searched (no `objective`), what each costs first."""
    if plan.best is None:
        return ()
    if objective is None:
        return (_rates(plan.evaluations, title), _objectives(plan.best))
    design = plan.best.cluster.design
    own = [e for e in plan.evaluations if e.cluster.design == design] or [plan.best]
    space = _space(own, f"{title}: {design.name}", objective, plan.best)
    return (space, _amounts(plan.evaluations, title), _objectives(plan.best))


def of_grid(found: Sequence[Evaluation], title: str) -> tuple[Figure, ...]:
    """A whole grid of one design."""
    return (_space(found, title, "cost", None), _amounts(found, title))


def of_front(front: Front, title: str, *, of_rates: bool) -> tuple[Figure, ...]:
    """The front among all that was simulated."""
    if not front.evaluations:
        return ()
    shown = _highest(front.evaluations) if of_rates else front.evaluations
    return (figures.Front.of(front.clusters, shown, title, of_rates=of_rates),)


def of_comparison(
    rows: Sequence[Row], tried: Sequence[Evaluation], baseline: str, title: str, objective: Objective | None
) -> tuple[Figure, ...]:
    """Designs side by side, then the space of each that was searched."""
    if not rows:
        return ()
    named = [(row.evaluation.cluster.design.short, row.evaluation) for row in rows]
    shown: list[Figure] = [bars.of_designs(rows, baseline, title), bars.of_objectives(named, "Objectives")]
    if tried and objective is not None:
        shown.append(_amounts(tried, title))
        for row in rows:
            design = row.evaluation.cluster.design
            own = [evaluation for evaluation in tried if evaluation.cluster.design == design]
            if own:
                shown.append(_space(own, f"{title}: {design.name}", objective, row.evaluation))
    return tuple(shown)


def of_curve(found: Sequence[Evaluation], title: str) -> tuple[Figure, ...]:
    """Latency against load."""
    return (curve.against_load(found, title),)


def of_model(model: PerformanceModel) -> tuple[Figure, ...]:
    """The knots of a performance model."""
    return (profile.of_model(model),)


def of_points(profiles: Sequence[Points], name: str) -> tuple[Figure, ...]:
    """Measured against fitted, of profiles that can be fitted."""
    try:
        return (scatter.of_points(profiles, f"Measured against fitted: {name}"),)
    except InputError:
        return ()


def of_description(description: Description, title: str) -> tuple[Figure, ...]:
    """The lengths of a trace."""
    return (cdf.of_description(description, title),)


def of_simulation(evaluation: Evaluation, depth: Depth, title: str) -> tuple[Figure, ...]:
    """Inside one simulation, then the objectives of all replications."""
    return (of_depth(depth, title), _objectives(evaluation))


def of_change(before: Evaluation, after: Evaluation, title: str) -> tuple[Figure, ...]:
    """Objectives before and after."""
    return (bars.of_objectives([("before", before), ("after", after)], title),)


def of_cases(named: Sequence[tuple[str, Evaluation]], title: str) -> tuple[Figure, ...]:
    """One cluster in several cases, each with limits of its own."""
    return (bars.of_cases(named, title),) if named else ()


def _space(found: Sequence[Evaluation], title: str, objective: Objective, best: Evaluation | None) -> Figure:
    if found[0].cluster.design.is_mixed:
        return curve.against_machines(found, title)
    return HeatMaps.of(found, title, objective, best)


def _amounts(found: Sequence[Evaluation], title: str) -> figures.Front:
    """Cost and power of what passes; of a ledger the non-dominated of what was simulated."""
    front: list[Evaluation] = []
    for evaluation in sorted((e for e in found if e.is_feasible), key=lambda e: (amounts(e.cluster), -e.headroom)):
        # In this order whatever dominates a cluster, or equals it, comes before it.
        taken = amounts(evaluation.cluster)
        if not any(dominates(amounts(e.cluster), taken) or amounts(e.cluster) == taken for e in front):
            front.append(evaluation)
    return figures.Front.of(front, found, f"Cost and power, {title[:1].lower()}{title[1:]}")


def _rates(tried: Sequence[Evaluation], title: str) -> figures.Front:
    """The highest rate that each cluster was seen to pass, against its cost."""
    best = _highest(tried)
    front: list[Evaluation] = []
    for evaluation in sorted(best, key=lambda e: (e.cluster.cost_usd_per_h, -e.rate_rps)):
        if evaluation.is_feasible and (not front or evaluation.rate_rps > front[-1].rate_rps):
            front.append(evaluation)
    return figures.Front.of(front, best, title, of_rates=True)


def _highest(tried: Sequence[Evaluation]) -> list[Evaluation]:
    """Each cluster at the highest rate that it passes; where none passes any, each at the lowest that it misses."""
    best: dict[tuple[str, tuple[int, ...]], Evaluation] = {}
    for evaluation in sorted(tried, key=lambda e: (e.is_feasible, e.rate_rps if e.is_feasible else -e.rate_rps)):
        best[evaluation.cluster.design.name, evaluation.cluster.counts] = evaluation
    passing = [evaluation for evaluation in best.values() if evaluation.is_feasible]
    return passing or list(best.values())


def _objectives(evaluation: Evaluation) -> figures.Bars:
    cluster = evaluation.cluster
    title = f"Objectives: {cluster.design.name} {cluster.label} at {evaluation.rate_rps:.4g} requests/s"
    return bars.of_objectives([(cluster.label, evaluation)], title)
