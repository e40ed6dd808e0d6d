"""Which of equal clusters is taken, and what is said where none passes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from provisioner.domain.design import Design
from tests.search.questions import REFERENCE, Question, limits, mixed, poisson, priced, simple
from tests.sim.worlds import machine, performance, requests


def three(costs: tuple[float, ...], powers: tuple[float, ...], **changes: Any) -> Question:
    """Designs of one kind of machine each, `0`, `1`, ..., all alike but for what they cost and draw."""
    designs: list[Design] = [
        mixed(str(i), priced(machine(f"box-{i}"), cost, power))
        for i, (cost, power) in enumerate(zip(costs, powers, strict=True))
    ]
    models = {f"box-{i}": performance() for i in range(len(costs))}
    return simple(designs=tuple(designs), models={**models, REFERENCE: performance()}, **changes)


def winner(question: Question) -> str:
    plan = question.answer()
    assert plan.best is not None
    assert plan.status == "optimal"
    return plan.best.cluster.design.name


def test_of_equal_cost_the_one_with_less_power_is_taken() -> None:
    question = three((2, 2, 2), (5, 3, 4))
    assert winner(question) == "1"
    assert question.answer().equally_good == 0


def test_of_equal_power_the_one_with_less_cost_is_taken() -> None:
    assert winner(three((5, 4, 6), (2, 2, 2), objective="power")) == "1"


def test_of_equally_many_machines_the_cheaper_is_taken_and_then_the_one_with_less_power() -> None:
    assert winner(three((5, 4, 6), (1, 9, 1), objective="machines")) == "1"
    assert winner(three((5, 5, 5), (3, 2, 1), objective="machines")) == "2"


def test_sums_that_differ_only_by_rounding_tie() -> None:
    """0.1 + 0.2 and 0.3: 3 machines at 0.1 cost 0.30000000000000004, one at 0.3 costs 0.3; the one draws less."""
    slow = performance(prefill=((1, 0.003), (1000, 3.0)), decode=((1, 0.3),))
    question = replace(
        three((0.1, 0.3), (1.0, 1.0)),
        models={"box-0": slow, "box-1": performance(), REFERENCE: slow},
        traces=(poisson(4, 60, 1.0),),
        span_s=60.0,
        limits=limits(ttft_p90=1.7),
    )
    least = [replace(question, designs=(design,)).answer().best for design in question.designs]
    assert [evaluation and evaluation.cluster.machines for evaluation in least] == [3, 1]
    assert winner(question) == "1"


def test_of_clusters_equal_in_everything_the_one_with_the_most_headroom_is_taken() -> None:
    fast, slow = performance(), performance(prefill=((1, 0.002), (1000, 2.0)))
    question = replace(
        three((2, 2, 2), (3, 3, 3)),
        models={"box-0": slow, "box-1": fast, "box-2": slow, REFERENCE: slow},
        limits=limits(e2e_p50=2.0),
    )
    plan = question.answer()
    assert plan.best is not None
    assert plan.best.cluster.design.name == "1"
    assert plan.equally_good == 2


def test_headroom_counts_only_among_equals() -> None:
    """More machines would have more headroom, but cost more."""
    plan = simple(limits=limits(ttft_p50=100.0)).answer()
    assert plan.best is not None
    assert plan.best.cluster.machines == 2


def test_an_impossible_limit_is_said_at_once() -> None:
    """A prompt of 50 tokens takes 50 ms on any number of machines: nothing is simulated."""
    plan = simple(limits=limits("s", ttft_p50=0.001, e2e_p99=1000.0)).answer()
    assert (plan.status, plan.best, plan.certificate.simulated) == ("infeasible", None, 0)
    assert plan.reason is not None
    assert plan.reason.startswith("no number of machines helps")
    assert "ttft_p50" in plan.reason
    assert "e2e_p99" not in plan.reason
    assert "0.001" in plan.reason


def test_an_impossible_design_does_not_hide_a_possible_one() -> None:
    slow = performance(prefill=((1, 0.1), (1000, 100.0)))
    question = three((1, 2), (1, 1), limits=limits(ttft_p50=2.0))
    question = replace(question, models={"box-0": slow, "box-1": performance(), REFERENCE: performance()})
    assert winner(question) == "1"


def test_clusters_of_an_impossible_design_are_counted_as_excluded() -> None:
    """The proof says that every cheaper cluster was simulated or excluded: then the counts must hold them all."""
    slow = performance(prefill=((1, 0.1), (1000, 100.0)))
    question = three((1, 100), (1, 1), limits=limits(ttft_p50=2.0), max_machines=4)
    question = replace(question, models={"box-0": slow, "box-1": performance(), REFERENCE: performance()})
    plan = question.answer()
    assert plan.certificate.simulated + plan.certificate.excluded_by_bound >= 4 + 1


def test_too_few_machines_for_the_work_are_said_to_be() -> None:
    plan = simple(traces=(poisson(1, 1000, 100.0),), span_s=10.0, max_machines=3).answer()
    assert (plan.status, plan.best, plan.certificate.simulated) == ("infeasible", None, 0)
    assert plan.certificate.excluded_by_bound == 3
    assert plan.reason is not None
    assert "do the work" in plan.reason
    assert "--max-machines" in plan.reason


def test_the_limit_that_binds_and_the_nearest_miss_are_said() -> None:
    question = simple(
        traces=(poisson(1, 120, 12.0),), span_s=10.0, limits=limits(ttft_p99=1.05, e2e_p50=1000.0), max_machines=4
    )
    plan = question.answer()
    assert plan.status == "infeasible"
    assert plan.best is not None
    assert not plan.best.is_feasible
    whole = [judge.evaluate(cluster, whole=True) for judge, cluster in question.clusters]
    assert plan.best.headroom == max(evaluation.headroom for evaluation in whole if evaluation.is_stable)
    assert plan.reason is not None
    assert plan.reason.startswith("ttft_p99 binds")
    assert plan.best.cluster.label in plan.reason
    assert f"{plan.best.binding.value:.3g}" in plan.reason
    assert "1.05" in plan.reason
    assert "--max-machines (now 4)" in plan.reason


def test_a_request_that_fits_no_machine_is_said_to_be_why() -> None:
    """One of three requests never finishes: no number of machines helps, and more of them are no advice."""
    question = simple(
        designs=(mixed("one", machine("box", kv_tokens=50)),),
        traces=(poisson(3, 3, 1.0, prompt=200),),
        limits=limits(e2e_p90=1000.0),
        max_machines=2,
    )
    plan = question.answer()
    assert (plan.status, plan.best, plan.certificate.simulated) == ("infeasible", None, 0)
    assert plan.reason is not None
    assert "room for 50 tokens" in plan.reason
    assert "never finish" in plan.reason
    assert "e2e_p90" in plan.reason
    assert "--max-machines" not in plan.reason


@pytest.mark.parametrize("max_machines", [1, 0])
def test_two_pools_need_two_machines(max_machines: int) -> None:
    plan = simple(max_machines=max_machines).answer()
    assert (plan.status, plan.certificate.simulated, plan.certificate.excluded_by_bound) == ("infeasible", 0, 0)
    assert plan.reason


def test_every_simulated_cluster_is_in_the_ledger_in_the_order_of_the_ranking() -> None:
    plan = simple(limits=limits(ttft_p90=1.5)).answer()
    costs = [evaluation.cluster.cost_usd_per_h for evaluation in plan.evaluations]
    assert costs == sorted(costs)
    assert plan.best in plan.evaluations


def test_where_no_cluster_can_do_the_work_the_nearest_is_named() -> None:
    """Sixty prompts of a second each, ten seconds, one at a time: six machines' work for the three there may be."""
    question = simple(
        designs=(mixed("one", machine("box"), max_batch_requests=1),),
        traces=(requests(*((i / 6, 1000, 1) for i in range(60))),),
        span_s=10.0,
        max_machines=3,
    )
    plan = question.answer()
    assert (plan.status, plan.best, plan.certificate.simulated) == ("infeasible", None, 0)
    assert plan.reason == (
        "no cluster within the limits can do the work: one 3P/T comes nearest, "
        "with 2.00 times the work that it can do at best: raise --max-machines (now 3)"
    )
