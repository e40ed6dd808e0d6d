"""How long fleets take to solve: `python -m benchmarks.fleet`.

The fixed fleet and one of the weeks are made up, so that nothing is simulated: each service has a staircase of mixes of
three machine types, as fronts of real ones have, with noise. The other week's clusters are found by simulation, for a
minute, before the clock starts.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from provisioner.cli import services
from provisioner.domain.fleet import Day, Limits, Rack
from provisioner.fleet import Effort, Kind, Offer, Option, Problem, kinds, plan
from provisioner.fleet.day import plan_hours
from provisioner.fleet.hours import Hours
from provisioner.fleet.rates import options_by_hour
from provisioner.search import Workers

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
    booting = tuple(replace(kind, startup_s=600.0) for kind in KINDS)
    return Hours(kinds=booting, services=tuple(map(str, range(services))), options=tuple(hours), day=day)


FRIDAY = 4
WEEK = (
    ("coding", "bloom-176b", 33.0, 9),
    ("coding", "llama2-70b", 33.0, 11),
    ("conversation", "bloom-176b", 17.0, 20),
    ("conversation", "llama2-70b", 17.0, 19),
    ("conversation", "llama2-70b", 12.0, 2),
)
"""Workload, model, highest rate and its hour of the day."""


def week_file() -> str:
    """Five services whose rates rise and fall by day, less at the weekend, with noise of 7 %."""
    random = np.random.default_rng(1)
    lines = ["minimize: cost", "day: {reserved: 0.6, on_demand: 1.0, change_usd: 2.0}", "services:"]
    for place, (workload, model, peak, at) in enumerate(WEEK):
        hour = np.arange(168)
        load = (0.55 + 0.45 * np.cos((hour - at) * 2 * np.pi / 24)) * np.where(hour // 24 > FRIDAY, 0.65, 1.0)
        rates = np.minimum(peak * load * random.uniform(0.93, 1.07, 168), peak).round(2)
        rates[at] = peak
        fields = f"name: s{place}, workload: {workload}, model: {model}, hourly_rps: {rates.tolist()}"
        lines.append(f"  - {{{fields}}}")
    return "\n".join(lines) + "\n"


def simulated_week() -> Hours:
    """Its clusters of all designs, each found by simulation."""
    judging = services.Judging(replications=2)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "week.yaml"
        file.write_text(week_file())
        found, served = services.read(file, judging)
    contenders = [each.contender for each in served]
    with Workers(2) as workers:
        options = [
            options_by_hour(each.contender, found.fleet, each.rates or (), max_machines=200, workers=workers)[0]
            for each in served
        ]
    machines = {name: machine for contender in contenders for name, machine in contender.machines.items()}
    return Hours(
        kinds=kinds(found.fleet, machines),
        services=tuple(contender.name for contender in contenders),
        options=tuple(zip(*options, strict=True)),
        day=found.fleet.day,
    )


def timed(work: Callable[[], tuple[str, float, float]], what: str, goal_s: float) -> None:
    """Say what a solution took."""
    started = time.perf_counter()
    status, gap, value = work()
    taken_s = time.perf_counter() - started
    print(
        f"{what}: {status}, {value:,.2f}, gap {gap:.2%}, {taken_s:.1f} s (goal {goal_s:.0f} s on 2 cores)", flush=True
    )


def main() -> None:
    effort = Effort(time_s=60, threads=2)

    def fixed() -> tuple[str, float, float]:
        found = plan(asked, effort, explain=False)
        return found.status, found.gap, found.value or 0.0

    def by_hour() -> tuple[str, float, float]:
        found = plan_hours(hours, effort)
        return found.status, found.gap, found.value

    asked = problem(50, 40)
    timed(fixed, "50 services x 40 clusters x 6 limits", 10)
    hours = simulated_week()
    timed(by_hour, "a week by the hour, 5 services of all designs", 60)
    hours = week(5, 6, 5)
    timed(by_hour, "a week by the hour, 5 services x 6 rates x 5 clusters made up", 60)


if __name__ == "__main__":
    main()
