"""The first simulation after an installation compiles the kernel, which takes a while: say so."""

from __future__ import annotations

from provisioner.cli.console import note
from provisioner.cli.progress import working


def get_ready(*, quiet: bool) -> None:
    """Compile the kernel if that is still to be done, and tell where it is kept."""
    from provisioner.sim.native import file, is_compiled, kept_in
    from provisioner.sim.warm import warm

    if is_compiled():
        return
    note("compiling the simulator, once for this version; this takes some ten seconds", quiet=quiet)
    with working("compiling", quiet=quiet):
        seconds = warm()
    place = kept_in()
    if place is not None:
        note(f"compiled in {seconds:.0f} s, kept in {place}", quiet=quiet)
    else:
        own = file()
        why = "there is no home folder" if own is None else f"{own.parent} cannot be written to"
        note(f"compiled in {seconds:.0f} s, but not kept: {why} (provision warmup --all-users)", quiet=quiet)
