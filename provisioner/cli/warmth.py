"""The first simulation after an installation compiles the kernel, which takes a while: say so."""

from __future__ import annotations

from provisioner.cli.console import note, working


def get_ready(*, quiet: bool) -> None:
    """Compile the kernel if that is still to be done, and tell where it is kept."""
    from provisioner.sim.jit import cache_folder, is_compiled, kept_in

    if is_compiled():
        return
    note("compiling the simulator, once for this version; this takes about half a minute", quiet=quiet)
    with working("compiling", quiet=quiet):
        from provisioner.sim.warm import warm

        seconds = warm()
    if kept_in() == cache_folder():
        note(f"compiled in {seconds:.0f} s, kept in {kept_in()}", quiet=quiet)
    else:
        where = cache_folder().parent
        note(
            f"compiled in {seconds:.0f} s, but not kept: {where} cannot be written to (provision warmup --all-users)",
            quiet=quiet,
        )
