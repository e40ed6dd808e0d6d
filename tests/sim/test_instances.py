"""Machines that run several instances: the same as so many smaller machines, at the price of the whole."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from provisioner.domain.cluster import Cluster
from provisioner.domain.design import Design
from provisioner.domain.failures import Failures
from provisioner.domain.machine import Machine
from provisioner.domain.trace import RequestTrace
from provisioner.sim import Network, Simulation
from tests.sim.worlds import MODEL, performance, requests

BIG = Machine(
    name="box",
    gpus=8,
    hbm_bytes=8_000,
    usable_memory_fraction=1.0,
    interconnect_bytes_per_s=8e6,
    transfer_residue_s=0.001,
    cost_usd_per_h=40.0,
    power_kw=10.0,
    flops_per_s=8.0,
)
TRACE = requests(*((0.05 * i, 20 + 13 * i % 90, 2 + i % 7) for i in range(60)))


def design(**fields: Any) -> Design:
    return Design(name="d", short="d", **{"prompt": BIG, "token": BIG, "tensor_parallel": 2, **fields})


def served(of: Design, prompt: int, token: int, failures: Failures | None = None) -> Simulation:
    return Network.of(of, MODEL, {"box": performance()}).simulate(prompt, token, TRACE, failures)


def assert_alike(one: Simulation, other: Simulation) -> None:
    np.testing.assert_array_equal(one.first_token_s, other.first_token_s)
    np.testing.assert_array_equal(one.finish_s, other.finish_s)
    np.testing.assert_array_equal(one.token_machine, other.token_machine)


def test_a_part_of_a_machine_has_its_share_of_everything() -> None:
    quarter = BIG.part(4)
    assert (quarter.name, quarter.gpus, quarter.hbm_bytes, quarter.interconnect_bytes_per_s) == ("box", 2, 2_000, 2e6)
    assert (quarter.cost_usd_per_h, quarter.power_kw, quarter.flops_per_s) == (10.0, 2.5, 2.0)
    assert quarter.transfer_residue_s == BIG.transfer_residue_s


def test_machines_of_four_instances_serve_as_four_quarters() -> None:
    quarters = design(prompt=BIG.part(4), token=BIG.part(4))
    assert_alike(served(design(instances_per_machine=4), 1, 2), served(quarters, 4, 8))


def test_instances_may_be_what_is_counted() -> None:
    whole, single = design(instances_per_machine=4), design(instances_per_machine=4, unit="instance")
    assert_alike(served(whole, 1, 2), served(single, 4, 8))
    machines = Cluster(design=whole, prompt_machines=1, token_machines=2)
    instances = Cluster(design=single, prompt_machines=4, token_machines=8)
    for cluster, count in ((machines, 3), (instances, 12)):
        assert (cluster.machines, cluster.gpus) == (count, 24)
        assert (cluster.cost_usd_per_h, cluster.power_kw) == pytest.approx((120.0, 30.0))


def test_a_single_gpu_may_be_what_is_counted() -> None:
    gpus = design(tensor_parallel=1, instances_per_machine=8, unit="instance")
    cluster = Cluster(design=gpus, prompt_machines=3, token_machines=2)
    assert (cluster.gpus, cluster.cost_usd_per_h) == (5, pytest.approx(25.0))


def test_a_machine_fails_with_all_its_instances() -> None:
    quarters = design(prompt=BIG.part(4), token=BIG.part(4))
    lost = Failures.of([(0.5, 2)])  # the second token machine: instances 8 to 11
    assert_alike(
        served(design(instances_per_machine=4), 1, 2, lost),
        served(quarters, 4, 8, Failures.of([(0.5, number) for number in (8, 9, 10, 11)])),
    )


def test_the_memory_of_an_instance_is_its_own() -> None:
    """A request of 2,000 tokens of KV-cache fits the machine, but not a quarter of it beside the weights."""
    long = RequestTrace(np.array([0.0]), np.array([1_000]), np.array([2]))
    whole = Network.of(design(), MODEL, {"box": performance()}).simulate(1, 1, long)
    parts = Network.of(design(instances_per_machine=4), MODEL, {"box": performance()}).simulate(1, 1, long)
    assert (whole.unfinished, parts.unfinished) == (0, 1)


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"instances_per_machine": 3}, "make no 3 equal parts"),
        ({"instances_per_machine": 8}, "need more than the 8 GPUs of box"),
        ({"instances_per_machine": 0}, "greater than or equal to 1"),
        ({"unit": "rack"}, "'machine' or 'instance'"),
    ],
)
def test_instances_must_fit(fields: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        design(**fields)
