"""Why a fleet is as it is: what its limits cost it, which of them contradict each other, who would have to go first.

Everything here is found by solving the program again under other limits, so it is as exact as the answer; or, where the
time for all explanations together runs out, it says that it is not known.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice

from provisioner.fleet.answer import Dropped, LimitUse, Raise
from provisioner.fleet.problem import Offer, Problem
from provisioner.fleet.solving import Effort, Solution, Solver, Verdict

FULL_SHARE = 1 - 1e-9
TINY = 1e-9
MOST_SUBSETS = 200_000
"""Sets of limits looked through for one that could be the smallest conflict."""
LEAST_TIME_S = 0.01
RATIONS = tuple(tenth / 10 for tenth in range(10, 0, -1))


@dataclass(frozen=True, slots=True)
class Patience:
    """Time until which explanations are looked for."""

    effort: Effort
    until: float

    @classmethod
    def of(cls, effort: Effort) -> Patience:
        """As long again as one solution may take, for everything."""
        return cls(effort, time.monotonic() + effort.time_s)

    @property
    def is_over(self) -> bool:
        """Whether nothing more is to be begun."""
        return time.monotonic() >= self.until

    def left(self) -> Effort:
        """What is left for the next solution."""
        return replace(self.effort, time_s=max(self.until - time.monotonic(), LEAST_TIME_S))


def smallest_conflict(
    names: Sequence[str], verdict: Callable[[Sequence[str]], Verdict]
) -> tuple[tuple[str, ...], bool]:
    """The fewest limits that nothing can meet together, which all together cannot; of equals the one listed first.

    A set of limits that can be met, and to which none can be added, leaves out some; every conflict has one of those.
    So candidates are the smallest sets that have one of what each such set left out, and one that is a conflict is the
    smallest. If a verdict is not known, the smallest conflict seen so far.

    Returns
    -------
    conflict
        The limits.
    is_smallest
        Whether it is known that none is smaller.
    """
    conflict, left_out = tuple(names), list[frozenset[str]]()
    sets = (kept for size in range(len(names) + 1) for kept in combinations(names, size))
    for candidate in islice(sets, MOST_SUBSETS):
        if not all(each.intersection(candidate) for each in left_out):
            continue
        kept = candidate
        found = verdict(kept)
        if found == "infeasible":
            return candidate, True
        for name in names:
            if found == "unknown":
                return conflict, False
            if name not in kept:
                more = tuple(each for each in names if each in kept or each == name)
                found = verdict(more)
                if found == "infeasible":
                    conflict = min(conflict, more, key=len)
                elif found != "unknown":
                    kept = more
        left_out.append(frozenset(names).difference(kept))
    return conflict, False


def conflict(
    problem: Problem, capacities: Mapping[str, float], patience: Patience
) -> tuple[tuple[LimitUse, ...], bool]:
    """The smallest set of contradicting limits, each with the least value that would do, all others kept.

    And whether it is known to be the smallest.
    """
    names, is_smallest = smallest_conflict(
        list(capacities),
        lambda kept: Solver(problem, {name: capacities[name] for name in kept}, patience.left()).verdict(),
    )
    found = []
    for name in names:
        solver = Solver(problem, {other: most for other, most in capacities.items() if other != name}, patience.left())
        measure = solver.program.measures[name]
        least = solver.best("min", measure.expression)
        enough = Raise(to=measure.amount(least.value), gain=None) if least.is_found else None
        is_known = least.verdict in ("optimal", "infeasible")
        found.append(
            LimitUse(name=name, unit=measure.unit, limit=capacities[name], used=None, enough=enough, is_known=is_known)
        )
    return tuple(found), is_smallest


def limit_uses(
    problem: Problem, capacities: Mapping[str, float], solution: Solution, patience: Patience
) -> tuple[LimitUse, ...]:
    """What is used of each limit, and what raising it would buy; `solution` is proven the best."""
    return tuple(_use(problem, capacities, name, solution, patience) for name in capacities)


def _use(
    problem: Problem, capacities: Mapping[str, float], name: str, solution: Solution, patience: Patience
) -> LimitUse:
    limit = capacities[name]
    solver = Solver(problem, {other: most for other, most in capacities.items() if other != name}, patience.left())
    sense, goal = solver.goal
    measure = solver.program.measures[name]
    best = round(solution.value * goal.scale)
    solver.bound(sense, goal.expression, best - 1 if sense == "min" else best + 1)
    least = solver.best("min", measure.expression)
    use = LimitUse(name=name, unit=measure.unit, limit=limit, used=solution.used[name])
    if least.verdict == "infeasible":
        return use

    def gain(most: float) -> float | None:
        found = Solver(problem, {**capacities, name: most}, patience.left()).optimum()
        return abs(found.value - best) / goal.scale if found.verdict == "optimal" else None

    enough = measure.amount(least.value)
    if least.verdict != "optimal" or (at_enough := gain(enough)) is None:
        return replace(use, is_known=False)
    one_more = gain(limit + 1) if enough <= limit + 1 + TINY else 0.0
    if one_more is None:
        return replace(use, is_known=False)
    return replace(use, one_more=one_more, enough=Raise(to=enough, gain=at_enough))


def dropped_first(
    problem: Problem, capacities: Mapping[str, float], rationed: str, amount: float, patience: Patience
) -> tuple[tuple[Dropped, ...], bool]:
    """Which services would have to go, in order, if less and less of one thing could be had.

    Services are served whole or not at all, for the most weighted requests; `amount` is what can be had at first. And
    whether that is all of them: with less time, they are those that go first.
    """
    whole = replace(problem, minimize=None, maximize="throughput", offers=tuple(map(_whole, problem.offers)))
    found: dict[str, float] = {}
    for part in RATIONS:
        solution = Solver(whole, {**capacities, rationed: part * amount}, patience.left()).settled(2)
        if patience.is_over or solution.verdict not in ("optimal", "infeasible"):
            return _in_order(found), False
        for offer, pick in zip(problem.offers, solution.picks, strict=False):
            if pick is None:
                found.setdefault(offer.service, part)
    return _in_order(found), True


def _in_order(found: Mapping[str, float]) -> tuple[Dropped, ...]:
    return tuple(Dropped(service=service, at=part) for service, part in found.items())


def _whole(offer: Offer) -> Offer:
    return replace(offer, options=tuple(option for option in offer.options if offer.share(option) >= FULL_SHARE))
