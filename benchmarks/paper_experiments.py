"""Why our numbers differ from the Splitwise paper's: one thing changed at a time.

    python -m benchmarks.paper_experiments           # every experiment: half an hour on two cores
    python -m benchmarks.paper_experiments habits    # or some of these: habits, own, least, splits, rule, ...

Prints Markdown, which docs/paper.md quotes. Each experiment starts from one of the two worlds of
`provision paper` and takes over single habits of the other one.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from provisioner.catalog import Catalog
from provisioner.domain.trace import RequestTrace
from provisioner.perf import PerformanceModel, ProfileSet, read_profiles
from provisioner.search import Objective, Precision, Scenario, Workers
from provisioner.search.maximise import largest_rate
from provisioner.search.paper import (
    DESIGNS,
    EQUALS,
    MODEL,
    OTHER_MODEL,
    TARGET_RPS,
    WORKLOADS,
    Case,
    Finding,
    Workload,
    World,
    compared,
)
from provisioner.search.paper.published import CLUSTERS, Equal
from provisioner.search.paper.study import Experiment, find
from provisioner.traces import Demand, Drawn, Poisson, Replayed, SizeTable, read_trace
from provisioner.traces.sequence import RequestSequence

CORES = len(os.sched_getaffinity(0))
REFERENCE = "splitwisesim"
SHARED = os.environ.get("SHARED", "../shared")

PRESET = Catalog.open().preset(REFERENCE).set
MEMORY = {path: value for path, value in PRESET.items() if path.startswith("models.") or "memory" in path}
TRANSFER = {
    path: value for path, value in PRESET.items() if "interconnect" in path or "layerwise" in path or "retry" in path
}
WAITING = {path: value for path, value in PRESET.items() if "long_prompts" in path}
OTHER = {path: value for path, value in PRESET.items() if not {path} & {*MEMORY, *TRANSFER, *WAITING}}


@dataclass(frozen=True, kw_only=True)
class Variant:
    """A world, put together from the habits of both."""

    name: str
    sets: Mapping[str, object] = field(default_factory=dict)
    decode: str = "splitwise"
    prefill: str = "splitwise"
    slo: str = "splitwise"
    slo_sets: Mapping[str, object] = field(default_factory=dict)
    independent: bool = False
    recorded: bool = False
    span_s: float = 120.0
    seed: int = 0
    replications: int = 1

    def world(self) -> World:
        catalog = Catalog.open(overrides={**self.sets, **self.slo_sets})
        profiles = mixed_profiles(self.prefill, self.decode)
        scenarios = {
            (workload, model): Scenario(
                model=catalog.model(model),
                slo=catalog.slo(self.slo),
                profiles=profiles,
                demand=self.demand(catalog, workload),
                rate_rps=TARGET_RPS,
                span_s=self.span_s,
            )
            for workload in WORKLOADS
            for model in (MODEL, OTHER_MODEL)
        }
        return World(
            name=self.name,
            designs={name: catalog.design(name) for name in DESIGNS},
            scenarios=scenarios,
            precision=Precision(replications=self.replications),
        )

    def demand(self, catalog: Catalog, workload: Workload) -> Demand:
        if self.recorded:
            trace = read_trace(f"{SHARED}/data/azure_llm_2023_{workload}.csv")
            return Replayed(trace, len(trace) / trace.span_s)
        entry, folder = catalog.workload(workload)
        sizes = SizeTable.read(folder / entry.sizes)
        return Independent(sizes, self.seed) if self.independent else Drawn(sizes, self.seed, Poisson())


@dataclass(frozen=True, eq=False)
class Independent:
    """Poisson arrivals whose prompts and outputs are drawn apart, as the reference simulator draws them."""

    sizes: SizeTable
    seed: int

    @property
    def replications(self) -> int | None:
        return None

    def trace(self, replication: int, rate_rps: float, span_s: float) -> RequestTrace:
        sequence = RequestSequence.drawn(self.sizes, seed=self.seed, replication=replication, independent=True)
        return sequence.at_rate(rate_rps, span_s)


def mixed_profiles(prefill: str, decode: str) -> ProfileSet:
    """Prefill times of one profile set with the decode times of the other."""
    catalog = Catalog.open()
    sets = {name: read_profiles(catalog.find_file("profiles", name)) for name in {prefill, decode}}
    models: dict[tuple[str, str, int], PerformanceModel] = {
        key: replace(
            model,
            decode_batch=sets[decode].models[key].decode_batch,
            decode_seconds=sets[decode].models[key].decode_seconds,
            gamma_s_per_token=sets[decode].models[key].gamma_s_per_token,
        )
        for key, model in sets[prefill].models.items()
        if key in sets[decode].models
    }
    return ProfileSet(name=f"prefill of {prefill}, decode of {decode}", models=models)


DEFAULT = Variant(name="default")
SIM = Variant(
    name=REFERENCE, sets=PRESET, decode=REFERENCE, prefill=REFERENCE, slo=REFERENCE
)  # what `--profile-set splitwisesim` simulates
# Its SLOs ask the decode time of as many requests as the prompt has tokens, which only its own decode times stand.
WITHOUT_DECODE = replace(SIM, name="reference - its decode and SLO", decode="splitwise", slo="splitwise")
BY_ALL = {"slos.splitwise.tbt_counts_first_token": True}


def without(name: str, gone: Mapping[str, object], **changes: object) -> Variant:
    """The reference simulator without some of its habits."""
    sets = {path: value for path, value in PRESET.items() if path not in gone}
    return replace(SIM, name=name, sets=sets, **changes)  # type: ignore[arg-type]


# -- What is looked at: the claims of which some world is more than 10 % off, by a short name --

COLUMNS: Mapping[str, str] = {
    "AA/A100 power": "equal power: RPS of AA / A100",
    "HA/H100 power": "equal power: RPS of HA / H100",
    "AA/H100 cost": "equal cost: RPS of AA / H100",
    "order chat": "equal power: slowest of AA, HH, HA, HHcap / fastest of A100, H100",
    "moved AA": "on the cluster for coding: RPS of AA / on that for conversation",
    "moved HH": "on the cluster for coding: RPS of HH / on that for conversation",
    "moved HA": "on the cluster for coding: RPS of HA / on that for conversation",
    "moved HHcap": "on the cluster for coding: RPS of HHcap / on that for conversation",
    "order moved": "on clusters for coding: slowest Splitwise / fastest baseline",
    "Llama HH": "Llama2-70B / BLOOM-176B: RPS of HH",
    "order Llama": "Llama2-70B: slowest Splitwise / fastest baseline",
}
OWN = dict(list(COLUMNS.items())[:4])
LEAST: Mapping[str, str] = {
    "HHcap/H100 kW": "least power at 70 RPS: power of HHcap / H100",
    "HHcap/H100 USD": "least power at 70 RPS: cost of HHcap / H100",
    "HHcap/H100 n": "least power at 70 RPS: machines of HHcap / H100",
    "AA/H100 USD": "least cost at 70 RPS: cost of AA / H100",
}


def rates(worlds: Sequence[World], workers: Workers) -> dict[str, dict[Case, Finding]]:
    """Every highest rate of a published cluster, for conversation."""
    kinds: list[tuple[Experiment, Objective]] = [
        ("published", "power"), ("published", "cost"), ("moved", "power"), ("model", "power"),
    ]  # fmt: skip
    wanted = [Case(experiment, "conversation", design, by) for experiment, by in kinds for design in DESIGNS]
    return found(worlds, wanted, workers)


def found(worlds: Sequence[World], wanted: Sequence[Case], workers: Workers) -> dict[str, dict[Case, Finding]]:
    pairs = [(world, case) for case in wanted for world in worlds]
    results = workers.map(lambda pair: find(*pair), pairs)
    gathered: dict[str, dict[Case, Finding]] = {}
    for (world, case), finding in zip(pairs, results, strict=True):
        gathered.setdefault(world.name, {})[case] = finding
    return gathered


def table(
    findings: Mapping[str, Mapping[Case, Finding]],
    columns: Mapping[str, str],
    workload: Workload = "conversation",
    clusters: str | None = None,
) -> None:
    """One variant a row, one claim a column."""
    comparisons = compared(findings, [workload])
    claims = {}
    for short, text in columns.items():
        claims[short] = next(
            each
            for each in comparisons
            if each.claim.text == text
            and each.clusters == (clusters or each.claim.clusters[0])
            and each.workload == workload
        )
    print("| " + " | ".join((workload, *claims)) + " |")
    print("|---" + "|---:" * len(claims) + "|")
    paper = [("> " if each.claim.is_bound else "") + f"{each.claim.published:.2f}" for each in claims.values()]
    print("| paper | " + " | ".join(paper) + " |")
    for name in findings:
        cells = [each.values[name] for each in claims.values()]
        print(f"| {name} | " + " | ".join("-" if cell is None else f"{cell:.2f}" for cell in cells) + " |", flush=True)
    print()


# -- The experiments --


def habits(workers: Workers) -> None:
    """Both worlds with single habits of the other: which one makes the difference."""
    variants = [
        DEFAULT,
        replace(DEFAULT, name="default + decode of the reference", decode=REFERENCE),
        replace(DEFAULT, name="default + prefill of the reference", prefill=REFERENCE),
        replace(DEFAULT, name="default + TBT over all tokens", slo_sets=BY_ALL),
        replace(DEFAULT, name="default + memory figures", sets=MEMORY),
        replace(DEFAULT, name="default + transfer", sets=TRANSFER),
        replace(DEFAULT, name="default + long prompts wait", sets=WAITING),
        replace(DEFAULT, name="default + other habits", sets=OTHER),
        replace(DEFAULT, name="default + independent lengths", independent=True),
        replace(DEFAULT, name="default + decode, SLO of the reference", decode=REFERENCE, slo=REFERENCE),
        replace(DEFAULT, name="default + decode, memory of the reference", decode=REFERENCE, sets=MEMORY),
        replace(
            DEFAULT, name="default + decode, SLO, memory of the reference", decode=REFERENCE, slo=REFERENCE, sets=MEMORY
        ),
        SIM,
        WITHOUT_DECODE,
        replace(SIM, name="reference - its prefill", prefill="splitwise"),
        replace(SIM, name="reference - its SLO", slo="splitwise"),
        without("reference - memory figures", MEMORY),
        without("reference - transfer", TRANSFER),
        without("reference - long prompts wait", WAITING),
        without("reference - other habits", OTHER),
        replace(SIM, name="reference + independent lengths", independent=True),
    ]
    table(rates([variant.world() for variant in variants], workers), COLUMNS)


def seeds(workers: Workers) -> None:
    """One seed of two minutes, ten minutes, ten seeds; and the spread over seeds."""
    variants = [
        variant
        for base in (DEFAULT, SIM)
        for variant in (
            base,
            replace(base, name=f"{base.name}, 600 s", span_s=600.0),
            replace(base, name=f"{base.name}, mean of 10 seeds", replications=10),
            *(replace(base, name=f"{base.name}, seed {seed}", seed=seed) for seed in range(1, 6)),
        )
    ]
    table(rates([variant.world() for variant in variants], workers), COLUMNS)


def arrivals(workers: Workers) -> None:
    """Poisson, or the arrivals of the Azure traces."""
    # A minute of each: the trace of 19,366 requests lasts as long at every rate that is tried.
    variants = [
        replace(base, name=f"{base.name}, 60 s, {words}", recorded=recorded, span_s=60.0)
        for base in (DEFAULT, SIM)
        for recorded, words in ((False, "Poisson"), (True, "recorded"))
    ]
    table(rates([variant.world() for variant in variants], workers), COLUMNS)


def rule(workers: Workers) -> None:
    """The paper's rule: of the rates 30, 40, ... RPS the largest that passes, whatever those below do."""
    grid = [float(rate) for rate in range(30, 261, 10)]
    rows: dict[str, dict[Case, Finding]] = {}
    for base in (DEFAULT, SIM):
        for span_s in (120.0, 600.0):
            variant = replace(base, name=f"{base.name}, 10 RPS grid, {span_s:g} s", span_s=span_s, independent=True)
            world = variant.world()
            cells = [(by, design) for by in EQUALS for design in DESIGNS]
            passing = workers.map(partial(largest, world, grid), cells)
            rows[variant.name] = {
                Case("published", "conversation", design, by): Finding(value=rate)
                for (by, design), rate in zip(cells, passing, strict=True)
            }
            shown = (
                f"{design} {rate:g}"
                for (by, design), rate in zip(cells, passing, strict=True)
                if by == "power" and rate
            )
            print(f"- {variant.name}, equal power: {', '.join(shown)}", flush=True)
    print()
    table(rows, OWN)


def largest(world: World, grid: Sequence[float], cell: tuple[Equal, str]) -> float | None:
    """The largest rate that passes; after three in a row that fail none above is tried."""
    equal, design = cell
    judge = world.judge(Case("published", "conversation", design))
    cluster = judge.cluster(*CLUSTERS[equal, "conversation"][design])
    best, failed = None, 0
    for rate in grid:
        if judge.at_rate(rate).evaluate(cluster).is_feasible:
            best, failed = rate, 0
        elif (failed := failed + 1) == 3:  # noqa: PLR2004
            break
    return best


def least(workers: Workers) -> None:
    """Figure 19: which habit decides what is cheapest and least power-hungry at 70 RPS."""
    variants = [
        DEFAULT,
        replace(DEFAULT, name="default + decode of the reference", decode=REFERENCE),
        replace(DEFAULT, name="default + SLO of the reference", slo=REFERENCE),
        replace(
            DEFAULT, name="default + decode, SLO, memory of the reference", decode=REFERENCE, slo=REFERENCE, sets=MEMORY
        ),
        SIM,
        replace(SIM, name="reference - its SLO", slo="splitwise"),
        without("reference - long prompts wait", WAITING),
        replace(SIM, name="reference + independent lengths", independent=True),
        replace(SIM, name="reference, mean of 5 seeds", replications=5),
        replace(SIM, name="reference, 600 s", span_s=600.0),
    ]
    worlds = [variant.world() for variant in variants]
    for workload in WORKLOADS:
        kinds: list[tuple[str, Objective]] = [("AA", "cost"), ("HHcap", "power"), ("H100", "cost"), ("H100", "power")]
        wanted = [Case("least", workload, design, by) for design, by in kinds]
        findings = found(worlds, wanted, workers)
        table(findings, LEAST, workload)
        for name, cases in findings.items():
            shown = (f"{c.design} {c.by}: {f.cluster.label if f.cluster else '-'}" for c, f in cases.items())
            print(f"- {name}: " + ", ".join(shown))
        print()


def own(workers: Workers) -> None:
    """The best clusters of ours at equal power and cost: is it still the decode times?"""
    variants = [
        DEFAULT,
        replace(DEFAULT, name="default + decode of the reference", decode=REFERENCE),
        replace(DEFAULT, name="default + decode, mean of 5 seeds", decode=REFERENCE, replications=5),
        SIM,
        WITHOUT_DECODE,
        replace(SIM, name="reference, mean of 5 seeds", replications=5),
    ]
    wanted = [Case("own", "conversation", design, equal) for equal in EQUALS for design in DESIGNS]
    findings = found([variant.world() for variant in variants], wanted, workers)
    table(findings, OWN, clusters="own")
    for name, cases in findings.items():
        shown = (f"{c.by} {c.design} {f.cluster.label if f.cluster else '-'} {f.value}" for c, f in cases.items())
        print(f"- {name}: " + ", ".join(shown))
    print()


def splits(workers: Workers) -> None:
    """86 DGX-A100 against 40 DGX-H100: how Splitwise-AA's throughput depends on the split, at equal cost."""
    print("| conversation | 40P/T H100 | " + " | ".join(f"{p}P+{86 - p}T" for p in SPLITS) + " |")
    print("|---" + "|---:" * (len(SPLITS) + 1) + "|")
    for base in (DEFAULT, replace(DEFAULT, name="default + decode of the reference", decode=REFERENCE), SIM):
        world = base.world()
        h100 = world.judge(Case("published", "conversation", "H100"))
        aa = world.judge(Case("published", "conversation", "AA"))
        cells = [(h100, h100.cluster(40, 0)), *((aa, aa.cluster(p, 86 - p)) for p in SPLITS)]
        best = workers.map(lambda cell: largest_rate(*cell), cells)
        print(
            f"| {base.name} | " + " | ".join("-" if e is None else f"{e.rate_rps:.1f}" for e in best) + " |", flush=True
        )
        print("| binding | " + " | ".join("-" if e is None else e.binding.limit.name for e in best) + " |", flush=True)
    print()


SPLITS = range(41, 77, 5)


def batch(workers: Workers) -> None:
    """What a request per second and dollar is, and what it depends on."""
    variants = [
        DEFAULT,
        replace(DEFAULT, name="default + decode of the reference", decode=REFERENCE),
        replace(DEFAULT, name="default + memory figures", sets=MEMORY),
        replace(DEFAULT, name="default + decode, memory of the reference", decode=REFERENCE, sets=MEMORY),
        SIM,
        WITHOUT_DECODE,
        replace(SIM, name="reference, 300 s", span_s=300.0),
    ]
    designs = ("A100", "AA", "H100", "HH")
    worlds = [variant.world() for variant in variants]
    findings = found(worlds, [Case("batch", "conversation", design) for design in designs], workers)
    print("| RPS/USD | " + " | ".join(designs) + " |\n|---" + "|---:" * len(designs) + "|")
    print("| paper | 0.89 | 0.89 | 0.75 | 0.75 |")
    for name, cases in findings.items():
        print(f"| {name} | " + " | ".join(f"{finding.value:.3f}" for finding in cases.values()) + " |", flush=True)
    print()


EXPERIMENTS: Mapping[str, Callable[[Workers], None]] = {
    each.__name__: each for each in (habits, own, least, splits, rule, seeds, arrivals, batch)
}


def main(names: Sequence[str]) -> None:
    for name in names or EXPERIMENTS:
        started = time.perf_counter()
        print(f"### {name}: {EXPERIMENTS[name].__doc__}\n", flush=True)
        with Workers(CORES) as workers:
            EXPERIMENTS[name](workers)
        print(f"({time.perf_counter() - started:.0f} s)\n", flush=True)


if __name__ == "__main__":
    np.seterr(all="raise", under="ignore")
    main(sys.argv[1:])
