"""When each machine's run ends."""

from __future__ import annotations

import numpy as np

from provisioner.sim.jit import jit
from provisioner.sim.state import World
from provisioner.sim.tournament import enter


@jit
def set_end(world: World, number: int, end_s: float) -> None:
    """Set when the machine's run ends; infinity where there is none."""
    world.machines[number].end_s = end_s
    # Times that are not negative are in the order of the integers that their bits are.
    enter(world.ends, 0, number, int(np.float64(end_s).view(np.int64)), number)
