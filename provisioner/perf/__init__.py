"""Profiles: measured iteration times, and the performance models fitted to them."""

from provisioner.perf.compared import Compared, compare
from provisioner.perf.coverage import remarks
from provisioner.perf.fit import fit, plausible
from provisioner.perf.model import PerformanceModel
from provisioner.perf.points import Points
from provisioner.perf.table import ProfileSet, merged, read_points, read_profiles
from provisioner.perf.validate import ProfileError, Validation, axis_errors, validate
from provisioner.perf.writer import to_csv

__all__ = [
    "Compared",
    "PerformanceModel",
    "Points",
    "ProfileError",
    "ProfileSet",
    "Validation",
    "axis_errors",
    "compare",
    "fit",
    "merged",
    "plausible",
    "read_points",
    "read_profiles",
    "remarks",
    "to_csv",
    "validate",
]
