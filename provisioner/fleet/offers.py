"""What each service may get: the certified non-dominated clusters at its rate, and at parts of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from provisioner.domain.fleet import Fleet, Owned
from provisioner.domain.machine import Machine
from provisioner.fleet.problem import Kind, Offer, Option
from provisioner.search import Certificate, Judge, Workers, pareto


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """A service with the judges of its designs, at its whole rate."""

    name: str
    judges: tuple[Judge, ...]
    weight: float = 1.0

    @property
    def rate_rps(self) -> float:
        """The rate that is asked for."""
        return self.judges[0].scenario.rate_rps

    @property
    def machines(self) -> dict[str, Machine]:
        """Whole machines of its designs, by name."""
        return {machine.name: machine for judge in self.judges for machine in judge.design.whole_machines}

    @property
    def counts_instances(self) -> bool:
        """Whether a design of it counts parts of machines, which a fleet rounds up."""
        return any(judge.design.unit == "instance" for judge in self.judges)


def offered(
    contender: Contender, fleet: Fleet, shares: Sequence[float], *, max_machines: int, workers: Workers
) -> tuple[Offer, list[Certificate]]:
    """A service's options at parts of its rate: the largest part first, at each the cheapest first.

    No cluster of at most `max_machines` that is left out could make a better fleet: another option takes no more
    of anything that the fleet limits or wants little of.
    """
    limits = fleet.limits
    by_type = bool(limits.machines_of or limits.racks or fleet.owned or contender.counts_instances)
    types = sorted(contender.machines) if by_type else []
    options: list[Option] = []
    certificates = []
    for share in sorted(shares, reverse=True):
        judges = [judge.at_rate(share * contender.rate_rps) for judge in contender.judges]
        front = pareto(judges, max_machines=max_machines, workers=workers, types=types)
        certificates.append(front.certificate)
        options += map(Option.of, front.clusters)
    offer = Offer(
        service=contender.name, target_rps=contender.rate_rps, options=tuple(options), weight=contender.weight
    )
    return offer, certificates


def shares(fleet: Fleet) -> list[float]:
    """Parts of their rates at which services may be served: all of it, unless not everything has to be."""
    steps = 1 if fleet.minimize is not None else fleet.share_steps
    return [step / steps for step in range(1, steps + 1)]


def kinds(fleet: Fleet, machines: Mapping[str, Machine]) -> tuple[Kind, ...]:
    """The machine types of a fleet, by name."""
    return tuple(_kind(machine, fleet.owned.get(name)) for name, machine in sorted(machines.items()))


def _kind(machine: Machine, owned: Owned | None) -> Kind:
    sunk = None if owned is None else owned.sunk_usd_per_h
    return Kind(
        name=machine.name,
        cost_usd_per_h=machine.cost_usd_per_h,
        power_kw=machine.power_kw,
        owned=0 if owned is None else owned.machines,
        startup_s=machine.startup_s,
        sunk_usd_per_h=machine.cost_usd_per_h if sunk is None else sunk,
    )
