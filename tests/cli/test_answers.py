"""What programs read: exit codes, JSON and CSV (`design/cli.md`)."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

from tests.cli.runs import MAIN_JOB, TINY, Provision, parsed, process, timeless

NUMBER = (int, float)
NINE = [(metric, percentile) for metric in ("ttft", "tbt", "e2e") for percentile in (50, 90, 99)]
NAMES = [f"{metric}_p{percentile}" for metric, percentile in NINE]

CLUSTER = {
    "design": str,
    "prompt_machines": int,
    "token_machines": int,
    "machines": int,
    "cost_usd_per_h": NUMBER,
    "power_kw": NUMBER,
    "throughput_rps": NUMBER,
}
INPUTS = {
    "design": list,
    "model": str,
    "workload": str,
    "slo": str,
    "profile": str,
    "seed": int,
    "duration_s": NUMBER,
    "replications": int,
    "version": str,
}
SLO = {"metric": str, "percentile": NUMBER, "limit": NUMBER, "unit": str, "value": NUMBER, "ci95": list, "met": bool}
SEARCH = {
    "simulated": int,
    "alike": int,
    "excluded_by_bound": int,
    "replications": int,
    "replications_spared": int,
    "ended_early": int,
    "elapsed_s": NUMBER,
    "certificate": str,
}


def assert_form(found: dict[str, Any], form: dict[str, Any]) -> None:
    """Every promised key is there, with a value of the promised type."""
    for key, kind in form.items():
        assert key in found, key
        assert isinstance(found[key], kind), f"{key}: {found[key]!r}"
        assert kind is bool or not isinstance(found[key], bool), key


def assert_answer(answer: dict[str, Any]) -> None:
    """The form that every answer with a cluster has."""
    assert answer["schema_version"] == 1
    assert answer["status"] in {"optimal", "feasible", "infeasible"}
    assert_form(answer["inputs"], INPUTS)
    assert_form(answer["cluster"], CLUSTER)
    cluster = answer["cluster"]
    assert cluster["machines"] == cluster["prompt_machines"] + cluster["token_machines"]
    assert [(slo["metric"], slo["percentile"]) for slo in answer["slos"]] == NINE
    for slo in answer["slos"]:
        assert_form(slo, SLO)
        assert slo["met"] == (slo["value"] <= slo["limit"])
        low, high = slo["ci95"]
        assert low <= slo["value"] <= high
    assert_form(answer["binding_slo"], {"metric": str, "percentile": NUMBER, "headroom": NUMBER})
    binding = answer["binding_slo"]
    left = {(slo["metric"], slo["percentile"]): 1 - slo["value"] / slo["limit"] for slo in answer["slos"]}
    assert left[binding["metric"], binding["percentile"]] == pytest.approx(binding["headroom"], abs=1e-6)
    assert binding["headroom"] == pytest.approx(min(left.values()), abs=1e-6)
    assert {"prompt", "token"} <= set(answer["utilization"])
    assert all(0 <= share <= 1 for share in answer["utilization"].values())
    assert answer["warnings"] == [] or all(isinstance(text, str) for text in answer["warnings"])


def test_the_main_job(provision: Provision) -> None:
    run = provision(*MAIN_JOB, "--json")
    assert run.code == 0
    answer = run.answer
    assert_answer(answer)
    assert answer["status"] == "optimal"
    assert answer["goal"] == {"minimize": "cost", "target_rps": 10.0}
    assert answer["inputs"]["design"] == ["Splitwise-HH"]
    assert (answer["inputs"]["model"], answer["inputs"]["workload"]) == ("bloom-176b", "coding")
    assert (answer["inputs"]["slo"], answer["inputs"]["profile"]) == ("splitwise", "splitwise")
    assert (answer["inputs"]["seed"], answer["inputs"]["duration_s"], answer["inputs"]["replications"]) == (0, 10, 2)
    assert answer["cluster"]["throughput_rps"] == 10.0
    assert answer["cluster"]["cost_usd_per_h"] == pytest.approx(38.08 * answer["cluster"]["machines"])
    assert answer["cluster"]["power_kw"] == pytest.approx(11.0 * answer["cluster"]["machines"])
    assert all(slo["met"] and slo["unit"] == "slowdown" for slo in answer["slos"])
    assert_form(answer["search"], SEARCH)
    assert "sound bound" in answer["search"]["certificate"]


def test_defaults_are_as_promised(provision: Provision) -> None:
    answer = provision("simulate", "--design", "HH", "--cluster", "9,3", "--target-rps", "5", "--json").answer
    assert answer["inputs"]["duration_s"] == 120
    assert answer["inputs"]["seed"] == 0
    assert (answer["inputs"]["model"], answer["inputs"]["workload"]) == ("bloom-176b", "coding")
    assert answer["inputs"]["slo"] == "splitwise"


@pytest.mark.parametrize(("cluster", "code", "status"), [("7,2", 0, "feasible"), ("2,1", 3, "infeasible")])
def test_one_cluster(provision: Provision, cluster: str, code: int, status: str) -> None:
    run = provision("simulate", "--design", "HH", "--cluster", cluster, *TINY, "--json")
    assert run.code == code
    assert run.answer["status"] == status
    assert_answer(run.answer)
    assert f"{run.answer['cluster']['prompt_machines']},{run.answer['cluster']['token_machines']}" == cluster


def test_one_cluster_of_a_baseline(provision: Provision) -> None:
    run = provision("simulate", "--design", "H100", "--cluster", "12", *TINY, "--json")
    assert run.answer["cluster"]["design"] == "Baseline-H100"
    assert (run.answer["cluster"]["prompt_machines"], run.answer["cluster"]["token_machines"]) == (12, 0)
    assert run.answer["cluster"]["machines"] == 12
    assert "mixed" in run.answer["utilization"]


def test_an_answer_alone_and_from_the_search_agree(provision: Provision) -> None:
    best = provision(*MAIN_JOB, "--json").answer
    counts = f"{best['cluster']['prompt_machines']},{best['cluster']['token_machines']}"
    alone = provision("simulate", "--design", "HH", "--cluster", counts, *TINY, "--json").answer
    for key in ("cluster", "slos", "binding_slo", "utilization"):
        assert alone[key] == best[key]


def test_none_passes_within_the_limits(provision: Provision) -> None:
    """Exit 3, with the SLO that binds, how far off the nearest is, and which limit to raise."""
    run = provision("--design", "HH", *TINY, "--minimize", "cost", "--max-machines", "6", "--json")
    assert run.code == 3
    answer = run.answer
    assert answer["status"] == "infeasible"
    assert answer["cluster"]["machines"] <= 6
    assert not all(slo["met"] for slo in answer["slos"])
    assert f"{answer['binding_slo']['metric']}_p{answer['binding_slo']['percentile']:g}" in answer["reason"]
    assert "--max-machines" in answer["reason"]
    table = provision("--design", "HH", *TINY, "--minimize", "cost", "--max-machines", "6")
    assert table.code == 3
    words = " ".join(table.out.split())
    assert answer["reason"] in words


def test_no_cluster_can_do_the_work(provision: Provision) -> None:
    run = provision("--design", "HH", *TINY, "--minimize", "cost", "--max-machines", "3", "--json")
    assert run.code == 3
    assert run.answer["status"] == "infeasible"
    assert run.answer["cluster"] is None
    assert run.answer["slos"] == []
    assert run.answer["search"]["simulated"] == 0
    assert run.answer["search"]["excluded_by_bound"] == 3
    assert "--max-machines" in run.answer["reason"]


def test_a_limit_below_what_a_request_alone_needs(provision: Provision) -> None:
    run = provision(*MAIN_JOB, "--set", "slos.splitwise.limits.ttft_p50.limit=0.01", "--json")
    assert run.code == 3
    assert run.answer["cluster"] is None
    assert "no number of machines helps" in run.answer["reason"]
    assert "ttft_p50" in run.answer["reason"]


@pytest.mark.parametrize("form", ["table", "json", "csv"])
def test_the_same_command_gives_the_same_bytes(provision: Provision, folder: Path, form: str) -> None:
    given = {"table": (), "json": ("--json",), "csv": ("--csv", "x.csv")}[form]
    outputs = []
    for _ in range(2):
        run = provision(*MAIN_JOB, *given)
        outputs.append((run.code, timeless(run.out), run.err, *(file.read_bytes() for file in folder.iterdir())))
    assert outputs[0] == outputs[1]


@pytest.mark.parametrize("jobs", ["1", "3"])
def test_the_number_of_jobs_changes_no_byte(provision: Provision, folder: Path, jobs: str) -> None:
    default, given = (provision(*MAIN_JOB, "--json", "--csv", name, *more) for name, more in
                      (("a.csv", ()), ("b.csv", ("--jobs", jobs))))  # fmt: skip
    assert timeless(default.out) == timeless(given.out)
    assert (folder / "a.csv").read_bytes() == (folder / "b.csv").read_bytes()


def test_a_process_gives_the_same_bytes(provision: Provision, folder: Path) -> None:
    run = process(*MAIN_JOB, "--json", cwd=folder, changes={"PYTHONHASHSEED": "7"})
    assert (run.code, timeless(run.out)) == (0, timeless(provision(*MAIN_JOB, "--json").out))


def test_another_seed_is_another_answer(provision: Provision) -> None:
    values = [
        provision("simulate", "--design", "HH", "--cluster", "7,2", *TINY, "--seed", seed, "--json").answer["slos"]
        for seed in ("0", "0", "1")
    ]
    assert values[0] == values[1] != values[2]


def test_without_a_command_it_is_optimize(provision: Provision) -> None:
    for arguments in (MAIN_JOB, (*MAIN_JOB[2:], *MAIN_JOB[:2]), ("--quiet", *MAIN_JOB)):
        runs = [provision(*command, *arguments, "--json") for command in ((), ("optimize",))]
        assert runs[0].code == runs[1].code == 0
        assert timeless(runs[0].out) == timeless(runs[1].out)


def test_several_designs_and_all_of_them(provision: Provision) -> None:
    goal = (*TINY, "--minimize", "machines", "--max-machines", "9", "--json")
    costs = {}
    for designs in (("HH",), ("HA",), ("HH", "HA"), ("all",)):
        arguments = [part for design in designs for part in ("--design", design)]
        run = provision(*arguments, *goal)
        costs[designs] = run.answer["cluster"]["machines"] if run.code == 0 else 99
    assert costs["HH", "HA"] == min(costs["HH",], costs["HA",])
    assert costs["all",] <= costs["HH", "HA"]


@pytest.mark.parametrize(
    "design", ["HH", "hh", "Splitwise-HH", "splitwise-hh"], ids=["short", "any case", "name", "file name"]
)
def test_a_design_by_any_of_its_names(provision: Provision, design: str) -> None:
    answer = provision("simulate", "--design", design, "--cluster", "7,2", *TINY, "--json").answer
    assert answer["cluster"]["design"] == "Splitwise-HH"


def test_csv_has_the_names_of_json_and_one_cluster_a_row(provision: Provision, folder: Path) -> None:
    run = provision(*MAIN_JOB, "--csv", "all.csv", "--json")
    with (folder / "all.csv").open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert list(CLUSTER) == list(rows[0])[: len(CLUSTER)]
    assert set(NAMES) | {f"{name}_limit" for name in NAMES} <= set(rows[0])
    assert len(rows) == run.answer["search"]["simulated"]
    assert len({(row["design"], row["prompt_machines"], row["token_machines"]) for row in rows}) == len(rows)
    best = run.answer["cluster"]
    (row,) = [row for row in rows if all(row[key] == str(best[key]) for key in CLUSTER)]
    for name, slo in zip(NAMES, run.answer["slos"], strict=True):
        assert (float(row[name]), float(row[f"{name}_limit"])) == (slo["value"], slo["limit"])


def test_csv_of_one_cluster(provision: Provision, folder: Path) -> None:
    provision("simulate", "--design", "HH", "--cluster", "7,2", *TINY, "--csv", "one.csv")
    text = (folder / "one.csv").read_text()
    assert len(text.splitlines()) == 2
    assert text.startswith(",".join(CLUSTER))


def test_json_into_a_file_beside_the_table(provision: Provision, folder: Path) -> None:
    run = provision(*MAIN_JOB, "--json", "answer.json")
    assert "USD/h" in run.out
    written = (folder / "answer.json").read_text()
    assert timeless(written) == timeless(provision(*MAIN_JOB, "--json").out)
    assert_answer(parsed(written))
    assert [file.name for file in folder.iterdir()] == ["answer.json"]


def test_a_file_is_overwritten_as_a_whole(provision: Provision, folder: Path) -> None:
    (folder / "answer.json").write_text("x" * 100_000)
    provision(*MAIN_JOB, "--json", "answer.json")
    assert_answer(parsed((folder / "answer.json").read_text()))


@pytest.mark.parametrize("place", ["before", "between", "after", "dash"])
def test_json_without_a_file_wherever_it_stands(provision: Provision, place: str) -> None:
    arguments = {
        "before": ("--json", *MAIN_JOB),
        "between": (*MAIN_JOB[:2], "--json", *MAIN_JOB[2:]),
        "after": (*MAIN_JOB, "--json"),
        "dash": (*MAIN_JOB, "--json", "-"),
    }[place]
    assert_answer(provision(*arguments).answer)


def test_an_override_changes_the_answer_and_is_echoed(provision: Provision) -> None:
    changed = "machines.dgx-h100.cost_usd_per_h=24"
    answer = provision(*MAIN_JOB, "--set", changed, "--json").answer
    assert answer["cluster"]["cost_usd_per_h"] == pytest.approx(24 * answer["cluster"]["machines"])
    assert answer["inputs"]["set"] == [changed]


def test_what_if_says_what_changed(provision: Provision) -> None:
    asked = ("whatif", "--design", "HH", "--cluster", "7,2", *TINY)
    run = provision(*asked, "--scale-prompt", "1.2", "--set", "machines.dgx-h100.power_kw=9")
    assert "then --scale-prompt 1.2 --set machines.dgx-h100.power_kw=9" in " ".join(run.out.split())
    run = provision(*asked, "--workload", "conversation", "--before-workload", "coding", "--before-rps", "5")
    assert "coding at 5 RPS, then conversation at 10 RPS" in " ".join(run.out.split())
    run = provision(*asked)
    assert any("nothing changes" in note for note in run.notes)
