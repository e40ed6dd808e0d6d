"""The linked lists of a machine's tasks, against Python's own lists."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from provisioner.sim import lists
from provisioner.sim.state import LISTS, MACHINE, TASK, Records
from tests.sim.inner import from_python
from tests.sim.strategies import examples

append = from_python(lists.append)
insert_after = from_python(lists.insert_after)
unlink = from_python(lists.unlink)

pytestmark = pytest.mark.nojit

TASKS = 8


def empty() -> tuple[Records, Records]:
    machines = np.zeros(1, MACHINE).view(np.recarray)
    machines.head = machines.tail = -1
    return np.zeros(TASKS, TASK).view(np.recarray), machines


def walked(tasks: Records, machine: Records, kind: int) -> list[int]:
    """The list from front to back, having checked that back to front is the same."""
    forth, back = [], []
    task = int(machine.head[kind])
    while task >= 0:
        forth.append(task)
        task = int(tasks[task].after)
    task = int(machine.tail[kind])
    while task >= 0:
        back.append(task)
        task = int(tasks[task].before)
    assert forth == back[::-1]
    assert all(tasks[task].list == kind for task in forth)
    return forth


STEP = st.tuples(st.integers(0, TASKS - 1), st.integers(0, LISTS - 1), st.integers(-1, TASKS - 1))


@given(st.lists(STEP, max_size=40))
@examples(200)
def test_lists_are_lists(steps: list[tuple[int, int, int]]) -> None:
    tasks, machines = empty()
    model: list[list[int]] = [[] for _ in range(LISTS)]
    for task, kind, leader in steps:
        mine = next((inside for inside in model if task in inside), None)
        if mine is not None:
            unlink(tasks, machines[0], task)
            mine.remove(task)
        elif leader in model[kind]:
            insert_after(tasks, machines[0], kind, task, leader)
            model[kind].insert(model[kind].index(leader) + 1, task)
        elif leader == -1:
            insert_after(tasks, machines[0], kind, task, -1)
            model[kind].insert(0, task)
        else:
            append(tasks, machines[0], kind, task)
            model[kind].append(task)
        assert [walked(tasks, machines[0], kind) for kind in range(LISTS)] == model
