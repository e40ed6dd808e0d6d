"""The two streams: the answer on standard output, everything else on standard error."""

from __future__ import annotations

from rich.console import Console

from provisioner.report.plain import plain


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
