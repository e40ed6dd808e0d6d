"""Handing out an answer: a table, JSON, CSV, a figure, a report, in whichever was asked for."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from provisioner.cli.options import STDOUT, TYPED, Outputs
from provisioner.errors import Fault, InputError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from provisioner.report.figures import Figure

PLOT_SUFFIXES = (".png", ".svg", ".pdf")
REPORT_SUFFIXES = (".html", ".htm")


def check(outputs: Outputs, **others: Path | None) -> None:
    """Fail before the work if a file could not be written after it; `others` are files by the name of their option."""
    from provisioner.report.sink import check_writable

    _check_drawable(outputs.plot, "plot", PLOT_SUFFIXES, "matplotlib")
    _check_drawable(outputs.report, "report", REPORT_SUFFIXES, "vl_convert")
    files = {"csv": outputs.csv, "json": outputs.json, "plot": outputs.plot, "report": outputs.report, **others}
    written = {
        f"--{name.replace('_', '-')}": path for name, path in files.items() if path is not None and path != STDOUT
    }
    taken: dict[str, str] = {}
    for option, path in written.items():
        check_writable(path, option)
        first = taken.setdefault(os.path.realpath(path), option)
        if first != option:
            raise _taken(f"is the file of {first} already", option, path)
    for option, path in written.items():
        if _times_named(path) > 1:
            raise _taken("is named elsewhere in the command", option, path)


def _taken(problem: str, option: str, path: Path) -> InputError:
    return InputError(Fault(problem=problem, field=option, value=str(path), allowed="another file"))


def _times_named(path: Path) -> int:
    """How many arguments name a file: one is the output itself, another what is read, or an output elsewhere."""
    target = os.path.realpath(path)
    words = [word.partition("=")[2] if word.startswith("--") else word for word in TYPED.get()]
    return sum(target in map(os.path.realpath, (word, word.rpartition(":")[0])) for word in words)


def _check_drawable(path: Path | None, extra: str, suffixes: Sequence[str], package: str) -> None:
    """Tell an unknown ending, or a library that is not installed."""
    if path is None:
        return
    if path.suffix.lower() not in suffixes:
        raise InputError(
            Fault(problem="unknown ending", field=f"--{extra}", value=str(path), allowed=", ".join(suffixes))
        )
    if find_spec(package) is None:
        raise InputError(
            Fault(
                problem=f"needs {package}, which is not installed",
                field=f"--{extra}",
                allowed=f"pip install '.[{extra}]' in the checkout",
            )
        )


def hand_out(
    outputs: Outputs,
    *,
    answer: Mapping[str, Any],
    table: Callable[[], RenderableType],
    csv: Callable[[], str],
    figures: Callable[[], Sequence[Figure]] | None = None,
    quiet: bool = False,
) -> None:
    """Write the files, then the table or the JSON to standard output."""
    from provisioner.cli.console import answers
    from provisioner.report.answer import to_json
    from provisioner.report.sink import write

    if outputs.csv is not None:
        write(outputs.csv, csv(), "--csv")
    if outputs.plot is not None or outputs.report is not None:
        _draw(outputs, answer, csv, () if figures is None else figures(), quiet=quiet)
    if outputs.json == STDOUT:
        sys.stdout.write(to_json(answer))
        return
    if outputs.json is not None:
        write(outputs.json, to_json(answer), "--json")
    answers().print(table())


def _draw(
    outputs: Outputs, answer: Mapping[str, Any], csv: Callable[[], str], shown: Sequence[Figure], *, quiet: bool
) -> None:
    """Draw the first figure into a file; write all of them into a page."""
    from provisioner.cli.console import note
    from provisioner.report.sink import write

    if outputs.plot is not None:
        if shown:
            from provisioner.report.plots import image

            write(outputs.plot, image(shown[0], outputs.plot.suffix.lower()), "--plot")
        else:
            note(f"nothing to plot: {outputs.plot} is not written", quiet=quiet)
    if outputs.report is not None:
        from provisioner.report.html import page

        command = shlex.join(["provision", *TYPED.get()])
        write(outputs.report, page(answer, shown, csv(), command), "--report")
