"""What a fleet's integer program is about: services with the clusters each may get, and shared limits.

All that a fleet takes follows from its numbers of machines of each type: cost, power, places in racks. A fleet buys
whole machines; where a design counts instances, a cluster's are rounded up to machines.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from provisioner.domain.cluster import Cluster
from provisioner.domain.fleet import Limits, Maximize, Minimize
from provisioner.search import Evaluation

Role = tuple[str, str]
"""What a machine does for its service: the pool it is in, and its type."""
GOALS: tuple[Minimize, ...] = ("cost", "power", "machines")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A machine type: what a whole one costs (USD/h) and draws (kW), and how many are owned."""

    name: str
    cost_usd_per_h: float
    power_kw: float
    owned: int = 0
    sunk_usd_per_h: float = 0.0
    """Part of the cost of each one owned that is paid whether it is used or not."""
    startup_s: float = 0.0

    @property
    def spared_usd_per_h(self) -> float:
        """What using one that is owned costs less than another; nobody is paid for using one, however dear it was."""
        return min(self.sunk_usd_per_h, self.cost_usd_per_h)

    def worth(self, minimize: Minimize) -> float:
        """What one of them counts in a goal, whatever it costs."""
        return {"cost": 0.0, "power": self.power_kw, "machines": 1.0}[minimize]


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One cluster that a service may get: whole machines by type, and the rate (requests/s) that they serve."""

    label: str
    machines: Mapping[str, int]
    rate_rps: float
    evaluation: Evaluation | None = None
    """The certified evaluation behind it; None for one made up."""
    roles: Mapping[Role, int] = field(init=False, compare=False, repr=False)
    """Machines by pool and type; without an evaluation all of a type have one role."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "roles", self._roles())

    def _roles(self) -> dict[Role, int]:
        if self.evaluation is None:
            return {("mixed", name): count for name, count in self.machines.items() if count}
        cluster = self.evaluation.cluster
        design = cluster.design
        return {
            (pool, machine.name): -(-count // design.units_per_machine)
            for pool, machine, count in zip(design.pools, design.machines, cluster.counts, strict=True)
        }

    @classmethod
    def of(cls, evaluation: Evaluation) -> Option:
        """The option of a cluster that passed."""
        cluster = evaluation.cluster
        return cls(
            label=f"{cluster.design.short} {cluster.label}",
            machines=whole_machines(cluster),
            rate_rps=evaluation.rate_rps,
            evaluation=evaluation,
        )


def whole_machines(cluster: Cluster) -> dict[str, int]:
    """Machines of each type that a cluster stands on, instances rounded up to whole ones."""
    units: dict[str, int] = {}
    for machine, count in zip(cluster.design.machines, cluster.counts, strict=True):
        units[machine.name] = units.get(machine.name, 0) + count
    return {name: -(-count // cluster.design.units_per_machine) for name, count in units.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What one service may get. Options stand in the order in which ties prefer them."""

    service: str
    target_rps: float
    options: tuple[Option, ...]
    weight: float = 1.0

    def share(self, option: Option | None) -> float:
        """Part of the target that an option serves."""
        return 0.0 if option is None else min(option.rate_rps / self.target_rps, 1.0)


@dataclass(frozen=True, kw_only=True)
class Problem:
    """A fleet to be planned: exactly one of `minimize` and `maximize` is set."""

    kinds: tuple[Kind, ...]
    offers: tuple[Offer, ...]
    limits: Limits = field(default_factory=Limits)
    minimize: Minimize | None = None
    maximize: Maximize | None = None

    @property
    def may_drop(self) -> bool:
        """Whether a service may go without a cluster."""
        return self.maximize is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """What a fleet takes."""

    cost_usd_per_h: float
    """Still to be paid: without what is sunk."""
    sunk_usd_per_h: float
    power_kw: float
    machines: int
    machines_of: Mapping[str, int]

    @classmethod
    def of(cls, kinds: Sequence[Kind], picks: Sequence[Option | None]) -> Totals:
        """The totals of some clusters."""
        counts = {kind.name: sum(pick.machines.get(kind.name, 0) for pick in picks if pick) for kind in kinds}
        spared = sum(min(counts[kind.name], kind.owned) * kind.spared_usd_per_h for kind in kinds)
        return cls(
            cost_usd_per_h=round(sum(counts[kind.name] * kind.cost_usd_per_h for kind in kinds) - spared, 9),
            sunk_usd_per_h=round(sum(kind.owned * kind.sunk_usd_per_h for kind in kinds), 9),
            power_kw=round(sum(counts[kind.name] * kind.power_kw for kind in kinds), 9),
            machines=sum(counts.values()),
            machines_of=counts,
        )
