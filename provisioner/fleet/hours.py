r"""The integer program of a fleet by the hour, for CP-SAT.

In each hour *t* of *T*, after the last of which comes the first again, service *s* gets one of the clusters that
serve its rate of that hour, :math:`\sum_o x_{sot} = 1`, which puts :math:`q_{kt} = \sum_o a_{sok} x_{sot}` machines in
role *k*: a pool of a service, on a type of machine. More of a role than in the hour before are started,
:math:`b_{kt} \ge q_{kt} - q_{k,t-1}`. A machine that is started serves nothing while it boots or loads other weights,
which takes :math:`L_m` hours (the longer of `startup_s` and `change_s`, rounded up). So that no objective suffers in
the hour of a change, it is begun so many hours before, with machines that are held besides those that serve:

.. math::

    h_{mt} &= \sum_{k \in m} \Bigl( q_{kt} + \sum_{l=1}^{L_m} b_{k,t+l} \Bigr) \\
    h_{mt} &\le u_{mt} + r_m + d_{mt} + z_{mt}, \quad u_{mt} \le \text{owned}_m, \quad z_{mt} \le \text{spot}_m

with *u* owned, *r* reserved for all hours, *d* on demand, *z* spot machines. Held machines are within every limit of
the fleet in every hour; the limit on cost is on its mean. Least is

.. math:: \sum_{m,t} (c_m - k_m) u_{mt} + c_m (\rho r_m + \delta d_{mt} + \sigma z_{mt}) + \sum_{k,t} \beta b_{kt},

then the number of starts. Costs are integers of a hundredth of a cent.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from provisioner.domain.fleet import Day, Limits
from provisioner.fleet.packing import fillings
from provisioner.fleet.problem import Kind, Option, Role

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

SCALE = 10_000
HOUR_S = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Hours:
    """What a plan by the hour is asked: for each hour and service, the options that serve its rate."""

    kinds: tuple[Kind, ...]
    services: tuple[str, ...]
    options: tuple[tuple[tuple[Option, ...], ...], ...]
    """By hour, then by service."""
    day: Day = field(default_factory=Day)
    limits: Limits = field(default_factory=Limits)

    @property
    def lead_hours(self) -> dict[str, int]:
        """Whole hours before it serves that a machine of each type is started."""
        return {kind.name: math.ceil(max(kind.startup_s, self.day.change_s) / HOUR_S) for kind in self.kinds}


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """Machines of a type in an hour: those held, and where they come from."""

    held: int
    owned: int
    on_demand: int
    spot: int


class HourlyProgram:
    """The variables, their constraints, and the cost."""

    def __init__(self, asked: Hours) -> None:
        from ortools.sat.python import cp_model  # noqa: PLC0415 - only for those who plan fleets

        self.asked = asked
        self.model: cp_model.CpModel = cp_model.CpModel()
        self.chosen = [[self._pick(options) for options in hour] for hour in asked.options]
        self.serving = [self._serving(hour) for hour in range(len(self.chosen))]
        self.started = self._started()
        self.most = {kind.name: self._most(kind.name) for kind in asked.kinds}
        self.reserved = {name: self._count(most) for name, most in self.most.items()}
        self.held = [self._held(hour) for hour in range(len(self.chosen))]
        self.sources = [
            {kind.name: self._sources(hour, kind) for kind in asked.kinds} for hour in range(len(self.chosen))
        ]
        self.starts: Any = sum(count for hour in self.started for count in hour.values())
        self.cost = self._cost()
        self._limit()

    def rows(self) -> list[list[tuple[tuple[Option, ...], list[Any]]]]:
        """Options with their variables, by hour, then by service."""
        return [list(zip(*pair, strict=True)) for pair in zip(self.asked.options, self.chosen, strict=True)]

    def hint(self, picks: Sequence[Sequence[Option]], reserved: Mapping[str, int]) -> None:
        """Begin the search from a plan: clusters by hour, then by service, and machines reserved."""
        self.model.clear_hints()  # type: ignore[no-untyped-call]
        for row, picked in zip(self.rows(), picks, strict=True):
            for (options, xs), pick in zip(row, picked, strict=True):
                for option, x in zip(options, xs, strict=True):
                    self.model.add_hint(x, option is pick)
        for name, count in reserved.items():
            self.model.add_hint(self.reserved[name], count)
        serving = [_serving(hour) for hour in picks]
        starts = [_more(hour, serving[place - 1]) for place, hour in enumerate(serving)]
        for place, variables in enumerate(self.started):
            for key, variable in variables.items():
                self.model.add_hint(variable, starts[place].get(key, 0))
            for kind in self.asked.kinds:
                coming = [
                    starts[(place + ahead) % len(starts)] for ahead in range(1, self.asked.lead_hours[kind.name] + 1)
                ]
                held = sum(_of_kind(each, kind.name) for each in (serving[place], *coming))
                self._hint_sources(place, kind, max(held - reserved[kind.name], 0))

    def _hint_sources(self, hour: int, kind: Kind, missing: int) -> None:
        owned, on_demand, spot = self.sources[hour][kind.name]
        day = self.asked.day
        of_spot = min(missing, day.spot_machines.get(kind.name, 0)) if day.spot is not None else 0
        used = min(missing - of_spot, kind.owned)
        for variable, count in ((spot, of_spot), (owned, used), (on_demand, missing - of_spot - used)):
            self.model.add_hint(variable, count)

    def _count(self, most: int) -> Any:
        return self.model.new_int_var(0, most, "")

    def _most(self, kind: str) -> int:
        """Machines of a type that could be held at most: all that any hour needs, and as many being started."""
        lead = self.asked.lead_hours[kind]
        served = [
            sum(max(sum(n for (_, name), n in o.roles.items() if name == kind) for o in options) for options in hour)
            for hour in self.asked.options
        ]
        return (1 + lead) * max(served)

    def _pick(self, options: Sequence[Option]) -> list[Any]:
        row = [self.model.new_bool_var("") for _ in options]
        self.model.add_exactly_one(row)
        return row

    def _serving(self, hour: int) -> dict[tuple[int, Role], Any]:
        """Machines of each service and role."""
        found: dict[tuple[int, Role], Any] = {}
        for service, (options, xs) in enumerate(zip(self.asked.options[hour], self.chosen[hour], strict=True)):
            for option, x in zip(options, xs, strict=True):
                for role, count in option.roles.items():
                    found[service, role] = found.get((service, role), 0) + count * x
        return found

    def _started(self) -> list[dict[tuple[int, Role], Any]]:
        """Machines of each service and role that serve in an hour and not in the one before."""
        started: list[dict[tuple[int, Role], Any]] = []
        for hour, serving in enumerate(self.serving):
            before = self.serving[hour - 1]
            started.append({key: self._count(self._most_of(hour, key)) for key in serving})
            for key, count in serving.items():
                self.model.add(started[hour][key] >= count - before.get(key, 0))
        return started

    def _most_of(self, hour: int, key: tuple[int, Role]) -> int:
        service, role = key
        return max(option.roles.get(role, 0) for option in self.asked.options[hour][service])

    def _held(self, hour: int) -> dict[str, Any]:
        """Machines of each type that serve, or are being started."""
        parts: dict[str, list[Any]] = {kind.name: [] for kind in self.asked.kinds}
        for (_, (_, name)), count in self.serving[hour].items():
            parts[name].append(count)
        for name, lead in self.asked.lead_hours.items():
            for ahead in range(1, lead + 1):
                coming = self.started[(hour + ahead) % len(self.started)]
                parts[name] += [count for (_, (_, kind)), count in coming.items() if kind == name]
        # A sum of its own: in CP-SAT, += changes an expression that others hold too.
        return {name: sum(each, start=0 * self.reserved[name]) for name, each in parts.items()}

    def _sources(self, hour: int, kind: Kind) -> tuple[Any, Any, Any]:
        """Owned machines used, machines on demand, spot machines."""
        day = self.asked.day
        most_spot = day.spot_machines.get(kind.name, 0) if day.spot is not None else 0
        sources = (
            self._count(kind.owned),
            self._count(self.most[kind.name] if day.on_demand is not None else 0),
            self._count(most_spot),
        )
        self.model.add(sum(sources) + self.reserved[kind.name] >= self.held[hour][kind.name])
        return sources

    def _cost(self) -> Any:
        day, hours = self.asked.day, len(self.chosen)
        total: Any = round(day.change_usd * SCALE) * self.starts
        for kind in self.asked.kinds:
            price = kind.cost_usd_per_h * SCALE
            total += round(price * day.reserved) * hours * self.reserved[kind.name]
            for hour in range(hours):
                owned, on_demand, spot = self.sources[hour][kind.name]
                total += round((kind.cost_usd_per_h - kind.sunk_usd_per_h) * SCALE) * owned
                total += round(price * (day.on_demand or 0.0)) * on_demand + round(price * (day.spot or 0.0)) * spot
        return total

    def _limit(self) -> None:
        limits, kinds = self.asked.limits, self.asked.kinds
        if limits.cost_usd_per_h is not None:
            self.model.add(self.cost <= math.floor(limits.cost_usd_per_h * SCALE * len(self.chosen) + 1e-3))
        for held in self.held:
            if limits.power_kw is not None:
                power = sum(round(kind.power_kw * SCALE) * held[kind.name] for kind in kinds)
                self.model.add(power <= math.floor(limits.power_kw * SCALE + 1e-3))
            if limits.machines is not None:
                self.model.add(sum(held.values()) <= limits.machines)
            for name, most in limits.machines_of.items():
                if name in held:
                    self.model.add(held[name] <= most)
            if limits.racks:
                self._rack(held)

    def _rack(self, held: Mapping[str, Any]) -> None:
        places: list[Any] = [0] * len(self.asked.kinds)
        for rack in self.asked.limits.racks:
            ways = [(filling, self._count(rack.count)) for filling in fillings(rack, self.asked.kinds)]
            self.model.add(sum(filled for _, filled in ways) <= rack.count)
            places = [
                place + sum(filling[kind] * filled for filling, filled in ways) for kind, place in enumerate(places)
            ]
        for place, kind in zip(places, self.asked.kinds, strict=True):
            self.model.add(place >= held[kind.name])


Machines = dict[tuple[int, Role], int]


def _serving(picked: Sequence[Option]) -> Machines:
    return {(service, role): count for service, pick in enumerate(picked) for role, count in pick.roles.items()}


def _more(now: Machines, before: Machines) -> Machines:
    return {key: max(count - before.get(key, 0), 0) for key, count in now.items()}


def _of_kind(machines: Machines, kind: str) -> int:
    return sum(count for (_, (_, name)), count in machines.items() if name == kind)
