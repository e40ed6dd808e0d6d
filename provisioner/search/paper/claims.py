"""The paper's claims beside what was found."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from provisioner.search.goal import Objective, amount
from provisioner.search.paper.published import OPTIMUM, ORDERS, Equal, Workload
from provisioner.search.paper.study import Case, Experiment, Finding, Findings

Clusters = Literal["published", "own"]
"""Whose clusters: those that the paper prints, or the best that we find within the same budget."""
Measure = Callable[[Findings, Workload, Clusters], float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One sentence of the paper, as a number."""

    text: str
    source: str
    published: float
    measure: Measure
    workloads: tuple[Workload, ...]
    """Both where the paper does not say which it means."""
    clusters: tuple[Clusters, ...] = ("published", "own")
    unit: str = "x"
    is_bound: bool = False
    """The number is to be exceeded, not met."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A claim beside what each world shows for it."""

    claim: Claim
    workload: Workload
    clusters: Clusters
    values: Mapping[str, float | None]
    """By world; None where it was not looked for, or nothing met the SLOs."""

    def difference(self, world: str) -> float | None:
        """How far a world's value is from the published one, as a share of that; None for a bound."""
        value = self.values.get(world)
        return None if value is None or self.claim.is_bound else value / self.claim.published - 1

    def holds(self, world: str) -> bool | None:
        """Whether a world's value exceeds a bound; None for what is no bound."""
        value = self.values.get(world)
        return None if value is None or not self.claim.is_bound else value > self.claim.published


def compared(findings: Mapping[str, Findings], workloads: Sequence[Workload]) -> list[Comparison]:
    """Every claim about these workloads, with what each world shows."""
    return [
        Comparison(
            claim=claim,
            workload=workload,
            clusters=clusters,
            values={world: claim.measure(found, workload, clusters) for world, found in findings.items()},
        )
        for claim in CLAIMS
        for workload in claim.workloads
        if workload in workloads
        for clusters in claim.clusters
    ]


def _value(findings: Findings, case: Case) -> float | None:
    return findings.get(case, Finding()).value


def _ratio(value: float | None, baseline: float | None) -> float | None:
    return None if value is None or not baseline else value / baseline


def _rates(equal: Equal, design: str, baseline: str) -> Measure:
    """Requests per second of a design's cluster against a baseline's."""

    def measure(findings: Findings, workload: Workload, clusters: Clusters) -> float | None:
        cases = (Case(clusters, workload, each, equal) for each in (design, baseline))
        return _ratio(*(_value(findings, case) for case in cases))

    return measure


def _taken(by: Objective, case: Case, baseline: str) -> Measure:
    """What a design's cluster takes against a baseline's, both of the same kind of case."""

    def measure(findings: Findings, workload: Workload, clusters: Clusters) -> float | None:
        experiment: Experiment = case.experiment if case.experiment == "least" else clusters
        found = [
            findings.get(Case(experiment, workload, each, case.by), Finding()).cluster
            for each in (case.design, baseline)
        ]
        return _ratio(*(None if cluster is None else amount(cluster, by) for cluster in found))

    return measure


def _against_itself(experiment: Experiment, design: str) -> Measure:
    """A design's rate in another experiment against that of the published cluster for the workload."""

    def measure(findings: Findings, workload: Workload, _: Clusters) -> float | None:
        changed = _value(findings, Case(experiment, workload, design))
        return _ratio(changed, _value(findings, Case("published", workload, design)))

    return measure


def _group(experiment: Experiment | None, better: Sequence[str], worse: Sequence[str]) -> Measure:
    """The slowest of a group of designs against the fastest of another; of the clusters asked for if None."""

    def measure(findings: Findings, workload: Workload, clusters: Clusters) -> float | None:
        found = {each: _value(findings, Case(experiment or clusters, workload, each)) for each in (*better, *worse)}
        rates = {each: rate for each, rate in found.items() if rate is not None}
        if len(rates) < len(found):
            return None
        return _ratio(min(rates[each] for each in better), max(rates[each] for each in worse))

    return measure


def _alone(case: Case, by: Objective | None = None) -> Measure:
    """The value of one case, or what its cluster takes."""

    def measure(findings: Findings, workload: Workload, _: Clusters) -> float | None:
        finding = findings.get(Case(case.experiment, workload, case.design, case.by), Finding())
        return finding.value if by is None or finding.cluster is None else amount(finding.cluster, by)

    return measure


_BOTH: tuple[Workload, ...] = ("coding", "conversation")
_CODING: tuple[Workload, ...] = ("coding",)
_CHAT: tuple[Workload, ...] = ("conversation",)
_SPLIT = ("AA", "HH", "HA", "HHcap")
_BASELINES = ("A100", "H100")
_AT_EQUAL_COST: tuple[tuple[Objective, float], ...] = (("power", 1.25), ("machines", 2.0))
_AT_LEAST_POWER: tuple[tuple[Objective, float], ...] = (("power", 0.75), ("cost", 1.0), ("machines", 1.0))


def _least(by: Objective, design: str) -> Case:
    return Case("least", "coding", design, by)


def _within(equal: Equal, design: str) -> Case:
    return Case("published", "coding", design, equal)


CLAIMS: tuple[Claim, ...] = (
    Claim(
        text="machines of the cheapest HH at 70 RPS",
        source="figure 12",
        published=float(sum(OPTIMUM)),
        measure=_alone(_least("cost", "HH"), "machines"),
        workloads=_CODING,
        clusters=("own",),
        unit="machines",
    ),
    Claim(
        text="equal power: RPS of AA / A100",
        source="VI-B, figure 18a",
        published=2.15,
        measure=_rates("power", "AA", "A100"),
        workloads=_CHAT,
    ),
    # "Compared to Baseline-A100", the text says; but only Baseline-H100 costs more than HA's 25P+26T.
    Claim(
        text="equal power: RPS of HA / H100",
        source="VI-B, figure 18a",
        published=1.18,
        measure=_rates("power", "HA", "H100"),
        workloads=_CHAT,
    ),
    Claim(
        text="equal power: cost of HA / H100",
        source="VI-B, figure 18a",
        published=0.90,
        measure=_taken("cost", _within("power", "HA"), "H100"),
        workloads=_CHAT,
    ),
    *(
        Claim(
            text=f"equal power: slowest of {', '.join(order.better)} / fastest of {', '.join(order.worse)}",
            source=f"{order.source}, figure 16",
            published=1.0,
            measure=_group(None, order.better, order.worse),
            workloads=(workload,),
            is_bound=True,
        )
        for workload, order in ORDERS.items()
    ),
    Claim(
        text="equal cost: RPS of AA / H100",
        source="VI-C, figure 18b",
        published=1.40,
        measure=_rates("cost", "AA", "H100"),
        workloads=_CHAT,
    ),
    *(
        Claim(
            text=f"equal cost: {by} of AA / H100",
            source="VI-C, figure 18b",
            published=published,
            measure=_taken(by, _within("cost", "AA"), "H100"),
            workloads=_CHAT,
        )
        for by, published in _AT_EQUAL_COST
    ),
    *(
        Claim(
            text=f"least power at 70 RPS: {by} of HHcap / H100",
            source="VI-C, figure 19a",
            published=published,
            measure=_taken(by, _least("power", "HHcap"), "H100"),
            workloads=_BOTH,
            clusters=("own",),
        )
        for by, published in _AT_LEAST_POWER
    ),
    Claim(
        text="least cost at 70 RPS: cost of AA / H100",
        source="VI-C, figure 19b",
        published=0.75,
        measure=_taken("cost", _least("cost", "AA"), "H100"),
        workloads=_BOTH,
        clusters=("own",),
    ),
    *(
        Claim(
            text=f"on the cluster for coding: RPS of {design} / on that for conversation",
            source="VI-D, figure 20a",
            published=published,
            measure=_against_itself("moved", design),
            workloads=_CHAT,
            clusters=("published",),
        )
        for design, published in (("AA", 1.0), ("HH", 1.0), ("HA", 0.93), ("HHcap", 0.93))
    ),
    Claim(
        text="on clusters for coding: slowest Splitwise / fastest baseline",
        source="VI-D, figure 20a",
        published=1.0,
        measure=_group("moved", _SPLIT, _BASELINES),
        workloads=_CHAT,
        clusters=("published",),
        is_bound=True,
    ),
    Claim(
        text="Llama2-70B / BLOOM-176B: RPS of HH",
        source="VI-D, figure 20b",
        published=1.0,
        measure=_against_itself("model", "HH"),
        workloads=_BOTH,
        clusters=("published",),
        is_bound=True,
    ),
    Claim(
        text="Llama2-70B: slowest Splitwise / fastest baseline",
        source="VI-D, figure 20b",
        published=1.0,
        measure=_group("model", _SPLIT, _BASELINES),
        workloads=_BOTH,
        clusters=("published",),
        is_bound=True,
    ),
    *(
        Claim(
            text=f"batch load: RPS per USD of {design}",
            source="VI-E",
            published=published,
            measure=_alone(Case("batch", "conversation", design)),
            workloads=_CHAT,
            clusters=("published",),
            unit="RPS/USD",
        )
        for design, published in (("A100", 0.89), ("AA", 0.89), ("H100", 0.75), ("HH", 0.75))
    ),
)
