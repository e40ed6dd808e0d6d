"""A grid of counts as a map of headroom, sized for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from provisioner.report.plain import printable
from provisioner.search import Evaluation, amount

# From the most headroom to the furthest beyond the limit; a symbol for each, so that colour is not needed.
_BANDS = ((0.2, "#", "green"), (0.0, "+", "green"), (-0.2, "-", "yellow"), (-1.0, "x", "red"))
_BEYOND = (".", "red")


def table(found: Sequence[Evaluation], title: str) -> RenderableType:
    """Prompt machines across, token machines down; the cheapest that passes is marked `*`."""
    cells = {(e.cluster.prompt_machines, e.cluster.token_machines): e for e in found}
    prompts = sorted({prompt for prompt, _ in cells})
    tokens = sorted({token for _, token in cells}, reverse=True)
    passing = [e for e in found if e.is_feasible]
    best = min(passing, key=lambda e: (amount(e.cluster, "cost"), -e.headroom), default=None)
    width = max(len(str(prompt)) for prompt in prompts) + 1
    lines = [Text(printable(title))]
    for token in tokens:
        line = Text(f"{token:>5} ")
        for prompt in prompts:
            symbol, style = _symbol(cells[prompt, token], is_best=cells[prompt, token] is best)
            line.append(symbol.rjust(width), style=style)
        lines.append(line)
    lines.append(Text(" " * 6 + "".join(str(prompt).rjust(width) for prompt in prompts)))
    lines.append(Text("token machines down, prompt machines across; # passes with 20 % to spare, + passes,"))
    lines.append(Text("- misses by less than 20 %, x by less than 100 %, . by more; * the cheapest that passes"))
    if best is not None:
        lines.append(Text(f"{len(passing)} of {len(found)} pass; the cheapest: {best.cluster.label}"))
    else:
        lines.append(Text(f"none of {len(found)} passes"))
    return Group(*lines)


def _symbol(evaluation: Evaluation, *, is_best: bool) -> tuple[str, str]:
    if is_best:
        return "*", "bold green"
    headroom = evaluation.headroom if evaluation.is_stable else min(evaluation.headroom, -0.1)
    for least, symbol, style in _BANDS:
        if headroom >= least:
            return symbol, style
    return _BEYOND
