"""The bar of a long job: count, rate and time left on a terminal; nothing of a short one, in a pipe, with `--quiet`."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console
from rich.progress import Progress

from provisioner.cli import progress as module
from provisioner.cli.progress import Bar, left, progress, working
from tests.cli.runs import TINY, Provision, environment

SWEEP = ("sweep", "--design", "HH", "--target-rps", "30", "--duration", "30", "--replications", "20", "--jobs", "1",
         "--prompt", "5:24", "--token", "1:20", "--json", "answer.json")  # fmt: skip


class Clock:
    """Seconds that pass when they are told to."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(module.time, "monotonic", clock)
    return clock


def made(clock: Clock, total: int | None = None, parts: int = 1) -> tuple[Progress, Bar]:
    shown = Progress(get_time=clock, console=Console(file=io.StringIO()))
    return shown, Bar(shown, "simulating", total, parts)


def test_of_a_job_of_known_size_the_time_left_is_told(clock: Clock) -> None:
    shown, bar = made(clock, total=100)
    for _ in range(4):
        clock.now_s += 5
        bar(10)
    # 40 in 20 s: 60 more take 30 s.
    assert left(shown.tasks[0]) == "0:30 left"


def test_of_a_search_it_is_told_what_is_left_at_most(clock: Clock) -> None:
    shown, bar = made(clock)
    clock.now_s += 10
    bar(100)
    assert left(shown.tasks[0]) is None
    bar.at_most(72_000)
    assert left(shown.tasks[0]) == "at most 2:00:00 left"
    bar.at_most(600)  # others were excluded meanwhile
    assert left(shown.tasks[0]) == "at most 1:00 left"


def test_a_known_size_is_not_taken_for_a_bound(clock: Clock) -> None:
    shown, bar = made(clock, total=20)
    bar.at_most(1000)
    assert shown.tasks[0].total == 20


def test_of_several_parts_the_time_of_those_that_are_over_says_how_long_the_others_take(clock: Clock) -> None:
    shown, bar = made(clock, parts=4)
    bar.part("first")
    clock.now_s += 30
    bar(10)
    bar.at_most(90)
    assert left(shown.tasks[0]) is None  # of the others nothing is known
    bar.part("second")
    clock.now_s += 10
    # One part took 30 s: three take 90 s, of which 10 have passed.
    assert left(shown.tasks[0]) == "about 1:20 left"
    assert shown.tasks[0].description == "simulating second (2 of 4)"
    assert shown.tasks[0].total is None


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """What a terminal on standard error is sent."""
    text = io.StringIO()
    monkeypatch.setattr(module, "remarks", lambda: Console(file=text, force_terminal=True, width=100))
    return text


class AtOnce:
    """A timer whose time has come when it is started."""

    daemon = False

    def __init__(self, _: float, call: Callable[[], None]) -> None:
        self.start = call

    def cancel(self) -> None:
        pass


def test_a_short_job_shows_nothing(terminal: io.StringIO) -> None:
    with progress("simulating", quiet=False, total=2) as advance:
        advance(2)
    with working("drawing", quiet=False):
        pass
    assert terminal.getvalue() == ""


def test_a_long_job_shows_its_bar_and_takes_it_away(terminal: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "Timer", AtOnce)
    with progress("simulating [red]", quiet=False, total=200) as advance:
        advance(12)
    text = plain(terminal.getvalue())
    assert "simulating [red]" in text
    assert "12/200" in text
    assert "left" in text
    assert terminal.getvalue().endswith("\x1b[2K")  # the line is wiped


def test_a_terminal_that_shows_no_more_than_ascii_is_sent_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    file = io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors="strict", write_through=True)
    monkeypatch.setattr(module, "Timer", AtOnce)
    monkeypatch.setattr(module, "remarks", lambda: Console(file=file, force_terminal=True, width=100))
    with progress("simulating", quiet=False) as bar:
        bar(1)
        bar.at_most(99)
    file.seek(0)
    assert "1/<=100" in plain(file.read())


@pytest.mark.parametrize("quiet", [True, False])
def test_quiet_and_pipes_stay_clean(quiet: bool, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: FBT001
    text = io.StringIO()
    monkeypatch.setattr(module, "Timer", AtOnce)
    monkeypatch.setattr(module, "remarks", lambda: Console(file=text, force_terminal=quiet))
    with progress("simulating", quiet=quiet, total=200) as advance:
        advance(12)
    with working("drawing", quiet=quiet):
        pass
    assert text.getvalue() == ""


JOBS = {
    "validating": ("profile", "validate", "--splits", "1"),
    "fitting": ("profile", "fit"),
    "drawing": ("workload", "generate", "--target-rps", "10", "--duration", "10", "--out", "made.csv"),
    "writing, rows": ("workload", "generate", "--target-rps", "10", "--duration", "10", "--out", "made.csv"),
    "reading, MB": ("workload", "import", "mine.csv", "--out", "made.csv"),
    "reading, files": ("profile", "import", "none.json", "--model", "m", "--machine", "x", "--tp", "1"),
    "simulating": ("simulate", "--design", "HH", "--cluster", "5,2", *TINY),
    "simulating Splitwise-HH (1 of 2)": (
        "compare", "--design", "HH", "--design", "HA", *TINY, "--minimize", "cost", "--max-machines", "9",
    ),
}  # fmt: skip


@pytest.mark.parametrize("words", JOBS)
def test_every_job_that_may_take_long_has_a_bar(
    provision: Provision, terminal: io.StringIO, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    Path("mine.csv").write_text("arrival_s,prompt_tokens,output_tokens\n0,10,2\n1,20,3\n")
    monkeypatch.setattr(module, "Timer", AtOnce)
    provision(*JOBS[words])
    assert words in plain(terminal.getvalue())


def shown(folder: Path, *arguments: str) -> str:
    """What standard error, a terminal, is sent."""
    pty = pytest.importorskip("pty", reason="there is no terminal to look at")
    main, terminal = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "provisioner.cli.main", *arguments],
        cwd=folder,
        env=environment({"TERM": "xterm", "COLUMNS": "100"}),
        stdout=subprocess.DEVNULL,
        stderr=terminal,
    ) as running:
        os.close(terminal)
        text = b""
        try:
            while chunk := os.read(main, 65536):
                text += chunk
        except OSError:  # how a terminal says that nobody is left
            pass
    os.close(main)
    assert running.returncode == 0
    return plain(text.decode("utf-8", "replace"))


def test_a_job_of_known_size_tells_count_rate_and_time_left(folder: Path) -> None:
    text = shown(folder, *SWEEP)
    assert re.search(r"simulating .*\d+/400 +[\d.e+]+/s +\d+:\d\d left", text)


def test_quiet_says_nothing_on_a_terminal_either(folder: Path) -> None:
    assert shown(folder, *SWEEP, "--quiet") == ""
