"""Objectives in seconds, per token and as goodput: times laid out by hand, and clusters that meet them or not."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from provisioner.catalog import Catalog
from provisioner.domain.slo import Bound, Goodput, Limit, SloSet
from provisioner.domain.trace import RequestTrace
from provisioner.errors import InputError
from provisioner.metrics import Latencies, Yardstick, slo_results
from tests.sim.worlds import performance

# Four requests of 100, 200, 100 and 100 prompt tokens and 11, 11, 1 and 21 output tokens.
TRACE = RequestTrace(np.arange(4.0), np.array([100, 200, 100, 100]), np.array([11, 11, 1, 21]))
TIMES = Latencies(
    ttft=np.array([0.1, 0.4, 0.3, 0.2]),
    tbt=np.array([0.05, 0.02, math.nan, 0.03]),
    e2e=np.array([0.6, 0.6, 0.3, 0.8]),
)


def values(limits: tuple[Limit, ...] = (), goodput: Goodput | None = None, since_s: float = 0.0) -> tuple[float, ...]:
    slo = SloSet(name="s", goodput=goodput, **({"limits": limits} if limits else {}))
    return Yardstick(slo, TRACE, performance(), since_s).values_of(TIMES)


def joint(share: float, *bounds: tuple[Any, float, Any]) -> Goodput:
    limits = tuple(Bound(metric=metric, limit=limit, unit=unit) for metric, limit, unit in bounds)
    return Goodput(share=share, limits=limits)


def test_seconds_per_token_divide_by_the_request_s_own_tokens() -> None:
    """TTFT 1, 2, 3 and 2 ms a prompt token; E2E 600/11, 600/11, 300 and 800/21 ms an output token."""
    found = values(
        (
            Limit(metric="ttft", percentile=50, limit=1, unit="s_per_token"),
            Limit(metric="e2e", percentile=50, limit=1, unit="s_per_token"),
            Limit(metric="tbt", percentile=50, limit=1, unit="s_per_token"),
        )
    )
    assert found == pytest.approx((0.002, 0.6 / 11, 0.03))


def test_goodput_counts_requests_that_meet_all_limits_jointly() -> None:
    """TTFT up to 0.3 s is met by 1, 3 and 4; TBT up to 40 ms by 2, 3 (it has none) and 4: jointly by 3 and 4."""
    assert values(goodput=joint(0.5, ("ttft", 0.3, "s"), ("tbt", 0.04, "s"))) == (0.5,)
    assert values(goodput=joint(0.5, ("ttft", 0.3, "s"))) == (0.25,)
    assert values(goodput=joint(0.5, ("e2e", 0.3, "s_per_token"), ("ttft", 1.0, "s"))) == (0.0,)


def test_goodput_may_mix_units_and_leave_out_a_warm_up() -> None:
    """A prompt takes 1 ms a token alone: slowdowns of TTFT are 1, 2, 3 and 2."""
    bounds = (("ttft", 2.0, "slowdown"), ("tbt", 0.04, "s"))
    assert values(goodput=joint(0.5, *bounds)) == (0.5,)
    assert values(goodput=joint(0.5, *bounds), since_s=1.0) == pytest.approx((1 / 3,))
    assert math.isnan(values(goodput=joint(0.5, *bounds), since_s=9.0)[0])


def test_a_request_that_never_finishes_misses() -> None:
    never = Latencies(TIMES.ttft, np.array([0.05, 0.02, math.nan, math.inf]), TIMES.e2e)
    slo = SloSet(name="s", goodput=joint(0.5, ("tbt", 1.0, "s")))
    assert Yardstick(slo, TRACE, performance()).values_of(never) == (0.25,)


def test_the_share_that_misses_is_judged_against_what_may_miss() -> None:
    slo = SloSet(name="s", goodput=joint(0.99, ("ttft", 0.3, "s")))
    met, exactly, missed = (slo_results(slo, [(value,)])[0] for value in (0.005, 0.01, 0.011))
    assert (met.verdict, exactly.verdict, missed.verdict) == ("met", "met", "missed")
    assert (met.limit.limit, met.headroom, missed.limit.name) == (0.01, pytest.approx(0.5), "goodput_p99")


def test_limits_and_goodput_stand_side_by_side() -> None:
    limit = Limit(metric="ttft", percentile=50, limit=1, unit="s")
    slo = SloSet(name="s", limits=(limit,), goodput=joint(0.9, ("tbt", 2.0, "slowdown")))
    assert [objective.name for objective in slo.objectives] == ["ttft_p50", "goodput_p90"]
    assert slo.needs_reference
    assert not SloSet(name="s", limits=(limit,)).needs_reference


@pytest.mark.parametrize("share", [0.0, 1.0, -0.1, 99.0])
def test_a_share_is_between_none_and_all(share: float) -> None:
    with pytest.raises(ValidationError):
        joint(share, ("ttft", 1.0, "s"))


def test_the_shipped_sets_are_in_seconds_and_as_published() -> None:
    """MLPerf Inference v5.0, Llama 2 70B Interactive: 450 and 40 ms; DistServe, table 1: 125 and 200 ms for 90 %."""
    catalog = Catalog.open()
    chat, code = catalog.slo("interactive-chat"), catalog.slo("code-completion")
    assert [(limit.metric, limit.percentile, limit.limit) for limit in chat.limits] == [
        ("ttft", 99, 0.45),
        ("tbt", 99, 0.04),
    ]
    assert code.goodput is not None
    assert (code.goodput.share, [bound.limit for bound in code.goodput.limits]) == (0.9, [0.125, 0.2])
    assert chat.units == code.units == {"s"}


@pytest.mark.parametrize(
    ("text", "field", "problem"),
    [
        ("tbt_counts_first_token: true\n", None, "gives neither limits nor a goodput"),
        ("goodput: {share: 1, limits: [{metric: ttft, limit: 1}]}\n", "goodput.share", "must be below 1"),
        ("goodput: {share: 0.9}\n", "goodput.limits", "is missing"),
        ("goodput: {share: 0.9, limits: []}\n", "goodput.limits", "must not be empty"),
        (
            "goodput: {share: 0.9, limits: [{metric: ttft, limit: 1, percentile: 9}]}\n",
            "goodput.limits.0.percentile",
            "is no known field",
        ),
    ],
)
def test_a_bad_file_says_where(tmp_path: Path, text: str, field: str | None, problem: str) -> None:
    (tmp_path / "s.yaml").write_text(text)
    with pytest.raises(InputError) as caught:
        Catalog.open(cwd=tmp_path).slo("s.yaml")
    (fault,) = caught.value.faults
    assert (fault.field, fault.problem) == (field, problem)
