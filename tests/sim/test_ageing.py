"""The order of ageing, against a plain list that is sorted by insertion."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from provisioner.sim import ageing, ordering, queueing
from provisioner.sim.state import Records, World
from tests.sim.inner import from_python
from tests.sim.strategies import examples
from tests.sim.worlds import empty_world, mixed, requests

queue_behind_prompt = from_python(queueing.queue_behind_prompt)

join_ageing = from_python(ageing.join_ageing)
task_at = from_python(ordering.task_at)
age_from_now = from_python(ordering.age_from_now)
leave_ageing = from_python(ageing.leave_ageing)
times_passed_over = from_python(ageing.times_passed_over)

pytestmark = pytest.mark.nojit

REQUESTS = 6


def world() -> World:
    return empty_world(mixed(), (1,), requests(*[(0, 10, 2)] * REQUESTS))


def order(world: World) -> list[int]:
    return linked(world, world.machines[0])


def linked(world: World, machine: Records) -> list[int]:
    tasks = world.tasks
    forth: list[int] = []
    task = int(machine.oldest)
    while task >= 0:
        forth.append(task)
        assert tasks[task].older == (forth[-2] if len(forth) > 1 else -1)
        task = int(tasks[task].younger)
    assert machine.waiting == len(forth)
    return forth


@dataclass
class Model:
    """Waiting tasks with the times they were passed over, kept in order by insertion."""

    waiting: list[int] = field(default_factory=list)
    count: dict[int, int] = field(default_factory=dict)

    def join(self, task: int, count: int) -> None:
        place = 0
        while place < len(self.waiting):
            other = self.waiting[place]
            if (count, task % REQUESTS) < (self.count[other], other % REQUESTS):
                break
            place += 1
        self.waiting.insert(place, task)
        self.count[task] = count

    def choose(self) -> None:
        for task in self.waiting:
            self.count[task] += 1


STEP = st.one_of(
    st.tuples(st.just("join"), st.integers(0, 2 * REQUESTS - 1), st.integers(0, 3)),
    st.tuples(st.just("leave"), st.integers(0, 2 * REQUESTS - 1), st.just(0)),
    st.tuples(st.just("choose"), st.just(0), st.just(0)),
)


@given(st.lists(STEP, max_size=30))
@examples(200)
def test_newcomers_stand_before_those_passed_over_more_often(steps: list[tuple[str, int, int]]) -> None:
    w, model = world(), Model()
    machine = w.machines[0]
    for step, task, count in steps:
        if step == "choose":
            machine.choices += 1
            model.choose()
        elif step == "leave" and task in model.waiting:
            leave_ageing(w, machine, task)
            model.waiting.remove(task)
            assert w.tasks[task].passed_over == model.count[task]
        elif step == "join" and task not in model.waiting:
            join_ageing(w, machine, task, count)
            model.join(task, count)
        assert order(w) == model.waiting
        for waiting in model.waiting:
            assert times_passed_over(machine, w.tasks[waiting]) == model.count[waiting]


def test_a_decode_behind_its_prompt_does_not_age() -> None:
    w = world()
    machine = w.machines[0]
    join_ageing(w, machine, 0, 0)
    queue_behind_prompt(w, machine, REQUESTS)
    machine.choices += 3
    assert times_passed_over(machine, w.tasks[0]) == 3
    assert times_passed_over(machine, w.tasks[REQUESTS]) == 0


def test_in_an_order_that_is_not_sorted_a_newcomer_is_placed_by_bisection() -> None:
    # Requests 0 and 1 wait with their decodes (6, 7), passed over 3, 0, 3, 0 times. A newcomer passed over once is
    # compared with the third (task 1, 3 times): before it; with the second (task 6, 0 times): behind it.
    w = world()
    machine = w.machines[0]
    for task in (0, 1):
        join_ageing(w, machine, task, 0)
        queue_behind_prompt(w, machine, REQUESTS + task)
    assert order(w) == [0, 6, 1, 7]
    machine.choices += 3
    join_ageing(w, machine, 2, 1)
    assert order(w) == [0, 6, 2, 1, 7]
    # Passed over 3 times, and arrived later than 1: behind the third (2, once), behind the fourth (1), and behind the
    # last (7, none). A walk from the front would have stopped in front of task 1 for a request that arrived before it.
    join_ageing(w, machine, 3, 3)
    assert order(w) == [0, 6, 2, 1, 7, 3]
    # Passed over 3 times like 0, 1: probes 1 (index 3; same count, arrived before), 3 (index 5; before it), 7.
    join_ageing(w, machine, REQUESTS + 2, 3)
    assert order(w) == [0, 6, 2, 1, 7, 8, 3]


class Unsorted(Model):
    """The same with decodes behind their prompts: placed by bisection until the order is empty."""

    def __init__(self) -> None:
        super().__init__()
        self.behind: set[int] = set()
        self.is_sorted = True

    def join(self, task: int, count: int) -> None:
        self.is_sorted |= not self.waiting
        if self.is_sorted:
            super().join(task, count)
            return
        low, high = 0, len(self.waiting)
        while low < high:
            middle = (low + high) // 2
            other = self.waiting[middle]
            is_before = (count, task % REQUESTS) < (self.count[other], other % REQUESTS)
            low, high = (low, middle) if is_before else (middle + 1, high)
        self.waiting.insert(low, task)
        self.count[task] = count

    def choose(self) -> None:
        for task in set(self.waiting) - self.behind:
            self.count[task] += 1


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["join", "behind", "done", "leave", "choose"]),
            st.integers(0, 2 * REQUESTS - 1),
            st.integers(0, 3),
        ),
        max_size=40,
    )
)
@examples(400)
def test_an_order_with_decodes_behind_their_prompts(steps: list[tuple[str, int, int]]) -> None:
    w, model = world(), Unsorted()
    machine = w.machines[0]
    for step, task, count in steps:
        is_waiting = task in model.waiting
        if step == "choose":
            machine.choices += 1
            model.choose()
        elif step == "join" and not is_waiting:
            join_ageing(w, machine, task, count)
            model.join(task, count)
        elif step == "behind" and not is_waiting and task >= REQUESTS:
            queue_behind_prompt(w, machine, task)
            model.join(task, 0)
            model.behind.add(task)
            model.is_sorted = False
        elif step == "done" and task in model.behind:
            age_from_now(w.tasks, w.rows, machine, task)
            model.behind.remove(task)
        elif step == "leave" and is_waiting:
            leave_ageing(w, machine, task)
            w.tasks[task].behind_prompt = False
            model.waiting.remove(task)
            model.behind.discard(task)
            assert w.tasks[task].passed_over == model.count[task]
        assert order(w) == model.waiting
        for waiting in model.waiting:
            assert times_passed_over(machine, w.tasks[waiting]) == model.count[waiting]


def test_an_empty_order_is_sorted_again() -> None:
    w = world()
    machine = w.machines[0]
    queue_behind_prompt(w, machine, REQUESTS)
    assert not machine.is_sorted
    leave_ageing(w, machine, REQUESTS)
    assert order(w) == []
    w.tasks[REQUESTS].behind_prompt = False
    join_ageing(w, machine, 0, 0)
    assert machine.is_sorted
    assert order(w) == [0]


def test_the_front_leaves() -> None:
    w = world()
    machine = w.machines[0]
    for task in (0, 1, 2):
        join_ageing(w, machine, task, 0)
    for task, rest in ((0, [1, 2]), (2, [1]), (1, [])):
        leave_ageing(w, machine, task)
        assert order(w) == rest
    assert np.all(w.tasks[:3].passed_over == 0)


@given(st.data())
@examples(60)
def test_an_order_that_is_laid_out_is_the_one_that_is_linked(data: st.DataObject) -> None:
    """Three machines whose orders grow, shrink and empty, in an array that is full again and again."""
    w = empty_world(mixed(), (3,), requests(*[(0, 10, 2)] * 40))
    waiting: dict[int, int] = {}
    for _ in range(data.draw(st.integers(50, 250))):
        task, number = data.draw(st.tuples(st.integers(0, 79), st.integers(0, 2)))
        machine = w.machines[waiting.get(task, number)]
        if task in waiting:
            leave_ageing(w, machine, task)
            w.tasks[task].behind_prompt = False
            del waiting[task]
        elif task < 40:
            join_ageing(w, machine, task, data.draw(st.integers(0, 2)))
            waiting[task] = number
        else:
            queue_behind_prompt(w, machine, task)
            waiting[task] = number
        machine.choices += data.draw(st.integers(0, 1))
        for each in w.machines:
            if each.waiting and each.row_room:
                assert [task_at(w.tasks, w.rows, each, place) for place in range(each.waiting)] == linked(w, each)
    rows = [each for each in w.machines if each.waiting and each.row_room]
    spans = sorted((int(each.row_start), int(each.row_start + each.row_room)) for each in rows)
    assert all(end <= start for (_, end), (start, _) in itertools.pairwise(spans))
    assert all(end <= len(w.rows) for _, end in spans)
