"""From a problem to the plan: solved, and explained."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace

from provisioner.fleet.answer import FleetPlan, LimitUse, Pick
from provisioner.fleet.explaining import conflict, dropped_first, limit_uses
from provisioner.fleet.problem import Problem, Totals
from provisioner.fleet.program import capacities
from provisioner.fleet.solving import Effort, Solution, Solver


def plan(problem: Problem, effort: Effort | None = None, *, explain: bool = True) -> FleetPlan:
    """Find the best fleet, and say what it hangs on.

    Of fleets that are equally good the cheapest is taken, then the one of least power, of fewest machines, of fewest
    racks; then the first service gets the earliest of its options, the second, and so on. With `explain`, the
    program is solved again for what each limit costs and who would be dropped first.
    """
    effort = effort or Effort()
    started = time.perf_counter()
    solver = Solver(problem, capacities(problem), effort)
    limits = {name: most for name, most in capacities(problem).items() if name in solver.program.measures}
    solution = solver.settled()
    found = _answer(problem, solution)
    if solution.verdict == "infeasible":
        found = replace(found, conflict=conflict(problem, limits, effort))
    elif solution.is_found:
        is_proven = solution.verdict == "optimal" and explain
        uses = limit_uses(problem, limits, solution, effort) if is_proven else _plain_uses(solver, limits, solution)
        found = replace(found, limits=uses)
    if explain and solution.verdict in ("optimal", "infeasible"):
        rationed = _rationed(problem, found)
        amount = limits.get(rationed, 0.0) if solution.verdict == "infeasible" else solution.used.get(rationed, 0.0)
        dropped = dropped_first(problem, limits, rationed, amount, effort) if rationed else ()
        found = replace(found, dropped_first=dropped, rationed=rationed or None)
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
