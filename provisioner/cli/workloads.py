"""`provision workload`: traces described, converted, and made."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from provisioner.cli.options import Files, Outputs, Traffic, shared

if TYPE_CHECKING:
    from provisioner.domain.trace import RequestTrace
    from provisioner.traces import Intake

app = typer.Typer(help="Traces: describe a file, convert it, or make one.", no_args_is_help=True)

FileArgument = Annotated[Path, typer.Argument(help="A trace file of any known kind, or a pipe.", metavar="FILE")]
Out = Annotated[Path, typer.Option(help="Write the trace: arrival_s,prompt_tokens,output_tokens.", metavar="FILE.csv")]

BYTES_A_STEP = 1_000_000
"""A step of the bar."""


@app.command("describe", epilog="Example: provision workload describe trace.jsonl --time-unit ms")
@shared(Files, Outputs)
def describe(files: Files, outputs: Outputs, *, file: FileArgument) -> None:
    """Say what a trace file holds.

    Rows left out, rate, burstiness, lengths, clock resets, ties, caps.
    """
    from provisioner.cli import output
    from provisioner.report import trace as report
    from provisioner.report.answer import table_csv
    from provisioner.report.figures import choice
    from provisioner.traces import describe

    output.check(outputs)
    with _progress(file, quiet=files.quiet) as advance:
        found = describe(file, files.reading, watch=advance)
    output.hand_out(
        outputs,
        answer={"file": str(file), **report.data(found)},
        table=lambda: report.table(found, str(file)),
        csv=lambda: table_csv(report.rows(found)),
        figures=lambda: choice.of_description(found, file.name),
        quiet=files.quiet,
    )


@app.command("import", epilog="Example: provision workload import BurstGPT_1.csv --window 0:86400 --out day.csv")
@shared(Files, Outputs)
def import_(
    files: Files,
    outputs: Outputs,
    *,
    file: FileArgument,
    out: Out,
    target_rps: Annotated[
        float | None,
        typer.Option(help="Scale time to this rate; bursts stay as they are.", metavar="RPS", show_default="its own"),
    ] = None,
) -> None:
    """Convert a trace file into the plain kind.

    From any known kind, from its first request on.
    """
    from provisioner.cli import output
    from provisioner.traces import read_recording

    output.check(outputs, out=out)
    with _progress(file, quiet=files.quiet) as advance:
        recording = read_recording(file, files.reading, watch=advance)
    trace = recording.trace.from_first()
    if target_rps is not None:
        trace = _at_rate(trace, target_rps)
    _hand_over(trace, recording.intake, str(file), out, outputs, asked_rps=target_rps, quiet=files.quiet)


@app.command(
    "generate",
    epilog="Example: provision workload generate --workload coding --target-rps 70 --arrivals gamma:2 --out mine.csv",
)
@shared(Traffic, Outputs)
def generate(traffic: Traffic, outputs: Outputs, *, out: Out) -> None:
    """Make a trace.

    Lengths of a workload, a mix or a file, arrivals from a process, everything from one seed.
    """
    from provisioner.cli import output, workload
    from provisioner.cli.console import note
    from provisioner.cli.progress import working
    from provisioner.cli.question import open_catalog
    from provisioner.errors import Fault, InputError
    from provisioner.traces import Intake

    output.check(outputs, out=out)
    found = workload.resolve(traffic, open_catalog(traffic))
    for text in found.notes:
        note(text, quiet=traffic.quiet)
    if found.users:
        allowed = "a process whose arrivals depend on no cluster"
        raise InputError(
            Fault(problem="no trace without a cluster", field="--arrivals", value=found.arrivals, allowed=allowed)
        )
    with working("drawing", quiet=traffic.quiet):
        trace = found.demand.trace(0, found.rate_rps, found.span_s)
    if not len(trace):
        raise InputError(Fault(problem="no request arrives", field="--duration", value=found.span_s, allowed="more"))
    _hand_over(
        trace,
        Intake.of_drawn(len(trace)),
        f"{' + '.join(traffic.workload)}, {found.arrivals}, seed {traffic.seed}",
        out,
        outputs,
        asked_rps=found.rate_rps,
        quiet=traffic.quiet,
    )


@contextmanager
def _progress(file: Path, *, quiet: bool) -> Iterator[Callable[[int], None]]:
    """A bar over the bytes of a file; those of a pipe have no known end."""
    from provisioner.cli.progress import progress

    try:
        total = file.stat().st_size // BYTES_A_STEP if file.is_file() else None
    except ValueError:  # not the name of a file, which who reads it will say
        total = None
    read = 0
    with progress("reading, MB", quiet=quiet, total=total) as advance:

        def watch(count: int) -> None:
            nonlocal read
            steps = (read + count) // BYTES_A_STEP - read // BYTES_A_STEP
            read += count
            if steps:
                advance(steps)

        yield watch


def _at_rate(trace: RequestTrace, rate_rps: float) -> RequestTrace:
    from provisioner.cli.workload import MAX_RPS
    from provisioner.errors import Fault, InputError
    from provisioner.traces import Recorded

    if not 0 < rate_rps <= MAX_RPS:
        allowed = f"above 0, at most {MAX_RPS:g}"
        raise InputError(Fault(problem="out of range", field="--target-rps", value=rate_rps, allowed=allowed))
    return trace.scaled_in_time(Recorded(trace).rate_rps / rate_rps)


def _hand_over(
    trace: RequestTrace,
    intake: Intake,
    title: str,
    out: Path,
    outputs: Outputs,
    *,
    asked_rps: float | None,
    quiet: bool,
) -> None:
    """Write the trace, and describe it; the rate that was asked for is given beside that of the trace."""
    from provisioner.cli import output
    from provisioner.cli.progress import progress, working
    from provisioner.report import trace as report
    from provisioner.report.answer import table_csv
    from provisioner.report.figures import choice
    from provisioner.report.sink import write
    from provisioner.traces import describe_trace, plain_csv_pieces

    with progress("writing, rows", quiet=quiet, total=len(trace)) as advance:
        write(out, _told(plain_csv_pieces(trace), advance), "--out")
    with working("describing", quiet=quiet):
        found = describe_trace(trace, intake)
    output.hand_out(
        outputs,
        answer={"source": title, "out": str(out), "asked_rps": asked_rps, **report.data(found)},
        table=lambda: report.table(found, title, asked_rps),
        csv=lambda: table_csv(report.rows(found)),
        figures=lambda: choice.of_description(found, title),
        quiet=quiet,
    )


def _told(pieces: Iterator[str], advance: Callable[[int], None]) -> Iterator[str]:
    """The same, with their lines told."""
    for piece in pieces:
        yield piece
        advance(piece.count("\n"))
