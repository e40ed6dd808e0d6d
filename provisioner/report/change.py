"""A cluster before and after a change, side by side."""

from __future__ import annotations

from rich import box
from rich.console import Group, RenderableType
from rich.text import Text

from provisioner.metrics import SloResult
from provisioner.report.answer import miss
from provisioner.report.narrow import FittingTable as Table
from provisioner.report.table import short
from provisioner.report.title import titled
from provisioner.search import Evaluation


def table(before: Evaluation, after: Evaluation, title: str) -> RenderableType:
    """Each objective before and after, with its limit."""
    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    shown.add_column("Objective", no_wrap=True)
    for heading in ("Limit", "Before", "After", "Change"):
        shown.add_column(heading, justify="right", no_wrap=True)
    for was, now in zip(before.results, after.results, strict=True):
        change = f"{now.value / was.value - 1:+.0%}" if was.value > 0 else ""
        limit = f"{now.limit.limit:g} {'x' if now.limit.unit == 'slowdown' else now.limit.unit}"
        shown.add_row(now.limit.name, limit, _cell(was), _cell(now), change)
    for name, share in after.utilization.items():
        earlier = before.utilization.get(name, 0.0)
        shown.add_row(f"busy {name}" if name != "mixed_pool" else "on loan", "", f"{earlier:.0%}", f"{share:.0%}")
    verdict = "every objective is met" if after.is_feasible else miss(after)
    return Group(titled(title, shown), Text(f"After: {verdict}."))


def _cell(result: SloResult) -> Text:
    return Text(short(result.value)) if result.met else Text(f"{short(result.value)}!", style="bold red")
