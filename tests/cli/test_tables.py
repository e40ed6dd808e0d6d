"""What people read: tables that fit, with names that stay names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.cli.runs import MAIN_JOB, TINY, Provision, parsed, process, timeless

MISSED = ("simulate", "--design", "AA", "--cluster", "2,1", *TINY)
UNFINISHED = ("simulate", "--design", "HH", "--cluster", "2,2", "--workload", "huge.csv")
COMMANDS: dict[str, Sequence[str]] = {
    "optimize": MAIN_JOB,
    "none passes": (*MAIN_JOB, "--max-machines", "6"),
    "none can": (*MAIN_JOB, "--max-machines", "3"),
    "several designs": ("--design", "HHcap", *MAIN_JOB),
    "all missed": MISSED,
    "with five replications": (*MISSED, "--replications", "5"),
    "a baseline": ("simulate", "--design", "H100", "--cluster", "12", *TINY),
    "unfinished": UNFINISHED,
    "list": ("list",),
    "list machines": ("list", "machines"),
    "profile show": ("profile", "show", "bloom-176b/dgx-a100"),
    "profile validate": ("profile", "validate", "--splits", "2"),
    "thousands of dollars": ("simulate", "--design", "HH", "--cluster", "250,80", *TINY),
}

GOLDEN = """\
Splitwise-HH 7P+2T, coding at 10 RPS

 Design Cluster n  USD/h   kW RPS    Busy Binding
 ─────────────────────────────────────────────────────
 HH     7P+2T   9 342.72 99.0  10 31%/87% tbt_p50 +34%


 Achieved / limit                 P50                 P90              P99
 ─────────────────────────────────────────────────────────────────────────
 TTFT (slowdown)    0.459 / 2 ±0.0014     0.625 / 3 ±0.23    1.25 / 6 ±4.4
 TBT (slowdown)    0.825 / 1.25 ±0.11  0.879 / 1.5 ±0.086  0.934 / 5 ±0.34
 E2E (slowdown)    0.691 / 1.25 ±0.11    0.804 / 1.5 ±0.1  0.922 / 5 ±0.73

every objective is met.
"""


@pytest.fixture(autouse=True)
def huge(folder: Path) -> None:
    """Write a trace with a prompt that no machine has memory for."""
    (folder / "huge.csv").write_text("arrival_s,prompt_tokens,output_tokens\n0,100,5\n1,9999999,5\n2,100,5\n")


def lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines()]


@pytest.mark.parametrize("columns", [80, 100])
@pytest.mark.parametrize("command", COMMANDS)
def test_every_table_fits_and_nothing_is_cut(
    provision: Provision, monkeypatch: pytest.MonkeyPatch, command: str, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    run = provision(*COMMANDS[command])
    assert run.code in (0, 3)
    assert run.out.strip()
    assert max(len(line) for line in lines(run.out)) <= columns
    assert "…" not in run.out
    assert not re.search(r"\b(nan|inf%)", run.out)


@pytest.mark.parametrize("columns", ["40", "20", "1"])
def test_a_narrow_terminal_is_no_error(provision: Provision, monkeypatch: pytest.MonkeyPatch, columns: str) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert provision(*MAIN_JOB).code == 0


def test_a_whole_table_as_it_is_printed(provision: Provision) -> None:
    run = provision("simulate", "--design", "HH", "--cluster", "7,2", *TINY)
    assert lines(run.out) == lines(GOLDEN)


def test_what_the_main_job_says(provision: Provision) -> None:
    text = " ".join(timeless(provision(*MAIN_JOB).out).split())
    assert text.startswith("Least cost for coding at 10 RPS")
    assert re.search(r"HH \dP\+\dT \d 304\.64 88\.0 10 ", text)
    assert re.search(r"\d+ clusters simulated, \d+ excluded by bounds", text)
    assert (
        "every cluster with less cost was simulated, is alike to one that was, or is excluded by a sound bound" in text
    )


def test_missed_limits_are_marked_and_the_mark_is_explained(provision: Provision) -> None:
    text = provision(*MISSED).out
    assert text.count("!") == 10
    assert "! missed" in text
    assert "!" not in provision("simulate", "--design", "HH", "--cluster", "7,2", *TINY).out


def test_without_a_terminal_there_is_no_colour(provision: Provision) -> None:
    for command in (MAIN_JOB, MISSED):
        run = provision(*command)
        assert "\x1b" not in run.out + run.err


def test_forced_colour_marks_what_is_missed(provision: Provision, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[1;31m" in provision(*MISSED).out


def test_no_color_wins(provision: Provision, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    assert "31m" not in provision(*MISSED).out


def test_a_terminal_that_cannot_show_everything_shows_the_rest(folder: Path) -> None:
    run = process(*MISSED, cwd=folder, changes={"PYTHONIOENCODING": "ascii"})
    assert run.code == 3
    assert "Traceback" not in run.err
    assert "2P+1T" in run.out


HOSTILE = "[bold]x[/]\x1b[31mr\x9b0m\u202e\nline two\r\x07"
INERT = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Matches what a terminal would obey."""


@pytest.fixture
def hostile(folder: Path) -> Path:
    """Write a design whose names are markup, commands to a terminal, and line ends."""
    designs = folder / "designs"
    designs.mkdir()
    quoted = "".join(f"\\x{ord(c):02x}" if ord(c) < 256 else f"\\u{ord(c):04x}" for c in HOSTILE)
    (designs / "evil.yaml").write_text(f'name: "{quoted}"\nshort: "{quoted}2"\nprompt: dgx-h100\ntoken: dgx-h100\n')
    return folder


SHOWN: dict[str, Sequence[str]] = {
    "simulate": ("simulate", "--design", "evil", "--cluster", "7,2", *TINY),
    "json": ("simulate", "--design", "evil", "--cluster", "7,2", *TINY, "--json"),
    "the main job": ("--design", "evil", *MAIN_JOB[2:]),
    "a reason": ("--design", "evil", *MAIN_JOB[2:], "--max-machines", "6"),
    "compare": ("compare", "--design", "evil", "--design", "HH", "--baseline", "evil", *MAIN_JOB[2:]),
    "pareto": ("pareto", "--design", "evil", *TINY, "--max-machines", "9"),
    "sweep": ("sweep", "--design", "evil", *TINY, "--prompt", "6:7", "--token", "1:2"),
    "curve": ("curve", "--design", "evil", "--cluster", "7,2", "--rps", "10", *TINY[2:]),
    "whatif": ("whatif", "--design", "evil", "--cluster", "7,2", *TINY, "--before-rps", "8"),
    "list": ("list",),
    "list designs": ("list", "designs"),
}
REFUSED: dict[str, Sequence[str]] = {
    "a bad cluster": ("simulate", "--design", "evil", "--cluster", "1,2,3", *TINY),
    "what is allowed": ("simulate", "--design", "evi", "--cluster", "1,1", *TINY),
    "an unknown name": ("simulate", "--design", HOSTILE + "?", "--cluster", "1,1", *TINY),
}


@pytest.mark.parametrize("case", [*SHOWN, *REFUSED])
@pytest.mark.usefixtures("hostile")
def test_hostile_names_stay_inert(provision: Provision, case: str) -> None:
    """They are shown without the power to do anything, on one line."""
    run = provision(*(SHOWN | REFUSED)[case])
    assert (run.code == 2) == (case in REFUSED), run.err
    assert not INERT.search(run.out + run.err)
    assert "Traceback" not in run.err
    assert not [line for line in (run.out + run.err).splitlines() if line.startswith("line two")]


@pytest.mark.usefixtures("hostile")
def test_markup_in_a_name_is_no_markup(provision: Provision, folder: Path) -> None:
    (folder / "designs" / "evil.yaml").write_text(
        'name: "[bold]x[/]"\nshort: "[red]y[/red]"\nprompt: dgx-h100\ntoken: dgx-h100\n'
    )
    table = provision("simulate", "--design", "evil", "--cluster", "7,2", *TINY)
    assert "[bold]x[/] 7P+2T" in table.out
    assert "[red]y[/red]" in table.out
    assert "[bold]x[/]" in provision("list").out
    run = provision("simulate", "--design", "evil", "--cluster", "7,2", *TINY, "--json")
    assert run.answer["cluster"]["design"] == "[bold]x[/]"
    nearest = provision("--design", "evil", *MAIN_JOB[2:], "--max-machines", "6")
    assert "[red]y[/red]" in " ".join(nearest.out.split())


def test_a_hostile_file_name_stays_inert(provision: Provision, folder: Path) -> None:
    name = "[bold]\x1b[31m\u202e.csv"
    (folder / "huge.csv").rename(folder / name)
    run = provision("simulate", "--design", "HH", "--cluster", "2,2", "--workload", name)
    assert run.code == 3
    assert not INERT.search(run.out + run.err)


def test_a_file_name_that_is_no_text(folder: Path) -> None:
    (folder / "huge.csv").rename(folder / "\udcff.csv")
    run = process(*UNFINISHED[:-1], b"\xff.csv", "--json", "both.json", cwd=folder, changes={"LC_ALL": "C.UTF-8"})
    assert run.code == 3
    assert "Traceback" not in run.err
    assert parsed((folder / "both.json").read_text())["inputs"]["workload"] == "\udcff.csv"


def test_csv_is_no_formula(provision: Provision, folder: Path) -> None:
    """A spreadsheet must not run what a name says."""
    (folder / "designs").mkdir()
    (folder / "designs" / "evil.yaml").write_text("name: '=1+1'\nshort: evil\nprompt: dgx-h100\ntoken: dgx-h100\n")
    provision("simulate", "--design", "evil", "--cluster", "7,2", *TINY, "--csv", "x.csv")
    assert (folder / "x.csv").read_text().splitlines()[1].startswith("'=1+1,")


@pytest.mark.parametrize(
    "command",
    [("optimize", "--design", "HH", "--minimize", "cost"), ("simulate", "--design", "HH", "--cluster", "3,3")],
)
def test_a_path_in_a_title_is_not_broken_at_the_width_of_the_table(
    provision: Provision, folder: Path, command: Sequence[str]
) -> None:
    (folder / "traces-of-the-week").mkdir()
    trace = "traces-of-the-week/all_requests_of_the_day.csv"
    (folder / trace).write_text("arrival_s,prompt_tokens,output_tokens\n0,100,5\n1,100,5\n")
    assert trace in provision(*command, "--workload", trace).out


def test_one_cluster_is_told_as_one(provision: Provision, folder: Path) -> None:
    (folder / "two.csv").write_text("arrival_s,prompt_tokens,output_tokens\n0,100,5\n1,100,5\n")
    run = provision("--design", "HH", "--minimize", "cost", "--workload", "two.csv")
    assert "1 cluster simulated, in" in run.out
