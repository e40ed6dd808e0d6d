"""The oracle: a plain, slow simulator with one event per iteration, to check the kernel against.

It shares no code with `provisioner.sim`: lists instead of arrays, every iteration its own event instead of a
closed form, every rule written as the specification has it (docs/model.md lists the readings). It says what
should happen, not how to compute it fast.
"""

from __future__ import annotations

import heapq
import math
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import Any

ITERATION_END, TRANSFER_END, ARRIVAL = 0, 1, 2


@dataclass(frozen=True)
class Rules:
    """Limits and habits, under the names of `provisioner.domain.scheduling`."""

    max_batch_requests: int = 512
    max_batch_tokens: int = 2048
    max_batch_prompts: int = 100_000
    max_batch_decodes: int = 100_000
    cached_prompt_share: float = 0.0
    max_requests_per_machine: int = 0
    chunked_prefill: bool = False
    kv_on_demand: bool = False
    max_passed_over: int = 4
    max_pending_tokens: int = 8192
    layerwise_from_tokens: int = 512
    first_token_in_prompt_kv: bool = False
    long_prompts_wait: bool = False
    transfer_retry_s: float = 0.0


@dataclass(frozen=True)
class Kind:
    """A machine type: its curves as (x, seconds) points, its memory and its network."""

    prefill: list[tuple[float, float]]
    decode: list[tuple[float, float]]
    gamma: float
    mixed_factor: float
    kv_capacity: int
    kv_routable: int
    kv_tokens_per_s: float
    residue_s: float

    def iteration_s(self, prompt_tokens: int, contexts: list[int]) -> float:
        """One iteration over prompts of so many tokens in all, and decodes with such contexts."""
        if prompt_tokens and contexts:
            return self.mixed_factor * along(self.prefill, prompt_tokens + len(contexts))
        if prompt_tokens:
            return along(self.prefill, prompt_tokens)
        return along(self.decode, len(contexts)) + self.gamma * sum(contexts)


def along(points: list[tuple[float, float]], x: float) -> float:
    """Linear between the points and beyond them."""
    if len(points) == 1:
        return points[0][1]
    i = next((i for i in range(1, len(points) - 1) if x <= points[i][0]), len(points) - 1)
    (x0, y0), (x1, y1) = points[i - 1], points[i]
    return y0 + (x - x0) * ((y1 - y0) / (x1 - x0))


@dataclass(eq=False)
class Request:
    number: int
    arrival_s: float
    prompt: int
    output: int
    generated: int = 0
    evictions: int = 0
    computed: int = 0
    """Tokens of the prompt that no cache has."""
    first_token_s: float = math.inf
    finish_s: float = math.inf
    source: Machine = field(init=False)
    target: Machine = field(init=False)


@dataclass(eq=False)
class Task:
    """The prompt or the decode of a request."""

    request: Request
    is_prompt: bool
    passed_over: int = 0
    is_ready: bool = True
    """False for a decode whose prompt is not done."""
    was_admitted: bool = False
    computed: int = 0
    """Tokens of a prompt that iterations before this one have computed."""
    piece: int | None = None
    """Tokens that this iteration computes, of a prompt in pieces."""
    again: int = 0
    """Tokens of the output that are computed with the prompt, of a request that was evicted."""

    @property
    def tokens(self) -> int:
        if not self.is_prompt:
            return 1
        return self.whole if self.piece is None else self.piece

    @property
    def whole(self) -> int:
        """Tokens of a prompt that have to be computed."""
        return self.request.computed + self.again

    @property
    def key(self) -> tuple[int, int]:
        return self.passed_over, self.request.number


@dataclass(eq=False)
class Machine:
    number: int
    kind: Kind
    home: str
    pool: str = ""
    pending: int = 0
    reserved: int = 0
    used: int = 0
    queue: list[Task] = field(default_factory=list)
    prompts: list[Task] = field(default_factory=list)
    preempted: list[Task] = field(default_factory=list)
    batch: list[Task] = field(default_factory=list)
    running: bool = False
    goes_on: bool = False
    """Between two iterations of a batch, of which the next takes memory when it starts."""
    cut: bool = False
    line: list[Request] = field(default_factory=list)

    def join(self, task: Task) -> None:
        """Queue behind those passed over less often by now, and as often but arrived before."""
        place = bisect_right(self.queue, task.key, key=lambda other: other.key)
        self.queue.insert(place, task)


class Choice:
    """One choice of a batch, rule by rule."""

    def __init__(self, simulator: Simulator, machine: Machine) -> None:
        self.simulator = simulator
        self.rules = simulator.rules
        self.machine = machine
        self.chosen: list[Task] = []

    def made(self) -> list[Task]:
        self.take_overdue()
        self.take_prompts()
        for task in [*self.machine.preempted, *self.machine.batch]:  # rules 3 and 4
            if task not in self.chosen and self.is_within_limits(task):
                self.take(task)
        self.take_by_arrival()
        return self.chosen

    def is_within_limits(self, task: Task) -> bool:
        tokens = sum(each.tokens for each in self.chosen) + task.tokens
        size = len(self.chosen)
        if not size:
            return True
        if size >= self.rules.max_batch_requests or tokens > self.rules.max_batch_tokens:
            return False
        return not self.has_enough_like(task)

    def has_enough_like(self, task: Task) -> bool:
        alike = sum(each.is_prompt == task.is_prompt for each in self.chosen)
        return alike >= (self.rules.max_batch_prompts if task.is_prompt else self.rules.max_batch_decodes)

    def fits(self, task: Task) -> bool:
        return self.simulator.fits(self.machine, task)

    def take(self, task: Task) -> None:
        self.machine.used += self.simulator.need(task)
        task.was_admitted = True
        self.chosen.append(task)

    def take_overdue(self) -> None:
        """Rule 1."""
        for task in self.machine.queue:
            if not task.is_ready or task.passed_over < self.rules.max_passed_over or not self.is_within_limits(task):
                return
            if self.fits(task):
                self.take(task)

    def take_prompts(self) -> None:
        """Rule 2. Those taken already stand in line still, and count once more."""
        for task in self.machine.prompts:
            is_taken = task in self.chosen
            if not self.is_within_limits(task) or (not is_taken and not self.fits(task)):
                return
            if not is_taken:
                self.take(task)

    def take_by_arrival(self) -> None:
        """Rule 5. Prompts are taken as they stand in line, which is by arrival unless a failure made one restart."""
        prompts = [task for task in self.machine.prompts if task not in self.chosen]
        decodes = [task for task in self.machine.queue if task.is_ready and task not in [*prompts, *self.chosen]]
        decodes.sort(key=lambda task: task.request.number)
        for task in heapq.merge(prompts, decodes, key=lambda task: task.request.number):
            if self.has_enough_like(task):
                continue
            if not self.is_within_limits(task) or not self.fits(task):
                return
            self.take(task)


class ChoiceOfPieces(Choice):
    """Chunked prefill: decodes, then prompts in pieces."""

    def made(self) -> list[Task]:
        for task in self.machine.batch:
            self.take(task)
        decodes = [task for task in self.machine.queue if task.is_ready and not task.is_prompt]
        decodes.sort(key=lambda task: task.request.number)
        for task in decodes:
            if not self.is_within_limits(task):
                break
            if self.fits(task):
                self.take(task)
        may_start = all(self.fits(task) for task in [task for task in decodes if task not in self.chosen][:1])
        for task in self.machine.prompts:
            room = self.rules.max_batch_tokens - sum(each.tokens for each in self.chosen)
            is_out_of_memory = not task.was_admitted and not (may_start and self.fits(task))
            if len(self.chosen) == self.rules.max_batch_requests or room == 0 or is_out_of_memory:
                break
            if self.has_enough_like(task):
                break
            self.take(task)
            task.piece = min(room, task.whole - task.computed)
        return self.chosen


class Simulator:
    """Serves the requests; `run` fills their times in."""

    def __init__(self, requests: list[Request], machines: list[Machine], rules: Rules, users: int = 0) -> None:
        """With `users`, only so many requests arrive by themselves: each of the others when one is finished."""
        self.rules = rules
        self.unsent = requests[users:] if users else []
        self.machines = machines
        self.head = int(rules.first_token_in_prompt_kv)
        self.pools: dict[str, list[Machine]] = {"prompt": [], "token": [], "mixed": []}
        for machine in machines:
            machine.pool = machine.home
            self.pools[machine.home].append(machine)
        self.is_colocated = not self.pools["prompt"]
        self.events: list[tuple[float, float, int, Any]] = []
        self.retries = 0
        self.inside: list[Request] = []
        self.ready: list[Machine] = []
        for request in requests:
            request.computed = max(request.prompt - math.floor(rules.cached_prompt_share * request.prompt), 1)
            if request in self.unsent:
                request.arrival_s = math.inf
            else:
                self.at(request.arrival_s, ARRIVAL, request.number, request)

    def at(self, time_s: float, priority: float, number: int, what: object) -> None:
        heapq.heappush(self.events, (time_s, priority, number, what))

    def run(self) -> None:
        while not self.is_over():
            self.now, priority, _, what = heapq.heappop(self.events)
            self.happen(priority, what)
            if not self.events or self.events[0][0] > self.now:
                ready, self.ready = self.ready, []
                for machine in ready:
                    self.start(machine)

    def is_over(self) -> bool:
        """Nothing will happen any more but transfers tried in vain."""
        if self.ready or len(self.events) > self.retries:
            return False
        return not any(self.has_room(request) for _, _, _, (request, _) in self.events)

    def happen(self, priority: float, what: Any) -> None:
        if priority == ITERATION_END:
            self.end_iteration(what)
        elif priority == TRANSFER_END:
            self.end_transfer(*what)
        else:
            self.arrive(what)

    # Cluster scheduler (system.md, 4).

    def move(self, machine: Machine, pool: str) -> None:
        self.pools[machine.pool].remove(machine)
        machine.pool = pool
        self.pools[pool].append(machine)

    def route(self, request: Request) -> tuple[Machine, Machine]:
        by_pending, by_reserved = (lambda m: m.pending), (lambda m: m.reserved)
        if self.is_colocated:
            machine = min(self.pools["mixed"], key=by_pending)
            return machine, machine
        source = target = None
        for pool in ("prompt", "mixed"):
            machine = min(self.pools[pool], key=by_pending, default=None)
            if machine and (not machine.queue or machine.pending + request.computed <= self.rules.max_pending_tokens):
                source = machine
                break
        for pool in ("token", "mixed"):
            machine = min(self.pools[pool], key=by_reserved, default=None)
            if machine and machine.reserved + self.reservation(request) <= machine.kind.kv_routable:
                target = machine
                break
        if source is None and self.pools["token"]:
            source = min(self.pools["token"], key=by_pending)
            self.move(source, "mixed")
        if target is None and self.pools["prompt"]:
            target = min(self.pools["prompt"], key=by_reserved)
            self.move(target, "mixed")
        if source is None or target is None:
            source = target = min(self.pools["prompt"] + self.pools["mixed"] + self.pools["token"], key=by_pending)
        return source, target

    def is_full(self) -> bool:
        """Whether as many requests are inside as may be."""
        in_service = sum(map(len, (self.pools["prompt"], self.pools["token"], self.pools["mixed"])))
        most = self.rules.max_requests_per_machine
        return most > 0 and len(self.inside) >= most * in_service

    def is_too_large(self, request: Request) -> bool:
        """Whether some machine could not hold all of it, where it would find out only when it is full."""
        return self.rules.kv_on_demand and self.held_at_end(request) > min(m.kind.kv_capacity for m in self.machines)

    def held_at_end(self, request: Request) -> int:
        return request.prompt + request.output - self.rules.kv_on_demand

    def reservation(self, request: Request) -> int:
        return request.prompt if self.rules.kv_on_demand else request.prompt + request.output

    def arrive(self, request: Request) -> None:
        if request not in self.inside:
            if self.is_full() or self.is_too_large(request):
                return
            self.inside.append(request)
        request.source, request.target = source, target = self.route(request)
        source.pending += request.computed
        target.pending += 1
        target.reserved += self.reservation(request)
        if source is not target:
            source.reserved += request.prompt + self.head
        prompt = Task(request, is_prompt=True)
        source.prompts.append(prompt)
        source.join(prompt)
        self.could_join(source, prompt)
        if source is target:
            decode = Task(request, is_prompt=False, is_ready=False)
            source.join(decode)
            if source.running:
                self.could_join(source, decode)

    # Machine scheduler (system.md, 5).

    def need(self, task: Task) -> int:
        if task.was_admitted:
            return 0
        if task.is_prompt:
            return task.request.prompt + self.head + task.again
        return 1 if self.rules.kv_on_demand else task.request.output - self.head

    def fits(self, machine: Machine, task: Task) -> bool:
        return machine.used + self.need(task) <= machine.kind.kv_capacity

    def could_join(self, machine: Machine, task: Task) -> None:
        """A machine that is idle starts; a run of decodes ends at its next boundary."""
        if not machine.running:
            if self.fits(machine, task) or (self.rules.kv_on_demand and not task.is_prompt):
                self.make_ready(machine)
        elif task.is_prompt:
            machine.cut |= not self.rules.long_prompts_wait or task.tokens <= self.rules.max_batch_tokens
        else:
            machine.cut |= self.has_place(machine) and len(machine.batch) < self.rules.max_batch_decodes

    def has_place(self, machine: Machine) -> bool:
        return len(machine.batch) < min(self.rules.max_batch_requests, self.rules.max_batch_tokens)

    def some_task_fits(self, machine: Machine) -> bool:
        """Whether a choice would find something to run among what it comes to first."""
        decodes = self.waiting_decodes(machine)
        if decodes and self.rules.kv_on_demand:
            return True
        first = [*machine.preempted[:1], machine.queue[0], *machine.prompts[:1]]
        first += sorted(decodes, key=lambda task: task.request.number)[:1]
        return any(self.fits(machine, task) for task in first)

    @staticmethod
    def waiting_decodes(machine: Machine) -> list[Task]:
        return [task for task in machine.queue if task.is_ready and not task.is_prompt and not task.was_admitted]

    def make_ready(self, machine: Machine) -> None:
        if machine not in self.ready:
            self.ready.append(machine)

    def start(self, machine: Machine) -> None:
        if machine.goes_on:
            machine.goes_on = False
            if machine.used + len(machine.batch) <= machine.kind.kv_capacity:
                machine.used += len(machine.batch)
                self.iterate(machine)
                return
            machine.running = False
        if self.rules.kv_on_demand:
            self.make_room(machine)
        self.choose(machine)
        machine.cut = False
        if machine.batch:
            self.iterate(machine)
        elif not machine.queue and machine.pool != machine.home:
            self.move(machine, machine.home)

    def make_room(self, machine: Machine) -> None:
        """Every running decode takes a token, or the first that waits is to: others' KV-cache is dropped for it."""
        capacity = machine.kind.kv_capacity

        def last_of(*tasks: Task) -> Task:
            return max(tasks, key=lambda task: task.request.number)

        while machine.batch and machine.used + len(machine.batch) > capacity:
            self.evict(machine, last_of(*machine.batch, *machine.preempted, *self.waiting_decodes(machine)))
        machine.used += len(machine.batch)
        while not machine.batch and not machine.preempted and machine.used == capacity:
            waiting = self.waiting_decodes(machine)
            if len(waiting) < 2:
                return
            self.evict(machine, last_of(*waiting))

    @staticmethod
    def evict(machine: Machine, decode: Task) -> None:
        request = decode.request
        # What all tokens but the last have left, and of one that was left out of a batch what it has taken beyond.
        machine.used -= request.prompt + request.generated - 1 + (decode in machine.preempted)
        for line in (machine.batch, machine.preempted, machine.queue):
            line[:] = [task for task in line if task is not decode]
        request.evictions += 1
        prompt = Task(request, is_prompt=True, again=request.generated)
        is_begun = bool(machine.prompts) and machine.prompts[0].was_admitted
        machine.prompts.insert(int(is_begun), prompt)
        machine.join(prompt)
        machine.pending += prompt.whole

    def choose(self, machine: Machine) -> None:
        kind_of_choice = ChoiceOfPieces if self.rules.chunked_prefill else Choice
        chosen = kind_of_choice(self, machine).made()
        for task in machine.batch:
            if task not in chosen:
                machine.preempted.append(task)
                machine.join(task)
        for line in (machine.queue, machine.prompts, machine.preempted):
            line[:] = [task for task in line if task not in chosen]
        kept = [task for task in machine.batch if task in chosen]
        machine.batch = kept + [task for task in chosen if task not in kept]
        for task in machine.queue:
            task.passed_over += task.is_ready

    def iterate(self, machine: Machine) -> None:
        prompt_tokens = sum(task.tokens for task in machine.batch if task.is_prompt)
        contexts = [task.request.prompt + task.request.generated for task in machine.batch if not task.is_prompt]
        machine.running = True
        self.at(self.now + machine.kind.iteration_s(prompt_tokens, contexts), ITERATION_END, machine.number, machine)

    def end_iteration(self, machine: Machine) -> None:
        machine.running = False
        had_prompts = any(task.is_prompt for task in machine.batch)
        self.put_back_incomplete(machine)
        for task in machine.batch:
            task.request.generated += 1
        done = [task for task in machine.batch if task.is_prompt or task.request.generated == task.request.output]
        machine.batch = [task for task in machine.batch if task not in done]
        for task in done:
            if not task.is_prompt:
                self.finish(task.request, self.held_at_end(task.request))
        for task in done:
            if task.again:
                self.end_prompt_again(task)
            elif task.is_prompt:
                self.end_prompt(task.request)
        if done or had_prompts or machine.cut:
            self.make_ready(machine)
        elif self.rules.kv_on_demand:
            machine.running = machine.goes_on = machine.used + len(machine.batch) <= machine.kind.kv_capacity
            self.make_ready(machine)
        else:
            self.iterate(machine)

    def put_back_incomplete(self, machine: Machine) -> None:
        """A prompt of which a piece has been computed, but not the last one, is first in line again."""
        for task in [task for task in machine.batch if task.piece is not None]:
            task.computed += task.piece
            task.piece = None
            if task.computed < task.whole:
                machine.batch.remove(task)
                machine.prompts.insert(0, task)
                machine.queue.insert(0, task)

    def end_prompt(self, request: Request) -> None:
        source, target = request.source, request.target
        request.first_token_s = self.now
        source.pending -= request.computed
        waiting = [task for task in source.queue if task.request is request]
        if request.output == 1:
            source.queue = [task for task in source.queue if task not in waiting]
            if source is not target:
                source.reserved -= request.prompt + self.head
                self.finish(request, 0)
                self.free(source, request.prompt + self.head)
            else:
                self.finish(request, request.prompt + self.head)
        elif source is target:
            waiting[0].is_ready = True
        else:
            self.send(request)

    def end_prompt_again(self, task: Task) -> None:
        request = task.request
        request.target.pending -= task.whole
        if request.generated == request.output:
            self.finish(request, self.held_at_end(request))
        else:
            request.target.join(Task(request, is_prompt=False))

    def finish(self, request: Request, held: int) -> None:
        request.finish_s = self.now
        self.inside.remove(request)
        request.target.pending -= 1
        request.target.reserved -= self.reservation(request)
        self.free(request.target, held)
        if self.unsent:
            following = self.unsent.pop(0)
            following.arrival_s = self.now
            self.at(self.now, ARRIVAL, following.number, following)

    # KV-cache transfer (system.md, 6).

    def send(self, request: Request) -> None:
        if self.rules.transfer_retry_s > 0:
            if not self.start_transfer(request):
                self.retries += 1
                self.at(self.now + self.rules.transfer_retry_s, TRANSFER_END, request.number, (request, False))
        elif request.target.line or not self.start_transfer(request):
            request.target.line.append(request)

    def has_room(self, request: Request) -> bool:
        return request.target.used + request.prompt + self.head <= request.target.kind.kv_capacity

    def start_transfer(self, request: Request) -> bool:
        source, target = request.source, request.target
        if not self.has_room(request):
            return False
        target.used += request.prompt + self.head
        visible_s = request.prompt / min(source.kind.kv_tokens_per_s, target.kind.kv_tokens_per_s)
        if request.prompt >= self.rules.layerwise_from_tokens:
            residue_s = max(source.kind.residue_s, target.kind.residue_s)
            visible_s = min(visible_s, max(residue_s, visible_s - along(source.kind.prefill, request.computed)))
        self.at(self.now + visible_s, TRANSFER_END, request.number, (request, True))
        return True

    def free(self, machine: Machine, tokens: int) -> None:
        machine.used -= tokens
        while machine.line and self.start_transfer(machine.line[0]):
            machine.line.pop(0)

    def end_transfer(self, request: Request, is_sent: bool) -> None:  # noqa: FBT001 - an event's payload
        if not is_sent:
            self.retries -= 1
            self.send(request)
            return
        source, target = request.source, request.target
        source.reserved -= request.prompt + self.head
        self.free(source, request.prompt + self.head)
        decode = Task(request, is_prompt=False)
        target.join(decode)
        self.could_join(target, decode)
        if source.queue:
            if not source.running:
                if self.some_task_fits(source):
                    self.make_ready(source)
            elif self.has_place(source):
                source.cut = True
