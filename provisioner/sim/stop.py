"""Ending a simulation once its verdict is certain: too many requests have been too slow already.

A percentile exceeds a value for certain once more requests exceed it than the percentile leaves aside,
whatever becomes of the others.
"""

from __future__ import annotations

from provisioner.sim.jit import jit
from provisioner.sim.state import World, numbered

TTFT, TBT, E2E = numbered(3)


@jit
def count_late(world: World, number: int, measure: int, seconds: float) -> None:
    """Count a request against the limits of a measure that it exceeds."""
    stop = world.stop
    for kind in range(len(stop.measure)):
        if stop.measure[kind] == measure:
            unit_s = stop.unit_s[number, kind]
            for limit in range(stop.first[kind], stop.first[kind + 1]):
                if not seconds > stop.most[limit] * unit_s:
                    break
                stop.left[limit] -= 1
                if stop.left[limit] < 0:
                    world.clock[0].is_stopped = True
