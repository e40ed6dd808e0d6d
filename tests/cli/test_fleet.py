"""`provision fleet`: a whole run, and every fault of its file at once, by line."""

from __future__ import annotations

from pathlib import Path

import pytest

from provisioner.fleet.reading import read_fleet
from tests.cli.runs import Provision, parsed

pytest.importorskip("ortools", reason="fleets need the extra [fleet]")

QUICK = ("--duration", "10", "--replications", "1", "--max-machines", "30")
TWO = """\
minimize: cost
limits: {limits}
services:
  - {{name: code, target_rps: 10, designs: [AA, HHcap]}}
  - {{name: chat, workload: conversation, model: llama2-70b, target_rps: 5, designs: [H100, A100]}}
"""


def written(folder: Path, text: str) -> str:
    (folder / "fleet.yaml").write_text(text)
    return "fleet.yaml"


def test_each_service_gets_its_cheapest_cluster_where_nothing_is_scarce(provision: Provision, folder: Path) -> None:
    """Source: the main job, asked for each service by itself."""
    run = provision("fleet", written(folder, TWO.format(limits="{}")), *QUICK, "--json")
    assert run.code == 0, run.err
    alone = [
        provision("--design", "AA", "--design", "HHcap", "--target-rps", "10", "--minimize", "cost", *QUICK, "--json"),
        provision(
            "--design", "H100", "--design", "A100", "--target-rps", "5", "--minimize", "cost", *QUICK, "--json",
            "--workload", "conversation", "--model", "llama2-70b",
        ),
    ]  # fmt: skip
    answer = run.answer
    assert answer["status"] == "optimal"
    assert [each["cluster"] for each in answer["services"]] == [each.answer["cluster"] for each in alone]
    costs = [each.answer["cluster"]["cost_usd_per_h"] for each in alone]
    assert answer["totals"]["cost_usd_per_h"] == pytest.approx(sum(costs))
    assert all(slo["met"] for each in answer["services"] for slo in each["slos"])
    assert answer["gap"] == 0


def test_a_scarce_limit_has_a_value(provision: Provision, folder: Path) -> None:
    free = provision("fleet", written(folder, TWO.format(limits="{}")), *QUICK, "--json").answer
    most = round(free["totals"]["power_kw"] - 0.1, 3)
    run = provision("fleet", written(folder, TWO.format(limits=f"{{power_kw: {most}}}")), *QUICK, "--json")
    assert run.code == 0, run.err
    (limit,) = run.answer["limits"]
    assert limit["binds"]
    assert limit["used"] <= most
    assert limit["enough"]["limit"] == pytest.approx(free["totals"]["power_kw"])
    saved = run.answer["totals"]["cost_usd_per_h"] - free["totals"]["cost_usd_per_h"]
    assert limit["enough"]["gain"] == pytest.approx(saved)
    assert limit["one_more"] == pytest.approx(saved)  # the next kW is more than what is missing


def test_owned_machines_are_used_first_and_cost_nothing_more(provision: Provision, folder: Path) -> None:
    text = TWO.format(limits="{}") + "owned: {dgx-h100: {machines: 20}, dgx-h100-cap: {machines: 10}}\n"
    answer = provision("fleet", written(folder, text), *QUICK, "--json").answer
    assert answer["totals"]["cost_usd_per_h"] == 0
    assert answer["totals"]["sunk_usd_per_h"] == pytest.approx(30 * 38.08)
    assert answer["totals"]["machines_of"]["dgx-a100"] == 0


def test_what_does_not_fit_is_served_in_part(provision: Provision, folder: Path) -> None:
    text = TWO.format(limits="{machines: 7}").replace("minimize: cost", "maximize: smallest_share\nshare_steps: 4")
    run = provision("fleet", written(folder, text), *QUICK, "--json")
    assert run.code == 0, run.err
    shares = [each["served_share"] for each in run.answer["services"]]
    assert min(shares) == pytest.approx(run.answer["value"])
    assert 0 < min(shares) < 1
    assert run.answer["totals"]["machines"] <= 7


def test_an_infeasible_fleet_exits_3_with_the_smallest_conflict(provision: Provision, folder: Path) -> None:
    """20 kW hold three A100 or one H100 machine, and each service needs more; 90 machines are no obstacle."""
    text = TWO.format(limits="{machines: 90, power_kw: 20}")
    run = provision("fleet", written(folder, text), *QUICK, "--json")
    assert run.code == 3
    assert run.answer["status"] == "infeasible"
    assert [use["name"] for use in run.answer["conflict"]] == ["power"]
    assert "power at most 20 kW" in run.answer["reason"]
    assert {each["service"] for each in run.answer["dropped_first"]} == {"code", "chat"}


@pytest.mark.parametrize("columns", [80, 100])
@pytest.mark.parametrize("limits", ["{}", "{power_kw: 130, machines_of: {dgx-h100: 9}}", "{power_kw: 20}"])
def test_tables_fit(
    provision: Provision, folder: Path, monkeypatch: pytest.MonkeyPatch, limits: str, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    run = provision("fleet", written(folder, TWO.format(limits=limits)), *QUICK)
    assert max(map(len, run.out.splitlines())) <= columns
    assert "…" not in run.out


def test_files_are_written(provision: Provision, folder: Path) -> None:
    file = written(folder, TWO.format(limits="{}"))
    run = provision("fleet", file, *QUICK, "--csv", "plan.csv", "--json", "plan.json")
    assert run.code == 0
    answer = parsed((folder / "plan.json").read_text())
    header, *rows = (folder / "plan.csv").read_text().splitlines()
    assert header.startswith("service,weight,target_rps,served_rps")
    assert [row.split(",")[0] for row in rows] == [each["service"] for each in answer["services"]]


BAD = {
    "no goal": ("services: [{name: a, target_rps: 1}]", ["fleet.yaml", "one goal"]),
    "two goals": ("minimize: cost\nmaximize: throughput\nservices: [{name: a, target_rps: 1}]", ["one goal"]),
    "no services": ("minimize: cost\nservices: []", ["fleet.yaml:2: services"]),
    "a rate of zero": ("minimize: cost\nservices:\n- name: a\n  target_rps: 0", ["fleet.yaml:4:", "above 0"]),
    "no rate": ("minimize: cost\nservices:\n- name: a\n", ["fleet.yaml:3: services.0.target_rps", "hourly_rps"]),
    "two rates": (
        "minimize: cost\nservices:\n- name: a\n  target_rps: 1\n  hourly_rps: [1]",
        ["fleet.yaml:5: services.0.hourly_rps", "target_rps already"],
    ),
    "an hour of zero": ("minimize: cost\nservices:\n- name: a\n  hourly_rps: [1, 0]", ["fleet.yaml:4:", "above 0"]),
    "hours that overlap": (
        ("minimize: cost\nservices:\n- name: a\n  hours:\n  - {from_hour: 0, to_hour: 8, rps: 1}\n"
        "  - {from_hour: 7, to_hour: 24, rps: 2}"),
        ["fleet.yaml:6: services.0.hours.1.from_hour", "overlaps hours 0 to 8"],
    ),
    "hours with a gap": (
        ("minimize: cost\nservices:\n- name: a\n  hours:\n  - {from_hour: 0, to_hour: 8, rps: 1}\n"
        "  - {from_hour: 9, to_hour: 24, rps: 2}"),
        ["fleet.yaml:6:", "leaves hours without a rate after 0 to 8"],
    ),
    "a name twice": (
        "minimize: cost\nservices:\n- {name: a, target_rps: 1}\n- {name: a, target_rps: 2}",
        ["fleet.yaml:4: services.1.name", "stands twice, first in line 3"],
    ),
    "an unknown machine owned": (
        "minimize: cost\nowned:\n  dgx-h10: {machines: 2}\nservices: [{name: a, target_rps: 1}]",
        ["fleet.yaml:3: owned.dgx-h10", "no machine has this name", "dgx-h100"],
    ),
    "an unknown machine on the spot market": (
        "minimize: cost\nday: {spot: 0.3, spot_machines: {dgx-b200: 2}}\nservices: [{name: a, target_rps: 1}]",
        ["fleet.yaml:2: day.spot_machines.dgx-b200", "no machine has this name"],
    ),
    "fewer than no spot machines": (
        "minimize: cost\nday: {spot: 0.3, spot_machines: {dgx-h100: -2}}\nservices: [{name: a, target_rps: 1}]",
        ["fleet.yaml:2: day.spot_machines.dgx-h100", "must be at least 0"],
    ),
    "spot machines without a price": (
        "minimize: cost\nday: {spot_machines: {dgx-h100: 2}}\nservices: [{name: a, target_rps: 1}]",
        ["fleet.yaml:2: day.spot_machines", "a price: spot"],
    ),
    "an unknown machine limited": (
        "minimize: cost\nlimits:\n  machines_of: {dgx-b200: 2}\nservices: [{name: a, target_rps: 1}]",
        ["fleet.yaml:3: limits.machines_of.dgx-b200"],
    ),
    "an unknown design": (
        "minimize: cost\nservices:\n- name: a\n  target_rps: 1\n  designs: [HH,\n    HHcup]",
        ["fleet.yaml:6: services.0.designs.1", "did you mean 'HHcap'"],
    ),
    "an unknown model": (
        "minimize: cost\nservices:\n- name: a\n  target_rps: 1\n  model: bloom",
        ["fleet.yaml:5: services.0.model"],
    ),
    "an unknown workload": (
        "minimize: cost\nservices:\n- name: a\n  target_rps: 1\n  workload: codin",
        ["fleet.yaml:5: services.0.workload", "did you mean 'coding'"],
    ),
    "contradictory limits": (
        "minimize: cost\nlimits: {machines: 1}\nservices: [{name: a, target_rps: 1}, {name: b, target_rps: 1}]",
        ["fleet.yaml:2: limits.machines", "fewer machines than there are services (2)"],
    ),
    "machines that no design may use": (
        "minimize: cost\nlimits: {machines_of: {dgx-h100: 0}}\nservices:\n- {name: a, target_rps: 9, designs: [HH]}",
        ["fleet.yaml:4: services.0.designs", "limits exclude: dgx-h100"],
    ),
    "racks that feed no machine": (
        ("minimize: cost\nlimits:\n  racks:\n  - {name: r, count: 9, power_kw: 5, slots: 4}\n"
        "services: [{name: a, target_rps: 10}]"),
        ["fleet.yaml:4: limits.racks.0.power_kw", "at least 6.2"],
    ),
    "a service that no cluster serves": (
        "minimize: cost\nservices:\n- {name: a, target_rps: 10, designs: [AA]}",
        ["fleet.yaml:3: services.0.name", "no cluster of at most 4 machines"],
    ),
    "an unknown field": ("minimize: cost\nbudget: 3\nservices: [{name: a, target_rps: 1}]", ["fleet.yaml:2: budget"]),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_told_by_line(provision: Provision, folder: Path, case: str) -> None:
    text, said = BAD[case]
    run = provision("fleet", written(folder, text), *QUICK[:4], "--max-machines", "4")
    assert run.code == 2, run.out
    assert run.out == ""
    assert len(run.errors) == 1, run.err
    for each in said:
        assert each in run.err


def test_an_objective_that_no_machine_meets_is_told_before_any_search(provision: Provision, folder: Path) -> None:
    (folder / "slos").mkdir()
    (folder / "slos" / "harsh.yaml").write_text(
        "name: harsh\nlimits: [{metric: ttft, percentile: 50, limit: 1.0e-6, unit: s}]\n"
    )
    text = "minimize: cost\nservices:\n- name: a\n  target_rps: 10\n  slo: harsh\n  designs: [HH]\n"
    run = provision("fleet", written(folder, text), *QUICK)
    assert run.code == 2
    assert "fleet.yaml:6: services.0.designs: no design can serve it" in run.err


def test_all_faults_are_told_at_once(provision: Provision, folder: Path) -> None:
    text = "minimize: cost\nservices:\n- {name: a, target_rps: 1, model: bloom}\n- {name: b, target_rps: 1, slo: x}\n"
    run = provision("fleet", written(folder, text), *QUICK)
    assert run.code == 2
    assert [line.split(": ")[1] for line in run.errors] == ["fleet.yaml:3", "fleet.yaml:4"]


def test_faults_of_the_file_and_of_names_in_it_are_told_together(provision: Provision, folder: Path) -> None:
    text = (
        "minimize: cost\nlimits:\n  machines: 1\nowned:\n  dgx-h10: {machines: 2}\nservices:\n"
        "- {name: a, target_rps: 5, model: blom-176b}\n- {name: a, workload: codin, hourly_rps: [1, 0]}\n"
        "- {name: c, target_rps: 3, designs: [HH, HHcup]}\n"
    )
    run = provision("fleet", written(folder, text), *QUICK)
    assert run.code == 2
    lines = [line.split(": ")[1].removeprefix("fleet.yaml:") for line in run.errors]
    assert lines == ["3", "5", "7", "8", "8", "8", "9"]


def test_the_example_is_read() -> None:
    file = Path(__file__).parents[2] / "examples" / "fleet.yaml"
    assert read_fleet(file).fleet.limits.power_kw == 440


DAY = """\
minimize: cost
day: {on_demand: 1.0}
services:
  - {name: code, designs: [AA], hourly_rps: [5, 5, 5, 10, 10, 5]}
  - {name: chat, workload: conversation, model: llama2-70b, target_rps: 5, designs: [H100]}
"""


def test_a_plan_by_the_hour_saves_and_is_checked(provision: Provision, folder: Path) -> None:
    run = provision("fleet", written(folder, DAY), *QUICK, "--by-hour", "--json", "--csv", "day.csv")
    assert run.code == 0, run.err
    answer = run.answer
    assert answer["status"] == "optimal"
    assert 0 < answer["saving"] < 1
    assert answer["cost_usd"] == pytest.approx((1 - answer["saving"]) * answer["peak_usd"])
    assert [hour["services"][0]["rps"] for hour in answer["hours"]] == [5, 5, 5, 10, 10, 5]
    for now, coming in zip(answer["hours"], [*answer["hours"][1:], answer["hours"][0]], strict=True):
        serving = sum(sum(each["machines_of"].values()) for each in now["services"])
        assert sum(each["held"] for each in now["machines"].values()) == serving + coming["starts"]
    assert len((folder / "day.csv").read_text().splitlines()) == 1 + 6 * 2
    table = provision("fleet", "fleet.yaml", *QUICK, "--by-hour")
    assert max(map(len, table.out.splitlines())) <= 100
    assert "the plan saves" in table.out


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (TWO.format(limits="{}"), "no service has rates by the hour"),
        (DAY.replace("target_rps: 5", "hourly_rps: [1, 2]"), "fleet.yaml:5: services.1.hourly_rps: gives 2 hours"),
        (
            DAY.replace("minimize: cost", "maximize: throughput"),
            "fleet.yaml:1: maximize: a plan by the hour serves every service in full",
        ),
    ],
)
def test_bad_hours(provision: Provision, folder: Path, text: str, said: str) -> None:
    run = provision("fleet", written(folder, text), *QUICK, "--by-hour")
    assert run.code == 2
    assert said in run.err


@pytest.mark.parametrize(("goal", "unit"), [("power", "kWh"), ("machines", "machine-hours")])
def test_a_plan_by_the_hour_of_least_power_or_machines(
    provision: Provision, folder: Path, goal: str, unit: str
) -> None:
    run = provision("fleet", written(folder, DAY.replace("cost", goal)), *QUICK, "--by-hour", "--json")
    assert run.code == 0, run.err
    answer = run.answer
    assert (answer["status"], answer["unit"], answer["bound_usd"]) == ("optimal", unit, None)
    weights = {"dgx-a100": 6.2, "dgx-h100": 11.0} if goal == "power" else {"dgx-a100": 1.0, "dgx-h100": 1.0}
    held = [(name, each["held"]) for hour in answer["hours"] for name, each in hour["machines"].items()]
    assert answer["value"] == pytest.approx(sum(weights[name] * count for name, count in held))
    assert answer["value"] == pytest.approx((1 - answer["saving"]) * answer["peak_value"])
    assert f"{unit} in 6 hours" in provision("fleet", "fleet.yaml", *QUICK, "--by-hour").out


def test_a_day_beyond_its_limits_names_the_smallest_conflict(provision: Provision, folder: Path) -> None:
    text = DAY + "limits: {power_kw: 20, machines: 90}\n"
    run = provision("fleet", written(folder, text), *QUICK, "--by-hour", "--json")
    assert run.code == 3
    assert [use["name"] for use in run.answer["conflict"]] == ["power"]
    enough = run.answer["conflict"][0]["enough"]["limit"]
    assert "power at most 20 kW" in run.answer["reason"]
    assert "enough, others kept" in provision("fleet", "fleet.yaml", *QUICK, "--by-hour").out
    text = text.replace("power_kw: 20", f"power_kw: {enough}")
    assert provision("fleet", written(folder, text), *QUICK, "--by-hour", "--json").code == 0
    text = text.replace(f"power_kw: {enough}", f"power_kw: {enough - 0.01}")
    assert provision("fleet", written(folder, text), *QUICK, "--by-hour", "--json").code == 3


def test_rates_come_from_a_trace(provision: Provision, folder: Path) -> None:
    """Two hours of 3,600 and 7,200 requests are 1 and 2 requests a second."""
    times = [*(float(second) for second in range(3600)), *(3600 + second / 2 for second in range(7201))]
    lines = "\n".join(f"{time},500,10" for time in times)
    (folder / "two.csv").write_text(f"arrival_s,prompt_tokens,output_tokens\n{lines}\n")
    text = "minimize: cost\nservices:\n- {name: a, rates_from: two.csv, designs: [A100]}\n"
    run = provision("fleet", written(folder, text), *QUICK, "--by-hour", "--json")
    assert run.code == 0, run.err
    assert [hour["services"][0]["rps"] for hour in run.answer["hours"]] == [1, 2]


CASES = """\
minimize: cost
services:
  - {name: usual, target_rps: 8, designs: [HH, AA], weight: 9}
  - {name: rush, target_rps: 14, designs: [AA, HH]}
"""


def test_one_cluster_for_every_case_is_that_of_the_worst(provision: Provision, folder: Path) -> None:
    """Source: the main job at the higher rate; at the lower one the same cluster passes too."""
    file = written(folder, CASES)
    run = provision("fleet", file, *QUICK, "--one-cluster", "--json")
    rush = provision("--design", "HH", "--design", "AA", "--target-rps", "14", "--minimize", "cost", *QUICK, "--json")
    assert run.code == 0, run.err
    usual, worst = run.answer["clusters"]
    assert (usual["service"], worst["service"]) == ("usual", "rush")
    assert worst["cluster"]["cost_usd_per_h"] == rush.answer["cluster"]["cost_usd_per_h"]
    assert usual["status"] == worst["status"] == "feasible"
    part = provision("fleet", file, *QUICK, "--one-cluster", "--share", "0.9", "--json").answer
    assert part["clusters"][0]["cluster"]["cost_usd_per_h"] < usual["cluster"]["cost_usd_per_h"]
    assert "worst case" in provision("fleet", file, *QUICK, "--one-cluster").out


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        (CASES.replace("[AA, HH]", "[HA]"), ("--one-cluster",), "fleet.yaml:2: services: no design is allowed for all"),
        (CASES + "limits: {power_kw: 9}", ("--one-cluster",), "fleet.yaml:5: limits: does not go with"),
        (CASES, ("--one-cluster", "--share", "2"), "--share"),
        (CASES, ("--share", "0.5"), "--share: goes with --one-cluster"),
        (CASES, ("--one-cluster", "--by-hour"), "two questions"),
    ],
)
def test_bad_cases(provision: Provision, folder: Path, text: str, options: tuple[str, ...], said: str) -> None:
    run = provision("fleet", written(folder, text), *QUICK, *options)
    assert run.code == 2
    assert said in run.err


def test_spares_are_fewer_where_services_share_them(provision: Provision, folder: Path) -> None:
    """Two services on A100 machines alone: what both need of their own, they need once together."""
    services = "\n".join(f"  - {{name: s{n}, target_rps: {10 + n}, designs: [AA]}}" for n in range(2))
    file = written(folder, f"minimize: cost\nservices:\n{services}\n")
    found = provision("fleet", file, *QUICK, "--spares", "1", "--json").answer
    spares = found["spares"]
    assert spares["machines_lost"] == found["inputs"]["spares"] == 1
    assert spares["shared"].get("dgx-a100", 0) <= 1
    assert spares["each_its_own"].get("dgx-a100", 0) <= 2
    assert spares["shared_usd_per_h"] == pytest.approx(17.68 * spares["shared"].get("dgx-a100", 0))
    for each in found["services"]:
        counts = (each["cluster"]["prompt_machines"], each["cluster"]["token_machines"])
        asked = ("simulate", "--design", "AA", "--target-rps", str(each["target_rps"]), *QUICK[:4], "--json")
        fewer = [(counts[0] - 1, counts[1]), (counts[0], counts[1] - 1)]
        each["slack"] = all(provision(*asked, "--cluster", f"{p},{t}").code == 0 for p, t in fewer)
    needing = sum(not each["slack"] for each in found["services"])
    assert spares["each_its_own"].get("dgx-a100", 0) == needing
    assert spares["shared"].get("dgx-a100", 0) == min(needing, 1)
    assert "as spares for all" in provision("fleet", file, *QUICK, "--spares", "1").out
    assert provision("fleet", file, *QUICK, "--spares", "9").code == 2
    assert "does not go with" in provision("fleet", file, *QUICK, "--spares", "1", "--by-hour").err
