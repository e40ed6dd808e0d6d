"""Drawings made of characters, as wide as the window: a map of a grid, and curves of the worst objective.

What is drawn is cells of text, so that a test can read it; colour only repeats what the characters say. Where
there are more cells than columns or rows, neighbours share one, and the best of them is shown.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from provisioner.report.plain import printable
from provisioner.search import Evaluation

# From the most headroom to the furthest beyond the limit; a symbol for each, so that colour is not needed.
BANDS = ((0.2, "#", "green"), (0.0, "+", "green"), (-0.2, "-", "yellow"), (-1.0, "x", "red"))
BEYOND = (".", "red")
BEST = ("*", "bold green")
MARGIN = 6
MOST_ROWS = 40


@dataclass(frozen=True, slots=True, eq=False)
class GridMap:
    """Headroom over a grid of counts: prompt machines across, token machines down."""

    cells: Mapping[tuple[int, int], Evaluation]
    """By counts of prompt and token machines."""
    best: Evaluation | None

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw it into the width there is."""
        yield from self.lines(options.max_width)

    def lines(self, width: int) -> Iterator[Text]:
        """The rows, the highest count first, and the counts below."""
        prompts = sorted({prompt for prompt, _ in self.cells})
        tokens = sorted({token for _, token in self.cells})
        across, down = _shared(prompts, max(1, width - MARGIN)), _shared(tokens, MOST_ROWS)
        cell = max(1, min(max(len(str(prompt)) for prompt in prompts) + 1, (width - MARGIN) // len(across)))
        for row in reversed(down):
            line = Text(f"{row[0]:>{MARGIN - 1}} ", no_wrap=True)
            for column in across:
                symbol, style = self._symbol([(prompt, token) for prompt in column for token in row])
                line.append(symbol.rjust(cell), style=style)
            yield line
        yield Text(" " * MARGIN + _scale([column[0] for column in across], cell), no_wrap=True)
        if len(across) < len(prompts) or len(down) < len(tokens):
            yield Text("neighbouring counts share a place, which shows the best of them")

    def _symbol(self, counts: Sequence[tuple[int, int]]) -> tuple[str, str]:
        found = [self.cells[each] for each in counts if each in self.cells]
        if not found:
            return " ", ""
        if any(evaluation is self.best for evaluation in found):
            return BEST
        headroom = max(e.headroom if e.is_stable else min(e.headroom, -0.1) for e in found)
        return next(((symbol, style) for least, symbol, style in BANDS if headroom >= least), BEYOND)


def _shared(counts: Sequence[int], places: int) -> list[Sequence[int]]:
    """Neighbouring counts share a place where there are more than places."""
    each = -(-len(counts) // places)
    return [counts[start : start + each] for start in range(0, len(counts), each)]


def _scale(counts: Sequence[int], cell: int) -> str:
    """Counts right below their columns, those left out for which there is no room."""
    line = ""
    for place, count in enumerate(counts):
        text, end = str(count), (place + 1) * cell
        if end - len(text) >= len(line) + (1 if line else 0) or not line:
            line = line.ljust(max(end - len(text), 0)) + text
    return line


@dataclass(frozen=True, slots=True, eq=False)
class Curves:
    """The objective with the least headroom, as achieved / limit, against load: a letter for each cluster."""

    found: Sequence[Evaluation]
    rows: int = 12

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw them into the width there is."""
        yield from self.lines(options.max_width)

    def lines(self, width: int) -> Iterator[Text]:
        """A logarithmic scale from below the least to four times the limit; the limit is a line of dashes."""
        names = list(dict.fromkeys(_name(e) for e in self.found))
        rates = [e.rate_rps for e in self.found]
        columns = max(8, min(width - MARGIN - 1, 100))
        low = min([0.5, *(ratio for e in self.found if (ratio := _worst(e)) > 0)])
        grid = [[" "] * columns for _ in range(self.rows)]
        limit = self._row(1.0, low)
        grid[limit] = ["-"] * columns
        for evaluation in self.found:
            span = max(rates) - min(rates) or 1.0
            column = round((evaluation.rate_rps - min(rates)) / span * (columns - 1))
            row = self._row(_worst(evaluation), low)
            taken = grid[row][column]
            grid[row][column] = _letter(names.index(_name(evaluation))) if taken in " -" else "&"
        for place, cells in enumerate(grid):
            label = {0: "4+", limit: "1", self.rows - 1: f"{low:.2g}"}.get(place, "")
            yield Text(f"{label:>{MARGIN - 1}} {''.join(cells)}", style="bold" if place == limit else "", no_wrap=True)
        ends = f"{min(rates):g}", f"{max(rates):g} RPS"
        yield Text(" " * MARGIN + ends[0] + ends[1].rjust(max(columns - len(ends[0]), 0)), no_wrap=True)
        yield Text("worst achieved / limit; --- the limit; & several:")
        for place, name in enumerate(names):
            yield Text(f"  {_letter(place)} {printable(name)}")

    def _row(self, ratio: float, low: float) -> int:
        """From the top, where ratios of four and more are."""
        most = 4.0
        share = (math.log(min(max(ratio, low), most)) - math.log(low)) / (math.log(most) - math.log(low))
        return round((1 - share) * (self.rows - 1))


def _worst(evaluation: Evaluation) -> float:
    ratio = 1 - evaluation.binding.headroom
    return ratio if evaluation.is_stable else max(ratio, math.inf)


def _name(evaluation: Evaluation) -> str:
    return f"{evaluation.cluster.design.short} {evaluation.cluster.label}"


def _letter(place: int) -> str:
    return chr(ord("a") + place % 26)
