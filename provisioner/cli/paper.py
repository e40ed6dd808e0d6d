"""`provision paper`: the evaluation of the Splitwise paper, done again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from provisioner.cli.options import Crew, Inputs, Outputs, Question, shared
from provisioner.errors import Fault, InputError

if TYPE_CHECKING:
    from provisioner.cli.question import Setting
    from provisioner.search.paper import Workload, World

EXAMPLE = "Example: provision paper --profile-set splitwisesim --workload conversation"

PRESETS: dict[str, str | None] = {"splitwise": None, "splitwisesim": "splitwisesim"}
"""How each profile set is modelled: the default, and the reference simulator with its memory figures and habits."""
QUICK_DURATION_S = 60.0


@shared(Inputs, Outputs)
def paper(
    inputs: Inputs,
    outputs: Outputs,
    *,
    profile_set: Annotated[
        str,
        typer.Option(
            help="Our default model, the reference simulator's, or both.", metavar="both|" + "|".join(PRESETS)
        ),
    ] = "both",
    workload: Annotated[
        list[str] | None, typer.Option(help="coding or conversation; repeatable.", show_default="both", metavar="NAME")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Published clusters only, half a minute: no search but figure 12's.")
    ] = False,
    duration: Annotated[
        float | None, typer.Option(help="Seconds of arrivals.", metavar="S", show_default="120; 60 with --quick", min=1)
    ] = None,
    replications: Annotated[int, typer.Option(help="Independent seeds.", min=1, max=1000, metavar="N")] = 1,
    seed: Annotated[int, typer.Option(help="Fixes everything random.", min=0, metavar="N")] = 0,
    jobs: Annotated[
        int | None, typer.Option(help="Threads that simulate.", min=1, max=1024, show_default="all cores", metavar="N")
    ] = None,
) -> None:
    """Reproduce the Splitwise paper's evaluation.

    Its figures 12, 16 and 18 to 20, and its claims beside ours.
    """
    from provisioner.cli import output

    output.check(outputs)
    presets = _presets(profile_set, inputs)
    workloads = _workloads(workload)
    from provisioner.cli.console import note
    from provisioner.cli.progress import progress
    from provisioner.cli.question import cores
    from provisioner.cli.warmth import get_ready
    from provisioner.cli.workload import DEFAULT_DURATION_S
    from provisioner.report import answer
    from provisioner.report import paper as report
    from provisioner.report.figures import paper as bars
    from provisioner.search import Workers
    from provisioner.search.paper import compared, steps, study

    span_s = duration or (QUICK_DURATION_S if quick else DEFAULT_DURATION_S)
    common = {"duration": span_s, "replications": replications, "seed": seed}
    worlds = [_world(name, preset, inputs, workloads, common) for name, preset in presets.items()]
    get_ready(quiet=inputs.quiet)
    if replications == 1:
        note("judged on one seed, as the paper does; --replications judges by the mean of several", quiet=inputs.quiet)
    total = steps(worlds, workloads, quick=quick)
    with (
        progress("reproducing the paper", quiet=inputs.quiet, total=total) as advance,
        Workers(cores(Crew(jobs=jobs)), advance) as workers,
    ):
        findings = study(worlds, workloads, workers, quick=quick)
    evaluated = report.Evaluated(findings=findings, comparisons=compared(findings, workloads), workloads=workloads)
    echo: dict[str, Any] = {
        "profile_sets": list(presets), "workloads": list(workloads), "quick": quick, "set": list(inputs.set or ()),
        "seed": seed, "duration_s": span_s, "replications": replications,
    }  # fmt: skip
    output.hand_out(
        outputs,
        answer=report.to_dict(evaluated, echo),
        table=lambda: report.tables(evaluated),
        csv=lambda: answer.table_csv(report.to_rows(evaluated)),
        figures=lambda: bars.of_evaluation(evaluated),
        quiet=inputs.quiet,
    )


def _presets(profile_set: str, inputs: Inputs) -> dict[str, str | None]:
    """The presets by the profile set's name."""
    if inputs.preset is not None:
        raise InputError(
            Fault(problem="the profile set says it", field="--preset", value=inputs.preset, allowed="--profile-set")
        )
    if profile_set == "both":
        return PRESETS
    if profile_set not in PRESETS:
        raise InputError(
            Fault(
                problem="unknown profile set",
                field="--profile-set",
                value=profile_set,
                allowed=", ".join(("both", *PRESETS)),
            )
        )
    return {profile_set: PRESETS[profile_set]}


def _workloads(names: list[str] | None) -> tuple[Workload, ...]:
    """The paper's workloads that are asked for, in its order."""
    from provisioner.search.paper import WORKLOADS

    for name in names or ():
        if name not in WORKLOADS:
            raise InputError(
                Fault(
                    problem="not a workload of the paper", field="--workload", value=name, allowed=", ".join(WORKLOADS)
                )
            )
    return tuple(name for name in WORKLOADS if not names or name in names)


def _world(
    name: str, preset: str | None, inputs: Inputs, workloads: tuple[Workload, ...], common: dict[str, Any]
) -> World:
    """Resolve what one profile set simulates."""
    from provisioner.cli.question import resolve
    from provisioner.search.paper import DESIGNS, MODEL, OTHER_MODEL, TARGET_RPS, World

    def asked(workload: Workload, model: str) -> Setting:
        question = Question(
            catalog=inputs.catalog,
            set=inputs.set,
            preset=preset,
            quiet=inputs.quiet,
            workload=[workload],
            model=model,
            target_rps=TARGET_RPS,
            **common,
        )
        return resolve(question, DESIGNS)

    settings = {(workload, model): asked(workload, model) for workload in workloads for model in (MODEL, OTHER_MODEL)}
    first = next(iter(settings.values()))
    return World(
        name=name,
        designs=dict(zip(DESIGNS, first.designs, strict=True)),
        scenarios={key: setting.scenario for key, setting in settings.items()},
        precision=first.precision,
    )
