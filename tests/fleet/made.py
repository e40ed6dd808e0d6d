"""Fleets made up: a few services with a few clusters each, drawn by hypothesis, and what brute force says of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from hypothesis import strategies as st

from provisioner.domain.fleet import Limits, Rack
from provisioner.fleet import Kind, Offer, Option, Problem, Totals

KINDS = (
    Kind(name="old", cost_usd_per_h=2.0, power_kw=3.5),
    Kind(name="new", cost_usd_per_h=5.25, power_kw=4.0),
)
Picks = tuple[Option | None, ...]


def option(old: int, new: int, rate_rps: float = 10.0) -> Option:
    return Option(label=f"{old} old {new} new {rate_rps:g}", machines={"old": old, "new": new}, rate_rps=rate_rps)


def offer(name: str, *options: Option, target_rps: float = 10.0, weight: float = 1.0) -> Offer:
    return Offer(service=name, target_rps=target_rps, options=options, weight=weight)


@dataclass(frozen=True)
class Brute:
    """All fleets of a problem, looked at one by one; limits on racks by trying to place every machine."""

    problem: Problem

    def fleets(self, limits: Sequence[str] | None = None) -> Iterator[Picks]:
        """Those within the limits, or within those named."""
        choices = [(*offer.options, *([None] if self.problem.may_drop else [])) for offer in self.problem.offers]
        yield from (picks for picks in product(*choices) if self.is_within(picks, limits))

    def is_within(self, picks: Picks, named: Sequence[str] | None) -> bool:
        totals, limits = Totals.of(self.problem.kinds, picks), self.problem.limits
        checks = {
            "cost": limits.cost_usd_per_h is None or totals.cost_usd_per_h <= limits.cost_usd_per_h + 1e-9,
            "power": limits.power_kw is None or totals.power_kw <= limits.power_kw + 1e-9,
            "machines": limits.machines is None or totals.machines <= limits.machines,
            **{f"machines of {n}": totals.machines_of[n] <= most for n, most in limits.machines_of.items()},
        }
        if limits.racks and (named is None or any(name.startswith("racks") for name in named)):
            draws = [kind.power_kw for kind in self.problem.kinds for _ in range(totals.machines_of[kind.name])]
            spaces = [[rack.power_kw, float(rack.slots)] for rack in limits.racks for _ in range(rack.count)]
            if not places(sorted(draws, reverse=True), spaces):
                return False
        return all(fine for name, fine in checks.items() if named is None or name in named)

    def value(self, picks: Picks) -> float:
        """The goal's, so that less is better."""
        totals = Totals.of(self.problem.kinds, picks)
        pairs = list(zip(self.problem.offers, picks, strict=True))
        match self.problem.minimize, self.problem.maximize:
            case "cost", None:
                return totals.cost_usd_per_h
            case "power", None:
                return totals.power_kw
            case "machines", None:
                return totals.machines
            case None, "throughput":
                return -sum(o.weight * p.rate_rps for o, p in pairs if p)
        return -min(o.share(p) for o, p in pairs)

    def rank(self, picks: Picks) -> tuple[object, ...]:
        """What fleets are ordered by, all stated rules together."""
        totals = Totals.of(self.problem.kinds, picks)
        pairs = list(zip(self.problem.offers, picks, strict=True))
        worth = -round(sum(o.weight * p.rate_rps for o, p in pairs if p), 6) if self.problem.may_drop else 0
        places_ = [o.options.index(p) if p else len(o.options) for o, p in pairs]
        spent = (totals.cost_usd_per_h, totals.power_kw, totals.machines)
        return (round(self.value(picks), 6), worth, *(round(each, 6) for each in spent), *places_)


def places(draws: Sequence[float], spaces: list[list[float]]) -> bool:
    """Whether machines that draw so much fit into racks of so much power and so many slots, by trying."""
    if not draws:
        return True
    for space in spaces:
        if space[0] >= draws[0] - 1e-9 and space[1] >= 1:
            space[0] -= draws[0]
            space[1] -= 1
            fits = places(draws[1:], spaces)
            space[0] += draws[0]
            space[1] += 1
            if fits:
                return True
    return False


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    """Up to four services of up to six clusters, up to three limits, some machines owned."""
    goal = draw(st.sampled_from(["cost", "power", "machines", "throughput", "smallest_share"]))
    rates = [10.0] if goal in ("cost", "power", "machines") else [2.5, 5.0, 7.5, 10.0]
    options = st.builds(option, st.integers(0, 4), st.integers(0, 3), st.sampled_from(rates)).filter(
        lambda each: any(each.machines.values())
    )
    distinct = st.lists(options, min_size=1, max_size=6, unique_by=lambda each: each.label)
    offers = [
        offer(f"s{i}", *draw(distinct), weight=draw(st.sampled_from([0.5, 1.0, 3.0])))
        for i in range(draw(st.integers(1, 4)))
    ]
    given = draw(st.sets(st.sampled_from(["cost", "power", "machines", "old", "new", "racks"]), max_size=3))
    racks = st.builds(
        Rack,
        name=st.sampled_from("ab"),
        count=st.integers(1, 3),
        power_kw=st.sampled_from([4.0, 8.0, 11.5]),
        slots=st.integers(1, 3),
    )
    limits = Limits(
        cost_usd_per_h=draw(st.integers(5, 60)) * 1.0 if "cost" in given else None,
        power_kw=draw(st.integers(4, 60)) * 1.0 if "power" in given else None,
        machines=draw(st.integers(1, 16)) if "machines" in given else None,
        machines_of={name: draw(st.integers(0, 9)) for name in ("old", "new") if name in given},
        racks=tuple(draw(st.lists(racks, min_size=1, max_size=2, unique_by=lambda rack: rack.name)))
        if "racks" in given
        else (),
    )
    kinds = tuple(
        Kind(
            name=kind.name,
            cost_usd_per_h=kind.cost_usd_per_h,
            power_kw=kind.power_kw,
            owned=draw(st.integers(0, 4)),
            sunk_usd_per_h=draw(st.sampled_from([0.0, 1.5, kind.cost_usd_per_h, 9.0])),
        )
        for kind in KINDS
    )
    is_minimum = goal in ("cost", "power", "machines")
    return Problem(
        kinds=kinds,
        offers=tuple(offers),
        limits=limits,
        minimize=goal if is_minimum else None,  # type: ignore[arg-type]
        maximize=None if is_minimum else goal,  # type: ignore[arg-type]
    )
