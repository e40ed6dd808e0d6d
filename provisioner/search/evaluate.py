"""Judging clusters of one design: simulate replications, pool the percentiles, give a verdict."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from provisioner.capacity import WorkBound, least_times_s
from provisioner.depth import Depth
from provisioner.domain.cluster import Cluster
from provisioner.domain.design import Design
from provisioner.domain.failures import Failures
from provisioner.domain.trace import Floats, RequestTrace
from provisioner.errors import Fault, InputError
from provisioner.metrics import Latencies, SloResult, slo_results, time_between_tokens_s
from provisioner.perf.points import ORIGINS
from provisioner.search.alike import Screened
from provisioner.search.evaluation import Evaluation, utilization
from provisioner.search.outages import Outages
from provisioner.search.parcel import Shared
from provisioner.search.precision import Precision
from provisioner.search.scenario import Scenario
from provisioner.sim import Network, Recording, Simulation, Stop

ROUNDING = 1e-12
UNLIMITED_S = 1e12
"""Longer than any work takes."""
WARMUP_SHARE = 0.25
"""Share of the span that is tried as a warm-up, to see whether the verdict hangs on it."""


class Judge(Shared):
    """Evaluates clusters of one design in one scenario. Safe to call from several threads."""

    def __init__(
        self,
        design: Design,
        scenario: Scenario,
        precision: Precision | None = None,
        failures: Failures | Outages | None = None,
    ) -> None:
        self.design = design
        self.failures = failures
        self.scenario = scenario
        self.precision = (precision or Precision()).limited_to(scenario.demand.replications)
        self._performance = scenario.performance(design)
        self._network = Network.of(design, scenario.model, self._performance)
        self._limits = np.array([limit.limit for limit in scenario.slo.objectives])
        self._screened = Screened()
        self._passing: dict[tuple[tuple[int, ...], int], bool] = {}

    def content(self) -> tuple[Any, ...]:
        """What makes it again."""
        return self.design, self.scenario, self.precision, self.failures

    def parts(self) -> Sequence[Any]:
        """What evaluations refer to."""
        return self.design, *self.scenario.slo.objectives

    def at_rate(self, rate_rps: float) -> Judge:
        """The judge of the same design at a rate.

        Raises
        ------
        InputError
            In a closed loop, which has no rate of its own.
        """
        if rate_rps == self.scenario.rate_rps:
            return self
        if self.scenario.users:
            raise InputError(
                Fault(
                    problem="a closed loop has no rate to vary: it follows from the cluster",
                    field="--arrivals",
                    value=f"closed:{self.scenario.users}",
                    allowed="another arrival process",
                )
            )
        return Judge(self.design, self.scenario.at_rate(rate_rps), self.precision, self.failures)

    def cluster(self, prompt_machines: int, token_machines: int) -> Cluster:
        """The cluster of so many machines."""
        return Cluster(design=self.design, prompt_machines=prompt_machines, token_machines=token_machines)

    @cached_property
    def _bounds(self) -> list[WorkBound]:
        # Users of a closed loop wait for however long it takes: no cluster is too small for the work.
        span_s = UNLIMITED_S if self.scenario.users else self.scenario.span_s
        return [
            WorkBound.of(self.design, self._performance, self.scenario.trial(replication).trace, span_s)
            for replication in range(self.precision.least)
        ]

    @cached_property
    def _order(self) -> list[int]:
        """The first replications, those with the most work first: a cluster that misses mostly does so there."""
        machines = (1.0, 0.0 if self.design.is_mixed else 1.0)
        return sorted(range(self.precision.least), key=lambda number: -self._bounds[number].load(*machines))

    def _replication(self, turn: int) -> int:
        """The replication that is looked at in that turn."""
        return self._order[turn] if turn < len(self._order) else turn

    def keeps_up(self, prompt_machines: Floats, token_machines: Floats) -> NDArray[np.bool_]:
        """`WorkBound.keeps_up` of many clusters at once, in each of the first replications."""
        each = self.design.instances_per_unit
        answers = [bound.keeps_up(each * prompt_machines, each * token_machines) for bound in self._bounds]
        return np.asarray(np.all(answers, axis=0))

    def load(self, cluster: Cluster) -> float:
        """`WorkBound.load` in the one of the first replications in which it is highest."""
        each = self.design.instances_per_unit
        return max(bound.load(each * cluster.prompt_machines, each * cluster.token_machines) for bound in self._bounds)

    @property
    def room(self) -> int:
        """Tokens of KV-cache that the design's largest machine holds."""
        return int(self._network.machine_rows.kv_capacity.max())

    @cached_property
    def floors(self) -> Floats:
        """(replications, limits) float64: the least value of each limit that any number of machines could reach."""
        trials = [self.scenario.trial(replication) for replication in range(self.precision.least)]
        return np.array([trial.yardstick.values_of(self._least_of(trial.trace)) for trial in trials])

    def _least_of(self, trace: RequestTrace) -> Latencies:
        """The least that requests can take, less what the clock rounds by; for ever if they fit no machine."""
        scheduling, slo = self.design.scheduling, self.scenario.slo
        ttft_s, decode_s = least_times_s(list(self._performance.values()), trace, scheduling)
        rounding_s = 2 * np.spacing(2 * self.scenario.span_s)
        ttft_s = np.maximum(ttft_s - rounding_s, 0.0)
        decode_s = np.maximum(decode_s - rounding_s * (trace.output_tokens - 1), 0.0)
        ttft_s[trace.prompt_tokens + int(scheduling.first_token_in_prompt_kv) > self.room] = np.inf
        held = trace.prompt_tokens + trace.output_tokens
        if scheduling.kv_on_demand:
            ttft_s[held - 1 > self._network.rules.max_kv_tokens] = np.inf
        else:
            decode_s[(trace.output_tokens > 1) & (held > self.room)] = np.inf
        return Latencies(ttft_s, time_between_tokens_s(decode_s, trace, slo), ttft_s + decode_s)

    def simulate(self, cluster: Cluster, replication: int = 0, stop: Stop | None = None) -> Simulation:
        """Simulate one replication, until `stop` unless machines fail: a restart takes back what was counted."""
        trace = self.scenario.trial(replication).trace
        failures = self._failures(cluster, replication)
        until = stop if failures is None and not self.scenario.users else None
        return self._network.simulate(cluster.prompt_machines, cluster.token_machines, trace, failures, until)

    def record(self, cluster: Cluster, replication: int = 0) -> Recording:
        """Simulate one replication of the scenario, and keep every run and transfer."""
        trace = self.scenario.trial(replication).trace
        failures = self._failures(cluster, replication)
        return self._network.record(cluster.prompt_machines, cluster.token_machines, trace, failures)

    def _failures(self, cluster: Cluster, replication: int) -> Failures | None:
        return self.failures(cluster, replication) if callable(self.failures) else self.failures

    def depth(self, simulation: Simulation) -> Depth:
        """Look into a simulation of one of the design's clusters."""
        return Depth.of(simulation, self.design.pools, tuple(self._network.machine_rows.kv_capacity.tolist()))

    def evaluate(self, cluster: Cluster, *, whole: bool = False) -> Evaluation:
        """Simulate replications until the verdict is certain; with `whole`, as many as an interval wants.

        An objective is missed for certain once the mean would exceed its limit even if the replications
        still to come were as fast as a request alone can be.
        """
        return self._evaluate(cluster, whole=whole, may_stop=False)

    def screen(self, cluster: Cluster) -> Evaluation:
        """`evaluate`, but ending simulations too once an objective is missed for certain.

        Such an evaluation is not whole: its values are no more than bounds. With `Precision.in_full` it is `evaluate`.
        """
        evaluation = self.known(cluster)
        if evaluation is None:
            evaluation = self._evaluate(cluster, whole=False, may_stop=not self.precision.in_full)
            self._screened.keep(evaluation)
        return evaluation

    def known(self, cluster: Cluster) -> Evaluation | None:
        """What `screen` would say, as far as that follows from what it has said before."""
        found = self._screened.find(cluster)
        if found is None or found.cluster.counts == cluster.counts:
            return found
        return replace(found, cluster=cluster, load=self.load(cluster))

    def _evaluate(self, cluster: Cluster, *, whole: bool, may_stop: bool) -> Evaluation:
        simulations: list[Simulation] = []
        values: list[tuple[float, ...]] = []
        while True:
            replication = self._replication(len(values))
            yardstick = self.scenario.trial(replication).yardstick
            stop = yardstick.stop(self._spare(values)) if may_stop and len(values) < self.precision.least else None
            simulations.append(self.simulate(cluster, replication, stop))
            if stop is None or simulations[-1].is_whole:
                values.append(yardstick.values(simulations[-1]))
            else:
                values.append(stop.at_least(self.floors[replication]))
            if len(values) >= self.precision.all or (not whole and self._is_lost(values)):
                break
            if len(values) >= self.precision.least and self._is_decided(values):
                break
        return self._evaluation(cluster, simulations, values)

    def _spare(self, values: Sequence[tuple[float, ...]]) -> Floats:
        """What the next replication may show: with more, some mean exceeds its limit whatever those after it show."""
        so_far = np.nansum(np.array(values), axis=0) if values else 0.0
        spare: Floats = self.precision.all * self._limits * (1 + 2 * ROUNDING) - so_far - self._to_come(len(values) + 1)
        return spare

    def glance(self, cluster: Cluster) -> Evaluation:
        """One replication, wholly: enough to say which clusters to look at first."""
        first = self._replication(0)
        simulation = self.simulate(cluster, first)
        return self._evaluation(cluster, [simulation], [self.scenario.trial(first).yardstick.values(simulation)])

    def _is_lost(self, values: Sequence[tuple[float, ...]]) -> bool:
        """Whether some mean exceeds its limit whatever the replications still to come show."""
        least = np.nansum(np.array(values), axis=0) + self._to_come(len(values))
        return bool(np.any(least > self.precision.all * self._limits * (1 + ROUNDING)))

    def _to_come(self, done: int) -> Floats:
        """The least that the values of the replications can sum to that come when so many are done."""
        return self._sums_to_come[min(done, self.precision.least)]

    @cached_property
    def _sums_to_come(self) -> list[Floats]:
        """That least, by how many are done."""
        turns = range(self.precision.least + 1)
        if self.precision.confidence is not None:
            return [np.zeros(len(self._limits)) for _ in turns]
        return [np.nansum(self.floors[self._order[done:]], axis=0) for done in turns]

    def _is_decided(self, values: Sequence[tuple[float, ...]]) -> bool:
        """Whether each interval lies on one side of its limit, or one of them beyond it."""
        if self.precision.confidence is None:
            return False
        verdicts = [r.verdict for r in slo_results(self.scenario.slo, values, self.precision.confidence)]
        return "missed" in verdicts or "uncertain" not in verdicts

    def _evaluation(
        self, cluster: Cluster, simulations: Sequence[Simulation], values: Sequence[tuple[float, ...]]
    ) -> Evaluation:
        is_whole = all(simulation.is_whole for simulation in simulations)
        results = self._pooled(values, are_bounds=not is_whole)
        evaluation = Evaluation(
            cluster=cluster,
            rate_rps=_throughput_rps(simulations) if self.scenario.users else self.scenario.rate_rps,
            users=self.scenario.users,
            results=results,
            replications=len(values),
            load=self.load(cluster),
            times=max((model.origin for model in self._performance.values()), key=ORIGINS.index),
            is_whole=is_whole,
            used=self._used(simulations),
        )
        if not is_whole:
            return evaluation
        warnings = self._warnings(simulations)
        if len(values) == self.precision.all or self._is_decided(values):
            warnings += self._warmup_note(simulations, results)
        return replace(
            evaluation,
            growth=self._growth(simulations),
            unfinished=sum(simulation.unfinished for simulation in simulations),
            utilization=utilization(cluster, simulations, self.scenario.span_s),
            warnings=warnings,
        )

    def _used(self, simulations: Sequence[Simulation]) -> int | None:
        """Machines of the first pool up to the last in use; None where requests may be inside by number of machines."""
        if self._network.rules.max_requests_per_machine > 0:
            return None
        return math.ceil(max(simulation.used for simulation in simulations) / self.design.instances_per_unit)

    def _growth(self, simulations: Sequence[Simulation]) -> float:
        """Growth of the backlog, mean over replications."""
        yardsticks = [self.scenario.trial(self._replication(turn)).yardstick for turn in range(len(simulations))]
        pairs = zip(yardsticks, simulations, strict=True)
        return float(np.mean([yardstick.growth(simulation, self.scenario.span_s) for yardstick, simulation in pairs]))

    def _pooled(self, values: Sequence[tuple[float, ...]], *, are_bounds: bool = False) -> tuple[SloResult, ...]:
        return slo_results(
            self.scenario.slo,
            values,
            self.precision.confidence,
            planned=self.precision.all,
            to_come=self._to_come(len(values)),
            are_bounds=are_bounds,
        )

    def _warmup_note(self, simulations: Sequence[Simulation], results: Sequence[SloResult]) -> tuple[str, ...]:
        """Say so if an objective's verdict hangs on whether the first seconds count."""
        counted = self.scenario.warmup_s
        other_s = 0.0 if counted > 0 else self.scenario.span_s * WARMUP_SHARE
        others = self._pooled(
            [
                self.scenario.trial(self._replication(turn)).yardstick.values(simulation, other_s)
                for turn, simulation in enumerate(simulations)
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

    def passes_alone(self, cluster: Cluster, replication: int) -> bool:
        """Whether the cluster meets every objective in that replication by itself."""
        asked = cluster.counts, replication
        if asked not in self._passing:
            self._passing[asked] = self._passes_alone(cluster, replication)
        return self._passing[asked]

    def _passes_alone(self, cluster: Cluster, replication: int) -> bool:
        yardstick = self.scenario.trial(replication).yardstick
        simulation = self.simulate(cluster, replication, yardstick.stop(self._limits * (1 + ROUNDING)))
        if not simulation.is_whole:
            return False
        values = yardstick.values(simulation)
        return all(result.verdict == "met" for result in slo_results(self.scenario.slo, [values]))

    def _warnings(self, simulations: Sequence[Simulation]) -> tuple[str, ...]:
        """What the percentiles do not say: requests that never finish, and times beyond the measured range."""
        warnings = []
        unfinished = sum(simulation.unfinished for simulation in simulations)
        if unfinished:
            warnings.append(f"{unfinished} requests never finish; they count with infinite times")
        names = [machine.name for machine in self.design.machines]
        for name in dict.fromkeys(names):
            model = self._performance[name]
            if model.origin != "measured":
                warnings.append(f"iteration times on {name} are {model.origin}, not measured")
            rows = [(s, s.pool_rows(pool)) for s in simulations for pool, own in enumerate(names) if own == name]
            batch = max(int(s.peak_decodes[own].max(initial=0)) for s, own in rows)
            tokens = max(int(s.peak_tokens[own].max(initial=0)) for s, own in rows)
            if batch > model.decode_batch[-1]:
                warnings.append(
                    f"decode on {name} is extrapolated: batches of up to {batch}, "
                    f"measured up to {model.decode_batch[-1]:g}"
                )
            if tokens > model.prefill_tokens[-1]:
                warnings.append(
                    f"prefill on {name} is extrapolated: up to {tokens} tokens, "
                    f"measured up to {model.prefill_tokens[-1]:g}"
                )
        return tuple(warnings)


def _throughput_rps(simulations: Sequence[Simulation]) -> float:
    """Requests finished per second, mean over replications; 0 where none is."""
    rates = [(len(s.trace) - s.unfinished) / s.makespan_s if s.makespan_s > 0 else 0.0 for s in simulations]
    return float(np.mean(rates))


def impossible_limits(judge: Judge) -> list[str]:
    """Objectives that no number of machines of the design can meet: a request alone misses them already."""
    floors = list(zip(judge.scenario.slo.objectives, judge.floors.mean(axis=0).tolist(), strict=True))
    endless = [limit.name for limit, floor in floors if math.isinf(floor)]
    if endless:
        machines = f"no machine of {judge.design.short} (room for {judge.room:,} tokens)"
        return [f"requests that fit {machines} never finish: it misses {', '.join(endless)}"]
    return [
        f"{limit.name} is {floor:.3g} {limit.unit} for requests alone, above the limit of {limit.limit:g}"
        for limit, floor in floors
        if floor > limit.limit * (1 + ROUNDING)
    ]
