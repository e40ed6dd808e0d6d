"""The event-driven simulator: `simulate` one cluster, or lay out a `Network` and simulate many."""

from provisioner.sim.run import Network, Recording, Simulation, simulate

__all__ = ["Network", "Recording", "Simulation", "simulate"]
