"""From rates by the hour to the clusters that serve them, and the proof that those chosen do."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from provisioner.domain.fleet import Fleet, Service
from provisioner.errors import Fault
from provisioner.fleet.course import Picks
from provisioner.fleet.day import DayPlan, plan_hours
from provisioner.fleet.hours import HOUR_S, Hours
from provisioner.fleet.offers import Contender, kinds, offered
from provisioner.fleet.problem import Option
from provisioner.fleet.reading import FleetFile
from provisioner.fleet.responses import good_picks
from provisioner.fleet.solving import Effort
from provisioner.search import Certificate, Workers
from provisioner.traces import read_recording

TINY = 1e-9
MOST_ROUNDS = 20
Passes = dict[tuple[int, str, float], bool]
"""Whether a service's cluster, by its label, meets the objectives at a rate."""


def hourly_rates(service: Service) -> tuple[float, ...] | None:
    """Requests per second of each hour; None for a service without hours.

    A trace's last hour counts only if it is whole, or the only one; an hour without requests counts as one request.
    """
    if service.rates_from is None:
        return service.rates
    trace = read_recording(Path(service.rates_from)).trace.from_first()
    hours = max(int(trace.span_s // HOUR_S), 1)
    counts = np.bincount((trace.arrival_s // HOUR_S).astype(int), minlength=hours)[:hours]
    return tuple((np.maximum(counts, 1) / min(HOUR_S, max(trace.span_s, 1.0))).tolist())


def horizon(found: FleetFile, rates: Sequence[tuple[float, ...] | None]) -> tuple[int, list[Fault]]:
    """Hours of the plan, and a fault for each service whose hours are not as many."""
    lengths = [len(each) for each in rates if each is not None]
    if not lengths:
        return 0, [found.fault((), "no service has rates by the hour", allowed="hourly_rps, hours or rates_from")]
    names = ("hourly_rps", "hours", "rates_from")
    faults = []
    for place, (service, each) in enumerate(zip(found.fleet.services, rates, strict=True)):
        if each is not None and len(each) != max(lengths):
            field = next(name for name in names if getattr(service, name) is not None)
            allowed = f"{max(lengths)} hours, as other services have"
            faults.append(found.fault(("services", place, field), f"gives {len(each)} hours", allowed=allowed))
    return max(lengths), faults


def options_by_hour(
    contender: Contender, fleet: Fleet, rates: Sequence[float], *, max_machines: int, workers: Workers
) -> tuple[list[tuple[Option, ...]], list[Certificate]]:
    """For each hour every cluster that was found for its rate, rounded up to a level, or for a higher one."""
    levels = fleet.day.levels
    needed = sorted({_level(rate / max(rates), levels) for rate in rates})
    shares = [level / levels for level in needed]
    offer, certificates = offered(contender, fleet, shares, max_machines=max_machines, workers=workers)
    by_hour = [
        tuple(
            option
            for option in offer.options
            if option.rate_rps >= _level(rate / max(rates), levels) / levels * max(rates) - TINY
        )
        for rate in rates
    ]
    return by_hour, certificates


def _level(share: float, levels: int) -> int:
    return max(int(np.ceil(share * levels - TINY)), 1)


def planned(
    contenders: Sequence[Contender],
    fleet: Fleet,
    rates: Sequence[Sequence[float]],
    options: Sequence[Sequence[tuple[Option, ...]]],
    *,
    effort: Effort,
    workers: Workers,
) -> DayPlan:
    """The best plan all of whose clusters pass at the very rate of each hour.

    A cluster that passes at a rate hardly ever fails at a lower one; that is checked, and one that does is left out.
    """
    machines = {name: machine for contender in contenders for name, machine in contender.machines.items()}
    asked = Hours(
        kinds=kinds(fleet, machines),
        services=tuple(contender.name for contender in contenders),
        options=tuple(zip(*options, strict=True)),
        day=fleet.day,
        limits=fleet.limits,
        minimize=fleet.minimize or "cost",
    )
    passes: Passes = {}
    started = time.perf_counter()
    for _ in range(MOST_ROUNDS):  # what a good plan would use is looked at first, since the best is found only slowly
        if not all(row for rows in asked.options for row in rows) or _all_pass(
            good_picks(asked), contenders, rates, passes, workers
        ):
            break
        asked = _without_failing(asked, rates, passes)
    for _ in range(MOST_ROUNDS):
        plan = plan_hours(asked, effort)
        if _all_pass(plan.picks, contenders, rates, passes, workers):
            return replace(plan, checked=len(passes), elapsed_s=time.perf_counter() - started)
        asked = _without_failing(asked, rates, passes)
    return DayPlan(status="infeasible", services=asked.services, minimize=asked.minimize)


def _without_failing(asked: Hours, rates: Sequence[Sequence[float]], passes: Passes) -> Hours:
    """Without the clusters that are known to miss an objective at the rate of an hour."""

    def kept(row: Sequence[Option], service: int, hour: int) -> tuple[Option, ...]:
        rate = rates[service][hour]
        return tuple(option for option in row if passes.get((service, option.label, rate), True))

    return replace(
        asked,
        options=tuple(
            tuple(kept(row, service, hour) for service, row in enumerate(rows))
            for hour, rows in enumerate(asked.options)
        ),
    )


def _all_pass(
    picks: Picks,
    contenders: Sequence[Contender],
    rates: Sequence[Sequence[float]],
    passes: Passes,
    workers: Workers,
) -> bool:
    """Whether all clusters meet the objectives at their hours' rates; what is found out is added to what passes."""
    chosen = {
        (service, option.label, rates[service][hour]): option
        for hour, picked in enumerate(picks)
        for service, option in enumerate(picked)
    }
    new = [(key, option) for key, option in chosen.items() if key not in passes]

    def judged(item: tuple[tuple[int, str, float], Option]) -> bool:
        (service, _, rate), option = item
        assert option.evaluation is not None
        if abs(rate - option.rate_rps) <= TINY:
            return True
        cluster = option.evaluation.cluster
        judge = next(each for each in contenders[service].judges if each.design == cluster.design)
        return judge.at_rate(rate).evaluate(cluster).is_feasible

    passes.update(zip((key for key, _ in new), workers.map(judged, new), strict=True))
    return all(passes[key] for key in chosen)
