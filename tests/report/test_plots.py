"""Files of figures: each kind in each format, whatever names stand in it. Their data is tested in `test_figures`."""

from __future__ import annotations

import warnings
from itertools import pairwise
from xml.etree import ElementTree as ET

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="figures are drawn with the extra [plot]")

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from provisioner.report.figures import Axis, HeatMaps
from provisioner.report.plots import SUFFIXES, draw, image
from provisioner.report.plots.style import COLOURS, set_axis, styled
from tests.report.examples import figures
from tests.report.made import evaluation

BEGINNINGS = {".png": b"\x89PNG\r\n\x1a\n", ".svg": b"<?xml", ".pdf": b"%PDF"}
KINDS = figures()


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_drawn_and_says_nothing(kind: str, capfd: pytest.CaptureFixture[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        content = image(KINDS[kind], ".png")
    assert content.startswith(BEGINNINGS[".png"])
    assert len(content) > 5000
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_same_figure_is_the_same_file(suffix: str) -> None:
    first = image(KINDS["curve"], suffix)
    assert first.startswith(BEGINNINGS[suffix])
    assert image(KINDS["curve"], suffix) == first


@pytest.mark.parametrize("kind", KINDS)
def test_names_are_text_in_a_drawing(kind: str) -> None:
    """The file is well-formed, has no element of a name's making, and shows the name as it stands."""
    root = ET.fromstring(image(KINDS[kind], ".svg"))
    assert not list(root.iter("{http://www.w3.org/2000/svg}script"))
    shown = "".join(root.itertext())
    assert "<script>" in shown
    assert "\x1b" not in shown
    assert "\u202e" not in shown


def axes_of(figure: HeatMaps) -> list[Axes]:
    return [axes for axes in draw(figure).axes if axes.get_title(loc="left")]


def test_a_panel_of_a_heat_map_has_its_limit_in_its_title_and_its_boundary_as_a_line() -> None:
    maps = KINDS["heatmaps"]
    assert isinstance(maps, HeatMaps)
    panels = axes_of(maps)
    assert [axes.get_title(loc="left") for axes in panels] == [
        "TTFT P50 ≤ 2×", "TTFT P99 ≤ 6×", "TBT P50 ≤ 1.25×", "E2E P99 ≤ 10 s",
    ]  # fmt: skip
    drawn = [c for c in panels[0].collections if type(c).__name__ == "LineCollection"]
    assert {len(lines.get_segments()) for lines in drawn} == {len(maps.boundary(0))}
    assert np.array_equal(np.array(drawn[0].get_segments()), np.array(maps.boundary(0)))


def test_a_single_cell_is_a_heat_map_too() -> None:
    assert image(HeatMaps.of([evaluation((1, 1))], "t"), ".png")


def test_a_users_own_settings_do_not_matter() -> None:
    before = image(KINDS["bars"], ".svg")
    with mpl.rc_context({"font.size": 30, "text.usetex": True, "axes.grid": True}):
        assert image(KINDS["bars"], ".svg") == before
        assert mpl.rcParams["font.size"] == 30


def test_colours_differ_in_grey() -> None:
    """Neighbours in the order differ in lightness (CIE L*) by more than 9, so that grey print tells them apart."""

    def lightness(colour: str) -> float:
        parts = np.array([int(colour[place : place + 2], 16) for place in (1, 3, 5)]) / 255
        linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
        return float(116 * np.cbrt(linear @ [0.2126, 0.7152, 0.0722]) - 16)

    found = [lightness(colour) for colour in COLOURS]
    assert min(abs(a - b) for a, b in pairwise(found)) > 9
    assert len({round(value) for value in found}) == len(COLOURS)


@pytest.mark.parametrize("ends", [(1.0, 1.0), (0.1, 5000.0), (3.0, 40.0)])
def test_a_logarithmic_axis_has_ticks_in_plain_numbers(ends: tuple[float, float]) -> None:
    with styled():
        axes = Figure().subplots()
        axes.plot([1, 2], ends)
        set_axis(axes.yaxis, Axis(label="ms", is_log=True), list(ends))
        axes.set_ylim(ends[0] * 0.8, ends[1] * 1.3)
        labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels
    assert not any("e" in label or "$" in label for label in labels)
