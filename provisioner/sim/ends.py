"""When each machine's run ends."""

from __future__ import annotations

import numpy as np

from provisioner.sim.jit import jit
from provisioner.sim.state import World
from provisioner.sim.timing import decodes_s
from provisioner.sim.tournament import enter


@jit
def set_end(world: World, number: int, end_s: float) -> None:
    """Set when the machine's run ends; infinity where there is none."""
    world.machines[number].end_s = end_s
    # Times that are not negative are in the order of the integers that their bits are.
    enter(world.ends, 0, number, int(np.float64(end_s).view(np.int64)), number)


@jit
def end_after(world: World, number: int, iterations: int) -> None:
    """Have the machine's run of decodes, which is under way, end after so many iterations."""
    machine = world.machines[number]
    gamma = world.timing.gamma[machine.kind]
    end_s = machine.start_s + decodes_s(machine.base_s, gamma, machine.decodes, machine.context, iterations)
    machine.decode_busy_s += end_s - machine.end_s
    machine.iterations = iterations
    set_end(world, number, end_s)
