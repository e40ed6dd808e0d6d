"""The two streams: the answer on standard output, everything else on standard error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from provisioner.report.plain import plain

Advance = Callable[[int], None]


def answers() -> Console:
    """The stream for answers."""
    return Console(highlight=False)


def remarks() -> Console:
    """The stream for progress, notes and errors."""
    return Console(stderr=True, highlight=False)


def note(text: str, *, quiet: bool = False) -> None:
    """Say something beside the answer."""
    if not quiet:
        remarks().print(f"[dim]note:[/dim] {plain(text)}", soft_wrap=True)


class _Rate(ProgressColumn):
    """Steps a second, over the last half minute."""

    def render(self, task: Task) -> Text:
        """As `12.3/s`."""
        return Text("" if task.speed is None else f"{task.speed:.3g}/s")


@contextmanager
def progress(task: str, *, quiet: bool, total: int | None = None) -> Iterator[Advance]:
    """A bar that counts up, with rate and time; it vanishes when done, and where standard error is no terminal.

    With the `total` known it tells the time left, otherwise the time taken: a search ends when its proof is complete.
    """
    console = remarks()
    time = TimeElapsedColumn() if total is None else TimeRemainingColumn(compact=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), _Rate(), time)
    with Progress(*columns, console=console, transient=True, disable=quiet or not console.is_terminal) as bar:
        handle = bar.add_task(plain(task), total=total)
        yield lambda count: bar.advance(handle, count)


@contextmanager
def working(task: str, *, quiet: bool) -> Iterator[None]:
    """Something that takes a while and cannot be counted: its name and the time it has taken, on a terminal."""
    console = remarks()
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=quiet or not console.is_terminal) as bar:
        bar.add_task(plain(task), total=None)
        yield
