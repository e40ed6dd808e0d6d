"""Profiles: measured iteration times, and the performance models fitted to them."""

from provisioner.perf.fit import fit, plausible
from provisioner.perf.model import PerformanceModel
from provisioner.perf.points import Points
from provisioner.perf.table import ProfileSet, read_points, read_profiles
from provisioner.perf.validate import ProfileError, Validation, validate

__all__ = [
    "PerformanceModel",
    "Points",
    "ProfileError",
    "ProfileSet",
    "Validation",
    "fit",
    "plausible",
    "read_points",
    "read_profiles",
    "validate",
]
