"""Solving a fleet's integer program to proven optimality, one rule after the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from provisioner.fleet.problem import Option, Problem
from provisioner.fleet.program import Measure, Program, Sense

Verdict = Literal["optimal", "feasible", "infeasible", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How long (s) CP-SAT may take for one solution, and on how many threads."""

    time_s: float = 60.0
    threads: int = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What CP-SAT found for one objective: an integer value, and the bound that no solution passes."""

    verdict: Verdict
    value: int = 0
    bound: int = 0

    @property
    def is_found(self) -> bool:
        """Whether there is a solution."""
        return self.verdict in ("optimal", "feasible")


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """The best fleet, what its goal amounts to, and the proven bound of that, both in the goal's unit."""

    verdict: Verdict
    picks: tuple[Option | None, ...] = ()
    value: float = 0.0
    bound: float = 0.0
    used: Mapping[str, float] = field(default_factory=dict)
    """What is taken of each measure, in its unit."""

    @property
    def is_found(self) -> bool:
        """Whether there is a fleet at all."""
        return bool(self.picks)


class Solver:
    """A program under some limits, being solved.

    Parameters
    ----------
    capacities
        Most of each measure, by name, in its unit; names without a measure count for nothing.
    """

    def __init__(self, problem: Problem, capacities: Mapping[str, float], effort: Effort) -> None:
        from ortools.sat.python import cp_model  # noqa: PLC0415 - only for those who plan fleets

        self.program = Program(problem)
        self._verdicts: dict[Any, Verdict] = {
            cp_model.OPTIMAL: "optimal",
            cp_model.FEASIBLE: "feasible",
            cp_model.INFEASIBLE: "infeasible",
        }
        self._solver = cp_model.CpSolver()
        self._solver.parameters.max_time_in_seconds = effort.time_s
        self._solver.parameters.num_workers = effort.threads
        self._solver.parameters.random_seed = 0
        self._goals = self.program.goals()
        for name, most in capacities.items():
            if name in self.program.measures:
                measure = self.program.measures[name]
                self.bound("min", measure.expression, measure.integer(most))

    @property
    def goal(self) -> tuple[Sense, Measure]:
        """The first goal."""
        return self._goals[0]

    def optimum(self) -> Outcome:
        """The best value of the first goal alone."""
        sense, measure = self.goal
        return self.best(sense, measure.expression)

    def bound(self, sense: Sense, expression: Any, value: int) -> None:
        """Let an expression be no worse than a value."""
        if isinstance(expression, int):  # nothing is chosen that would change it
            expression = self.program.model.new_constant(expression)
        self.program.model.add(expression <= value if sense == "min" else expression >= value)

    def best(self, sense: Sense, expression: Any) -> Outcome:
        """The best value of an expression, beginning from the last solution."""
        model = self.program.model
        if sense == "min":
            model.minimize(expression)
        else:
            model.maximize(expression)
        verdict = self._verdicts.get(self._solver.solve(model), "unknown")
        if verdict not in ("optimal", "feasible"):
            return Outcome(verdict=verdict)
        model.clear_hints()  # type: ignore[no-untyped-call]
        for row in self.program.chosen:
            for x in row:
                model.add_hint(x, self._solver.boolean_value(x))
        value = round(self._solver.objective_value)
        return Outcome(verdict=verdict, value=value, bound=round(self._solver.best_objective_bound))

    def verdict(self) -> Verdict:
        """Whether anything is within the limits, as far as is known in time."""
        return self.best("min", 0).verdict

    def settled(self, most_rules: int | None = None) -> Solution:
        """The one best fleet: by the goal, then by what decides between equals; or by the first few rules only."""
        rules = [(sense, measure.expression) for sense, measure in self._goals]
        rules += [("min", expression) for expression in self.program.preferences()]
        outcomes: list[Outcome] = []
        picks: tuple[Option | None, ...] = ()
        used: dict[str, float] = {}
        for sense, expression in rules[:most_rules]:
            outcomes.append(self.best(sense, expression))
            if not outcomes[-1].is_found:
                break
            picks, used = tuple(self.program.picked(self._solver)), self._used()
            if outcomes[-1].verdict != "optimal":
                break  # out of time: equals are not told apart
            self.bound(sense, expression, outcomes[-1].value)
        first, goal = outcomes[0], self._goals[0][1]
        return Solution(
            verdict=first.verdict,
            picks=picks,
            value=goal.amount(first.value),
            bound=goal.amount(first.bound),
            used=used,
        )

    def _used(self) -> dict[str, float]:
        measures = self.program.measures.values()
        return {measure.name: measure.amount(self._solver.value(measure.expression)) for measure in measures}
