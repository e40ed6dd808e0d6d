"""Results in a notebook: frames have the columns of CSV, tables show text and no markup of a name's making."""

from __future__ import annotations

import csv
import io
import sys

import pytest

from provisioner.report.answer import to_csv
from provisioner.search import Certificate, Front, Plan
from tests.report.made import HOSTILE, SPLIT, Elements, evaluation

EVIL = SPLIT.model_copy(update={"name": HOSTILE[:80]})
FOUND = tuple(evaluation((count, 1), (2 / count,) * 4, design=EVIL) for count in range(1, 31))
BEST = FOUND[4]
CERTIFICATE = Certificate(simulated=30, excluded_by_bound=0, elapsed_s=0.1, text="all others fail")
PLAN = Plan(status="optimal", best=BEST, evaluations=FOUND, certificate=CERTIFICATE)
FRONT = Front(clusters=FOUND[1:3], evaluations=FOUND, certificate=CERTIFICATE)


def test_rows_are_those_of_csv_with_the_best_first() -> None:
    rows = PLAN.rows()
    assert len(rows) == 30
    assert rows[0]["prompt_machines"] == 5
    assert [row["prompt_machines"] for row in rows[1:4]] == [1, 2, 3]
    assert list(rows[0]) == next(csv.reader(io.StringIO(to_csv(FOUND))))
    assert [row["prompt_machines"] for row in FRONT.rows()] == [2, 3]
    assert len(BEST.rows()) == 1


def test_a_frame_has_a_row_for_each_cluster() -> None:
    pd = pytest.importorskip("pandas", reason="frames come with the extra [notebook]")
    frame = PLAN.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert len(frame) == 30
    assert frame["ttft_p50"].iloc[0] == pytest.approx(0.8)
    assert frame.query("status == 'feasible'")["cost_usd_per_h"].min() == 100.0


def test_without_pandas_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"needs pandas: pip install .\.\[notebook\]"):
        PLAN.to_frame()


@pytest.mark.parametrize("result", [PLAN, FRONT, BEST], ids=["plan", "front", "evaluation"])
def test_a_cell_shows_a_summary_and_a_table(result: Plan | Front) -> None:
    elements = Elements(result._repr_html_())
    assert elements.count("table") == 1
    assert not elements.count("script")
    assert "<script>" in elements.text


def test_a_long_table_is_cut_and_misses_are_marked() -> None:
    elements = Elements(PLAN._repr_html_())
    assert elements.count("tr") == 21
    assert "and 10 more" in elements.text
    assert "4 > 2" in elements.text  # the cluster of one prompt machine, TTFT P50
    assert "Least" not in elements.text
    assert "100.00 USD/h" not in elements.text
    assert "220.00 USD/h, 56.0 kW at 10 requests/s; all others fail" in elements.text


def test_nothing_found_is_told() -> None:
    nothing = Plan(status="infeasible", best=None, evaluations=(), certificate=CERTIFICATE, reason="no <cluster>")
    assert nothing._repr_html_() == "<p><b>infeasible: no &lt;cluster&gt;</b></p>"


def test_a_prompt_shows_the_summary_and_not_the_ledger() -> None:
    assert repr(PLAN).startswith("<Plan: optimal: ")
    assert len(repr(PLAN)) < 500
