"""A fleet by the hour: what is asked of it, and the machines that serve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from provisioner.fleet.day import DayPlan
from provisioner.report.figures.fleet import by_themselves
from provisioner.report.figures.lines import Axis, Lines, Panel, Series


def by_hour(plan: DayPlan, rates: Sequence[Sequence[float]], title: str) -> Lines:
    """Rates, the machines of each service, and the machines held of each type, hour by hour."""
    machines = {
        name: [float(sum(picks[place].machines.values())) for picks in plan.picks]
        for place, name in enumerate(plan.services)
    }
    loads = {name: list(rates[place][: len(plan.picks)]) for place, name in enumerate(plan.services)}
    named = sorted(plan.services, key=lambda name: -sum(machines[name]))
    held = {name: [float(each[name].held) for each in plan.holdings] for name in plan.holdings[0]}
    hour = Axis(label="Hour", is_count=True, step=_tick_hours(len(plan.picks)))

    def panel(label: str, y: Axis, values: Mapping[str, Sequence[float]]) -> Panel:
        lines = tuple(_steps(name, each) for name, each in values.items())
        return Panel(title=label, x=hour, y=y, series=lines, is_step=True)

    machines_axis = Axis(label="Machines", is_count=True)

    return Lines(
        title=title,
        panels=(
            panel("Rate of each service", Axis(label="Requests/s"), _merged(loads, named)),
            panel("Machines of each service", machines_axis, _merged(machines, named)),
            panel("Machines held, by type", machines_axis, {name: each for name, each in held.items() if any(each)}),
        ),
        note="Held: machines that are paid for, whether they serve or start",
    )


def _tick_hours(hours: int) -> float:
    """Ticks at hours of a day; of several days at their ends."""
    return 3.0 if hours <= 24 else 24.0 * -(-hours // 240)  # noqa: PLR2004


def _steps(name: str, values: Sequence[float]) -> Series:
    """Each hour's value, until its end."""
    return Series(label=name, x=np.arange(len(values) + 1, dtype=np.float64), y=np.array([*values, values[-1]]))


def _merged(values: Mapping[str, Sequence[float]], ordered: Sequence[str]) -> dict[str, Sequence[float]]:
    """The first ones of an order by themselves, the sum of all others as one; the order is that of the values."""
    own = by_themselves(ordered)
    shown: dict[str, Sequence[float]] = {name: each for name, each in values.items() if name in own}
    rest = [each for name, each in values.items() if name not in own]
    if rest:
        shown[f"{len(rest)} others"] = np.sum(rest, axis=0).tolist()
    return shown
