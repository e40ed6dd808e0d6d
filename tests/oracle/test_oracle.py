"""The kernel does what the oracle does, and the oracle what an independent implementation did."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from provisioner.domain.design import Design
from provisioner.domain.failures import Failures
from provisioner.domain.machine import Machine as DomainMachine
from provisioner.domain.model import Model
from provisioner.domain.scheduling import Scheduling
from provisioner.domain.trace import RequestTrace
from provisioner.perf import PerformanceModel
from provisioner.sim import Network, Simulation
from tests.oracle.simulator import Kind, Machine, Request, Rules, Simulator

SPECIFICATION = Path(__file__).parents[2].parent / "shared" / "reference" / "specification"
MODEL = Model(name="m", layers=1, hidden=1, kv_heads=8, head_dim=1, kv_elements=2, bytes_per_element=1, weights_bytes=2)
"""Two bytes of KV-cache a token, and two of weights."""


def oracle(
    kinds: list[Kind], counts: list[int], requests: list[tuple[float, int, int]], rules: Rules, users: int = 0
) -> list[Request]:
    homes = ("mixed",) if len(kinds) == 1 else ("prompt", "token")
    pools = [(kind, home) for kind, home, count in zip(kinds, homes, counts, strict=True) for _ in range(count)]
    machines = [Machine(number, kind, home) for number, (kind, home) in enumerate(pools)]
    served = [Request(number, *request) for number, request in enumerate(requests)]
    Simulator(served, machines, rules, users).run()
    return served


@pytest.mark.skipif(not SPECIFICATION.is_dir(), reason="the reference results lie in ../shared, which is absent")
@pytest.mark.parametrize("case", ["HH-6p1t-llama2-70b-code_40rps", "HH-14p6t-llama2-70b-conv_40rps"])
def test_the_oracle_is_the_independent_implementation(case: str) -> None:
    """Request by request to 1e-6 s. These two have it all: overload, role changes, preemption, ageing, transfers."""
    knots = json.loads((SPECIFICATION / "knots.json").read_text())["llama2-70b/dgx-h100"]
    capacity = int((640 * 2**30 * 0.9 - 137.95e9) // 327_680)
    kind = Kind(
        list(zip(knots["prefill"]["tokens"], knots["prefill"]["seconds"], strict=True)),
        list(zip(knots["decode"]["batch"], knots["decode"]["seconds"], strict=True)),
        knots["decode"]["gamma_s_per_token"],
        knots["mixed_factor"],
        capacity,
        capacity,
        400e9 / 327_680,
        0.005,
    )
    (row,) = [r for r in csv.DictReader((SPECIFICATION / "cases.csv").read_text().splitlines()) if r["case"] == case]
    lines = (SPECIFICATION / row["trace"]).read_text().splitlines()
    trace = [(float(t), int(p), int(o)) for t, p, o in list(csv.reader(lines))[1:]]
    served = oracle([kind, kind], [int(row["prompt_machines"]), int(row["token_machines"])], trace, Rules())
    with gzip.open(SPECIFICATION / "requests" / f"{case}.csv.gz", "rt") as file:
        expected = np.array([[float(x) for x in r[1:]] for r in list(csv.reader(file))[1:]])
    np.testing.assert_allclose([(r.first_token_s, r.finish_s) for r in served], expected, atol=1e-6, rtol=0)


SIXTEENTHS = st.integers(0, 64).map(lambda n: n / 16)
"""Times that are exact in binary, few enough that many coincide."""


@st.composite
def curves(draw: st.DrawFn) -> list[tuple[float, float]]:
    """Rising points at powers of two, a sixteenth of a second apart or a multiple: every time between is exact."""
    rises = draw(st.lists(st.integers(0, 6), min_size=1, max_size=4))
    seconds = np.cumsum([1 + rises[0], *rises[1:]]) / 16
    return [(float(2**i), float(y)) for i, y in enumerate(seconds)]


@st.composite
def kinds(draw: st.DrawFn) -> Kind:
    capacity = draw(st.sampled_from([12, 20, 40, 1000]))
    return Kind(
        prefill=draw(curves()),
        decode=draw(curves()),
        gamma=draw(st.sampled_from([0.0, 1 / 256, 1 / 64])),
        mixed_factor=draw(st.sampled_from([1.0, 1.125, 1.5])),
        kv_capacity=capacity,
        kv_routable=capacity,
        kv_tokens_per_s=draw(st.sampled_from([16.0, 256.0])),
        residue_s=draw(st.sampled_from([0.0, 1 / 16])),
    )


@st.composite
def worlds(draw: st.DrawFn) -> dict[str, Any]:
    is_mixed = draw(st.booleans())
    on_demand = draw(st.booleans())
    pools = [draw(kinds())] if is_mixed else [draw(kinds()), draw(kinds())]
    requests = draw(
        st.lists(st.tuples(SIXTEENTHS, st.integers(1, 12), st.integers(1, 9)), min_size=1, max_size=30).map(sorted)
    )
    return {
        "kinds": pools,
        "counts": [draw(st.integers(1, 3)) for _ in pools],
        "requests": requests,
        "rules": Rules(
            max_batch_requests=draw(st.sampled_from([1, 2, 4, 512])),
            max_batch_tokens=draw(st.sampled_from([4, 8, 16, 2048])),
            max_batch_prompts=draw(st.sampled_from([1, 2, 100_000])),
            max_batch_decodes=draw(st.sampled_from([1, 2, 100_000])),
            cached_prompt_share=draw(st.sampled_from([0.0, 0.3, 0.75, 1.0])),
            max_requests_per_machine=draw(st.sampled_from([0, 0, 1, 5])),
            chunked_prefill=is_mixed and draw(st.booleans()),
            max_passed_over=draw(st.integers(1, 4)),
            max_pending_tokens=draw(st.sampled_from([0, 8, 24, 8192])),
            layerwise_from_tokens=draw(st.sampled_from([0, 4, 512])),
            kv_on_demand=on_demand,
            first_token_in_prompt_kv=not on_demand and draw(st.booleans()),
            long_prompts_wait=draw(st.booleans()),
            transfer_retry_s=draw(st.sampled_from([0.0, 1.0])),
        ),
    }


def kernel(
    kinds: list[Kind],
    counts: list[int],
    requests: list[tuple[float, int, int]],
    rules: Rules,
    failures: Failures | None = None,
    *,
    users: int = 0,
) -> Simulation:
    machines = [
        DomainMachine(
            name=f"box-{i}",
            gpus=1,
            hbm_bytes=2 + 2 * kind.kv_capacity,
            usable_memory_fraction=1.0,
            interconnect_bytes_per_s=2 * kind.kv_tokens_per_s,
            transfer_residue_s=kind.residue_s,
            cost_usd_per_h=1.0,
            power_kw=1.0,
        )
        for i, kind in enumerate(kinds)
    ]
    performance = {
        machine.name: PerformanceModel(
            model="m",
            machine=machine.name,
            tensor_parallel=8,
            prefill_tokens=np.array([x for x, _ in kind.prefill]),
            prefill_seconds=np.array([y for _, y in kind.prefill]),
            decode_batch=np.array([x for x, _ in kind.decode]),
            decode_seconds=np.array([y for _, y in kind.decode]),
            gamma_s_per_token=kind.gamma,
            mixed_factor=kind.mixed_factor,
        )
        for machine, kind in zip(machines, kinds, strict=True)
    }
    pools = dict(zip(("mixed",) if len(machines) == 1 else ("prompt", "token"), machines, strict=True))
    scheduling = Scheduling(**{name: getattr(rules, name) for name in Rules.__dataclass_fields__})
    network = Network.of(Design(name="d", short="d", scheduling=scheduling, **pools), MODEL, performance)
    columns = [np.array(column) for column in zip(*requests, strict=True)]
    trace = RequestTrace(columns[0].astype(np.float64), columns[1].astype(np.int64), columns[2].astype(np.int64), users)
    return network.simulate(counts[0], counts[1] if len(counts) > 1 else 0, trace, failures)


@given(worlds())
@settings(max_examples=600, suppress_health_check=list(HealthCheck))
def test_the_kernel_is_the_oracle(world: dict[str, Any]) -> None:
    served = oracle(**world)
    result = kernel(**world)
    np.testing.assert_array_equal(result.first_token_s, [request.first_token_s for request in served])
    np.testing.assert_array_equal(result.finish_s, [request.finish_s for request in served])
    np.testing.assert_array_equal(result.recomputations, [request.evictions for request in served])
