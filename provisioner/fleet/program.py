r"""The integer program of a fleet, for CP-SAT.

With :math:`x_{so} \in \{0, 1\}` for service *s* getting its option *o*, which takes :math:`a_{som}` machines of type
*m* and serves :math:`r_{so}` requests/s of the target :math:`R_s`:

.. math::

    \sum_o x_{so} &= 1 \quad (\le 1 \text{ where services may be dropped}) \\
    n_m &= \sum_{s,o} a_{som} x_{so} \\
    0 \le u_m &\le \min(n_m, \text{owned}_m) \\
    \text{cost} &= \sum_m c_m n_m - k_m u_m, \quad
    \text{power} = \sum_m p_m n_m, \quad \text{machines} = \sum_m n_m

each below its limit, as is :math:`n_m`; racks as in `packing`. :math:`k_m` is the sunk part of the price
:math:`c_m`, at most all of it. The goal is to minimise cost, power or machines; to maximise
:math:`\sum_{s,o} w_s r_{so} x_{so}`; or to maximise *t* with :math:`t \le \sum_o (r_{so} / R_s) x_{so}` for each *s*.

CP-SAT computes with integers. Coefficients and limits are in millionths of USD/h, kW, requests/s and shares, each
rounded to the nearest (limits down, after adding a thousandth of a millionth); catalog prices and powers have two or
three decimals, so nothing is lost. Beyond a sum of :math:`10^{15}` in these units the step is ten times as large, as
often as it takes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from provisioner.fleet.packing import fillings
from provisioner.fleet.problem import GOALS, Option, Problem

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

Sense = Literal["min", "max"]
FINEST = 6
"""Decimals of the integers' unit."""
LARGEST = 10**15
RACKS = "racks "
UNITS = {"cost": "USD/h", "power": "kW", "machines": "machines"}


@dataclass(frozen=True, slots=True, eq=False)
class Measure:
    """Something a fleet takes or gives, as integers of `1 / scale` of its unit."""

    name: str
    unit: str
    scale: int
    expression: Any

    def integer(self, amount: float) -> int:
        """The largest integer within an amount."""
        return math.floor(amount * self.scale + 1e-3)

    def amount(self, integer: float) -> float:
        """The amount that an integer stands for."""
        return integer / self.scale


class Program:
    """The variables of a fleet, and what it takes of everything. Limits and goals are added by who solves it."""

    def __init__(self, problem: Problem) -> None:
        from ortools.sat.python import cp_model  # noqa: PLC0415 - only for those who plan fleets

        self.problem = problem
        self.model: cp_model.CpModel = cp_model.CpModel()
        self.chosen = [[self.model.new_bool_var("") for _ in offer.options] for offer in problem.offers]
        for row in self.chosen:
            if problem.may_drop:
                self.model.add_at_most_one(row)
            else:
                self.model.add_exactly_one(row)
        self._counts = [self._count(kind.name) for kind in problem.kinds]
        self.measures = {measure.name: measure for measure in (*self._spent(), *self._by_type(), *self._racks())}

    def goals(self) -> list[tuple[Sense, Measure]]:
        """What is best: the goal first, then what decides between fleets that are equal in all before."""
        racks = [measure for name, measure in self.measures.items() if name.startswith(RACKS)]
        spent: list[tuple[Sense, Measure]] = [("min", m) for m in (*(self.measures[name] for name in GOALS), *racks)]
        match self.problem.maximize:
            case "throughput":
                return [("max", self.throughput()), *spent]
            case "smallest_share":
                return [("max", self.smallest_share()), ("max", self.throughput()), *spent]
        first: Sense = "min"
        return [(first, self.measures[str(self.problem.minimize)]), *spent]

    def throughput(self) -> Measure:
        """Weighted requests per second."""
        worth = [[offer.weight * option.rate_rps for option in offer.options] for offer in self.problem.offers]
        scale = _scale(max(row, default=0.0) for row in worth)
        expression = sum(
            round(value * scale) * x
            for row, xs in zip(worth, self.chosen, strict=True)
            for value, x in zip(row, xs, strict=True)
        )
        return Measure("throughput", "weighted RPS", scale, expression)

    def smallest_share(self) -> Measure:
        """The least share of its target that any service gets."""
        scale = 10**FINEST
        least = self.model.new_int_var(0, scale, "")
        for offer, xs in zip(self.problem.offers, self.chosen, strict=True):
            pairs = zip(offer.options, xs, strict=True)
            self.model.add(least <= sum(round(offer.share(option) * scale) * x for option, x in pairs))
        return Measure("smallest_share", "of its target", scale, least)

    def preferences(self) -> Iterable[Any]:
        """The last rule, to be minimised one after the other: the first service gets the earliest of its options, ...

        ... then the second, and so on; as many services at once as one integer can tell apart.
        """
        part: Any = 0
        weight = LARGEST
        for offer, xs in zip(self.problem.offers, self.chosen, strict=True):
            base = len(offer.options) + 1
            if weight < base:
                yield part
                part, weight = 0, LARGEST
            weight //= base
            # A service without a cluster comes after all options.
            part += weight * (sum((position - len(xs)) * x for position, x in enumerate(xs)) + len(xs))
        yield part

    def picked(self, solver: cp_model.CpSolver) -> list[Option | None]:
        """The option that each service gets."""
        return [
            next((option for option, x in zip(offer.options, xs, strict=True) if solver.boolean_value(x)), None)
            for offer, xs in zip(self.problem.offers, self.chosen, strict=True)
        ]

    def _count(self, kind: str) -> Any:
        return sum(
            option.machines[kind] * x
            for offer, xs in zip(self.problem.offers, self.chosen, strict=True)
            for option, x in zip(offer.options, xs, strict=True)
            if option.machines.get(kind)
        )

    def _most(self, kind: str) -> int:
        return sum(max((o.machines.get(kind, 0) for o in offer.options), default=0) for offer in self.problem.offers)

    def _spent(self) -> Iterable[Measure]:
        kinds = self.problem.kinds
        most = [self._most(kind.name) for kind in kinds]
        scale = _scale(kind.cost_usd_per_h * n for kind, n in zip(kinds, most, strict=True))
        cost = sum(round(kind.cost_usd_per_h * scale) * n for kind, n in zip(kinds, self._counts, strict=True))
        for kind, count in zip(kinds, self._counts, strict=True):
            if kind.owned and kind.spared_usd_per_h:
                used = self.model.new_int_var(0, kind.owned, "")
                self.model.add(used <= count)
                cost -= round(kind.spared_usd_per_h * scale) * used
        yield Measure("cost", UNITS["cost"], scale, cost)
        scale = _scale(kind.power_kw * n for kind, n in zip(kinds, most, strict=True))
        power = sum(round(kind.power_kw * scale) * n for kind, n in zip(kinds, self._counts, strict=True))
        yield Measure("power", UNITS["power"], scale, power)
        yield Measure("machines", UNITS["machines"], 1, sum(self._counts))

    def _by_type(self) -> Iterable[Measure]:
        names = [kind.name for kind in self.problem.kinds]
        for name in self.problem.limits.machines_of:
            if name in names:
                yield Measure(f"machines of {name}", "machines", 1, self._counts[names.index(name)])

    def _racks(self) -> Iterable[Measure]:
        kinds, racks = self.problem.kinds, self.problem.limits.racks
        if not racks:
            return
        most = sum(self._most(kind.name) for kind in kinds)
        places: list[Any] = [0] * len(kinds)
        for rack in racks:
            taken: Any = 0
            for filling in fillings(rack, kinds):
                filled = self.model.new_int_var(0, most, "")
                taken += filled
                places = [place + n * filled for place, n in zip(places, filling, strict=True)]
            yield Measure(f"{RACKS}{rack.name}", "racks", 1, taken)
        for place, count in zip(places, self._counts, strict=True):
            self.model.add(place >= count)


def _scale(parts: Iterable[float]) -> int:
    """Ten to the number of decimals that leaves a sum of these parts below `LARGEST`."""
    total = sum(parts)
    decimals = FINEST
    while total * 10**decimals > LARGEST:
        decimals -= 1
    return 10**decimals if decimals >= 0 else 1


def capacities(problem: Problem) -> dict[str, float]:
    """The limits that a fleet has, by the names of their measures."""
    limits = problem.limits
    given: Sequence[tuple[str, float | None]] = [
        ("cost", limits.cost_usd_per_h),
        ("power", limits.power_kw),
        ("machines", limits.machines),
        *((f"machines of {name}", most) for name, most in limits.machines_of.items()),
        *((f"{RACKS}{rack.name}", rack.count) for rack in limits.racks),
    ]
    return {name: most for name, most in given if most is not None}
