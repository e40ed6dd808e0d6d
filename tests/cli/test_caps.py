"""The power cap as a choice: every pool at every level that the profile has; where there is one, that is said."""

from __future__ import annotations

from pathlib import Path

from tests.cli.runs import Provision

LEAST = ("--target-rps", "10", "--duration", "10", "--replications", "1", "--max-machines", "16", "--minimize", "power")


def test_the_search_picks_the_level(provision: Provision, folder: Path) -> None:
    """Source: the same designs, written by hand."""
    (folder / "designs").mkdir()
    for name, prompt, token in (("both", "-cap", "-cap"), ("first", "-cap", "")):
        text = f"name: {name}\nshort: {name}\nprompt: dgx-h100{prompt}\ntoken: dgx-h100{token}\n"
        (folder / "designs" / f"{name}.yaml").write_text(text)
    by_hand = [
        provision("--design", design, *LEAST, "--json").answer["cluster"]["power_kw"]
        for design in ("HH", "HHcap", "both", "first")
    ]
    run = provision("--design", "HH", *LEAST, "--choose-cap", "--json")
    assert run.code == 0, run.err
    assert run.answer["cluster"]["power_kw"] == min(by_hand) < by_hand[0]
    assert run.answer["inputs"]["choose_cap"] is True
    assert len(run.answer["inputs"]["design"]) == 4
    assert not [line for line in run.notes if "power cap" in line]


def test_a_single_level_is_said(provision: Provision, folder: Path) -> None:  # noqa: ARG001 - runs there
    run = provision("--design", "A100", *LEAST, "--choose-cap", "--json")
    assert "dgx-a100: profile and catalog have one power cap level for bloom-176b" in run.err
    assert run.answer["inputs"]["design"] == ["Baseline-A100"]


def test_designs_that_are_there_already_are_not_tried_twice(provision: Provision, folder: Path) -> None:  # noqa: ARG001
    run = provision("--design", "HH", "--design", "HHcap", *LEAST, "--choose-cap", "--json")
    assert len(run.answer["inputs"]["design"]) == 4
