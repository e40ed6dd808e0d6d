"""`provision optimize`, the main job: the cheapest cluster that passes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, cast

import typer

from provisioner.cli.options import Outputs, Question, shared
from provisioner.errors import Fault, InputError

if TYPE_CHECKING:
    from provisioner.search import Objective

EXAMPLE = "Example: provision --design HA --target-rps 70 --minimize cost"
OBJECTIVES = ("cost", "power", "machines")


@shared(Question, Outputs)
def optimize(
    question: Question,
    outputs: Outputs,
    *,
    design: Annotated[list[str], typer.Option(help="A design by name or file; repeatable; or all.")],
    minimize: Annotated[str | None, typer.Option(help="What to spend least of.", metavar="|".join(OBJECTIVES))] = None,
    max_machines: Annotated[int, typer.Option(help="Largest cluster considered.", min=1, max=2000)] = 200,
    jobs: Annotated[
        int | None, typer.Option(help="Threads that simulate.", min=1, max=1024, show_default="all cores")
    ] = None,
) -> None:
    """Find the cluster that meets every SLO at a target rate for the least cost, power or machines."""
    from provisioner.cli import output

    objective = _objective(minimize)
    output.check(outputs)
    from provisioner.cli.console import note, progress
    from provisioner.cli.question import resolve
    from provisioner.cli.warmth import announce_compilation

    announce_compilation(quiet=question.quiet)
    from provisioner.report import answer, table
    from provisioner.search import Judge, minimise

    setting = resolve(question, design)
    for text in setting.notes:
        note(text, quiet=question.quiet)
    scenario = setting.scenario
    judges = [Judge(each, scenario) for each in setting.designs]
    with progress("simulating clusters", quiet=question.quiet) as advance:
        plan = minimise(judges, objective, max_machines=max_machines, jobs=jobs or cores(), watch=advance)
    for text in plan.best.warnings if plan.best else ():
        note(text, quiet=question.quiet)
    rate_rps = scenario.rate_rps
    output.hand_out(
        outputs,
        answer=answer.of_plan(plan, setting.inputs, {"minimize": objective, "target_rps": rate_rps}, rate_rps),
        table=lambda: table.of_plan(plan, f"Least {objective} for {question.workload} at {rate_rps:.4g} RPS", rate_rps),
        csv=lambda: answer.to_csv(plan.evaluations, rate_rps),
    )
    if not plan.is_feasible:
        raise typer.Exit(3)


def _objective(minimize: str | None) -> Objective:
    if minimize not in OBJECTIVES:
        raise InputError(
            Fault(
                problem="missing: what to minimize" if minimize is None else "unknown objective",
                field="--minimize",
                value=minimize,
                allowed=", ".join(OBJECTIVES),
            )
        )
    return cast("Objective", minimize)


def cores() -> int:
    """Cores this process may use."""
    import os

    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
