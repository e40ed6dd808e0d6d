"""How far a job is, on standard error: nothing of a job that is over at once, in a pipe, or with `--quiet`."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock, Timer

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task, TextColumn, TimeElapsedColumn
from rich.text import Text

from provisioner.cli.console import remarks
from provisioner.report.plain import plain

AFTER_S = 1.0
"""A job that is over by then shows nothing."""


class Bar:
    """A job with its bar: called with steps that are done.

    A job of known size has a total. Of another it may be known what it takes at most (`at_most`), or which of several
    parts it is at (`part`).
    """

    def __init__(self, bar: Progress, task: str, total: int | None, parts: int) -> None:
        self._bar = bar
        self._task = task
        self._parts = parts
        self._part = 0
        self._is_known = total is not None
        self._began = time.monotonic()
        self._handle = bar.add_task(plain(task), total=total, kind="known" if self._is_known else "open", past=())

    def __call__(self, count: int) -> None:
        """Some steps more are done."""
        self._bar.advance(self._handle, count)

    def at_most(self, count: int) -> None:
        """So many steps are still to come at most, of the part that it is at."""
        if not self._is_known:
            done = self._bar.tasks[0].completed
            self._bar.update(self._handle, total=done + count, kind="bound" if self._parts == 1 else "part")

    def part(self, name: str) -> None:
        """The next part begins."""
        self._part += 1
        past = (self._part - 1, time.monotonic() - self._began, self._parts)
        words = f"{self._task} {name} ({self._part} of {self._parts})"
        self._bar.tasks[0].total = None
        self._bar.update(self._handle, description=plain(words), past=past, refresh=True)


class _Count(ProgressColumn):
    """Steps that are done, of all or of so many at most."""

    def __init__(self, at_most: str) -> None:
        super().__init__()
        self._at_most = at_most

    def render(self, task: Task) -> Text:
        """As `12/200`, or `12/≤200`."""
        if task.total is None:
            return Text(f"{task.completed:,.0f}")
        most = "" if task.fields["kind"] == "known" else self._at_most
        return Text(f"{task.completed:,.0f}/{most}{task.total:,.0f}")


class _Rate(ProgressColumn):
    """Steps a second, over the last half minute."""

    def render(self, task: Task) -> Text:
        """As `12.3/s`."""
        rate = _rate(task)
        return Text(f"{rate:.3g}/s" if rate else "")


class _Time(ProgressColumn):
    """The time left where it is known, or what it is at most; otherwise the time taken."""

    def render(self, task: Task) -> Text:
        """As `0:12 left`, `at most 0:12 left`, `about 0:12 left` or `0:12`."""
        return Text(left(task) or _clock(task.elapsed or 0.0))


def left(task: Task) -> str | None:
    """The time left in words, by the rate so far; None where nothing can be said."""
    rate = _rate(task)
    done, taken_s, parts = task.fields["past"] or (0, 0.0, 1)
    if parts > 1 and done:
        # Parts differ, but nothing better is known of those to come than how long the others took.
        rest_s = taken_s / done * (parts - done) - ((task.elapsed or 0.0) - taken_s)
        return f"about {_clock(max(rest_s, 0.0))} left"
    if task.total is None or not rate or task.fields["kind"] == "part":
        return None
    words = "" if task.fields["kind"] == "known" else "at most "
    return f"{words}{_clock((task.total - task.completed) / rate)} left"


def _rate(task: Task) -> float:
    return task.speed or (task.completed / task.elapsed if task.elapsed else 0.0)


def _clock(seconds: float) -> str:
    minutes, rest_s = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:,}:{minutes:02}:{rest_s:02}" if hours else f"{minutes}:{rest_s:02}"


@contextmanager
def progress(task: str, *, quiet: bool, total: int | None = None, parts: int = 1) -> Iterator[Bar]:
    """A bar that counts up, with rate and time; it vanishes when done."""
    console = remarks()
    at_most = "≤" if console.encoding.lower().startswith("utf") else "<="
    columns = (TextColumn("{task.description}"), BarColumn(20), _Count(at_most), _Rate(), _Time())
    bar = Progress(*columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False)
    with _shown_late(bar, console, quiet=quiet):
        yield Bar(bar, task, total, parts)


@contextmanager
def working(task: str, *, quiet: bool) -> Iterator[None]:
    """Something that takes a while and cannot be counted: its name and the time it has taken, on a terminal."""
    console = remarks()
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    bar = Progress(*columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False)
    with _shown_late(bar, console, quiet=quiet):
        bar.add_task(plain(task), total=None)
        yield


@contextmanager
def _shown_late(bar: Progress, console: Console, *, quiet: bool) -> Iterator[None]:
    """Show it once the job has taken a second, and no longer than it takes."""
    if quiet or not console.is_terminal:
        yield
        return
    lock = Lock()
    is_shown = is_over = False

    def show() -> None:
        nonlocal is_shown
        with lock:
            if not is_over:
                is_shown = True
                bar.start()

    timer = Timer(AFTER_S, show)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        with lock:
            is_over = True
            if is_shown:
                bar.stop()
