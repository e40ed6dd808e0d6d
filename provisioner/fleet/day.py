"""Planning by the hour: the cheapest plan, against one fixed fleet for the peak."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from provisioner.fleet.answer import Status
from provisioner.fleet.hours import SCALE, Holding, HourlyProgram, Hours
from provisioner.fleet.problem import Option
from provisioner.fleet.solving import Effort

STATUSES: dict[str, Status] = {"OPTIMAL": "optimal", "FEASIBLE": "feasible"}


@dataclass(frozen=True, kw_only=True)
class DayPlan:
    """Which cluster each service has in each hour, and what is held for it."""

    status: Status
    services: tuple[str, ...]
    picks: tuple[tuple[Option, ...], ...] = ()
    """By hour, then by service."""
    holdings: tuple[Mapping[str, Holding], ...] = ()
    """By hour, then by machine type."""
    reserved: Mapping[str, int] = field(default_factory=dict)
    starts: tuple[int, ...] = ()
    """Machines that serve in an hour in a role that they had not in the one before."""
    cost_usd: float = 0.0
    """Over all hours."""
    bound_usd: float = 0.0
    peak_usd: float | None = None
    """What one fixed fleet for the peak costs over the same hours; None where none is within the limits."""
    checked: int = 0
    """Clusters simulated at the rate of their hour."""
    elapsed_s: float = field(default=0.0, compare=False)

    @property
    def is_feasible(self) -> bool:
        """Whether there is a plan."""
        return self.status != "infeasible"

    @property
    def gap(self) -> float:
        """How much cheaper, as a share, a plan could be at most."""
        return (self.cost_usd - self.bound_usd) / self.cost_usd if self.cost_usd else 0.0

    @property
    def saving(self) -> float | None:
        """Share of the peak fleet's cost that the plan saves."""
        return None if not self.peak_usd else 1 - self.cost_usd / self.peak_usd


def plan_hours(asked: Hours, effort: Effort | None = None) -> DayPlan:
    """Find the cheapest plan, and what the same hours cost with one fleet for the peak.

    The search begins from the fixed fleet, and spends a quarter of its time on the cheapest cluster for each rate
    alone, so that it has a good plan early.
    """
    effort = effort or Effort()
    started = time.perf_counter()
    hours = len(asked.options)
    peak = _solved(_of_the_peak(asked), effort)
    begin = replace(peak, picks=peak.picks * hours)
    rough = _solved(_cheapest(asked, begin), replace(effort, time_s=effort.time_s / 4), begin)
    found = _solved(asked, replace(effort, time_s=effort.time_s * 3 / 4), rough if rough.is_feasible else begin)
    if found.is_feasible and peak.is_feasible:
        found = replace(found, peak_usd=peak.cost_usd * hours)
    return replace(found, elapsed_s=time.perf_counter() - started)


def _cheapest(asked: Hours, begin: DayPlan) -> Hours:
    """The same with only the cheapest option for each rate, and those of a plan to begin with."""
    prices = {kind.name: kind.cost_usd_per_h for kind in asked.kinds}

    def price(option: Option) -> float:
        return sum(count * prices[name] for name, count in option.machines.items())

    def kept(options: Sequence[Option], place: int) -> tuple[Option, ...]:
        cheapest = {option.rate_rps: option for option in sorted(options, key=price, reverse=True)}.values()
        also = begin.picks[0][place : place + 1] if begin.picks else ()
        return (*cheapest, *(option for option in also if option not in cheapest))

    return replace(
        asked, options=tuple(tuple(kept(row, place) for place, row in enumerate(hour)) for hour in asked.options)
    )


def _of_the_peak(asked: Hours) -> Hours:
    """One hour in which each service has only what serves it in every hour, and nothing comes for an hour."""
    always = tuple(
        tuple(option for option in asked.options[0][service] if all(option in hour[service] for hour in asked.options))
        for service in range(len(asked.services))
    )
    return replace(asked, options=(always,), day=asked.day.model_copy(update={"on_demand": None, "spot": None}))


def _solved(asked: Hours, effort: Effort, begin: DayPlan | None = None) -> DayPlan:
    """By cost, then, in what is left of the time, by starts."""
    from ortools.sat.python import cp_model  # noqa: PLC0415 - only for those who plan fleets

    if not all(options for hour in asked.options for options in hour):
        return DayPlan(status="infeasible", services=asked.services)
    program, solver = HourlyProgram(asked), cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = effort.time_s
    solver.parameters.num_workers = effort.threads
    solver.parameters.random_seed = 0
    if begin is not None and begin.picks:
        program.hint(begin.picks, begin.reserved)
    program.model.minimize(program.cost)
    status = STATUSES.get(solver.status_name(solver.solve(program.model)), "infeasible")
    if status == "infeasible":
        return DayPlan(status=status, services=asked.services)
    bound = solver.best_objective_bound
    if status == "optimal":
        best = round(solver.objective_value)
        cheapest = _read(program, solver, status, bound)
        program.hint(cheapest.picks, cheapest.reserved)
        program.model.add(program.cost <= best)
        program.model.minimize(program.starts)
        solver.parameters.max_time_in_seconds = max(effort.time_s - solver.wall_time, 1.0)
        if STATUSES.get(solver.status_name(solver.solve(program.model))) is None:
            return cheapest  # no time was left
    return _read(program, solver, status, bound)


def _read(program: HourlyProgram, solver: Any, status: Status, bound: float) -> DayPlan:
    asked = program.asked
    serving = [{key: solver.value(n) for key, n in hour.items()} for hour in program.serving]
    starts = tuple(
        sum(max(count - serving[hour - 1].get(key, 0), 0) for key, count in serving[hour].items())
        for hour in range(len(serving))
    )
    return DayPlan(
        status=status,
        services=asked.services,
        picks=tuple(tuple(_first(options, xs, solver) for options, xs in pairs) for pairs in program.rows()),
        holdings=tuple(
            {name: Holding(held=solver.value(held[name]), **_sources(sources[name], solver)) for name in held}
            for held, sources in zip(program.held, program.sources, strict=True)
        ),
        reserved={name: solver.value(count) for name, count in program.reserved.items()},
        starts=starts,
        cost_usd=solver.value(program.cost) / SCALE,
        bound_usd=bound / SCALE,
    )


def _sources(sources: tuple[Any, Any, Any], solver: Any) -> dict[str, int]:
    return dict(zip(("owned", "on_demand", "spot"), map(solver.value, sources), strict=True))


def _first(options: Sequence[Option], xs: Sequence[Any], solver: Any) -> Option:
    return next(option for option, x in zip(options, xs, strict=True) if solver.boolean_value(x))
