"""What the catalog holds, as rows and as figures. The shipped machines are those of Splitwise's Table I."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from provisioner.domain.slo import Limit, SloSet
from provisioner.report.figures import Bars, Lines
from provisioner.report.figures.catalog import of_catalog
from provisioner.report.listing import lengths, rows
from provisioner.traces import SizeTable
from tests.cli.runs import Provision
from tests.report.made import BIG, MIXED, SMALL, SPLIT, Elements


def test_machines_stand_side_by_side_relative_to_the_largest() -> None:
    (figure,) = of_catalog({"machines": {"big": BIG, "small": SMALL}})
    assert isinstance(figure, Bars)
    assert figure.groups == ("Cost (USD/h)", "Power (kW)", "GPU memory (GB)", "Interconnect (GB/s)")
    assert figure.series[1].values == pytest.approx((20 / 40, 6 / 10, 1, 1))
    assert figure.series[1].texts == ("20", "6", "640", "25")


def test_a_design_has_the_machine_of_each_pool_and_a_mixed_one_serves_both() -> None:
    split, mixed = rows({"Split": SPLIT, "Mixed": MIXED})
    assert (split["prompt_machine"], split["token_machine"], split["is_mixed"]) == ("big", "small", False)
    assert (mixed["prompt_machine"], mixed["token_machine"], mixed["is_mixed"]) == ("big", "big", True)
    (figure,) = of_catalog({"designs": {"Split": SPLIT, "Mixed": MIXED}})
    assert isinstance(figure, Bars)
    assert figure.series[0].values == pytest.approx((1, 0.5, 1, 0.6))


def test_objectives_of_sets_are_compared_only_in_the_same_unit() -> None:
    slow = SloSet(name="slow", limits=(Limit(metric="ttft", percentile=99, limit=6.0),))
    seconds = SloSet(name="seconds", limits=(Limit(metric="ttft", percentile=99, limit=2.0, unit="s"),))
    (figure,) = of_catalog({"slos": {"slow": slow, "seconds": seconds}})
    assert isinstance(figure, Bars)
    assert figure.groups == ("TTFT P99, slowdown", "TTFT P99, seconds")
    assert figure.series[0].values[0] == 1
    assert np.isnan(figure.series[0].values[1])


def test_lengths_of_workloads_are_distribution_functions() -> None:
    table = SizeTable(np.array([10, 10, 30]), np.array([1, 2, 2]), np.array([1, 2, 1]))
    prompt, output = lengths(table)
    assert (prompt.values.tolist(), prompt.counts.tolist()) == ([10, 30], [3, 1])
    assert (output.values.tolist(), output.counts.tolist()) == ([1, 2], [1, 3])
    (figure,) = of_catalog({"workloads": {"mine": table}})
    assert isinstance(figure, Lines)
    assert figure.panels[0].series[0].y.tolist() == [0.75, 1.0]


def test_names_alone_are_nothing_to_draw() -> None:
    assert of_catalog({"presets": {"p": None}, "machines": {}}) == ()
    assert rows({"p": None}) == [{"name": "p"}]


def test_list_has_the_same_in_every_file(provision: Provision, folder: Path) -> None:
    pytest.importorskip("matplotlib", reason="figures are drawn with the extra [plot]")
    pytest.importorskip("vl_convert", reason="pages are written with the extra [report]")
    run = provision("list", "machines", "--csv", "a.csv", "--json", "a.json", "--plot", "a.svg", "--report", "a.html")
    assert (run.code, run.out, run.err) == (0, "dgx-a100\ndgx-h100\ndgx-h100-cap\n", "")
    machines = json.loads((folder / "a.json").read_text())["catalog"]["machines"]
    assert machines[0]["cost_usd_per_h"] == 17.68
    heads, first, *_ = (folder / "a.csv").read_text().splitlines()
    assert heads == ",".join(machines[0])
    assert first == ",".join(map(str, machines[0].values()))
    assert "Interconnect (GB/s)" in (folder / "a.svg").read_text(encoding="utf-8")
    assert "interconnect (GB/s)" in Elements((folder / "a.html").read_text(encoding="utf-8")).text


def test_list_of_everything_reports_every_kind(provision: Provision, folder: Path) -> None:
    pytest.importorskip("vl_convert", reason="pages are written with the extra [report]")
    values = "gpus: 8, hbm_bytes: 1, interconnect_bytes_per_s: 1, transfer_residue_s: 0, cost_usd_per_h: 0, power_kw: 0"
    Path("designs").mkdir()
    Path("designs/machines.yaml").write_text(f'"<script>alert(1)</script>\\u202e": {{{values}}}\n')
    run = provision("list", "--report", "a.html", "--json")
    assert run.code == 0, run.err
    assert set(run.answer["catalog"]) == {
        "designs", "machines", "models", "workloads", "slos", "profiles", "presets",
    }  # fmt: skip
    elements = Elements((folder / "a.html").read_text(encoding="utf-8"))
    assert elements.count("table") == 7
    assert elements.count("script") == 3
    assert "<script>alert(1)</script>" in elements.text
    assert "\u202e" not in elements.text


def test_nothing_to_plot_is_said(provision: Provision, folder: Path) -> None:
    run = provision("list", "presets", "--plot", "a.png")
    assert run.code == 0
    assert run.notes == ["note: nothing to plot: a.png is not written"]
    assert not (folder / "a.png").exists()


def test_every_fault_of_every_entry_is_told_where_values_are_asked_for(provision: Provision, folder: Path) -> None:
    (folder / "slos").mkdir()
    for name in ("one", "two"):
        (folder / "slos" / f"{name}.yaml").write_text("limits: []\n")
    assert provision("list", "slos").code == 0
    run = provision("list", "slos", "--json")
    assert run.code == 2
    assert "one.yaml" in run.err
    assert "two.yaml" in run.err
    assert run.out == ""
