"""Failures on the command line: what is asked, and what is refused."""

from __future__ import annotations

import pytest

from tests.cli.runs import TINY, Provision

GIVEN = ("whatif", "--design", "HH", "--cluster", "6,2", *TINY, "--quiet")


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
        (("--mtbf", "1h"), "needs --repair"),
        (("--mtbf", "1h", "--repair", "1h", "--fail", "token=1"), "does not go with"),
    ],
)
def test_what_does_not_go_together_is_refused(provision: Provision, options: tuple[str, ...], problem: str) -> None:
    run = provision(*GIVEN, *options)
    assert run.code == 2
    assert problem in run.err
