"""Tables for windows of any width: what has no room side by side stands below each other."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.table import Column, Table
from rich.text import Text

LEAST = 8
"""Of a column that may be folded, so many characters at least."""


class FittingTable(Table):
    """A table whose rows are written out, value by value, where the window would cut its numbers off."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw it as a table if it fits, and else row by row."""
        if self._needed(console, options) <= options.max_width:
            yield from super().__rich_console__(console, options)
        else:
            yield from self._rows_written_out()

    def _needed(self, console: Console, options: ConsoleOptions) -> int:
        """Characters of the columns, the gaps between them and what stands around them."""
        wide = options.update(width=10_000, max_width=10_000)
        widths = [self._measure_column(console, wide, column).maximum for column in self.columns]
        pairs = zip(self.columns, widths, strict=True)
        return self._extra_width + sum(width if column.no_wrap else min(width, LEAST) for column, width in pairs)

    def _rows_written_out(self) -> Iterator[RenderableType]:
        if self.title:
            yield _text(self.title)
            yield Text()
        columns = [list(column.cells) for column in self.columns]
        for row in zip(*columns, strict=True):
            shown = Table.grid(Column(no_wrap=True), Column(overflow="fold"), padding=(0, 1, 0, 0))
            for column, cell in zip(self.columns, row, strict=True):
                if not isinstance(cell, (str, Text)) or str(cell).strip():
                    shown.add_row(_name(column), cell)
            yield shown
            yield Text()
        if self.caption:
            yield _text(self.caption)
            yield Text()


def _name(column: Column) -> Text:
    """A heading on one line."""
    name = _text(column.header)
    return Text(" ".join(name.plain.split()), style="dim")


def _text(shown: RenderableType) -> Text:
    return shown if isinstance(shown, Text) else Text.from_markup(str(shown))
