"""Evaluations made by hand: what a cluster achieves is said, not simulated."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html.parser import HTMLParser

from provisioner.domain.cluster import Cluster
from provisioner.domain.design import Design
from provisioner.domain.machine import Machine
from provisioner.domain.slo import Limit
from provisioner.metrics import SloResult
from provisioner.search import Evaluation

LIMITS = (
    Limit(metric="ttft", percentile=50, limit=2.0),
    Limit(metric="ttft", percentile=99, limit=6.0),
    Limit(metric="tbt", percentile=50, limit=1.25),
    Limit(metric="e2e", percentile=99, limit=10.0, unit="s"),
)
HOSTILE = "<script>alert('x')</script>$\\frac{1}{0}$\x1b[31m\u202e&\"'`</style>"


def machine(name: str, cost: float, power: float) -> Machine:
    return Machine(
        name=name,
        gpus=8,
        cost_usd_per_h=cost,
        power_kw=power,
        hbm_bytes=640_000_000_000,
        interconnect_bytes_per_s=2.5e10,
        transfer_residue_s=0.005,
    )


BIG, SMALL = machine("big", 40.0, 10.0), machine("small", 20.0, 6.0)
SPLIT = Design(name="Split", short="S", prompt=BIG, token=SMALL)
MIXED = Design(name="Baseline", short="B", mixed=BIG)


def evaluation(
    counts: tuple[int, int],
    ratios: Sequence[float] = (0.5, 0.5, 0.5, 0.5),
    *,
    design: Design = SPLIT,
    rate_rps: float = 10.0,
    ci_half: float | None = None,
    growth: float = 0.0,
) -> Evaluation:
    """A cluster that achieves such shares of the limits."""
    results = tuple(
        SloResult(
            limit,
            ratio * limit.limit,
            None if ci_half is None else (ratio * limit.limit - ci_half, ratio * limit.limit + ci_half),
            "met" if ratio <= 1 else "missed",
        )
        for limit, ratio in zip(LIMITS, ratios, strict=True)
    )
    return Evaluation(
        cluster=Cluster(design=design, prompt_machines=counts[0], token_machines=counts[1]),
        rate_rps=rate_rps,
        results=results,
        replications=2,
        load=0.5,
        growth=growth,
        unfinished=0,
        utilization={"mixed": 0.5} if design.is_mixed else {"prompt": 0.5, "token": 0.25},
    )


class Elements(HTMLParser):
    """All elements of a page with their attributes, and the text outside scripts and styles."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.scripts: list[str] = []
        self._inside = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        self._inside = tag
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside == "script":
            self.scripts[-1] += data
        elif self._inside != "style":
            self.text += data

    def count(self, tag: str) -> int:
        return sum(name == tag for name, _ in self.found)


def squeezed(text: str) -> str:
    """With single blanks."""
    return re.sub(r"\s+", " ", text)
