"""The first simulation after an installation compiles the kernel, which takes a while: say so."""

from __future__ import annotations

import subprocess
import sys
import time
from importlib import import_module

from provisioner.cli.console import note
from provisioner.cli.progress import working


def get_ready(*, quiet: bool) -> None:
    """Load the kernel's compiler, compile the kernel if that is still to be done, and tell where it is kept."""
    from provisioner.sim.jit import cache_folder, is_compiled, kept_in

    _without_linear_algebra()
    if is_compiled():
        return
    note("compiling the simulator, once for this version; this takes about half a minute", quiet=quiet)
    with working("compiling", quiet=quiet):
        seconds = warmed()
    if kept_in() == cache_folder():
        note(f"compiled in {seconds:.0f} s, kept in {kept_in()}", quiet=quiet)
    else:
        where = cache_folder().parent
        note(
            f"compiled in {seconds:.0f} s, but not kept: {where} cannot be written to (provision warmup --all-users)",
            quiet=quiet,
        )


def warmed() -> float:
    """Compile the kernel, or load what was compiled, and try it on a case worked out by hand; returns seconds.

    Compiling is for another process, if that can keep it: of its 450 MB this one then has none.
    """
    from provisioner.sim.jit import cache_folder, is_compiled, kept_in

    started = time.perf_counter()
    if kept_in() == cache_folder() and not is_compiled():
        code = f"import sys; sys.path[:] = {sys.path!r}; from provisioner.sim.warm import warm; warm()"
        command = [sys.executable, "-P", "-c", code]
        subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)  # noqa: S603 - ourselves
    from provisioner.sim.warm import warm

    warm()  # compiles where the other process did not
    return time.perf_counter() - started


def _without_linear_algebra() -> None:
    """Keep numba from loading SciPy's linear algebra: as long to load as all of numba, and of no use to the kernel."""
    if "scipy.linalg" in sys.modules:
        return
    sys.modules["scipy.linalg"] = None  # type: ignore[assignment]  # imports of it fail, and numba goes without
    try:
        import_module("numba.np.arraymath")
    finally:
        del sys.modules["scipy.linalg"]
