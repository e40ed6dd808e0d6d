"""How long CP-SAT takes for large fleets: `python -m benchmarks.fleet`.

Clusters are made up, so that nothing is simulated: each service has a staircase of mixes of three machine types,
as fronts of real ones have, with noise.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from provisioner.domain.fleet import Day, Limits, Rack
from provisioner.fleet import Effort, Kind, Offer, Option, Problem, plan
from provisioner.fleet.day import plan_hours
from provisioner.fleet.hours import Hours

KINDS = (
    Kind(name="a100", cost_usd_per_h=17.68, power_kw=6.2),
    Kind(name="h100", cost_usd_per_h=38.08, power_kw=11.0),
    Kind(name="h100-cap", cost_usd_per_h=38.08, power_kw=7.7),
)
SPEED = np.array([1.0, 2.4, 2.0])
"""Requests per second that a machine adds, about."""


def offer(number: int, options: int) -> Offer:
    """A service of 20 to 100 requests/s with so many clusters."""
    random = np.random.default_rng(number)
    need = random.uniform(20, 100)
    found = []
    for place in range(options):
        mix = random.dirichlet(np.ones(3)) * need * random.uniform(1.0, 1.15) / SPEED
        counts = np.maximum(np.ceil(mix), 0).astype(int)
        machines = {kind.name: int(count) for kind, count in zip(KINDS, counts, strict=True)}
        found.append(Option(label=str(place), machines=machines, rate_rps=need))
    return Offer(service=f"s{number}", target_rps=need, options=tuple(found))


def problem(services: int, options: int) -> Problem:
    """Six limits, most of which bind."""
    offers = tuple(offer(number, options) for number in range(services))
    free = Problem(kinds=KINDS, offers=offers, minimize="cost")
    cheapest = plan(free, explain=False).totals
    assert cheapest is not None
    powered = replace(free, limits=Limits(power_kw=cheapest.power_kw * 0.97))
    totals = plan(powered, explain=False).totals
    assert totals is not None
    most = {name: round(count * 1.05) for name, count in totals.machines_of.items()}
    limits = Limits(
        cost_usd_per_h=totals.cost_usd_per_h * 1.1,
        power_kw=totals.power_kw,
        machines=totals.machines + 2,
        machines_of={name: most[name] for name in ("a100", "h100")},
        racks=(Rack(name="row", count=round(totals.machines * 0.27), power_kw=40.0, slots=4),),
    )
    return replace(free, limits=limits)


def week(services: int, levels: int, options: int) -> Hours:
    """168 hours whose rates rise and fall by day, with so many clusters at each of so many rates."""
    by_level = [[[] for _ in range(levels)] for _ in range(services)]
    for service, rows in enumerate(by_level):
        random = np.random.default_rng(service)
        peak = random.uniform(20, 100)
        for level, row in enumerate(rows):
            need = peak * (level + 1) / levels
            for place in range(options):
                mix = random.dirichlet(np.ones(3)) * need * random.uniform(1.0, 1.15) / SPEED
                counts = {kind.name: int(np.ceil(n)) for kind, n in zip(KINDS, mix, strict=True)}
                row.append(Option(label=f"{level}.{place}", machines=counts, rate_rps=need))
    hours = []
    for hour in range(168):
        load = [0.55 + 0.45 * np.sin((hour - 3 * service) * 2 * np.pi / 24) for service in range(services)]
        least = [min(int(part * levels), levels - 1) for part in load]
        hours.append(tuple(tuple(o for row in by_level[s][least[s] :] for o in row) for s in range(services)))
    day = Day(reserved=0.6, on_demand=1.0, change_usd=1.0)
    kinds = tuple(replace(kind, startup_s=600.0) for kind in KINDS)
    return Hours(kinds=kinds, services=tuple(map(str, range(services))), options=tuple(hours), day=day)


def main() -> None:
    asked = problem(50, 40)
    started, worked = time.perf_counter(), time.process_time()
    found = plan(asked, Effort(time_s=60, threads=2), explain=False)
    taken_s, worked_s = time.perf_counter() - started, time.process_time() - worked
    print(
        f"50 services x 40 clusters x 6 limits: {found.status}, gap {found.gap:.2%}, {taken_s:.1f} s "
        f"({worked_s:.1f} s of processor time; goal 10 s on 2 cores)"
    )
    started, worked = time.perf_counter(), time.process_time()
    by_hour = plan_hours(week(5, 6, 5), Effort(time_s=60, threads=2))
    taken_s, worked_s = time.perf_counter() - started, time.process_time() - worked
    print(
        f"a week by the hour, 5 services x 6 rates x 5 clusters: {by_hour.status}, gap {by_hour.gap:.2%}, saves "
        f"{by_hour.saving or 0:.1%}, {taken_s:.1f} s ({worked_s:.1f} s of processor time; goal 60 s on 2 cores)"
    )


if __name__ == "__main__":
    main()
