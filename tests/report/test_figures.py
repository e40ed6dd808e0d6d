"""What figures show, as data: nothing is drawn here."""

from __future__ import annotations

import io
import math
import subprocess
import sys

import numpy as np
import pytest
from rich.console import Console

from provisioner.domain.design import Design
from provisioner.perf import PerformanceModel, Points
from provisioner.report import comparison
from provisioner.report.figures import (
    Bars,
    Front,
    HeatMaps,
    Lines,
    bars,
    cdf,
    choice,
    curve,
    heatmaps,
    profile,
    scatter,
)
from provisioner.report.grid import table as grid_table
from provisioner.search import Certificate, Plan
from provisioner.search import Front as Found
from provisioner.traces.distribution import Distribution
from tests.report.made import LIMITS, MIXED, SPLIT, evaluation, machine

GRID = {
    # ratios of the four limits, by (prompt, token) machines
    (2, 1): (1.5, 0.5, 0.5, 2.0),
    (3, 1): (0.9, 0.5, 0.5, 1.2),
    (4, 1): (0.8, 0.5, 0.5, 0.9),
    (2, 3): (1.2, 0.5, 0.5, 0.7),
    (3, 3): (0.7, 0.5, 0.5, math.inf),
}
CERTIFICATE = Certificate(simulated=5, excluded_by_bound=0, elapsed_s=0.1, text="all were simulated")


def grid() -> HeatMaps:
    return HeatMaps.of([evaluation(counts, ratios) for counts, ratios in GRID.items()], "title")


def test_a_heat_map_has_each_cluster_in_its_cell_and_nothing_where_none_was_simulated() -> None:
    maps = grid()
    assert maps.prompts.tolist() == [2, 3, 4]
    assert maps.tokens.tolist() == [1, 3]
    assert maps.limits == LIMITS
    assert maps.ratios[0].tolist()[0] == pytest.approx([1.5, 0.9, 0.8])
    assert maps.ratios[3][1][:2].tolist() == pytest.approx([0.7, math.inf])
    assert maps.is_known.tolist() == [[True, True, True], [True, True, False]]
    assert maps.passes.tolist() == [[False, False, True], [False, False, False]]


def test_the_boundary_lies_between_cells_that_meet_a_limit_and_cells_that_miss_it() -> None:
    maps = grid()
    # The first limit: met from three prompt machines on, at one and at three token machines.
    # Cells meet at 2.5 and 3.5 across, at 2 down; they reach from 1 below the first row to 1 above the last.
    assert maps.boundary(0) == [((2.5, 0.0), (2.5, 2.0)), ((2.5, 2.0), (2.5, 4.0))]
    assert maps.boundary(1) == []
    # The last one: 4P+1T meets it, and 2P+3T; 3P+3T never does. Nothing is said of the cell that is not known.
    assert set(maps.boundary(3)) == {
        ((3.5, 0.0), (3.5, 2.0)),  # 3P+1T | 4P+1T
        ((2.5, 2.0), (2.5, 4.0)),  # 2P+3T | 3P+3T
        ((1.5, 2.0), (2.5, 2.0)),  # 2P+1T below 2P+3T
    }
    assert maps.boundary(None) == [((3.5, 0.0), (3.5, 2.0))]


def test_the_optimum_is_the_cheapest_that_passes_and_of_equals_the_one_of_least_power_as_in_a_search() -> None:
    found = [
        evaluation((4, 1), (0.9, 0.9, 0.9, 0.9)),  # 180 USD/h, 46 kW
        evaluation((3, 3), (0.5, 0.5, 0.5, 0.5)),  # 180 USD/h, 48 kW
        evaluation((3, 4), (0.1, 0.1, 0.1, 0.1)),
    ]
    maps = HeatMaps.of(found, "t")
    assert maps.marked == (found[0].cluster,)
    assert maps.any_passes
    assert "4P+1T, 180.00 USD/h, 46.0 kW; 3 of 3" in maps.note
    assert HeatMaps.of(found, "t", "machines").marked == (found[0].cluster,)
    assert HeatMaps.of(found, "t", "cost", found[2]).marked == (found[2].cluster,)


def test_of_equal_amounts_also_if_sums_differ_in_their_last_digit_the_most_headroom_wins() -> None:
    """1 and 5 machines at 38.08 add up to less than 2 and 4 do, by one unit in the last place."""
    alike = Design(name="Alike", short="A", prompt=machine("one", 38.08, 11.0), token=machine("one", 38.08, 11.0))
    worse = evaluation((1, 5), (0.9,) * 4, design=alike)
    better = evaluation((2, 4), (0.5,) * 4, design=alike)
    assert 38.08 + 5 * 38.08 != 2 * 38.08 + 4 * 38.08
    assert worse.cluster.cost_usd_per_h == better.cluster.cost_usd_per_h
    assert HeatMaps.of([worse, better], "t").marked == (better.cluster,)
    text = io.StringIO()
    Console(file=text, width=80).print(grid_table([worse, better], "t"))
    assert "2 of 2 pass; the cheapest: 2P+4T" in text.getvalue()


def test_where_nothing_passes_the_nearest_misses_are_marked_and_the_figure_says_so() -> None:
    found = [
        evaluation((1, 1), (3.0, 1.0, 1.0, 1.0)),
        evaluation((2, 1), (1.1, 1.0, 1.0, 1.0)),
        evaluation((3, 1), (1.2, 1.0, 1.0, 1.0)),
        evaluation((4, 1), (1.3, 1.0, 1.0, 1.0)),
        evaluation((5, 1), (0.5, 0.5, 0.5, 0.5), growth=0.5),
    ]
    maps = HeatMaps.of(found, "t")
    assert not maps.any_passes
    assert [cluster.label for cluster in maps.marked] == ["2P+1T", "3P+1T", "4P+1T"]
    assert maps.note.startswith("No cluster passes")
    assert "2P+1T (TTFT P50 10% over)" in maps.note


def test_cells_meet_half_way_between_uneven_counts() -> None:
    assert heatmaps.edges(np.array([1, 3, 7])).tolist() == [0.0, 2.0, 5.0, 9.0]
    assert heatmaps.edges(np.array([4])).tolist() == [3.5, 4.5]


def test_a_curve_has_a_panel_for_each_limit_and_a_line_for_each_cluster_in_order_of_load() -> None:
    found = [
        evaluation((2, 1), (0.5, 0.5, 0.5, 0.5), rate_rps=20, ci_half=0.25),
        evaluation((2, 1), (0.25, 0.5, 0.5, 0.5), rate_rps=10, ci_half=0.25),
        evaluation((3, 1), (0.1, 0.5, 0.5, 0.5), rate_rps=10),
    ]
    lines = curve.against_load(found, "load")
    assert [panel.title for panel in lines.panels] == [
        "TTFT P50 ≤ 2×",
        "TTFT P99 ≤ 6×",
        "TBT P50 ≤ 1.25×",
        "E2E P99 ≤ 10 s",
    ]
    assert [panel.limit for panel in lines.panels] == [2.0, 6.0, 1.25, 10.0]
    assert lines.panels[3].y.label == "Seconds"
    first, second = lines.panels[0].series
    assert (first.label, second.label) == ("S 2P+1T", "S 3P+1T")
    assert first.x.tolist() == [10, 20]
    assert first.y.tolist() == [0.5, 1.0]
    assert first.low is not None
    assert first.low.tolist() == [0.25, 0.75]
    assert second.high is not None
    assert second.high.tolist() == second.y.tolist()


def test_percentiles_stand_side_by_side_where_each_metric_has_them_all() -> None:
    assert curve.against_load([evaluation((1, 1))], "t").columns == 2


def test_mixed_machines_have_one_count_and_so_a_line() -> None:
    found = [evaluation((count, 0), (1 / count,) * 4, design=MIXED) for count in (3, 1, 2)]
    (figure, _) = choice.of_grid(found, "t")
    assert isinstance(figure, Lines)
    assert figure.panels[0].x.label == "Machines"
    assert figure.panels[0].series[0].x.tolist() == [1, 2, 3]
    assert figure.panels[0].series[0].y.tolist() == pytest.approx([2, 1, 2 / 3])


def test_a_front_tells_the_chosen_from_those_that_pass_and_those_that_miss() -> None:
    chosen, passes, misses = evaluation((2, 1)), evaluation((3, 1)), evaluation((1, 1), (2, 2, 2, 2))
    front = Front.of([chosen], [misses, passes, chosen], "t")
    assert [(p.name, p.is_front, p.passes) for p in front.points] == [
        ("S 1P+1T", False, False),
        ("S 2P+1T", True, True),
        ("S 3P+1T", False, True),
    ]
    assert [(p.x, p.y) for p in front.points] == [(60, 16), (100, 26), (140, 36)]
    assert (front.x_label, front.y_label) == ("Cost (USD/h)", "Power (kW)")
    rates = Front.of([chosen], [chosen], "t", of_rates=True)
    assert rates.points[0].y == 10
    assert rates.y_label == "Throughput (requests/s)"


def test_without_a_front_it_says_so() -> None:
    assert Front.of([], [evaluation((1, 1), (2, 2, 2, 2))], "t").note.startswith("No cluster passes")


def test_bars_are_relative_to_the_baseline() -> None:
    base = evaluation((4, 0), design=MIXED, rate_rps=20)  # 160 USD/h, 40 kW
    other = evaluation((2, 1), (2, 1, 1, 1), rate_rps=10)  # 100 USD/h, 26 kW
    figure = bars.of_designs(comparison.rows([base, other], "Baseline"), "Baseline", "t")
    assert figure.groups == ("Throughput (requests/s)", "Cost (USD/h)", "Power (kW)", "Machines")
    assert figure.series[0].values == (1, 1, 1, 1)
    assert figure.series[1].values == pytest.approx((0.5, 0.625, 0.65, 0.75))
    assert figure.series[1].texts == ("10", "100", "26", "3")
    assert figure.series[1].label == "S 2P+1T (misses an SLO)"
    assert figure.reference == "Baseline"


def test_without_the_baseline_bars_are_relative_to_the_largest() -> None:
    found = [evaluation((4, 0), design=MIXED), evaluation((2, 1))]
    figure = bars.of_designs(comparison.rows(found, "elsewhere"), "elsewhere", "t")
    assert figure.series[0].values == (1, 1, 1, 1)
    assert figure.series[1].values == pytest.approx((1, 0.625, 0.65, 0.75))
    assert "largest" in figure.reference


def test_objectives_are_shares_of_their_limits_and_misses_are_marked() -> None:
    figure = bars.of_objectives([("a", evaluation((1, 1), (0.5, 1.5, 1.0, math.inf)))], "t")
    assert figure.groups[0] == "TTFT P50 ≤ 2×"
    assert figure.series[0].values == (0.5, 1.5, 1.0, math.inf)
    assert figure.series[0].texts == ("1", "9!", "1.25", "inf!")


def test_measured_times_stand_against_those_of_the_fit() -> None:
    tokens = np.array([100.0, 200, 400, 800, 1600] * 2)
    batch = np.array([1.0, 2, 4, 8, 16] * 2)
    points = Points(
        model="m",
        machine="x",
        tensor_parallel=8,
        prompt_tokens=tokens / batch,
        batch=batch,
        output_tokens=np.zeros(10),
        prefill_s=tokens * 1e-3,
        decode_s=np.where(np.arange(10) == 0, np.nan, 0.02 + 1e-3 * batch),
    )
    ((_, (prefill,)), (_, (decode,))) = scatter.of_points([points], "t").panels
    assert prefill.label == "m on x, TP 8"
    assert prefill.fitted_s == pytest.approx(prefill.measured_s, rel=1e-6)
    assert prefill.within_band == 1.0
    assert len(prefill.measured_s) == 10
    assert len(decode.measured_s) == 9  # the one that was not measured is left out


def test_a_profile_shows_its_knots_in_milliseconds_and_decodes_at_several_contexts() -> None:
    model = PerformanceModel(
        model="m",
        machine="x",
        tensor_parallel=8,
        prefill_tokens=np.array([1.0, 100.0]),
        prefill_seconds=np.array([0.01, 0.1]),
        decode_batch=np.array([1.0, 2.0]),
        decode_seconds=np.array([0.02, 0.03]),
        gamma_s_per_token=1e-6,
    )
    prefill, decode = profile.of_model(model).panels
    assert prefill.series[0].y.tolist() == pytest.approx([10, 100])
    assert [series.label for series in decode.series] == ["context 0", "context 1,024", "context 4,096"]
    assert decode.series[1].y.tolist() == pytest.approx([20 + 1.024, 30 + 2.048])


def test_a_cdf_is_the_share_of_requests_that_are_no_longer_and_is_thinned() -> None:
    few = Distribution(np.array([1, 2, 4]), np.array([1, 2, 1]))
    (panel,) = cdf.of_distributions({"Prompt (tokens)": {"a": few}}, "t").panels
    assert panel.title == "Prompt"
    assert panel.x.label == "Prompt (tokens)"
    assert panel.series[0].x.tolist() == [1, 2, 4]
    assert panel.series[0].y.tolist() == [0.25, 0.75, 1.0]
    lengths = np.arange(1, 100_001)
    many = cdf.of_distributions({"q": {"a": Distribution(lengths, np.ones_like(lengths))}}, "t").panels[0].series[0]
    assert len(many.x) == cdf.MOST_POINTS
    assert (many.x[-1], many.y[-1]) == (100_000, 1.0)
    assert many.y == pytest.approx(many.x / 100_000)


def plan(*found: object, status: str = "optimal") -> Plan:
    return Plan(status=status, best=found[0] if found else None, evaluations=found, certificate=CERTIFICATE)  # type: ignore[arg-type]


def test_a_plan_shows_the_space_of_the_winners_design_first() -> None:
    best = evaluation((2, 1))
    shown = choice.of_plan(
        plan(best, evaluation((1, 1), (2, 2, 2, 2)), evaluation((9, 0), design=MIXED)), "Least", "cost"
    )
    assert [type(figure) for figure in shown] == [HeatMaps, Front, Bars]
    assert isinstance(shown[0], HeatMaps)
    assert shown[0].prompts.tolist() == [1, 2]
    assert shown[0].title == "Least: Split"
    assert isinstance(shown[1], Front)
    assert {point.design for point in shown[1].points} == {"S", "B"}


def test_of_a_search_over_rates_each_cluster_shows_the_highest_rate_that_it_passes() -> None:
    found = [
        evaluation((1, 1), rate_rps=5),
        evaluation((1, 1), rate_rps=8),
        evaluation((1, 1), (2, 2, 2, 2), rate_rps=9),
        evaluation((2, 1), rate_rps=7),  # dearer and slower
        evaluation((3, 1), (2, 2, 2, 2), rate_rps=20),  # passes at no rate that was tried
    ]
    (front, _) = choice.of_plan(plan(found[1], *found), "Most", None)
    assert isinstance(front, Front)
    assert [(p.name, p.y, p.is_front, p.passes) for p in front.points] == [
        ("S 1P+1T", 8, True, True),
        ("S 2P+1T", 7, False, True),
    ]


def test_where_nothing_was_simulated_there_is_nothing_to_see() -> None:
    assert choice.of_plan(plan(status="infeasible"), "t", "cost") == ()
    empty = Found(clusters=(), evaluations=(), certificate=CERTIFICATE)
    assert choice.of_front(empty, "t", of_rates=False) == ()
    assert choice.of_comparison([], [], "b", "t", "cost") == ()


def test_the_front_of_a_ledger_is_not_dominated() -> None:
    cheap = evaluation((1, 1))
    dear = evaluation((2, 1))
    same = evaluation((1, 1), (0.4, 0.4, 0.4, 0.4), rate_rps=11)
    (_, front) = choice.of_grid([dear, cheap, same], "T")
    assert isinstance(front, Front)
    assert [p.name for p in front.points if p.is_front] == ["S 1P+1T"]


def test_figures_import_no_drawing_library() -> None:
    code = (
        "import sys; import provisioner.report.figures.choice, provisioner.report.plots, provisioner.report.html;"
        "print(sorted({'matplotlib', 'vl_convert', 'pandas'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_designs_that_were_searched_show_their_spaces() -> None:
    split, mixed = evaluation((2, 1)), evaluation((3, 0), design=MIXED)
    rows = comparison.rows([split, mixed], "Baseline")
    shown = choice.of_comparison(rows, [split, mixed], "Baseline", "t", "cost")
    assert [type(figure) for figure in shown] == [Bars, Bars, Front, HeatMaps, Lines]
    given = choice.of_comparison(rows, [], "Baseline", "t", None)
    assert [type(figure) for figure in given] == [Bars, Bars]
    assert SPLIT.name in shown[3].title


def test_neighbours_share_a_cell_where_more_would_be_drawn_than_may_be() -> None:
    maps = HeatMaps.of([evaluation((p, t), (9 / p,) * 4) for p in range(1, 11) for t in range(1, 6)], "t")
    assert maps.sharing(50) == (1, 1)
    assert len(maps.cells(50)) == 50
    assert maps.sharing(15) == (3, 2)
    cells = maps.cells(15)
    assert len(cells) == 4 * 3
    # Of 1 to 3 prompt machines and 1 and 2 token machines the first with three prompt machines is the best.
    assert cells[0] == (0, 2, (0.5, 3.5, 0.5, 2.5))
    assert cells[-1] == (4, 9, (9.5, 10.5, 4.5, 5.5))


def test_a_shared_cell_shows_one_that_passes_before_one_that_is_nearer_on_some_limit_and_nothing_unknown() -> None:
    found = [evaluation((1, 1), (0.1, 0.1, 0.1, 0.1), growth=0.5), evaluation((2, 1), (0.9, 0.9, 0.9, 0.9))]
    maps = HeatMaps.of([*found, evaluation((9, 9))], "t")
    assert [(t, p) for t, p, _ in maps.cells(1)] == [(1, 2)]  # the largest, which meets all with the most to spare
    assert [(t, p) for t, p, _ in maps.cells(2)] == [(0, 1), (1, 2)]


def test_only_what_was_simulated_counts_as_drawn() -> None:
    """A search looks at a band of its grid: the corners that it leaves out take no room."""
    maps = HeatMaps.of([evaluation((n, 40 - n), (1.0,) * 4) for n in range(1, 40)], "t")
    assert maps.sharing(39) == (1, 1)
    assert maps.sharing(38) != (1, 1)
    assert len(maps.cells(38)) <= 38
