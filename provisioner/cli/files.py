"""How a trace file is to be read, from the options in words."""

from __future__ import annotations

from provisioner.cli.options import Files
from provisioner.cli.ranges import as_number
from provisioner.errors import Fault, InputError
from provisioner.traces import Reading


def reading(files: Files) -> Reading:
    """Parse the options.

    Raises
    ------
    InputError
        If one is wrong.
    """
    return Reading(
        columns=None if files.columns is None else _columns(files.columns),
        time_unit=files.time_unit,  # type: ignore[arg-type]  # checked by Reading
        window=None if files.window is None else _window(files.window),
        unordered=files.unordered or "refuse",  # type: ignore[arg-type]
    )


def _columns(text: str) -> dict[str, str]:
    """`arrival=ts,prompt=in,output=out`; names may hold blanks, but no comma."""
    pairs = [part.partition("=") for part in text.split(",")]
    columns = {role.strip(): name.strip() for role, _, name in pairs}
    if len(columns) == len(pairs) and all(columns.values()):
        return columns
    allowed = "arrival=NAME,prompt=NAME,output=NAME; arrival may be left out for a list of lengths"
    raise InputError(Fault(problem="not a column map", field="--columns", value=text, allowed=allowed))


def _window(text: str) -> tuple[float, float]:
    ends = [as_number(part) for part in text.split(":")]
    match ends:
        case [float() as start, float() as end]:
            return start, end
    raise InputError(Fault(problem="not a window", field="--window", value=text, allowed="FROM:TO, as 600:1200"))
