"""`provision compare`: designs side by side, for one goal or with given clusters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any

import typer

from provisioner.cli.optimize import Goal, Maximize
from provisioner.cli.options import Designs, Failing, Outputs, Question, Search, shared
from provisioner.errors import Fault, InputError

if TYPE_CHECKING:
    from provisioner.cli.question import Setting
    from provisioner.report.figures import Figure
    from provisioner.search import Evaluation, Objective

EXAMPLE = """Examples: provision compare --target-rps 70 --minimize cost;
provision compare --target-rps 70 --minimize cost --minimize power --minimize machines;
provision compare --design HH --cluster 35,5 --design HA --cluster 35,8 --target-rps 70"""
DEFAULT_BASELINE = "Baseline-H100"


@dataclass
class Compared:
    """Designs side by side, for one goal."""

    title: str
    goal: dict[str, Any]
    objective: Objective | None = None
    found: list[Evaluation] = field(default_factory=list)
    """One cluster of each design, if it has any."""
    tried: list[Evaluation] = field(default_factory=list)
    """All that were simulated for it."""


@shared(Question, Search, Failing, Outputs)
def compare(
    question: Question,
    search: Search,
    failing: Failing,
    outputs: Outputs,
    *,
    design: Designs = None,
    cluster: Annotated[
        list[str] | None, typer.Option(help="A given cluster, one for each --design.", metavar="P,T")
    ] = None,
    minimize: Annotated[
        list[str] | None,
        typer.Option(help="What to spend least of; repeatable, for a table of each.", metavar="cost|power|machines"),
    ] = None,
    maximize: Maximize = None,
    baseline: Annotated[
        str | None,
        typer.Option(help="The design that columns are relative to.", show_default=DEFAULT_BASELINE, metavar="NAME"),
    ] = None,
) -> None:
    """Compare designs: the best cluster of each, or a given one.

    Everything is also given relative to a baseline, and the best of each column is marked. Several goals in one
    command share their simulations.
    """
    from provisioner.cli import output
    from provisioner.cli.console import note
    from provisioner.cli.question import check_affordable, prepare
    from provisioner.cli.resilience import with_failures

    output.check(outputs)
    names = design or ["all"]
    if cluster:
        _check_pairs(names, cluster, minimize, maximize)
        setting = with_failures(prepare(question, names), failing)
        relative_to = _baseline(baseline, setting)
        found = _given(setting, cluster, quiet=question.quiet)
        compared = [Compared(f"Given clusters, {setting.title}", setting.scenario.asked, found=found)]
    else:
        wanted: list[str | None] = list(dict.fromkeys(minimize)) if minimize else [None]
        goals = [Goal.parse(question, search, each, maximize) for each in wanted]
        setting = with_failures(prepare(goals[0].question, names), failing).shown_in(outputs)
        check_affordable(goals[0].budget, setting.designs)
        relative_to = _baseline(baseline, setting)
        compared = _solved(goals, setting, search, quiet=question.quiet)
    feasible = any(evaluation.is_feasible for each in compared for evaluation in each.found)
    if outputs.plot is not None and len(compared) > 1:
        first = f"{outputs.plot} shows least {compared[0].objective} only: --report FILE.html shows every goal"
        note(first, quiet=question.quiet)
    _hand_out(
        compared, relative_to, setting, outputs, status="feasible" if feasible else "infeasible", quiet=question.quiet
    )
    if not feasible:
        raise typer.Exit(3)


def _solved(goals: Sequence[Goal], setting: Setting, search: Search, *, quiet: bool) -> list[Compared]:
    """For each goal the best cluster of each design; of designs without any, it is said why."""
    from provisioner.cli.console import note
    from provisioner.cli.crew import crew
    from provisioner.cli.progress import progress

    compared = [Compared(goal.title(setting), goal.echo(setting), goal.objective) for goal in goals]
    unsolved: dict[str, None] = {}
    with (
        progress("simulating", quiet=quiet, parts=len(setting.designs) * len(goals)) as bar,
        crew(search, quiet=quiet, bar=bar) as workers,
    ):
        for judge in setting.judges:
            for goal, into in zip(goals, compared, strict=True):
                bar.part(judge.design.name if len(goals) == 1 else f"{judge.design.name} {goal.objective}")
                plan = goal.solve([judge], search, workers)
                into.tried.extend(plan.evaluations)
                if plan.best is not None:
                    into.found.append(plan.best)
                if not plan.is_feasible:
                    unsolved[f"{judge.design.name}: {plan.reason}"] = None
    for text in unsolved:
        note(text, quiet=quiet)
    return compared


def _hand_out(
    compared: Sequence[Compared], relative_to: str, setting: Setting, outputs: Outputs, *, status: str, quiet: bool
) -> None:
    """Tables, JSON, CSV and figures; where there are several goals, clusters have theirs."""
    from rich.console import Group

    from provisioner.cli import output
    from provisioner.report import answer, comparison
    from provisioner.report.figures import choice

    goal = compared[0].goal
    if len(compared) > 1:
        goal = {**goal, "minimize": [each.objective for each in compared]}
    rows = [comparison.rows(each.found, relative_to) for each in compared]
    pairs = list(zip(compared, rows, strict=True))
    flat = [(_named(each, compared), row) for each, own in pairs for row in own]

    def figures() -> list[Figure]:
        found = (choice.of_comparison(own, each.tried, relative_to, each.title, each.objective) for each, own in pairs)
        return list(chain.from_iterable(found))

    output.hand_out(
        outputs,
        answer=answer.of_clusters(
            [row.evaluation for _, row in flat],
            setting.inputs,
            goal,
            status=status,
            extra=[{**name, "relative_to_baseline": row.ratios, "best": row.best} for name, row in flat],
        ),
        table=lambda: Group(
            *[part for each, own in pairs for part in ("", comparison.table(own, each.title, relative_to))][1:]
        ),
        csv=lambda: answer.table_csv([{**name, **answer.row(row.evaluation), **row.columns} for name, row in flat]),
        figures=figures,
        quiet=quiet,
    )


def _named(each: Compared, compared: Sequence[Compared]) -> dict[str, Any]:
    """What a cluster is the answer to, where that is not said once for all."""
    return {"minimize": each.objective} if len(compared) > 1 else {}


def _given(setting: Setting, clusters: list[str], *, quiet: bool) -> list[Evaluation]:
    from provisioner.cli.progress import progress
    from provisioner.cli.question import parse_cluster

    found = []
    with progress("simulating", quiet=quiet, total=len(clusters)) as advance:
        for judge, text in zip(setting.judges, clusters, strict=True):
            found.append(judge.evaluate(parse_cluster(judge.design, text), whole=True))
            advance(1)
    return found


def _check_pairs(names: list[str], clusters: list[str], minimize: list[str] | None, maximize: str | None) -> None:
    if minimize is not None or maximize is not None:
        raise InputError(
            Fault(
                problem="given clusters are not searched for", field="--cluster", allowed="no --minimize, no --maximize"
            )
        )
    if len(names) != len(clusters) or len(set(names)) < len(names) or "all" in names:
        raise InputError(
            Fault(
                problem=f"{len(clusters)} clusters for {len(names)} designs",
                field="--cluster",
                allowed="one for each --design, each design once",
            )
        )


def _baseline(name: str | None, setting: Setting) -> str:
    """Name of the design that columns are relative to: one that is compared."""
    compared = [design.name for design in setting.designs]
    if name is None:
        return DEFAULT_BASELINE if DEFAULT_BASELINE in compared else compared[0]
    try:
        wanted = setting.catalog.design(name).name
    except InputError:
        wanted = None
    if wanted not in compared:
        raise InputError(
            Fault(problem="not among the designs compared", field="--baseline", value=name, allowed=", ".join(compared))
        )
    return wanted
