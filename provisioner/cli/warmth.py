"""The first simulation after an installation compiles the kernel, which takes a while: say so."""

from __future__ import annotations

from provisioner.cli.console import note


def announce_compilation(*, quiet: bool) -> None:
    """Tell that the kernel is being compiled, if it is not already."""
    from provisioner.sim.jit import is_compiled

    if not is_compiled():
        note("compiling the simulator, once for this version; this takes about half a minute", quiet=quiet)
