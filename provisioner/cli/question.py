"""From options to domain values: what was typed becomes a scenario and designs, or every fault at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from provisioner.cli.options import Inputs, Outputs, Question, Search
from provisioner.errors import Fault, InputError

if TYPE_CHECKING:
    from provisioner.catalog import Catalog
    from provisioner.cli.workload import Workload
    from provisioner.domain.cluster import Cluster
    from provisioner.domain.design import Design
    from provisioner.perf import ProfileSet
    from provisioner.search import Budget, Judge, Objective, Precision, Scenario
    from provisioner.search.availability import Availability
    from provisioner.search.survive import Survive

MAX_MACHINES = 100_000
FEWEST_REQUESTS = 1000
"""Below this a P99 rests on a handful of requests (with 1,000 it spans P98.3 to P99.7)."""

Found = TypeVar("Found")


class HasJobs(Protocol):
    """Options with a number of threads."""

    @property
    def jobs(self) -> int | None:
        """None for all cores."""


class Faults:
    """Collects the faults of several steps, so that one run tells them all."""

    def __init__(self) -> None:
        self.found: list[Fault] = []

    def add(self, problem: str, *, field: str, value: object = None, allowed: str | None = None) -> None:
        """Note a bad option."""
        self.found.append(Fault(problem=problem, field=field, value=value, allowed=allowed))

    def of(self, step: Callable[..., Found], *arguments: Any) -> Found | None:
        """Take a step; None, with its faults noted, if it fails."""
        try:
            return step(*arguments)
        except InputError as error:
            self.found.extend(fault for fault in error.faults if fault not in self.found)
            return None

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
    precision: Precision
    title: str
    """The workload at its rate, in words."""
    inputs: dict[str, Any]
    """Every resolved input, as echoed in JSON."""
    notes: tuple[str, ...]
    survive: Survive | None = None
    availability: Availability | None = None

    def shown_in(self, outputs: Outputs) -> Setting:
        """The same, with what the outputs show of clusters beside the answer."""
        return replace(self, precision=replace(self.precision, in_full=outputs.show_every_cluster))

    def judge(self, design: Design) -> Judge:
        """Who judges clusters of a design."""
        from provisioner.search import Judge

        if self.survive is None and self.availability is None:
            return Judge(design, self.scenario, self.precision)
        from provisioner.search.resilient import ResilientJudge

        return ResilientJudge(design, self.scenario, self.precision, self.survive, self.availability)

    @property
    def judges(self) -> list[Judge]:
        """One for each design."""
        return [self.judge(design) for design in self.designs]


def open_catalog(inputs: Inputs) -> Catalog:
    """The catalog with preset and overrides."""
    from provisioner.catalog import Catalog, parse_override

    faults = Faults()
    parsed = [faults.of(parse_override, text) for text in inputs.set or ()]
    faults.raise_if_any()
    return Catalog.open(inputs.catalog, Path(), dict(pair for pair in parsed if pair), inputs.preset)


def read_profile_set(catalog: Catalog, name: str) -> ProfileSet:
    """A profile set by name or file."""
    from provisioner.perf import read_profiles

    return read_profiles(catalog.find_file("profiles", name))


def resolve(question: Question, design_names: Sequence[str]) -> Setting:
    """Look everything up and collect every fault on the way.

    Raises
    ------
    InputError
        With all faults found.
    """
    from provisioner.cli import workload as workloads

    faults = Faults()
    _check_numbers(question, faults)
    catalog = faults.of(open_catalog, question)
    if catalog is None:
        raise InputError(faults.found)
    preset = catalog.preset(question.preset) if question.preset else None
    slo_name = (preset and preset.slo) or "splitwise" if question.slo is None else question.slo
    profile_name = (preset and preset.profile) or "splitwise" if question.profile is None else question.profile
    model = faults.of(catalog.model, question.model)
    slo = faults.of(catalog.slo, slo_name)
    profiles = faults.of(read_profile_set, catalog, profile_name)
    designs = [design for name in design_names for design in faults.of(_designs, catalog, name) or ()]
    workload = faults.of(workloads.resolve, question, catalog)
    faults.raise_if_any()
    assert model is not None
    assert slo is not None
    assert profiles is not None
    assert workload is not None
    from provisioner.cli.caps import with_caps
    from provisioner.search import Precision, Scenario

    scenario = Scenario(
        model=model,
        slo=slo,
        profiles=profiles,
        demand=workload.demand,
        rate_rps=workload.rate_rps,
        span_s=workload.span_s,
        warmup_s=question.warmup,
    )
    single_levels: list[str] = []
    if question.choose_cap:
        designs, single_levels = with_caps(designs, catalog, model, profiles)
    for design in designs:
        faults.of(scenario.performance, design)
    faults.of(lambda: scenario.reference)
    faults.raise_if_any()
    precision = Precision(
        replications=question.replications, confidence=question.confidence, most=question.max_replications
    ).limited_to(workload.demand.replications)
    _check_requests(scenario, precision.least)
    if scenario.users and question.warmup > 0:
        allowed = "0: the first seconds of a closed loop are not known before it is simulated"
        raise InputError(
            Fault(problem="not in a closed loop", field="--warmup", value=question.warmup, allowed=allowed)
        )
    return Setting(
        catalog=catalog,
        designs=tuple(dict.fromkeys(designs)),
        scenario=scenario,
        precision=precision,
        title=f"{' + '.join(question.workload)} {workload.load}{_on_which_times(scenario, designs)}",
        inputs=_echo(question, scenario, designs, profile_name, workload),
        notes=(*_notes(scenario, workload), *_unit_notes(designs), *single_levels),
    )


def prepare(question: Question, design_names: Sequence[str]) -> Setting:
    """Resolve a question, say what is to be said about it, and get the simulator ready."""
    from provisioner.cli.console import note
    from provisioner.cli.warmth import get_ready

    setting = resolve(question, design_names)
    get_ready(quiet=question.quiet)
    for text in setting.notes:
        note(text, quiet=question.quiet)
    return setting


def prepare_one(question: Question, design: str) -> Setting:
    """`prepare` for a command about one design.

    Raises
    ------
    InputError
        If it is `all` of them.
    """
    if design.lower() == "all":
        raise InputError(Fault(problem="more than one design", field="--design", value=design, allowed="a single one"))
    return prepare(question, [design])


def parse_cluster(design: Design, text: str) -> Cluster:
    """`27,3` for prompt and token machines, `40` for a design of mixed machines.

    Raises
    ------
    InputError
        If it is not a cluster of the design.
    """
    from provisioner.domain.cluster import Cluster

    counts = [count.strip() for count in text.split(",")]
    right = all(count.isdecimal() and len(count) <= 6 and 0 < int(count) <= MAX_MACHINES for count in counts)  # noqa: PLR2004
    if len(counts) != len(design.machines) or not right:
        shape = "one count, as 40" if design.is_mixed else "counts of prompt and token machines, as 27,3"
        raise InputError(Fault(problem=f"not a cluster of {design.name}", field="--cluster", value=text, allowed=shape))
    numbers = [int(count) for count in counts]
    return Cluster(design=design, prompt_machines=numbers[0], token_machines=0 if design.is_mixed else numbers[1])


def parse_objective(minimize: str | None) -> Objective:
    """The thing to spend least of.

    Raises
    ------
    InputError
        If it is missing or unknown.
    """
    from provisioner.search import OBJECTIVES

    for objective in OBJECTIVES:
        if minimize == objective:
            return objective
    raise InputError(
        Fault(
            problem="missing: what to minimize" if minimize is None else "unknown objective",
            field="--minimize",
            value=minimize,
            allowed=", ".join(OBJECTIVES),
        )
    )


def parse_budget(search: Search) -> Budget | None:
    """The budgets given, None where there is none.

    Raises
    ------
    InputError
        If one is not above 0.
    """
    from provisioner.search import Budget

    faults = Faults()
    given = {
        "--budget-cost": search.budget_cost,
        "--budget-power": search.budget_power,
        "--budget-machines": search.budget_machines,
    }
    for option, value in given.items():
        if value is not None and not 0 < value <= 1e12:  # noqa: PLR2004
            faults.add("out of range", field=option, value=value, allowed="above 0")
    faults.raise_if_any()
    if all(value is None for value in given.values()):
        return None
    return Budget(search.budget_cost, search.budget_power, search.budget_machines)


def check_affordable(budget: Budget | None, designs: Sequence[Design]) -> None:
    """Refuse a budget that is too small for any cluster.

    Raises
    ------
    InputError
        If it buys no design one machine of each pool.
    """
    from provisioner.domain.cluster import Cluster

    least = [
        Cluster(design=design, prompt_machines=1, token_machines=0 if design.is_mixed else 1) for design in designs
    ]
    if budget is None or any(budget.allows(cluster) for cluster in least):
        return
    raise InputError(
        Fault(
            problem="the budget does not buy one machine of each pool of any design",
            value=str(budget),
            allowed="; ".join(
                f"{each.design.short} takes {each.cost_usd_per_h:.2f} USD/h, {each.power_kw:.1f} kW, "
                f"{each.machines} machine{'s' if each.machines > 1 else ''}"
                for each in least
            ),
        )
    )


def cores(search: HasJobs) -> int:
    """Threads to simulate with."""
    import os

    if search.jobs is not None:
        return search.jobs
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _designs(catalog: Catalog, name: str) -> tuple[Design, ...]:
    return catalog.designs() if name.lower() == "all" else (catalog.design(name),)


def _check_numbers(question: Question, faults: Faults) -> None:
    from provisioner.cli import workload as workloads

    faults.of(workloads.check_numbers, question)
    if question.confidence is not None and not 0.5 <= question.confidence < 1:  # noqa: PLR2004
        faults.add("out of range", field="--confidence", value=question.confidence, allowed="0.5 to below 1, as 0.95")


def _notes(scenario: Scenario, workload: Workload) -> tuple[str, ...]:
    notes = list(workload.notes)
    requests = len(scenario.trial(0).trace) if scenario.users else round(workload.rate_rps * workload.span_s)
    if requests < FEWEST_REQUESTS:
        notes.append(f"only about {requests} requests a replication: a P99 of so few is not to be relied on")
    if scenario.demand.replications == 1:
        notes.append("recorded arrivals are the same in every replication: simulated once, so there is no interval")
    return tuple(notes)


def _on_which_times(scenario: Scenario, designs: Sequence[Design]) -> str:
    """What every title says where iteration times were not measured."""
    origins = {model.origin for design in designs for model in scenario.performance(design).values()}
    doubtful = sorted(origins - {"measured"})
    return f", on {' and '.join(doubtful)} times" if doubtful else ""


def _unit_notes(designs: Sequence[Design]) -> list[str]:
    return [
        f"{design.short} counts instances of {design.tensor_parallel} GPUs, {design.instances_per_machine} to a machine"
        for design in designs
        if design.unit == "instance"
    ]


def _check_requests(scenario: Scenario, replications: int) -> None:
    """Refuse to judge no requests at all. One of several replications may be empty."""
    if scenario.has_requests(replications):
        return
    span = f"{scenario.span_s:g} s of arrivals at {scenario.rate_rps:g} RPS"
    if scenario.warmup_s > 0:
        fault = Fault(
            problem="leaves no request to count",
            field="--warmup",
            value=scenario.warmup_s,
            allowed=f"less than the {span}",
        )
    else:
        fault = Fault(
            problem="no request arrives", field="--duration", value=scenario.span_s, allowed=f"more than {span}"
        )
    raise InputError(fault)


def _echo(
    question: Question, scenario: Scenario, designs: Sequence[Design], profile: str, workload: Workload
) -> dict[str, Any]:
    from provisioner import __version__

    return {
        "design": [design.name for design in designs],
        "model": scenario.model.name,
        "workload": question.workload[0] if len(question.workload) == 1 else list(question.workload),
        "arrivals": workload.arrivals,
        "columns": question.columns,
        "time_unit": question.time_unit,
        "window": question.window,
        "unordered": question.unordered,
        "slo": scenario.slo.name,
        "profile": profile,
        "preset": question.preset,
        "choose_cap": question.choose_cap,
        "set": list(question.set or ()),
        "seed": question.seed,
        "duration_s": workload.span_s,
        "warmup_s": question.warmup,
        "replications": min(question.replications, scenario.demand.replications or question.replications),
        "confidence": question.confidence,
        "max_replications": question.max_replications if question.confidence is not None else None,
        "version": __version__,
    }
