"""`provision whatif`: a given cluster before and after something changes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import typer

from provisioner.cli import durations
from provisioner.cli.options import OneCluster, OneDesign, Outputs, Question, shared
from provisioner.errors import Fault, InputError

if TYPE_CHECKING:
    from provisioner.cli.progress import Bar
    from provisioner.cli.question import Setting
    from provisioner.domain.cluster import Cluster
    from provisioner.search import Evaluation
    from provisioner.search.outages import Outages

EXAMPLE = """Examples: provision whatif --design HH --cluster 27,5 --target-rps 70 --fail token=1 --repair 30s;
provision whatif --design HH --cluster 27,5 --target-rps 70 --workload conversation --before-workload coding"""


@shared(Question, Outputs)
def whatif(
    question: Question,
    outputs: Outputs,
    *,
    design: OneDesign,
    cluster: OneCluster,
    fail: Annotated[
        str | None, typer.Option(help="Machines lost; requests on them restart.", metavar="prompt=1,token=1")
    ] = None,
    fail_at: Annotated[
        float | None, typer.Option(help="When they are lost.", metavar="S", show_default="half of the time", min=0)
    ] = None,
    repair: Annotated[
        str | None, typer.Option(help="How long until a machine is back.", metavar="TIME", show_default="never")
    ] = None,
    mtbf: Annotated[
        str | None,
        typer.Option(help="Machines fail by chance, each after so long on average; needs --repair.", metavar="TIME"),
    ] = None,
    scale_prompt: Annotated[float, typer.Option(help="Prompts so many times as long.", metavar="FACTOR")] = 1.0,
    scale_output: Annotated[float, typer.Option(help="Outputs so many times as long.", metavar="FACTOR")] = 1.0,
    before_workload: Annotated[
        list[str] | None, typer.Option(help="The workload before the change.", show_default="the same", metavar="NAME")
    ] = None,
    before_model: Annotated[
        str | None, typer.Option(help="The model before the change.", show_default="the same", metavar="NAME")
    ] = None,
    before_rps: Annotated[
        float | None, typer.Option(help="The rate before the change.", metavar="RPS", show_default="the same")
    ] = None,
) -> None:
    """Judge a cluster before and after a change.

    Of workload, model or rate, by failures, or of anything with --set.
    """
    from provisioner.cli import output
    from provisioner.cli.console import note
    from provisioner.cli.progress import progress
    from provisioner.cli.question import parse_cluster, prepare_one, resolve
    from provisioner.report import answer, change
    from provisioner.report.figures import choice
    from provisioner.search.outages import Lost
    from provisioner.traces import Stretched

    output.check(outputs)
    _check_factors({"--scale-prompt": scale_prompt, "--scale-output": scale_output})
    after = prepare_one(question, design)
    parsed = parse_cluster(after.designs[0], cluster)
    if (scale_prompt, scale_output) != (1.0, 1.0):
        stretched = Stretched(after.scenario.demand, scale_prompt, scale_output)
        after = replace(after, scenario=replace(after.scenario, demand=stretched))
    outages = _outages(Breakdown(fail, fail_at, repair, mtbf), parsed, after, question.seed)
    earlier = replace(
        question,
        set=None,
        workload=before_workload or question.workload,
        model=question.model if before_model is None else before_model,
        target_rps=question.target_rps if before_rps is None else before_rps,
    )
    before = resolve(earlier, [design])
    with progress("simulating", quiet=question.quiet, total=2) as advance:
        found = (_evaluated(before, cluster, None, advance), _evaluated(after, cluster, outages, advance))
    for text in found[1].warnings:
        note(text, quiet=question.quiet)
    given = {
        "--fail": fail,
        "--fail-at": fail_at,
        "--repair": repair,
        "--mtbf": mtbf,
        "--scale-prompt": None if scale_prompt == 1 else scale_prompt,
        "--scale-output": None if scale_output == 1 else scale_output,
        "--set": " --set ".join(question.set or ()) or None,
    }
    changes = {
        "fail": fail,
        "fail_at_s": outages.time_s if isinstance(outages, Lost) else None,
        "repair": repair,
        "mtbf": mtbf,
        "scale_prompt": scale_prompt,
        "scale_output": scale_output,
    }
    changed = _changed(before, after, given)
    if not changed:
        note(
            "nothing changes: see --before-workload, --before-rps, --fail, --scale-prompt, --set", quiet=question.quiet
        )
    title = f"{parsed.design.name} {parsed.label}: {before.title}, then {changed or 'the same'}"
    output.hand_out(
        outputs,
        answer={
            **answer.of_evaluation(found[1], {**after.inputs, **changes}),
            "before": {"inputs": before.inputs, "status": answer.status_of(found[0]), **answer.judged(found[0])},
        },
        table=lambda: change.table(*found, title),
        csv=lambda: answer.table_csv(
            [{"when": when, **answer.row(e)} for when, e in zip(("before", "after"), found, strict=True)]
        ),
        figures=lambda: choice.of_change(*found, title),
        quiet=question.quiet,
    )
    if not found[1].is_feasible:
        raise typer.Exit(3)


def _evaluated(setting: Setting, cluster: str, outages: Outages | None, advance: Bar) -> Evaluation:
    from provisioner.cli.question import parse_cluster
    from provisioner.search import Judge

    design = setting.designs[0]
    judge = Judge(design, setting.scenario, setting.precision, outages)
    evaluation = judge.evaluate(parse_cluster(design, cluster), whole=True)
    advance(1)
    return evaluation


def _changed(before: Setting, after: Setting, given: Mapping[str, object]) -> str:
    """What is other than before, in words; of what was given, as it was typed."""
    models = before.scenario.model.name, after.scenario.model.name
    differing = [after.title] if after.title != before.title else []
    differing += models[1:] if models[0] != models[1] else ()
    typed = " ".join(f"{option} {value}" for option, value in given.items() if value is not None)
    return ", ".join([*differing, typed] if typed else differing)


def _check_factors(factors: Mapping[str, float]) -> None:
    faults = [
        Fault(problem="out of range", field=option, value=factor, allowed="above 0, at most 1000")
        for option, factor in factors.items()
        if not 0 < factor <= 1000  # noqa: PLR2004
    ]
    if faults:
        raise InputError(faults)


def _half_s(cluster: Cluster, setting: Setting) -> float:
    """Half of the time that requests arrive; of a closed loop, of the time that they take if nothing fails."""
    from provisioner.search import Judge

    scenario = setting.scenario
    if not scenario.users:
        return scenario.span_s / 2
    return Judge(cluster.design, scenario, setting.precision).simulate(cluster).makespan_s / 2


@dataclass(frozen=True)
class Breakdown:
    """What was typed about failures."""

    fail: str | None
    fail_at_s: float | None
    repair: str | None
    mtbf: str | None


def _outages(given: Breakdown, cluster: Cluster, setting: Setting, seed: int) -> Outages | None:
    """The first machines of each pool that was named, all lost at one moment; or failures by chance.

    Raises
    ------
    InputError
        If a pool is not the design's or has fewer machines than are to fail, or options do not go together.
    """
    from provisioner.search.outages import Lost, Random

    if given.mtbf is not None and (given.fail is not None or given.fail_at_s is not None):
        raise InputError(Fault(problem="does not go with --fail or --fail-at", field="--mtbf", allowed="one of them"))
    if given.fail is None and given.mtbf is None:
        for option, value in (("--repair", given.repair), ("--fail-at", given.fail_at_s)):
            if value is not None:
                raise InputError(Fault(problem="nothing fails", field=option, value=value, allowed="with --fail"))
        return None
    repair_s = math.inf if given.repair is None else durations.parse(given.repair, "--repair")
    if given.mtbf is not None:
        if given.repair is None:
            raise InputError(Fault(problem="needs --repair", field="--mtbf", allowed="--mtbf 1000h --repair 4h"))
        return Random(durations.parse(given.mtbf, "--mtbf"), repair_s, 2 * _half_s(cluster, setting), seed)
    assert given.fail is not None
    if given.fail_at_s is not None and not math.isfinite(given.fail_at_s):
        raise InputError(Fault(problem="not a time", field="--fail-at", value=given.fail_at_s, allowed="as 60"))
    at_s = _half_s(cluster, setting) if given.fail_at_s is None else given.fail_at_s
    if not setting.scenario.users and at_s > setting.scenario.span_s:
        allowed = f"at most {setting.scenario.span_s:g}, when arrivals end"
        raise InputError(
            Fault(problem="is after all that is simulated", field="--fail-at", value=at_s, allowed=allowed)
        )
    return Lost(_lost(given.fail, cluster), at_s, repair_s)


def _lost(text: str, cluster: Cluster) -> tuple[int, ...]:
    """`prompt=1,token=2` as machines of each pool."""
    counts = dict(zip(cluster.design.pools, cluster.counts, strict=True))
    lost = dict.fromkeys(counts, 0)
    for part in text.split(","):
        pool, _, count = part.strip().partition("=")
        if pool not in counts or not count.isdecimal() or not 0 < int(count) <= counts[pool]:
            raise InputError(
                Fault(
                    problem="cannot fail",
                    field="--fail",
                    value=part,
                    allowed=", ".join(f"{name}=1 to {name}={most}" for name, most in counts.items()),
                )
            )
        if lost[pool]:
            problem = "names the same machines twice"
            raise InputError(Fault(problem=problem, field="--fail", value=text, allowed="each once"))
        lost[pool] = int(count)
    return tuple(lost.values())
