"""A fleet's file: YAML to a `Fleet`, with every fault of it at once, each by its line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from provisioner.catalog.checking import checked
from provisioner.catalog.document import Document, Key, read_document
from provisioner.catalog.suggestion import did_you_mean
from provisioner.domain.fleet import Fleet, Service
from provisioner.errors import Fault

RATES = ("target_rps", "hourly_rps", "hours", "rates_from")


@dataclass(frozen=True, slots=True)
class FleetFile:
    """A fleet, and where each part of it stands."""

    fleet: Fleet
    document: Document

    def fault(self, key: Key, problem: str, value: object = None, allowed: str | None = None) -> Fault:
        """A fault of a part of the file."""
        return self.document.origin(key).fault(problem, value, allowed)


def read_fleet(file: Path) -> FleetFile:
    """Read a fleet's file.

    Raises
    ------
    InputError
        With every part of it that is not of the right kind.
    """
    document = read_document(file)
    return FleetFile(checked(Fleet, document), document)


def faults_of(found: FleetFile, machines: Sequence[str]) -> list[Fault]:
    """Every fault that the file alone shows; `machines` are the names of machines that there are."""
    return [*_twice(found), *_rates(found), *_unknown_machines(found, machines), *_too_few(found)]


def _twice(found: FleetFile) -> Iterator[Fault]:
    """Names that stand for two things."""
    named: list[tuple[Key, Iterable[str]]] = [
        (("services",), (service.name for service in found.fleet.services)),
        (("limits", "racks"), (rack.name for rack in found.fleet.limits.racks)),
    ]
    for key, names in named:
        first: dict[str, int | None] = {}
        for place, name in enumerate(names):
            where = (*key, place, "name")
            if name in first:
                yield found.fault(where, f"stands twice, first in line {first[name]}", name, "a name of its own")
            first.setdefault(name, found.document.origin(where).line)


def _rates(found: FleetFile) -> Iterator[Fault]:
    """Rates given twice, of zero, or not for each hour exactly once."""
    for place, service in enumerate(found.fleet.services):
        key: Key = ("services", place)
        given = [name for name in RATES if getattr(service, name) is not None]
        for name in given[1:]:
            problem = f"the rate stands in {given[0]} already"
            yield found.fault((*key, name), problem, allowed="one of " + ", ".join(RATES))
        for hour, rate in enumerate(service.hourly_rps or ()):
            if not 0 < rate <= 1e6:  # noqa: PLR2004
                yield found.fault((*key, "hourly_rps", hour), "out of range", rate, "above 0, at most 1e+06")
        yield from _periods(found, service, (*key, "hours"))


def _periods(found: FleetFile, service: Service, key: Key) -> Iterator[Fault]:
    ordered = sorted(enumerate(service.hours or ()), key=lambda pair: pair[1].from_hour)
    if ordered and ordered[0][1].from_hour > 0:
        yield found.fault((*key, ordered[0][0], "from_hour"), "the hours before have no rate", allowed="from hour 0")
    for (_, earlier), (place, later) in pairwise(ordered):
        where = (*key, place, "from_hour")
        span = f"{earlier.from_hour} to {earlier.to_hour}"
        if later.from_hour < earlier.to_hour:
            yield found.fault(where, f"overlaps hours {span}", later.from_hour, f"{earlier.to_hour}")
        elif later.from_hour > earlier.to_hour:
            yield found.fault(where, f"leaves hours without a rate after {span}", later.from_hour, f"{earlier.to_hour}")


def _unknown_machines(found: FleetFile, machines: Sequence[str]) -> Iterator[Fault]:
    fleet = found.fleet
    numbers: dict[Key, dict[str, int]] = {
        ("limits", "machines_of"): fleet.limits.machines_of,
        ("day", "spot_machines"): fleet.day.spot_machines,
    }
    named: dict[Key, Iterable[str]] = {**numbers, ("owned",): fleet.owned}
    for key, names in named.items():
        for name in names:
            if name not in machines:
                problem = "no machine has this name" + did_you_mean(name, machines)
                yield found.fault((*key, name), problem, name, ", ".join(machines))
    for key, counts in numbers.items():
        for name, most in counts.items():
            if most < 0:
                yield found.fault((*key, name), "must be at least 0", most)
    if fleet.day.spot_machines and fleet.day.spot is None:
        yield found.fault(("day", "spot_machines"), "spot machines have no price", allowed="a price: spot")


def _too_few(found: FleetFile) -> Iterator[Fault]:
    """Limits that contradict the services on sight: each needs a machine at least."""
    fleet, most = found.fleet, found.fleet.limits.machines
    if fleet.minimize is not None and most is not None and most < len(fleet.services):
        problem = f"fewer machines than there are services ({len(fleet.services)}), all of which are to be served"
        yield found.fault(("limits", "machines"), problem, most, "more, or maximize instead of minimize")
