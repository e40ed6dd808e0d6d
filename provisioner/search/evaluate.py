"""Judging clusters of one design: simulate the replications, pool the percentiles, give a verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from provisioner.capacity import WorkBound
from provisioner.domain.cluster import Cluster
from provisioner.domain.design import Design
from provisioner.domain.trace import Floats
from provisioner.metrics import Latencies, SloResult, binding, slo_results
from provisioner.perf import PerformanceModel
from provisioner.search.scenario import Scenario
from provisioner.sim import Network, Simulation

STEADY_GROWTH = 0.05
"""A backlog that grows by more than this share of the arrivals is not one that a longer trace would forgive."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """What is known of one cluster."""

    cluster: Cluster
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
    warnings: tuple[str, ...] = ()

    @property
    def is_stable(self) -> bool:
        """Whether the cluster keeps up, percentiles apart."""
        return self.load <= 1.0 and self.growth <= STEADY_GROWTH

    @property
    def is_feasible(self) -> bool:
        """Whether every objective holds and the cluster keeps up."""
        return self.is_stable and all(result.met for result in self.results)

    @property
    def binding(self) -> SloResult:
        """The objective with the least headroom."""
        return binding(self.results)

    @property
    def headroom(self) -> float:
        """The least headroom of all objectives; never positive for a cluster that does not keep up."""
        headroom = self.binding.headroom
        return headroom if self.is_stable else min(headroom, 0.0)


class Judge:
    """Evaluates clusters of one design in one scenario. Safe to call from several threads."""

    def __init__(self, design: Design, scenario: Scenario) -> None:
        self.design = design
        self.scenario = scenario
        self._performance = scenario.performance(design)
        self._network = Network.of(design, scenario.model, self._performance)
        self._bounds = [WorkBound.of(design, self._performance, trace, scenario.span_s) for trace in scenario.traces]
        self._limits = np.array([limit.limit for limit in scenario.slo.limits])

    def cluster(self, prompt_machines: int, token_machines: int) -> Cluster:
        """The cluster of so many machines."""
        return Cluster(design=self.design, prompt_machines=prompt_machines, token_machines=token_machines)

    def keeps_up(self, prompt_machines: Floats, token_machines: Floats) -> NDArray[np.bool_]:
        """`WorkBound.keeps_up` of many clusters at once, in every replication."""
        answers = [bound.keeps_up(prompt_machines, token_machines) for bound in self._bounds]
        return np.asarray(np.all(answers, axis=0))

    def load(self, cluster: Cluster) -> float:
        """`WorkBound.load` in the replication with the most work."""
        heaviest = max(self._bounds, key=lambda bound: bound.total_s)
        return heaviest.load(cluster.prompt_machines, cluster.token_machines)

    @cached_property
    def floors(self) -> Floats:
        """(replications, limits) float64: the least value of each limit that any number of machines could reach.

        What every request takes alone on the fastest machines of the design, without transfer.
        """
        return np.array(
            [yardstick.values_of(self._alone(index)) for index, yardstick in enumerate(self.scenario.yardsticks)]
        )

    def _alone(self, replication: int) -> Latencies:
        """Seconds that each request takes at least."""
        trace = self.scenario.traces[replication]
        prompt = trace.prompt_tokens.astype(np.float64)
        steps = trace.output_tokens - 1.0
        models = list(self._performance.values())
        ttft_s = np.min([model.prefill_s(prompt) for model in models], axis=0)
        decode_s = np.min([_least_decode_s(model, prompt) for model in models], axis=0) * steps
        divisor = steps + 1 if self.scenario.slo.tbt_counts_first_token else steps
        with np.errstate(divide="ignore", invalid="ignore"):
            tbt_s = np.where(steps > 0, decode_s / divisor, np.nan)
        return Latencies(ttft_s, tbt_s, ttft_s + decode_s)

    def simulate(self, cluster: Cluster, replication: int = 0) -> Simulation:
        """Simulate one replication of the scenario."""
        return self._network.simulate(
            cluster.prompt_machines, cluster.token_machines, self.scenario.traces[replication]
        )

    def evaluate(self, cluster: Cluster, *, whole: bool = False) -> Evaluation:
        """Simulate replications until the verdict is certain, or all of them if `whole`.

        An objective is missed for certain once the mean would exceed its limit even if the replications
        still to come were as fast as a request alone can be.
        """
        values: list[tuple[float, ...]] = []
        simulations: list[Simulation] = []
        growths: list[float] = []
        for replication, yardstick in enumerate(self.scenario.yardsticks):
            simulation = self.simulate(cluster, replication)
            simulations.append(simulation)
            values.append(yardstick.values(simulation))
            growths.append(yardstick.growth(simulation, self.scenario.span_s))
            if not whole and self._is_missed(values):
                break
        return Evaluation(
            cluster=cluster,
            results=slo_results(self.scenario.slo, values),
            replications=len(values),
            load=self.load(cluster),
            growth=float(np.mean(growths)),
            unfinished=sum(simulation.unfinished for simulation in simulations),
            utilization=utilization(cluster, simulations, self.scenario.span_s),
            warnings=self._warnings(simulations),
        )

    def _is_missed(self, values: Sequence[tuple[float, ...]]) -> bool:
        done = np.array(values)
        least = np.concatenate([done, self.floors[len(done) :]]).mean(axis=0)
        return bool(np.any(least > self._limits * (1 + 1e-12)))

    def _warnings(self, simulations: Sequence[Simulation]) -> tuple[str, ...]:
        """What the percentiles do not say: requests that never finish, and times beyond the measured range."""
        warnings = []
        unfinished = sum(simulation.unfinished for simulation in simulations)
        if unfinished:
            warnings.append(f"{unfinished} requests never finish; they count with infinite times")
        pools = self.design.machines
        for pool, machine in enumerate(pools):
            model = self._performance[machine.name]
            rows = [simulation.pool_rows(pool) for simulation in simulations]
            batch = max(int(s.peak_decodes[row].max(initial=0)) for s, row in zip(simulations, rows, strict=True))
            tokens = max(int(s.peak_tokens[row].max(initial=0)) for s, row in zip(simulations, rows, strict=True))
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
