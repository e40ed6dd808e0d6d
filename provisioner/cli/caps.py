"""The power cap as a choice: designs again with each pool at every cap level that the profile has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from provisioner.catalog import Catalog
    from provisioner.domain.design import Design
    from provisioner.domain.machine import Machine
    from provisioner.domain.model import Model
    from provisioner.perf import ProfileSet


def with_caps(
    designs: Sequence[Design], catalog: Catalog, model: Model, profiles: ProfileSet
) -> tuple[list[Design], list[str]]:
    """The designs, then those that differ from them in cap levels; and machines of which there is one level only."""
    levels: dict[str, list[Machine]] = {}
    for name in catalog.names("machines"):
        machine = catalog.machine(name)
        levels.setdefault(machine.capped_from or machine.name, []).append(machine)
    known = {design.whole_machines for design in designs}
    found, notes = list(designs), []
    for design in designs:
        choices = [_covered(levels[m.capped_from or m.name], design, model, profiles) for m in design.whole_machines]
        for machines in product(*choices):
            if machines not in known:
                known.add(machines)
                found.append(_capped(design, machines))
        for machine, choice in zip(design.whole_machines, choices, strict=True):
            if len(choice) == 1:
                notes.append(f"{machine.name}: profile and catalog have one power cap level for {model.name}")
    return found, list(dict.fromkeys(notes))


def _covered(machines: Sequence[Machine], design: Design, model: Model, profiles: ProfileSet) -> list[Machine]:
    measured = {(m.model, m.machine) for m in profiles.models.values() if m.tensor_parallel == design.tensor_parallel}
    return [machine for machine in machines if (model.name, machine.name) in measured]


def _capped(design: Design, machines: Sequence[Machine]) -> Design:
    """The design on other machines, named by what changed: `HH(token cap)`."""
    changed = ", ".join(_changes(design.pools, design.whole_machines, machines))
    fields = {"name": f"{design.name}({changed})"[:80], "short": f"{design.short}({changed})"[:40]}
    return design.model_copy(update={**dict(zip(design.pools, machines, strict=True)), **fields})


def _changes(pools: Sequence[str], before: Sequence[Machine], after: Sequence[Machine]) -> Iterator[str]:
    for pool, was, now in zip(pools, before, after, strict=True):
        if now != was:
            level = now.name.removeprefix(now.capped_from).strip("-") if now.capped_from else "uncapped"
            yield f"{pool} {level}"
