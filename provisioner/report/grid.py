"""A grid of counts as a map of headroom, sized to the window."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from provisioner.report.characters import GridMap
from provisioner.report.plain import printable
from provisioner.search import Evaluation
from provisioner.search.goal import rank


def table(found: Sequence[Evaluation], title: str) -> RenderableType:
    """Prompt machines across, token machines down; the cheapest that passes is marked `*`."""
    cells = {(e.cluster.prompt_machines, e.cluster.token_machines): e for e in found}
    passing = [e for e in found if e.is_feasible]
    best = min(passing, key=lambda e: (rank(e.cluster, "cost"), -e.headroom), default=None)
    last = (
        f"none of {len(found)} passes"
        if best is None
        else f"{len(passing)} of {len(found)} pass; the cheapest: {best.cluster.label}"
    )
    return Group(
        Text(printable(title)),
        GridMap(cells, best),
        Text("token machines down, prompt machines across; * the cheapest that passes"),
        Text("# passes with 20 % to spare, + passes; - misses by less than 20 %,"),
        Text("x by less than 100 %, . by more"),
        Text(last),
    )
