"""Planning by the hour: the best plan, against one fixed fleet for the peak."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from provisioner.domain.fleet import Minimize
from provisioner.fleet.answer import LimitUse, Status, contradiction
from provisioner.fleet.contradicting import conflict_by_hour
from provisioner.fleet.course import Course, Picks
from provisioner.fleet.hours import HourlyProgram, Hours
from provisioner.fleet.linear import Found
from provisioner.fleet.problem import Option
from provisioner.fleet.proving import least
from provisioner.fleet.responses import good_picks
from provisioner.fleet.solving import Effort
from provisioner.fleet.sourcing import Holding

TINY = 1e-9


@dataclass(frozen=True, kw_only=True)
class DayPlan:
    """Which cluster each service has in each hour, and what is held for it."""

    status: Status
    services: tuple[str, ...]
    minimize: Minimize = "cost"
    picks: tuple[tuple[Option, ...], ...] = ()
    """By hour, then by service."""
    holdings: tuple[Mapping[str, Holding], ...] = ()
    """By hour, then by machine type."""
    reserved: Mapping[str, int] = field(default_factory=dict)
    starts: tuple[int, ...] = ()
    """Machines that serve in an hour in a role that they had not in the one before."""
    cost_usd: float = 0.0
    """Over all hours."""
    value: float = 0.0
    """What is minimised, over all hours: USD, kWh or machine-hours."""
    bound: float = 0.0
    """What no plan of these clusters is below."""
    peak_usd: float | None = None
    """What one fixed fleet for the peak costs over the same hours; None where none is within the limits."""
    peak_value: float | None = None
    """What is minimised, of that fleet."""
    conflict: tuple[LimitUse, ...] = ()
    """Limits that contradict each other, none of which could be left out."""
    checked: int = 0
    """Clusters simulated at the rate of their hour."""
    elapsed_s: float = field(default=0.0, compare=False)

    @property
    def is_feasible(self) -> bool:
        """Whether there is a plan."""
        return self.status != "infeasible"

    @property
    def reason(self) -> str | None:
        """Why there is no plan."""
        return None if self.is_feasible else contradiction(self.conflict)

    @property
    def gap(self) -> float:
        """How much less, as a share, another plan could take at most."""
        return max(self.value - self.bound, 0.0) / self.value if self.value else 0.0

    @property
    def saving(self) -> float | None:
        """Share of what the peak fleet takes that the plan saves."""
        return None if not self.peak_value else 1 - self.value / self.peak_value


def plan_hours(asked: Hours, effort: Effort | None = None) -> DayPlan:
    """Find the best plan, and what the same hours take with one fleet for the peak."""
    effort = effort or Effort()
    started = time.perf_counter()
    hours = len(asked.options)
    peak = _solved(_of_the_peak(asked), effort)
    found = _solved(asked, replace(effort, time_s=effort.time_s - (time.perf_counter() - started)))
    if found is None:
        conflict = conflict_by_hour(HourlyProgram(asked), effort)
        found = DayPlan(status="infeasible", services=asked.services, minimize=asked.minimize, conflict=conflict)
    elif peak is not None:
        found = replace(found, peak_usd=peak.cost_usd * hours, peak_value=peak.value * hours)
    return replace(found, elapsed_s=time.perf_counter() - started)


def _of_the_peak(asked: Hours) -> Hours:
    """One hour in which each service has only what serves it in every hour, and nothing comes for an hour."""
    always = tuple(
        tuple(option for option in asked.options[0][service] if all(option in hour[service] for hour in asked.options))
        for service in range(len(asked.services))
    )
    return replace(asked, options=(always,), day=asked.day.model_copy(update={"on_demand": None, "spot": None}))


def _solved(asked: Hours, effort: Effort) -> DayPlan | None:
    """The best plan; None if there is none, or none was found in time."""
    if not all(options for hour in asked.options for options in hour):
        return None
    until, program = time.monotonic() + effort.time_s, HourlyProgram(asked)
    picks, found = _best(program, asked.minimize, good_picks(asked), effort)
    if picks is None:
        return None
    is_proven = found.verdict != "open"
    if is_proven and asked.minimize != "cost":
        value = Course(asked, picks).measure(asked.minimize)
        program.linear.at_most(program.goal(asked.minimize), value * (1 + TINY) + TINY)
        picks = _best(program, "cost", picks, replace(effort, time_s=until - time.monotonic()))[0] or picks
    return _worked_out(asked, picks, "optimal" if is_proven else "feasible", found.bound)


def _best(program: HourlyProgram, minimize: Minimize, begin: Picks, effort: Effort) -> tuple[Picks | None, Found]:
    """The best clusters, and what is known of them; `begin` are good ones."""
    goal = program.goal(minimize)
    known = program.value(goal, begin)
    to_fix = program.to_fix if minimize == "cost" else []
    found = least(program.linear, goal, to_fix, effort, known=np.inf if known is None else known)
    if found.values is not None:
        return program.picked(found.values), found
    return None if known is None else begin, found


def _worked_out(asked: Hours, picks: Picks, status: Status, bound: float) -> DayPlan:
    course = Course(asked, picks)
    reserved, value = course.reserved(), course.measure(asked.minimize)
    return DayPlan(
        status=status,
        services=asked.services,
        minimize=asked.minimize,
        picks=tuple(map(tuple, picks)),
        holdings=course.holdings(reserved),
        reserved=reserved,
        starts=tuple(each.total() for each in course.starts),
        cost_usd=course.measure("cost"),
        value=value,
        bound=value if status == "optimal" else min(max(bound, 0.0), value),
    )
