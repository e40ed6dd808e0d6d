"""From the services of a fleet's file to those who judge clusters for them; every fault by its line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from provisioner.cli.options import Inputs, Question
from provisioner.cli.question import Faults, Setting, open_catalog, resolve
from provisioner.errors import Fault, InputError

if TYPE_CHECKING:
    from provisioner.domain.fleet import Service
    from provisioner.fleet import Contender
    from provisioner.fleet.reading import FleetFile

_KEYS = {
    "design": "designs",
    "--cluster": "designs",
    "model": "model",
    "slo": "slo",
    "profile": "profile",
    "workload": "workload",
    "--workload": "workload",
    "--target-rps": "target_rps",
}
"""The field of a service that an option or a name comes from."""


@dataclass(frozen=True, kw_only=True)
class Judging(Inputs):
    """How clusters are judged, the same for every service."""

    duration: Annotated[
        float | None,
        typer.Option(help="Seconds of arrivals.", metavar="S", show_default="120; a file's own length"),
    ] = None
    seed: Annotated[int, typer.Option(help="Fixes everything random.", min=0, metavar="N")] = 0
    replications: Annotated[int, typer.Option(help="Independent seeds.", min=1, max=10_000, metavar="N")] = 5
    confidence: Annotated[
        float | None,
        typer.Option(help="Judge by intervals at this confidence.", metavar="P", show_default="judge by means"),
    ] = None
    choose_cap: Annotated[
        bool, typer.Option("--choose-cap", help="Try every pool at every power cap level that the profile has.")
    ] = False
    max_machines: Annotated[int, typer.Option(help="Largest cluster of one service.", min=1, max=2000, metavar="N")] = (
        200
    )
    jobs: Annotated[
        int | None,
        typer.Option(help="Threads that simulate and solve.", min=1, max=1024, show_default="all cores", metavar="N"),
    ] = None


@dataclass(frozen=True, kw_only=True)
class Served:
    """A service, resolved."""

    service: Service
    setting: Setting
    contender: Contender
    rates: tuple[float, ...] | None
    """By the hour, where it has hours."""


def read(file: Path, judging: Judging) -> tuple[FleetFile, list[Served]]:
    """Read a fleet's file and resolve its services.

    Raises
    ------
    InputError
        With every fault of every service.
    """
    from provisioner.fleet.reading import faults_of, read_fleet

    catalog = open_catalog(judging)
    found = read_fleet(file)
    faults = Faults()
    faults.found.extend(faults_of(found, catalog.names("machines")))
    served = [faults.of(_served, found, place, judging) for place in range(len(found.fleet.services))]
    resolved = [each for each in served if each is not None]
    faults.found.extend(_hopeless(found, resolved))
    faults.found.sort(key=lambda fault: fault.line or 0)
    faults.raise_if_any()
    return found, resolved


def _served(found: FleetFile, place: int, judging: Judging) -> Served:
    from provisioner.fleet import Contender
    from provisioner.fleet.rates import hourly_rates

    service = found.fleet.services[place]
    try:
        rates = hourly_rates(service)
        setting = resolve(_question(service, rates, judging), service.designs)
    except InputError as error:
        raise InputError(_placed(found, place, fault) for fault in error.faults) from None
    contender = Contender(name=service.name, judges=tuple(setting.judges), weight=service.weight)
    return Served(service=service, setting=setting, contender=contender, rates=rates)


def _question(service: Service, rates: Sequence[float] | None, judging: Judging) -> Question:
    """The service as if it were asked for on the command line, at its highest rate."""
    return Question(
        workload=[part.strip() for part in service.workload.split(" + ")],
        target_rps=max(rates) if rates else service.target_rps,
        model=service.model,
        slo=service.slo,
        profile=service.profile,
        duration=judging.duration,
        seed=judging.seed,
        replications=judging.replications,
        confidence=judging.confidence,
        choose_cap=judging.choose_cap,
        catalog=judging.catalog,
        set=judging.set,
        preset=judging.preset,
        quiet=judging.quiet,
    )


def _placed(found: FleetFile, place: int, fault: Fault) -> Fault:
    """The fault where the service has what it is about; one of another file stays there."""
    if fault.file is not None:
        return fault
    service = found.fleet.services[place]
    name = _KEYS.get(fault.field or "")
    if name is None:
        return found.fault(("services", place, "name"), f"{fault.field}: {fault.problem}", fault.value, fault.allowed)
    key: tuple[str | int, ...] = ("services", place, name)
    if name == "designs" and fault.value in service.designs:
        key = (*key, service.designs.index(str(fault.value)))
    allowed = "a rate: target_rps, hourly_rps, hours or rates_from" if name == "target_rps" else fault.allowed
    return found.fault(key, fault.problem, fault.value, allowed)


def _hopeless(found: FleetFile, served: Sequence[Served]) -> Iterator[Fault]:
    """Services that nothing can serve, whatever the numbers of machines; racks and limits that let nothing in."""
    from provisioner.search.evaluate import impossible_limits

    limits = found.fleet.limits
    names = [service.name for service in found.fleet.services]
    for each in served:
        key = ("services", names.index(each.service.name), "designs")
        reasons = [impossible_limits(judge) for judge in each.contender.judges]
        if all(reasons):
            why = "; ".join(dict.fromkeys(reason[0] for reason in reasons))
            yield found.fault(key, f"no design can serve it: {why}", allowed="another design, model or SLO")
        needs = [{machine.name for machine in judge.design.whole_machines} for judge in each.contender.judges]
        barred = {name for name, most in limits.machines_of.items() if most == 0}
        if found.fleet.minimize is not None and all(need & barred for need in needs):
            yield found.fault(
                key,
                f"each design needs machines that limits exclude: {', '.join(sorted(barred))}",
                allowed="another design",
            )
    least_kw = min((m.power_kw for each in served for m in each.contender.machines.values()), default=0.0)
    for place, rack in enumerate(limits.racks):
        if rack.power_kw < least_kw:
            where = ("limits", "racks", place, "power_kw")
            yield found.fault(where, "feeds no machine of the services", rack.power_kw, f"at least {least_kw:g}")


def echo(judging: Judging, served: Sequence[Served]) -> dict[str, Any]:
    """Every resolved input, by service."""
    return {
        "services": {each.service.name: each.setting.inputs for each in served},
        "max_machines": judging.max_machines,
    }
