"""The page without a browser: nothing is fetched, nothing escapes, and what JSON and CSV have is in it."""

from __future__ import annotations

import base64
import hashlib
import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("vl_convert", reason="pages are written with the extra [report]")

from provisioner.report import answer
from provisioner.report.figures import Axis, BarSeries, Front, HeatMaps, Lines, Panel, Series, choice, curve
from provisioner.report.html import page
from provisioner.report.html.charts import chart, remark
from provisioner.report.html.charts.common import colours, shapes
from provisioner.report.html.element import data, element
from provisioner.search import Plan
from tests.report.examples import COMMAND, GRID, INPUTS, PLAN, figures
from tests.report.made import HOSTILE, Elements, evaluation, squeezed

KINDS = figures()


@pytest.fixture(scope="module")
def written() -> str:
    told = answer.of_plan(PLAN, INPUTS, {"minimize": "cost", "target_rps": 70.0})
    return page(told, list(KINDS.values()), answer.to_csv(GRID), COMMAND)


@pytest.fixture(scope="module")
def elements(written: str) -> Elements:
    return Elements(written)


def test_the_page_asks_for_nothing(elements: Elements) -> None:
    for _, attributes in elements.found:
        assert not set(attributes) & {"src", "href", "srcset", "action", "data", "poster", "style", "onclick", "onload"}
    policies = [a["content"] for tag, a in elements.found if tag == "meta" and a.get("http-equiv")]
    assert len(policies) == 1
    assert str(policies[0]).startswith("default-src 'none'")
    assert "unsafe-eval" not in str(policies[0])


def test_only_scripts_of_ours_may_run(elements: Elements) -> None:
    policy = next(str(a["content"]) for tag, a in elements.found if tag == "meta" and a.get("http-equiv"))
    kinds = [attributes.get("type") for tag, attributes in elements.found if tag == "script"]
    assert kinds == ["application/json", None, None]
    for script in elements.scripts[1:]:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy


def test_hostile_names_are_text(elements: Elements) -> None:
    assert elements.count("script") == 3
    assert elements.count("style") == 1
    assert "<script>alert('x')</script>" in elements.text
    for text in (elements.text, elements.scripts[0]):
        assert "\x1b" not in text
        assert "\u202e" not in text
    assert "<" not in elements.scripts[0]


def test_the_page_says_what_the_answer_says(elements: Elements) -> None:
    text = squeezed(elements.text)
    for told in (
        "optimal: every SLO is met",
        "Every cheaper cluster fails.",
        "On 20 fresh seeds, one at a time, it passes 19 times.",
        "TTFT P99 (slowdown)",
        "cost (USD/h)",
        "48 rows",
        "With provisioner 1.2.3.",
        "--target-rps 70",
    ):
        assert told in text


def test_charts_are_json_with_the_figures_data(elements: Elements) -> None:
    specs = json.loads(elements.scripts[0])
    assert len(specs) == len(KINDS)
    ids = {attributes.get("id") for _, attributes in elements.found}
    assert set(specs) <= ids


def test_each_chart_has_a_name_and_every_landmark_a_heading(elements: Elements) -> None:
    charts = [a for _, a in elements.found if a.get("class") == "chart"]
    assert len(charts) == len(KINDS)
    assert all(a["aria-label"] and a["tabindex"] == "0" for a in charts)
    labels = [a["aria-labelledby"] for tag, a in elements.found if tag == "section" and "aria-labelledby" in a]
    headings = [a["id"] for tag, a in elements.found if tag == "h2" and "id" in a]
    assert labels == headings
    assert len(set(headings)) == len(headings)


def test_a_page_of_many_rows_shows_those_that_fare_best_and_says_so() -> None:
    told = answer.of_clusters(GRID, INPUTS, {}, status="feasible")
    text = squeezed(Elements(page(told, [], answer.to_csv(GRID * 20), "provision")).text)
    assert "500 of 960 rows; CSV has all" in text


def test_an_infeasible_answer_says_why() -> None:
    plan = Plan(
        status="infeasible", best=None, evaluations=(), certificate=PLAN.certificate, reason=f"no cluster {HOSTILE}"
    )
    elements = Elements(page(answer.of_plan(plan, INPUTS, {}), [], "", "provision"))
    assert "infeasible" in elements.text
    assert "no cluster <script>" in elements.text


def values(spec: Any) -> list[dict[str, Any]]:
    """Every inline datum of a specification."""
    if isinstance(spec, dict):
        own = spec.get("data", {}).get("values", []) if isinstance(spec.get("data"), dict) else []
        return [*own, *(datum for each in spec.values() for datum in values(each))]
    return [datum for each in spec for datum in values(each)] if isinstance(spec, list) else []


def test_hovering_over_a_cell_shows_the_cluster_and_every_limit() -> None:
    cells = [datum for datum in values(chart(KINDS["heatmaps"])) if "cluster" in datum]
    assert len(cells) == 48
    cell = next(datum for datum in cells if datum["cluster"] == "1P+1T")
    assert cell["verdict"] == "misses"
    assert cell["TTFT P50 ≤ 2×"] == "4.5 of it"
    assert cell["E2E P99 ≤ 10 s"] == "never of it"
    assert cell["said"] == "1P+1T misses; the worst is never of its limit"


def test_hovering_over_a_point_of_a_front_shows_the_cluster() -> None:
    dots = [datum for datum in values(chart(KINDS["front"])) if "detail" in datum]
    assert len(dots) == 48
    assert [datum["kind"] for datum in dots].count("not dominated") == 1
    assert any("8P+6T: 14 machines, 440.00 USD/h" in datum["detail"] for datum in dots)


@pytest.mark.parametrize("kind", KINDS)
def test_specifications_are_json_without_infinities_and_name_no_address(kind: str) -> None:
    text = json.dumps(chart(KINDS[kind]), allow_nan=False)
    assert "http" not in text
    assert "\\u001b" not in text


def test_markup_is_made_only_of_elements() -> None:
    assert element("p", "a<b", class_='"x"', hidden=None) == '<p class="&quot;x&quot;">a&lt;b</p>'
    assert element("div", element("br"), None, 3) == "<div><br>3</div>"
    assert data({"a": "</script><!--\u2028"}) == '{"a":"\\u003c/script\\u003e\\u003c!--\\u2028"}'
    with pytest.raises(ValueError, match="JSON"):
        data(math.inf)


def test_a_page_of_a_large_sweep_stays_small_and_says_what_it_leaves_out() -> None:
    found = [evaluation((p, t), (45 / p, 0.5, 30 / t, 0.5)) for p in range(1, 91) for t in range(1, 61)]
    shown = choice.of_grid(found, "t")
    cells = [datum for datum in values(chart(shown[0])) if "cluster" in datum]
    assert len(cells) == 45 * 30
    written = page(answer.of_clusters(found, {}, {}, status="feasible"), shown, answer.to_csv(found), "provision")
    assert len(written) < 3_000_000
    text = squeezed(Elements(written).text)
    assert "2 × 2 neighbouring clusters share a cell, which shows the best of them" in text
    assert "1,500 of 5,400 clusters are drawn" in text
    assert "500 of 5,400 rows; CSV has all" in text


def test_a_long_boundary_is_few_lines() -> None:
    found = [evaluation((p, t), (0.5 if p > 4 else 1.5, 0.5, 0.5, 0.5)) for p in range(1, 9) for t in range(1, 21)]
    lines = [d for d in values(chart(HeatMaps.of(found, "t"))) if d.get("limit") == "TTFT P50 ≤ 2×"]
    assert lines == [{"limit": "TTFT P50 ≤ 2×", "x": 4.5, "y": 0.5, "x2": 4.5, "y2": 20.5}]


def test_lines_of_many_points_keep_their_ends() -> None:
    x = np.arange(10_000.0)
    line = Series(label="l", x=x, y=x**2, low=x, high=x)
    axis = Axis(label="x")
    figure = Lines(title="t", panels=(Panel(title="p", x=axis, y=axis, series=(line,)),))
    points = [datum for datum in values(chart(figure)) if "line" in datum]
    assert len(points) == 2400
    assert (points[0]["x"], points[-1]["x"]) == (0, 9999)
    assert remark(figure) == "2,400 of 10,000 points are drawn"
    assert remark(KINDS["curve"]) is None


def test_series_are_told_apart_by_colour_and_shape_together() -> None:
    pairs = list(zip(colours(64), shapes(64), strict=True))
    assert len(set(pairs)) == 64


def test_bars_without_values_say_so() -> None:
    nothing = replace(KINDS["bars"], series=(BarSeries(label="a", values=(math.nan,), texts=("none",)),), groups=("g",))
    assert not nothing.has_values
    assert chart(nothing)["mark"]["text"] == "no values"


def test_the_band_of_a_scatter_is_as_wide_as_its_note_says() -> None:
    band = [datum for datum in values(chart(KINDS["scatter"])) if "at" in datum]
    # Runs from 10 ms, measured, to 100 ms, measured; within a tenth.
    assert [(d["at"], d["low"], d["high"]) for d in band] == [(10, 9, pytest.approx(11)), (100, 90, pytest.approx(110))]


def test_an_interval_that_reaches_below_zero_can_be_drawn_on_a_logarithmic_axis() -> None:
    found = [evaluation((2, 1), (1.0,) * 4, rate_rps=rate, ci_half=9.0) for rate in (10, 20)]
    rows = [datum for datum in values(chart(curve.against_load(found, "t"))) if "low" in datum]
    assert rows
    assert min(row["low"] for row in rows) > 0


def test_where_nothing_passes_the_nearest_misses_are_named_in_a_front() -> None:
    found = [evaluation((n, 1), (1 + n / 10,) * 4) for n in range(1, 9)]
    named = [datum for datum in values(chart(Front.of([], found, "t"))) if datum.get("named")]
    assert [datum["name"] for datum in named] == ["S 1P+1T", "S 2P+1T", "S 3P+1T"]
