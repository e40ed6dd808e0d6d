"""From `--workload`, `--arrivals` and `--duration` to a demand: what is asked of a cluster."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from provisioner.cli import arrivals
from provisioner.cli.options import Traffic
from provisioner.cli.ranges import as_number
from provisioner.errors import Fault, InputError

if TYPE_CHECKING:
    from provisioner.catalog import Catalog
    from provisioner.traces import Demand, Intake, SizeTable

DEFAULT_DURATION_S = 120.0
MAX_RPS = 1e6
MAX_DURATION_S = 1e7


@dataclass(frozen=True, kw_only=True)
class Workload:
    """A demand, and the rate and time it is asked for."""

    demand: Demand
    rate_rps: float
    span_s: float
    arrivals: str
    notes: tuple[str, ...] = ()
    users: int = 0

    @property
    def load(self) -> str:
        """How much is asked, in words."""
        return f"from {self.users} users" if self.users else f"at {self.rate_rps:.4g} RPS"


def resolve(traffic: Traffic, catalog: Catalog) -> Workload:
    """Find the workload, or the mix of several.

    Raises
    ------
    InputError
        If a name or file is not found or wrong, or a rate is missing.
    """
    check_numbers(traffic)
    parts = [_weighted(text) for text in traffic.workload]
    asked = arrivals.parse(traffic.arrivals)
    _check_reading(traffic, parts, catalog)
    if len(parts) == 1 and _is_file(parts[0][0], catalog):
        path = Path(parts[0][0])
        if isinstance(asked, arrivals.InRuns):
            return _resampled(traffic, path, asked.run)
        if asked is None or isinstance(asked, arrivals.AsRecorded):
            return _recorded(traffic, path)
    if isinstance(asked, arrivals.AsRecorded | arrivals.InRuns):
        raise InputError(
            Fault(
                problem="only a single trace file has recorded arrivals",
                field="--arrivals",
                value=traffic.arrivals,
                allowed="poisson, gamma:CV, hourly:R1,R2,..., or one trace file as --workload",
            )
        )
    return _drawn(traffic, parts, asked, catalog)


def check_numbers(traffic: Traffic) -> None:
    """Refuse a rate or a duration out of range, or too many requests together.

    Raises
    ------
    InputError
        With a fault for each.
    """
    from provisioner.traces.arrivals import MAX_REQUESTS

    faults = [
        Fault(problem="out of range", field=option, value=value, allowed=f"above 0, at most {most:g}")
        for option, value, most in (
            ("--target-rps", traffic.target_rps, MAX_RPS),
            ("--duration", traffic.duration, MAX_DURATION_S),
        )
        if value is not None and not 0 < value <= most
    ]
    rate_rps, span_s = traffic.target_rps or 0.0, traffic.duration or DEFAULT_DURATION_S
    if not faults and rate_rps * span_s > MAX_REQUESTS:
        allowed = f"up to {MAX_REQUESTS:,} requests, in {span_s:g} s"
        faults.append(Fault(problem="too many requests", field="--target-rps", value=rate_rps, allowed=allowed))
    if faults:
        raise InputError(faults)


def _check_reading(traffic: Traffic, parts: list[tuple[str, float]], catalog: Catalog) -> None:
    """Refuse options about files where there is none: nothing is silently ignored."""
    given = {
        "--columns": traffic.columns,
        "--time-unit": traffic.time_unit,
        "--window": traffic.window,
        "--unordered": traffic.unordered,
    }
    faults = [
        Fault(problem="there is no trace file to read", field=option, value=value, allowed="a file as --workload")
        for option, value in given.items()
        if value is not None
    ]
    if faults and not any(_is_file(name, catalog) for name, _ in parts):
        raise InputError(faults)


def _drawn(
    traffic: Traffic,
    parts: list[tuple[str, float]],
    asked: arrivals.Independent | arrivals.ByHour | arrivals.FromUsers | None,
    catalog: Catalog,
) -> Workload:
    """Lengths from one or several tables, arrivals from a process."""
    from provisioner.traces import Closed, Drawn, Hourly, Poisson, SizeTable

    tables, notes = zip(
        *(_sizes(name, catalog, traffic, has_process=asked is not None) for name, _ in parts), strict=True
    )
    weights = [weight for _, weight in parts]
    sizes = tables[0] if len(tables) == 1 else SizeTable.mixed(list(zip(tables, weights, strict=True)))
    said = [note for several in notes for note in several]
    if len(tables) > 1 and not math.isclose(sum(weights), 1.0, rel_tol=1e-6):
        said.append(f"the workloads' weights sum to {sum(weights):g}; they are taken as shares of that")
    if isinstance(asked, arrivals.FromUsers):
        _check_no_rate(traffic)
        closed = Closed(sizes, traffic.seed, asked.users, asked.requests)
        return Workload(
            demand=closed, rate_rps=0.0, span_s=0.0, arrivals=asked.text, notes=tuple(said), users=asked.users
        )
    if isinstance(asked, arrivals.ByHour):
        span_s = traffic.duration or 3600.0 * len(asked.rates)
        rate_rps = traffic.target_rps or _mean_rate(asked.rates, span_s)
        demand: Demand = Hourly(Drawn(sizes, traffic.seed, Poisson()), asked.rates, span_s)
    else:
        span_s, rate_rps = traffic.duration or DEFAULT_DURATION_S, _required_rate(traffic)
        demand = Drawn(sizes, traffic.seed, asked.process if asked else Poisson())
    return Workload(
        demand=demand,
        rate_rps=rate_rps,
        span_s=span_s,
        arrivals=traffic.arrivals or "poisson",
        notes=tuple(said),
    )


def _recorded(traffic: Traffic, path: Path) -> Workload:
    """A trace with its own arrivals: as it is, or scaled in time to a rate.

    Its time counts from its first request, and lasts for a mean gap more than until its last. Without a gap, as with a
    single request, it lasts as long as was asked for.
    """
    from provisioner.traces import Replayed, read_recording

    recording = read_recording(path, traffic.reading)
    trace = recording.trace.from_first()
    whole_s = trace.span_s * len(trace) / (len(trace) - 1) if trace.span_s > 0 else traffic.duration
    if whole_s is None:
        raise InputError(
            Fault(
                problem="all requests arrive at once: there is no rate",
                file=path,
                value=len(trace),
                allowed="two arrival times or more, or --duration",
            )
        )
    own_rps = len(trace) / whole_s
    if traffic.target_rps is None:
        rate_rps, longest_s = own_rps, whole_s
    else:
        rate_rps, longest_s = traffic.target_rps, whole_s * own_rps / traffic.target_rps
    span_s = longest_s if traffic.duration is None else traffic.duration
    short = traffic.duration is not None and traffic.duration > longest_s
    notes = [f"the trace lasts {longest_s:.1f} s at this rate, not {span_s:g}"] if short else []
    return Workload(
        demand=Replayed(trace, own_rps),
        rate_rps=rate_rps,
        span_s=min(span_s, longest_s),
        arrivals="recorded",
        notes=(*intake_notes(path, recording.intake), *notes),
    )


def _resampled(traffic: Traffic, path: Path, run: int | None) -> Workload:
    """New traces like the recorded one; a run is as many requests as arrive in a minute, if nothing else is said."""
    from provisioner.traces import Recorded, Resampled, read_recording

    recording = read_recording(path, traffic.reading)
    own_rps = Recorded(recording.trace).rate_rps
    run = run or min(max(1, round(60 * own_rps)), len(recording.trace))
    rate_rps = traffic.target_rps or own_rps
    return Workload(
        demand=Resampled(recording.trace, traffic.seed, run),
        rate_rps=rate_rps,
        span_s=traffic.duration or len(recording.trace) / rate_rps,
        arrivals=f"resampled:{run}",
        notes=intake_notes(path, recording.intake),
    )


def intake_notes(path: Path, intake: Intake) -> tuple[str, ...]:
    """What is to be said about the reading of a file."""
    notes = [
        f"{path}: {each.rows:,} of {intake.rows:,} rows left out: {each.reason}"
        + ("" if each.first_line is None else f"; the first on line {each.first_line}")
        for each in intake.left_out
    ]
    if intake.unused:
        notes.append(f"{path}: not taken into account: {', '.join(intake.unused)}")
    if intake.steps_back:
        notes.append(f"{path}: time goes back {intake.steps_back:,} times, by {intake.largest_step_back_s:g} s at most")
    return tuple(notes)


def _check_no_rate(traffic: Traffic) -> None:
    """Refuse a rate and a duration of a closed loop."""
    given = {"--target-rps": traffic.target_rps, "--duration": traffic.duration}
    faults = [
        Fault(
            problem="not in a closed loop, where it follows from the cluster",
            field=option,
            value=value,
            allowed="--arrivals closed:USERS:REQUESTS alone, and a cluster or something to minimize",
        )
        for option, value in given.items()
        if value is not None
    ]
    if faults:
        raise InputError(faults)


def _required_rate(traffic: Traffic) -> float:
    if traffic.target_rps is not None:
        return traffic.target_rps
    raise InputError(
        Fault(
            problem="missing: a workload without recorded arrivals has no rate of its own",
            field="--target-rps",
            allowed="requests per second, as 70",
        )
    )


def _mean_rate(rates: Sequence[float], span_s: float) -> float:
    """Mean of hourly rates over some time."""
    hours = [rates[hour % len(rates)] for hour in range(math.ceil(span_s / 3600.0))]
    last = span_s / 3600.0 - (len(hours) - 1)
    return (sum(hours[:-1]) + hours[-1] * last) / (span_s / 3600.0)


def _is_file(name: str, catalog: Catalog) -> bool:
    """Whether a name is a path; one of the catalog's is not, whatever stands in the current folder."""
    if name.casefold() in {known.casefold() for known in catalog.names("workloads")}:
        return False
    path = Path(name)
    return bool(path.suffix) or len(path.parts) > 1 or path.exists()


def _sizes(name: str, catalog: Catalog, traffic: Traffic, *, has_process: bool) -> tuple[SizeTable, tuple[str, ...]]:
    """The lengths of a workload or a file, and what is to be said about them."""
    from provisioner.traces import SizeTable, read_sizes, without_arrivals

    if not _is_file(name, catalog):
        entry, folder = catalog.workload(name)
        return SizeTable.read(folder / entry.sizes), ()
    path = Path(name)
    sizes, intake = read_sizes(path, traffic.reading)
    if not intake.has_times and not has_process:
        raise without_arrivals(path)
    return sizes, intake_notes(path, intake)


def _weighted(text: str) -> tuple[str, float]:
    """`coding:0.7` is a name and a weight; a name alone weighs 1."""
    name, colon, weight = text.rpartition(":")
    number = as_number(weight) if colon else None
    if number is None or not name:
        return text, 1.0
    if not 0 < number <= 1e9:  # noqa: PLR2004
        raise InputError(Fault(problem="a weight is above 0", field="--workload", value=text, allowed="NAME:0.7"))
    return name, number
