"""Trace files: replayed as they are, scaled in time, or as a source of lengths."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.runs import REFERENCE, TINY, Provision

CLUSTER = ("--design", "HH", "--cluster", "2,2")
TRACE = [(0.5 * i, 100 + 7 * i, 1 + i % 9) for i in range(40)]
ABSENT = pytest.mark.skipif(not REFERENCE.is_dir(), reason=f"the reference simulators' results are not at {REFERENCE}")


def write(file: Path, rows: list[tuple[float, int, int]]) -> None:
    lines = ["arrival_s,prompt_tokens,output_tokens", *(",".join(map(str, row)) for row in rows)]
    file.write_text("\n".join(lines) + "\n")


@pytest.fixture(autouse=True)
def trace(folder: Path) -> None:
    """Write a trace of forty requests, two a second."""
    write(folder / "mine.csv", TRACE)


def test_a_trace_is_replayed_as_it_is(provision: Provision) -> None:
    answer = provision("simulate", *CLUSTER, "--workload", "mine.csv", "--json").answer
    assert answer["goal"]["target_rps"] == pytest.approx(2.0)
    assert answer["inputs"]["arrivals"] == "recorded"
    assert answer["inputs"]["workload"] == "mine.csv"
    assert answer["inputs"]["duration_s"] == pytest.approx(20.0)
    assert answer["inputs"]["replications"] == 1
    assert all(slo["ci95"] is None for slo in answer["slos"])


def test_replications_of_a_recording_are_one_and_that_is_said(provision: Provision) -> None:
    run = provision("simulate", *CLUSTER, "--workload", "mine.csv", "--replications", "7", "--seed", "3", "--json")
    assert any("same in every replication" in note for note in run.notes)
    other = provision("simulate", *CLUSTER, "--workload", "mine.csv", "--json")
    assert run.answer["slos"] == other.answer["slos"]


def test_a_rate_scales_the_arrivals_in_time(provision: Provision, folder: Path) -> None:
    write(folder / "fast.csv", [(arrival / 4, prompt, output) for arrival, prompt, output in TRACE])
    scaled = provision("simulate", *CLUSTER, "--workload", "mine.csv", "--target-rps", "8", "--json").answer
    fast = provision("simulate", *CLUSTER, "--workload", "fast.csv", "--json").answer
    assert scaled["goal"]["target_rps"] == 8.0
    for mine, theirs in zip(scaled["slos"], fast["slos"], strict=True):
        assert mine["value"] == pytest.approx(theirs["value"], rel=1e-6)


def test_its_own_rate_changes_nothing(provision: Provision) -> None:
    own = provision("simulate", *CLUSTER, "--workload", "mine.csv", "--json").answer
    same = provision("simulate", *CLUSTER, "--workload", "mine.csv", "--target-rps", "2", "--json").answer
    assert [slo["value"] for slo in own["slos"]] == pytest.approx([slo["value"] for slo in same["slos"]])


def test_a_duration_cuts_a_trace(provision: Provision, folder: Path) -> None:
    write(folder / "half.csv", TRACE[:20])
    cut = provision("simulate", *CLUSTER, "--workload", "mine.csv", "--duration", "10", "--json").answer
    half = provision("simulate", *CLUSTER, "--workload", "half.csv", "--json").answer
    assert cut["slos"] == half["slos"]
    assert cut["inputs"]["duration_s"] == 10


def test_a_duration_beyond_the_trace_is_said_to_be(provision: Provision) -> None:
    run = provision("simulate", *CLUSTER, "--workload", "mine.csv", "--duration", "1000", "--json")
    assert any("20" in note and "1000" in note for note in run.notes)
    whole = provision("simulate", *CLUSTER, "--workload", "mine.csv", "--json").answer
    assert run.answer["slos"] == whole["slos"]
    assert run.answer["inputs"]["duration_s"] == whole["inputs"]["duration_s"]
    assert run.answer["stability"] == whole["stability"]


def test_a_trace_gives_lengths_to_other_arrivals(provision: Provision) -> None:
    asked = ("simulate", *CLUSTER, "--workload", "mine.csv", "--arrivals", "poisson", "--target-rps", "4")
    answer = provision(*asked, "--duration", "20", "--json").answer
    assert answer["inputs"]["arrivals"] == "poisson"
    assert answer["inputs"]["replications"] == 5
    assert all(slo["ci95"] is not None for slo in answer["slos"])


def test_burstier_arrivals_are_slower(provision: Provision) -> None:
    values = [
        provision("simulate", "--design", "HH", "--cluster", "7,2", *TINY, "--arrivals", arrivals, "--json").answer
        for arrivals in ("gamma:0.1", "gamma:8")
    ]
    assert values[0]["slos"][2]["value"] < values[1]["slos"][2]["value"]
    assert values[1]["inputs"]["arrivals"] == "gamma:8"


def test_an_azure_trace_is_read(provision: Provision, folder: Path) -> None:
    rows = [f"2023-11-16 18:15:{i:02d}.5000000,{100 + i},{5 + i}" for i in range(40)]
    (folder / "azure.csv").write_text("\n".join(["TIMESTAMP,ContextTokens,GeneratedTokens", *rows]) + "\n")
    answer = provision("simulate", *CLUSTER, "--workload", "azure.csv", "--json").answer
    assert answer["goal"]["target_rps"] == pytest.approx(1.0)


def test_a_recording_that_starts_late_has_the_rate_of_its_requests(provision: Provision, folder: Path) -> None:
    """Three hundred hours after zero, and two requests a second: not two in a million seconds."""
    write(folder / "late.csv", [(1e6 + arrival, prompt, output) for arrival, prompt, output in TRACE])
    late = provision("simulate", *CLUSTER, "--workload", "late.csv", "--json").answer
    own = provision("simulate", *CLUSTER, "--workload", "mine.csv", "--json").answer
    assert late["goal"]["target_rps"] == pytest.approx(2.0, rel=0.1)
    assert late["stability"]["load"] == pytest.approx(own["stability"]["load"], rel=0.1)


@pytest.mark.parametrize("requests", [1, 3])
def test_requests_that_all_arrive_at_once_have_no_rate_but_that_of_the_duration(
    provision: Provision, folder: Path, requests: int
) -> None:
    write(folder / "burst.csv", [(5.0, 100, 3)] * requests)
    run = provision("simulate", *CLUSTER, "--workload", "burst.csv")
    assert run.code == 2
    assert [line for line in run.err.splitlines() if "burst.csv" in line and "--duration" in line] == run.errors
    answer = provision("simulate", *CLUSTER, "--workload", "burst.csv", "--duration", "10", "--json").answer
    assert answer["status"] == "feasible"
    assert answer["goal"]["target_rps"] == requests / 10
    assert all(slo["value"] is not None for slo in answer["slos"])


@pytest.mark.parametrize("name", ["mine", "data/mine.csv", "./mine.csv"])
def test_a_trace_by_any_path(provision: Provision, folder: Path, name: str) -> None:
    (folder / name).parent.mkdir(exist_ok=True)
    write(folder / name, TRACE)
    answer = provision("simulate", *CLUSTER, "--workload", name, "--json").answer
    assert answer["inputs"]["arrivals"] == "recorded"


@pytest.mark.parametrize("make", ["mkdir", "touch"])
def test_a_folder_named_like_a_workload_is_not_in_the_way(provision: Provision, folder: Path, make: str) -> None:
    """`coding` is a name of the catalog before it is whatever stands in the current folder."""
    getattr(folder / "coding", make)()
    run = provision("simulate", "--design", "HH", "--cluster", "7,2", *TINY)
    assert run.code == 0, run.err


@ABSENT
def test_the_papers_own_simulator_through_the_command_line(provision: Provision) -> None:
    """Case hh-27p3t-bloom-176b-code-70rps of the reference, by its preset."""
    import csv  # noqa: PLC0415

    with (REFERENCE / "splitwisesim" / "cases.csv").open(newline="") as lines:
        (case,) = [row for row in csv.DictReader(lines) if row["case"] == "hh-27p3t-bloom-176b-code-70rps"]
    trace = REFERENCE / "splitwisesim" / "traces" / Path(case["trace"]).name
    run = provision("simulate", "--preset", "splitwisesim", "--design", "HH", "--cluster", "27,3",
                    "--workload", str(trace), "--json")  # fmt: skip
    assert run.answer["inputs"]["preset"] == "splitwisesim"
    assert run.answer["inputs"]["profile"] == run.answer["inputs"]["slo"] == "splitwisesim"
    for slo in run.answer["slos"]:
        theirs = float(case[f"{slo['metric']}_p{slo['percentile']:g}_slowdown"])
        assert slo["value"] == pytest.approx(theirs, rel=1e-3)
