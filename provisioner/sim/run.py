"""Simulating one cluster: checks and allocates, then hands arrays to the kernel.

A `Network` is what does not change from one simulation to the next: a design's machines, rules and
performance models for one language model. `Network.simulate` may be called from several threads at
once; the kernel releases the GIL.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from provisioner.domain.cluster import Cluster
from provisioner.domain.design import Design
from provisioner.domain.failures import Failures
from provisioner.domain.machine import Machine
from provisioner.domain.model import Model
from provisioner.domain.trace import Floats, Ints, RequestTrace
from provisioner.errors import Fault, InputError
from provisioner.perf.model import PerformanceModel
from provisioner.sim.native import run_events
from provisioner.sim.state import (
    MACHINE,
    MIXED,
    NEVER,
    PROMPT,
    TOKEN,
    Given,
    Records,
    Rules,
    Stop,
    Timing,
    World,
    make_world,
)

NO_LIMIT = 2**62
TABLE = 8192
"""Tokens or requests from which on iteration times are interpolated each time."""
_OF_REQUESTS = (
    "first_token_s",
    "finish_s",
    "prompt_machine",
    "token_machine",
    "prompt_start_s",
    "decode_start_s",
    "transfer_s",
    "restarts",
    "recomputations",
)
_OF_MACHINES = (
    "prompt_busy_s",
    "decode_busy_s",
    "mixed_busy_s",
    "mixed_pool_s",
    "peak_tokens",
    "peak_decodes",
    "peak_kv",
)
"""Fields of the kernel's records that a simulation has under the same names."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Simulation:
    """What happened to every request, and what every machine did.

    Parameters
    ----------
    trace : RequestTrace
        The requests, row *i* here being row *i* there; of a closed loop, with the arrivals that came about.
        Requests that were never sent, because all users wait for ever, count as sent at `end_s`.
    first_token_s, finish_s : (n,) float64
        Seconds from the start of measuring; infinite for a request that never gets that far.
    prompt_machine, token_machine : (n,) int64
        Machine numbers: prompt machines first, then token machines.
    prompt_start_s, decode_start_s : (n,) float64
        When its prompt was first in a batch, and its decode; infinite where it never was.
    transfer_s : (n,) float64
        How long its KV-cache transfer shows; NaN where there is none.
    restarts : (n,) int64
        How often it was started anew because a machine failed; all times are of the last attempt.
    recomputations : (n,) int64
        How often its KV-cache was dropped for want of memory, to be computed anew.
    prompt_busy_s, decode_busy_s, mixed_busy_s : (m,) float64
        Seconds each machine spent in iterations of prompts alone, of decodes alone, and of both.
    mixed_pool_s : (m,) float64
        Seconds each machine was on loan to the mixed pool.
    peak_tokens, peak_decodes, peak_kv : (m,) int64
        Each machine's most tokens in an iteration with prompts, decodes in one without, and KV-cache tokens.
    kv_token_s : (m,) float64
        KV-cache held, in tokens times seconds, until `end_s`.
    batch_time_s : (pools, b) float64
        Seconds that each pool's machines spent in batches of each size in requests, from 0.
    pool_sizes : tuple of int
        Machines of each of the design's pools, in the order of `Design.machines`.
    end_s : float
        When the last thing happened.
    events, iterations : int
        How much work the simulation was, and how many iterations it stands for.
    is_whole : bool
        False where it was stopped: what had not happened by then stands as if it never did.
    """

    trace: RequestTrace
    first_token_s: Floats
    finish_s: Floats
    prompt_machine: Ints
    token_machine: Ints
    prompt_start_s: Floats
    decode_start_s: Floats
    transfer_s: Floats
    restarts: Ints
    recomputations: Ints
    prompt_busy_s: Floats
    decode_busy_s: Floats
    mixed_busy_s: Floats
    mixed_pool_s: Floats
    peak_tokens: Ints
    peak_decodes: Ints
    peak_kv: Ints
    kv_token_s: Floats
    batch_time_s: Floats
    pool_sizes: tuple[int, ...]
    end_s: float
    events: int
    iterations: int
    is_whole: bool

    def pool_rows(self, pool: int) -> slice:
        """Rows of the machines that belong to the design's pool of that index."""
        first = sum(self.pool_sizes[:pool])
        return slice(first, first + self.pool_sizes[pool])

    @property
    def used(self) -> int:
        """Machines of the first pool up to the last that had anything to do, or was to have it."""
        own = self.pool_sizes[0]
        if self.peak_kv[own - 1] > 0:
            return own
        machines = np.concatenate([self.prompt_machine, self.token_machine])
        return int(machines[machines < own].max(initial=-1)) + 1

    @property
    def unfinished(self) -> int:
        """Requests that never finish: they fit no machine, wait for memory that is never free, or are turned away."""
        return int(np.count_nonzero(np.isinf(self.finish_s)))

    @property
    def makespan_s(self) -> float:
        """When the last request finishes, of those that do; 0 if none does."""
        finished = self.finish_s[np.isfinite(self.finish_s)]
        return float(finished.max()) if len(finished) else 0.0

    @property
    def busy_s(self) -> Floats:
        """(m,) float64: seconds each machine spent in iterations."""
        return self.prompt_busy_s + self.decode_busy_s + self.mixed_busy_s


@dataclass(frozen=True, slots=True, eq=False)
class Recording:
    """A simulation with every run and every transfer of a KV-cache, in the order in which they end."""

    simulation: Simulation
    log: Records
    """A record array of `state.ENTRY`."""

    @property
    def end_s(self) -> float:
        """When the last thing happened."""
        return self.simulation.end_s

    def runs_of(self, machine: int) -> Records:
        """The runs of one machine: batches kept through so many equal iterations."""
        return self.log[(self.log.machine == machine) & (self.log.request < 0)]

    def transfers_to(self, machine: int) -> Records:
        """The KV-caches that were sent to one machine."""
        return self.log[(self.log.machine == machine) & (self.log.request >= 0)]


@dataclass(frozen=True, slots=True, eq=False)
class Network:
    """A design serving a model, ready to be simulated with any number of machines."""

    design: Design
    rules: Rules
    timing: Timing
    machine_rows: Records
    """One machine record for each of the design's pools."""

    @classmethod
    def of(cls, design: Design, model: Model, performance: Mapping[str, PerformanceModel]) -> Self:
        """Lay out a design.

        `performance` gives the performance model of each machine type by its name.

        Raises
        ------
        InputError
            If the model's weights do not fit a machine.
        """
        for machine in design.instances:
            _check_weights_fit(model, machine, design.tensor_parallel)
        models = [performance[machine.name] for machine in design.instances]
        homes = (MIXED,) if design.is_mixed else (PROMPT, TOKEN)
        rows = np.zeros(len(design.instances), MACHINE).view(np.recarray)
        for row, machine, home in zip(rows, design.instances, homes, strict=True):
            capacity = model.kv_capacity_tokens(machine, design.tensor_parallel)
            row.home = home
            row.kv_capacity = int(capacity)
            strict = design.scheduling.strict_room
            row.kv_routable = int(np.ceil(capacity)) - 1 if strict else int(capacity)
            row.kv_tokens_per_s = machine.interconnect_bytes_per_s / model.kv_bytes_per_token
            row.residue_s = machine.transfer_residue_s
        rows.kind = np.arange(len(rows))
        return cls(design, _rules(design, int(rows.kv_capacity.min())), _timing(models), rows)

    def simulate(
        self,
        prompt_machines: int,
        token_machines: int,
        trace: RequestTrace,
        failures: Failures | None = None,
        stop: Stop | None = None,
    ) -> Simulation:
        """Serve the trace until everything that can happen has happened, or until `stop`, whose `left` it changes.

        The counts, and the numbers of machines that fail, are those of `domain.cluster.Cluster`: a design of
        mixed machines has its count in `prompt_machines`. Machines that run several instances are simulated,
        and stand in the result, as so many. An empty trace gives an empty result.

        Raises
        ------
        InputError
            If a machine fails that there is not.
        """
        counts = self._counts(prompt_machines, token_machines)
        world = self._world(counts, trace, failures, stop=stop)
        run_events(world)
        world = world._replace(tasks=None)  # they make room for the results
        return self._result(world, counts, trace)

    def record(
        self, prompt_machines: int, token_machines: int, trace: RequestTrace, failures: Failures | None = None
    ) -> Recording:
        """Simulate again, and keep every run and transfer: there are no more of them than events.

        Parameters and errors as for `simulate`.
        """
        events = self.simulate(prompt_machines, token_machines, trace, failures).events
        counts = self._counts(prompt_machines, token_machines)
        world = self._world(counts, trace, failures, log_room=events + sum(counts))
        run_events(world)
        return Recording(self._result(world, counts, trace), world.log[: int(world.clock[0].logged)].view(np.recarray))

    def _counts(self, prompt_machines: int, token_machines: int) -> tuple[int, ...]:
        """Simulated machines of each pool."""
        each = self.design.instances_per_unit
        given = (prompt_machines,) if self.design.is_mixed else (prompt_machines, token_machines)
        return tuple(each * count for count in given)

    def _world(
        self,
        counts: tuple[int, ...],
        trace: RequestTrace,
        failures: Failures | None,
        *,
        stop: Stop | None = None,
        log_room: int = 0,
    ) -> World:
        each = self.design.instances_per_unit
        if failures is not None:
            failures = failures.of_parts(each)
        machines = np.repeat(self.machine_rows.view(np.ndarray), counts)
        if failures is not None and len(failures) and failures.machine.max() >= len(machines):
            raise InputError(
                Fault(
                    problem="a machine fails that there is not",
                    value=int(failures.machine.max()) // each,
                    allowed=f"numbers up to {len(machines) // each - 1}",
                )
            )
        given = self._given(trace)
        return make_world(
            self.rules, self.timing, given, machines, failures=failures, stop=stop or NEVER, log_room=log_room
        )

    def _given(self, trace: RequestTrace) -> Given:
        """What the kernel is told of the requests, as compiled code takes it."""
        arrival_s = np.ascontiguousarray(trace.arrival_s, np.float64)
        if trace.users:
            arrival_s = arrival_s.copy()
            arrival_s[trace.users :] = np.inf
        prefill_tokens = self.design.scheduling.prefill_tokens(trace.prompt_tokens)
        counts = (trace.prompt_tokens, trace.output_tokens, prefill_tokens)
        return Given(arrival_s, *(np.ascontiguousarray(tokens, np.int64) for tokens in counts))

    def _result(self, world: World, counts: tuple[int, ...], trace: RequestTrace) -> Simulation:
        requests, machines, clock = world.requests, world.machines, world.clock
        end_s, is_stopped = float(clock["end_s"][0]), bool(clock["is_stopped"][0])
        if trace.users:
            trace = _as_arrived(trace, world.given.arrival_s, end_s)
        # Columns are left where they lie: to copy them takes a tenth of a long simulation.
        filled = {name: requests[name] for name in _OF_REQUESTS} | {name: machines[name] for name in _OF_MACHINES}
        return Simulation(
            **filled,
            trace=trace,
            kv_token_s=machines["kv_token_s"] + machines["used_kv"] * end_s,
            batch_time_s=_trimmed(world.batch_time_s[self.machine_rows["home"]]),
            pool_sizes=counts,
            end_s=end_s,
            events=int(clock["events"][0]),
            iterations=int(clock["iterations"][0]),
            is_whole=not is_stopped,
        )


def simulate(
    cluster: Cluster,
    model: Model,
    performance: Mapping[str, PerformanceModel],
    trace: RequestTrace,
    failures: Failures | None = None,
) -> Simulation:
    """Simulate one cluster once: `Network.of` and `Network.simulate` in one call."""
    network = Network.of(cluster.design, model, performance)
    return network.simulate(cluster.prompt_machines, cluster.token_machines, trace, failures)


def _as_arrived(trace: RequestTrace, arrival_s: Floats, end_s: float) -> RequestTrace:
    """The trace of a closed loop with its arrivals; requests that never arrived are marked so."""
    return replace(trace, arrival_s=np.where(np.isinf(arrival_s), end_s, arrival_s))


def _check_weights_fit(model: Model, machine: Machine, tensor_parallel: int) -> None:
    if model.kv_capacity_tokens(machine, tensor_parallel) < 1:
        usable_bytes = machine.hbm_bytes * machine.usable_memory_fraction
        raise InputError(
            Fault(
                problem=f"the weights of {model.name} leave no room for KV-cache on {machine.name}",
                field="model",
                value=f"{model.weights_bytes / 1e9:.1f} GB of weights",
                allowed=f"less than the {usable_bytes / 1e9:.1f} GB that are usable",
            )
        )


def _rules(design: Design, least_room: int) -> Rules:
    """The rules of a design whose smallest machine has room for so many tokens of KV-cache."""
    scheduling = design.scheduling
    return Rules(
        max_batch_requests=scheduling.max_batch_requests,
        max_batch_tokens=scheduling.max_batch_tokens,
        max_passed_over=scheduling.max_passed_over,
        max_batch_prompts=scheduling.max_batch_prompts,
        max_batch_decodes=scheduling.max_batch_decodes,
        max_requests_per_machine=scheduling.max_requests_per_machine,
        chunked_prefill=scheduling.chunked_prefill,
        kv_on_demand=scheduling.kv_on_demand,
        max_kv_tokens=least_room if scheduling.kv_on_demand else NO_LIMIT,
        max_pending_tokens=scheduling.max_pending_tokens,
        layerwise_from_tokens=scheduling.layerwise_from_tokens,
        first_token_kv=int(scheduling.first_token_in_prompt_kv),
        long_prompts_wait=scheduling.long_prompts_wait,
        transfer_retry_s=scheduling.transfer_retry_s,
        is_colocated=design.is_mixed,
    )


def _timing(models: list[PerformanceModel]) -> Timing:
    curves = [
        curve
        for model in models
        for curve in (
            (model.prefill_tokens, model.prefill_seconds),
            (model.decode_batch, model.decode_seconds),
        )
    ]
    return Timing(
        x=_padded([x for x, _ in curves]),
        y=_padded([y for _, y in curves]),
        knots=np.array([len(x) for x, _ in curves], np.int64),
        table=np.array([_tabulated(x, y) for x, y in curves]),
        gamma=np.array([model.gamma_s_per_token for model in models]),
        mixed_factor=np.array([model.mixed_factor for model in models]),
    )


def _tabulated(x: Floats, y: Floats) -> Floats:
    """`timing._interpolate` of 0, 1... to the last bit: most batches are no larger than the table."""
    at = np.arange(float(TABLE))
    if len(x) == 1:
        return np.full(TABLE, y[0])
    right = np.searchsorted(x[1:-1], at) + 1
    left_x, left_y = x[right - 1], y[right - 1]
    slope = (y[right] - left_y) / (x[right] - left_x)
    return np.where((slope < 0.0) & (at > x[right]), y[right], left_y + (at - left_x) * slope)


def _trimmed(times_s: Floats) -> Floats:
    """Without the sizes beyond the largest that occurred."""
    sizes = np.flatnonzero(times_s.any(axis=0))
    return times_s[:, : (sizes[-1] + 1 if len(sizes) else 1)].copy()


def _padded(rows: list[Floats]) -> NDArray[np.float64]:
    table = np.zeros((len(rows), max(len(row) for row in rows)))
    for filled, row in zip(table, rows, strict=True):
        filled[: len(row)] = row
    return table
