"""From `--workload`, `--arrivals` and `--duration` to a demand: what is asked of a cluster."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from provisioner.cli.options import Question
from provisioner.errors import Fault, InputError

if TYPE_CHECKING:
    from provisioner.catalog import Catalog
    from provisioner.traces import ArrivalProcess, Demand, SizeTable

DEFAULT_DURATION_S = 120.0


@dataclass(frozen=True, kw_only=True)
class Workload:
    """A demand, and the rate and time it is asked for."""

    demand: Demand
    rate_rps: float
    span_s: float
    arrivals: str
    notes: tuple[str, ...] = ()


def resolve(question: Question, catalog: Catalog) -> Workload:
    """Find the workload, or the mix of several.

    Raises
    ------
    InputError
        If a name or file is not found or wrong, or a rate is missing.
    """
    from provisioner.traces import Drawn, Poisson, SizeTable

    parts = [_weighted(text) for text in question.workload]
    process = _arrival_process(question.arrivals)
    wants_recorded = question.arrivals in {None, "recorded"}
    if len(parts) == 1 and _is_file(parts[0][0], catalog) and wants_recorded:
        return _recorded(question, Path(parts[0][0]))
    if question.arrivals == "recorded":
        raise InputError(
            Fault(
                problem="only a single trace file has recorded arrivals",
                field="--arrivals",
                value="recorded",
                allowed="poisson, gamma:CV, or one trace file as --workload",
            )
        )
    if question.target_rps is None:
        raise InputError(
            Fault(
                problem="missing: a workload without recorded arrivals has no rate of its own",
                field="--target-rps",
                allowed="requests per second, as 70",
            )
        )
    tables = [(_sizes(name, catalog), weight) for name, weight in parts]
    sizes = tables[0][0] if len(tables) == 1 else SizeTable.mixed(tables)
    total = sum(weight for _, weight in tables)
    uneven = len(tables) > 1 and not math.isclose(total, 1.0, rel_tol=1e-6)
    return Workload(
        demand=Drawn(sizes, question.seed, process or Poisson()),
        rate_rps=question.target_rps,
        span_s=question.duration or DEFAULT_DURATION_S,
        arrivals=question.arrivals or "poisson",
        notes=(f"the workloads' weights sum to {total:g}; they are taken as shares of that",) if uneven else (),
    )


def _recorded(question: Question, path: Path) -> Workload:
    """A trace with its own arrivals: as it is, or scaled in time to a rate.

    It stands for a mean gap more than the time between its first and last request.
    """
    from provisioner.traces import Replayed, read_trace

    trace = read_trace(path)
    whole_s = trace.span_s * (len(trace) / (len(trace) - 1) if len(trace) > 1 else 1.0)
    own_rps = len(trace) / whole_s if whole_s > 0 else 0.0
    if question.target_rps is None:
        rate_rps, longest_s = own_rps, whole_s
    elif own_rps == 0.0:
        raise InputError(
            Fault(problem="all requests arrive at once: there is no rate to scale", file=path, field="--target-rps")
        )
    else:
        rate_rps, longest_s = question.target_rps, whole_s * own_rps / question.target_rps
    span_s = longest_s if question.duration is None else question.duration
    short = question.duration is not None and question.duration > longest_s
    return Workload(
        demand=Replayed(trace, own_rps),
        rate_rps=rate_rps,
        span_s=min(span_s, longest_s),
        arrivals="recorded",
        notes=(f"the trace lasts {longest_s:.1f} s at this rate, not {span_s:g}",) if short else (),
    )


def _is_file(name: str, catalog: Catalog) -> bool:
    """Whether a name is a path; one of the catalog's is not, whatever stands in the current folder."""
    if name.casefold() in {known.casefold() for known in catalog.names("workloads")}:
        return False
    path = Path(name)
    return bool(path.suffix) or len(path.parts) > 1 or path.exists()


def _sizes(name: str, catalog: Catalog) -> SizeTable:
    from provisioner.traces import SizeTable, read_trace

    if _is_file(name, catalog):
        return SizeTable.of_trace(read_trace(Path(name)))
    entry, folder = catalog.workload(name)
    return SizeTable.read(folder / entry.sizes)


def _weighted(text: str) -> tuple[str, float]:
    """`coding:0.7` is a name and a weight; a name alone weighs 1."""
    name, colon, weight = text.rpartition(":")
    number = as_number(weight) if colon else None
    if number is None or not name:
        return text, 1.0
    if not 0 < number <= 1e9:  # noqa: PLR2004
        raise InputError(Fault(problem="a weight is above 0", field="--workload", value=text, allowed="NAME:0.7"))
    return name, number


def _arrival_process(text: str | None) -> ArrivalProcess | None:
    """The process that was asked for; None for the recorded arrivals, or for the default."""
    from provisioner.traces import Gamma, Poisson

    match (text or "recorded").split(":"):
        case ["recorded"]:
            return None
        case ["poisson"]:
            return Poisson()
        case ["gamma", cv] if (number := as_number(cv)) is not None:
            return Gamma(number)
    raise InputError(
        Fault(
            problem="unknown arrival process",
            field="--arrivals",
            value=text,
            allowed="poisson, gamma:CV (as gamma:2.5), or recorded",
        )
    )


def as_number(text: str) -> float | None:
    """A finite number, or None."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
