"""Why our numbers differ from the Splitwise paper's: one thing changed at a time.

    python -m benchmarks.paper_experiments habits    # or several of: decode, habits, own, least, ...; all if none
    provision paper --json paper.json && python -m benchmarks.paper_experiments claims

Prints Markdown, which docs/paper.md quotes. An experiment starts from one of the two worlds of
`provision paper` and takes over single habits of the other one.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from provisioner.catalog import Catalog
from provisioner.domain.cluster import Cluster
from provisioner.domain.slo import Metric
from provisioner.domain.trace import RequestTrace
from provisioner.metrics import alone, latencies
from provisioner.perf import PerformanceModel, ProfileSet, read_profiles
from provisioner.search import Judge, Objective, Precision, Scenario, Workers
from provisioner.search.evaluation import Evaluation
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
from provisioner.search.paper.published import CLUSTERS
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
SCHEDULING = {path: value for path, value in PRESET.items() if path not in {*MEMORY, *TRANSFER}}


@dataclass(frozen=True, kw_only=True)
class Variant:
    """A world, put together from the habits of both."""

    name: str
    sets: Mapping[str, object] = field(default_factory=dict)
    decode: str = "splitwise"
    prefill: str = "splitwise"
    slo: str = "splitwise"
    slo_sets: Mapping[str, object] = field(default_factory=dict)
    metrics: tuple[Metric, ...] = ("ttft", "tbt", "e2e")
    """Those that are limited."""
    independent: bool = False
    recorded: bool = False
    span_s: float = 120.0
    seed: int = 0
    replications: int = 1

    def world(self) -> World:
        catalog = Catalog.open(overrides={**self.sets, **self.slo_sets})
        profiles = mixed_profiles(self.prefill, self.decode)
        slo = catalog.slo(self.slo)
        slo = slo.model_copy(update={"limits": tuple(each for each in slo.limits if each.metric in self.metrics)})
        scenarios = {
            (workload, model): Scenario(
                model=catalog.model(model),
                slo=slo,
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
# What `--profile-set splitwisesim` simulates.
SIM = Variant(name=REFERENCE, sets=PRESET, decode=REFERENCE, prefill=REFERENCE, slo=REFERENCE)
WITH_DECODE = replace(DEFAULT, name="default + its decode", decode=REFERENCE)
WITH_MEMORY = replace(WITH_DECODE, name="default + its decode, memory", sets=MEMORY)
# Its TBT objective asks the decode time of as many requests as the prompt has tokens: it goes with its decode times.
WITHOUT_DECODE = replace(SIM, name="splitwisesim - its decode, TBT", decode="splitwise", slo="splitwise")
BY_ALL = {"slos.splitwise.tbt_counts_first_token": True}


def without(name: str, gone: Mapping[str, object], **changes: object) -> Variant:
    """The reference simulator without some of its habits."""
    sets = {path: value for path, value in PRESET.items() if path not in gone}
    return replace(SIM, name=name, sets=sets, **changes)  # type: ignore[arg-type]


# -- What is looked at: the claims of which some world is more than 10 % off, by a short name --

CHAT: Mapping[str, str] = {
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
CODING: Mapping[str, str] = {
    "order coding": "equal power: slowest of HH, HHcap, AA / fastest of H100",
    "Llama HH": CHAT["Llama HH"],
    "order Llama": CHAT["order Llama"],
}
OWN = dict(list(CHAT.items())[:4])
LEAST: Mapping[str, str] = {
    "HHcap/H100 kW": "least power at 70 RPS: power of HHcap / H100",
    "HHcap/H100 USD": "least power at 70 RPS: cost of HHcap / H100",
    "HHcap/H100 n": "least power at 70 RPS: machines of HHcap / H100",
    "AA/H100 USD": "least cost at 70 RPS: cost of AA / H100",
}


def rates(worlds: Sequence[World], workers: Workers, workload: Workload) -> dict[str, dict[Case, Finding]]:
    """Every highest rate of a published cluster for a workload, in requests per second."""
    kinds: list[tuple[Experiment, Objective]] = [
        ("published", "power"), ("published", "cost"), ("moved", "power"), ("model", "power"),
    ]  # fmt: skip
    wanted = [Case(experiment, workload, design, by) for experiment, by in kinds for design in DESIGNS]
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
    print(row(workload, *claims))
    print(row("---", *["---:"] * len(claims)))
    paper = [("> " if each.claim.is_bound else "") + f"{each.claim.published:.2f}" for each in claims.values()]
    print(row("paper", *paper))
    for name in findings:
        cells = [each.values[name] for each in claims.values()]
        print(row(name, *("-" if cell is None else f"{cell:.2f}" for cell in cells)), flush=True)
    print()


# -- The experiments --


def claims(_: Workers) -> None:
    """The paper's claims, and what `provision paper --json paper.json` found: on its clusters / on our best ones."""
    answer = json.loads(Path("paper.json").read_text())
    worlds = answer["inputs"]["profile_sets"]
    print(row("claim", "workload", "paper", *(f"{world}, {whose}" for world in worlds for whose in ("its", "ours"))))
    print(row("---", "---", *["---:"] * (1 + 2 * len(worlds))))
    told = [claim for claim in answer["claims"] if any(value is not None for value in claim["ours"].values())]
    for (text, workload), group in groupby(told, key=lambda claim: (claim["claim"], claim["workload"])):
        by = {claim["clusters"]: claim for claim in group}
        first = next(iter(by.values()))
        published = f"{'> ' if first['is_bound'] else ''}{first['published']:.2f}"
        cells = (beside(by.get(whose), world) for world in worlds for whose in ("published", "own"))
        print(row(text, workload, published, *cells))
    print()


def beside(claim: Mapping[str, Any] | None, world: str) -> str:
    """What a world has for a claim, and how far off that is; beyond 10 % in bold."""
    if claim is None:
        return ""
    value, difference, holds = claim["ours"][world], claim["difference"][world], claim["holds"][world]
    if value is None:
        return "-"
    if holds is not None:
        return f"{value:.2f} holds" if holds else f"**{value:.2f} fails**"
    return f"**{value:.2f} {difference:+.0%}**" if abs(difference) > LARGE else f"{value:.2f} {difference:+.0%}"


def row(*cells: str) -> str:
    """A row of a Markdown table."""
    return f"| {' | '.join(cells)} |"


LARGE = 0.10


def decode(_: Workers) -> None:
    """How much slower an iteration of a batch is than that of one request; 1,200 tokens of context each."""
    batches = (1, 8, 16, 32, 64)
    print(row("decode time / that of one", *(f"batch {batch}" for batch in batches)))
    print(row("---", *["---:"] * len(batches)))
    for machine in ("dgx-a100", "dgx-h100"):
        for name in ("splitwise", REFERENCE):
            model = mixed_profiles(name, name).models[MODEL, machine, 8]
            times = [float(model.decode_s(float(batch), 1200.0 * batch)) for batch in batches]
            print(row(f"{machine}, {name}", *(f"{each / times[0]:.2f}" for each in times)))
    print()


def habits(workers: Workers) -> None:
    """Both worlds with single habits of the other: which one makes the difference."""
    variants = [
        DEFAULT,
        WITH_DECODE,
        replace(DEFAULT, name="default + its prefill", prefill=REFERENCE),
        replace(DEFAULT, name="default + TBT over all tokens", slo_sets=BY_ALL),
        replace(DEFAULT, name="default + its memory", sets=MEMORY),
        replace(DEFAULT, name="default + its transfer", sets=TRANSFER),
        replace(DEFAULT, name="default + its scheduling", sets=SCHEDULING),
        replace(DEFAULT, name="default + independent lengths", independent=True),
        WITH_MEMORY,
        SIM,
        WITHOUT_DECODE,
        replace(SIM, name="splitwisesim - its prefill", prefill="splitwise"),
        replace(SIM, name="splitwisesim - its TBT", slo="splitwise"),
        without("splitwisesim - its memory", MEMORY),
        without("splitwisesim - its transfer", TRANSFER),
        without("splitwisesim - its scheduling", SCHEDULING),
        replace(SIM, name="splitwisesim + independent lengths", independent=True),
    ]
    table(rates([variant.world() for variant in variants], workers, "conversation"), CHAT)
    few = [variant.world() for variant in (DEFAULT, WITH_DECODE, WITH_MEMORY, SIM, WITHOUT_DECODE)]
    table(rates(few, workers, "coding"), CODING, "coding")


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
    table(rates([variant.world() for variant in variants], workers, "conversation"), CHAT)


def arrivals(workers: Workers) -> None:
    """Poisson, or the arrivals of the Azure traces."""
    # A minute of each: the trace of 19,366 requests lasts as long at every rate that is tried.
    variants = [
        replace(base, name=f"{base.name}, 60 s, {words}", recorded=recorded, span_s=60.0)
        for base in (DEFAULT, SIM)
        for recorded, words in ((False, "Poisson"), (True, "recorded"))
    ]
    table(rates([variant.world() for variant in variants], workers, "conversation"), CHAT)


def rule(workers: Workers) -> None:
    """The paper's rule: of the rates 10, 20, ... RPS the largest that passes, whatever those below do."""
    variants = [
        replace(base, name=f"{base.name}, 10 RPS grid, {span_s:g} s", span_s=span_s, independent=True)
        for base in (DEFAULT, SIM)
        for span_s in (120.0, 600.0)
    ]
    kinds: list[tuple[Experiment, Objective]] = [("published", "power"), ("published", "cost"), ("moved", "power")]
    cases = [Case(experiment, "conversation", design, by) for experiment, by in kinds for design in DESIGNS]
    rows = {}
    for variant in variants:
        world = variant.world()
        passing = workers.map(partial(largest, GRID), [given(world, case) for case in cases])
        rows[variant.name] = {case: Finding(value=rate) for case, rate in zip(cases, passing, strict=True)}
    table(rows, dict(list(CHAT.items())[:9]))


GRID = [float(rate) for rate in range(10, 261, 10)]
PATIENCE = 6
Cell = tuple[Judge, Cluster]


def given(world: World, case: Case) -> Cell:
    """The cluster that the paper has for a case about conversation."""
    judge = world.judge(case)
    workload: Workload = "coding" if case.experiment == "moved" else "conversation"
    return judge, judge.cluster(*CLUSTERS["cost" if case.by == "cost" else "power", workload][case.design])


def gap(workers: Workers) -> None:
    """HH's cluster for coding, 35P+5T, under conversation: headroom to the limit that binds, and who decodes."""
    steps = [float(rate) for rate in range(20, 81, 5)]
    print(row("RPS", *(f"{rate:.0f}" for rate in steps)))
    print(row("---", *["---:"] * len(steps)))
    for seed in reversed(range(3)):
        cell = given(replace(DEFAULT, seed=seed).world(), Case("moved", "conversation", "HH"))
        tried = workers.map(partial(at_rate, cell), steps)
        print(row(f"headroom, seed {seed}", *(f"{each.headroom:+.1%}" for each in tried)), flush=True)
    print(row("the limit that binds", *(each.binding.limit.name for each in tried)))
    shares, there, here = zip(*workers.map(partial(spilled, cell), steps), strict=True)
    print(row("decoded on prompt machines", *(f"{share:.0%}" for share in shares)))
    print(row("median TBT slowdown there", *(f"{slowdown:.2f}" for slowdown in there)))
    print(row("and on token machines", *(f"{slowdown:.2f}" for slowdown in here)))
    print()


def spilled(cell: Cell, rate_rps: float) -> tuple[float, float, float]:
    """The share of requests decoded on prompt machines, and the median slowdown of TBT there and on token machines."""
    judge, cluster = cell[0].at_rate(rate_rps), cell[1]
    simulation, scenario = judge.simulate(cluster), judge.scenario
    reference = alone(scenario.trial(0).trace, scenario.reference, scenario.slo)
    slowdown = latencies(simulation, scenario.slo).tbt / reference.tbt
    is_there = simulation.token_machine < cluster.prompt_machines
    return float(is_there.mean()), float(np.nanmedian(slowdown[is_there])), float(np.nanmedian(slowdown[~is_there]))


def at_rate(cell: Cell, rate_rps: float) -> Evaluation:
    """What becomes of a cluster at a rate."""
    judge, cluster = cell
    return judge.at_rate(rate_rps).evaluate(cluster)


def largest(grid: Sequence[float], cell: Cell) -> float | None:
    """The largest rate that passes; after six in a row that fail none above is tried."""
    best, failed = None, 0
    for rate in grid:
        if at_rate(cell, rate).is_feasible:
            best, failed = rate, 0
        elif (failed := failed + 1) == PATIENCE:
            break
    return best


def least(workers: Workers) -> None:
    """Figure 19: which habit decides what is cheapest and least power-hungry at 70 RPS."""
    variants = [
        DEFAULT,
        WITH_DECODE,
        WITH_MEMORY,
        SIM,
        WITHOUT_DECODE,
        replace(SIM, name="splitwisesim - its TBT", slo="splitwise"),
        replace(SIM, name="splitwisesim, no limits on TBT", metrics=("ttft", "e2e")),
        replace(SIM, name="splitwisesim + independent lengths", independent=True),
        replace(SIM, name="splitwisesim, mean of 5 seeds", replications=5),
    ]
    worlds = [variant.world() for variant in variants]
    kinds: list[tuple[str, Objective]] = [("AA", "cost"), ("HHcap", "power"), ("H100", "cost"), ("H100", "power")]
    for workload in WORKLOADS:
        findings = found(worlds, [Case("least", workload, design, by) for design, by in kinds], workers)
        table(findings, LEAST, workload)
        clusters(findings)


def own(workers: Workers) -> None:
    """The best clusters of ours at equal power and cost: is it still the decode times?"""
    variants = [
        DEFAULT,
        WITH_DECODE,
        WITH_MEMORY,
        SIM,
        WITHOUT_DECODE,
        replace(SIM, name="splitwisesim, mean of 5 seeds", replications=5),
    ]
    wanted = [Case("own", "conversation", design, equal) for equal in EQUALS for design in DESIGNS]
    findings = found([variant.world() for variant in variants], wanted, workers)
    table(findings, OWN, clusters="own")
    clusters(findings)


def clusters(findings: Mapping[str, Mapping[Case, Finding]]) -> None:
    """The clusters that were found, one variant a row, one case a column."""
    cases = list(next(iter(findings.values())))
    print(row("cluster", *(f"{case.design}, {case.by}" for case in cases)))
    print(row("---", *["---"] * len(cases)))
    for name, each in findings.items():
        print(row(name, *("-" if (cluster := each[case].cluster) is None else cluster.label for case in cases)))
    print(flush=True)


def splits(workers: Workers) -> None:
    """86 DGX-A100 against 40 DGX-H100: RPS by Splitwise-AA's split, and the ratio in steps of 10 RPS (`rule`)."""
    print(row("conversation", "H100 40P/T", *(f"{p}P+{86 - p}T" for p in SPLITS)))
    print(row("---", *["---:"] * (1 + len(SPLITS))))
    for base in (DEFAULT, WITH_DECODE, SIM):
        best = [evaluation.rate_rps if evaluation else None for evaluation in workers.map(highest, divided(base))]
        print(row(base.name, *(f"{rate:.1f}" if rate else "-" for rate in best)), flush=True)
    stepwise = replace(SIM, name="splitwisesim, 10 RPS grid, 600 s", span_s=600.0, independent=True)
    best = workers.map(partial(largest, GRID), divided(stepwise))
    print(row(stepwise.name, *(f"{rate:.0f}" if rate else "-" for rate in best)))
    print(row("its ratio to H100", *(f"{rate / best[0]:.2f}" if rate and best[0] else "-" for rate in best)))
    print()


SPLITS = range(41, 77, 5)


def divided(variant: Variant) -> list[Cell]:
    """40 DGX-H100, and then 86 DGX-A100 by split."""
    world = variant.world()
    h100, aa = (world.judge(Case("published", "conversation", design)) for design in ("H100", "AA"))
    return [(h100, h100.cluster(40, 0)), *((aa, aa.cluster(p, 86 - p)) for p in SPLITS)]


def highest(cell: Cell) -> Evaluation | None:
    """A cluster at the highest rate that passes."""
    return largest_rate(*cell)


def batch(workers: Workers) -> None:
    """What a request per second and dollar is, and what it depends on."""
    variants = [
        DEFAULT,
        WITH_DECODE,
        replace(DEFAULT, name="default + its memory", sets=MEMORY),
        WITH_MEMORY,
        SIM,
        WITHOUT_DECODE,
        replace(SIM, name="splitwisesim, 300 s", span_s=300.0),
    ]
    designs = ("A100", "AA", "H100", "HH")
    worlds = [variant.world() for variant in variants]
    findings = found(worlds, [Case("batch", "conversation", design) for design in designs], workers)
    print(row("RPS/USD", *designs))
    print(row("---", *["---:"] * len(designs)))
    print(row("paper", "0.89", "0.89", "0.75", "0.75"))
    for name, cases in findings.items():
        print(row(name, *(f"{finding.value:.3f}" for finding in cases.values())), flush=True)
    print()


EXPERIMENTS: Mapping[str, Callable[[Workers], None]] = {
    each.__name__: each for each in (decode, habits, gap, own, least, splits, rule, seeds, arrivals, batch, claims)
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
