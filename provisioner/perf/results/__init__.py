"""Results of other people's benchmarks: what they saw, as measured points."""

from provisioner.perf.results.kinds import KINDS, read_results
from provisioner.perf.results.points import Account, Batches, Imported, to_points
from provisioner.perf.results.run import Run, Seen

__all__ = ["KINDS", "Account", "Batches", "Imported", "Run", "Seen", "read_results", "to_points"]
