"""Explanations: the smallest conflict in few questions, and what is said when time is short."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provisioner.domain.fleet import Limits
from provisioner.fleet import Effort, Problem, plan
from provisioner.fleet.explaining import smallest_conflict
from provisioner.fleet.solving import Verdict
from tests.fleet.made import KINDS, offer, option

pytest.importorskip("ortools", reason="fleets need the extra [fleet]")
NAMES = tuple("abcdefg")


def all_sets() -> list[tuple[str, ...]]:
    return list(chain.from_iterable(combinations(NAMES, size) for size in range(len(NAMES) + 1)))


@given(conflicts=st.lists(st.sets(st.sampled_from(NAMES), min_size=1), min_size=1, max_size=4))
def test_the_smallest_conflict_is_the_first_of_all_sets(conflicts: list[set[str]]) -> None:
    def is_infeasible(kept: Sequence[str]) -> bool:
        return any(each <= set(kept) for each in conflicts)

    def verdict(kept: Sequence[str]) -> Verdict:
        return "infeasible" if is_infeasible(kept) else "optimal"

    first = next(each for each in all_sets() if is_infeasible(each))
    assert smallest_conflict(NAMES, verdict) == (first, True)


def test_few_questions_are_asked() -> None:
    """One conflict of two among 22 limits: trying all pairs would ask more than two hundred."""
    names, asked = [f"limit {n}" for n in range(22)], list[Sequence[str]]()

    def verdict(kept: Sequence[str]) -> Verdict:
        asked.append(kept)
        return "infeasible" if {"limit 4", "limit 17"} <= set(kept) else "optimal"

    assert smallest_conflict(names, verdict) == (("limit 4", "limit 17"), True)
    assert len(asked) < 3 * len(names)


def test_what_is_not_known_is_no_conflict() -> None:
    """Nothing is known of any set but that of all limits: so no smaller one is named."""
    assert smallest_conflict(NAMES, lambda _: "unknown") == (NAMES, False)


def test_without_time_it_is_said_what_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    offers = tuple(offer(f"s{n}", option(2, 1), option(0, 3), option(4, 0)) for n in range(3))
    problem = Problem(kinds=KINDS, offers=offers, limits=Limits(power_kw=33.0, machines=10), minimize="cost")
    whole = plan(problem, Effort(threads=1))
    assert whole.unexplained == ()
    assert whole.dropped_first
    monkeypatch.setattr("provisioner.fleet.explaining.Patience.is_over", True)
    short = plan(problem, Effort(threads=1))
    assert short.unexplained == ("dropped_first",)
    assert short.dropped_first == ()
    assert short.value == whole.value
