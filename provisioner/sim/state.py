"""What the kernel is given, what it keeps while it runs, and what it fills.

Requests are rows 0..n-1 in order of arrival. A request is up to two *tasks* on a machine: task *i* is
the prompt of request *i*, task *n + i* is its decode. KV-cache memory is counted in tokens, which is
exact in integers because all machines of a cluster serve one model.

The state is a few arrays of records rather than many arrays: what an event touches lies together in
memory, and the kernel's functions hand few things to each other.
"""

from __future__ import annotations

from typing import Any, NamedTuple, get_type_hints

import numpy as np
from numpy.typing import NDArray

from provisioner.domain.failures import Failures
from provisioner.sim.arrays import Heap, Standings, Tournament, make_heap, make_standings, make_tournament, record

Records = Any
"""An array of records, or one of them, which has its fields as attributes: in compiled code and in plain Python."""


def numbered(count: int, step: int = 1) -> tuple[Any, ...]:
    """So many constants, 0, `step`, `2 step`...: of a plain `int`, numba compiles what it is handed to once a value."""
    return tuple(np.arange(count, dtype=np.int64) * step)


# Pools of the cluster scheduler. Nothing is routed to the pool of failed machines.
PROMPT, TOKEN, MIXED, FAILED = numbered(4)
POOLS = 4

# Lists of a machine that a task can stand in: none, three queues, and what runs, in order of joining the batch.
LISTS = 6
NOWHERE, PROMPTS, PREEMPTED, DECODES, RUNNING_PROMPTS, RUNNING_DECODES = numbered(LISTS)

REQUEST = record(
    [
        # Given, as in `Given`.
        ("arrival_s", "f8"),
        ("prompt_tokens", "i8"),
        ("output_tokens", "i8"),
        ("prefill_tokens", "i8"),
        # Filled, from its arrival on, and by its last attempt: infinite where it never happens, -1 where nothing is.
        ("first_token_s", "f8"),
        ("finish_s", "f8"),
        ("prompt_machine", "i8"),
        ("token_machine", "i8"),
        ("prompt_start_s", "f8"),
        ("decode_start_s", "f8"),  # first admitted to a batch of decodes
        ("transfer_s", "f8"),  # how long the transfer shows, NaN without one
        ("restarts", "i8"),
        ("recomputations", "i8"),
        # Kept.
        ("is_sending", "?"),  # its KV-cache is on the way
        ("is_evicted", "?"),  # its KV-cache was dropped, and its prompt task computes it anew
        ("next_transfer", "i4"),  # behind it in the line for room at its token machine
    ],
)

TASK = record(
    [
        ("after", "i4"),  # neighbours in the machine's list
        ("before", "i4"),
        ("younger", "i4"),  # neighbours in the order of ageing
        ("older", "i4"),
        ("list", "i1"),  # which list it stands in, or stood in last; nowhere before its first
        ("is_chosen", "?"),  # for the batch at hand
        ("behind_prompt", "?"),  # a queued decode whose prompt is not done
        ("passed_over", "i4"),  # times passed over; while it waits, less the machine's choices by then
        ("remaining", "i8"),  # tokens of a prompt to compute; decode iterations to run, of a decode that is not running
        ("tokens", "i8"),  # that it adds to an iteration: of a prompt all that is computed, of a decode one
        ("kv_tokens", "i8"),  # KV-cache that it takes when it is admitted
    ],
)

MACHINE = record(
    [
        # Given.
        ("kind", "i8"),  # row of its performance model
        ("home", "i8"),  # pool it belongs to
        ("kv_capacity", "i8"),  # tokens of KV-cache it holds
        ("kv_routable", "i8"),  # tokens that routing may reserve on it
        ("kv_tokens_per_s", "f8"),  # how fast it sends and receives KV-cache
        ("residue_s", "f8"),  # part of a layer-wise transfer that never overlaps
        # Cluster scheduler.
        ("pool", "i8"),
        ("seat", "i8"),  # place in its pool: ties go to the lower
        ("is_noted", "?"),  # its books have changed since a request was last routed
        ("pending_tokens", "i8"),
        ("reserved_kv", "i8"),
        ("mixed_since_s", "f8"),
        # Machine scheduler.
        ("head", "i8", (LISTS,)),
        ("tail", "i8", (LISTS,)),
        ("oldest", "i8"),  # front of the order of ageing
        ("is_sorted", "?"),  # whether that order is sorted
        ("row_start", "i8"),  # where the same order lies as a row, while that has room for any: see `ordering`
        ("row_room", "i8"),
        ("waiting", "i8"),  # tasks in the order of ageing
        ("used_kv", "i8"),
        ("choices", "i8"),  # batch choices so far
        ("prompts", "i8"),  # of the running batch
        ("prompt_tokens", "i8"),
        ("decodes", "i8"),
        ("context", "i8"),  # sum of the running decodes' contexts
        ("first_transfer", "i8"),  # line of requests whose KV-cache waits for room here
        ("last_transfer", "i8"),
        # Its run: no iterations while it is idle.
        ("iterations", "i8"),
        ("iteration", "i8"),  # decode iterations run before this run
        ("start_s", "f8"),
        ("end_s", "f8"),  # infinite while it is idle
        ("base_s", "f8"),  # f(b) of a run of decodes
        ("is_cut", "?"),  # ends at a set iteration, whatever comes
        ("grown", "i8"),  # iterations after its first whose new KV-cache is in used_kv, where it is on demand
        ("is_ready", "?"),  # to be started once all events of this moment are in
        ("is_freed", "?"),  # a failure elsewhere has freed memory here
        ("changes", "i8"),  # how often it has failed or come back
        # Filled.
        ("prompt_busy_s", "f8"),
        ("decode_busy_s", "f8"),
        ("mixed_busy_s", "f8"),
        ("mixed_pool_s", "f8"),
        ("peak_tokens", "i8"),  # most prompt tokens, with decodes, in an iteration that had prompts
        ("peak_decodes", "i8"),  # most decodes in an iteration that had none
        ("peak_kv", "i8"),
        ("kv_token_s", "f8"),  # KV-cache tokens times seconds, entered where memory is taken and where it is freed
    ],
)

CLOCK = record(
    [
        ("arrived", "i8"),  # requests whose rows, and their tasks', are filled
        ("next_seat", "i8"),
        ("noted", "i8"),  # machines whose books have changed since a request was last routed
        ("in_service", "i8"),  # machines that have not failed
        ("ready", "i8"),
        ("chosen", "i8"),
        ("chosen_prompts", "i8"),
        ("events", "i8"),
        ("iterations", "i8"),
        ("retrying", "i8"),  # transfers to be tried again
        ("inside", "i8"),  # requests routed and not finished
        ("sent", "i8"),  # requests whose arrival is known: in a closed loop, the next arrives when one is finished
        ("logged", "i8"),  # entries of the log
        ("row_end", "i8"),  # of the rows of all machines
        ("end_s", "f8"),  # the last event
        ("is_stopped", "?"),  # before all had happened
    ]
)


ENTRY = record(
    [
        ("machine", "i8"),
        ("request", "i8"),  # whose KV-cache was sent to the machine; -1 for a run
        ("start_s", "f8"),
        ("end_s", "f8"),
        ("prompts", "i8"),  # of the machine's batch
        ("prompt_tokens", "i8"),
        ("decodes", "i8"),
        ("iterations", "i8"),
        ("waiting", "i8"),  # tasks in its queues at the end
        ("used_kv", "i8"),  # KV-cache that it holds at the end, in tokens, before what has finished is freed
    ],
)


class Rules(NamedTuple):
    """`domain.scheduling.Scheduling` as numbers, which see."""

    max_batch_requests: int
    max_batch_tokens: int
    max_passed_over: int
    max_batch_prompts: int
    max_batch_decodes: int
    max_requests_per_machine: int
    chunked_prefill: bool
    kv_on_demand: bool
    max_kv_tokens: int
    """A request that would hold more is turned away: where a decode takes what it needs, not every machine could."""
    max_pending_tokens: int
    layerwise_from_tokens: int
    first_token_kv: int
    long_prompts_wait: bool
    transfer_retry_s: float
    is_colocated: bool
    """All machines are mixed: both phases go to the machine with the fewest pending tokens."""


class Given(NamedTuple):
    """What is known of the requests beforehand, by column; those that wait for others to be finished stand last."""

    arrival_s: NDArray[np.float64]
    """Infinite where it is not known; set as it comes about."""
    prompt_tokens: NDArray[np.int64]
    output_tokens: NDArray[np.int64]
    prefill_tokens: NDArray[np.int64]
    """Of the prompt, those that have to be computed."""


class Timing(NamedTuple):
    """Performance models: rows 2k and 2k + 1 are prefill and decode of machine kind k.

    `x` (rows, knots) float64 in tokens or requests, `y` in seconds, `knots` (rows,) int64 says how many
    count; `table` (rows, m) float64 is in seconds of 0, 1... tokens or requests, as the knots have them;
    `gamma` (kinds,) is in seconds per token of context; `mixed_factor` (kinds,) is a ratio.
    """

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    knots: NDArray[np.int64]
    table: NDArray[np.float64]
    gamma: NDArray[np.float64]
    mixed_factor: NDArray[np.float64]


class Stop(NamedTuple):
    """When a verdict is certain: more than `left` requests exceed `most` in one of the limits.

    Limits of one kind share what is measured and in which unit. `measure` (kinds,) int64: from arrival to first
    token (0), from there to the last one (1), or from arrival to the last one (2); `unit_s` (n, kinds) float64:
    what each request's seconds are a multiple of, infinite for one that does not count; `first` (kinds + 1,)
    int64: where each kind's limits begin. Of each limit: `most` (limits,) float64, such multiples, rising within
    a kind; `left` (limits,) int64, which counts down; `number` (limits,) int64, its place in the SLO set.
    """

    measure: NDArray[np.int64]
    unit_s: NDArray[np.float64]
    first: NDArray[np.int64]
    most: NDArray[np.float64]
    left: NDArray[np.int64]
    number: NDArray[np.int64]

    def at_least(self, floors: NDArray[np.float64]) -> tuple[float, ...]:
        """Lower bounds of each value after a simulation was stopped: `most` of what was exceeded, else the floors."""
        bounds = floors.copy()
        exceeded = self.left < 0
        bounds[self.number[exceeded]] = np.maximum(bounds[self.number[exceeded]], self.most[exceeded])
        return tuple(bounds.tolist())


ROOM = 8
"""Entries of `World.rows` for each request: twice what all rows take that have just been written."""
_NONE = np.zeros(0, np.int64)
NEVER = Stop(_NONE, np.zeros((0, 0)), np.zeros(1, np.int64), np.zeros(0), _NONE, _NONE)
"""Nothing to wait for: the simulation runs to its end."""


class World(NamedTuple):
    """All that the kernel's functions work on."""

    rules: Rules
    timing: Timing
    given: Given
    requests: Records
    """Filled from their arrival on."""
    tasks: Records
    machines: Records
    clock: Records
    """One record: the counters of the whole simulation."""
    standings: Standings
    """Machines of each pool by their pending tokens, then of each by their reserved memory."""
    noted: NDArray[np.int64]
    """Machines whose books have changed since a request was last routed."""
    ends: Tournament
    """Machines by when their runs end: one tree."""
    events: Heap
    """What else is to happen, by time, and by item number among equals; for m machines and n requests, from item number

    - 0: ends of transfers, or another try, by request;
    - n: failures and returns, by machine;
    - n + m: requests routed anew, by request.
    """
    finishing: NDArray[np.int64]
    """Running decodes by the machine's iteration in which they end: a row a machine, as long as its batch."""
    chosen: NDArray[np.int64]
    """Tasks chosen for the batch at hand."""
    rows: NDArray[np.int64]
    """Orders of ageing that bisection looks at."""
    ready: NDArray[np.int64]
    """Machines to be started."""
    batch_time_s: NDArray[np.float64]
    """(pools, requests + 1): seconds spent in batches of each size, by the machine's own pool."""
    log: Records
    """Runs and transfers as they end, as far as there is room."""
    stop: Stop
    changes_s: NDArray[np.float64]
    """(m, c): when each machine fails, is back, fails again and so on; then infinite."""


def make_world(
    rules: Rules,
    timing: Timing,
    given: Given,
    machines: Records,
    *,
    failures: Failures | None = None,
    stop: Stop = NEVER,
    log_room: int = 0,
) -> World:
    """The empty state at time 0, with room for every task: nothing is allocated while the kernel runs.

    `machines` have their given fields set, and their other fields zero.
    """
    n, m = len(given.arrival_s), len(machines)
    for field in ("head", "tail", "oldest", "first_transfer", "last_transfer"):
        machines[field] = -1
    machines["pool"] = machines["home"]
    machines["seat"] = np.arange(m)
    machines["end_s"] = np.inf
    clock = np.zeros(1, CLOCK)
    clock["next_seat"] = clock["in_service"] = m
    clock["sent"] = np.count_nonzero(np.isfinite(given.arrival_s))
    events = make_heap(1, n if failures is None else n + m + n, np.float64)
    changes_s = np.zeros((0, 0)) if failures is None else failures.changes_s(m)
    if failures is not None:
        # In order of time, and of machine among equals, the first failures of each are a heap as they stand.
        first = np.sort(np.unique(failures.machine, return_index=True)[1])
        events.key[0, : len(first)] = failures.time_s[first]
        events.item[0, : len(first)] = n + failures.machine[first]
        events.size[0] = len(first)
    largest_batch = min(rules.max_batch_requests, n)
    return World(
        rules=rules,
        timing=timing,
        given=given,
        requests=np.empty(n, REQUEST),
        tasks=np.empty(2 * n, TASK),
        machines=machines,
        clock=clock,
        standings=make_standings(2 * POOLS, m),
        noted=np.empty(m, np.int64),
        ends=make_tournament(1, m),
        events=events,
        finishing=np.empty((m, largest_batch + 1), np.int64),
        chosen=np.empty(largest_batch + 1, np.int64),
        rows=np.empty(ROOM * n, np.int64),
        ready=np.empty(m, np.int64),
        batch_time_s=np.zeros((3, largest_batch + 1)),
        log=np.empty(log_room, ENTRY),
        stop=stop,
        changes_s=changes_s,
    )


def empty_world() -> World:
    """Nothing to simulate: what every world looks like."""
    rules = Rules(*(kind() for kind in get_type_hints(Rules).values()))
    no_curve, none = np.zeros((0, 0)), np.zeros(0)
    timing = Timing(no_curve, no_curve, _NONE, no_curve, none, none)
    return make_world(rules, timing, Given(none, _NONE, _NONE, _NONE), np.zeros(0, MACHINE))
