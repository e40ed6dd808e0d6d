"""The event-driven simulator: `simulate` one cluster, or lay out a `Network` and simulate many."""

from provisioner.sim.run import Network, Recording, Simulation, simulate
from provisioner.sim.state import Stop

__all__ = ["Network", "Recording", "Simulation", "Stop", "simulate"]
