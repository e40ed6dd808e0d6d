"""The event-driven simulator: `simulate` one cluster, or lay out a `Network` and simulate many."""

from provisioner.sim.run import Network, Simulation, simulate

__all__ = ["Network", "Simulation", "simulate"]
