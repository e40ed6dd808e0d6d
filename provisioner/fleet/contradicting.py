"""Why there is no plan by the hour: limits that contradict each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from provisioner.fleet.answer import LimitUse, Raise
from provisioner.fleet.explaining import smallest_conflict
from provisioner.fleet.hours import RACKS, HourlyProgram
from provisioner.fleet.program import UNITS
from provisioner.fleet.solving import Effort

FREE = (0.0, float("inf"))


def conflict_by_hour(program: HourlyProgram, effort: Effort) -> tuple[LimitUse, ...]:
    """The smallest set of contradicting limits, each with the least value that would do, all others kept.

    None where it is not known that they do, for want of time.
    """
    caps, linear = program.caps, program.linear

    def is_feasible(kept: Sequence[str]) -> bool:
        free = {cap: FREE for name, cap in caps.items() if name not in kept}
        return linear.least({}, within=free, time_s=effort.time_s).verdict != "infeasible"

    found: list[LimitUse] = []
    if is_feasible(list(caps)):
        return ()
    for name in smallest_conflict(list(caps), is_feasible):
        unit = UNITS.get(name, "racks" if name.startswith(RACKS) else "machines")
        use = LimitUse(name=name, unit=unit, limit=linear.upper[caps[name]], used=None)
        least = linear.least({caps[name]: 1.0}, within={caps[name]: FREE}, time_s=effort.time_s)
        enough = None if least.values is None else Raise(to=round(least.value, 6), gain=None)
        found.append(replace(use, enough=enough))
    return tuple(found)
