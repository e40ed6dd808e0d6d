"""A title above a table."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from provisioner.report.plain import printable


def titled(title: str, shown: RenderableType) -> RenderableType:
    """As wide as the window: rich would break a table's own title, and the paths in it, at the width of the table."""
    return Group(Text(printable(title), style="table.title"), shown)
