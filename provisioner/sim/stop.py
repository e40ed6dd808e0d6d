"""Ending a simulation once its verdict is certain: too many requests have been too slow already.

A percentile exceeds a value for certain once more requests exceed it than the percentile leaves aside,
whatever becomes of the others.
"""

from __future__ import annotations

from provisioner.sim.jit import jit
from provisioner.sim.state import World

TTFT, TBT, E2E = 0, 1, 2


@jit
def count_late(world: World, number: int, measure: int, seconds: float) -> None:
    """Count a request against the limits of a measure that it exceeds."""
    stop = world.stop
    for limit in range(len(stop.measure)):
        if stop.measure[limit] == measure and seconds > stop.most[limit] * stop.unit_s[number, limit]:
            stop.left[limit] -= 1
            if stop.left[limit] < 0:
                world.clock[0].is_stopped = True
