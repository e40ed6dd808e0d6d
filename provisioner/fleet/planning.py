"""From a problem to the plan: solved, and explained."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace

from provisioner.fleet.answer import FleetPlan, LimitUse, Pick
from provisioner.fleet.explaining import Patience, conflict, dropped_first, limit_uses
from provisioner.fleet.problem import Problem, Totals
from provisioner.fleet.program import capacities
from provisioner.fleet.solving import Effort, Solution, Solver


def plan(problem: Problem, effort: Effort | None = None, *, explain: bool = True) -> FleetPlan:
    """Find the best fleet, and say what it hangs on.

    Of fleets that are equally good the cheapest is taken, then the one of least power, of fewest machines, of fewest
    racks; then the first service gets the earliest of its options, the second, and so on. With `explain`, the
    program is solved again for what each limit costs and who would be dropped first, all of which together may take as
    long as the effort says.
    """
    effort = effort or Effort()
    started = time.perf_counter()
    solver = Solver(problem, capacities(problem), effort)
    limits = {name: most for name, most in capacities(problem).items() if name in solver.program.measures}
    solution = solver.settled()
    patience, unexplained = Patience.of(effort), list[str]()
    found = _answer(problem, solution)
    if solution.verdict == "infeasible":
        contradicting, is_smallest = conflict(problem, limits, patience)
        found = replace(found, conflict=contradicting)
        unexplained += [] if is_smallest else ["conflict"]
    elif solution.is_found:
        is_proven = solution.verdict == "optimal" and explain
        uses = limit_uses(problem, limits, solution, patience) if is_proven else _plain_uses(solver, limits, solution)
        found = replace(found, limits=uses)
        unexplained += [] if all(use.is_known for use in uses) else ["limits"]
    if explain and solution.verdict in ("optimal", "infeasible"):
        rationed = _rationed(problem, found)
        amount = limits.get(rationed, 0.0) if solution.verdict == "infeasible" else solution.used.get(rationed, 0.0)
        dropped, is_all = dropped_first(problem, limits, rationed, amount, patience) if rationed else ((), True)
        found = replace(found, dropped_first=dropped, rationed=rationed or None)
        unexplained += [] if is_all else ["dropped_first"]
    found = replace(found, unexplained=tuple(unexplained))
    return replace(found, elapsed_s=time.perf_counter() - started)


def _answer(problem: Problem, solution: Solution) -> FleetPlan:
    if not solution.is_found:
        return FleetPlan(status="infeasible")
    return FleetPlan(
        status="optimal" if solution.verdict == "optimal" else "feasible",
        picks=tuple(
            Pick.of(offer, pick, problem.kinds) for offer, pick in zip(problem.offers, solution.picks, strict=True)
        ),
        totals=Totals.of(problem.kinds, solution.picks),
        value=solution.value,
        bound=solution.bound,
    )


def _plain_uses(solver: Solver, limits: Mapping[str, float], solution: Solution) -> tuple[LimitUse, ...]:
    units = {measure.name: measure.unit for measure in solver.program.measures.values()}
    return tuple(
        LimitUse(name=name, unit=units[name], limit=most, used=solution.used[name]) for name, most in limits.items()
    )


def _rationed(problem: Problem, found: FleetPlan) -> str:
    """What there could be less of: a limit that binds or contradicts, else what is minimised; empty for nothing."""
    if found.conflict:
        return found.conflict[0].name
    return next((use.name for use in found.limits if use.binds), problem.minimize or "")
