"""Linear programs with whole numbers in some variables, built row by row, for HiGHS as SciPy has it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from scipy.sparse import csr_array

Sum = dict[int, float]
"""A linear expression: coefficients by the number of the variable."""
Verdict = Literal["optimal", "infeasible", "open"]
SOLVED, STOPPED, IMPOSSIBLE = 0, 1, 2
"""What SciPy's `status` says."""
LONG_S, MANY = 1e9, 2**31 - 1
"""Time and nodes that are no limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What is known of a program: its best solution so far, if any, and what none is better than."""

    verdict: Verdict
    bound: float
    value: float = np.inf
    values: NDArray[np.float64] | None = None
    """float64[variables]; None where no solution is known."""


@dataclass(slots=True)
class LinearProgram:
    """Variables and rows. All sums that are to be small are minimised, and every row has a most, or is met exactly."""

    lower: list[float] = field(default_factory=list)
    upper: list[float] = field(default_factory=list)
    whole: list[bool] = field(default_factory=list)
    _rows: list[int] = field(default_factory=list)
    _columns: list[int] = field(default_factory=list)
    _values: list[float] = field(default_factory=list)
    _least: list[float] = field(default_factory=list)
    _most: list[float] = field(default_factory=list)

    def variable(self, most: float = np.inf, *, whole: bool = False) -> int:
        """Add a variable from 0 to `most`; its number."""
        self.lower.append(0.0)
        self.upper.append(most)
        self.whole.append(whole)
        return len(self.lower) - 1

    def at_most(self, total: Mapping[int, float], most: float = 0.0, least: float = -np.inf) -> None:
        """Let a sum be within two values."""
        row = len(self._most)
        self._rows += [row] * len(total)
        self._columns += total.keys()
        self._values += total.values()
        self._least.append(least)
        self._most.append(most)

    def relaxed(self, goal: Mapping[int, float], within: Mapping[int, tuple[float, float]], time_s: float) -> Found:
        """The least of a sum where nothing has to be whole: no solution is better. `within` are other bounds."""
        if time_s <= 0:
            return Found(verdict="open", bound=-np.inf)
        rows, bounds = self._matrix(), self._bounds(within)
        exact = np.array(self._least) == np.array(self._most)
        most = np.array(self._most)
        found = linprog(
            self._dense(goal),
            A_ub=rows[~exact],
            b_ub=most[~exact],
            A_eq=rows[exact],
            b_eq=most[exact],
            bounds=list(zip(bounds.lb.tolist(), bounds.ub.tolist(), strict=True)),
            method="highs-ipm",
            options={"time_limit": min(time_s, LONG_S)},
        )
        if found.status == SOLVED and found.fun is not None:
            least = float(found.fun)
            return Found(verdict="optimal", bound=least, value=least, values=np.asarray(found.x))
        return Found(verdict="infeasible" if found.status == IMPOSSIBLE else "open", bound=-np.inf)

    def least(
        self,
        goal: Mapping[int, float],
        *,
        within: Mapping[int, tuple[float, float]] | None = None,
        below: float = np.inf,
        time_s: float = np.inf,
        nodes: int | None = None,
    ) -> Found:
        """The least of a sum.

        Parameters
        ----------
        within
            Other bounds of some variables, by number.
        below
            Only solutions of at most this much count; where there is none, the verdict is infeasible.
        time_s, nodes
            When to stop at the latest.
        """
        if time_s <= 0:
            return Found(verdict="open", bound=-np.inf)
        objective = self._dense(goal)
        limits = [LinearConstraint(self._matrix(), np.array(self._least), np.array(self._most))]
        if np.isfinite(below):
            limits.append(LinearConstraint(csr_array(objective[None, :]), -np.inf, below))
        found = milp(
            objective,
            constraints=limits,
            bounds=self._bounds(within or {}),
            integrality=np.array(self.whole, dtype=int),
            options={"time_limit": min(time_s, LONG_S), "mip_rel_gap": 0.0, "node_limit": nodes or MANY},
        )
        if found.status == IMPOSSIBLE:
            return Found(verdict="infeasible", bound=np.inf)
        bound = found.mip_dual_bound
        known = Found(verdict="open", bound=-np.inf if bound is None else float(bound))
        if found.x is not None:
            known = replace(known, value=float(found.fun), values=np.asarray(found.x))
        return replace(known, verdict="optimal") if found.status == SOLVED else known

    def _dense(self, total: Mapping[int, float]) -> NDArray[np.float64]:
        dense = np.zeros(len(self.lower))
        dense[list(total.keys())] = list(total.values())
        return dense

    def _bounds(self, within: Mapping[int, tuple[float, float]]) -> Bounds:
        lower, upper = np.array(self.lower), np.array(self.upper)
        for variable, (least, most) in within.items():
            lower[variable], upper[variable] = least, most
        return Bounds(lower, upper)

    def _matrix(self) -> csr_array:
        entries = (self._values, (self._rows, self._columns))
        return csr_array(entries, shape=(len(self._most), len(self.lower)))


def add(total: Sum, other: Mapping[int, float], times: float = 1.0) -> None:
    """Add a multiple of another sum to a sum, in place."""
    for variable, value in other.items():
        total[variable] = total.get(variable, 0.0) + times * value
