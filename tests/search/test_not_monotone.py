"""More machines are not always better: the search must not assume so.

More prompt machines hand requests to the token machines in larger bursts, so that a cluster may pass where the
same with one machine more does not.
"""

from __future__ import annotations

import pytest

from provisioner.search import Evaluation, Workers, minimise
from tests.search.questions import REFERENCE, Question, grid, limits, passing, poisson, shipped, simple
from tests.sim.worlds import performance


def small() -> Question:
    """Twenty requests in two seconds; decodes slow down with the batch."""
    model = performance(prefill=((1, 0.001), (1000, 1.0)), decode=((1, 0.05), (10, 0.1)), mixed_factor=1.1)
    return simple(
        models={"box": model, REFERENCE: model},
        traces=(poisson(52, 20, 12.0, prompt=300, output=8),),
        span_s=2.0,
        limits=limits(tbt_p90=2.1),
        max_machines=7,
    )


def test_small_passing_clusters_that_fail_with_one_machine_more() -> None:
    question = small()
    (judge,) = question.judges
    passes = {evaluation.cluster.counts for evaluation in passing(question)}
    failing = {cluster.counts for cluster in grid(judge, 7)} - passes
    assert (2, 1) in passes
    assert {(4, 1), (5, 1), (6, 1)} <= failing
    plan = question.answer()
    assert plan.best is not None
    assert plan.best.cluster.counts == (2, 1)
    assert plan.equally_good == 0


def test_shipped_five_prompt_machines_pass_where_six_do_not() -> None:
    """Splitwise-HH, coding at 10 RPS for ten seconds, with room in TTFT: 5+1 meets TBT P90, 6+1 misses it."""
    (judge,) = shipped("HH", rate_rps=10.0, span_s=10.0, replications=2, ttft_p99=8.0)
    five, six = (judge.evaluate(judge.cluster(prompt, 1), whole=True) for prompt in (5, 6))
    assert five.is_feasible
    assert not six.is_feasible
    assert six.is_stable
    assert missed(six) == ["tbt_p90"]
    with Workers() as workers:
        plan = minimise([judge], "cost", max_machines=12, workers=workers)
    assert plan.status == "optimal"
    assert plan.best is not None
    assert plan.best.cluster.label == "5P+1T"
    by_hand = [c.label for c in grid(judge, 6) if judge.evaluate(c, whole=True).is_feasible]
    assert by_hand == ["5P+1T"]


@pytest.mark.parametrize("max_machines", [6, 7, 8, 12])
def test_shipped_a_wider_search_has_the_same_answer(max_machines: int) -> None:
    (judge,) = shipped("HH", rate_rps=10.0, span_s=10.0, replications=2, ttft_p99=8.0)
    with Workers() as workers:
        plan = minimise([judge], "machines", max_machines=max_machines, workers=workers)
    assert plan.best is not None
    assert plan.best.cluster.label == "5P+1T"


def missed(evaluation: Evaluation) -> list[str]:
    return [result.limit.name for result in evaluation.results if not result.met]
