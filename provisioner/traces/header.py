"""Find the wanted columns of a head line, whatever their order."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from provisioner.errors import FaultList
from provisioner.traces.table import Header

HARMLESS = frozenset({"", "id", "request_id"})
"""Columns that number the rows (the empty name is pandas' index): skipped wherever they stand.

Any other column that is not known is refused. It might tell requests apart (model, tenant, priority,
status of a failed request), and sizing a cluster as if it did not would be a silent mistake.
"""
_LONGEST_NAME = 80


def likeness(header: Header, wanted: Sequence[str]) -> tuple[int, int]:
    """How many of the `wanted` columns stand in the head line: (exactly, or nearly so)."""
    exact = sum(name in wanted for name in header.names)
    return exact, sum(name in wanted or _nearest(name, wanted) is not None for name in header.names)


def find_columns(
    header: Header, wanted: Sequence[str], faults: FaultList, *, others: frozenset[str] = HARMLESS
) -> tuple[int, ...]:
    """Give the index of each wanted column.

    Parameters
    ----------
    header : Header
        The head line.
    wanted : sequence of str
        Each must stand in the head line once.
    faults : FaultList
        Changed: receives unknown (with the wanted column that was probably meant), doubled and missing
        columns.
    others : frozenset of str
        Columns that may stand there besides.

    Raises
    ------
    InputError
        If there is such a fault.
    """
    before = len(faults)
    meant = set()
    for place, name in enumerate(header.names):
        if name in wanted:
            if name in header.names[:place]:
                faults.add("the column stands here twice", line=header.line, field=name)
        elif name not in others:
            near = _nearest(name, wanted)
            meant.add(near)
            problem = f"unknown column; did you mean {near}?" if near else "unknown column"
            faults.add(problem, line=header.line, field=name, allowed=f"the columns {', '.join(wanted)}")
    for name in wanted:
        if name not in header.names and name not in meant:
            faults.add("the column is missing", line=header.line, field=name)
    if len(faults) > before:
        raise faults.error()
    return tuple(header.names.index(name) for name in wanted)


def _nearest(name: str, wanted: Sequence[str]) -> str | None:
    folded = {column.casefold(): column for column in wanted}
    close = get_close_matches(name.casefold()[:_LONGEST_NAME], folded, n=1, cutoff=0.75)
    return folded[close[0]] if close else None
