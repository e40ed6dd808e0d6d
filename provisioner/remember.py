"""Results that take a library long to load, kept in the user's cache folder from one run to the next.

A `remembered` function depends on nothing but its arguments, and imports what it needs when it is called. Its results
are kept under the hash of the sources beside it. The folder is the user's own, as that of the compiled kernel is.
`joblib.Memory` would do the same, but takes longer to load than is to be gained here (docs/dependencies.md).
"""

from __future__ import annotations

import hashlib
import inspect
import os
import pickle
from collections.abc import Callable
from contextlib import suppress
from functools import cache, wraps
from pathlib import Path
from typing import ParamSpec, TypeVar

from provisioner.folders import hash_of_sources, kept_for_user, write_whole

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


def remembered(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
    """Keep the function's results; where nothing can be written, it is called each time."""

    @cache
    def folder() -> Path | None:
        return _folder(function)

    @wraps(function)
    def call(*arguments: _Parameters.args, **named: _Parameters.kwargs) -> _Result:
        place = folder()
        if place is None:
            return function(*arguments, **named)
        asked = pickle.dumps((function.__qualname__, arguments, sorted(named.items())))
        file = place / f"{function.__name__}-{hashlib.sha256(asked).hexdigest()[:32]}.pickle"
        with suppress(Exception):  # a damaged file may raise anything
            found: _Result = pickle.loads(file.read_bytes())  # noqa: S301 - the user's own folder
            return found
        result = function(*arguments, **named)
        with suppress(OSError):
            write_whole(file, pickle.dumps(result))
        return result

    return call


def _folder(function: Callable[..., object]) -> Path | None:
    base = kept_for_user()
    if base is None:
        return None
    folder = base / f"results-{hash_of_sources(Path(inspect.getfile(function)).parent)[:16]}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return folder if os.access(folder, os.W_OK) else None
