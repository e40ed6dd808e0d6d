"""The evaluation of the Splitwise paper, done again."""

from provisioner.search.paper.claims import Clusters, Comparison, compared
from provisioner.search.paper.published import (
    DESIGNS,
    EQUALS,
    MODEL,
    ORDERS,
    OTHER_MODEL,
    TARGET_RPS,
    WORKLOADS,
    Workload,
)
from provisioner.search.paper.study import Case, Experiment, Finding, Findings, World, steps, study

__all__ = [
    "DESIGNS",
    "EQUALS",
    "MODEL",
    "ORDERS",
    "OTHER_MODEL",
    "TARGET_RPS",
    "WORKLOADS",
    "Case",
    "Clusters",
    "Comparison",
    "Experiment",
    "Finding",
    "Findings",
    "Workload",
    "World",
    "compared",
    "steps",
    "study",
]
