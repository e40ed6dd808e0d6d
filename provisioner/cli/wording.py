"""Faults in words: one line each, whatever stands in the file it is about."""

from __future__ import annotations

from provisioner.errors import Fault
from provisioner.report.plain import printable

_LONGEST_VALUE = 60
_LONGEST_PART = 400


def word(fault: Fault) -> str:
    """Return `FILE:LINE: field: problem (got VALUE); allowed: what would be right`, of what the fault has."""
    place = "" if fault.file is None else printable(str(fault.file))
    if place and fault.line is not None:
        place += f":{fault.line}"
    field = _short(printable(fault.field or ""), _LONGEST_PART)
    problem = _short(printable(fault.problem), _LONGEST_PART)
    if fault.value is not None:
        problem += f" (got {_worded(fault.value)})"
    if fault.allowed:
        problem += f"; allowed: {_short(printable(fault.allowed), _LONGEST_PART)}"
    return ": ".join(part for part in (place, field, problem) if part)


def _worded(value: object) -> str:
    match value:
        case str():
            return f"'{_short(printable(value), _LONGEST_VALUE)}'"
        case bool():
            return str(value).lower()
        case dict():
            return "a mapping"
        case list() | tuple():
            return "a list"
    try:
        return _short(printable(str(value)), _LONGEST_VALUE)
    except ValueError:  # an int of more digits than Python prints
        return "a number of very many digits"


def _short(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 3] + "..."
