"""The rows of what ends first, against a sorted list."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provisioner.sim import finishing
from tests.sim.inner import from_python
from tests.sim.strategies import examples
from tests.sim.worlds import empty_world, mixed, requests

enter = from_python(finishing.enter)
first = from_python(finishing.first)
first_end = from_python(finishing.first_end)
take_out = from_python(finishing.take_out)

pytestmark = pytest.mark.nojit

REQUESTS = 12
STEPS = st.lists(
    st.tuples(st.sampled_from(["enter", "enter", "finish", "leave"]), st.integers(0, 1), st.integers(0, REQUESTS - 1),
              st.integers(0, 4)),
    max_size=60,
)  # fmt: skip


@given(STEPS)
@examples(400)
def test_the_first_to_end_is_the_first_of_a_sorted_list(steps: list[tuple[str, int, int, int]]) -> None:
    world = empty_world(mixed(), (2,), requests(*[(0, 10, 2)] * REQUESTS))
    model: list[list[tuple[int, int]]] = [[], []]
    for step, number, place, iteration in steps:
        task, own, machine = REQUESTS + place, model[number], world.machines[number]
        is_running = any(task == other for batch in model for _, other in batch)
        if step == "enter" and not is_running:
            enter(world, number, task, 2**30 + iteration)
            machine.decodes += 1
            own.append((2**30 + iteration, task))
        elif step == "finish" and own:
            assert first(world, number) == min(own)[1]
            machine.decodes -= 1
            own.remove(min(own))
        elif step == "leave" and any(task == other for _, other in own):
            (end,) = (end for end, other in own if other == task)
            assert take_out(world, number, task) == end
            machine.decodes -= 1
            own.remove((end, task))
        for each, batch in enumerate(model):
            if batch:
                assert (first_end(world, each), first(world, each)) == min(batch)
