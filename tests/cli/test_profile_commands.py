"""`provision profile`: what goes in, what is said of it, and what is written."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.cli.runs import Provision
from tests.perf.results import shapes

TARGET = ("--model", "my-llm", "--machine", "dgx-h100", "--tp", "4")


@pytest.fixture
def bench(folder: Path) -> Path:
    """Return a file with a run at concurrency 1 and runs under load."""
    file = folder / "bench.json"
    file.write_text(json.dumps(shapes.llmperf()))
    return file


def test_an_import_is_described_and_written(provision: Provision, bench: Path) -> None:
    run = provision("profile", "import", bench.name, *TARGET, "--batch", "2,4", "--out", "my.csv", "--json")
    assert run.code == 0
    assert [each["batch"] for each in run.answer["runs"]] == [None, 2, 4]
    assert (run.answer["profile"], run.answer["prefill_rows"], run.answer["decode_rows"]) == (
        "my-llm/dgx-h100/tp4",
        1,
        3,
    )
    text = Path("my.csv").read_text()
    assert "my-llm,dgx-h100,4,750,2,151,,0.032,measured" in text
    assert any("taken to last as long at any other" in note for note in run.notes)


def test_what_no_file_tells_is_asked_for_all_at_once(provision: Provision, bench: Path) -> None:
    run = provision("profile", "import", bench.name, "none.json")
    assert run.code == 2
    assert [line.split(": ")[1] for line in run.errors] == ["--model", "--machine", "--tp", "none.json"]


def test_the_batch_is_asked_for(provision: Provision, bench: Path) -> None:
    run = provision("profile", "import", bench.name, *TARGET)
    assert run.code == 2
    assert "--batch: the engine's batch is not in the file for 2 of the runs" in run.errors[0]


@pytest.mark.parametrize("batch", ["0", "many", "1,", "-1", "1e3", "9" * 40, "²"])
def test_a_batch_that_is_none(provision: Provision, bench: Path, batch: str) -> None:
    run = provision("profile", "import", bench.name, *TARGET, f"--batch={batch}")
    assert (run.code, "--batch: not a batch" in run.errors[0]) == (2, True)


def test_asked_and_achieved_rates_failures_and_zeros_are_printed(provision: Provision, folder: Path) -> None:
    (folder / "run.json").write_text(json.dumps(shapes.vllm(request_rate=2.0, median_ttft_ms=0)))
    run = provision("profile", "import", "run.json", *TARGET)
    assert run.code == 0
    assert "run.json: asked for 2 requests a second, got 0.9524" in run.err
    assert "run.json: 2 failed requests are left out" in run.err
    assert "run.json: 1 times of 0 were not measured and are left out" in run.err
    assert "0.9524" in run.out


def test_runs_stand_under_the_name_of_their_file(provision: Provision, folder: Path) -> None:
    name = "a-long-name-that-leaves-no-room-for-numbers-beside-it.json"
    (folder / name).write_text(json.dumps(shapes.guidellm()))
    run = provision("profile", "import", name, *TARGET)
    assert run.code == 0
    lines = [line.rstrip() for line in run.out.splitlines()]
    assert f"{name}: GuideLLM" in lines
    assert sum(line.startswith(" benchmarks[0]") for line in lines) == 1
    assert max(map(len, lines)) <= 80


def test_names_from_a_file_command_no_terminal(provision: Provision, folder: Path) -> None:
    (folder / "run.jsonl").write_text(shapes.lines(shapes.sglang(dataset_name="\x1b[2J[red]x"), shapes.sglang()))
    run = provision("profile", "import", "run.jsonl", *TARGET, "--batch", "4")
    assert run.code == 0
    assert "\x1b[2J" not in run.out + run.err


def test_a_profile_grows_and_is_used(provision: Provision, folder: Path) -> None:
    """Points of a machine that is linear by construction: 1 ms and 10 us a token; 10 ms and 1 ms a request."""
    rows = [f"{prompt},11,1,{1 + prompt / 100},11" for prompt in (100, 200, 400, 800)]
    rows += [f"{prompt},11,{batch},,{10 + batch}" for batch in (2, 4, 8) for prompt in (100, 800)]
    (folder / "plain.csv").write_text("prompt_tokens,output_tokens,batch,ttft_ms,tpot_ms\n" + "\n".join(rows) + "\n")
    (folder / "alone.csv").write_text("prompt_tokens,output_tokens,concurrency,ttft_ms,tpot_ms\n1600,11,1,17,11\n")
    for file in ("plain.csv", "alone.csv"):
        run = provision("profile", "import", file, *TARGET, "--out", "mine.csv", "--append")
        assert run.code == 0, run.err
    fitted = provision("profile", "fit", "mine.csv", "--json", "--csv", "points.csv", "--out", "knots.json")
    assert fitted.code == 0
    assert fitted.answer["profiles"][0]["decode_mape"] == pytest.approx(0, abs=1e-9)
    assert Path("points.csv").read_text().startswith("profile,origin,phase,size,context_tokens,measured_s,fitted_s\n")
    shown = provision("profile", "show", "my-llm/dgx-h100/tp4", "--profile", "mine.csv", "--json")
    knots = provision("profile", "show", "my-llm/dgx-h100/tp4", "--profile", "knots.json", "--json")
    assert shown.answer == knots.answer
    assert shown.answer["decode"]["batch"] == [1, 2, 4, 8]


def test_validation_tells_each_axis_and_what_is_not_monotone(provision: Provision) -> None:
    run = provision("profile", "validate", "--splits", "2", "--json")
    assert run.code == 0
    first = run.answer["profiles"][0]
    assert set(first["axes"]) == {"prefill over prompt tokens", "decode over batch", "decode over context"}
    assert all(0 < error < 0.2 for error in first["axes"].values())
    assert any("5 rows cannot have run as one batch" in note for note in run.notes)


@pytest.mark.skipif(find_spec("aiconfigurator_core") is None, reason="the extra [aic] is not installed")
def test_a_modelled_profile_says_so(provision: Provision, folder: Path) -> None:
    arguments = (
        "--aic-model",
        "Qwen/Qwen3-8B",
        "--system",
        "h100_sxm",
        "--model",
        "qwen",
        "--machine",
        "h100",
        "--tp",
        "1",
    )
    run = provision("profile", "import-aic", *arguments, "--out", "aic.csv", "--json")
    assert run.code == 0, run.err
    assert run.answer["origin"] == "modelled"
    text = (folder / "aic.csv").read_text()
    assert text.startswith("# aiconfigurator-core ")
    assert text.count(",modelled\n") == run.answer["rows"]
    assert "modelled, not measured" in " ".join(
        provision("profile", "show", "qwen/h100/tp1", "--profile", "aic.csv").out.split()
    )


def test_aic_needs_its_names(provision: Provision) -> None:
    run = provision("profile", "import-aic")
    assert run.code == 2
    assert [line.split(": ")[1] for line in run.errors] == ["--model", "--machine", "--tp", "--aic-model", "--system"]


def test_an_estimate_is_labelled(provision: Provision, folder: Path) -> None:
    arguments = ("--model", "llama2-70b", "--machine", "dgx-h100", "--tp", "8", "--out", "guess.csv")
    run = provision("profile", "estimate", *arguments)
    assert run.code == 0, run.err
    assert "estimated, not measured" in " ".join(run.out.split())
    assert "nothing was measured" in (folder / "guess.csv").read_text()
    shown = provision("profile", "show", "llama2-70b/dgx-h100", "--profile", "guess.csv", "--json")
    assert shown.answer["origin"] == "estimated"


def test_an_estimate_needs_a_data_sheet(provision: Provision) -> None:
    run = provision("profile", "estimate", "--model", "llama2-70b", "--machine", "dgx-h100-cap", "--tp", "8")
    assert run.code == 2
    assert run.errors[0].startswith("error: machines.dgx-h100-cap.flops_per_s: an estimate needs the data sheet")


def test_files_of_several_models_are_told(provision: Provision, folder: Path) -> None:
    (folder / "one.json").write_text(json.dumps(shapes.vllm()))
    (folder / "two.json").write_text(json.dumps(shapes.vllm(model_id="another/model")))
    run = provision("profile", "import", "one.json", "two.json", *TARGET)
    assert "the files are of 2 models: another/model, some/model" in run.err


def test_a_batch_by_littles_law_is_told(provision: Provision, bench: Path) -> None:
    """0.4 requests a second that decode for 150 x 32 ms: 1.92; 0.8 and 34 ms: 4.08."""
    run = provision("profile", "import", bench.name, *TARGET, "--batch", "concurrency", "--json")
    assert [each["batch"] for each in run.answer["runs"]] == [None, 2, 4]
    assert "bench.json concurrency 4: a batch of 4 is taken" in run.err
