"""From options to domain values: what was typed becomes a scenario and designs, or every fault at once."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from provisioner.cli.options import Inputs, Question
from provisioner.errors import Fault, InputError

if TYPE_CHECKING:
    from provisioner.catalog import Catalog
    from provisioner.domain.cluster import Cluster
    from provisioner.domain.design import Design
    from provisioner.domain.trace import RequestTrace
    from provisioner.perf import ProfileSet
    from provisioner.search import Scenario
    from provisioner.traces import ArrivalProcess

DEFAULT_DURATION_S = 120.0
MAX_RPS = 1e6
MAX_DURATION_S = 1e7
MAX_MACHINES = 100_000
FEWEST_REQUESTS = 1000
"""Below this a P99 rests on a handful of requests (with 1,000 it spans P98.3 to P99.7)."""


class Faults:
    """Collects the faults of several steps, so that one run tells them all."""

    def __init__(self) -> None:
        self.found: list[Fault] = []

    def add(self, problem: str, *, field: str, value: object = None, allowed: str | None = None) -> None:
        """Note a bad option."""
        self.found.append(Fault(problem=problem, field=field, value=value, allowed=allowed))

    @contextmanager
    def caught(self) -> Iterator[None]:
        """Note the faults of a step that fails, and go on."""
        try:
            yield
        except InputError as error:
            self.found.extend(fault for fault in error.faults if fault not in self.found)

    def raise_if_any(self) -> None:
        """Stop here if anything was wrong."""
        if self.found:
            raise InputError(self.found)


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What a question resolves to."""

    catalog: Catalog
    designs: tuple[Design, ...]
    scenario: Scenario
    inputs: dict[str, Any]
    """Every resolved input, as echoed in JSON."""
    notes: tuple[str, ...]


def open_catalog(inputs: Inputs) -> Catalog:
    """The catalog with preset and overrides."""
    from provisioner.catalog import Catalog, parse_override

    faults = Faults()
    overrides: dict[str, object] = {}
    for text in inputs.set or ():
        with faults.caught():
            path, value = parse_override(text)
            overrides[path] = value
    faults.raise_if_any()
    return Catalog.open(inputs.catalog, Path(), overrides, inputs.preset)


def read_profile_set(catalog: Catalog, name: str) -> ProfileSet:
    """A profile set by name or file."""
    from provisioner.perf import read_profiles

    return read_profiles(catalog.find_file("profiles", name))


def resolve(question: Question, design_names: list[str]) -> Setting:
    """Look everything up, draw the traces, and collect every fault on the way.

    Raises
    ------
    InputError
        With all faults found.
    """
    from provisioner.search import Scenario

    faults = Faults()
    _check_numbers(question, faults)
    catalog = open_catalog(question)
    preset = catalog.preset(question.preset) if question.preset else None
    slo_name = question.slo or (preset and preset.slo) or "splitwise"
    profile_name = question.profile or (preset and preset.profile) or "splitwise"
    model = slo = profiles = None
    designs: list[Design] = []
    workload: Workload | None = None
    with faults.caught():
        model = catalog.model(question.model)
    with faults.caught():
        slo = catalog.slo(slo_name)
    with faults.caught():
        profiles = read_profile_set(catalog, profile_name)
    for name in design_names:
        with faults.caught():
            designs.extend(catalog.designs() if name == "all" else (catalog.design(name),))
    with faults.caught():
        workload = _workload(question, catalog)
    faults.raise_if_any()
    scenario = Scenario(
        model=cast("Any", model),
        slo=cast("Any", slo),
        profiles=cast("Any", profiles),
        traces=cast("Any", workload).traces,
        span_s=cast("Any", workload).span_s,
        rate_rps=cast("Any", workload).rate_rps,
    )
    _check_covered(scenario, designs, faults)
    faults.raise_if_any()
    return Setting(
        catalog=catalog,
        designs=tuple(dict.fromkeys(designs)),
        scenario=scenario,
        inputs=_echo(question, scenario, designs, profile_name),
        notes=_notes(scenario, question),
    )


def parse_cluster(design: Design, text: str) -> Cluster:
    """`27,3` for prompt and token machines, `40` for a design of mixed machines."""
    from provisioner.domain.cluster import Cluster

    counts = text.split(",")
    wanted = 1 if design.is_mixed else 2
    shape = "one count, as 40" if design.is_mixed else "counts of prompt and token machines, as 27,3"
    if len(counts) != wanted or not all(
        count.strip().isdecimal() and 0 < int(count) <= MAX_MACHINES for count in counts
    ):
        raise InputError(Fault(problem=f"not a cluster of {design.name}", field="--cluster", value=text, allowed=shape))
    numbers = [int(count) for count in counts]
    return Cluster(design=design, prompt_machines=numbers[0], token_machines=0 if design.is_mixed else numbers[1])


@dataclass(frozen=True, kw_only=True)
class Workload:
    """Traces, one per replication, and the time and rate that they stand for."""

    traces: tuple[RequestTrace, ...]
    span_s: float
    rate_rps: float


def _workload(question: Question, catalog: Catalog) -> Workload:
    from provisioner.traces import Recorded, RequestSequence, SizeTable, read_trace

    path = Path(question.workload)
    process = _arrival_process(question.arrivals)
    if path.suffix or path.exists() or len(path.parts) > 1:
        trace = read_trace(path)
        if process is None and question.target_rps is None:
            return _replayed(trace, question.duration)
        rate_rps = question.target_rps if question.target_rps is not None else Recorded(trace).rate_rps
        span_s = question.duration or (len(trace) / rate_rps if process is None else DEFAULT_DURATION_S)
        if process is None:
            sequence = RequestSequence.recorded(trace)
            return Workload(traces=(sequence.at_rate(rate_rps, span_s),), span_s=span_s, rate_rps=rate_rps)
        sizes = SizeTable.of_trace(trace)
    else:
        entry, folder = catalog.workload(question.workload)
        if question.arrivals == "recorded":
            raise InputError(
                Fault(
                    problem=f"workload {entry.name} has no recorded arrivals",
                    field="--arrivals",
                    value="recorded",
                    allowed="poisson, gamma:CV, or a trace file as --workload",
                )
            )
        sizes = SizeTable.read(folder / entry.sizes)
        if question.target_rps is None:
            raise InputError(
                Fault(
                    problem="missing: a workload of the catalog has no rate of its own",
                    field="--target-rps",
                    allowed="requests per second, as 70",
                )
            )
        rate_rps, span_s = question.target_rps, question.duration or DEFAULT_DURATION_S
    traces = tuple(
        RequestSequence.drawn(sizes, seed=question.seed, replication=replication, arrivals=process).at_rate(
            rate_rps, span_s
        )
        for replication in range(question.replications)
    )
    return Workload(traces=traces, span_s=span_s, rate_rps=rate_rps)


def _replayed(trace: RequestTrace, duration_s: float | None) -> Workload:
    """A recorded trace as it is, or its first seconds. The span ends one mean gap after the last arrival."""
    from provisioner.domain.trace import RequestTrace

    if duration_s is not None:
        kept = trace.arrival_s < duration_s
        trace = RequestTrace(trace.arrival_s[kept], trace.prompt_tokens[kept], trace.output_tokens[kept])
        span_s = duration_s
    else:
        span_s = trace.span_s * (len(trace) / (len(trace) - 1) if len(trace) > 1 else 1.0)
    return Workload(traces=(trace,), span_s=span_s, rate_rps=len(trace) / span_s if span_s > 0 else 0.0)


def _arrival_process(text: str | None) -> ArrivalProcess | None:
    """The process that was asked for; None for the recorded arrivals, or for the default."""
    from provisioner.traces import Gamma, Poisson

    match (text or "recorded").split(":"):
        case ["recorded"]:
            return None
        case ["poisson"]:
            return Poisson()
        case ["gamma", cv] if _is_number(cv):
            return Gamma(float(cv))
    raise InputError(
        Fault(
            problem="unknown arrival process",
            field="--arrivals",
            value=text,
            allowed="poisson, gamma:CV (as gamma:2.5), or recorded",
        )
    )


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _check_numbers(question: Question, faults: Faults) -> None:
    for name, value, most in (
        ("--target-rps", question.target_rps, MAX_RPS),
        ("--duration", question.duration, MAX_DURATION_S),
    ):
        if value is not None and not 0 < value <= most:
            faults.add("out of range", field=name, value=value, allowed=f"above 0, at most {most:g}")
    faults.raise_if_any()


def _check_covered(scenario: Scenario, designs: list[Design], faults: Faults) -> None:
    """Every machine has a profile, and so has the reference of the SLOs."""
    for design in designs:
        with faults.caught():
            scenario.performance(design)
    with faults.caught():
        _ = scenario.yardsticks


def _notes(scenario: Scenario, question: Question) -> tuple[str, ...]:
    notes = []
    fewest = min(len(trace) for trace in scenario.traces)
    if fewest < FEWEST_REQUESTS:
        notes.append(f"only {fewest} requests a replication: a P99 of so few is not to be relied on")
    if len(scenario.traces) < question.replications and question.arrivals in {None, "recorded"}:
        notes.append("recorded arrivals are the same in every replication: simulated once")
    return tuple(notes)


def _echo(question: Question, scenario: Scenario, designs: list[Design], profile_name: str) -> dict[str, Any]:
    from provisioner import __version__

    return {
        "design": [design.name for design in designs],
        "model": scenario.model.name,
        "workload": question.workload,
        "arrivals": question.arrivals or ("recorded" if Path(question.workload).suffix else "poisson"),
        "slo": scenario.slo.name,
        "profile": profile_name,
        "preset": question.preset,
        "set": list(question.set or ()),
        "seed": question.seed,
        "duration_s": scenario.span_s,
        "replications": len(scenario.traces),
        "requests": [len(trace) for trace in scenario.traces],
        "version": __version__,
    }
