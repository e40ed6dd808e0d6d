"""Compilation: one place that says how the kernel's functions are compiled and where that is kept.

Compiled code is kept in the user's cache folder, under the hash of this package's sources. numba by
itself only looks at the file of the outermost function, and would run yesterday's helper. An image may
hold it for all users (`cache_folder(for_all=True)`). Where the user's folder cannot be written to, a
copy in a temporary folder serves: numba reads only from folders that it can write to.
"""

from __future__ import annotations

import atexit
import hashlib
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np
import platformdirs
from numba.core.options import DefaultOptions

_Function = TypeVar("_Function", bound=Callable[..., object])
_ENTRY = "*.run_events-*.nbc"
"""The compiled event loop, which has everything else within itself."""
_ROOM_BYTES = 16_000_000
"""Thrice what a compiled kernel takes."""


def cache_folder(*, for_all: bool = False) -> Path:
    """Where the compiled kernel of just these sources is kept: the user's own, or that for all users of the machine."""
    # numba looks for what was compiled from the same files in the same place.
    digest = hashlib.sha256(f"{numba.__version__} {Path(__file__).parent}".encode())
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.read_bytes())
    base = platformdirs.site_cache_dir if for_all else platformdirs.user_cache_dir
    return Path(base("provisioner")) / f"kernel-{digest.hexdigest()[:16]}"


def is_compiled(folder: Path | None = None) -> bool:
    """Whether a compiled kernel lies there, or where this process looks: without, compiling takes half a minute."""
    place = folder or kept_in() or cache_folder()
    return any(place.rglob(_ENTRY))


def kept_in() -> Path | None:
    """The folder that this process reads compiled code from, and keeps it in; None if nowhere."""
    return Path(numba.config.CACHE_DIR) if numba.config.CACHE_DIR else None  # type: ignore[attr-defined]


def copy_kernel(source: Path, target: Path) -> None:
    """Copy a compiled kernel, so that other processes see all of it or nothing.

    Raises
    ------
    OSError
        If the target cannot be written.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        copy = Path(folder) / target.name
        shutil.copytree(source, copy)
        copy.chmod(0o755)
        if target.is_dir():
            shutil.rmtree(target)
        copy.rename(target)


def numbered(count: int, step: int = 1) -> tuple[Any, ...]:
    """So many constants, 0, `step`, `2 step`...: of a plain `int`, numba compiles what it is handed to once a value."""
    return tuple(np.arange(count, dtype=np.int64) * step)


def _place() -> Path | None:
    """Where compiled code shall be looked for and kept: the user's folder if that can be written to."""
    own, for_all = cache_folder(), cache_folder(for_all=True)
    filled = next((folder for folder in (own, for_all) if is_compiled(folder)), None)
    place = own if _has_room(own) else _temporary()
    if filled is not None and place is not None and not is_compiled(place):
        try:
            copy_kernel(filled, place)
        except OSError:  # full, or another process was first: it is compiled again
            return place
    return place


def _has_room(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return is_compiled(folder) or shutil.disk_usage(folder).free > _ROOM_BYTES


def _temporary() -> Path | None:
    """A folder for as long as this process runs; None if there can be none."""
    try:
        base = Path(tempfile.mkdtemp(prefix="provisioner-"))
    except OSError:
        return None
    atexit.register(shutil.rmtree, base, ignore_errors=True)
    return base / cache_folder().name


numba.config.CACHE_DIR = str(_place() or "")  # type: ignore[attr-defined]

# The kernel allocates nothing, so its functions need no reference counts of the arrays that they hand
# each other; counting them made a simulation twenty times slower (290 ms against 15 ms). Inlining every
# helper spares handing over some 150 pointers a call (another factor of 2.3).
_options: dict[str, Any] = {
    "forceinline": True,
    "nogil": True,
    "cache": kept_in() is not None,
    "error_model": "numpy",
}
if hasattr(DefaultOptions, "_nrt"):
    _options["_nrt"] = False

# What Python calls.
jit_entry: Callable[[_Function], _Function] = numba.njit(**_options)

# What only compiled code calls: without wrappers, which for so many arguments take longer to compile than the rest, and
# not kept, since the entry has all of it (5 MB instead of 49).
_inner = _options | {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "cache": False}
jit: Callable[[_Function], _Function] = numba.njit(**_inner)

# For what happens seldom: called, so that the event loop compiles faster and is no larger for it.
jit_apart: Callable[[_Function], _Function] = numba.njit(**_inner | {"forceinline": False})
