"""Names beside points: none on another, none on a point, off the line where there is room."""

from __future__ import annotations

import random
from itertools import combinations

import pytest

pytest.importorskip("matplotlib", reason="figures are drawn with the extra [plot]")

from provisioner.report.plots.names import _around, _box, _meet, placed


def test_a_falling_line_has_its_names_above_and_to_the_right() -> None:
    points = [(100.0, 300.0), (200.0, 200.0), (300.0, 100.0)]
    assert placed(points, ["AA 1P+2T"] * 3, line=points, is_rising=False) == [(7.0, 8.0)] * 3


def test_a_rising_line_has_its_names_above_and_to_the_left() -> None:
    points = [(100.0, 100.0), (200.0, 200.0), (300.0, 300.0)]
    assert placed(points, ["AA 1P+2T"] * 3, line=points, is_rising=True) == [(-7.0, 8.0)] * 3


@pytest.mark.parametrize("seed", range(5))
def test_no_name_is_on_another_or_on_a_point(seed: int) -> None:
    chance = random.Random(seed)
    points = [(400 * chance.random(), 300 * chance.random()) for _ in range(40)]
    names = ["HHcap 24P+5T"] * 40
    found = placed(points, names, line=[], is_rising=False)
    assert sum(offset is not None for offset in found) > 5
    boxes = [_box(p, o, n) for p, o, n in zip(points, found, names, strict=True) if o is not None]
    assert not [pair for pair in combinations(boxes, 2) if _meet(*pair)]
    own = [p for p, o in zip(points, found, strict=True) if o is not None]
    for point, box in zip(own, boxes, strict=True):
        assert not [p for p in points if p != point and _meet(_around(p), box)]
