"""Compilation: one place that says how the kernel's functions are compiled and where that is kept.

Compiled code is kept in the user's cache folder, under the hash of this package's sources. numba by
itself only looks at the file of the outermost function, and would run yesterday's helper.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
import platformdirs
from numba.core.options import DefaultOptions

_Function = TypeVar("_Function", bound=Callable[..., object])


def cache_folder() -> Path:
    """Where the compiled kernel of just these sources is kept."""
    digest = hashlib.sha256(numba.__version__.encode())
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.read_bytes())
    return Path(platformdirs.user_cache_dir("provisioner")) / f"kernel-{digest.hexdigest()[:16]}"


def is_compiled() -> bool:
    """Whether an earlier run has left a compiled kernel: the first one takes half a minute."""
    return any(cache_folder().rglob("*.nbc"))


numba.config.CACHE_DIR = str(cache_folder())  # type: ignore[attr-defined]

# The kernel allocates nothing, so its functions need no reference counts of the arrays that they hand
# each other; counting them made a simulation twenty times slower (290 ms against 15 ms). Inlining every
# helper spares handing over some 150 pointers a call (another factor of 2.3).
_options: dict[str, Any] = {"forceinline": True, "nogil": True, "cache": True, "error_model": "numpy"}
if hasattr(DefaultOptions, "_nrt"):
    _options["_nrt"] = False

jit: Callable[[_Function], _Function] = numba.njit(**_options)

# For what happens seldom: called, so that the event loop compiles faster and is no larger for it.
jit_apart: Callable[[_Function], _Function] = numba.njit(**_options | {"forceinline": False})
