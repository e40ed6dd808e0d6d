"""How long CP-SAT takes for large fleets: `python -m benchmarks.fleet`.

Clusters are made up, so that nothing is simulated: each service has a staircase of mixes of three machine types,
as fronts of real ones have, with noise.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from provisioner.domain.fleet import Limits, Rack
from provisioner.fleet import Effort, Kind, Offer, Option, Problem, plan

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


def main() -> None:
    asked = problem(50, 40)
    started, worked = time.perf_counter(), time.process_time()
    found = plan(asked, Effort(time_s=60, threads=2), explain=False)
    taken_s, worked_s = time.perf_counter() - started, time.process_time() - worked
    print(
        f"50 services x 40 clusters x 6 limits: {found.status}, gap {found.gap:.2%}, {taken_s:.1f} s "
        f"({worked_s:.1f} s of processor time; goal 10 s on 2 cores)"
    )


if __name__ == "__main__":
    main()
