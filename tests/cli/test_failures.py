"""Failures on the command line: what is asked, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.runs import MAIN_JOB, TINY, Provision

GIVEN = ("whatif", "--design", "HH", "--cluster", "6,2", *TINY, "--quiet")
ROOM = (*MAIN_JOB, "--max-machines", "16")
"""For spares."""


def test_a_repair_and_failures_by_chance_are_echoed(provision: Provision) -> None:
    lost = provision(*GIVEN, "--fail", "token=1", "--fail-at", "2", "--repair", "3s", "--json").answer["inputs"]
    assert (lost["fail"], lost["fail_at_s"], lost["repair"], lost["mtbf"]) == ("token=1", 2.0, "3s", None)
    random = provision(*GIVEN, "--mtbf", "1m", "--repair", "2", "--json")
    assert random.answer["inputs"]["mtbf"] == "1m"
    assert random.out == provision(*GIVEN, "--mtbf", "1m", "--repair", "2", "--json").out


def test_a_repair_helps(provision: Provision) -> None:
    """Both token machines away for a second, or for good: prompt machines decode meanwhile, or from then on."""
    lost, back = (
        provision(*GIVEN, "--fail", "token=2", "--fail-at", "2", *more, "--json").answer
        for more in ((), ("--repair", "1"))
    )
    assert back["utilization"]["token"] > lost["utilization"]["token"]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--repair", "3s"), "nothing fails"),
        (("--fail-at", "3"), "nothing fails"),
        (("--fail", "token=1", "--repair", "soon"), "not a duration"),
        (("--fail", "token=1", "--repair", "0"), "not a duration"),
        (("--fail", "token=1", "--repair", "nan"), "not a duration"),
        (("--fail", "token=1", "--repair", "1e300d"), "not a duration"),
        (("--fail", "token=1", "--fail-at", "inf"), "not a time"),
        (("--fail", "token=3"), "cannot fail"),
        (("--fail", "token=1,token=2"), "twice"),
        (("--mtbf", "1h"), "needs --repair"),
        (("--mtbf", "1h", "--repair", "1h", "--fail", "token=1"), "does not go with"),
    ],
)
def test_what_does_not_go_together_is_refused(provision: Provision, options: tuple[str, ...], problem: str) -> None:
    run = provision(*GIVEN, *options)
    assert run.code == 2
    assert problem in run.err


def test_an_answer_survives_and_says_with_what(provision: Provision) -> None:
    plain = provision(*MAIN_JOB, "--quiet", "--json").answer
    found = provision(*ROOM, "--quiet", "--json", "--survive", "prompt=1,token=1").answer
    assert found["status"] == "optimal"
    assert found["cluster"]["machines"] > plain["cluster"]["machines"]
    assert [(each["lost"], each["when"]) for each in found["survival"][:2]] == [
        ("prompt=1,token=1", "from the start"),
        ("token=1", "from the start"),
    ]
    assert len(found["survival"]) == 6
    assert all(each["met"] for each in found["survival"])
    assert found["inputs"]["survive"] == "prompt=1,token=1"
    assert "survival" not in plain
    counts = f"{found['cluster']['prompt_machines']},{found['cluster']['token_machines']}"
    alone = provision("simulate", "--design", "HH", "--cluster", counts, *TINY, "--survive", "machines=1", "--quiet")
    assert alone.code == 0
    assert alone.out.count("it passes") == 4


def test_a_cluster_that_does_not_survive_says_why(provision: Provision) -> None:
    run = provision("simulate", "--design", "HH", "--cluster", "1,1", *TINY, "--survive", "machines=2", "--json")
    assert run.code == 3
    assert not all(each["met"] for each in run.answer["survival"])


def test_an_availability_is_bounded(provision: Provision) -> None:
    asked = ("--availability", "0.999", "--mtbf", "100h", "--repair", "4h")
    found = provision(*ROOM, "--quiet", "--json", *asked).answer
    share = found["availability"]
    assert 0.999 <= share["at_least"] <= share["at_most"] <= 1
    assert (share["mtbf_s"], share["repair_s"], share["met"]) == (360_000, 14_400, True)
    assert "of the time" in provision(*ROOM, "--quiet", *asked).out


def test_designs_are_compared_by_what_survives(provision: Provision) -> None:
    options = ("--design", "HH", "--design", "H100", *TINY, "--minimize", "machines", "--max-machines", "9", "--quiet")
    found = provision("compare", *options, "--survive", "machines=1", "--json").answer
    assert [len(each["survival"]) for each in found["clusters"]] == [4, 2]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--survive", "prompts=1"), "not machines of HH"),
        (("--survive", "prompt"), "not a loss of machines"),
        (("--survive", "prompt=0"), "not a loss of machines"),
        (("--survive", "prompt=-1"), "not a loss of machines"),
        (("--survive", "prompt=99"), "not a loss of machines"),
        (("--survive", "prompt=15,token=15"), "too many to try"),
        (("--survive", ""), "not a loss of machines"),
        (("--survive", "prompt=1", "--fail-at", "10"), "not within the run"),
        (("--survive", "prompt=1", "--mtbf", "1h"), "does nothing without --availability"),
        (("--fail-at", "1"), "does nothing without --survive"),
        (("--repair", "1"), "does nothing without"),
        (("--availability", "0.99"), "needs to know how often"),
        (("--availability", "1", "--mtbf", "1h", "--repair", "1h"), "out of range"),
        (("--availability", "nan", "--mtbf", "1h", "--repair", "1h"), "out of range"),
        (("--availability", "0.9", "--mtbf", "0", "--repair", "1h"), "not a duration"),
        (("--emit", "nomad", "out"), "unknown target"),
        (("--emit", "k8s", "/no/such/folder"), "does not exist"),
    ],
)
def test_what_cannot_be_asked_is_refused(provision: Provision, options: tuple[str, ...], problem: str) -> None:
    run = provision(*MAIN_JOB, *options)
    assert run.code == 2, run.err
    assert problem in run.err


@pytest.mark.parametrize("target", ["k8s", "dynamo", "llm-d"])
def test_an_answer_is_emitted(provision: Provision, tmp_path: Path, target: str) -> None:
    folder = tmp_path / "out"
    assert provision(*MAIN_JOB, "--quiet", "--emit", target, str(folder)).code == 0
    assert "README.md" in {path.name for path in folder.iterdir()}
    again = provision(*MAIN_JOB, "--quiet", "--emit", target, str(folder))
    assert again.code == 2
    assert "is not empty" in again.err


def test_nothing_is_emitted_of_a_cluster_that_misses(provision: Provision, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    run = provision("simulate", "--design", "HH", "--cluster", "1,1", *TINY, "--emit", "k8s", str(folder))
    assert run.code == 3
    assert "nothing to deploy" in run.err
    assert not folder.exists()
