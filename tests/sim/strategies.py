"""Random small worlds for hypothesis: clusters of one to five machines, traces of up to two dozen requests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from provisioner.domain.design import Design
from provisioner.domain.scheduling import Scheduling
from provisioner.domain.trace import RequestTrace
from provisioner.perf.model import PerformanceModel
from provisioner.sim import Network, Simulation
from provisioner.sim.native import IS_PLAIN
from tests.sim.worlds import AMPLE, INSTANT, MODEL, Knots, design, machine, performance, requests

HABITS = {
    "layerwise_from_tokens": 10**9,
    "transfer_retry_s": 1.0,
    "first_token_in_prompt_kv": True,
    "strict_room": True,
    "long_prompts_wait": True,
}
"""The scheduling rules of the preset `splitwisesim`."""
ENGINE = {
    "max_batch_prompts": st.sampled_from([1, 2, 100_000]),
    "max_batch_decodes": st.sampled_from([1, 2, 100_000]),
    "cached_prompt_share": st.sampled_from([0.0, 0.3, 0.75, 1.0]),
    "max_requests_per_machine": st.sampled_from([0, 0, 1, 5]),
}
"""Rules that are not the paper's."""


def examples(number: int) -> Callable[[Any], Any]:
    """As many examples, the same ones each time; a tenth of them where the kernel is not compiled."""
    return settings(
        max_examples=max(number // 10, 10) if IS_PLAIN else number,
        suppress_health_check=[HealthCheck.too_slow],
    )


@dataclass(frozen=True, kw_only=True)
class Case:
    """A cluster and a trace."""

    design: Design
    models: tuple[PerformanceModel, ...]
    """Of each of the design's machines."""
    counts: tuple[int, ...]
    trace: RequestTrace

    @property
    def performance(self) -> dict[str, PerformanceModel]:
        return dict(zip([box.name for box in self.design.machines], self.models, strict=True))

    @property
    def network(self) -> Network:
        return Network.of(self.design, MODEL, self.performance)

    def simulate(self, trace: RequestTrace | None = None) -> Simulation:
        first, second = (*self.counts, 0)[:2]
        return self.network.simulate(first, second, self.trace if trace is None else trace)

    def __repr__(self) -> str:
        rows = zip(
            self.trace.arrival_s.tolist(),
            self.trace.prompt_tokens.tolist(),
            self.trace.output_tokens.tolist(),
            strict=True,
        )
        models = [(model.to_dict()["prefill"], model.to_dict()["decode"], model.mixed_factor) for model in self.models]
        return f"Case({self.design!r}, {models}, {self.counts}, {list(rows)})"


@st.composite
def knots(draw: st.DrawFn, most: int, *, monotone: bool) -> Knots:
    """Seconds of 1 to `most` tokens or requests, neither convex nor concave; `monotone` or up and down.

    There is always a knot at 1, so that no time is negative.
    """
    xs = sorted(draw(st.sets(st.integers(2, most), max_size=4)))
    ys = draw(
        st.lists(st.sampled_from([0.001, 0.01, 0.02, 0.05, 0.1, 0.3]), min_size=len(xs) + 1, max_size=len(xs) + 1)
    )
    if monotone:
        ys.sort()
    return list(zip([1, *xs], ys, strict=True))


@st.composite
def performances(draw: st.DrawFn, *, monotone: bool = False) -> PerformanceModel:
    return performance(
        prefill=draw(knots(300, monotone=monotone)),
        decode=draw(knots(40, monotone=monotone)),
        gamma=draw(st.sampled_from([0.0, 0.0001, 0.001])),
        mixed_factor=draw(st.sampled_from([0.5, 1.0, 1.1, 2.0])),
    )


@st.composite
def schedulings(draw: st.DrawFn, *, is_mixed: bool = False) -> Scheduling:
    """Tight and wide limits, by the paper's rules or with the habits of its simulator, all or some."""
    limits: dict[str, Any] = {
        "max_batch_requests": draw(st.sampled_from([1, 2, 3, 512])),
        "max_batch_tokens": draw(st.sampled_from([1, 2, 5, 40, 100, 2048])),
        "max_passed_over": draw(st.sampled_from([1, 2, 4])),
        "max_pending_tokens": draw(st.sampled_from([0, 40, 100, 8192])),
    }
    rules: dict[str, Any] = draw(
        st.one_of(
            st.just({"layerwise_from_tokens": 30}),
            st.just(HABITS),
            st.fixed_dictionaries(
                {
                    "layerwise_from_tokens": st.sampled_from([0, 30, 1000]),
                    "transfer_retry_s": st.sampled_from([0.0, 0.05]),
                    "first_token_in_prompt_kv": st.booleans(),
                    "strict_room": st.booleans(),
                    "long_prompts_wait": st.booleans(),
                }
            ),
        )
    )
    engine = draw(st.one_of(st.just({}), st.fixed_dictionaries(ENGINE)))
    chunked_prefill = is_mixed and draw(st.booleans())
    kv_on_demand = not rules.get("first_token_in_prompt_kv", False) and draw(st.booleans())
    return Scheduling(**limits, **rules, **engine, chunked_prefill=chunked_prefill, kv_on_demand=kv_on_demand)


@st.composite
def traces(draw: st.DrawFn, most: int = 24, *, least: int = 0) -> RequestTrace:
    """Arrivals at odd times or on a grid, where many coincide; prompts up to 120 tokens, outputs up to 12."""
    n = draw(st.integers(least, most))
    gap = st.sampled_from([0.0, 0.0, 0.05, 0.1, 1.0]) if draw(st.booleans()) else st.floats(0.0, 0.3)
    gaps = draw(st.lists(gap, min_size=n, max_size=n))
    prompts = draw(st.lists(st.one_of(st.integers(1, 20), st.integers(1, 120)), min_size=n, max_size=n))
    outputs = draw(st.lists(st.integers(1, 12), min_size=n, max_size=n))
    return requests(*zip(np.cumsum(gaps).tolist(), prompts, outputs, strict=True))


@st.composite
def cases(draw: st.DrawFn, *, monotone: bool = False, ample: bool = False) -> Case:
    """Mixed machines or two pools, of one machine type or two; memory for everything, or hardly for one request."""
    pools = draw(st.integers(1, 2))
    scheduling = draw(schedulings(is_mixed=pools == 1))
    machines = [
        machine(
            f"box-{pool}",
            kv_tokens=AMPLE if ample else draw(st.sampled_from([135, 150, 200, 300, AMPLE])),
            tokens_per_s=draw(st.sampled_from([30.0, 100.0, 1000.0, INSTANT])),
            residue_s=draw(st.sampled_from([0.0, 0.01])),
        )
        for pool in range(pools)
    ]
    model = draw(performances(monotone=monotone))
    models = [model] + [draw(st.one_of(st.just(model), performances(monotone=monotone))) for _ in range(pools - 1)]
    return Case(
        design=design(machines, scheduling),
        models=tuple(models),
        counts=tuple(draw(st.integers(1, 3)) for _ in range(pools)),
        trace=draw(traces()),
    )
