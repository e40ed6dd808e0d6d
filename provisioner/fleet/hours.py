r"""The linear program of a fleet by the hour, some of whose variables are whole numbers.

In each hour *t* of *T*, after the last of which comes the first again, service *s* gets one of the clusters that
serve its rate of that hour, :math:`\sum_o x_{sot} = 1`, which puts :math:`q_{kt} = \sum_o a_{sok} x_{sot}` machines in
role *k*: a pool of a service, on a type of machine. More of a role than in the hour before are started. With
:math:`n_{k1} < n_{k2} < \dots` the counts that any cluster has of the role,

.. math::

    z_{kit} = \sum_{o:\, a_{sok} \ge n_{ki}} x_{sot}, \quad b_{kit} \ge z_{kit} - z_{ki,t-1}, \quad
    b_{kt} = \sum_i (n_{ki} - n_{k,i-1}) b_{kit},

which says the same of whole *x* as :math:`b_{kt} \ge q_{kt} - q_{k,t-1}`, and much more of others: the relaxed program
is hardly worse than one over whole courses of each service. A machine that is started serves nothing while it boots or
loads other weights, which takes :math:`L_m` hours (the longer of `startup_s` and `change_s`, rounded up). So that no
objective suffers in the hour of a change, it is begun so many hours before, with machines held besides those that
serve:

.. math::

    h_{mt} &= \sum_{k \in m} \Bigl( q_{kt} + \sum_{l=1}^{L_m} b_{k,t+l} \Bigr) \\
    h_{mt} &\le u_{mt} + r_m + d_{mt} + z_{mt}, \quad u_{mt} \le \text{owned}_m, \quad z_{mt} \le \text{spot}_m

with *u* owned, *r* reserved for all hours, *d* on demand, *z* spot machines. Only *x*, *r* and filled racks have to be
whole; the others then are. Held machines are within every limit of the fleet in every hour; the limit on cost is on its
mean. Least is

.. math:: \sum_{m,t} (c_m - k_m) u_{mt} + c_m (\rho r_m + \delta d_{mt} + \sigma z_{mt}) + \sum_{k,t} \beta b_{kt},

where a start without a price counts a tenth of a cent, so that there are none without need; or
:math:`\sum_{m,t} p_m h_{mt}`, or :math:`\sum_{m,t} h_{mt}`, and then the cost of plans that are as good.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from provisioner.domain.fleet import Day, Limits, Minimize
from provisioner.fleet.linear import LinearProgram, Sum, add
from provisioner.fleet.packing import fillings
from provisioner.fleet.problem import Kind, Option

HOUR_S = 3600.0
LEAST_START_USD = 0.001
RACKS = "racks "


@dataclass(frozen=True, slots=True, kw_only=True)
class Hours:
    """What a plan by the hour is asked: for each hour and service, the options that serve its rate."""

    kinds: tuple[Kind, ...]
    services: tuple[str, ...]
    options: tuple[tuple[tuple[Option, ...], ...], ...]
    """By hour, then by service."""
    day: Day = field(default_factory=Day)
    limits: Limits = field(default_factory=Limits)
    minimize: Minimize = "cost"

    @property
    def lead_hours(self) -> dict[str, int]:
        """Whole hours before it serves that a machine of each type is started."""
        return {kind.name: math.ceil(max(kind.startup_s, self.day.change_s) / HOUR_S) for kind in self.kinds}

    @property
    def start_usd(self) -> float:
        """What a start counts in the goal."""
        return max(self.day.change_usd, LEAST_START_USD)


class HourlyProgram:
    """The variables, their rows, and the goal. Sums are over numbers of variables."""

    def __init__(self, asked: Hours) -> None:
        self.asked = asked
        self.linear = LinearProgram()
        self.chosen = [[self._pick(options) for options in hour] for hour in asked.options]
        self.held: list[dict[str, Sum]] = [{kind.name: {} for kind in asked.kinds} for _ in asked.options]
        self._start_counts: Sum = {}
        for service in range(len(asked.services)):
            self._hold(service)
        self.reserved = {kind.name: self.linear.variable(self._most(kind.name), whole=True) for kind in asked.kinds}
        self.cost = self._cost()
        self.caps = self._limit()

    def picked(self, values: NDArray[np.float64]) -> tuple[tuple[Option, ...], ...]:
        """The options chosen, by hour, then by service."""
        return tuple(
            tuple(
                max(zip(options, row, strict=True), key=lambda pair: values[pair[1]])[0]
                for options, row in zip(hour, rows, strict=True)
            )
            for hour, rows in zip(self.asked.options, self.chosen, strict=True)
        )

    @property
    def to_fix(self) -> list[int]:
        """Variables of reserved machines, the dearest type first; none where their number follows from the clusters."""
        asked = self.asked
        if asked.minimize != "cost" or (asked.day.on_demand is None and asked.day.spot is None):
            return []
        kinds = sorted(asked.kinds, key=lambda kind: -kind.cost_usd_per_h)
        return [self.reserved[kind.name] for kind in kinds]

    def goal(self, minimize: Minimize) -> Sum:
        """What is to be small."""
        total: Sum = {}
        if minimize == "cost":
            add(total, self.cost)
            add(total, self._start_counts, max(LEAST_START_USD - self.asked.day.change_usd, 0.0))
            return total
        for held in self.held:
            for kind in self.asked.kinds:
                add(total, held[kind.name], kind.worth(minimize))
        return total

    def value(self, goal: Sum, picks: Sequence[Sequence[Option]]) -> float | None:
        """A goal with these options, by hour, then by service; None if that is not within the limits."""
        fixed = {
            x: (float(option is pick),) * 2
            for hour, rows, picked in zip(self.asked.options, self.chosen, picks, strict=True)
            for options, row, pick in zip(hour, rows, picked, strict=True)
            for option, x in zip(options, row, strict=True)
        }
        found = self.linear.least(goal, within=fixed)
        return None if found.values is None else found.value

    def _most(self, kind: str) -> float:
        """Machines of a type that could be held at most: all that any hour needs, and as many being started."""
        served = [sum(max(o.machines.get(kind, 0) for o in options) for options in hour) for hour in self.asked.options]
        return float((1 + self.asked.lead_hours[kind]) * max(served))

    def _pick(self, options: Sequence[Option]) -> list[int]:
        row = [self.linear.variable(1.0, whole=True) for _ in options]
        self.linear.at_most(dict.fromkeys(row, 1.0), 1.0, 1.0)
        return row

    def _hold(self, service: int) -> None:
        """Add a service's machines, serving and starting, to those held."""
        counts = [[option.roles for option in hour[service]] for hour in self.asked.options]
        for role in sorted({role for hour in counts for roles in hour for role in roles}):
            name, of_role = role[1], [[roles.get(role, 0) for roles in hour] for hour in counts]
            steps = sorted({count for hour in of_role for count in hour if count})
            for hour, now in enumerate(of_role):
                row = zip(self.chosen[hour][service], now, strict=True)
                add(self.held[hour][name], {x: float(count) for x, count in row if count})
                started = self._started(service, hour, of_role, steps)
                add(self._start_counts, started)
                for ahead in range(1, self.asked.lead_hours[name] + 1):
                    add(self.held[(hour - ahead) % len(counts)][name], started)

    def _started(self, service: int, hour: int, counts: Sequence[Sequence[int]], steps: Sequence[int]) -> Sum:
        """Machines of a role that serve in an hour and not in the one before, counted step by step."""
        started: Sum = {}
        known: dict[tuple[tuple[int, ...], tuple[int, ...]], int] = {}
        for step, below in zip(steps, [0, *steps], strict=False):
            now, before = (
                tuple(x for x, count in zip(self.chosen[each][service], counts[each], strict=True) if count >= step)
                for each in (hour, hour - 1)
            )
            if not now or len(before) == len(counts[hour - 1]):
                continue  # none has as many; or each had already
            if (now, before) not in known:
                known[now, before] = variable = self.linear.variable(1.0)
                row: Sum = {variable: -1.0}
                add(row, dict.fromkeys(now, 1.0))
                add(row, dict.fromkeys(before, -1.0))
                self.linear.at_most(row)
            add(started, {known[now, before]: float(step - below)})
        return started

    def _cost(self) -> Sum:
        """In USD over all hours, starts included."""
        day, hours = self.asked.day, len(self.chosen)
        total: Sum = {}
        add(total, self._start_counts, day.change_usd)
        for kind in self.asked.kinds:
            price = kind.cost_usd_per_h
            total[self.reserved[kind.name]] = price * day.reserved * hours
            offers = [(price - kind.spared_usd_per_h, float(kind.owned))]
            offers += [] if day.on_demand is None else [(price * day.on_demand, math.inf)]
            offers += [] if day.spot is None else [(price * day.spot, float(day.spot_machines.get(kind.name, 0)))]
            for held in self.held:
                row: Sum = {**held[kind.name], self.reserved[kind.name]: -1.0}
                for each_usd, most in offers:
                    if most:
                        source = self.linear.variable(most)
                        row[source], total[source] = -1.0, each_usd
                self.linear.at_most(row)
        return total

    def _limit(self) -> dict[str, int]:
        """For each limit, by name, the variable that no hour is above, and that is at most the limit."""
        limits, kinds = self.asked.limits, self.asked.kinds
        caps: dict[str, int] = {}
        if limits.cost_usd_per_h is not None:
            caps["cost"] = self.linear.variable(limits.cost_usd_per_h)
            self.linear.at_most({**self.cost, caps["cost"]: -float(len(self.chosen))})
        per_hour: list[tuple[str, float | None, dict[str, float]]] = [
            ("power", limits.power_kw, {kind.name: kind.power_kw for kind in kinds}),
            ("machines", limits.machines, {kind.name: 1.0 for kind in kinds}),
            *((f"machines of {name}", float(most), {name: 1.0}) for name, most in limits.machines_of.items()),
        ]
        for name, most, weights in per_hour:
            if most is not None and weights.keys() <= self.reserved.keys():
                caps[name] = cap = self.linear.variable(most)
                for held in self.held:
                    row: Sum = {cap: -1.0}
                    for kind, weight in weights.items():
                        add(row, held[kind], weight)
                    self.linear.at_most(row)
        return caps | self._racks()

    def _racks(self) -> dict[str, int]:
        kinds, racks = self.asked.kinds, self.asked.limits.racks
        caps = {f"{RACKS}{rack.name}": self.linear.variable(rack.count) for rack in racks}
        for held in self.held if racks else ():
            rows: list[Sum] = [dict(held[kind.name]) for kind in kinds]
            for rack, cap in zip(racks, caps.values(), strict=True):
                filled: Sum = {cap: -1.0}
                for filling in fillings(rack, kinds):
                    ways = self.linear.variable(whole=True)
                    filled[ways] = 1.0
                    for row, count in zip(rows, filling, strict=True):
                        if count:
                            row[ways] = -float(count)
                self.linear.at_most(filled)
            for row in rows:
                self.linear.at_most(row)
        return caps
