"""`provision compare`: designs side by side, for one goal or with given clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from provisioner.cli.optimize import Goal, Maximize, Minimize
from provisioner.cli.options import Designs, Failing, Outputs, Question, Search, shared
from provisioner.errors import Fault, InputError

if TYPE_CHECKING:
    from provisioner.cli.question import Setting
    from provisioner.search import Evaluation, Objective

EXAMPLE = """Examples: provision compare --target-rps 70 --minimize cost;
provision compare --design HH --cluster 35,5 --design HA --cluster 35,8 --target-rps 70"""
DEFAULT_BASELINE = "Baseline-H100"


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
    minimize: Minimize = None,
    maximize: Maximize = None,
    baseline: Annotated[
        str | None,
        typer.Option(help="The design that columns are relative to.", show_default=DEFAULT_BASELINE, metavar="NAME"),
    ] = None,
) -> None:
    """Compare designs: the best cluster of each, or a given one.

    Everything is also given relative to a baseline, and the best of each column is marked.
    """
    from provisioner.cli import output
    from provisioner.cli.console import note
    from provisioner.cli.question import check_affordable, prepare
    from provisioner.cli.resilience import with_failures
    from provisioner.report import answer, comparison
    from provisioner.report.figures import choice

    output.check(outputs)
    names = design or ["all"]
    tried: list[Evaluation] = []
    objective: Objective | None = None
    if cluster:
        _check_pairs(names, cluster, minimize, maximize)
        setting = with_failures(prepare(question, names), failing)
        relative_to = _baseline(baseline, setting)
        found = _given(setting, cluster, quiet=question.quiet)
        goal = setting.scenario.asked
        title = f"Given clusters, {setting.title}"
    else:
        parsed = Goal.parse(question, search, minimize, maximize)
        setting = with_failures(prepare(parsed.question, names), failing).shown_in(outputs)
        check_affordable(parsed.budget, setting.designs)
        relative_to = _baseline(baseline, setting)
        found, tried, unsolved = _solved(parsed, setting, search, quiet=question.quiet)
        for text in unsolved:
            note(text, quiet=question.quiet)
        objective, goal = parsed.objective, parsed.echo(setting)
        title = parsed.title(setting)
    rows = comparison.rows(found, relative_to)
    feasible = any(evaluation.is_feasible for evaluation in found)
    output.hand_out(
        outputs,
        answer=answer.of_clusters(
            found,
            setting.inputs,
            goal,
            status="feasible" if feasible else "infeasible",
            extra=[{"relative_to_baseline": row.ratios, "best": row.best} for row in rows],
        ),
        table=lambda: comparison.table(rows, title, relative_to),
        csv=lambda: answer.table_csv([{**answer.row(row.evaluation), **row.columns} for row in rows]),
        figures=lambda: choice.of_comparison(rows, tried, relative_to, title, objective),
        quiet=question.quiet,
    )
    if not feasible:
        raise typer.Exit(3)


def _solved(
    goal: Goal, setting: Setting, search: Search, *, quiet: bool
) -> tuple[list[Evaluation], list[Evaluation], list[str]]:
    """The best cluster of each design, all that were tried, and what is to be said of designs without any."""
    from provisioner.cli.crew import crew
    from provisioner.cli.progress import progress

    found: list[Evaluation] = []
    tried: list[Evaluation] = []
    unsolved: list[str] = []
    with (
        progress("simulating", quiet=quiet, parts=len(setting.judges)) as bar,
        crew(search, quiet=quiet, bar=bar) as workers,
    ):
        for judge in setting.judges:
            bar.part(judge.design.name)
            plan = goal.solve([judge], search, workers)
            tried.extend(plan.evaluations)
            if plan.best is not None:
                found.append(plan.best)
            if not plan.is_feasible:
                unsolved.append(f"{judge.design.name}: {plan.reason}")
    return found, tried, unsolved


def _given(setting: Setting, clusters: list[str], *, quiet: bool) -> list[Evaluation]:
    from provisioner.cli.progress import progress
    from provisioner.cli.question import parse_cluster

    found = []
    with progress("simulating", quiet=quiet, total=len(clusters)) as advance:
        for judge, text in zip(setting.judges, clusters, strict=True):
            found.append(judge.evaluate(parse_cluster(judge.design, text), whole=True))
            advance(1)
    return found


def _check_pairs(names: list[str], clusters: list[str], minimize: str | None, maximize: str | None) -> None:
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
