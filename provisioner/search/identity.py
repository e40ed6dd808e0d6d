"""What makes two inputs the same: a hash of their content, equal in every process and on every machine."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel

from provisioner import __version__

_DECIDING = ("domain", "perf", "traces", "sim", "metrics.py", "capacity.py", "search")
"""Parts of the package that decide what a simulation gives."""


def identity(*things: Any) -> str:
    """Hash values, arrays, and whatever is made of them.

    Raises
    ------
    TypeError
        If something has no content of its own, as a lock or a function.
    """
    digest = hashlib.sha256()
    for piece in _pieces(things):
        digest.update(len(piece).to_bytes(8, "little"))
        digest.update(piece)
    return digest.hexdigest()[:32]


def _pieces(thing: Any) -> Iterator[bytes]:
    yield type(thing).__name__.encode()
    match thing:
        case None | bool() | int() | float() | str() | bytes():
            yield repr(thing).encode()
        case np.ndarray():
            yield f"{thing.dtype.str}{thing.shape}".encode()
            yield np.ascontiguousarray(thing).tobytes()
        case BaseModel():
            yield from _pieces(dict(thing))
        case Mapping():
            for key, value in thing.items():
                yield from _pieces(key)
                yield from _pieces(value)
        case Sequence():
            yield str(len(thing)).encode()
            for each in thing:
                yield from _pieces(each)
        case _ if hasattr(thing, "content"):
            yield from _pieces(thing.content())
        case _ if is_dataclass(thing):
            yield from _pieces({each.name: getattr(thing, each.name) for each in fields(thing) if each.init})
        case _:
            raise TypeError(f"{type(thing).__name__} has no content to be known by")


@cache
def edition() -> str:
    """Version, hash of the sources that decide what comes out, Python's and NumPy's versions: the package as it stands.

    Workers of another edition would give other results, or none: what NumPy draws may change from one minor version to
    the next (NEP 19).
    """
    digest = hashlib.sha256()
    folder = Path(__file__).parents[1]
    for part in _DECIDING:
        for source in sorted([folder / part] if part.endswith(".py") else (folder / part).rglob("*.py")):
            digest.update(source.read_bytes())
    python = ".".join(map(str, sys.version_info[:2]))
    drawing = ".".join(np.__version__.split(".")[:2])
    return f"{__version__} ({digest.hexdigest()[:8]}) on Python {python}, NumPy {drawing}"
