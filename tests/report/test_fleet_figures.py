"""What figures of a fleet show, as data. Expected amounts are worked out by hand from the machines' prices."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from provisioner.fleet import FleetPlan, Kind, LimitUse, Offer, Option, Pick, Raise, Totals
from provisioner.fleet.day import DayPlan
from provisioner.fleet.sourcing import Holding
from provisioner.report import day as day_report
from provisioner.report import fleet as fleet_report
from provisioner.report.figures import Stacks
from provisioner.report.figures.day import by_hour
from provisioner.report.figures.fleet import amounts, choices, contradiction, of_fleet, served
from tests.report.made import MIXED, SPLIT, evaluation

BIG, SMALL = Kind(name="big", cost_usd_per_h=40.0, power_kw=10.0), Kind(name="small", cost_usd_per_h=20.0, power_kw=6.0)
POWER = LimitUse(name="power", unit="kW", limit=100.0, used=94.0, one_more=0.0, enough=Raise(to=102.0, gain=20.0))


def planned(owned: int = 0, **given: object) -> FleetPlan:
    """A service of five big and four small machines, which could have had ten small more; and one of two big ones."""
    kinds = (replace(BIG, owned=owned, sunk_usd_per_h=40.0 * bool(owned)), SMALL)
    first, second = (
        Option.of(evaluation((5, 4), design=SPLIT, rate_rps=70.0)),
        Option.of(evaluation((2, 0), design=MIXED, rate_rps=70.0)),
    )
    offers = [
        Offer(
            service="chat",
            target_rps=70.0,
            options=(first, Option.of(evaluation((5, 14), design=SPLIT, rate_rps=70.0))),
        ),
        Offer(service="code", target_rps=70.0, options=(second,)),
    ]
    picks = tuple(Pick.of(offer, option, kinds) for offer, option in zip(offers, (first, second), strict=True))
    totals = Totals.of(kinds, (first, second))
    return replace(FleetPlan(status="optimal", picks=picks, totals=totals, limits=(POWER,)), **given)  # type: ignore[arg-type]


def test_a_row_has_what_each_service_takes_as_a_share_of_the_limit_or_of_the_whole() -> None:
    figure = amounts(planned(), "cost", "t")
    assert figure.rows == ("Cost (USD/h)", "Power (kW)", "Machines")
    assert figure.is_limited == (False, True, False)
    assert [part.label for part in figure.parts] == ["chat", "code"]
    # 5 big and 4 small: 280 USD/h, 74 kW, 9 machines; 2 big: 80 USD/h, 20 kW, 2 machines.
    assert figure.parts[0].lengths == pytest.approx((280 / 360, 74 / 100, 9 / 11))
    assert figure.parts[1].lengths == pytest.approx((80 / 360, 20 / 100, 2 / 11))
    assert figure.parts[0].texts == ("280", "74", "9")


def test_a_limit_that_binds_says_what_more_of_it_buys() -> None:
    ends = amounts(planned(), "cost", "t").ends
    assert ends == ("360, no limit", "94 of 100\n1 more buys nothing\n102 kW: 20 USD/h less", "11, no limit")
    slack = replace(POWER, enough=None)
    assert amounts(planned(limits=(slack,)), "cost", "t").ends[1] == "94 of 100"


def test_limits_on_types_and_racks_are_rows_too() -> None:
    uses = (
        LimitUse(name="machines of small", unit="machines", limit=8, used=4),
        LimitUse(name="racks of row", unit="racks", limit=10, used=3),
    )
    figure = amounts(planned(limits=uses), "cost", "t")
    assert figure.rows[3:] == ("Machines of small", "Racks of row")
    chat, code, together = figure.parts
    assert (chat.lengths[3], code.lengths[3]) == (0.5, 0.0)
    # Which racks hold whose machines is not said: all of a rack row is one part.
    assert math.isnan(chat.lengths[4])
    assert together.label == "all services"
    assert together.lengths[4] == pytest.approx(0.3)


def test_cost_that_is_sunk_in_machines_owned_is_not_split() -> None:
    figure = amounts(planned(owned=3), "cost", "t")
    assert math.isnan(figure.parts[0].lengths[0])
    assert figure.parts[-1].label == "all services"
    assert figure.parts[-1].texts[0] == "240"  # 360 without three big ones
    assert "without 120.00 USD/h that are sunk" in figure.note


def test_services_beyond_eight_share_a_part() -> None:
    plan = planned(limits=())
    picks = tuple(
        replace(pick, offer=replace(pick.offer, service=f"{pick.offer.service} {copy}"))
        for copy in range(5)
        for pick in plan.picks
    )
    totals = Totals.of((BIG, SMALL), [pick.option for pick in picks])
    figure = amounts(replace(plan, picks=picks, totals=totals), "cost", "t")
    # The five that cost the most, two of the others, and three together: 3 of 80 USD/h.
    named = ["chat 0", "code 0", "chat 1", "code 1", "chat 2", "chat 3", "chat 4"]
    assert [part.label for part in figure.parts] == [*named, "3 others"]
    assert figure.parts[-1].texts[0] == "240"


def test_the_chosen_clusters_stand_among_those_that_there_were() -> None:
    figure = choices(planned(), "t")
    assert [(p.design, p.name, p.x, p.y, p.is_front) for p in figure.points] == [
        ("code", "B 2P/T", 80.0, 20.0, True),
        ("chat", "S 5P+4T", 280.0, 74.0, True),
        ("chat", "S 5P+14T", 480.0, 134.0, False),
    ]
    assert not figure.is_joined
    assert figure.kinds[:2] == ("gets", "could have")


def test_what_is_served_in_part_is_shown() -> None:
    plan = planned()
    dropped = replace(plan, picks=(plan.picks[0], replace(plan.picks[1], option=None)))
    figure = served(dropped, "t")
    assert figure.groups == ("chat", "code")
    assert figure.series[0].values == (1.0, 0.0)
    assert figure.series[0].texts == ("70 of 70", "0 of 70")
    assert len(of_fleet(dropped, "cost", "t")) == 3
    assert len(of_fleet(plan, "cost", "t")) == 2


def test_of_limits_that_contradict_it_is_shown_what_would_be_enough() -> None:
    conflict = (
        LimitUse(name="power", unit="kW", limit=50, used=None, enough=Raise(to=75, gain=None)),
        LimitUse(name="cost", unit="USD/h", limit=200, used=None),
    )
    plan = FleetPlan(status="infeasible", conflict=conflict)
    (figure,) = of_fleet(plan, "cost", "t")
    assert isinstance(figure, Stacks)
    assert figure.parts[0].lengths[0] == 1.5
    assert math.isnan(figure.parts[0].lengths[1])
    assert figure.ends == ("limit 50; 75 is enough", "limit 200; no more of it helps")
    assert "no fleet is within these limits" in figure.title


def test_what_time_did_not_suffice_for_is_not_called_impossible() -> None:
    use = LimitUse(name="racks a", unit="racks", limit=3.0, used=None, is_known=False)
    figure = contradiction(FleetPlan(status="infeasible", conflict=(use,)), "t")
    assert figure is not None
    assert figure.ends == ("limit 3; what is enough is not known",)


def test_where_time_ran_out_nothing_is_claimed_to_be_proven() -> None:
    """Without limits that contradict each other it is not known that there is no plan."""
    use = LimitUse(name="power", unit="kW", limit=50, used=None)
    fleet, by_hours = FleetPlan(status="infeasible"), DayPlan(status="infeasible", services=("chat",))
    open_ = [fleet_report.answer(fleet, {}, {}, []), day_report.answer(by_hours, {}, [])]
    proven = [
        fleet_report.answer(replace(fleet, conflict=(use,)), {}, {}, []),
        day_report.answer(replace(by_hours, conflict=(use,)), {}, []),
    ]
    assert {each["search"]["certificate"] for each in open_} == {"none was found in the time allowed"}
    assert [each["search"]["certificate"] for each in proven] == [
        "no choice of clusters is within the limits",
        "no plan is within the limits in every hour",
    ]


def test_nothing_is_drawn_where_nothing_is_known() -> None:
    plan = FleetPlan(status="infeasible")
    assert contradiction(plan, "t") is None
    assert of_fleet(plan, "cost", "t") == ()


def day(services: int = 2, hours: int = 3) -> tuple[DayPlan, list[list[float]]]:
    names = tuple(f"service {place}" for place in range(services))
    picks = tuple(
        tuple(Option(label="x", machines={"big": place + hour + 1}, rate_rps=1.0) for place in range(services))
        for hour in range(hours)
    )
    none = Holding(held=0, owned=0, on_demand=0, spot=0)
    held = tuple({"big": replace(none, held=10 + hour), "none": none} for hour in range(hours))
    rates = [[10.0 * (place + 1) + hour for hour in range(hours)] for place in range(services)]
    return DayPlan(status="optimal", services=names, picks=picks, holdings=held), rates


def test_each_hours_rate_and_machines_last_until_its_end() -> None:
    figure = by_hour(*day(), "t")
    rate, machines, held = figure.panels
    assert all(panel.is_step for panel in figure.panels)
    assert rate.series[1].x.tolist() == [0, 1, 2, 3]
    assert rate.series[1].y.tolist() == [20, 21, 22, 22]
    assert machines.series[0].y.tolist() == [1, 2, 3, 3]
    assert [series.label for series in held.series] == ["big"]
    assert held.series[0].y.tolist() == [10, 11, 12, 12]
    assert (rate.y.label, machines.y.label, rate.x.label) == ("Requests/s", "Machines", "Hour")


def test_of_many_services_the_largest_have_lines_and_the_others_one_together() -> None:
    figure = by_hour(*day(services=12), "t")
    labels = [series.label for series in figure.panels[1].series]
    assert labels == [*(f"service {place}" for place in range(5, 12)), "5 others"]
    assert figure.panels[1].series[-1].y.tolist() == [15, 20, 25, 25]
    assert [series.label for series in figure.panels[0].series] == labels


def test_a_week_has_a_tick_a_day() -> None:
    assert by_hour(*day(hours=24), "t").panels[0].x.step == 3
    assert by_hour(*day(hours=168), "t").panels[0].x.step == 24
