"""Text from files and options, made harmless: a terminal shows it and obeys none of it."""

from __future__ import annotations

from rich.markup import escape


def printable(text: str) -> str:
    """Escape what could end the line, hide a part of it, change its direction or command a terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text)


def plain(text: str) -> str:
    """Printable text that is no markup of ours either."""
    return escape(printable(text))
