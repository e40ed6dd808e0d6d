"""Why a fleet is as it is: what its limits cost it, which of them contradict each other, who would have to go first.

Everything here is found by solving the program again under other limits, so it is as exact as the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from math import comb

from provisioner.fleet.answer import Dropped, LimitUse, Raise
from provisioner.fleet.problem import Offer, Problem
from provisioner.fleet.solving import Effort, Solution, Solver

FULL_SHARE = 1 - 1e-9
TINY = 1e-9
MOST_SUBSETS = 2000
"""Sets of limits tried for the smallest; beyond, one that is only irreducible is named."""
RATIONS = tuple(tenth / 10 for tenth in range(10, 0, -1))


def smallest_conflict(names: Sequence[str], is_feasible: Callable[[Sequence[str]], bool]) -> tuple[str, ...]:
    """The fewest limits that nothing can meet together; of equals the one that is listed first.

    So none of them can be left out. Where there are too many sets to try, an irreducible one by leaving out
    limits one at a time.
    """
    tried = 0
    for size in range(len(names) + 1):
        tried += comb(len(names), size)
        if tried > MOST_SUBSETS:
            break
        for kept in combinations(names, size):
            if not is_feasible(kept):
                return kept
    kept = tuple(names)
    for name in names:
        without = tuple(other for other in kept if other != name)
        if not is_feasible(without):
            kept = without
    return kept


def conflict(problem: Problem, capacities: Mapping[str, float], effort: Effort) -> tuple[LimitUse, ...]:
    """The smallest set of contradicting limits, each with the least value that would do, all others kept."""
    names = smallest_conflict(
        list(capacities), lambda kept: Solver(problem, {name: capacities[name] for name in kept}, effort).is_feasible()
    )
    found = []
    for name in names:
        solver = Solver(problem, {other: most for other, most in capacities.items() if other != name}, effort)
        measure = solver.program.measures[name]
        least = solver.best("min", measure.expression)
        enough = Raise(to=measure.amount(least.value), gain=None) if least.is_found else None
        found.append(LimitUse(name=name, unit=measure.unit, limit=capacities[name], used=None, enough=enough))
    return tuple(found)


def limit_uses(
    problem: Problem, capacities: Mapping[str, float], solution: Solution, effort: Effort
) -> tuple[LimitUse, ...]:
    """What is used of each limit, and what raising it would buy; `solution` is proven the best."""
    return tuple(_use(problem, capacities, name, solution, effort) for name in capacities)


def _use(problem: Problem, capacities: Mapping[str, float], name: str, solution: Solution, effort: Effort) -> LimitUse:
    limit = capacities[name]
    solver = Solver(problem, {other: most for other, most in capacities.items() if other != name}, effort)
    sense, goal = solver.goal
    measure = solver.program.measures[name]
    best = round(solution.value * goal.scale)
    solver.bound(sense, goal.expression, best - 1 if sense == "min" else best + 1)
    least = solver.best("min", measure.expression)
    use = LimitUse(name=name, unit=measure.unit, limit=limit, used=solution.used[name])
    if not least.is_found:
        return use

    def gain(most: float) -> float:
        found = Solver(problem, {**capacities, name: most}, effort).optimum()
        return abs(found.value - best) / goal.scale if found.is_found else 0.0

    enough = measure.amount(least.value)
    return replace(
        use,
        one_more=gain(limit + 1) if enough <= limit + 1 + TINY else 0.0,
        enough=Raise(to=enough, gain=gain(enough)),
    )


def dropped_first(
    problem: Problem, capacities: Mapping[str, float], rationed: str, amount: float, effort: Effort
) -> tuple[Dropped, ...]:
    """Which services would have to go, in order, if less and less of one thing could be had.

    Services are served whole or not at all, for the most weighted requests; `amount` is what can be had at first.
    """
    whole = replace(problem, minimize=None, maximize="throughput", offers=tuple(map(_whole, problem.offers)))
    found: dict[str, float] = {}
    for part in RATIONS:
        picks = Solver(whole, {**capacities, rationed: part * amount}, effort).settled(2).picks
        for offer, pick in zip(problem.offers, picks, strict=False):
            if pick is None:
                found.setdefault(offer.service, part)
    return tuple(Dropped(service=service, at=part) for service, part in found.items())


def _whole(offer: Offer) -> Offer:
    return replace(offer, options=tuple(option for option in offer.options if offer.share(option) >= FULL_SHARE))
