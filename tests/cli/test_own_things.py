"""Models, machines, profiles and SLOs of one's own, from the command line; an estimate says so in every output."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from tests.cli.runs import TINY, Provision

CONFIG = {
    "model_type": "llama",
    "num_hidden_layers": 32,
    "hidden_size": 4096,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "intermediate_size": 14336,
    "vocab_size": 128256,
}
DESIGN = """\
name: small
short: small
mixed: dgx-h100
tensor_parallel: 1
instances_per_machine: 8
unit: {unit}
"""
SLO = """\
limits: [{metric: ttft, percentile: 95, limit: 1, unit: s}]
goodput: {share: 0.9, limits: [{metric: tbt, limit: 0.05, unit: s}]}
"""


@pytest.fixture
def mine(provision: Provision, folder: Path) -> tuple[str, ...]:
    """Return options for a model, a design and SLOs of one's own, on a profile that was only estimated."""
    (folder / "llama-8b").mkdir()
    (folder / "llama-8b" / "config.json").write_text(json.dumps(CONFIG))
    (folder / "slos").mkdir()
    (folder / "slos" / "mine.yaml").write_text(SLO)
    (folder / "designs").mkdir()
    for unit in ("machine", "instance"):
        (folder / "designs" / f"{unit}.yaml").write_text(DESIGN.format(unit=unit))
    model = "llama-8b/config.json"
    done = provision(
        "profile", "estimate", "--model", model, "--machine", "dgx-h100", "--tp", "1", "--out", "guess.csv"
    )
    assert done.code == 0, done.err
    return ("--model", model, "--slo", "mine", "--profile", "guess.csv", *TINY)


def test_every_output_says_that_times_are_estimated(provision: Provision, mine: tuple[str, ...]) -> None:
    asked = ("simulate", "--design", "instance", "--cluster", "2", *mine)
    table = provision(*asked, "--csv", "one.csv")
    assert table.code == 0, table.err
    assert "on estimated times" in " ".join(table.out.split())
    (row,) = csv.DictReader(Path("one.csv").read_text().splitlines())
    assert row["times"] == "estimated"
    answer = provision(*asked, "--json").answer
    assert answer["cluster"]["times"] == "estimated"
    assert "iteration times on dgx-h100 are estimated, not measured" in answer["warnings"]


def test_absolute_slos_need_no_reference_machine_and_goodput_is_told(
    provision: Provision, mine: tuple[str, ...]
) -> None:
    """The profile has no DGX-A100."""
    run = provision("simulate", "--design", "instance", "--cluster", "2", *mine, "--json")
    ttft, goodput = run.answer["slos"]
    assert (ttft["metric"], ttft["unit"], ttft["limit"]) == ("ttft", "s", 1)
    assert (goodput["metric"], goodput["percentile"], goodput["limit"], goodput["unit"]) == (
        "goodput",
        90,
        0.1,
        "missed",
    )
    assert 0 <= goodput["value"] <= 1
    assert "Goodput (missed)" in provision("simulate", "--design", "instance", "--cluster", "2", *mine).out


def test_machines_and_single_gpus_are_counted(provision: Provision, mine: tuple[str, ...]) -> None:
    """A machine of eight instances is eight of them, at the same price and with the same latencies."""
    whole = provision("simulate", "--design", "machine", "--cluster", "1", *mine, "--json").answer
    parts = provision("simulate", "--design", "instance", "--cluster", "8", *mine, "--json").answer
    assert [each["cluster"]["gpus"] for each in (whole, parts)] == [8, 8]
    assert whole["cluster"]["cost_usd_per_h"] == parts["cluster"]["cost_usd_per_h"] == 38.08
    assert [slo["value"] for slo in whole["slos"]] == [slo["value"] for slo in parts["slos"]]
    assert whole["stability"] == parts["stability"]


def test_the_search_buys_the_gpus_it_needs_and_not_the_machine(provision: Provision, mine: tuple[str, ...]) -> None:
    run = provision("--design", "instance", "--minimize", "cost", "--max-machines", "16", *mine, "--json")
    assert run.code == 0, run.err
    cluster = run.answer["cluster"]
    assert (cluster["unit"], cluster["machines"]) == ("instance", cluster["gpus"])
    assert cluster["cost_usd_per_h"] == pytest.approx(4.76 * cluster["gpus"])
    assert "small counts instances of 1 GPUs, 8 to a machine" in run.err


def test_slowdowns_name_the_reference_they_lack(provision: Provision, mine: tuple[str, ...]) -> None:
    arguments = [each if each != "mine" else "splitwise" for each in mine]
    run = provision("simulate", "--design", "instance", "--cluster", "2", *arguments)
    assert run.code == 2
    assert "llama-8b/dgx-a100/tp8" in run.err


def test_slowdowns_may_be_against_another_parallelism(provision: Provision) -> None:
    """Four GPUs take longer for a prompt alone than eight, so the same TTFTs are smaller slowdowns."""
    asked = ("simulate", "--design", "HH", "--cluster", "3,1", "--model", "llama2-70b", *TINY, "--json")
    eight, four = (
        provision(*asked, "--set", f"slos.splitwise.reference_tensor_parallel={number}").answer for number in (8, 4)
    )
    pairs = zip(eight["slos"], four["slos"], strict=True)
    ttfts = [(a["value"], b["value"]) for a, b in pairs if a["metric"] == "ttft"]
    assert len(ttfts) == 3
    assert all(of_four < of_eight for of_eight, of_four in ttfts)
