"""The requests of the reference's grid (Splitwise-HH, coding, 70 RPS): which clusters pass, by both models."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from provisioner.domain.trace import RequestTrace
from provisioner.search import Evaluation, Judge, Workers, minimise
from provisioner.traces import read_trace
from tests.search.questions import Given, grid, shipped

REFERENCE = Path(__file__).parents[2].parent / "shared" / "reference" / "splitwisesim"
pytestmark = pytest.mark.skipif(not REFERENCE.is_dir(), reason=f"the reference's grid is not at {REFERENCE}")


def recorded() -> RequestTrace:
    return read_trace(REFERENCE / "traces" / "coding_70rps_grid.csv")


def judge(preset: str | None) -> Judge:
    trace = recorded()
    span_s = trace.span_s * len(trace) / (len(trace) - 1)
    (only,) = shipped("HH", rate_rps=len(trace) / span_s, span_s=span_s, demand=Given((trace,)), preset=preset)
    return only


def passing(by: Judge, machines: int) -> set[str]:
    of_that_size = [cluster for cluster in grid(by, machines) if cluster.machines == machines]
    return {cluster.label for cluster in of_that_size if by.evaluate(cluster).is_feasible}


def test_the_smallest_clusters_by_the_default_model_have_30_machines() -> None:
    by = judge(None)
    with Workers(2) as workers:
        plan = minimise([by], "machines", max_machines=30, workers=workers)
    assert plan.status == "optimal"
    assert plan.best is not None
    assert plan.best.cluster.machines == 30
    found = passing(by, 30)
    assert found == {"23P+7T", "24P+6T", "26P+4T", "27P+3T", "28P+2T", "29P+1T"}  # but not 25P+5T
    assert plan.best.cluster.label in found
    assert plan.equally_good == len(found) - 1
    assert not passing(by, 29)


def test_the_smallest_clusters_by_the_papers_model_have_29_machines() -> None:
    by = judge("splitwisesim")
    with Workers(2) as workers:
        plan = minimise([by], "machines", max_machines=30, workers=workers)
    assert plan.best is not None
    assert plan.best.cluster.machines == 29
    found = passing(by, 29)
    assert {"25P+4T", "27P+2T"} <= found
    assert plan.best.cluster.label in found
    assert plan.equally_good == len(found) - 1
    assert not passing(by, 28)


def test_the_same_cells_of_the_grid_pass_and_fail_by_the_papers_model() -> None:
    by = judge("splitwisesim")
    with (REFERENCE / "hh_coding_70rps_grid.csv").open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert rows
    for row in rows:
        cluster = by.cluster(int(row["prompt_machines"]), int(row["token_machines"]))
        evaluation = by.evaluate(cluster, whole=True)
        assert verdicts(evaluation) == theirs(evaluation, row), cluster.label
        for result in evaluation.results:
            assert result.value == pytest.approx(float(row[f"{result.limit.name}_slowdown"]), rel=1e-3), cluster.label
        if evaluation.is_stable:
            assert evaluation.is_feasible == all(theirs(evaluation, row))


def verdicts(evaluation: Evaluation) -> list[bool]:
    return [result.met for result in evaluation.results]


def theirs(evaluation: Evaluation, row: dict[str, str]) -> list[bool]:
    return [float(row[f"{r.limit.name}_slowdown"]) <= r.limit.limit for r in evaluation.results]
