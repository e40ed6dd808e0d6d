"""Results that take a library long to load, kept in the user's cache folder from one run to the next.

A `remembered` function depends on nothing but its arguments, and imports what it needs when it is called. Its results
are kept under the hash of the sources beside it. The folder is the user's own, as that of the compiled kernel is.
"""

from __future__ import annotations

import hashlib
import inspect
import os
from collections.abc import Callable
from functools import cache, wraps
from pathlib import Path
from typing import ParamSpec, TypeVar

import platformdirs
from joblib import Memory

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


def remembered(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
    """Keep the function's results; where nothing can be written, it is called each time."""

    @cache
    def kept() -> Callable[_Parameters, _Result]:
        found: Callable[_Parameters, _Result] = Memory(_folder(function), verbose=0).cache(function)
        return found

    @wraps(function)
    def call(*arguments: _Parameters.args, **named: _Parameters.kwargs) -> _Result:
        return kept()(*arguments, **named)

    return call


def _folder(function: Callable[..., object]) -> Path | None:
    digest = hashlib.sha256()
    for source in sorted(Path(inspect.getfile(function)).parent.glob("*.py")):
        digest.update(source.read_bytes())
    folder = Path(platformdirs.user_cache_dir("provisioner")) / f"results-{digest.hexdigest()[:16]}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return folder if os.access(folder, os.W_OK) else None
