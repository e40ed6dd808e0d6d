"""`list` and `profile`: what there is, and what it says."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tests.cli.runs import Provision, parsed

PROFILES = [f"{model}/{machine}" for model in ("bloom-176b", "llama2-70b") for machine in
            ("dgx-a100", "dgx-h100", "dgx-h100-cap")]  # fmt: skip


def test_list_names_everything(provision: Provision) -> None:
    run = provision("list")
    assert (run.code, run.err) == (0, "")
    text = " ".join(run.out.split())
    for kind, names in {
        "designs": "Splitwise-AA, Splitwise-HH, Splitwise-HA, Splitwise-HHcap, Baseline-A100, Baseline-H100",
        "machines": "dgx-a100, dgx-h100, dgx-h100-cap",
        "models": "bloom-176b, llama-3.1-70b, llama2-70b",
        "workloads": "coding, conversation",
        "presets": "splitwisesim",
    }.items():
        assert f"{kind}: {names}" in text


def test_list_of_one_kind_is_a_name_a_line(provision: Provision) -> None:
    assert provision("list", "machines").out == "dgx-a100\ndgx-h100\ndgx-h100-cap\n"


def test_list_has_the_users_own(provision: Provision, folder: Path) -> None:
    (folder / "designs").mkdir()
    (folder / "designs" / "mine.yaml").write_text("name: Mine\nshort: M\nmixed: dgx-h100\n")
    assert "Mine" in provision("list", "designs").out.split()
    (folder / "other" / "designs").mkdir(parents=True)
    (folder / "other" / "designs" / "theirs.yaml").write_text("name: Theirs\nshort: T\nmixed: dgx-h100\n")
    names = provision("list", "designs", "--catalog", "other").out.split()
    assert {"Mine", "Theirs", "Splitwise-HH"} <= set(names)


@pytest.mark.parametrize("name", PROFILES)
def test_profile_show_prints_the_knots(provision: Provision, name: str) -> None:
    run = provision("profile", "show", name, "--json")
    assert (run.code, run.err) == (0, "")
    knots = run.answer
    assert list(knots) == ["model", "machine", "tensor_parallel", "prefill", "decode", "mixed_factor"]
    assert [knots["model"], knots["machine"], knots["tensor_parallel"]] == [*name.split("/"), 8]
    assert list(knots["prefill"]) == ["tokens", "seconds"]
    assert list(knots["decode"]) == ["batch", "seconds", "gamma_s_per_token"]
    for at, table in (("tokens", knots["prefill"]), ("batch", knots["decode"])):
        assert len(table[at]) == len(table["seconds"]) > 1
        assert table[at] == sorted(set(table[at]))
        assert table["seconds"] == sorted(table["seconds"])
        assert min(table["seconds"]) > 0
    assert knots["decode"]["gamma_s_per_token"] >= 0
    assert knots["mixed_factor"] == 1.1


def test_profile_show_of_another_parallelism_and_another_set(provision: Provision) -> None:
    assert provision("profile", "show", "llama2-70b/dgx-h100/tp4", "--json").answer["tensor_parallel"] == 4
    shown = provision("profile", "show", "bloom-176b/dgx-a100", "--profile", "splitwisesim", "--json").answer
    assert shown["decode"]["gamma_s_per_token"] == 0


def test_printed_knots_are_a_profile(provision: Provision, folder: Path) -> None:
    """What `profile show --json` prints can be given back."""
    for file in ("knots.json", "again.json"):
        given = ("--profile", "knots.json") if file == "again.json" else ()
        assert provision("profile", "show", "bloom-176b/dgx-a100", *given, "--json", file).code == 0
    assert parsed((folder / "knots.json").read_text()) == parsed((folder / "again.json").read_text())


def test_profile_show_as_a_table_and_csv(provision: Provision, folder: Path) -> None:
    run = provision("profile", "show", "bloom-176b/dgx-a100", "--csv", "knots.csv")
    assert "bloom-176b on dgx-a100" in " ".join(run.out.split())
    with (folder / "knots.csv").open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert list(rows[0]) == ["phase", "at", "seconds"]
    assert {row["phase"] for row in rows} == {"prefill", "decode"}


def test_profile_validate_meets_the_paper(provision: Provision) -> None:
    run = provision("profile", "validate", "--splits", "5", "--json")
    assert run.code == 0
    rows = {row["profile"]: row for row in run.answer["profiles"]}
    assert rows["all"]["decode_mape"] < 0.015
    assert rows["all"]["prefill_mape"] < 0.032
    assert rows["all"]["mape"] < 0.025
    assert run.answer["splits"] == 5


def test_profile_validate_is_seeded(provision: Provision) -> None:
    outputs = [provision("profile", "validate", "--splits", "2", "--seed", seed).out for seed in "112"]
    assert outputs[0] == outputs[1] != outputs[2]
    assert "Together" in outputs[0]
