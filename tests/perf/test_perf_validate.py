"""Validation on held-out runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from provisioner.errors import InputError
from provisioner.perf import Points, Validation, read_points, validate

DECODE_TARGET, PREFILL_TARGET, TARGET = 0.015, 0.032, 0.025


def constant(rows: int, noise: float = 0.0, **names: Any) -> Points:
    """As many runs of one shape, of which the first is off by `noise`."""
    one = np.ones(rows)
    seconds = one.copy()
    seconds[0] += noise
    fields: dict[str, Any] = {"model": "m", "machine": "box", "tensor_parallel": 8} | names
    return Points(prompt_tokens=one, batch=one, output_tokens=one, prefill_s=seconds, decode_s=one, **fields)


def test_without_noise_there_is_no_error() -> None:
    found = validate([constant(10)], splits=3)
    assert (found.prefill_mape, found.decode_mape, found.mape) == (0.0, 0.0, 0.0)
    assert (found.rows, found.left_out, found.splits, found.seed) == (10, 0, 3, 0)


def test_the_error_is_that_of_held_out_rows() -> None:
    found = validate([constant(5, noise=1.0)], splits=1000)
    # One row of five is held out; it is the odd one in a fifth of the splits, and 1 is 0.5 off from 2.
    assert found.prefill_mape == pytest.approx(0.5 / 5, abs=0.03)
    assert found.decode_mape == 0.0
    assert found.mape == pytest.approx(found.prefill_mape / 2)


def test_a_seed_fixes_the_splits_of_each_profile_whatever_its_neighbours() -> None:
    noisy, other = constant(10, noise=1.0), constant(10, noise=0.5, machine="other")
    alone, together = validate([noisy], 7, seed=3), validate([other, noisy], 7, seed=3)
    assert alone.profiles[0] == together.profiles[1]
    assert together.worst.machine == "box"
    assert validate([noisy], 7, seed=4) != alone


def test_a_phase_without_held_out_rows_has_no_error() -> None:
    points = constant(5)
    only_prefill = points.decode_s.copy()
    only_prefill[:-1] = np.nan
    with pytest.raises(InputError, match="no decode_s was measured"):
        validate([Points(**{name: getattr(points, name) for name in points.__slots__} | {"decode_s": only_prefill})])


def test_what_cannot_be_validated_is_told() -> None:
    with pytest.raises(InputError) as caught:
        validate([constant(4)])
    (fault,) = caught.value.faults
    assert (fault.problem, fault.field, fault.value, fault.allowed) == (
        "too few rows to validate",
        "m/box/tp8",
        4,
        "at least 5",
    )
    with pytest.raises(InputError, match="no measured points to validate"):
        validate([])
    with pytest.raises(InputError, match="too few splits"):
        validate([constant(5)], splits=0)


def assert_on_target(found: Validation) -> None:
    assert len(found.profiles) == 12
    assert found.decode_mape < DECODE_TARGET
    assert found.prefill_mape < PREFILL_TARGET
    assert found.mape < TARGET


def test_the_shipped_table_predicts_within_the_papers_claim(splitwise: Path) -> None:
    assert_on_target(validate(read_points(splitwise).values(), splits=5))


def test_the_public_profile_is_predicted_within_the_papers_claim(raw_profile: Path) -> None:
    found = validate(read_points(raw_profile).values(), splits=50)
    assert_on_target(found)
    assert (found.rows, found.left_out) == (1245, 15)
    parts = {(part.machine, part.tensor_parallel): part.left_out for part in found.profiles if part.left_out}
    assert parts == {("dgx-a100", 2): 5, ("dgx-h100", 2): 5, ("dgx-h100-cap", 2): 5}
