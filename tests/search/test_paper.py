"""The paper's evaluation: what is published, how it is compared, and that the reference's habits reproduce it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import paper_experiments as experiments
from provisioner.catalog import Catalog
from provisioner.cli.main import main
from provisioner.domain.cluster import Cluster
from provisioner.perf import read_profiles
from provisioner.search import Budget, Precision, Scenario, Workers, maximise
from provisioner.search.maximise import largest_rate
from provisioner.search.paper import (
    DESIGNS,
    MODEL,
    ORDERS,
    OTHER_MODEL,
    WORKLOADS,
    Case,
    Finding,
    World,
    compared,
    study,
)
from provisioner.search.paper.claims import CLAIMS
from provisioner.search.paper.published import BATCH_RPS, CLUSTERS, TARGET_RPS
from provisioner.search.paper.study import cases, find
from provisioner.traces import Drawn, Poisson, SizeTable

REFERENCE = "splitwisesim"


def world(preset: str | None = None, span_s: float = 4.0, overrides: dict[str, object] | None = None) -> World:
    """The world that `provision paper` makes of a preset."""
    catalog = Catalog.open(preset=preset, overrides=overrides)
    profiles = read_profiles(catalog.find_file("profiles", preset or "splitwise"))
    scenarios = {}
    for workload in WORKLOADS:
        entry, folder = catalog.workload(workload)
        demand = Drawn(SizeTable.read(folder / entry.sizes), 0, Poisson())
        for model in (MODEL, OTHER_MODEL):
            scenarios[workload, model] = Scenario(
                model=catalog.model(model),
                slo=catalog.slo(preset or "splitwise"),
                profiles=profiles,
                demand=demand,
                rate_rps=TARGET_RPS,
                span_s=span_s,
            )
    return World(
        name=preset or "splitwise",
        designs={design: catalog.design(design) for design in DESIGNS},
        scenarios=scenarios,
        precision=Precision(replications=1),
    )


@pytest.mark.parametrize(("equal", "workload"), CLUSTERS)
def test_published_clusters_are_of_equal_power_or_cost(equal: str, workload: str) -> None:
    # 40 DGX-H100: 440 kW and 1,523.20 USD/h. AA's 70 machines are 434 kW: one more would fit.
    here = world()
    budget = here.budget(equal)  # type: ignore[arg-type]
    assert budget in {Budget(power_kw=440.0), Budget(cost_usd_per_h=1523.2)}
    counts = CLUSTERS[equal, workload]  # type: ignore[index]
    assert tuple(counts) == DESIGNS
    for name, (prompt, token) in counts.items():
        cluster = Cluster(design=here.designs[name], prompt_machines=prompt, token_machines=token)
        if (equal, workload, name) == ("cost", "coding", "HHcap"):
            assert cluster.cost_usd_per_h == pytest.approx(42 * 38.08)  # as published: 5 % more than the others
        else:
            assert budget.allows(cluster)


def test_every_claim_of_the_domain_page_is_compared() -> None:
    # ../shared/design/system.md, section 9.
    told = {(claim.published, claim.unit, claim.is_bound) for claim in CLAIMS}
    assert {
        (30.0, "machines", False),  # 27P+3T
        (2.15, "x", False),
        (1.18, "x", False),
        (0.9, "x", False),  # 10 % lower cost
        (1.4, "x", False),
        (1.25, "x", False),  # 25 % more power
        (0.75, "x", False),  # 25 % less power; 25 % less cost
        (0.89, "RPS/USD", False),
        (0.75, "RPS/USD", False),
    } <= told
    assert len({(claim.text, claim.source) for claim in CLAIMS}) == len(CLAIMS)
    batch = [claim for claim in CLAIMS if claim.unit == "RPS/USD"]
    assert [claim.text.rpartition(" ")[2] for claim in batch] == ["A100", "AA", "H100", "HH"]


def test_every_claim_can_be_measured_from_the_cases() -> None:
    """With a made-up number for every case, no claim is left without a value."""
    here = world()
    full = {
        case: Finding(
            value=1.0 + place / 100, cluster=here.judge(case).cluster(*CLUSTERS["power", "coding"][case.design])
        )
        for place, case in enumerate(cases(WORKLOADS, quick=False))
    }
    comparisons = compared({"here": full}, WORKLOADS)
    assert len(comparisons) >= len(CLAIMS)
    for comparison in comparisons:
        value = comparison.values["here"]
        assert value is not None
        assert math.isfinite(value)
        assert (comparison.difference("here") is None) == comparison.claim.is_bound
        assert (comparison.holds("here") is None) != comparison.claim.is_bound
    only = compared({"here": full}, ["coding"])
    assert {comparison.workload for comparison in only} == {"coding"}


def test_a_difference_is_relative_and_a_bound_is_exceeded() -> None:
    chat = {
        Case("published", "conversation", design): Finding(value=rate)
        for design, rate in {"AA": 86.0, "A100": 50.0, "H100": 80.0, "HH": 81.0, "HA": 90.0, "HHcap": 99.0}.items()
    }
    values = {c.claim.text: c for c in compared({"w": chat}, WORKLOADS) if c.values["w"] is not None}
    times = values["equal power: RPS of AA / A100"]
    assert times.values["w"] == pytest.approx(1.72)
    assert times.difference("w") == pytest.approx(1.72 / 2.15 - 1)
    order = values["equal power: slowest of AA, HH, HA, HHcap / fastest of A100, H100"]
    assert order.values["w"] == pytest.approx(81 / 80)
    assert order.holds("w")
    rates = {case.design: finding.value or 0.0 for case, finding in chat.items()}
    assert ORDERS["conversation"].agrees(rates)
    assert not ORDERS["conversation"].agrees({**rates, "HH": 80.0})
    assert not ORDERS["conversation"].agrees({design: rates[design] for design in rates if design != "AA"})


def test_least_of_what_is_alike_is_searched_once() -> None:
    here = world()
    for design in ("A100", "H100", "AA", "HH"):
        for by in ("cost", "power", "machines"):
            assert here.first_alike(Case("least", "coding", design, by)) == Case("least", "coding", design, "cost")
    # A cap saves power, not rent.
    assert here.first_alike(Case("least", "coding", "HHcap", "machines")).by == "cost"
    assert here.first_alike(Case("least", "coding", "HHcap", "power")).by == "power"
    assert here.first_alike(Case("least", "coding", "HA", "machines")).by == "machines"
    assert here.first_alike(Case("own", "coding", "HH", "power")).by == "power"
    dear = world(overrides={"machines.dgx-h100-cap.cost_usd_per_h": 20.0})
    assert dear.first_alike(Case("least", "coding", "HHcap", "machines")).by == "machines"


def test_the_largest_rate_is_that_of_a_budget_that_buys_just_the_cluster() -> None:
    judge = world(span_s=10.0).judge(Case("published", "coding", "H100"))
    best = largest_rate(judge, judge.cluster(40, 0))
    assert best is not None
    with Workers() as workers:
        plan = maximise([judge], Budget(machines=40), workers=workers)
    assert plan.best is not None
    assert best.rate_rps == plan.best.rate_rps
    assert best.is_feasible
    assert not judge.at_rate(best.rate_rps * 1.005).evaluate(best.cluster).is_feasible


def test_no_rate_where_no_machine_is_fast_enough() -> None:
    here = world()
    judge = here.judge(Case("published", "coding", "A100"))
    tight = [limit.model_copy(update={"limit": 0.5}) for limit in judge.scenario.slo.limits]
    slo = judge.scenario.slo.model_copy(update={"limits": tuple(tight)})
    scenarios = {key: replace(scenario, slo=slo) for key, scenario in here.scenarios.items()}
    none = replace(here, scenarios=scenarios)
    assert find(none, Case("published", "coding", "A100")) == Finding(cluster=judge.cluster(70, 0))
    assert find(none, Case("own", "coding", "A100")) == Finding()
    assert find(none, Case("least", "coding", "A100", "cost")) == Finding()


def test_batch_load_is_what_is_completed_in_the_second_half_for_a_dollar() -> None:
    here = world(span_s=5.0)
    case = Case("batch", "conversation", "HA")
    judge = here.judge(case)
    scenario = replace(judge.scenario, rate_rps=BATCH_RPS, span_s=10.0)
    trace = scenario.trial(0).trace
    assert trace.span_s < 10.0
    assert len(trace) == pytest.approx(1800, rel=0.1)
    finish_s = judge._network.simulate(25, 26, trace).finish_s
    completed = np.count_nonzero((finish_s >= 5.0) & (finish_s < 10.0))
    assert find(here, case).value == pytest.approx(completed / 5.0 / (25 * 4.76 + 26 * 2.21))


@pytest.fixture(scope="module")
def quick() -> dict[str, Any]:
    with Workers(2) as workers:
        return dict(study([world(), world(REFERENCE)], ["conversation"], workers, quick=True))


def test_a_quick_study_finds_every_number_that_it_looks_for(quick: dict[str, Any]) -> None:
    assert list(quick) == ["splitwise", REFERENCE]
    for findings in quick.values():
        assert list(findings) == cases(["conversation"], quick=True)
        for case, finding in findings.items():
            assert finding.value > 0
            assert math.isfinite(finding.value)
            assert finding.cluster.design.short == case.design
            assert case.experiment == "batch" or finding.evaluation.rate_rps == finding.value


def test_baselines_need_no_other_cluster(quick: dict[str, Any]) -> None:
    for findings in quick.values():
        for design in ("A100", "H100"):
            own = findings[Case("published", "conversation", design)]
            assert findings[Case("moved", "conversation", design)] == own


def test_the_number_of_workers_changes_nothing(quick: dict[str, Any]) -> None:
    with Workers(1) as workers:
        again = study([world(REFERENCE)], ["conversation"], workers, quick=True)
    assert str(again[REFERENCE]) == str(quick[REFERENCE])


def run(capsys: pytest.CaptureFixture[str], arguments: Sequence[str]) -> tuple[int, str, str]:
    code = main(["paper", *arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_the_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    table = tmp_path / "paper.csv"
    short = ["--quick", "--duration", "4", "--profile-set", REFERENCE, "--workload", "conversation", "--quiet"]
    code, out, err = run(capsys, [*short, "--json", "--csv", str(table)])
    assert (code, err) == (0, "")
    answer = json.loads(out)
    assert answer["schema_version"] == 1
    assert answer["inputs"]["profile_sets"] == [REFERENCE]
    assert {finding["unit"] for finding in answer["findings"]} <= {"RPS", "RPS/USD", "USD/h", "kW", "machines"}
    assert [order["workload"] for order in answer["orders"]] == ["conversation"]
    claims = {(claim["claim"], claim["clusters"]): claim for claim in answer["claims"]}
    times = claims["equal power: RPS of AA / A100", "published"]
    assert times["published"] == 2.15
    assert times["difference"][REFERENCE] == pytest.approx(times["ours"][REFERENCE] / 2.15 - 1, abs=1e-8)
    assert len(table.read_text().splitlines()) == 1 + len(answer["findings"])
    code, out, err = run(capsys, short)
    assert code == 0
    assert re.search("paper, VI-D +AA, HH, HA, HHcap > A100, H100", out)
    assert "batch load: RPS per USD of HH" in out
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--profile-set", "mine"], "unknown profile set (got 'mine'); allowed: both, splitwise, splitwisesim"),
        (["--workload", "chat"], "not a workload of the paper (got 'chat'); allowed: coding, conversation"),
        (["--preset", REFERENCE], "the profile set says it (got 'splitwisesim'); allowed: --profile-set"),
        (["--json", "/nowhere/at/all.json"], "folder /nowhere/at does not exist"),
    ],
)
def test_bad_input(capsys: pytest.CaptureFixture[str], arguments: list[str], told: str) -> None:
    code, out, err = run(capsys, arguments)
    assert (code, out) == (2, "")
    assert told in err


def test_the_experiments_take_apart_the_worlds_of_the_command() -> None:
    """Their two ends are what `provision paper` simulates, and a preset's fields are split without rest or overlap."""
    for variant, preset in ((experiments.DEFAULT, None), (experiments.SIM, REFERENCE)):
        for case in (Case("published", "conversation", "HA"), Case("model", "coding", "HHcap")):
            assert find(replace(variant, span_s=4.0).world(), case).value == find(world(preset), case).value
    parts = (experiments.MEMORY, experiments.TRANSFER, experiments.SCHEDULING)
    assert sorted(path for part in parts for path in part) == sorted(Catalog.open().preset(REFERENCE).set)


def test_the_papers_rule_takes_the_largest_rate_whatever_those_below_do(monkeypatch: pytest.MonkeyPatch) -> None:
    passing = {10.0, 20.0, 60.0}
    monkeypatch.setattr(experiments, "at_rate", lambda _, rate: Verdict(is_feasible=rate in passing))
    assert experiments.largest([10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0], None) == 60.0  # type: ignore[arg-type]
    assert experiments.largest([30.0], None) is None  # type: ignore[arg-type]


@dataclass
class Verdict:
    is_feasible: bool


def test_the_page_tells_every_claim_and_names_experiments_that_exist() -> None:
    page = (Path(__file__).parents[2] / "docs" / "paper.md").read_text()
    for claim in CLAIMS:
        for workload in claim.workloads:
            published = f"{'> ' if claim.is_bound else ''}{claim.published:.2f}"
            assert f"| {claim.text} | {workload} | {published} |" in page
    named = set(re.findall(r"paper_experiments ([a-z]+)", page))
    assert named == set(experiments.EXPERIMENTS)


@pytest.mark.slow
def test_with_the_reference_simulators_habits_the_papers_numbers_come_out() -> None:
    """Two minutes of requests, one seed, as the paper: the claims about conversation, its own clusters."""
    with Workers(2) as workers:
        findings = study([world(REFERENCE, span_s=120.0)], ["conversation"], workers, quick=True)
    comparisons = [c for c in compared(findings, ["conversation"]) if c.values[REFERENCE] is not None]
    far = {}
    for comparison in comparisons:
        difference = comparison.difference(REFERENCE)
        if difference is None:
            assert comparison.holds(REFERENCE), comparison.claim.text
        elif abs(difference) > 0.1:
            far[comparison.claim.text] = round(difference, 2)
    # docs/paper.md: with our own 61P+25T instead of the published 51P+35T it is 5 % off.
    assert list(far) == ["equal cost: RPS of AA / H100"]


@pytest.mark.slow
def test_the_best_clusters_of_the_reference_are_those_published() -> None:
    """The published clusters are on a grid of five machines; ours may be one or two machines away."""
    here = world(REFERENCE, span_s=120.0)
    for workload, design in (("coding", "HH"), ("coding", "HHcap"), ("conversation", "HA"), ("conversation", "HHcap")):
        found = find(here, Case("own", workload, design)).cluster  # type: ignore[arg-type]
        assert found is not None
        published = CLUSTERS["power", workload][design]  # type: ignore[index]
        assert abs(found.prompt_machines - published[0]) <= 2
        assert abs(found.token_machines - published[1]) <= 2
