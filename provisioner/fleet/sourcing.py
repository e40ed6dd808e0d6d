"""Where the machines that a plan holds by the hour come from, for the least; computed in integers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from provisioner.domain.fleet import Day
from provisioner.fleet.problem import Kind

SCALE = 10_000
"""Costs are integers of a hundredth of a cent."""
NEVER = 10**12
"""A cost above all others: of machines that are not to be had."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """Machines of a type in an hour: those held, and where they come from, besides those reserved."""

    held: int
    owned: int
    on_demand: int
    spot: int


@dataclass(frozen=True, slots=True)
class Sources:
    """What a type of machine costs beyond those reserved: owned, on demand and spot, the cheapest first."""

    kind: Kind
    day: Day

    @property
    def offers(self) -> list[tuple[int, str, int]]:
        """Price of a machine-hour, name and most machines of each source."""
        kind, day = self.kind, self.day
        price = kind.cost_usd_per_h * SCALE
        found = [(round((kind.cost_usd_per_h - kind.spared_usd_per_h) * SCALE), "owned", kind.owned)]
        if day.spot is not None:
            found.append((round(price * day.spot), "spot", day.spot_machines.get(kind.name, 0)))
        if day.on_demand is not None:
            found.append((round(price * day.on_demand), "on_demand", NEVER))
        return sorted(found)

    @property
    def reserved(self) -> int:
        """Price of an hour of a machine that is reserved."""
        return round(self.kind.cost_usd_per_h * self.day.reserved * SCALE)

    def covering(self, most: int) -> NDArray[np.int64]:
        """Cost of so many machines in one hour: int64[most + 1]."""
        each = [price for price, _, count in self.offers for _ in range(min(count, most))][:most]
        return np.cumsum([0, *each, *[NEVER] * (most - len(each))], dtype=np.int64)

    def best(self, held: Sequence[int]) -> tuple[int, int]:
        """How many to reserve for these numbers by the hour, the fewest of equals, and the cost of all hours."""
        counts, most = np.asarray(held), max(held)
        covering = self.covering(most)
        costs = [
            self.reserved * len(held) * count + int(covering[np.maximum(counts - count, 0)].sum())
            for count in range(most + 1)
        ]
        reserved = int(np.argmin(costs))
        return reserved, costs[reserved]

    def holding(self, held: int, reserved: int) -> Holding:
        """Where the machines of an hour come from."""
        missing, taken = max(held - reserved, 0), dict.fromkeys(("owned", "on_demand", "spot"), 0)
        for _, name, most in self.offers:
            taken[name] = min(missing, most)
            missing -= taken[name]
        return Holding(held=held, **taken)
