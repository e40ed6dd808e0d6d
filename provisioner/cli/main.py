"""The command line: one command per module, and the exit codes.

0 an answer that meets every SLO; 1 an internal error; 2 bad input or usage; 3 no cluster meets the SLOs;
130 interrupted.
"""

from __future__ import annotations

import atexit
import errno
import gc
import io
import os
import sys
import traceback
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Annotated, Any

import typer

from provisioner.cli.options import TYPED
from provisioner.errors import Fault, InputError

INTERNAL_ERROR, BAD_INPUT, INFEASIBLE, INTERRUPTED = 1, 2, 3, 130
ISSUES = "the project's issue tracker"
_ROOM = "more room, or a file on another disk"
_REMEDIES = {errno.ENOSPC: _ROOM, errno.EDQUOT: _ROOM, errno.ENAMETOOLONG: "a shorter name"}
"""What the user can do about a fault of the disk, wherever it comes up."""
_OF_THE_GROUP = {"--help", "-h", "--version", "--install-completion", "--show-completion"}


_MODULES = {
    "optimize": "optimize",
    "compare": "compare",
    "pareto": "pareto",
    "sweep": "sweep",
    "curve": "curve",
    "simulate": "simulate",
    "whatif": "whatif",
    "fleet": "fleet",
    "paper": "paper",
    "warmup": "warmup",
    "list": "listing",
    "profile": "profile",
    "workload": "workloads",
}
"""Commands and their modules, each with a function of the module's name, or the `app` of a group of commands."""


def _version(*, wanted: bool) -> None:
    if wanted:
        from provisioner import __version__

        typer.echo(f"provision {__version__}")
        raise typer.Exit


def _provision(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            help="Show the version and exit.",
            callback=lambda wanted: _version(wanted=wanted),
            is_eager=True,
        ),
    ] = False,
) -> None:
    """Find the cluster that serves an LLM within its latency SLOs for the least, and prove that nothing less does.

    Without a command, the main job: the same as `provision optimize`.
    """


def parser(names: Iterable[str] = _MODULES) -> typer.Typer:
    """Of some commands: that of all takes 50 ms longer to make."""
    app = typer.Typer(
        name="provision",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["--help", "-h"]},
        rich_markup_mode=None,
        epilog="Example: provision --design HA --target-rps 70 --minimize cost",
    )
    app.callback()(_provision)
    for name in names:
        module = import_module(f"provisioner.cli.{_MODULES[name]}")
        if hasattr(module, "app"):
            app.add_typer(module.app, name=name)
        else:
            app.command(name, epilog=module.EXAMPLE)(getattr(module, _MODULES[name]))
    return app


def _parse(arguments: Sequence[str]) -> Any:
    """Parse and run; `provision --design HA ...` is `provision optimize --design HA ...`."""
    first = arguments[0] if arguments else ""
    if first.startswith("-") and first not in _OF_THE_GROUP:
        first, arguments = "optimize", ["optimize", *arguments]
    app = parser([first] if first in _MODULES else _MODULES)
    return app(args=_with_values(arguments), prog_name="provision", standalone_mode=False)


def run(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its code."""
    gc.set_threshold(100_000)  # what is loaded stays: to look through it again and again for garbage takes 0.2 s
    atexit.register(gc.freeze)  # the process ends: nothing is left to be found
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # what a terminal cannot show is no reason to show nothing
    code = main(sys.argv[1:] if arguments is None else list(arguments))
    if code == INTERRUPTED:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)  # at once: threads that still simulate are not waited for
    sys.exit(code)


def main(arguments: list[str]) -> int:
    """Run the command line; returns the exit code."""
    TYPED.set(tuple(arguments))
    try:
        result = _parse(arguments)
    except InputError as error:
        return _bad_input(error.faults)
    except KeyboardInterrupt:
        return _interrupted()
    except BrokenPipeError:
        # The reader has gone: point standard output elsewhere, so that closing it is quiet too.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:  # noqa: BLE001 - the last resort of a command line
        return _of_click(error, arguments)
    code = int(result or 0)
    return _interrupted() if code == INTERRUPTED else code  # as typer hands on an interrupt


def _interrupted() -> int:
    typer.echo("interrupted", err=True)
    return INTERRUPTED


def _bad_input(faults: Iterable[Fault]) -> int:
    from provisioner.cli.wording import word

    for fault in faults:
        typer.echo(f"error: {word(fault)}", err=True)
    return BAD_INPUT


def _of_click(error: Exception, arguments: Sequence[str]) -> int:
    """Usage errors of the option parser are bad input; anything else is ours."""
    if type(error).__name__ == "NoArgsIsHelpError":
        typer.echo(str(error), err=True)
        return BAD_INPUT
    if hasattr(error, "format_message"):
        from provisioner.cli.usage import fault_of

        return _bad_input([fault_of(error, arguments)])
    if type(error).__name__ == "Abort":
        return _interrupted()
    if isinstance(error, OSError) and error.errno in _REMEDIES:
        where = error.filename or "the disk"
        return _bad_input([Fault(problem=error.strerror or "", field=str(where), allowed=_REMEDIES[error.errno])])
    traceback.print_exc()
    typer.echo(
        f"internal error: {type(error).__name__}: {error}\nPlease report it, with the command and the lines above, "
        f"to {ISSUES}.",
        err=True,
    )
    return INTERNAL_ERROR


def _with_values(arguments: Sequence[str]) -> list[str]:
    """`--json` alone, or before another option, means standard output."""
    followers = [*arguments, "--"][1:]
    return [
        "--json=-" if argument == "--json" and follower.startswith("-") and follower != "-" else argument
        for argument, follower in zip(arguments, followers, strict=True)
    ]


if __name__ == "__main__":
    run()
