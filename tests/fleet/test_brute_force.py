"""CP-SAT's answer is the one that looking at every fleet gives, ties included; so are its explanations."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given

from provisioner.fleet import Effort, LimitUse, Problem, plan
from provisioner.fleet.program import capacities
from tests.fleet.made import Brute, problems
from tests.search.questions import examples

pytest.importorskip("ortools", reason="fleets need the extra [fleet]")
EFFORT = Effort(threads=1)


@given(problem=problems())
@examples(30)
def test_the_fleet_is_the_one_that_brute_force_finds(problem: Problem) -> None:
    brute = Brute(problem)
    fleets = sorted(brute.fleets(), key=brute.rank)
    found = plan(problem, EFFORT, explain=False)
    if not fleets:
        assert found.status == "infeasible"
        return
    assert found.status == "optimal"
    assert found.value == pytest.approx(abs(brute.value(fleets[0])), abs=1e-6)
    assert found.bound == pytest.approx(found.value, abs=1e-6)
    assert found.gap == 0
    picks = tuple(pick.option for pick in found.picks)
    assert brute.is_within(picks, None)
    if not problem.limits.racks:  # racks decide between equals before the order of services does
        assert picks == fleets[0]


@given(problem=problems())
@examples(20)
def test_conflicting_limits_are_the_fewest_and_none_can_be_left_out(problem: Problem) -> None:
    problem = replace(problem, minimize=problem.minimize or "cost", maximize=None)
    brute, names = Brute(problem), list(capacities(problem))
    found = plan(problem, EFFORT, explain=False)
    if found.is_feasible:
        assert not found.conflict
        return
    conflict = [use.name for use in found.conflict]

    def is_met(kept: list[str]) -> bool:
        if problem.limits.racks and any("racks" in name for name in kept):
            return bool(next(brute.fleets([*kept, *names_of_racks(names)]), None)) or not all_racks(kept, names)
        return next(brute.fleets(kept), None) is not None

    if any("racks" in name for name in conflict) and not all_racks(conflict, names):
        return  # some racks without a limit have room for everything
    assert not is_met(conflict)
    for size in range(len(conflict)):
        for kept in combinations(names, size):
            assert is_met(list(kept))


def names_of_racks(names: list[str]) -> list[str]:
    return [name for name in names if "racks" in name]


def all_racks(kept: list[str], names: list[str]) -> bool:
    return set(names_of_racks(names)) <= set(kept)


@given(problem=problems())
@examples(20)
def test_a_limit_buys_what_brute_force_says(problem: Problem) -> None:
    problem = replace(problem, limits=problem.limits.model_copy(update={"racks": ()}))
    found = plan(problem, EFFORT)
    for use in found.limits:
        value = found.value or 0.0
        assert use.one_more == pytest.approx(gain(problem, use, use.limit + 1, value), abs=1e-5)
        if use.enough is None:
            assert gain(problem, use, 1e6, value) == pytest.approx(0, abs=1e-5)
        else:
            assert use.enough.gain == pytest.approx(gain(problem, use, use.enough.to, value), abs=1e-5)
            assert use.enough.gain > 0
            assert gain(problem, use, use.enough.to - 1e-3, value) == pytest.approx(0, abs=1e-5)


def gain(problem: Problem, use: LimitUse, most: float, value: float) -> float:
    """How much better the goal is with another value of one limit."""
    whole = int(most + 1e-9)
    changed: dict[str, object] = {
        "cost": {"cost_usd_per_h": most},
        "power": {"power_kw": most},
        "machines": {"machines": whole},
    }.get(use.name, {"machines_of": {**problem.limits.machines_of, use.name.removeprefix("machines of "): whole}})
    brute = Brute(replace(problem, limits=problem.limits.model_copy(update=changed)))
    return abs(abs(min(map(brute.value, brute.fleets()))) - value)
