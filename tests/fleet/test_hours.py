"""Plans by the hour equal brute force; and what they hold is there before it serves."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provisioner.domain.fleet import Day, Limits
from provisioner.fleet import Effort, Kind, Option
from provisioner.fleet.day import plan_hours
from provisioner.fleet.hours import Hours
from tests.fleet.made import option
from tests.search.questions import examples

pytest.importorskip("ortools", reason="fleets need the extra [fleet]")
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


@given(data=st.data())
@examples(8)
def test_the_plan_costs_what_brute_force_says(data: st.DataObject) -> None:
    made = st.builds(option, st.integers(0, 3), st.integers(0, 2)).filter(lambda o: any(o.machines.values()))
    row = st.lists(made, min_size=1, max_size=2, unique_by=lambda o: o.label).map(tuple)
    hours = tuple(tuple(data.draw(row) for _ in range(2)) for _ in range(3))
    day = Day(
        reserved=data.draw(st.sampled_from([0.5, 1.0])),
        on_demand=data.draw(st.sampled_from([None, 1.0, 1.5])),
        change_usd=data.draw(st.sampled_from([0.0, 1.5])),
        change_s=0.0,
    )
    limits = Limits(power_kw=data.draw(st.sampled_from([None, 20.0, 40.0])))
    question = Hours(
        kinds=kinds(data.draw(st.sampled_from([0.0, 600.0])), owned=1),
        services=("a", "b"), options=hours, day=day, limits=limits,
    )  # fmt: skip
    least = min((cost(question, picks) for picks in product(*(product(*hour) for hour in hours))), default=None)
    plan = plan_hours(question, EFFORT)
    if least == float("inf"):
        assert plan.status == "infeasible"
    else:
        assert plan.cost_usd == pytest.approx(least, abs=1e-3)


def cost(question: Hours, picks: tuple[tuple[Option, ...], ...]) -> float:
    """Of these clusters, with the best number reserved of each type; infinite beyond a limit."""
    hours, day = len(picks), question.day
    serving = [{(s, r): n for s, o in enumerate(hour) for r, n in o.roles.items()} for hour in picks]
    starts = [{k: max(n - serving[t - 1].get(k, 0), 0) for k, n in serving[t].items()} for t in range(hours)]
    total = day.change_usd * sum(sum(hour.values()) for hour in starts)
    power = [0.0] * hours
    for kind in question.kinds:
        lead = question.lead_hours[kind.name]
        held = [sum(n for (_, (_, name)), n in hour.items() if name == kind.name) for hour in serving]
        for t in range(hours):
            coming = [starts[(t + ahead) % hours] for ahead in range(1, lead + 1)]
            held[t] += sum(n for hour in coming for (_, (_, name)), n in hour.items() if name == kind.name)
            power[t] += held[t] * kind.power_kw
        total += min(reserving(kind, day, held, count) for count in range(max(held) + 1))
    most = question.limits.power_kw
    return float("inf") if most is not None and max(power) > most + 1e-9 else total


def reserving(kind: Kind, day: Day, held: list[int], reserved: int) -> float:
    """With so many reserved, the others owned, which cost their price here, or on demand."""
    total = kind.cost_usd_per_h * day.reserved * reserved * len(held)
    for count in held:
        short = max(count - reserved, 0)
        owned, rest = min(short, kind.owned), max(short - kind.owned, 0)
        if day.on_demand is None and rest:
            return float("inf")
        total += kind.cost_usd_per_h * (owned + (day.on_demand or 0) * rest)
    return total
