"""What the Splitwise paper prints: its clusters and its claims.

Patel et al., "Splitwise: Efficient Generative LLM Inference Using Phase Splitting", ISCA 2024, arXiv 2311.18677v2.
Its figures 16, 18, 19 and 20 are drawings: their numbers stand nowhere. What the text does not say about
how they were made was looked up in the authors' published scripts and notebook
(github.com/Mutinifni/splitwise-sim, MIT), as facts: the clusters at equal cost, the batch load, what a dollar is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Workload = Literal["coding", "conversation"]
WORKLOADS: tuple[Workload, ...] = ("coding", "conversation")
DESIGNS = ("A100", "H100", "AA", "HH", "HA", "HHcap")
"""By their short names, in the paper's order."""
MODEL, OTHER_MODEL = "bloom-176b", "llama2-70b"
"""Evaluated, and tried on the first one's clusters (section VI-D)."""

TARGET_RPS = 70.0
"""Figure 12, and the traces that figure 19 is computed from."""
H100_MACHINES = 40
"""The budgets of equal power and equal cost: so many DGX-H100 (section VI-B)."""
BATCH_RPS = 180.0
"""Load of the batch jobs: the trace that the authors' `scripts/run_throughput_isopower.sh` runs."""

Equal = Literal["power", "cost"]
EQUALS: tuple[Equal, ...] = ("power", "cost")
Counts = tuple[int, int]
"""Prompt and token machines; a baseline's count and 0."""

CLUSTERS: Mapping[tuple[Equal, Workload], Mapping[str, Counts]] = {
    # Section VI-B and the legends of figure 16.
    ("power", "coding"): {
        "A100": (70, 0), "H100": (40, 0), "AA": (55, 15), "HH": (35, 5), "HA": (35, 8), "HHcap": (35, 7),
    },
    ("power", "conversation"): {
        "A100": (70, 0), "H100": (40, 0), "AA": (45, 25), "HH": (25, 15), "HA": (25, 26), "HHcap": (25, 21),
    },
    # The authors' notebooks/plots.ipynb. HHcap for coding costs 5 % more than 40 DGX-H100.
    ("cost", "coding"): {
        "A100": (86, 0), "H100": (40, 0), "AA": (66, 20), "HH": (35, 5), "HA": (35, 10), "HHcap": (35, 7),
    },
    ("cost", "conversation"): {
        "A100": (86, 0), "H100": (40, 0), "AA": (51, 35), "HH": (25, 15), "HA": (30, 21), "HHcap": (30, 10),
    },
}  # fmt: skip

OPTIMUM: Counts = (27, 3)
"""Figure 12: the cheapest Splitwise-HH cluster for coding at `TARGET_RPS`."""


@dataclass(frozen=True, slots=True)
class Order:
    """What the text says of the designs' order by requests per second: each of the better before each of the worse.

    Nothing is said of the order among the better or among the worse, nor of designs that are neither.
    """

    better: tuple[str, ...]
    worse: tuple[str, ...]
    source: str

    def agrees(self, rates: Mapping[str, float]) -> bool:
        """Whether the slowest of the better is faster than the fastest of the worse; without a rate it is none."""
        return min(rates.get(name, 0.0) for name in self.better) > max(rates.get(name, 0.0) for name in self.worse)

    def __str__(self) -> str:
        return f"{', '.join(self.better)} > {', '.join(self.worse)}"


ORDERS: Mapping[Workload, Order] = {
    "coding": Order(("HH", "HHcap", "AA"), ("H100",), "VI-B"),
    "conversation": Order(("AA", "HH", "HA", "HHcap"), ("A100", "H100"), "VI-D"),
}
