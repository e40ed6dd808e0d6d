"""The two streams: the answer on standard output, everything else on standard error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

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


@contextmanager
def progress(task: str, *, quiet: bool) -> Iterator[Advance]:
    """A bar that counts up; it vanishes when it is done, and where standard error is no terminal."""
    console = remarks()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=quiet or not console.is_terminal) as bar:
        handle = bar.add_task(plain(task), total=None)
        yield lambda count: bar.advance(handle, count)
