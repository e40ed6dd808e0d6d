"""Simulations that end once a miss is certain: no verdict changes, and what was not seen is not made up."""

from __future__ import annotations

import numpy as np
from hypothesis import given

from provisioner.domain.failures import Failures
from provisioner.search import Judge, Precision
from tests.search.questions import Question, examples, questions, shipped


@given(questions(replications=(1, 3)))
@examples(60)
def test_screening_changes_no_verdict_and_gives_lower_bounds(question: Question) -> None:
    for judge, cluster in question.clusters:
        screened, whole = judge.screen(cluster), judge.evaluate(cluster, whole=True)
        assert screened.is_feasible == whole.is_feasible
        assert screened.replications <= whole.replications
        if whole.is_feasible:
            assert screened.is_whole
        if screened.replications == whole.replications:
            for seen, achieved in zip(screened.results, whole.results, strict=True):
                assert np.isnan(seen.value) or seen.value <= achieved.value * (1 + 1e-9)


def test_a_hopeless_cluster_is_not_simulated_to_its_end() -> None:
    (judge,) = shipped("HH", rate_rps=20.0, span_s=60.0, replications=2)
    cluster = judge.cluster(6, 2)
    screened, whole = judge.screen(cluster), judge.evaluate(cluster)
    assert not screened.is_feasible
    assert not whole.is_feasible
    assert whole.is_whole
    assert not screened.is_whole
    assert screened.headroom < 0.0


def test_with_failures_every_simulation_runs_to_its_end() -> None:
    """A request that starts anew takes its first token back: nothing counted before is certain."""
    (judge,) = shipped("HH", rate_rps=20.0, span_s=60.0, replications=2)
    failing = Judge(judge.design, judge.scenario, judge.precision, Failures.of([(10.0, 0)]))
    assert failing.screen(failing.cluster(6, 2)).is_whole


def test_in_full_nothing_is_stopped() -> None:
    (judge,) = shipped("HH", rate_rps=20.0, span_s=60.0, replications=2)
    in_full = Judge(judge.design, judge.scenario, Precision(replications=2, in_full=True))
    cluster = judge.cluster(6, 2)
    assert in_full.screen(cluster) == judge.evaluate(cluster)
