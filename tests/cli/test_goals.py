"""Several goals in one command: the same answers as one at a time."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

from tests.cli.runs import TINY, Provision

HEAD = ("compare", "--design", "HH", "--design", "HHcap", "--design", "H100", *TINY, "--max-machines", "9")
GOALS = ("cost", "power", "machines")


def asked(*goals: str) -> list[str]:
    return [word for goal in goals for word in ("--minimize", goal)]


def test_each_goal_is_answered_as_it_is_alone(provision: Provision) -> None:
    together = provision(*HEAD, *asked(*GOALS), "--json").answer
    assert together["status"] == "feasible"
    assert together["goal"] == {"minimize": list(GOALS), "target_rps": 10.0}
    for goal in GOALS:
        alone = provision(*HEAD, *asked(goal), "--json").answer
        own = [dict(cluster) for cluster in together["clusters"] if cluster["minimize"] == goal]
        assert alone["goal"]["minimize"] == goal
        assert [{key: each[key] for key in each if key != "minimize"} for each in own] == alone["clusters"]


def test_there_is_a_table_and_a_row_of_each(provision: Provision, folder: Path) -> None:
    run = provision(*HEAD, *asked("power", "cost", "power"), "--csv", "a.csv")
    assert run.code == 0
    assert [line for line in run.out.splitlines() if line.startswith("Least")] == [
        "Least power for coding at 10 RPS",
        "Least cost for coding at 10 RPS",
    ]
    rows: list[dict[str, Any]] = list(csv.DictReader((folder / "a.csv").read_text(encoding="utf-8").splitlines()))
    assert [row["minimize"] for row in rows] == ["power"] * 3 + ["cost"] * 3
    assert [row["design"] for row in rows] == ["Splitwise-HH", "Splitwise-HHcap", "Baseline-H100"] * 2


def test_one_goal_is_not_named_with_each_cluster(provision: Provision, folder: Path) -> None:
    run = provision(*HEAD, "--minimize", "cost", "--csv", "a.csv", "--json")
    assert all("minimize" not in cluster for cluster in run.answer["clusters"])
    assert "minimize" not in (folder / "a.csv").read_text(encoding="utf-8")


def test_what_has_no_answer_is_said_once(provision: Provision) -> None:
    run = provision(*HEAD[:7], *TINY, "--max-machines", "2", *asked(*GOALS), "--json")
    assert run.code == 3
    assert run.answer["status"] == "infeasible"
    assert len([line for line in run.notes if "Splitwise-HH:" in line]) == 1


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (asked("cost", "speed"), "error: --minimize: unknown objective (got 'speed'); allowed: cost, power, machines"),
        ([*asked("cost"), "--maximize", "throughput"], "ask two questions at once"),
        (["--cluster", "2,2", *asked("cost", "power")], "given clusters are not searched for"),
    ],
)
def test_goals_that_cannot_be_are_told(provision: Provision, options: list[str], told: str) -> None:
    run = provision("compare", "--design", "HH", *TINY, *options)
    assert run.code == 2
    assert run.out == ""
    assert told in run.err


def test_a_report_has_all_of_them(provision: Provision, folder: Path) -> None:
    pytest.importorskip("vl_convert", reason="pages are written with the extra [report]")
    assert provision(*HEAD, *asked("cost", "power"), "--report", "a.html", "--quiet").code == 0
    page = (folder / "a.html").read_text(encoding="utf-8")
    assert "Least cost for coding at 10 RPS" in page
    assert "Least power for coding at 10 RPS" in page
    assert "cost, power" in page


def test_a_drawing_is_of_the_first_goal_and_says_so(provision: Provision, folder: Path) -> None:
    pytest.importorskip("matplotlib", reason="drawings are made with the extra [plot]")
    run = provision(*HEAD, *asked("power", "cost"), "--plot", "a.svg")
    assert (folder / "a.svg").exists()
    assert [line for line in run.notes if "a.svg" in line] == [
        "note: a.svg shows least power only: --report FILE.html shows every goal"
    ]
