"""HTML by construction: whatever is no markup of ours is escaped, in content and in attributes."""

from __future__ import annotations

import json
from html import escape
from typing import Any

from provisioner.report.plain import printable

_EMPTY = frozenset({"meta", "br", "hr"})
_IN_SCRIPT = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"})


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def element(tag: str, /, *content: object, **attributes: object) -> Markup:
    """`element("th", "a < b", scope="col")`; `class_` is `class`, `aria_sort` is `aria-sort`, None leaves out."""
    written = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(printable(str(value)))}"'
        for name, value in attributes.items()
        if value is not None
    )
    if tag in _EMPTY:
        return Markup(f"<{tag}{written}>")
    return Markup(f"<{tag}{written}>{joined(*content)}</{tag}>")


def joined(*content: object) -> Markup:
    """One after the other; what is no markup is escaped, and None is nothing."""
    return Markup("".join(part if isinstance(part, Markup) else _text(part) for part in content if part is not None))


def _text(part: object) -> str:
    return escape(printable(str(part)), quote=False)


def data(value: Any) -> Markup:
    """JSON that may stand inside a script element: nothing in it ends the script."""
    return Markup(json.dumps(value, allow_nan=False, separators=(",", ":")).translate(_IN_SCRIPT))
