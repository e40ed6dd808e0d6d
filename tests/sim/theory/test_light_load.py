"""A single request through every shipped design takes what the bare performance model says."""

from __future__ import annotations

import numpy as np
import pytest

from provisioner.catalog import Catalog
from provisioner.domain.machine import Machine
from provisioner.domain.model import Model
from provisioner.perf import PerformanceModel, read_profiles
from provisioner.sim import Network
from tests.sim.worlds import requests

DESIGNS = ("AA", "HH", "HA", "HHcap", "A100", "H100")


def visible_s(model: Model, source: Machine, target: Machine, prefill: PerformanceModel, prompt_tokens: int) -> float:
    """Transfer time between the first and the second token, as the specification has it."""
    bandwidth = min(source.interconnect_bytes_per_s, target.interconnect_bytes_per_s)
    serial_s = prompt_tokens * model.kv_bytes_per_token / bandwidth
    if prompt_tokens < 512:
        return serial_s
    residue_s = 0.008 if "a100" in source.name + target.name else 0.005
    return min(serial_s, max(residue_s, serial_s - prefill.prefill_s(float(prompt_tokens))))


@pytest.mark.nojit
@pytest.mark.parametrize("name", DESIGNS)
@pytest.mark.parametrize("model_name", ["bloom-176b", "llama2-70b"])
def test_alone_in_every_design(name: str, model_name: str) -> None:
    catalog = Catalog.open()
    design, model = catalog.design(name), catalog.model(model_name)
    profiles = read_profiles(catalog.find_file("profiles", "splitwise"))
    performance = {box.name: profiles.get(model_name, box.name, design.tensor_parallel) for box in design.machines}
    network = Network.of(design, model, performance)
    prompt_box, token_box = design.machines[0], design.machines[-1]
    prompt, token = performance[prompt_box.name], performance[token_box.name]
    counts = (3, 0) if design.is_mixed else (2, 2)
    for prompt_tokens, output_tokens in [(100, 1), (1, 2), (511, 3), (512, 3), (1500, 13), (2048, 129), (5000, 40)]:
        simulation = network.simulate(*counts, requests((0.7, prompt_tokens, output_tokens)))
        ttft_s = prompt.prefill_s(float(prompt_tokens))
        assert simulation.first_token_s[0] - 0.7 == pytest.approx(ttft_s, rel=1e-9)
        steps_s = [token.decode_s(1.0, float(prompt_tokens + j)) for j in range(1, output_tokens)]
        moved_s = 0.0
        if output_tokens > 1 and not design.is_mixed:
            moved_s = visible_s(model, prompt_box, token_box, prompt, prompt_tokens)
        e2e_s = ttft_s + moved_s + sum(steps_s)
        assert simulation.finish_s[0] - 0.7 == pytest.approx(e2e_s, rel=1e-9)
        assert simulation.busy_s.sum() == pytest.approx(ttft_s + sum(steps_s), rel=1e-9)


@pytest.mark.nojit
def test_requests_far_apart_are_each_alone() -> None:
    # Their every time is that of the first.
    catalog = Catalog.open()
    design, model = catalog.design("HA"), catalog.model("bloom-176b")
    profiles = read_profiles(catalog.find_file("profiles", "splitwise"))
    performance = {box.name: profiles.get(model.name, box.name, design.tensor_parallel) for box in design.machines}
    trace = requests(*[(1000.0 * i, 1500, 13) for i in range(5)])
    simulation = Network.of(design, model, performance).simulate(2, 2, trace)
    for times_s in (simulation.first_token_s, simulation.finish_s):
        np.testing.assert_allclose(times_s - trace.arrival_s, times_s[0], rtol=1e-9)
