"""A plan by the hour, worked out from its clusters: who serves, what is started and held, and what that costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from provisioner.domain.fleet import Minimize
from provisioner.fleet.hours import Hours
from provisioner.fleet.problem import Option, Role
from provisioner.fleet.sourcing import NEVER, SCALE, Holding, Sources

Picks = Sequence[Sequence[Option]]
"""By hour, then by service."""


@dataclass(frozen=True)
class Course:
    """What follows from the clusters of every hour."""

    asked: Hours
    picks: Picks

    @cached_property
    def starts(self) -> list[Counter[str]]:
        """Machines of each type that serve in an hour in a role that they had not in the one before."""
        serving = [_serving(picked) for picked in self.picks]
        return [_by_type(now - serving[hour - 1]) for hour, now in enumerate(serving)]

    @cached_property
    def held(self) -> dict[str, list[int]]:
        """Machines of each type that serve or are being started, by hour."""
        serving = [_by_type(_serving(picked)) for picked in self.picks]
        hours = len(self.picks)
        return {
            name: [
                serving[hour][name] + sum(self.starts[(hour + ahead) % hours][name] for ahead in range(1, lead + 1))
                for hour in range(hours)
            ]
            for name, lead in self.asked.lead_hours.items()
        }

    def cost_usd(self) -> float | None:
        """Over all hours, with the best number reserved; None if machines are needed that are not to be had."""
        day = self.asked.day
        total = sum(Sources(kind, day).best(self.held[kind.name])[1] for kind in self.asked.kinds)
        total += round(day.change_usd * SCALE) * sum(each.total() for each in self.starts)
        return None if total >= NEVER else total / SCALE

    def measure(self, name: Minimize) -> float:
        """The goal of this name over all hours, in USD, kWh or machine-hours."""
        if name == "cost":
            return self.cost_usd() or 0.0
        return round(sum(kind.worth(name) * sum(self.held[kind.name]) for kind in self.asked.kinds), 6)

    def reserved(self) -> dict[str, int]:
        """Machines of each type kept for all hours."""
        return {kind.name: Sources(kind, self.asked.day).best(self.held[kind.name])[0] for kind in self.asked.kinds}

    def holdings(self, reserved: Mapping[str, int]) -> tuple[dict[str, Holding], ...]:
        """Where the machines of each hour come from, by type."""
        return tuple(
            {
                kind.name: Sources(kind, self.asked.day).holding(self.held[kind.name][hour], reserved[kind.name])
                for kind in self.asked.kinds
            }
            for hour in range(len(self.picks))
        )


def _serving(picked: Sequence[Option]) -> Counter[tuple[int, Role]]:
    return Counter(
        {(service, role): count for service, pick in enumerate(picked) for role, count in pick.roles.items()}
    )


def _by_type(machines: Counter[tuple[int, Role]]) -> Counter[str]:
    found: Counter[str] = Counter()
    for (_, (_, name)), count in machines.items():
        found[name] += count
    return found
