"""The oracle with machines that fail, as docs/model.md has them.

Nothing is corrected step by step: what a failure leaves is looked at, and the books are made anew from it.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from typing import Any

from tests.oracle.simulator import ARRIVAL, ITERATION_END, TRANSFER_END, Machine, Request, Rules, Simulator, Task

CHANGE, RESTART = ARRIVAL - 0.5, ARRIVAL - 0.25
"""Priorities of failures and returns, and of what they make restart: behind ends of transfers, and before arrivals."""


class FailingSimulator(Simulator):
    """Machines fail, each at its time, and are back at theirs: (failure, machine, return)."""

    def __init__(
        self,
        requests: list[Request],
        machines: list[Machine],
        rules: Rules,
        failures: list[tuple[float, int, float]],
        users: int = 0,
    ) -> None:
        super().__init__(requests, machines, rules, users)
        self.requests = requests
        self.routed: set[int] = set()
        self.restarts = [0] * len(requests)
        self.outside: list[Request] = []
        self.pools["failed"] = []
        for time_s, number, back_s in failures:
            self.at(time_s, CHANGE, number, (machines[number], "failed"))
            if back_s < math.inf:
                self.at(back_s, CHANGE, number, (machines[number], machines[number].home))

    def happen(self, priority: float, what: Any) -> None:
        if priority == CHANGE:
            changes = [what]
            while self.events and self.events[0][:2] == (self.now, CHANGE):
                changes.append(heapq.heappop(self.events)[3])
            self.change(changes)
        elif priority < CHANGE:
            super().happen(priority, what)
        elif len(self.pools["failed"]) < len(self.machines):
            self.arrive(what)
            if what in self.inside:
                self.routed.add(what.number)
        elif not self.rules.max_requests_per_machine or self.restarts[what.number]:
            self.outside.append(what)

    def change(self, changes: list[tuple[Machine, str]]) -> None:
        for machine, pool in changes:
            self.move(machine, pool)
            machine.running &= pool != "failed"
            machine.goes_on &= pool != "failed"
        self.ready = [machine for machine in self.ready if machine.pool != "failed"]
        self.drop(lambda priority, what: priority == ITERATION_END and what.pool == "failed")
        under_way = [r for r in self.requests if r.number in self.routed and r.finish_s == math.inf]
        lost = [request for request in under_way if self.is_lost(request)]
        for request in lost:
            self.forget(request)
        used = [machine.used for machine in self.machines]
        kept = [request for request in under_way if request not in lost]
        self.make_books(kept)
        for machine in self.machines:
            if machine.pool != "failed":
                self.make_use_of_room(machine, is_new=machine.used < used[machine.number])
        for request in kept:
            if request.target.pool == "failed" and not self.is_at_target(request):
                self.redirect(request)
        for request in lost:
            self.restarts[request.number] += 1
            self.at(self.now, RESTART, request.number, request)
        for request in self.outside:
            self.at(self.now, RESTART, request.number, request)
        self.outside = []

    def drop(self, is_void: Callable[[float, Any], bool]) -> None:
        """Take events back."""
        void = [event for event in self.events if is_void(event[1], event[3])]
        self.retries -= sum(priority == TRANSFER_END and not what[1] for _, priority, _, what in void)
        self.events = [event for event in self.events if event not in void]
        heapq.heapify(self.events)

    @staticmethod
    def tasks(machine: Machine, request: Request) -> list[Task]:
        return [task for task in [*machine.queue, *machine.batch] if task.request is request]

    def is_being_sent(self, request: Request) -> bool:
        payloads = [what for _, priority, _, what in self.events if priority == TRANSFER_END]
        return any(sent is request and is_under_way for sent, is_under_way in payloads)

    def is_at_target(self, request: Request) -> bool:
        return request.first_token_s < math.inf and bool(self.tasks(request.target, request))

    def is_lost(self, request: Request) -> bool:
        if any(self.tasks(machine, request) for machine in self.machines):
            return any(self.tasks(machine, request) for machine in self.pools["failed"])
        # No task: the KV-cache lies at its source, or is on the way.
        ends = [request.source, request.target] if self.is_being_sent(request) else [request.source]
        return any(machine.pool == "failed" for machine in ends)

    def forget(self, request: Request) -> None:
        for machine in self.machines:
            for line in (machine.queue, machine.prompts, machine.preempted, machine.batch):
                line[:] = [task for task in line if task.request is not request]
            machine.line[:] = [other for other in machine.line if other is not request]
        self.drop(lambda priority, what: priority == TRANSFER_END and what[0] is request)
        request.generated = 0
        request.first_token_s = math.inf
        self.routed.discard(request.number)

    def make_books(self, under_way: list[Request]) -> None:
        """Pending tokens, reserved memory and used memory of each machine by their definitions."""
        for machine in self.machines:
            machine.pending = machine.reserved = machine.used = 0
        for request in under_way:
            source, target = request.source, request.target
            prompt_kv, reservation = request.prompt + self.head, self.reservation(request)
            has_first, is_at_target = request.first_token_s < math.inf, self.is_at_target(request)
            source.pending += 0 if has_first else request.computed
            target.pending += 1
            target.reserved += reservation
            if is_at_target:
                task = self.tasks(target, request)[0]
                target.used += self.held(target, task)
                target.pending += task.whole if task.is_prompt else 0
                continue
            if source is not target:
                source.reserved += prompt_kv
            if has_first or any(task.is_prompt and task.was_admitted for task in self.tasks(source, request)):
                source.used += prompt_kv
            if self.is_being_sent(request):
                target.used += prompt_kv

    def held(self, machine: Machine, task: Task) -> int:
        """KV-cache of a request that has its first token, at the machine of its decode."""
        request = task.request
        if not self.rules.kv_on_demand:
            return request.prompt + (request.output if task.was_admitted else self.head)
        if task.is_prompt:
            return request.prompt + task.again if task.was_admitted else 0
        # Waiting, or between two iterations, it has yet to take the token of the next.
        is_between = task in machine.batch and (machine.goes_on or not machine.running)
        return request.prompt + request.generated - int(is_between or not task.was_admitted)

    def make_use_of_room(self, machine: Machine, *, is_new: bool) -> None:
        self.free(machine, 0)
        if is_new and machine.queue:
            if machine.running:
                machine.cut |= self.has_place(machine)
            elif self.some_task_fits(machine):
                self.make_ready(machine)

    def redirect(self, request: Request) -> None:
        """Another machine decodes; the prompt, or its KV-cache, stays where it is."""
        source, old = request.source, request.target
        old.pending -= 1
        old.reserved -= self.reservation(request)
        old.line[:] = [other for other in old.line if other is not request]
        self.drop(lambda priority, what: priority == TRANSFER_END and what[0] is request)
        request.target = target = self.other_target(request)
        target.pending += 1
        target.reserved += self.reservation(request)
        has_first = request.first_token_s < math.inf
        if target is not source:
            if has_first:
                self.send(request)
            return
        source.reserved -= request.prompt + self.head
        decode = Task(request, is_prompt=False, is_ready=has_first)
        source.join(decode)
        if has_first or source.running:
            self.could_join(source, decode)

    def other_target(self, request: Request) -> Machine:
        for pool in ("token", "mixed"):
            machine = min(self.pools[pool], key=lambda m: m.reserved, default=None)
            if machine and machine.reserved + self.reservation(request) <= machine.kind.kv_routable:
                return machine
        if self.pools["prompt"]:
            machine = min(self.pools["prompt"], key=lambda m: m.reserved)
            self.move(machine, "mixed")
            return machine
        return min(self.pools["mixed"] + self.pools["token"], key=lambda m: m.pending)
