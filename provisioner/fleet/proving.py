"""The least of a program by the hour, proven: by trying numbers of reserved machines, one type after the other.

How many machines to reserve is what makes these programs hard. With the numbers given, every hour has a fixed count
beyond which machines are dear, and HiGHS's cuts close most of what the relaxed program leaves open; with numbers to
be found it hardly gets on. So the numbers are fixed type by type, the dearest first: around what the relaxed program
reserves, as far as the relaxed program with that number is below the best plan known. The relaxed least is convex in
the number, so that none further out is better either. A program with some numbers fixed is given to HiGHS
for one node of a few seconds, and the next type is fixed only where that does not settle it.
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
ROUNDING = 1e-9
PROBE_S = 4.0
"""Time for the first node where some numbers are open: splitting further is quicker than a long one."""
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
        return search.tried({}, known, is_last=True)
    relaxed = linear.relaxed(goal, {}, effort.time_s)
    if relaxed.values is None:
        return relaxed
    first: Fixed = {variable: (round(float(relaxed.values[variable])),) * 2 for variable in to_fix}
    likely = search.sooner().tried(first, np.inf, is_last=True)
    if likely.verdict != "open":
        search = replace(search, done=first)
    if not np.isfinite(min(known, likely.value)):  # nothing to stop at: any plan is welcome
        likely = search.sooner().tried({}, np.inf, is_last=True)
        if likely.values is None or likely.verdict == "optimal":
            return likely
    run = _processes(effort.threads) if effort.threads > 1 and len(linear.lower) > SMALL else map
    found = search.split({}, to_fix, min(known, likely.value), run, relaxed)
    if found.values is not None or likely.value >= known:
        return found
    return replace(likely, verdict="open" if found.verdict == "open" else "optimal", bound=found.bound)


def _processes(count: int) -> Run:
    from joblib import Parallel, delayed  # noqa: PLC0415 - only for large programs

    return lambda function, items: Parallel(n_jobs=count)(delayed(function)(item) for item in items)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Search:
    linear: LinearProgram
    goal: Sum
    until: float
    """By the monotonic clock, which all processes share."""
    done: Fixed = field(default_factory=dict)
    """Numbers with which the best plan is known already."""

    def sooner(self) -> _Search:
        """The same with half of the time."""
        return replace(self, until=self.until - self._left_s() / 2)

    def tried(self, fixed: Fixed, known: float, *, is_last: bool) -> Found:
        """The best plan below `known` with some numbers fixed; unless all are, what HiGHS's first node says of it."""
        time_s, nodes = (self._left_s(), None) if is_last else (min(PROBE_S, self._left_s()), 1)
        return self.linear.least(self.goal, within=fixed, below=known - BETTER, time_s=time_s, nodes=nodes)

    def split(self, fixed: Fixed, rest: Sequence[int], known: float, run: Run, relaxed: Found) -> Found:
        """The best plan below `known` with some numbers fixed, by every number of the next type that could be better.

        The likeliest is looked into first, without asking HiGHS about it as a whole, since it will not be excluded.
        """
        assert relaxed.values is not None
        middle = round(float(relaxed.values[rest[0]]))
        below, above = run(lambda step: self._end(fixed, rest[0], middle, step, known, relaxed.bound), (-1, 1))

        def within(number: int) -> Fixed:
            return {**fixed, rest[0]: (float(number),) * 2}

        results = [self._closer(within(middle), rest[1:], known, run, NOTHING, relaxed)]
        known = min(known, results[0].value)
        others = sorted({*range(below + 1, above)} - {middle}, key=lambda number: abs(number - middle))
        tried = run(lambda number: self.tried(within(number), known, is_last=len(rest) == 1), others)
        for number, found in zip(others, list(tried), strict=True):
            results.append(self._closer(within(number), rest[1:], known, run, found, relaxed))
            known = min(known, results[-1].value)
        best = min(results, key=lambda each: each.value)
        open_bound = max(relaxed.bound, min((each.bound for each in results if each.verdict == "open"), default=np.inf))
        verdict: Verdict = "infeasible" if best.values is None else "optimal"
        if open_bound < known - BETTER:
            verdict = "open"
        return replace(best, verdict=verdict, bound=min(best.value, open_bound))

    def _closer(  # noqa: PLR0917 - a step of a recursion
        self, fixed: Fixed, rest: Sequence[int], known: float, run: Run, found: Found, around: Found
    ) -> Found:
        """What more there is to know than was found at once; `around` is relaxed with one number less fixed."""
        if fixed == self.done:
            return Found(verdict="infeasible", bound=np.inf)
        if found is NOTHING and not rest:
            return self.tried(fixed, known, is_last=True)
        if found.verdict != "open" or not rest:
            return found
        is_same = around.values is not None and all(
            abs(around.values[variable] - number) < ROUNDING for variable, (number, _) in fixed.items()
        )
        relaxed = around if is_same else self.linear.relaxed(self.goal, fixed, self._left_s())
        if relaxed.values is None:
            return replace(found, verdict=relaxed.verdict)
        closer = self.split(fixed, rest, min(known, found.value), run, relaxed)
        if closer.values is not None or found.values is None:
            return closer
        return replace(found, verdict="open" if closer.verdict == "open" else "optimal", bound=closer.bound)

    def _end(  # noqa: PLR0917 - a step of a recursion
        self, fixed: Fixed, variable: int, middle: int, step: int, known: float, least: float
    ) -> int:
        """The first number found in one direction with which the relaxed program is no longer below a known plan.

        The relaxed least is taken to rise with the square of the distance, to look for it where it is expected. If
        time runs out, all numbers are left to be looked at.
        """
        last, distance = -1 if step < 0 else int(self.linear.upper[variable]) + 1, 1
        while abs(last - middle) > distance:
            number = middle + step * distance
            within = {**fixed, variable: (float(number),) * 2}
            relaxed = self.linear.relaxed(self.goal, within, self._left_s())
            if relaxed.verdict == "open":
                return last
            if relaxed.verdict == "infeasible" or relaxed.bound >= known - BETTER:
                return number
            rise = max(relaxed.bound - least, known * 1e-9)
            expected = np.ceil(distance * np.sqrt((known - least) / rise)) if np.isfinite(known) else 2 * distance
            distance = int(np.clip(expected, distance + 1, 4 * distance))
        return last

    def _left_s(self) -> float:
        return self.until - time.monotonic()
