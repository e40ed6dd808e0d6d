"""What a profile's points do not tell, and how well the fit interpolates: on tables laid out by hand."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from provisioner.errors import InputError
from provisioner.perf import Points, axis_errors, compare, merged, read_points, remarks, to_csv
from provisioner.perf.points import COLUMNS, Origin

NOT = math.nan


def table(*rows: tuple[float, float, float, float, float], origin: Origin = "measured") -> Points:
    """Prompt, batch, output, prefill and decode."""
    columns = {
        name: np.array(column, np.float64) for name, column in zip(COLUMNS, zip(*rows, strict=True), strict=True)
    }
    return Points(model="m", machine="x", tensor_parallel=1, origin=origin, **columns)


def linear(prompt: float, batch: float) -> tuple[float, float, float, float, float]:
    """1 ms and 10 us a prompt token; 10 ms, 1 ms a request, 1 us a token of context. Two output tokens."""
    prefill = 0.001 + 1e-5 * prompt if batch == 1 else NOT
    return prompt, batch, 2, prefill, 0.010 + 0.001 * batch + 1e-6 * batch * (prompt + 1)


GRID = [linear(prompt, batch) for prompt in (128, 512, 1024, 2048) for batch in (1, 2, 4, 8)]


def test_sound_points_need_no_remark() -> None:
    assert remarks(table(*GRID)) == ()


def test_a_linear_machine_is_fitted_and_interpolated_exactly() -> None:
    assert [phase.mape for phase in compare(table(*GRID))] == pytest.approx([0, 0], abs=1e-9)
    assert list(axis_errors(table(*GRID)).values()) == pytest.approx([0, 0, 0], abs=1e-9)


def test_measured_and_fitted_stand_side_by_side() -> None:
    """Two times of one shape are pooled to their median; a constant fitted to 10 and 20 ms alike errs both ways."""
    prefill, decode = compare(table((100, 1, 0, 0.010, NOT), (100, 1, 0, 0.014, NOT), (100, 1, 2, NOT, 0.02)))
    assert prefill.measured_s.tolist() == pytest.approx([0.012])
    assert (prefill.phase, prefill.size.tolist()) == ("prefill", [100])
    assert (decode.phase, decode.size.tolist(), decode.context_tokens.tolist()) == ("decode", [1], [101])


def test_more_work_in_less_time_is_named() -> None:
    rows = [*GRID]
    rows[0] = (128, 1, 2, 0.0092, 0.0130)  # prefill of 512 takes 6.1 ms: a third less
    found = "; ".join(remarks(table(*rows)))
    assert "prefill is not monotone: it falls from 128 to 512 prompt tokens by 33%" in found
    assert "decode is not monotone: it falls from 1 to 2 batch at prompts of 128 by 6%" in found


def test_thin_coverage_is_named() -> None:
    found = remarks(table((1000, 1, 10, 0.05, 0.02), (1000, 100, 10, NOT, 0.05)))
    assert "prefill was measured at 1000 prompt tokens only: it is taken to last as long at any other" in found
    assert "decode was measured at 2 batch only (1, 100): the rest is extrapolated" in found
    assert any(text.startswith("no batch was measured at clearly different contexts") for text in found)


def test_a_wide_gap_is_named() -> None:
    rows = [linear(prompt, 1) for prompt in (100, 200, 3200)]
    assert "prefill has nothing between 200 and 3200 prompt tokens" in remarks(table(*rows))


def test_an_axis_of_two_values_has_no_inner_one() -> None:
    errors = axis_errors(table(*(linear(prompt, batch) for prompt in (128, 256) for batch in (1, 2, 4))))
    assert math.isnan(errors["prefill over prompt tokens"])
    assert errors["decode over batch"] == pytest.approx(0, abs=1e-9)


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    file = tmp_path / "profile.csv"
    points = table(*GRID, (100, 3, 7, NOT, 0.0123456789), origin="estimated")
    file.write_text(to_csv([points], ["a remark\nof two lines"]))
    (back,) = read_points(file).values()
    assert file.read_text().startswith("# a remark of two lines\nmodel,")
    assert (back.key, back.origin) == (points.key, "estimated")
    for column in COLUMNS:
        np.testing.assert_allclose(getattr(back, column), getattr(points, column), rtol=1e-6)


def test_profiles_join_a_file(tmp_path: Path) -> None:
    file = tmp_path / "profile.csv"
    first = table(*GRID)
    file.write_text(to_csv([first], ["of the first"]))
    assert merged(first, None) == ([first], [])
    both, kept = merged(first, file)
    assert ([len(each) for each in both], kept) == ([16, 16], ["of the first"])  # measurements add up
    with pytest.raises(InputError, match="holds measured times of m/x/tp1 already"):
        merged(table(*GRID, origin="estimated"), file)
    file.write_text(to_csv([table(*GRID, origin="modelled")]))
    assert [len(each) for each in merged(table(*GRID, origin="modelled"), file)[0]] == [16]  # a model gives way


def test_one_profile_has_one_origin(tmp_path: Path) -> None:
    file = tmp_path / "profile.csv"
    file.write_text(to_csv([table(*GRID), table(*GRID, origin="estimated")]))
    with pytest.raises(InputError) as caught:
        read_points(file)
    assert (caught.value.faults[0].problem, caught.value.faults[0].line) == ("one profile has two origins", 18)
    file.write_text(to_csv([table(*GRID)]).replace("measured", "guessed", 1))
    with pytest.raises(InputError, match="unknown origin"):
        read_points(file)
