"""Handing out an answer: a table, JSON, CSV, in whichever was asked for."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from provisioner.cli.options import STDOUT, Outputs
from provisioner.errors import Fault, InputError

if TYPE_CHECKING:
    from rich.console import RenderableType


def check(outputs: Outputs, **others: Path | None) -> None:
    """Fail before the work if a file could not be written after it; `others` are files by the name of their option."""
    from provisioner.report.sink import check_writable

    taken: dict[Path, str] = {}
    for name, path in {"csv": outputs.csv, "json": outputs.json, **others}.items():
        if path is not None and path != STDOUT:
            check_writable(path, f"--{name}")
            if taken.setdefault(path.resolve(), name) != name:
                raise InputError(
                    Fault(
                        problem=f"is the file of --{taken[path.resolve()]} already",
                        field=f"--{name}",
                        value=str(path),
                        allowed="another file",
                    )
                )


def hand_out(
    outputs: Outputs,
    *,
    answer: Mapping[str, Any],
    table: Callable[[], RenderableType],
    csv: Callable[[], str],
) -> None:
    """Write the files, then the table or the JSON to standard output."""
    from provisioner.cli.console import answers
    from provisioner.report.answer import to_json
    from provisioner.report.sink import write

    if outputs.csv is not None:
        write(outputs.csv, csv(), "--csv")
    if outputs.json == STDOUT:
        sys.stdout.write(to_json(answer))
        return
    if outputs.json is not None:
        write(outputs.json, to_json(answer), "--json")
    answers().print(table())
