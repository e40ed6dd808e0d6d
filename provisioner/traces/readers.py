"""Request traces from files of any format that is known; see docs/traces.md for the formats."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from provisioner.domain.trace import RequestTrace
from provisioner.errors import Fault, InputError
from provisioner.traces.bounds import Bounds
from provisioner.traces.reading import Reading
from provisioner.traces.rows import Intake
from provisioner.traces.sizes import SizeTable
from provisioner.traces.source import Watch, unwatched
from provisioner.traces.stream import Requests, RequestStream, joined, opened_stream


@dataclass(frozen=True, slots=True, eq=False)
class Recording:
    """A trace as it was read, and what was read of its file."""

    trace: RequestTrace
    intake: Intake


def read_trace(
    path: str | PathLike[str], reading: Reading | None = None, *, bounds: Bounds | None = None
) -> RequestTrace:
    """Read the requests of a trace file; see `read_recording`."""
    return read_recording(path, reading, bounds=bounds).trace


def read_recording(
    path: str | PathLike[str],
    reading: Reading | None = None,
    *,
    bounds: Bounds | None = None,
    watch: Watch = unwatched,
) -> Recording:
    """Read a request trace with its arrivals.

    Parameters
    ----------
    path : path-like
        A file or a pipe.
    reading : Reading, optional
        What the file cannot say of itself, and what of it is wanted.
    bounds : Bounds, optional
        How much is read at most.
    watch : callable
        Told of the bytes that are read, as they are; not of those of a Parquet file.

    Raises
    ------
    InputError
        With a fault for each thing that is wrong, the first 20 in full; if no request is left; if these are
        lengths without arrivals.
    """
    file, reading = Path(path), reading or Reading()
    with opened_stream(file, reading, bounds=bounds, watch=watch) as stream:
        if not stream.has_times:
            raise without_arrivals(file)
        requests, intake = _all_of(stream, file)
    assert requests.arrival_s is not None
    return Recording(RequestTrace(requests.arrival_s, requests.prompt_tokens, requests.output_tokens), intake)


def read_sizes(
    path: str | PathLike[str], reading: Reading | None = None, *, bounds: Bounds | None = None
) -> tuple[SizeTable, Intake]:
    """Read the lengths of a trace file, or of a list of lengths.

    Parameters and errors as for `read_recording`. With a window, the arrivals must be readable too.
    """
    file, reading = Path(path), reading or Reading()
    if reading.window is not None:
        recording = read_recording(file, reading, bounds=bounds)
        return SizeTable.of_trace(recording.trace), recording.intake
    with opened_stream(file, reading, with_times=False, bounds=bounds) as stream:
        requests, intake = _all_of(stream, file)
    return SizeTable.of_lengths(requests.prompt_tokens, requests.output_tokens), intake


def without_arrivals(file: Path) -> InputError:
    """Say that a list of lengths has no arrivals of its own."""
    allowed = "--arrivals poisson or gamma:CV, and --target-rps; or a file with arrival times"
    return InputError(Fault(problem="lengths without arrival times", file=file, field="--arrivals", allowed=allowed))


def nothing_left(file: Path, intake: Intake) -> InputError:
    """Say that every row was left out, and why."""
    reasons = ", ".join(f"{each.rows:,} with {each.reason}" for each in intake.left_out)
    line = min((each.first_line for each in intake.left_out if each.first_line is not None), default=None)
    problem = f"no request is left of {intake.rows:,} rows: {reasons}"
    return InputError(Fault(problem=problem, file=file, line=line, allowed="at least one"))


def _all_of(stream: RequestStream, file: Path) -> tuple[Requests, Intake]:
    requests = joined(list(stream))
    if not len(requests.prompt_tokens):
        raise nothing_left(file, stream.intake)
    return requests, stream.intake
