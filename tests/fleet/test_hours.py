"""Plans by the hour equal brute force; and what they hold is there before it serves."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provisioner.domain.fleet import Day, Limits, Rack
from provisioner.fleet import Effort, Kind, Option, proving
from provisioner.fleet.day import plan_hours
from provisioner.fleet.hours import Hours
from tests.fleet.made import option
from tests.search.questions import examples

EFFORT = Effort(threads=1, time_s=20)


def kinds(startup_s: float = 600.0, owned: int = 0) -> tuple[Kind, ...]:
    return (
        Kind(name="old", cost_usd_per_h=2.0, power_kw=3.5, startup_s=startup_s, owned=owned),
        Kind(name="new", cost_usd_per_h=5.25, power_kw=4.0, startup_s=startup_s),
    )


def asked(*hours: tuple[tuple[Option, ...], ...], startup_s: float = 600.0, **day: float) -> Hours:
    services = tuple(f"s{place}" for place in range(len(hours[0])))
    rules = Day(change_s=0.0, **day)  # type: ignore[arg-type]
    return Hours(kinds=kinds(startup_s), services=services, options=hours, day=rules)


RACK = Rack(name="row", count=4, power_kw=7.5, slots=2)
LOW, HIGH = option(2, 0, 5.0), option(6, 0, 10.0)


def test_a_start_is_held_in_the_hour_before() -> None:
    """Hand work: one busy hour of four takes 6 of 2 USD in it, and 4 of them in the hour before: 2+6+6+2 machines."""
    quiet, busy = ((LOW, HIGH),), ((HIGH,),)
    plan = plan_hours(asked(quiet, quiet, busy, quiet, on_demand=1.0, reserved=1.0), EFFORT)
    assert plan.status == "optimal"
    assert [hour["old"].held for hour in plan.holdings] == [2, 6, 6, 2]
    assert plan.starts == (0, 0, 4, 0)
    assert plan.cost_usd == pytest.approx(2 * (2 + 6 + 6 + 2))
    assert plan.peak_usd == pytest.approx(2 * 6 * 4)
    assert plan.saving == pytest.approx(1 - 32 / 48)


def test_without_a_delay_nothing_is_held_early() -> None:
    quiet, busy = ((LOW, HIGH),), ((HIGH,),)
    plan = plan_hours(asked(quiet, quiet, busy, quiet, startup_s=0.0, on_demand=1.0), EFFORT)
    assert plan.cost_usd == pytest.approx(2 * (2 + 2 + 6 + 2))


def test_a_dear_change_is_not_made() -> None:
    """Four starts would cost 40 USD; keeping six machines costs 16 more than letting them go."""
    quiet, busy = ((LOW, HIGH),), ((HIGH,),)
    plan = plan_hours(asked(quiet, quiet, busy, quiet, on_demand=1.0, change_usd=10.0), EFFORT)
    assert sum(plan.starts) == 0
    assert plan.cost_usd == pytest.approx(48)


def test_machines_move_between_services_whose_peaks_do_not_meet() -> None:
    """Reserved only: peaks six hours apart share machines, 2 + 6 and never 6 + 6."""
    quiet, busy = (LOW, HIGH), (HIGH,)
    hours = [(busy if hour == 1 else quiet, busy if hour == 6 else quiet) for hour in range(8)]
    plan = plan_hours(asked(*hours), EFFORT)
    assert plan.reserved == {"old": 8, "new": 0}
    assert plan.peak_usd == pytest.approx(2 * 12 * 8)


def test_spot_machines_are_used_up_to_their_number() -> None:
    day = Day(spot=0.25, spot_machines={"old": 2}, change_s=0.0)
    plan = plan_hours(Hours(kinds=kinds(), services=("s0",), options=(((HIGH,),), ((HIGH,),)), day=day), EFFORT)
    assert [hour["old"].spot for hour in plan.holdings] == [2, 2]
    assert plan.cost_usd == pytest.approx(2 * 2 * (4 + 2 * 0.25))


@st.composite
def questions(draw: st.DrawFn) -> Hours:
    """Three hours of two services with up to two clusters each, prices and limits of all kinds."""
    made = st.builds(option, st.integers(0, 3), st.integers(0, 2)).filter(lambda o: any(o.machines.values()))
    row = st.lists(made, min_size=1, max_size=2, unique_by=lambda o: o.label).map(tuple)
    hours = tuple(tuple(draw(row) for _ in range(2)) for _ in range(3))
    day = Day(
        reserved=draw(st.sampled_from([0.5, 1.0])),
        on_demand=draw(st.sampled_from([None, 1.0, 1.5])),
        spot=draw(st.sampled_from([None, 0.25])),
        spot_machines={"old": 1},
        change_usd=draw(st.sampled_from([0.0, 1.5])),
        change_s=0.0,
    )
    limits = Limits(
        cost_usd_per_h=draw(st.sampled_from([None, 15.0, 25.0])),
        power_kw=draw(st.sampled_from([None, 20.0, 40.0])),
        machines=draw(st.sampled_from([None, 5, 8])),
        machines_of=draw(st.sampled_from([{}, {"new": 1}])),
        racks=draw(st.sampled_from([(), (), (RACK,)])),
    )
    return Hours(
        kinds=kinds(draw(st.sampled_from([0.0, 600.0, 7000.0])), owned=1),
        services=("a", "b"), options=hours, day=day, limits=limits,
        minimize=draw(st.sampled_from(["cost", "power", "machines"])),
    )  # fmt: skip


def every(question: Hours) -> list[Brute]:
    """All plans, within the limits or not."""
    return [worked_out(question, picks) for picks in product(*(product(*hour) for hour in question.options))]


@given(question=questions())
@examples(16)
def test_the_plan_is_what_brute_force_says(question: Hours) -> None:
    within = [each for each in every(question) if all(each.used[name] <= most + 1e-9 for name, most in caps(question))]
    plan = plan_hours(question, EFFORT)
    if not within:
        assert plan.status == "infeasible"
        return
    least = min(each.value for each in within)
    assert plan.status == "optimal"
    assert plan.value == plan.bound == pytest.approx(least, abs=1e-2)
    cheapest = min(each.cost for each in within if each.value <= least + 1e-9)
    assert plan.cost_usd == pytest.approx(cheapest, abs=0.1)
    found = worked_out(question, plan.picks)
    assert (found.value, found.cost) == pytest.approx((plan.value, plan.cost_usd))
    assert all(found.used[name] <= most + 1e-9 for name, most in caps(question))


@given(question=questions())
@examples(12)
def test_contradicting_limits_are_the_fewest(question: Hours) -> None:
    plan, plans = plan_hours(question, EFFORT), every(question)

    def is_met(kept: tuple[tuple[str, float], ...]) -> bool:
        return any(all(each.used[name] <= most + 1e-9 for name, most in kept) for each in plans)

    if plan.is_feasible:
        assert not plan.conflict
        return
    named = [use.name for use in plan.conflict]
    assert not is_met(tuple(each for each in caps(question) if each[0] in named))
    for size in range(len(named)):
        assert all(is_met(kept) for kept in combinations(caps(question), size))
    for use in plan.conflict:
        others = [each for each in caps(question) if each[0] != use.name]
        allowed = [each.used[use.name] for each in plans if all(each.used[n] <= most + 1e-9 for n, most in others)]
        assert (use.enough.to if use.enough else None) == (pytest.approx(min(allowed)) if allowed else None)


def test_many_processes_prove_what_one_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proving, "SMALL", 0)
    rows = [tuple(option(2 + hour % 3 + n, (hour + n) % 4) for n in range(3)) for hour in range(12)]
    question = asked(*zip(rows, rows[5:] + rows[:5], strict=True), on_demand=1.0, reserved=0.6, change_usd=0.5)
    alone, shared = (plan_hours(question, Effort(time_s=60, threads=threads)) for threads in (1, 2))
    assert alone.status == shared.status == "optimal"
    assert alone.picks == shared.picks


def test_a_plan_out_of_time_says_what_is_not_known() -> None:
    rows = [tuple(option(2 + hour % 3 + n, (hour + n) % 4) for n in range(3)) for hour in range(12)]
    question = asked(*zip(rows, rows[5:] + rows[:5], strict=True), on_demand=1.0, reserved=0.6, change_usd=0.5)
    plan = plan_hours(question, Effort(time_s=1e-9, threads=1))
    assert plan.status == "feasible"
    assert plan.bound < plan_hours(question, EFFORT).value <= plan.value
    assert 0 < plan.gap <= 1


def caps(question: Hours) -> list[tuple[str, float]]:
    """The limits by name."""
    limits = question.limits
    given = [("cost", limits.cost_usd_per_h), ("power", limits.power_kw), ("machines", limits.machines)]
    given += [(f"machines of {name}", most) for name, most in limits.machines_of.items()]
    given += [(f"racks {rack.name}", rack.count) for rack in limits.racks]
    return [(name, most) for name, most in given if most is not None]


@dataclass(frozen=True)
class Brute:
    """A plan's goal, its cost, and the most it uses of everything in any hour; of cost the mean."""

    value: float
    cost: float
    used: dict[str, float]


def worked_out(question: Hours, picks: tuple[tuple[Option, ...], ...]) -> Brute:
    """Of these clusters, with the best number reserved of each type."""
    hours, day = len(picks), question.day
    serving = [{(s, r): n for s, o in enumerate(hour) for r, n in o.roles.items()} for hour in picks]
    starts = [{k: max(n - serving[t - 1].get(k, 0), 0) for k, n in serving[t].items()} for t in range(hours)]
    total = day.change_usd * sum(sum(hour.values()) for hour in starts)
    power, machines, used, counts = [0.0] * hours, [0] * hours, {}, {}
    for kind in question.kinds:
        lead = question.lead_hours[kind.name]
        held = [sum(n for (_, (_, name)), n in hour.items() if name == kind.name) for hour in serving]
        for t in range(hours):
            coming = [starts[(t + ahead) % hours] for ahead in range(1, lead + 1)]
            held[t] += sum(n for hour in coming for (_, (_, name)), n in hour.items() if name == kind.name)
            power[t] += held[t] * kind.power_kw
            machines[t] += held[t]
        used[f"machines of {kind.name}"] = float(max(held))
        counts[kind.name] = held
        total += min(reserving(kind, day, held, count) for count in range(max(held) + 1))
    # No two new ones stand in one rack; old ones beside them, then two in one.
    racks = [new + -(-max(old - new, 0) // 2) for old, new in zip(counts["old"], counts["new"], strict=True)]
    used["racks row"] = float(max(racks))
    used |= {"cost": total / hours, "power": max(power), "machines": float(max(machines))}
    value = {"cost": total, "power": sum(power), "machines": float(sum(machines))}[question.minimize]
    return Brute(value, total, used)


def reserving(kind: Kind, day: Day, held: list[int], reserved: int) -> float:
    """With so many reserved, the others spot, then owned, which cost their price here, or on demand."""
    total = kind.cost_usd_per_h * day.reserved * reserved * len(held)
    for count in held:
        short = max(count - reserved, 0)
        spot = min(short, day.spot_machines.get(kind.name, 0)) if day.spot is not None else 0
        owned = min(short - spot, kind.owned)
        rest = short - spot - owned
        if day.on_demand is None and rest:
            return float("inf")
        total += kind.cost_usd_per_h * (spot * (day.spot or 0) + owned + (day.on_demand or 0) * rest)
    return total
