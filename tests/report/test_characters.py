"""Drawings of characters: what stands where, at any width."""

from __future__ import annotations

import io
import math
from pathlib import Path

import pytest
from rich.console import Console

from provisioner.report.characters import Curves, GridMap
from tests.cli.runs import TINY, process
from tests.report.made import HOSTILE, SPLIT, evaluation

# Headroom by (prompt, token) machines.
GRID = {(2, 1): -2.0, (3, 1): -0.5, (4, 1): -0.1, (2, 2): 0.1, (3, 2): 0.15, (4, 2): 0.5}
CELLS = {counts: evaluation(counts, (1 - headroom,) * 4) for counts, headroom in GRID.items()}


def lines(drawing: GridMap | Curves, width: int = 80) -> list[str]:
    return [line.plain.rstrip() for line in drawing.lines(width)]


def test_each_cell_shows_how_far_from_its_limits_it_is() -> None:
    assert lines(GridMap(CELLS, CELLS[3, 2])) == [
        "    2  + * #",
        "    1  . x -",
        "       2 3 4",
    ]


def test_a_cell_that_was_not_simulated_is_blank() -> None:
    some = {counts: each for counts, each in CELLS.items() if counts != (3, 1)}
    assert lines(GridMap(some, None))[1] == "    1  .   -"


def test_a_cluster_that_does_not_keep_up_never_looks_as_if_it_passed() -> None:
    assert lines(GridMap({(1, 1): evaluation((1, 1), growth=0.9)}, None))[0] == "    1  -"


@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_a_map_fits_any_window(width: int) -> None:
    cells = {(p, t): evaluation((p, t), (2 - p / 100,) * 4) for p in range(1, 151) for t in range(1, 61)}
    drawn = list(GridMap(cells, None).lines(width))
    assert max(line.cell_len for line in drawn[:-1]) <= width
    assert len(drawn) <= 42
    assert "share a place" in drawn[-1].plain


def test_where_cells_share_a_place_the_best_of_them_is_shown() -> None:
    cells = {(p, 1): evaluation((p, 1), (3.0 if p != 7 else 0.5,) * 4) for p in range(1, 11)}
    assert lines(GridMap(cells, None), 11)[:2] == ["    1 ...#.", "      1 5 9"]
    assert lines(GridMap(cells, cells[8, 1]), 11)[0] == "    1 ...*."


def test_a_curve_crosses_the_line_of_the_limit_where_the_cluster_fails() -> None:
    found = [evaluation((2, 1), (ratio,) * 4, rate_rps=rate) for rate, ratio in ((10, 0.5), (20, 1.0), (30, 9.0))]
    drawn = lines(Curves(found, rows=4), 28)
    assert drawn[:5] == [
        "   4+                     a",
        "",
        "    1 ----------a----------",
        "  0.5 a",
        "      10             30 RPS",
    ]
    assert drawn[-1] == "  a S 2P+1T"


def test_clusters_have_letters_and_share_a_sign_where_they_meet() -> None:
    found = [evaluation((count, 1), (0.5,) * 4, rate_rps=rate) for count in (2, 3) for rate in (10, 20 + count)]
    drawn = lines(Curves(found, rows=3), 28)
    assert drawn[2].startswith("  0.5 &")
    assert drawn[-2:] == ["  a S 2P+1T", "  b S 3P+1T"]


def test_requests_that_never_finish_are_at_the_top() -> None:
    found = [evaluation((2, 1), (math.inf,) * 4, rate_rps=10)]
    assert lines(Curves(found), 40)[0].startswith("   4+ a")


@pytest.mark.parametrize("width", [12, 40, 120])
def test_a_window_of_any_width_shows_it(width: int) -> None:
    design = SPLIT.model_copy(update={"short": HOSTILE[:40]})
    found = [evaluation((2, 1), (0.5,) * 4, design=design, rate_rps=rate) for rate in (10, 20)]
    out = io.StringIO()
    console = Console(file=out, width=width, force_terminal=False)
    console.print(Curves(found), GridMap(CELLS, None))
    assert max(map(len, out.getvalue().splitlines())) <= width
    assert "\x1b" not in out.getvalue()
    assert "\u202e" not in out.getvalue()


@pytest.mark.parametrize(
    "command",
    [
        ("sweep", "--design", "HH", *TINY, "--prompt", "2:30", "--token", "1:2"),
        ("curve", "--design", "HH", "--cluster", "2,1", "--rps", "5:10:5", *TINY[2:]),
    ],
    ids=lambda command: command[0],
)
def test_a_narrow_terminal_that_knows_no_unicode_shows_it(folder: Path, command: tuple[str, ...]) -> None:
    changes = {"COLUMNS": "40", "PYTHONIOENCODING": "ascii", "LC_ALL": "C", "PYTHONUTF8": "0"}
    run = process(*command, cwd=folder, changes=changes)
    assert run.code == 0
    assert not run.errors
    assert run.out.isascii()
    assert max(len(line) for line in run.out.splitlines() if " 1 " in line) <= 40
