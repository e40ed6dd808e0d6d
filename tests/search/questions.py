"""Small questions for the search: designs, requests and objectives, made by hand or drawn by hypothesis.

Costs and powers are small whole numbers, so that many clusters tie; limits lie near what some cluster achieves, so
that some clusters pass and others miss.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

from provisioner.catalog import Catalog
from provisioner.domain.cluster import Cluster
from provisioner.domain.design import Design
from provisioner.domain.machine import Machine
from provisioner.domain.scheduling import Scheduling
from provisioner.domain.slo import Limit, SloSet
from provisioner.domain.trace import RequestTrace
from provisioner.perf import PerformanceModel, ProfileSet, read_profiles
from provisioner.search import Evaluation, Judge, Objective, Plan, Precision, Scenario, Workers, minimise
from provisioner.traces import Demand, Drawn, Poisson, SizeTable
from tests.sim.strategies import performances, schedulings
from tests.sim.worlds import AMPLE, INSTANT, MODEL, machine, performance, requests

MAX_MACHINES = 5
TENSOR_PARALLEL = 8
REFERENCE = "reference"


def examples(number: int) -> Callable[[Any], Any]:
    """As many examples, the same ones each time; not made smaller, since each is dozens of simulations."""
    return settings(
        max_examples=number,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )


@dataclass(frozen=True)
class Given:
    """A demand that is just these traces, one a replication, whatever the rate."""

    traces: tuple[RequestTrace, ...]

    @property
    def replications(self) -> int | None:
        return len(self.traces)

    def trace(self, replication: int, rate_rps: float, span_s: float) -> RequestTrace:  # noqa: ARG002
        return self.traces[replication]


@dataclass(frozen=True, kw_only=True)
class Question:
    """What a search is asked."""

    designs: tuple[Design, ...]
    models: Mapping[str, PerformanceModel]
    """By machine; `REFERENCE` is what slowdowns are relative to."""
    traces: tuple[RequestTrace, ...]
    span_s: float
    limits: tuple[Limit, ...]
    objective: Objective = "cost"
    max_machines: int = MAX_MACHINES

    @property
    def slo(self) -> SloSet:
        return SloSet(name="test", reference_machine=REFERENCE, limits=self.limits)

    @cached_property
    def scenario(self) -> Scenario:
        keyed = {(MODEL.name, name, TENSOR_PARALLEL): model for name, model in self.models.items()}
        return Scenario(
            model=MODEL,
            slo=self.slo,
            profiles=ProfileSet(name="test", models=keyed),
            demand=Given(self.traces),
            rate_rps=len(self.traces[0]) / self.span_s,
            span_s=self.span_s,
        )

    @cached_property
    def judges(self) -> list[Judge]:
        precision = Precision(replications=len(self.traces))
        return [Judge(design, self.scenario, precision) for design in self.designs]

    def answer(self, *, jobs: int = 1) -> Plan:
        with Workers(jobs) as workers:
            return minimise(self.judges, self.objective, max_machines=self.max_machines, workers=workers)

    @cached_property
    def clusters(self) -> list[tuple[Judge, Cluster]]:
        """Every cluster that may answer, in no order of the search's."""
        return [(judge, cluster) for judge in self.judges for cluster in grid(judge, self.max_machines)]

    def with_limits(self, factor: float) -> Question:
        return replace(
            self, limits=tuple(limit.model_copy(update={"limit": limit.limit * factor}) for limit in self.limits)
        )

    def __repr__(self) -> str:
        designs = [(d.name, [(m.name, m.cost_usd_per_h, m.power_kw) for m in d.machines]) for d in self.designs]
        limits = [f"{limit.name} {limit.limit!r} {limit.unit}" for limit in self.limits]
        rows = [
            list(zip(t.arrival_s.tolist(), t.prompt_tokens.tolist(), t.output_tokens.tolist(), strict=True))
            for t in self.traces
        ]
        models = {name: model.to_dict() for name, model in self.models.items()}
        return f"Question({designs}, {models}, span_s={self.span_s!r}, {limits}, {self.objective}, traces={rows})"


def grid(judge: Judge, most: int) -> list[Cluster]:
    """Every cluster of a design with at most so many machines."""
    if judge.design.is_mixed:
        return [judge.cluster(count, 0) for count in range(1, most + 1)]
    return [judge.cluster(p, t) for p in range(1, most) for t in range(1, most) if p + t <= most]


def passing(question: Question) -> list[Evaluation]:
    """Brute force: every cluster simulated with all replications, those that pass."""
    found = [judge.evaluate(cluster, whole=True) for judge, cluster in question.clusters]
    return [evaluation for evaluation in found if evaluation.is_feasible]


def poisson(seed: int, count: int, rate_rps: float, *, prompt: int = 100, output: int = 8) -> RequestTrace:
    """So many requests with lengths up to those, uniformly."""
    random = np.random.default_rng(seed)
    arrivals = np.cumsum(random.exponential(1 / rate_rps, count))
    return requests(
        *zip(arrivals, random.integers(1, prompt + 1, count), random.integers(1, output + 1, count), strict=True)
    )


def split(name: str, prompt: Machine, token: Machine, **scheduling: Any) -> Design:
    return Design(name=name, short=name, prompt=prompt, token=token, scheduling=Scheduling(**scheduling))


def mixed(name: str, box: Machine, **scheduling: Any) -> Design:
    return Design(name=name, short=name, mixed=box, scheduling=Scheduling(**scheduling))


def priced(box: Machine, cost: float, power: float) -> Machine:
    return box.model_copy(update={"cost_usd_per_h": float(cost), "power_kw": float(power)})


def simple(**changes: Any) -> Question:
    """Two pools of one machine, a token a millisecond, ten decodes a second; half a minute of requests."""
    box = machine("box")
    question = Question(
        designs=(split("two", box, box),),
        models={"box": performance(), REFERENCE: performance()},
        traces=(poisson(1, 120, 4.0),),
        span_s=30.0,
        limits=limits(ttft_p90=3.0, tbt_p90=2.0, e2e_p90=2.0),
    )
    return replace(question, **changes)


def limits(unit: str = "slowdown", **values: float) -> tuple[Limit, ...]:
    """`ttft_p90=3.0` and so on."""
    parts = [(*name.split("_p"), value) for name, value in values.items()]
    return tuple(
        Limit.model_validate({"metric": metric, "percentile": float(percent), "limit": value, "unit": unit})
        for metric, percent, value in parts
    )


def shipped(
    *designs: str,
    rate_rps: float,
    span_s: float,
    replications: int = 1,
    precision: Precision | None = None,
    demand: Demand | None = None,
    preset: str | None = None,
    **changed: float,
) -> list[Judge]:
    """Judges of the shipped designs and profile for BLOOM, coding; `ttft_p99=8` changes a limit."""
    overrides = {f"slos.splitwise.limits.{name}.limit": value for name, value in changed.items()}
    catalog = Catalog.open(overrides=overrides, preset=preset)
    workload, folder = catalog.workload("coding")
    name = preset or "splitwise"
    scenario = Scenario(
        model=catalog.model("bloom-176b"),
        slo=catalog.slo(name),
        profiles=read_profiles(catalog.find_file("profiles", name)),
        demand=demand or Drawn(SizeTable.read(folder / workload.sizes), 0, Poisson()),
        rate_rps=rate_rps,
        span_s=span_s,
    )
    return [
        Judge(catalog.design(each), scenario, precision or Precision(replications=replications)) for each in designs
    ]


@st.composite
def questions(
    draw: st.DrawFn,
    *,
    replications: Sequence[int] = (1, 3),
    monotone: bool = True,
    max_machines: int = MAX_MACHINES,
) -> Question:
    """One to three designs of two machine types; limits near what a cluster of up to that many machines achieves."""
    boxes = [
        priced(
            machine(
                f"box-{i}",
                kv_tokens=draw(st.sampled_from([60, 120, 250, AMPLE])),
                tokens_per_s=draw(st.sampled_from([1000.0, INSTANT])),
                residue_s=draw(st.sampled_from([0.0, 0.01])),
            ),
            draw(st.integers(1, 3)),
            draw(st.integers(1, 3)),
        )
        for i in range(2)
    ]
    rules, is_chunked = draw(schedulings()), draw(st.booleans())
    shapes = draw(st.lists(st.sampled_from(["00", "01", "10", "0", "1"]), min_size=1, max_size=3, unique=True))
    designs = tuple(
        Design(
            name=f"design {shape}",
            short=shape,
            scheduling=rules if len(shape) > 1 else rules.model_copy(update={"chunked_prefill": is_chunked}),
            **dict(
                zip(("prompt", "token") if len(shape) > 1 else ("mixed",), [boxes[int(i)] for i in shape], strict=True)
            ),
        )
        for shape in shapes
    )
    models = {name: draw(performances(monotone=monotone)) for name in ("box-0", "box-1", REFERENCE)}
    count = draw(st.integers(0, 8)) * max_machines or 1
    rate_rps = draw(st.sampled_from([0.5, 2.0, 5.0, 20.0]))
    seed = draw(st.integers(0, 10_000))
    traces = tuple(poisson(seed + i, count, rate_rps) for i in range(draw(st.sampled_from(replications))))
    span_s = max(trace.span_s for trace in traces) * draw(st.sampled_from([1.01, 1.5, 4.0]))
    unit = draw(st.sampled_from(["slowdown", "s"]))
    names = draw(st.lists(st.sampled_from(NINE), min_size=1, max_size=9, unique=True))
    question = Question(
        designs=designs,
        models=models,
        traces=traces,
        span_s=span_s,
        limits=limits(unit, **dict.fromkeys(names, 1e9)),
        objective=draw(st.sampled_from(["cost", "power", "machines"])),
        max_machines=max_machines,
    )
    judge = question.judges[0]
    half = draw(st.integers(1, max_machines // 2))
    typical = judge.evaluate(judge.cluster(half, 0 if judge.design.is_mixed else half), whole=True)
    choice = draw(st.sampled_from([[1.0, 1.05, 1.5], [0.7, 0.95, 1.0, 1.05, 1.5]]))  # met at least there, or perhaps
    factors = [draw(st.sampled_from(choice)) for _ in names]
    values = [result.value if np.isfinite(result.value) else 10.0 for result in typical.results]
    near = {name: value * factor for name, value, factor in zip(names, values, factors, strict=True)}
    return replace(question, limits=limits(unit, **near))


NINE = [f"{metric}_p{percentile}" for metric in ("ttft", "tbt", "e2e") for percentile in (50, 90, 99)]
