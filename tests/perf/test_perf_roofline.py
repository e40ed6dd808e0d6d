"""Roofline estimates: by hand, against limits, and against AIConfigurator where it is installed."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from provisioner.catalog import Catalog
from provisioner.domain.machine import Machine
from provisioner.domain.model import Experts, Model
from provisioner.errors import InputError
from provisioner.perf import compare
from provisioner.perf.aic import Subject, sample
from provisioner.perf.roofline import Roofline, Shares, estimate

# Ten layers, a thousand million parameters in two bytes; K and V of one head of 50: 2,000 bytes a token.
MODEL = Model(name="m", layers=10, hidden=100, kv_heads=1, head_dim=50, weights_bytes=2 * 10**9, attention_flops=4000)
# A GPU of 1e12 FLOPs and 1e11 bytes a second, and a link of 1e9.
MACHINE = Machine(
    name="x",
    gpus=2,
    hbm_bytes=10**11,
    interconnect_bytes_per_s=1e9,
    transfer_residue_s=0.0,
    cost_usd_per_h=1.0,
    power_kw=1.0,
    flops_per_s=2e12,
    hbm_bytes_per_s=2e11,
    gpu_link_bytes_per_s=1e9,
)
WHOLE = Shares(compute=1.0, memory=1.0, all_reduce_s=0.0, launch_s=0.0)


def test_a_long_prompt_is_bound_by_computing() -> None:
    """1,000 tokens: 2e9 x 1,000 FLOPs, and 4,000 for each of 500,000 pairs, at 1e12 a second."""
    assert Roofline(MODEL, MACHINE, 1, WHOLE).prefill_s(1000) == pytest.approx(2.0 + 0.002)


def test_a_decode_is_bound_by_memory() -> None:
    """2e9 bytes of weights and 2,000 for each of 10,000 tokens of context, at 1e11 a second."""
    assert Roofline(MODEL, MACHINE, 1, WHOLE).decode_s(4, 10_000) == pytest.approx(0.02 + 0.0002)


def test_two_gpus_share_the_work_and_talk() -> None:
    """Half the time each; in 20 all-reduces each sends 2 x 1/2 x 1,000 tokens x 100 x 2 bytes over 1e9 a second."""
    assert Roofline(MODEL, MACHINE, 2, WHOLE).prefill_s(1000) == pytest.approx((2.0 + 0.002) / 2 + 20 * 2e-4)


def test_shares_and_constants() -> None:
    shares = Shares(compute=0.5, memory=0.25, all_reduce_s=1e-3, launch_s=2e-3)
    assert Roofline(MODEL, MACHINE, 1, shares).prefill_s(1000) == pytest.approx(2 * 2.002 + 10 * 2e-3)
    assert Roofline(MODEL, MACHINE, 1, shares).decode_s(4, 10_000) == pytest.approx(4 * 0.0202 + 10 * 2e-3)
    assert Roofline(MODEL, MACHINE, 2, shares).decode_s(1, 0) == pytest.approx(
        4 * 0.01 + 20 * (1e-3 + 2e-7) + 10 * 2e-3
    )


def test_few_tokens_read_few_experts() -> None:
    """Half of the weights are eight experts, of which one token meets two."""
    mixture = MODEL.model_copy(update={"experts": Experts(count=8, per_token=2, weights_bytes=10**9)})
    assert Roofline(mixture, MACHINE, 1, WHOLE).decode_s(1, 0) == pytest.approx((1e9 + 0.25e9) / 1e11)


def test_the_law_of_the_model_fits_it_well() -> None:
    catalog = Catalog.open()
    points = estimate(Roofline(catalog.model("llama2-70b"), catalog.machine("dgx-h100"), 8))
    prefill, decode = compare(points)
    assert points.origin == "estimated"
    assert (prefill.mape, decode.mape) <= (0.01, 0.05)


def test_without_a_data_sheet_there_is_no_estimate() -> None:
    bare = MACHINE.model_copy(update={"flops_per_s": None, "gpu_link_bytes_per_s": None})
    with pytest.raises(InputError) as caught:
        Roofline(MODEL, bare, 4)
    fields = [fault.field for fault in caught.value.faults]
    assert fields == ["machines.x.flops_per_s", "machines.x.gpu_link_bytes_per_s", "--tp"]
    Roofline(MODEL, MACHINE.model_copy(update={"gpu_link_bytes_per_s": None}), 1)  # one GPU talks to nobody


@pytest.mark.skipif(find_spec("aiconfigurator_core") is None, reason="the extra [aic] is not installed")
def test_it_is_within_a_third_of_a_model_of_operators(tmp_path: Path) -> None:
    """Llama-3.1-70B on eight H100, prompts from 128 tokens; AIConfigurator is the independent source."""
    config = '{"model_type": "llama", "num_hidden_layers": 80, "hidden_size": 8192, "num_attention_heads": 64,'
    config += '"num_key_value_heads": 8, "intermediate_size": 28672, "vocab_size": 128256}'
    (tmp_path / "llama.json").write_text(config)
    catalog = Catalog.open()
    roofline = Roofline(catalog.model(str(tmp_path / "llama.json")), catalog.machine("dgx-h100"), 8)
    points = sample(Subject(model="meta-llama/Meta-Llama-3.1-70B", system="h100_sxm"), ("m", "x", 8))
    prefill = points.at(points.prefill_s > 0).at(points.at(points.prefill_s > 0).prompt_tokens >= 128)
    decode = points.at(points.decode_s > 0)
    guessed = np.array([roofline.prefill_s(n) for n in prefill.prompt_tokens])
    assert np.abs(guessed / prefill.prefill_s - 1).mean() < 0.15
    guessed = np.array([roofline.decode_s(b, c) for b, c in zip(decode.batch, decode.context_tokens, strict=True)])
    assert np.abs(guessed / decode.decode_s - 1).max() < 1 / 3 + 0.01
