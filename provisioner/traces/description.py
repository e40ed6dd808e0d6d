"""What a trace file holds, in one pass and bounded memory: 8 bytes a request, whatever the length of the file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path

from provisioner.domain.trace import RequestTrace
from provisioner.traces.bounds import Bounds
from provisioner.traces.burstiness import Burstiness, BurstinessMeter
from provisioner.traces.distribution import Distribution, PairStore
from provisioner.traces.readers import nothing_left
from provisioner.traces.reading import Reading
from provisioner.traces.rows import Intake
from provisioner.traces.source import Watch, unwatched
from provisioner.traces.stream import opened_stream


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Description:
    """A trace file in numbers.

    Parameters
    ----------
    intake : Intake
        Rows read and left out, columns not used, steps back in time.
    arrivals : Burstiness or None
        None for a list of lengths.
    prompt, output : Distribution
        Of tokens per request.
    pearson, spearman : float or None
        Correlation of prompt and output, of lengths and of ranks; None where one does not vary.
    """

    intake: Intake
    arrivals: Burstiness | None
    prompt: Distribution
    output: Distribution
    pearson: float | None
    spearman: float | None


def describe(
    path: str | PathLike[str],
    reading: Reading | None = None,
    *,
    bounds: Bounds | None = None,
    watch: Watch = unwatched,
) -> Description:
    """Describe a trace file.

    Where time goes back and nothing else was asked for, steps back are counted and time goes on from where it was.

    Parameters and errors as for `readers.read_recording`; a list of lengths is described, too.
    """
    file, reading = Path(path), reading or Reading()
    if reading.unordered == "refuse":
        reading = replace(reading, unordered="splice")
    pairs, meter = PairStore(), BurstinessMeter()
    with opened_stream(file, reading, bounds=bounds, watch=watch) as stream:
        for requests in stream:
            pairs.add(requests.prompt_tokens, requests.output_tokens)
            if requests.arrival_s is not None:
                meter.add(requests.arrival_s)
        intake, has_times = stream.intake, stream.has_times
    if not len(pairs):
        raise nothing_left(file, intake)
    return _described(intake, pairs, meter if has_times else None)


def describe_trace(trace: RequestTrace, intake: Intake) -> Description:
    """Describe requests that are in memory already; at least one."""
    pairs, meter = PairStore(), BurstinessMeter()
    pairs.add(trace.prompt_tokens, trace.output_tokens)
    meter.add(trace.arrival_s)
    return _described(intake, pairs, meter)


def _described(intake: Intake, pairs: PairStore, meter: BurstinessMeter | None) -> Description:
    prompt, output, pearson, spearman = pairs.summary()
    return Description(
        intake=intake,
        arrivals=None if meter is None else meter.result(),
        prompt=prompt,
        output=output,
        pearson=pearson,
        spearman=spearman,
    )
