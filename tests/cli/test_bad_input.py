"""Bad input (issue 2): one line a fault, naming file, line and field; exit 2; nothing half-written."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.cli.runs import MAIN_JOB, TINY, Provision, Run, environment, process

HEAD = "arrival_s,prompt_tokens,output_tokens\n"
SIMULATE = ("simulate", "--design", "HH", "--cluster", "2,2")


def assert_refused(run: Run, *fragments: str, faults: int = 1) -> None:
    """Exit 2, nothing on standard output, and a printable line for each fault, which says all of this."""
    assert run.code == 2
    assert run.out == ""
    assert len(run.errors) == faults, run.err
    for line in run.errors:
        assert line.startswith("error: ")
        assert line.isprintable()
        assert len(line) < 1000
    for fragment in fragments:
        assert fragment in run.err


OPTIONS: dict[str, tuple[Sequence[str], Sequence[str]]] = {
    "unknown design": (("--design", "HHcup", *MAIN_JOB[2:]), ("design", "'HHcup'", "did you mean 'HHcap'", "AA, HH")),
    "no design": (MAIN_JOB[2:], ("--design",)),
    "unknown model": ((*MAIN_JOB, "--model", "bloom"), ("model", "'bloom'", "did you mean 'bloom-176b'")),
    "unknown workload": ((*MAIN_JOB, "--workload", "codin"), ("workload", "'codin'", "did you mean 'coding'")),
    "unknown slo": ((*MAIN_JOB, "--slo", "splitwize"), ("slo", "'splitwize'", "did you mean 'splitwise'")),
    "unknown profile": ((*MAIN_JOB, "--profile", "splitwize"), ("profile", "did you mean 'splitwise'")),
    "unknown preset": ((*MAIN_JOB, "--preset", "splitwisesym"), ("preset", "did you mean 'splitwisesim'")),
    "negative rate": ((*MAIN_JOB, "--target-rps", "-1"), ("--target-rps", "-1.0", "above 0")),
    "no rate at all": ((*MAIN_JOB, "--target-rps", "0"), ("--target-rps", "above 0")),
    "absurd rate": ((*MAIN_JOB, "--target-rps", "1e9"), ("--target-rps", "1000000000.0", "at most")),
    "rate NaN": ((*MAIN_JOB, "--target-rps", "nan"), ("--target-rps", "nan")),
    "rate infinite": ((*MAIN_JOB, "--target-rps", "inf"), ("--target-rps", "inf")),
    "rate in words": ((*MAIN_JOB, "--target-rps", "seventy"), ("--target-rps",)),
    "rate missing": (("--design", "HH", "--minimize", "cost"), ("--target-rps", "missing")),
    "too many requests": ((*MAIN_JOB, "--target-rps", "1e6", "--duration", "1e6"), ("too many requests",)),
    "no duration": ((*MAIN_JOB, "--duration", "0"), ("--duration", "above 0")),
    "duration NaN": ((*MAIN_JOB, "--duration", "nan"), ("--duration", "nan")),
    "no replications": ((*MAIN_JOB, "--replications", "0"), ("--replications",)),
    "negative seed": ((*MAIN_JOB, "--seed", "-1"), ("--seed",)),
    "huge seed": ((*MAIN_JOB, "--seed", str(2**128)), ("seed", "2**128")),
    "no jobs": ((*MAIN_JOB, "--jobs", "0"), ("--jobs",)),
    "no machines": ((*MAIN_JOB, "--max-machines", "0"), ("--max-machines",)),
    "no goal": (MAIN_JOB[:8], ("--minimize", "cost, power, machines")),
    "unknown goal": ((*MAIN_JOB, "--minimize", "euros"), ("--minimize", "'euros'", "cost, power, machines")),
    "two goals": ((*MAIN_JOB, "--maximize", "throughput"), ("--minimize", "--maximize")),
    "unknown arrivals": ((*MAIN_JOB, "--arrivals", "uniform"), ("--arrivals", "'uniform'", "poisson")),
    "arrivals NaN": ((*MAIN_JOB, "--arrivals", "gamma:nan"), ("--arrivals", "'gamma:nan'")),
    "no recording": ((*MAIN_JOB, "--arrivals", "recorded"), ("--arrivals", "recorded")),
    "unknown option": ((*MAIN_JOB, "--desing", "HH"), ("--desing", "--design")),
    "unknown command": (("optimise", *MAIN_JOB), ("optimise", "optimize")),
    "override without value": ((*MAIN_JOB, "--set", "foo"), ("--set", "'foo'", "KIND.NAME.FIELD=VALUE")),
    "override of no field": (
        (*MAIN_JOB, "--set", "machines.dgx-h100.cost_usd_per_hour=3"),
        ("--set", "machines.dgx-h100.cost_usd_per_hour", "did you mean 'cost_usd_per_h'"),
    ),
    "override of no machine": (
        (*MAIN_JOB, "--set", "machines.dgx-h10.power_kw=3"),
        ("machines.dgx-h10.power_kw", "did you mean 'dgx-h100'"),
    ),
    "override out of range": (
        (*MAIN_JOB, "--set", "machines.dgx-h100.cost_usd_per_h=-3"),
        ("machines.dgx-h100.cost_usd_per_h", "-3", "at least 0"),
    ),
    "no catalog": ((*MAIN_JOB, "--catalog", "nowhere"), ("nowhere", "folder")),
    "no cluster": (("simulate", "--design", "HH", *TINY), ("--cluster",)),
    "one count of two": (("simulate", "--design", "HH", "--cluster", "27", *TINY), ("--cluster", "'27'", "27,3")),
    "two counts of one": (("simulate", "--design", "A100", "--cluster", "27,3", *TINY), ("--cluster", "'27,3'", "40")),
    "no token machine": (("simulate", "--design", "HH", "--cluster", "27,0", *TINY), ("--cluster", "'27,0'")),
    "negative count": (("simulate", "--design", "HH", "--cluster", "-1,3", *TINY), ("--cluster", "'-1,3'")),
    "count in words": (("simulate", "--design", "HH", "--cluster", "a,b", *TINY), ("--cluster", "'a,b'")),
    "superscript count": (("simulate", "--design", "HH", "--cluster", "2,²", *TINY), ("--cluster", "'2,²'")),
    "absurd count": (("simulate", "--design", "HH", "--cluster", "9" * 30 + ",1", *TINY), ("--cluster",)),
    "unknown kind": (("list", "design"), ("'design'", "designs, machines")),
    "unknown machine": (("profile", "show", "bloom-176b/dgx-b200"), ("bloom-176b/dgx-b200",)),
    "no profile": (("profile", "show", "bloom"), ("'bloom'", "MODEL/MACHINE")),
    "no measurements": (("profile", "validate", "nowhere.csv"), ("nowhere.csv",)),
    "knots are no measurements": (("profile", "validate", "splitwisesim"), ("splitwisesim", "measured")),
}


MOST = ("--design", "HH", "--maximize", "throughput")
COMPARE = ("compare", "--design", "HH", "--design", "HA")
WHATIF = ("whatif", *SIMULATE[1:], *TINY)
GOALS: dict[str, tuple[Sequence[str], Sequence[str]]] = {
    "no budget": (MOST, ("--maximize", "--budget-cost")),
    "unknown thing to get most of": ((*MOST[:3], "latency"), ("--maximize", "'latency'", "throughput")),
    "a rate and the highest rate": ((*MOST, "--budget-cost", "9", "--target-rps", "9"), ("--target-rps",)),
    "a budget and the least": ((*MAIN_JOB, "--budget-cost", "99"), ("budget", "--maximize")),
    "negative budget": ((*MOST, "--budget-power", "-5"), ("--budget-power", "-5.0", "above 0")),
    "budget NaN": ((*MOST, "--budget-power", "nan"), ("--budget-power", "nan")),
    "a budget for no machine": ((*MOST, "--budget-cost", "10"), ("10 USD/h", "HH takes 76.16 USD/h", "2 machines")),
    "a budget for one machine of two": ((*MOST, "--budget-machines", "1"), ("1 machines", "2 machines")),
    "a budget for no machine's front": (("pareto", "--budget-cost", "10"), ("10 USD/h", "A100 takes 17.68 USD/h")),
    "a front at a rate and within a budget": (("pareto", *TINY, "--budget-cost", "99"), ("--target-rps",)),
    "designs without a goal": ((*COMPARE, *TINY), ("--minimize",)),
    "unknown baseline": ((*COMPARE, *TINY, "--minimize", "cost", "--baseline", "x"), ("--baseline", "'x'", "HA")),
    "baseline left out": ((*COMPARE, *TINY, "--minimize", "cost", "--baseline", "AA"), ("--baseline", "'AA'", "HA")),
    "fewer clusters than designs": ((*COMPARE, *TINY, "--cluster", "2,2"), ("--cluster", "1 clusters")),
    "a given cluster and a goal": ((*COMPARE, *TINY, "--cluster", "2,2", "--minimize", "cost"), ("--cluster",)),
    "more failures than machines": ((*WHATIF, "--fail", "prompt=3"), ("--fail", "'prompt=3'", "prompt=2")),
    "no failure": ((*WHATIF, "--fail", "token=0"), ("--fail", "'token=0'", "token=1")),
    "failure in no pool": ((*WHATIF, "--fail", "mixed=1"), ("--fail", "'mixed=1'", "prompt=1")),
    "failure after the end": ((*WHATIF, "--fail", "token=1", "--fail-at", "11"), ("--fail-at", "11", "at most 10")),
    "prompts without length": ((*WHATIF, "--scale-prompt", "0"), ("--scale-prompt", "0.0", "above 0")),
    "no rate before": ((*WHATIF, "--before-rps", "0"), ("0.0", "above 0")),
    "no SLOs by an empty name": ((*MAIN_JOB, "--slo", ""), ("slo", "''")),
    "no profile by an empty name": ((*MAIN_JOB, "--profile", ""), ("profile", "''")),
    "no model before by an empty name": ((*WHATIF, "--before-model", ""), ("model", "''")),
    "the same machines lost twice": ((*MAIN_JOB, "--survive", "prompt=1,prompt=2"), ("--survive", "twice")),
    "a window of no timeline": ((*SIMULATE, *TINY, "--trace-window", "1:2"), ("--trace-window", "--trace-events")),
    "a rule that an override breaks": (
        (*MAIN_JOB, "--set", "designs.HH.scheduling.chunked_prefill=true"),
        ("--set: designs.HH.scheduling.chunked_prefill: ", "one mixed machine"),
    ),
    "weight zero": ((*MAIN_JOB, "--workload", "coding:0"), ("--workload", "'coding:0'", "above 0")),
    "confidence of a percentage": ((*MAIN_JOB, "--confidence", "95"), ("--confidence", "95.0", "0.95")),
    "all is warm-up": ((*MAIN_JOB, "--warmup", "10"), ("--warmup", "10.0", "less than the 10 s")),
    "a range backwards": (("curve", *SIMULATE[1:], "--rps", "9:5"), ("--rps", "'9:5'")),
    "a sweep without token machines": (("sweep", *SIMULATE[1:3], *TINY, "--prompt", "1:2"), ("--token",)),
}


@pytest.mark.parametrize("case", GOALS)
def test_goals(provision: Provision, case: str) -> None:
    arguments, fragments = GOALS[case]
    assert_refused(provision(*arguments), *fragments)


def test_weights_are_shares_of_their_sum(provision: Provision) -> None:
    mix = ("--workload", "coding:3", "--workload", "conversation:1")
    run = provision(*SIMULATE, *TINY, *mix, "--json")
    assert any("sum to 4" in note for note in run.notes)
    shares = provision(*SIMULATE, *TINY, "--workload", "coding:0.75", "--workload", "conversation:0.25", "--json")
    assert not any("sum to" in note for note in shares.notes)
    assert run.answer["slos"] == shares.answer["slos"]


def test_a_front_of_nothing_says_what_binds_and_what_comes_nearest(provision: Provision) -> None:
    run = provision("pareto", "--design", "HH", *TINY, "--max-machines", "4", "--json")
    assert run.code == 3
    assert run.answer["clusters"] == []
    assert "binds: HH" in run.answer["reason"]
    assert "comes nearest" in run.answer["reason"]


@pytest.mark.parametrize("case", OPTIONS)
def test_options(provision: Provision, folder: Path, case: str) -> None:
    arguments, fragments = OPTIONS[case]
    assert_refused(provision(*arguments), *fragments)
    assert not list(folder.iterdir())


@pytest.mark.parametrize(
    ("arguments", "fragment"),
    [
        (("--target-rps", "seventy"), "error: --target-rps: "),
        (("--target-rps", "seventy"), "(got 'seventy')"),
        (("--seed=-1",), "error: --seed: "),
        (("--seed=-1",), "(got '-1')"),
        (("--arrivals", "gamma:0"), "error: --arrivals: "),
        (("--arrivals", "gamma:0"), "(got 'gamma:0')"),
        (("--target-rps", "1e6", "--duration", "1e6"), "error: --target-rps: "),
    ],
)
def test_an_option_and_its_value_are_named(provision: Provision, arguments: Sequence[str], fragment: str) -> None:
    assert_refused(provision(*MAIN_JOB, *arguments), fragment)


def test_one_cluster_is_of_one_design(provision: Provision) -> None:
    assert_refused(provision("simulate", "--design", "all", "--cluster", "2,2", *TINY), "--design", "all")


def test_every_fault_is_told_at_once(provision: Provision) -> None:
    run = provision(
        "--design", "HX", "--design", "HY", "--model", "bloom", "--slo", "x", "--profile", "y", "--workload", "z",
        *TINY, "--minimize", "cost",
    )  # fmt: skip
    assert_refused(run, "'HX'", "'HY'", "'bloom'", "'x'", "'y'", "'z'", faults=6)


TRACES: dict[str, tuple[str | bytes, Sequence[str]]] = {
    "empty": ("", ("the file is empty",)),
    "without rows": (HEAD, ("no requests",)),
    "truncated": (HEAD + "0.1,100,5\n0.2,100", (":3:", "2 columns")),
    "truncated in a number": (HEAD + "0.1,100,5\n0.2,100,", (":3:", "output_tokens")),
    "unsorted": (HEAD + "0.2,100,5\n0.1,100,5\n", (":3:", "arrival_s", "'0.1'")),
    "non-numeric": (HEAD + "0.1,100,5\n0.2,many,5\n", (":3:", "prompt_tokens", "'many'")),
    "NaN": (HEAD + "0.1,100,5\nnan,100,5\n", (":3:", "arrival_s", "'nan'")),
    "NaN tokens": (HEAD + "0.1,nan,5\n", (":2:", "prompt_tokens", "'nan'")),
    "infinite": (HEAD + "0.1,100,5\ninf,100,5\n", (":3:", "arrival_s", "'inf'")),
    "negative": (HEAD + "-0.1,100,5\n", (":2:", "arrival_s", "'-0.1'")),
    "zero prompt": (HEAD + "0.1,0,5\n", (":2:", "no prompt tokens")),
    "zero output": (HEAD + "0.1,100,0\n", (":2:", "no output tokens")),
    "half a token": (HEAD + "0.1,100.5,5\n", (":2:", "prompt_tokens", "'100.5'")),
    "absurdly long": (HEAD + "0.1,100000000,5\n", (":2:", "prompt_tokens")),
    "thousands of digits": (HEAD + f"0.1,{'9' * 5000},5\n", (":2:", "prompt_tokens")),
    "seconds since 1970": (HEAD + "1700000000.5,100,5\n", (":2:", "arrival_s")),
    "binary": (b"\x00\xff\xfe\x01" * 50, ("text",)),
    "not UTF-8": (HEAD.encode() + b"0.1,100,5\xff\n", ("UTF-8",)),
    "hostile": (HEAD + "0.1,\x1b[31m[bold],5\n", (":2:", "prompt_tokens", "\\x1b[31m[bold]")),
}


@pytest.mark.parametrize("case", TRACES)
def test_traces(provision: Provision, folder: Path, case: str) -> None:
    content, fragments = TRACES[case]
    (folder / "bad.csv").write_bytes(content if isinstance(content, bytes) else content.encode())
    for command in (SIMULATE, ("--design", "HH", "--minimize", "cost")):
        assert_refused(provision(*command, "--workload", "bad.csv"), "bad.csv", *fragments)


@pytest.mark.parametrize("head", ["0.1,100,5", "time,in,out", '{"time": 1, "in": 2, "out": 3}'])
def test_a_table_of_no_known_kind_gets_the_list_of_kinds(provision: Provision, folder: Path, head: str) -> None:
    (folder / "bad.csv").write_text(f"{head}\n0.1,100,5\n")
    run = provision(*SIMULATE, "--workload", "bad.csv")
    assert_refused(run, "bad.csv:1: none of the known kinds", "--columns arrival=NAME", "not BurstGPT: no ", faults=9)


def test_every_fault_of_a_trace_has_its_line(provision: Provision, folder: Path) -> None:
    (folder / "bad.csv").write_text(HEAD + "0.1,-1,5\n0.2,100,x\n0.3,100\n")
    run = provision(*SIMULATE, "--workload", "bad.csv")
    assert_refused(run, "bad.csv:2: prompt_tokens", "bad.csv:3: output_tokens", "bad.csv:4:", faults=3)


def test_thousands_of_faults_are_not_thousands_of_lines(provision: Provision, folder: Path) -> None:
    (folder / "bad.csv").write_text(HEAD + "0.1,-1,5\n" * 5000)
    run = provision(*SIMULATE, "--workload", "bad.csv")
    assert run.code == 2
    assert len(run.errors) < 30
    assert "more" in run.errors[-1]


@pytest.mark.parametrize("name", ["nowhere.csv", "nowhere/trace.csv", ".", "/", "x\0y.csv", "~"])
def test_traces_that_are_no_files(provision: Provision, name: str) -> None:
    assert_refused(provision(*SIMULATE, "--workload", name))


def test_a_trace_without_permission(folder: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("the superuser may read every file")
    (folder / "bad.csv").write_text(HEAD + "0.1,100,5\n")
    (folder / "bad.csv").chmod(0)
    assert_refused(process(*SIMULATE, "--workload", "bad.csv", cwd=folder), "bad.csv")


def test_a_prompt_larger_than_a_machines_memory_is_counted_and_warned_of(provision: Provision, folder: Path) -> None:
    """It is no bad input: it never finishes, and misses every limit that it counts for."""
    (folder / "huge.csv").write_text(HEAD + "0.0,100,5\n1.0,9999999,5\n2.0,100,5\n")
    run = provision(*SIMULATE, "--workload", "huge.csv", "--json")
    assert run.code == 3
    assert run.answer["status"] == "infeasible"
    assert run.answer["stability"]["unfinished"] == 1
    assert any("never finish" in warning for warning in run.answer["warnings"])
    assert any("never finish" in note for note in run.notes)
    assert [slo["met"] for slo in run.answer["slos"]] == [True, False, False] * 3
    assert all(slo["value"] is None for slo in run.answer["slos"] if not slo["met"])


def test_a_prompt_that_fits_no_machine_is_said_to_be_why_none_passes(provision: Provision, folder: Path) -> None:
    (folder / "huge.csv").write_text(HEAD + "0.0,100,5\n1.0,9999999,5\n2.0,100,5\n")
    run = provision("--design", "HH", "--minimize", "cost", "--max-machines", "6", "--workload", "huge.csv", "--json")
    assert run.code == 3
    assert "never finish" in run.answer["reason"]
    assert "--max-machines" not in run.answer["reason"]


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_no_request_is_no_question(provision: Provision, more: Sequence[str]) -> None:
    arguments = ("--target-rps", "0.001", "--duration", "1", "--minimize", "cost", "--max-machines", "4")
    run = provision("--design", "HH", *arguments, *more)
    assert_refused(run, "no request")


def test_transfers_that_wait_for_ever_end_the_simulation(folder: Path) -> None:
    """With `transfer_retry_s`, as in the preset, a transfer without room is tried again; not without end."""
    small = ("--set", "machines.*.hbm_bytes=349000000000")
    arguments = ("simulate", "--preset", "splitwisesim", "--design", "HH", "--cluster", "1,1", *small)
    try:
        run = process(*arguments, "--target-rps", "10", "--duration", "30", "--replications", "1", "--json",
                      cwd=folder, timeout_s=20)  # fmt: skip
    except subprocess.TimeoutExpired:
        pytest.fail("the simulation does not end")
    assert run.code == 3
    assert run.answer["stability"]["unfinished"] > 0


DESIGN = "name: Mine\nshort: M\nprompt: dgx-h100\ntoken: dgx-a100\n"
YAML: dict[str, tuple[str, str, Sequence[str]]] = {
    "unknown key": ("designs", DESIGN + "tokens: dgx-a100\n", (":5:", "tokens", "no known field", "did you mean")),
    "key given twice": ("designs", DESIGN + "token: dgx-h100\n", (":5:", "token")),
    "unknown machine": (
        "designs",
        DESIGN.replace("dgx-a100", "dgx-a10"),
        (":4:", "token", "'dgx-a10'", "did you mean 'dgx-a100'"),
    ),
    "wrong type": (
        "designs",
        DESIGN + "tensor_parallel: eight\n",
        (":5:", "tensor_parallel", "'eight'", "whole number"),
    ),
    "out of range": ("designs", DESIGN + "tensor_parallel: 0\n", (":5:", "tensor_parallel", "at least 1")),
    "a list": ("designs", "- dgx-h100\n- dgx-a100\n", ()),
    "no YAML": ("designs", "name: [unclosed\n", ()),
    "only a prompt machine": ("designs", "name: Mine\nshort: M\nprompt: dgx-h100\n", ("token",)),
    "nested unknown key": (
        "designs",
        DESIGN + "scheduling:\n  max_batch_token: 1024\n",
        (":6:", "scheduling.max_batch_token", "did you mean 'max_batch_tokens'"),
    ),
    "slo NaN": (
        "slos",
        "name: mine\nlimits:\n  - {metric: ttft, percentile: 50, limit: .nan}\n",
        (":3:", "limit", "nan"),
    ),
    "slo metric": (
        "slos",
        "name: mine\nlimits:\n  - {metric: tpot, percentile: 50, limit: 2}\n",
        (":3:", "metric", "'tpot'", "ttft or tbt or e2e"),
    ),
    "slo percentile": ("slos", "name: mine\nlimits:\n  - {metric: ttft, percentile: 100, limit: 2}\n", ("percentile",)),
    "no limits": ("slos", "name: mine\nlimits: []\n", (":2:", "limits")),
    "model without layers": (
        "models",
        "name: mine\nhidden: 8\nkv_heads: 1\nhead_dim: 8\nweights_bytes: 1000\n",
        ("layers", "missing"),
    ),
}


@pytest.mark.parametrize("case", YAML)
def test_yaml(provision: Provision, folder: Path, case: str) -> None:
    kind, content, fragments = YAML[case]
    (folder / kind).mkdir()
    (folder / kind / "mine.yaml").write_text(content)
    named = {"designs": ("--design", "mine"), "slos": ("--slo", "mine"), "models": ("--model", "mine")}[kind]
    others = ("--design", "HH") if kind != "designs" else ()
    assert_refused(provision(*others, *named, *MAIN_JOB[2:]), f"{kind}/mine.yaml", *fragments)


def test_a_model_that_fits_no_machine(provision: Provision) -> None:
    run = provision(*MAIN_JOB, "--set", "models.bloom-176b.weights_bytes=900000000000")
    assert_refused(run, "bloom-176b", "dgx-h100", "900.0 GB")


def test_a_machine_without_a_profile(provision: Provision, folder: Path) -> None:
    fields = {
        "gpus": 8,
        "hbm_bytes": 1_500_000_000_000,
        "interconnect_bytes_per_s": 4e11,
        "transfer_residue_s": 0.005,
        "cost_usd_per_h": 60,
        "power_kw": 14,
    }
    machine = ["dgx-b200:", *(f"  {name}: {value}" for name, value in fields.items())]
    (folder / "designs").mkdir()
    (folder / "designs" / "machines.yaml").write_text("\n".join(machine) + "\n")
    (folder / "designs" / "b200.yaml").write_text("name: B200\nshort: B200\nmixed: dgx-b200\n")
    assert_refused(provision("--design", "B200", *MAIN_JOB[2:]), "profile", "bloom-176b/dgx-b200/tp8")


def test_a_profile_without_the_machine_that_slowdowns_divide_by(provision: Provision) -> None:
    """Nobody asked for a DGX-A100: the line says what it is for, and what to do without."""
    of = ("--model", "llama2-70b", "--machine", "dgx-h100", "--tp", "8", "--out", "g.csv")
    assert provision("profile", "estimate", *of).code == 0
    asked = ("--design", "HH", "--model", "llama2-70b", "--profile", "g.csv", *TINY, "--minimize", "cost")
    assert_refused(provision(*asked), "slowdowns of splitwise", "'llama2-70b/dgx-a100/tp8'", "limits in seconds")
    assert provision(*asked, "--slo", "code-completion", "--max-machines", "9").code in (0, 3)


@pytest.mark.parametrize("option", ["design", "model", "slo", "profile"])
@pytest.mark.parametrize("name", ["things", "things/mine.yaml"])
def test_a_name_that_is_none_says_that_it_could_be_a_file(
    provision: Provision, folder: Path, option: str, name: str
) -> None:
    (folder / "things").mkdir()
    run = provision("--design", "HH", *MAIN_JOB[2:], f"--{option}", name)
    problem = "this is a folder" if name == "things" else f"no {option} has this name"
    assert_refused(run, problem, f"'{name}'", "or a file (.")


@pytest.mark.parametrize("option", ["--csv", "--json"])
@pytest.mark.parametrize("path", ["nowhere/answer", ".", "file/answer"])
def test_unwritable_output_is_told_before_the_work(
    provision: Provision, folder: Path, monkeypatch: pytest.MonkeyPatch, option: str, path: str
) -> None:
    def worked(*_: object, **__: object) -> None:
        raise AssertionError("simulated first")

    monkeypatch.setattr("provisioner.search.evaluate.Judge.evaluate", worked)
    (folder / "file").write_text("")
    assert_refused(provision(*MAIN_JOB, option, path), option, f"'{path}'")
    assert [file.name for file in folder.iterdir()] == ["file"]


def test_a_full_disk_leaves_what_was_there(provision: Provision, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Writing fails at the end: the old file stays as it was, and no temporary one remains."""
    (folder / "answer.json").write_text("old")

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    run = provision(*MAIN_JOB, "--json", "answer.json")
    assert_refused(run, "--json", "No space left on device", "answer.json")
    assert (folder / "answer.json").read_text() == "old"
    assert [file.name for file in folder.iterdir()] == ["answer.json"]


def test_a_bad_question_writes_nothing(provision: Provision, folder: Path) -> None:
    run = provision("--design", "HX", *MAIN_JOB[2:], "--csv", "a.csv", "--json", "b.json")
    assert_refused(run, "'HX'")
    assert not list(folder.iterdir())


def test_two_answers_in_one_file(provision: Provision) -> None:
    assert_refused(provision(*MAIN_JOB, "--csv", "same", "--json", "same"), "same")


@pytest.mark.parametrize("named", ["day.csv", "./day.csv", "day.csv:0.5", "--workload=day.csv"])
def test_what_is_read_is_not_written_over(provision: Provision, folder: Path, named: str) -> None:
    trace = HEAD + "0,100,5\n1,100,5\n"
    (folder / "day.csv").write_text(trace)
    option = [named] if named.startswith("--") else ["--workload", named]
    assert_refused(provision(*SIMULATE, *option, "--csv", "day.csv"), "--csv", "'day.csv'", "another file")
    assert (folder / "day.csv").read_text() == trace


@pytest.mark.parametrize("option", ["--csv", "--workload", "--catalog", "--results", "--emit=k8s"])
def test_a_name_that_no_file_can_have_is_told(provision: Provision, folder: Path, option: str) -> None:
    name = "n" * 300
    run = provision(*MAIN_JOB, *option.split("="), name)
    assert_refused(run, "too long", "nnn", "a shorter name")
    assert not list(folder.iterdir())


def test_results_and_an_answer_in_one_file(provision: Provision, folder: Path) -> None:
    assert_refused(provision(*MAIN_JOB, "--results", "same", "--csv", "same"), "--csv", "'same'")
    assert not list(folder.iterdir())


def test_bad_input_does_not_compile_first(folder: Path) -> None:
    """On first use the kernel is compiled for half a minute: not before the question is known to make sense."""
    cache = folder / "cache"
    run = process("--design", "HX", *MAIN_JOB[2:], cwd=folder, changes={"XDG_CACHE_HOME": str(cache)}, timeout_s=30)
    assert_refused(run, "'HX'")
    assert not run.notes


def test_a_pipe_is_a_trace(folder: Path) -> None:
    """`--workload /dev/stdin` reads a pipe, and its faults have lines too."""
    if not Path("/dev/stdin").exists():
        pytest.skip("no /dev/stdin here")
    done = subprocess.run(
        [sys.executable, "-m", "provisioner.cli.main", *SIMULATE, "--workload", "/dev/stdin"],
        cwd=folder,
        env=environment(),
        input=HEAD + "0.1,100,5\n0.2,x,5\n",
        capture_output=True,
        text=True,
        check=False,
    )
    assert_refused(Run(done.returncode, done.stdout, done.stderr), "/dev/stdin:3: prompt_tokens")
