"""`provision simulate`: one cluster, its verdict and its SLOs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from provisioner.cli import emit as manifests
from provisioner.cli.emit import Emit
from provisioner.cli.options import Failing, OneCluster, OneDesign, Outputs, Question, shared
from provisioner.errors import Fault, InputError

EXAMPLE = """Examples: provision simulate --design HH --cluster 27,3 --target-rps 70 --depth;
provision simulate --design HH --cluster 27,6 --target-rps 70 --survive token=1 --emit dynamo manifests"""


@shared(Question, Failing, Outputs)
def simulate(
    question: Question,
    failing: Failing,
    outputs: Outputs,
    *,
    design: OneDesign,
    cluster: OneCluster,
    requests: Annotated[
        Path | None, typer.Option(help="Write a CSV of every request of the first replication.", metavar="FILE")
    ] = None,
    trace_events: Annotated[
        Path | None, typer.Option(help="Write a timeline of every machine, for Perfetto.", metavar="FILE.json")
    ] = None,
    trace_window: Annotated[
        str | None, typer.Option(help="Seconds of it that are written.", metavar="FROM:TO", show_default="0:10")
    ] = None,
    in_depth: Annotated[
        bool, typer.Option("--depth", help="Show utilisation, batch sizes, memory and queues.")
    ] = False,
    emit: Emit = None,
) -> None:
    """Simulate one cluster, and look into it.

    It is judged against every SLO.
    """
    from provisioner.cli import output

    manifests.check(emit)
    output.check(outputs, requests=requests, trace_events=trace_events)
    if trace_window is not None and trace_events is None:
        raise InputError(
            Fault(problem="does nothing without --trace-events", field="--trace-window", value=trace_window)
        )
    window = _window("0:10" if trace_window is None else trace_window)
    from rich.console import Group

    from provisioner.cli.console import note
    from provisioner.cli.progress import working
    from provisioner.cli.question import parse_cluster, prepare_one
    from provisioner.cli.resilience import with_failures
    from provisioner.depth import request_rows
    from provisioner.report import answer, table, timeline
    from provisioner.report import depth as deep
    from provisioner.report.figures import choice
    from provisioner.report.sink import write

    setting = with_failures(prepare_one(question, design), failing)
    parsed = parse_cluster(setting.designs[0], cluster)
    judge = setting.judge(parsed.design)
    with working("simulating", quiet=question.quiet):
        evaluation = judge.evaluate(parsed, whole=True)
        first = judge.simulate(parsed)
    if window[0] > first.makespan_s:
        raise _late(trace_window, first.makespan_s)
    depth = judge.depth(first)
    title = f"{parsed.design.name} {parsed.label}, {setting.title}"
    for text in evaluation.warnings:
        note(text, quiet=question.quiet)
    if requests is not None:
        write(requests, answer.table_csv(request_rows(first)), "--requests")
    if trace_events is not None:
        names = timeline.machine_names([pool.name for pool in depth.pools], first.pool_sizes)
        write(
            trace_events,
            timeline.to_json(judge.record(parsed), names, timeline.Window(*window), title),
            "--trace-events",
        )
    manifests.write(emit, setting, evaluation, quiet=question.quiet)
    shown = table.of_evaluation(evaluation, title)
    output.hand_out(
        outputs,
        answer={**answer.of_evaluation(evaluation, setting.inputs), "depth": deep.data(depth)},
        table=lambda: Group(shown, deep.table(depth)) if in_depth else shown,
        csv=lambda: answer.to_csv([evaluation]),
        figures=lambda: choice.of_simulation(evaluation, depth, title),
        quiet=question.quiet,
    )
    if not evaluation.is_feasible:
        raise typer.Exit(3)


def _window(text: str) -> tuple[float, float]:
    """`20:25` as seconds.

    Raises
    ------
    InputError
        If it is no such span.
    """
    from provisioner.cli.ranges import as_number

    ends = [as_number(part) for part in text.split(":")]
    match ends:
        case [float(start_s), float(end_s)] if 0 <= start_s < end_s:
            return start_s, end_s
    raise InputError(
        Fault(problem="not a window", field="--trace-window", value=text, allowed="FROM:TO in seconds, as 20:25")
    )


def _late(window: str | None, end_s: float) -> InputError:
    return InputError(
        Fault(
            problem="begins when all is done",
            field="--trace-window",
            value=window,
            allowed=f"from 0 to {end_s:.4g}, in seconds",
        )
    )
