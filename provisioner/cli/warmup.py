"""`provision warmup`: what the first run would do, done beforehand, as when an image is built."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from provisioner.cli.options import Loudness, shared
from provisioner.errors import Fault, InputError

if TYPE_CHECKING:
    from pathlib import Path

SWITCH = "NUMBA_DISABLE_JIT"
EXAMPLE = """Examples: provision warmup;
RUN provision warmup --all-users (in an image that other users run, or with a read-only file system)"""


@shared(Loudness)
def warmup(
    loudness: Loudness,
    *,
    all_users: Annotated[
        bool, typer.Option("--all-users", help="Keep it where every user of this machine finds it.")
    ] = False,
) -> None:
    """Compile the simulator, so that no later run has to.

    It is tried on a case worked out by hand; where it is kept, and how long that took, is said.
    """
    from provisioner.cli.console import answers
    from provisioner.cli.progress import working
    from provisioner.sim.native import IS_PLAIN, file, is_compiled, keep, kept_in, machine_code
    from provisioner.sim.warm import warm

    if IS_PLAIN:
        allowed = "nothing, or 0"
        raise InputError(
            Fault(problem="nothing is compiled: the simulator runs as plain Python", field=SWITCH, allowed=allowed)
        )
    was_compiled = is_compiled()
    with working("compiling", quiet=loudness.quiet):
        seconds = warm()
    if all_users:
        try:
            keep(machine_code(), for_all=True)
        except OSError as error:
            raise _not_kept(file(for_all=True), error.strerror) from error
    place = file(for_all=True) if all_users else kept_in()
    if place is None:
        raise _not_kept(file(), "there is no home folder" if file() is None else "cannot be written to, or is full")
    if loudness.quiet:
        return
    done = "compiled already, loaded" if was_compiled else "compiled"
    console = answers()
    console.print(f"{done} and tried on a case worked out by hand, in {seconds:.1f} s", markup=False)
    console.print(f"kept in {place}, {place.stat().st_size / 1e6:.1f} MB", markup=False, soft_wrap=True)


def _not_kept(place: Path | None, why: str | None) -> InputError:
    allowed = "a folder that can be written to: set XDG_CACHE_HOME, or run as a user who may"
    folder = None if place is None else str(place.parent)
    return InputError(Fault(problem=f"the compiled simulator cannot be kept: {why}", value=folder, allowed=allowed))
