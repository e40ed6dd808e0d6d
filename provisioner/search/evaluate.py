"""Judging clusters of one design: simulate replications, pool the percentiles, give a verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from provisioner.capacity import WorkBound, least_prefill_s
from provisioner.depth import Depth
from provisioner.domain.cluster import Cluster
from provisioner.domain.design import Design
from provisioner.domain.failures import Failures
from provisioner.domain.trace import Floats, RequestTrace
from provisioner.metrics import Latencies, SloResult, binding, slo_results
from provisioner.perf import PerformanceModel
from provisioner.perf.points import ORIGINS, Origin
from provisioner.search.notebook import Tabular
from provisioner.search.precision import FIRST_FRESH_SEED, FRESH_SEEDS, Precision
from provisioner.search.rows import row, status_of
from provisioner.search.scenario import Scenario
from provisioner.sim import Network, Recording, Simulation

STEADY_GROWTH = 0.05
"""A backlog that grows by more than this share of the arrivals is not one that a longer trace would forgive."""
ROUNDING = 1e-12
WARMUP_SHARE = 0.25
"""Share of the span that is tried as a warm-up, to see whether the verdict hangs on it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation(Tabular):
    """What is known of one cluster at one rate."""

    cluster: Cluster
    rate_rps: float
    results: tuple[SloResult, ...]
    """One for each limit of the SLO set; of the replications that were needed for the verdict."""
    replications: int
    load: float
    """Least share of its time that the cluster needs for the work offered; above 1 it cannot keep up."""
    growth: float
    """Growth of the backlog as a share of the arrivals; 0 unless it is beyond noise."""
    unfinished: int
    """Requests of all replications that never finish."""
    utilization: dict[str, float]
    times: Origin = "measured"
    """Where the iteration times come from: the least reliable of the design's machines."""
    warnings: tuple[str, ...] = ()

    @property
    def is_stable(self) -> bool:
        """Whether the cluster keeps up, percentiles apart."""
        return self.load <= 1.0 and self.growth <= STEADY_GROWTH

    @property
    def is_feasible(self) -> bool:
        """Whether every objective is met and the cluster keeps up."""
        return self.is_stable and all(result.verdict == "met" for result in self.results)

    @property
    def is_uncertain(self) -> bool:
        """Whether nothing is missed, but something not decided."""
        return self.is_stable and not self.is_feasible and all(result.verdict != "missed" for result in self.results)

    @property
    def binding(self) -> SloResult:
        """The objective with the least headroom."""
        return binding(self.results)

    @property
    def headroom(self) -> float:
        """The least headroom of all objectives; never positive for a cluster that does not keep up."""
        headroom = self.binding.headroom
        return headroom if self.is_stable else min(headroom, 0.0)

    def rows(self) -> list[dict[str, Any]]:
        """The cluster alone."""
        return [row(self)]

    def summary(self) -> str:
        """The cluster, its verdict, and what binds."""
        bound = f"{self.binding.limit.name} binds, {self.binding.value:.3g} of {self.binding.limit.limit:g}"
        name = f"{self.cluster.design.name} {self.cluster.label}"
        return f"{name} is {status_of(self)} at {self.rate_rps:.4g} requests/s; {bound}"


class Judge:
    """Evaluates clusters of one design in one scenario. Safe to call from several threads."""

    def __init__(
        self,
        design: Design,
        scenario: Scenario,
        precision: Precision | None = None,
        failures: Failures | None = None,
    ) -> None:
        self.design = design
        self.failures = failures
        self.scenario = scenario
        self.precision = (precision or Precision()).limited_to(scenario.demand.replications)
        self._performance = scenario.performance(design)
        self._network = Network.of(design, scenario.model, self._performance)
        self._limits = np.array([limit.limit for limit in scenario.slo.objectives])

    def at_rate(self, rate_rps: float) -> Judge:
        """The judge of the same design at another rate."""
        return Judge(self.design, self.scenario.at_rate(rate_rps), self.precision, self.failures)

    def cluster(self, prompt_machines: int, token_machines: int) -> Cluster:
        """The cluster of so many machines."""
        return Cluster(design=self.design, prompt_machines=prompt_machines, token_machines=token_machines)

    @cached_property
    def _bounds(self) -> list[WorkBound]:
        return [
            WorkBound.of(self.design, self._performance, self.scenario.trial(replication).trace, self.scenario.span_s)
            for replication in range(self.precision.least)
        ]

    def keeps_up(self, prompt_machines: Floats, token_machines: Floats) -> NDArray[np.bool_]:
        """`WorkBound.keeps_up` of many clusters at once, in each of the first replications."""
        each = self.design.instances_per_unit
        answers = [bound.keeps_up(each * prompt_machines, each * token_machines) for bound in self._bounds]
        return np.asarray(np.all(answers, axis=0))

    def load(self, cluster: Cluster) -> float:
        """`WorkBound.load` in the one of the first replications in which it is highest."""
        each = self.design.instances_per_unit
        return max(bound.load(each * cluster.prompt_machines, each * cluster.token_machines) for bound in self._bounds)

    @cached_property
    def floors(self) -> Floats:
        """(replications, limits) float64: the least value of each limit that any number of machines could reach.

        What every request takes alone on the fastest machines of the design, without transfer.
        """
        trials = [self.scenario.trial(replication) for replication in range(self.precision.least)]
        return np.array([trial.yardstick.values_of(self._alone(trial.trace)) for trial in trials])

    def _alone(self, trace: RequestTrace) -> Latencies:
        """Seconds that each request takes at least."""
        prompt = trace.prompt_tokens.astype(np.float64)
        steps = trace.output_tokens - 1.0
        models = list(self._performance.values())
        ttft_s = np.min([least_prefill_s(model, prompt, self.design.scheduling) for model in models], axis=0)
        decode_s = np.min([_least_decode_s(model, prompt) for model in models], axis=0) * steps
        divisor = steps + 1 if self.scenario.slo.tbt_counts_first_token else steps
        with np.errstate(divide="ignore", invalid="ignore"):
            tbt_s = np.where(steps > 0, decode_s / divisor, np.nan)
        return Latencies(ttft_s, tbt_s, ttft_s + decode_s)

    def simulate(self, cluster: Cluster, replication: int = 0) -> Simulation:
        """Simulate one replication of the scenario."""
        trace = self.scenario.trial(replication).trace
        return self._network.simulate(cluster.prompt_machines, cluster.token_machines, trace, self.failures)

    def record(self, cluster: Cluster, replication: int = 0) -> Recording:
        """Simulate one replication of the scenario, and keep every run and transfer."""
        trace = self.scenario.trial(replication).trace
        return self._network.record(cluster.prompt_machines, cluster.token_machines, trace, self.failures)

    def depth(self, simulation: Simulation) -> Depth:
        """Look into a simulation of one of the design's clusters."""
        names = ("mixed",) if self.design.is_mixed else ("prompt", "token")
        return Depth.of(simulation, names, tuple(self._network.machine_rows.kv_capacity.tolist()))

    def evaluate(self, cluster: Cluster, *, whole: bool = False) -> Evaluation:
        """Simulate replications until the verdict is certain; with `whole`, as many as an interval wants.

        An objective is missed for certain once the mean would exceed its limit even if the replications
        still to come were as fast as a request alone can be.
        """
        simulations: list[Simulation] = []
        values: list[tuple[float, ...]] = []
        while True:
            replication = len(values)
            simulations.append(self.simulate(cluster, replication))
            values.append(self.scenario.trial(replication).yardstick.values(simulations[-1]))
            if len(values) >= self.precision.all or (not whole and self._is_lost(values)):
                break
            if len(values) >= self.precision.least and self._is_decided(values):
                break
        return self._evaluation(cluster, simulations, values)

    def glance(self, cluster: Cluster) -> float:
        """The headroom in the first replication alone: enough to say which clusters to look at first."""
        values = self.scenario.trial(0).yardstick.values(self.simulate(cluster))
        return binding(slo_results(self.scenario.slo, [values])).headroom

    def _is_lost(self, values: Sequence[tuple[float, ...]]) -> bool:
        """Whether some mean exceeds its limit whatever the replications still to come show."""
        least = np.nansum(np.array(values), axis=0) + self._to_come(values)
        return bool(np.any(least > self.precision.all * self._limits * (1 + ROUNDING)))

    def _to_come(self, values: Sequence[tuple[float, ...]]) -> Floats:
        """The least that the values of the replications still to come can sum to."""
        if self.precision.confidence is not None:
            return np.zeros(len(self._limits))
        least: Floats = np.nansum(self.floors[len(values) :], axis=0)
        return least

    def _is_decided(self, values: Sequence[tuple[float, ...]]) -> bool:
        """Whether each interval lies on one side of its limit, or one of them beyond it."""
        if self.precision.confidence is None:
            return False
        verdicts = [r.verdict for r in slo_results(self.scenario.slo, values, self.precision.confidence)]
        return "missed" in verdicts or "uncertain" not in verdicts

    def _evaluation(
        self, cluster: Cluster, simulations: Sequence[Simulation], values: Sequence[tuple[float, ...]]
    ) -> Evaluation:
        yardsticks = [self.scenario.trial(replication).yardstick for replication in range(len(values))]
        growths = [
            yardstick.growth(simulation, self.scenario.span_s)
            for yardstick, simulation in zip(yardsticks, simulations, strict=True)
        ]
        results = self._pooled(values)
        warnings = self._warnings(simulations)
        if len(values) == self.precision.all or self._is_decided(values):
            warnings += self._warmup_note(simulations, results)
        return Evaluation(
            cluster=cluster,
            rate_rps=self.scenario.rate_rps,
            results=results,
            replications=len(values),
            load=self.load(cluster),
            growth=float(np.mean(growths)),
            unfinished=sum(simulation.unfinished for simulation in simulations),
            utilization=utilization(cluster, simulations, self.scenario.span_s),
            times=max((model.origin for model in self._performance.values()), key=ORIGINS.index),
            warnings=warnings,
        )

    def _pooled(self, values: Sequence[tuple[float, ...]]) -> tuple[SloResult, ...]:
        return slo_results(
            self.scenario.slo,
            values,
            self.precision.confidence,
            planned=self.precision.all,
            to_come=self._to_come(values),
        )

    def _warmup_note(self, simulations: Sequence[Simulation], results: Sequence[SloResult]) -> tuple[str, ...]:
        """Say so if an objective's verdict hangs on whether the first seconds count."""
        counted = self.scenario.warmup_s
        other_s = 0.0 if counted > 0 else self.scenario.span_s * WARMUP_SHARE
        others = self._pooled(
            [
                self.scenario.trial(replication).yardstick.values(simulation, other_s)
                for replication, simulation in enumerate(simulations)
            ]
        )
        changed = [
            f"{was.limit.name} {was.verdict}, then {now.verdict}"
            for was, now in zip(results, others, strict=True)
            if was.verdict != now.verdict
        ]
        if not changed:
            return ()
        what = "counting the warm-up" if counted > 0 else f"leaving out the first {other_s:g} s"
        return (f"{what} would change the verdict: {'; '.join(changed)}",)

    def confirm(self, cluster: Cluster) -> tuple[int, int] | None:
        """On how many fresh seeds, each by itself, the cluster meets every objective, and of how many.

        None where there are no fresh seeds, as for a recorded trace.
        """
        if self.scenario.demand.replications is not None:
            return None
        passed = 0
        for replication in range(FIRST_FRESH_SEED, FIRST_FRESH_SEED + FRESH_SEEDS):
            trial = self.scenario.trial(replication)
            values = trial.yardstick.values(self.simulate(cluster, replication))
            passed += all(result.verdict == "met" for result in slo_results(self.scenario.slo, [values]))
        return passed, FRESH_SEEDS

    def _warnings(self, simulations: Sequence[Simulation]) -> tuple[str, ...]:
        """What the percentiles do not say: requests that never finish, and times beyond the measured range."""
        warnings = []
        unfinished = sum(simulation.unfinished for simulation in simulations)
        if unfinished:
            warnings.append(f"{unfinished} requests never finish; they count with infinite times")
        for pool, machine in enumerate(self.design.machines):
            model = self._performance[machine.name]
            if model.origin != "measured":
                warnings.append(f"iteration times on {machine.name} are {model.origin}, not measured")
            peaks = [(s.peak_decodes[s.pool_rows(pool)], s.peak_tokens[s.pool_rows(pool)]) for s in simulations]
            batch = max(int(decodes.max(initial=0)) for decodes, _ in peaks)
            tokens = max(int(prompts.max(initial=0)) for _, prompts in peaks)
            if batch > model.decode_batch[-1]:
                warnings.append(
                    f"decode on {machine.name} is extrapolated: batches of up to {batch}, "
                    f"measured up to {model.decode_batch[-1]:g}"
                )
            if tokens > model.prefill_tokens[-1]:
                warnings.append(
                    f"prefill on {machine.name} is extrapolated: up to {tokens} tokens, "
                    f"measured up to {model.prefill_tokens[-1]:g}"
                )
        return tuple(dict.fromkeys(warnings))


def impossible_limits(judge: Judge) -> list[str]:
    """Objectives that no number of machines of the design can meet: a request alone misses them already."""
    floors = judge.floors.mean(axis=0)
    return [
        f"{limit.name} is {floor:.3g} {limit.unit} for requests alone, above the limit of {limit.limit:g}"
        for limit, floor in zip(judge.scenario.slo.objectives, floors, strict=True)
        if floor > limit.limit * (1 + ROUNDING)
    ]


def _least_decode_s(model: PerformanceModel, prompt_tokens: Floats) -> Floats:
    """Least seconds of an iteration in which a request with such a prompt gets a token.

    Alone, or beside the shortest of prompts, whichever the model makes faster; a batch is never faster.
    """
    batches = np.concatenate([[1.0], model.decode_batch])
    alone_s = float(model.decode_s(batches, np.zeros_like(batches)).min())
    tokens = np.concatenate([[2.0], model.prefill_tokens])
    mixed_s = model.mixed_factor * float(model.prefill_s(tokens).min())
    return np.minimum(alone_s + model.gamma_s_per_token * (prompt_tokens + 1), mixed_s)


def utilization(cluster: Cluster, simulations: Sequence[Simulation], span_s: float) -> dict[str, float]:
    """Share of the time that each pool's machines run iterations, mean over replications.

    `mixed_pool` is the share of all machine time spent on loan to the mixed pool. The time of a
    replication lasts until its last request finishes.
    """
    names = ("mixed",) if cluster.design.is_mixed else ("prompt", "token")
    shares: dict[str, list[float]] = {name: [] for name in (*names, "mixed_pool")}
    for simulation in simulations:
        time_s = max(simulation.makespan_s, span_s)
        for pool, name in enumerate(names):
            busy_s = float(simulation.busy_s[simulation.pool_rows(pool)].mean())
            shares[name].append(busy_s / time_s if time_s > 0 else 0.0)
        on_loan_s = float(simulation.mixed_pool_s.mean())
        shares["mixed_pool"].append(on_loan_s / time_s if time_s > 0 else 0.0)
    return {name: float(np.mean(values)) for name, values in shares.items()}
