"""Why there is no plan by the hour: limits that contradict each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from provisioner.fleet.answer import LimitUse, Raise
from provisioner.fleet.explaining import Patience, smallest_conflict
from provisioner.fleet.hours import RACKS, HourlyProgram
from provisioner.fleet.program import UNITS
from provisioner.fleet.solving import Effort, Verdict

FREE = (0.0, float("inf"))


def conflict_by_hour(program: HourlyProgram, effort: Effort) -> tuple[LimitUse, ...]:
    """The smallest set of contradicting limits, each with the least value that would do, all others kept.

    Empty where it is not known that they do, for want of time.
    """
    caps, linear, patience = program.caps, program.linear, Patience.of(effort)

    def verdict(kept: Sequence[str]) -> Verdict:
        free = {cap: FREE for name, cap in caps.items() if name not in kept}
        found = linear.least({}, within=free, time_s=patience.left().time_s)
        return ("unknown" if found.values is None else "feasible") if found.verdict == "open" else found.verdict

    if verdict(list(caps)) != "infeasible":
        return ()
    names, _ = smallest_conflict(list(caps), verdict)
    found: list[LimitUse] = []
    for name in names:
        unit = UNITS.get(name, "racks" if name.startswith(RACKS) else "machines")
        use = LimitUse(name=name, unit=unit, limit=linear.upper[caps[name]], used=None)
        least = linear.least({caps[name]: 1.0}, within={caps[name]: FREE}, time_s=patience.left().time_s)
        enough = None if least.values is None else Raise(to=round(least.value, 6), gain=None)
        found.append(replace(use, enough=enough, is_known=least.verdict != "open"))
    return tuple(found)
