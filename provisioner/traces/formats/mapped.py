"""Any table, with its own names for the columns: times are dates, or numbers whose unit was given.

Whoever names the columns knows the others; they are not used.
"""

from __future__ import annotations

from collections.abc import Mapping

from provisioner.errors import FaultList
from provisioner.traces.clocks import OpenClock
from provisioner.traces.formats.format import Layout
from provisioner.traces.header import HARMLESS, find_columns
from provisioner.traces.reading import ROLES, TimeUnit
from provisioner.traces.table import Header


def mapped_layout(columns: Mapping[str, str], header: Header, unit: TimeUnit | None, faults: FaultList) -> Layout:
    """Find the columns of a map from roles to names.

    Raises
    ------
    InputError
        If a name is not in the table, or stands there twice.
    """
    names = tuple(columns[role] for role in ROLES if role in columns)
    places = find_columns(header, names, faults, others=frozenset(header.names))
    unused = tuple(name for name in header.names if name not in names and name not in HARMLESS)
    clock = OpenClock(unit) if "arrival" in columns else None
    return Layout(name="mapped", names=names, places=places, clock=clock, unused=unused)
