"""`--plot` and `--report` of every command, and what is said where nothing can be drawn."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.runs import TINY, Provision, environment
from tests.report.made import Elements

pytest.importorskip("matplotlib", reason="figures are drawn with the extra [plot]")
pytest.importorskip("vl_convert", reason="pages are written with the extra [report]")

HH = ("--design", "HH")
COMMANDS = {
    "optimize": (*HH, *TINY, "--minimize", "cost", "--max-machines", "9"),
    "maximize": ("optimize", *HH, "--duration", "10", "--replications", "1", "--maximize", "throughput",
                 "--budget-machines", "3"),
    "compare": ("compare", *HH, "--design", "Baseline-H100", *TINY, "--minimize", "cost", "--max-machines", "12"),
    "given": ("compare", *HH, "--cluster", "5,1", "--design", "HA", "--cluster", "5,3", *TINY),
    "pareto": ("pareto", *HH, *TINY, "--max-machines", "9"),
    "sweep": ("sweep", *HH, *TINY, "--prompt", "2:4", "--token", "1:2"),
    "sweep of mixed": ("sweep", "--design", "H100", *TINY, "--prompt", "2:4"),
    "curve": ("curve", *HH, "--cluster", "5,1", "--rps", "5:10:5", *TINY[2:]),
    "simulate": ("simulate", *HH, "--cluster", "5,2", *TINY),
    "whatif": ("whatif", *HH, "--cluster", "5,2", *TINY, "--fail", "prompt=1"),
    "profile show": ("profile", "show", "bloom-176b/dgx-a100"),
    "profile validate": ("profile", "validate", "--splits", "1"),
    "profile fit": ("profile", "fit"),
    "workload generate": ("workload", "generate", "--target-rps", "10", "--duration", "10", "--out", "made.csv"),
}  # fmt: skip


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_draws_and_reports(provision: Provision, folder: Path, name: str) -> None:
    run = provision(*COMMANDS[name], "--plot", "a.png", "--report", "a.html", "--quiet")
    assert run.code in (0, 3), run.err
    assert run.err == ""
    assert (folder / "a.png").read_bytes().startswith(b"\x89PNG")
    page = (folder / "a.html").read_text(encoding="utf-8")
    assert len(page) < 6_000_000
    elements = Elements(page)
    assert [a for _, a in elements.found if a.get("class") == "chart"]
    assert "--report a.html" in elements.text


FLEET = """\
minimize: cost
limits: {power_kw: %s}
services:
  - {name: "<script>alert(1)</script>", target_rps: 10, designs: [HHcap], %s}
  - {name: "$x$ & <b>", workload: conversation, model: llama2-70b, target_rps: 5, designs: [H100]}
"""
HOURS = "hours: [{from_hour: 0, to_hour: 12, rps: 5}, {from_hour: 12, to_hour: 24, rps: 10}]"
FLEETS = {
    "fleet": (FLEET % ("440", "weight: 1"), ()),
    "no fleet": (FLEET % ("30", "weight: 1"), ()),
    "in part": (FLEET.replace("minimize: cost", "maximize: throughput") % ("80", "weight: 1"), ()),
    "by the hour": (FLEET.replace("target_rps: 10, ", "") % ("440", HOURS), ("--by-hour",)),
    "least energy by the hour": (
        FLEET.replace("target_rps: 10, ", "").replace("minimize: cost", "minimize: power") % ("440", HOURS),
        ("--by-hour",),
    ),
    "one cluster": (FLEET.replace("HHcap", "H100").replace("limits: {power_kw: %s}\n", "") % "weight: 1",
                    ("--one-cluster",)),
}  # fmt: skip


@pytest.mark.parametrize("name", FLEETS)
def test_fleets_draw_and_report_too_whatever_their_services_are_called(
    provision: Provision, folder: Path, name: str
) -> None:
    pytest.importorskip("ortools", reason="fleets need the extra [fleet]")
    text, options = FLEETS[name]
    Path("fleet.yaml").write_text(text)
    quick = ("--duration", "10", "--replications", "1", "--max-machines", "20", "--quiet")
    run = provision("fleet", "fleet.yaml", *options, *quick, "--plot", "a.svg", "--report", "a.html")
    assert run.code == (3 if name == "no fleet" else 0), run.err
    assert run.err == ""
    elements = Elements((folder / "a.html").read_text(encoding="utf-8"))
    assert elements.count("script") == 3
    assert not elements.count("b")
    assert ("kWh" in (folder / "a.html").read_text(encoding="utf-8").split("<script")[0]) == ("energy" in name)
    assert [a for _, a in elements.found if a.get("class") == "chart"]
    drawn = (folder / "a.svg").read_text(encoding="utf-8")
    assert "<script>" not in drawn
    assert ("no fleet is within these limits" in drawn) == (name == "no fleet")


def test_a_described_trace_shows_its_lengths(provision: Provision, folder: Path) -> None:
    Path("mine.csv").write_text("arrival_s,prompt_tokens,output_tokens\n0,10,2\n1,20,3\n")
    assert provision("workload", "describe", "mine.csv", "--plot", "a.svg").code == 0
    assert "Prompt (tokens)" in (folder / "a.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("option", "file", "told"),
    [
        ("--plot", "a.jpg", "error: --plot: unknown ending (got 'a.jpg'); allowed: .png, .svg, .pdf"),
        ("--plot", "a", "error: --plot: unknown ending (got 'a'); allowed: .png, .svg, .pdf"),
        ("--report", "a.pdf", "error: --report: unknown ending (got 'a.pdf'); allowed: .html, .htm"),
        ("--plot", "none/a.png", "error: --plot: folder none does not exist (got 'none/a.png')"),
        ("--report", "none/a.html", "error: --report: folder none does not exist (got 'none/a.html')"),
    ],
)
def test_a_file_that_cannot_be_is_told_before_the_work(provision: Provision, option: str, file: str, told: str) -> None:
    run = provision("simulate", *HH, "--cluster", "5,2", "--target-rps", "1000000", option, file)
    assert run.code == 2
    assert run.out == ""
    assert run.errors[0].startswith(told)


def test_one_file_cannot_hold_both(provision: Provision) -> None:
    run = provision("simulate", *HH, "--cluster", "5,2", *TINY, "--plot", "a.svg", "--csv", "a.svg")
    assert run.code == 2
    assert "is the file of --csv already" in run.err


@pytest.mark.parametrize(
    ("option", "file", "package"), [("--plot", "a.png", "matplotlib"), ("--report", "a.html", "vl_convert")]
)
def test_a_library_that_is_missing_is_named_with_its_remedy(
    provision: Provision,
    monkeypatch: pytest.MonkeyPatch,
    option: str,
    file: str,
    package: str,
) -> None:
    monkeypatch.setattr("provisioner.cli.output.find_spec", lambda _: None)
    run = provision("simulate", *HH, "--cluster", "5,2", *TINY, option, file)
    assert run.code == 2
    assert f"needs {package}, which is not installed; allowed: pip install '.[{option[2:]}]'" in run.err


def test_where_nothing_passes_the_nearest_misses_are_drawn(provision: Provision, folder: Path) -> None:
    run = provision(*HH, *TINY, "--minimize", "cost", "--max-machines", "4", "--plot", "a.svg")
    assert run.code == 3
    shown = (folder / "a.svg").read_text(encoding="utf-8")
    assert "No cluster passes" in shown
    assert "3P+1T" in shown


def test_where_nothing_was_simulated_no_file_is_written_and_it_is_said(provision: Provision, folder: Path) -> None:
    run = provision(*HH, "--target-rps", "5000", "--duration", "5", "--minimize", "cost", "--max-machines", "2",
                    "--plot", "a.png", "--report", "a.html")  # fmt: skip
    assert run.code == 3
    assert "note: nothing to plot: a.png is not written" in run.notes
    assert not (folder / "a.png").exists()
    assert "no cluster within the limits can do the work" in (folder / "a.html").read_text(encoding="utf-8")


def test_hostile_names_in_files_stay_text_in_every_output(provision: Provision, folder: Path) -> None:
    Path("designs").mkdir()
    name = "<script>alert(1)</script><img src=x onerror=alert(1)>"
    Path("designs/evil.yaml").write_text(f'name: "{name}"\nshort: "$\\\\frac$ & <b>"\nmixed: dgx-h100\n')
    run = provision("sweep", "--design", name, *TINY, "--prompt", "3:4", "--plot", "a.svg", "--report", "a.html")
    assert run.code == 0, run.err
    elements = Elements((folder / "a.html").read_text(encoding="utf-8"))
    assert elements.count("script") == 3
    assert not elements.count("img")
    assert not elements.count("b")
    assert "<script>" not in (folder / "a.svg").read_text(encoding="utf-8")


def test_drawing_libraries_are_imported_only_when_they_are_asked_for(folder: Path) -> None:
    code = (
        "import sys\n"
        "from provisioner.cli.main import main\n"
        f"main({['simulate', *HH, '--cluster', '2,1', *TINY, '--quiet']!r})\n"
        "print('DRAWING', sorted(set(sys.modules) & {'matplotlib', 'vl_convert', 'pandas'}))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=environment(), capture_output=True, text=True, check=False
    )
    assert done.stdout.splitlines()[-1] == "DRAWING []", done.stderr
