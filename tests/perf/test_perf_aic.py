"""Profiles from AIConfigurator: the real package where it is installed."""

from __future__ import annotations

from importlib import metadata
from importlib.util import find_spec

import numpy as np
import pytest

from provisioner.errors import InputError
from provisioner.perf import compare
from provisioner.perf.aic import BATCHES, CONTEXTS, PROMPTS, Subject, sample

needs_package = pytest.mark.skipif(find_spec("aiconfigurator_core") is None, reason="the extra [aic] is not installed")
LLAMA = Subject(model="meta-llama/Meta-Llama-3.1-70B", system="h100_sxm")
TARGET = ("llama-3.1-70b", "dgx-h100", 8)


@needs_package
@pytest.mark.parametrize(
    ("model", "system", "parallel"),
    [
        ("meta-llama/Meta-Llama-3.1-70B", "h100_sxm", 8),
        ("meta-llama/Meta-Llama-3.1-70B", "a100_sxm", 8),
        ("Qwen/Qwen3-32B", "h200_sxm", 2),
        ("Qwen/Qwen3-30B-A3B", "h100_sxm", 2),
    ],
)
def test_the_fit_errs_by_two_percent_at_most_on_its_grid(model: str, system: str, parallel: int) -> None:
    points = sample(Subject(model=model, system=system), ("m", "x", parallel))
    assert len(points) == len(PROMPTS) + len(BATCHES) * len(CONTEXTS)
    assert points.origin == "modelled"
    assert all(phase.mape <= 0.02 for phase in compare(points))


@needs_package
def test_times_are_the_package_s_own_in_seconds() -> None:
    """Asked directly, in its milliseconds."""
    sdk = pytest.importorskip("aiconfigurator_core.sdk")
    points = sample(LLAMA, TARGET, prompts=(512,), batches=(64,), contexts=(1024,))
    engine = sdk.EngineHandle.compile(LLAMA.model, LLAMA.system, "vllm", tp_size=8, moe_tp_size=8)
    assert points.prefill_s[0] == pytest.approx(engine.run_static(batch_size=1, isl=512, osl=2)[0] / 1e3, rel=1e-6)
    assert points.decode_s[1] == pytest.approx(engine.run_static(batch_size=64, isl=1024, osl=2)[1] / 1e3, rel=1e-3)
    assert points.context_tokens[1] == 64 * 1025  # the step that makes the second token, after prompt and first
    assert np.isnan(points.decode_s[0])


@needs_package
@pytest.mark.parametrize(
    ("subject", "field"),
    [
        (Subject(model="meta-llama/Meta-Llama-3.1-7B", system="h100_sxm"), "--aic-model"),
        (Subject(model="meta-llama/Meta-Llama-3.1-70B", system="h100"), "--system"),
        (Subject(model="meta-llama/Meta-Llama-3.1-70B", system="../h100_sxm"), "--system"),
        (Subject(model="meta-llama/Meta-Llama-3.1-70B", system="h100_sxm", backend="ollama"), "--backend"),
        (Subject(model="meta-llama/Meta-Llama-3.1-70B", system="h100_sxm", expert_parallel=3), "--expert-parallel"),
    ],
)
def test_an_unknown_name_is_refused_before_anything_is_fetched(subject: Subject, field: str) -> None:
    with pytest.raises(InputError) as caught:
        sample(subject, TARGET)
    assert [fault.field for fault in caught.value.faults] == [field]


@needs_package
def test_what_the_package_refuses_is_a_fault() -> None:
    with pytest.raises(InputError, match=r"cannot model this.*divisible"):
        sample(LLAMA, ("m", "x", 7))


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", absent)
    with pytest.raises(InputError) as caught:
        sample(LLAMA, TARGET)
    assert "'.[aic]'" in str(caught.value.faults[0].allowed)
