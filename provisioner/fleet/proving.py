"""The least of a program by the hour, proven: by trying numbers of reserved machines, one type after the other.

How many machines to reserve is what makes these programs hard. With the numbers given, every hour has a fixed count
beyond which machines are dear, and HiGHS's cuts close most of what the relaxed program leaves open; with numbers to
be found it hardly gets on. So the numbers are fixed type by type, the dearest first: outwards from what the relaxed
program reserves, as far as the relaxed program with that number is below the best plan known. The relaxed least is
convex in the number, so that none further out is better either. A program with some numbers fixed is given to HiGHS
for one node, and the next type is fixed only where that does not settle it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from provisioner.fleet.linear import Found, LinearProgram, Sum, Verdict
from provisioner.fleet.solving import Effort

BETTER = 1e-3
"""Plans that would be better by less, in the unit of the goal, are not looked for."""
SMALL = 5000
"""Variables of a program that is solved before another process has started."""
Fixed = dict[int, tuple[float, float]]
Run = Callable[[Callable[[Any], Any], Iterable[int]], Iterable[Any]]
"""`map`, or that of many processes."""
NOTHING = Found(verdict="open", bound=-np.inf)


def least(linear: LinearProgram, goal: Sum, to_fix: Sequence[int], effort: Effort, *, known: float = np.inf) -> Found:
    """The best plan below `known`, the goal of one that there is; infeasible if there is none.

    `to_fix` are the variables of reserved machines, those that cost most first.
    """
    search = _Search(linear=linear, goal=goal, until=time.monotonic() + effort.time_s)
    if not to_fix:
        return search.tried({}, known, None)
    relaxed = linear.relaxed(goal, {}, effort.time_s)
    if relaxed.values is None:
        return relaxed
    first: Fixed = {variable: (round(float(relaxed.values[variable])),) * 2 for variable in to_fix}
    likely = replace(search, until=search.until - effort.time_s / 2).tried(first, np.inf, None)
    if likely.verdict != "open":
        search = replace(search, done=first)
    run = _processes(effort.threads) if effort.threads > 1 and len(linear.lower) > SMALL else map
    below = min(known, likely.value)
    found = search.split({}, list(to_fix), below, run, replace(NOTHING, bound=relaxed.bound), relaxed)
    if found.values is not None or likely.value >= known:
        return found
    return replace(likely, verdict="open" if found.verdict == "open" else "optimal", bound=found.bound)


def _processes(count: int) -> Run:
    from joblib import Parallel, delayed  # noqa: PLC0415 - only for large programs

    return lambda function, items: Parallel(n_jobs=count)(delayed(function)(item) for item in items)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Side:
    """Numbers of a type in one direction with the relaxed least of each, and of what has not been looked at."""

    floors: dict[int, float]
    beyond: float = np.inf


@dataclass(frozen=True, slots=True, kw_only=True)
class _Search:
    linear: LinearProgram
    goal: Sum
    until: float
    """By the monotonic clock, which all processes share."""
    done: Fixed = field(default_factory=dict)
    """Numbers with which the best plan is known already."""

    def tried(self, fixed: Fixed, known: float, nodes: int | None) -> Found:
        """The best plan below `known` with some numbers fixed, as far as HiGHS gets in so many nodes."""
        return self.linear.least(self.goal, within=fixed, below=known - BETTER, time_s=self._left_s(), nodes=nodes)

    def settle(self, fixed: Fixed, rest: list[int], known: float, run: Run, *, is_likely: bool) -> Found:
        """The best plan below `known` with some numbers fixed; where that is unlikely, one node may show it."""
        if fixed == self.done:
            return Found(verdict="infeasible", bound=np.inf)
        found = NOTHING if is_likely and rest else self.tried(fixed, known, 1 if rest else None)
        if found.verdict != "open" or not rest:
            return found
        relaxed = self.linear.relaxed(self.goal, fixed, self._left_s())
        if relaxed.values is None:
            return replace(found, verdict=relaxed.verdict)
        found = replace(found, bound=max(found.bound, relaxed.bound))
        return self.split(fixed, rest, min(known, found.value), run, found, relaxed)

    def split(  # noqa: PLR0917 - a step of a recursion
        self, fixed: Fixed, rest: list[int], known: float, run: Run, found: Found, relaxed: Found
    ) -> Found:
        """Try every number of the first type that could be better, the likeliest first."""
        down, up = run(lambda step: self._outwards(fixed, rest[0], step, known, relaxed), (-1, 1))
        floors = {**down.floors, **up.floors}

        def branch(number: int, below: float, inner: Run, *, is_likely: bool = False) -> Found:
            within = {**fixed, rest[0]: (float(number),) * 2}
            result = self.settle(within, rest[1:], below, inner, is_likely=is_likely)
            return replace(result, bound=max(result.bound, floors[number]))

        order = sorted(floors, key=lambda number: (floors[number], number))
        results = [branch(number, known, run, is_likely=True) for number in order[:1]]
        known = min([known, *(each.value for each in results)])
        results += run(lambda number: branch(number, known, map), order[1:])
        best = min([found, *results], key=lambda each: each.value)
        open_bound = min([down.beyond, up.beyond, *(each.bound for each in results if each.verdict == "open")])
        verdict: Verdict = "infeasible" if best.values is None else "optimal"
        if open_bound < min(best.value, known) - BETTER:
            verdict = "open"
        return replace(best, verdict=verdict, bound=max(found.bound, min(best.value, open_bound)))

    def _outwards(self, fixed: Fixed, variable: int, step: int, known: float, relaxed: Found) -> _Side:
        """Numbers from the relaxed one on, as far as the relaxed program is below a known plan."""
        assert relaxed.values is not None
        middle = round(float(relaxed.values[variable]))
        floors: dict[int, float] = {}
        last = 0 if step < 0 else int(self.linear.upper[variable])
        for number in range(middle if step < 0 else middle + 1, last + step, step):
            within = {**fixed, variable: (float(number),) * 2}
            is_same = abs(relaxed.values[variable] - number) < 1e-9  # noqa: PLR2004 - what rounding leaves
            here = relaxed if is_same else self.linear.relaxed(self.goal, within, self._left_s())
            if here.verdict == "open":
                return _Side(floors=floors, beyond=-np.inf)
            if here.verdict == "infeasible" or here.bound >= known - BETTER:
                break
            floors[number] = here.bound
        return _Side(floors=floors)

    def _left_s(self) -> float:
        return self.until - time.monotonic()
