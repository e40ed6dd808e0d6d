"""The experiments behind the paper's figures: which clusters are simulated with what, and what is read off.

A *case* is one number to find; a *world* is one way to model, as our default or as the reference simulator.
Cases are independent, so they are shared among the workers whole, and each is searched on one thread.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from provisioner.domain.cluster import Cluster
from provisioner.domain.design import Design
from provisioner.search.evaluate import Judge
from provisioner.search.evaluation import Evaluation
from provisioner.search.goal import OBJECTIVES, Budget, Objective, amount
from provisioner.search.maximise import largest_rate, maximise
from provisioner.search.minimise import minimise
from provisioner.search.paper.published import (
    BATCH_RPS,
    CLUSTERS,
    DESIGNS,
    EQUALS,
    H100_MACHINES,
    MODEL,
    OTHER_MODEL,
    WORKLOADS,
    Counts,
    Equal,
    Workload,
)
from provisioner.search.plan import Plan
from provisioner.search.pool import Workers
from provisioner.search.precision import Precision
from provisioner.search.scenario import Scenario

Experiment = Literal["published", "own", "least", "moved", "model", "batch"]
"""
published   the highest rate of a published cluster
own         the cluster of the highest rate at the same power or cost (figures 16 and 18)
least       the cluster that takes least at `TARGET_RPS` (figures 12 and 19)
moved       the highest rate of a cluster published for the other workload (figure 20a)
model       the highest rate of a published cluster with the other model (figure 20b)
batch       requests completed for a dollar without SLOs (section VI-E)
"""
MAX_MACHINES = 200
BATCH_SPANS = 2.0
"""A batch load lasts so many times longer; completions count in the second half, when queues have built up."""


@dataclass(frozen=True, slots=True)
class Case:
    """One number to find."""

    experiment: Experiment
    workload: Workload
    design: str
    by: Objective = "power"
    """What is equal, or what is least."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What was found: requests per second, what is least, or requests per dollar."""

    value: float | None = None
    """None where no cluster or no rate meets every SLO."""
    cluster: Cluster | None = None
    evaluation: Evaluation | None = None
    confirmed: tuple[int, int] | None = None
    """Fresh seeds on which it passes by itself, and how many were tried."""
    simulated: int = 0


Findings = Mapping[Case, Finding]


@dataclass(frozen=True, kw_only=True, eq=False)
class World:
    """One way to model what the paper evaluates."""

    name: str
    designs: Mapping[str, Design]
    """By the short names of `DESIGNS`."""
    scenarios: Mapping[tuple[Workload, str], Scenario]
    """By workload and model, at `TARGET_RPS`."""
    precision: Precision

    def judge(self, case: Case, model: str = MODEL) -> Judge:
        """Who judges the clusters of a case."""
        return Judge(self.designs[case.design], self.scenarios[case.workload, model], self.precision)

    def budget(self, equal: Equal) -> Budget:
        """What the paper's baseline takes of that."""
        baseline = Cluster(design=self.designs["H100"], prompt_machines=H100_MACHINES, token_machines=0)
        if equal == "power":
            return Budget(power_kw=baseline.power_kw)
        return Budget(cost_usd_per_h=baseline.cost_usd_per_h)

    def first_alike(self, case: Case) -> Case:
        """The first case with the same answer: with machines of one price, the cheapest cluster is the smallest too."""
        if case.experiment != "least":
            return case
        shares = {by: self._shares(case.design, by) for by in OBJECTIVES}
        return replace(case, by=next(by for by in OBJECTIVES if shares[by] == shares[case.by]))

    def _shares(self, design: str, by: Objective) -> tuple[float, ...]:
        """What a machine of each pool takes, relative to all."""
        machines = self.designs[design].machines
        taken = [{"cost": m.cost_usd_per_h, "power": m.power_kw, "machines": 1.0}[by] for m in machines]
        total = sum(taken)
        return tuple(round(each / total, 9) for each in taken) if total else tuple(taken)


def cases(workloads: Sequence[Workload], *, quick: bool) -> list[Case]:
    """Every case of the evaluation, those that take longest first; `quick` leaves out all searches but figure 12's."""
    designs = tuple(reversed(DESIGNS))
    found: list[Case] = []
    if not quick:
        longest_first = ("AA", "HA", "HHcap", "HH", "A100", "H100")
        found += [Case("least", w, d, by) for d in longest_first for w in reversed(workloads) for by in OBJECTIVES]
        found += [Case("own", w, d, equal) for equal in EQUALS for w in workloads for d in designs]
    elif "coding" in workloads:
        found.append(Case("least", "coding", "HH", "cost"))
    if "conversation" in workloads:
        found += [Case("batch", "conversation", d) for d in designs]
    found += [Case("published", w, d, equal) for equal in EQUALS for w in workloads for d in designs]
    found += [Case("moved", w, d) for w in workloads for d in designs]
    found += [Case("model", w, d) for w in workloads for d in designs]
    return found


def study(
    worlds: Iterable[World], workloads: Sequence[Workload], workers: Workers, *, quick: bool = False
) -> dict[str, Findings]:
    """Find the numbers of every case in every world, by the worlds' names."""
    wanted = [(world, case) for case in cases(workloads, quick=quick) for world in worlds]
    different = list(dict.fromkeys((world, world.first_alike(case)) for world, case in wanted))
    found = dict(zip(different, workers.map(lambda pair: find(*pair), different), strict=True))
    findings: dict[str, dict[Case, Finding]] = {}
    for world, case in wanted:
        findings.setdefault(world.name, {})[case] = _read(found[world, world.first_alike(case)], case)
    return dict(findings)


def steps(worlds: Sequence[World], workloads: Sequence[Workload], *, quick: bool = False) -> int:
    """How many of the `workers`' steps a study takes."""
    wanted = {(world, world.first_alike(case)) for case in cases(workloads, quick=quick) for world in worlds}
    return len(wanted)


def find(world: World, case: Case) -> Finding:
    """Find the number of one case."""
    match case.experiment:
        case "published":
            return _rate(world.judge(case), CLUSTERS[_equal(case), case.workload][case.design])
        case "moved":
            return _rate(world.judge(case), CLUSTERS["power", _other(case.workload)][case.design])
        case "model":
            return _rate(world.judge(case, OTHER_MODEL), CLUSTERS["power", case.workload][case.design])
        case "batch":
            return _batch(world.judge(case), CLUSTERS["power", case.workload][case.design])
        case "own":
            return _of_plan(maximise([world.judge(case)], world.budget(_equal(case)), workers=Workers()))
        case "least":
            return _of_plan(minimise([world.judge(case)], case.by, max_machines=MAX_MACHINES, workers=Workers()))


def _equal(case: Case) -> Equal:
    return "cost" if case.by == "cost" else "power"


def _other(workload: Workload) -> Workload:
    return next(other for other in WORKLOADS if other != workload)


def _rate(judge: Judge, counts: Counts) -> Finding:
    cluster = judge.cluster(*counts)
    best = largest_rate(judge, cluster)
    return Finding(value=None if best is None else best.rate_rps, cluster=cluster, evaluation=best)


def _of_plan(plan: Plan) -> Finding:
    if not plan.is_feasible or plan.best is None:
        return Finding(simulated=plan.certificate.simulated)
    return Finding(
        value=plan.best.rate_rps,
        cluster=plan.best.cluster,
        evaluation=plan.best,
        confirmed=plan.confirmed,
        simulated=plan.certificate.simulated,
    )


def _read(finding: Finding, case: Case) -> Finding:
    """Where something is least, the value is how much of it."""
    if case.experiment != "least" or finding.cluster is None:
        return finding
    return replace(finding, value=amount(finding.cluster, case.by))


def _batch(judge: Judge, counts: Counts) -> Finding:
    """Requests completed in a second under more load than can be served, for a dollar.

    The paper's dollar is an hour of one GPU in each machine: it divides by machines x USD per GPU-hour.
    """
    scenario = replace(judge.scenario, rate_rps=BATCH_RPS, span_s=BATCH_SPANS * judge.scenario.span_s)
    cluster = judge.cluster(*counts)
    finish_s = Judge(judge.design, scenario, Precision(replications=1)).simulate(cluster).finish_s
    completed = np.count_nonzero((finish_s >= scenario.span_s / 2) & (finish_s < scenario.span_s))
    usd = sum(
        n * machine.cost_usd_per_h / machine.gpus
        for n, machine in zip(cluster.counts, cluster.design.machines, strict=True)
    )
    return Finding(value=float(completed) / (scenario.span_s / 2) / usd, cluster=cluster)
