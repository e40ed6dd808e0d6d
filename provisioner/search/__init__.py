"""The search: which cluster serves a workload within its SLOs for the least, and why."""

from provisioner.search.evaluate import Evaluation, Judge
from provisioner.search.goal import OBJECTIVES, Objective
from provisioner.search.minimise import minimise
from provisioner.search.plan import Certificate, Plan
from provisioner.search.scenario import Scenario

__all__ = ["OBJECTIVES", "Certificate", "Evaluation", "Judge", "Objective", "Plan", "Scenario", "minimise"]
