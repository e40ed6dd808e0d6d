"""Which format a table has."""

from __future__ import annotations

from provisioner.errors import FaultList
from provisioner.traces.formats.azure import AZURE
from provisioner.traces.formats.burstgpt import BURSTGPT
from provisioner.traces.formats.format import Format, Layout
from provisioner.traces.formats.lengths import LENGTHS
from provisioner.traces.formats.mapped import mapped_layout
from provisioner.traces.formats.mooncake import MOONCAKE
from provisioner.traces.formats.plain import PLAIN
from provisioner.traces.formats.splitwisesim import SPLITWISESIM
from provisioner.traces.formats.vidur import VIDUR, VIDUR_LENGTHS
from provisioner.traces.header import likeness
from provisioner.traces.reading import Reading
from provisioner.traces.table import Header

FORMATS: tuple[Format, ...] = (
    PLAIN,
    AZURE,
    BURSTGPT,
    MOONCAKE,
    SPLITWISESIM,
    VIDUR,
    VIDUR_LENGTHS,
    LENGTHS,
)
_MOST_UNKNOWN = 3


def choose(header: Header, reading: Reading, faults: FaultList) -> Layout:
    """Find the format of a table, and where its columns are.

    Raises
    ------
    InputError
        If it has none, with why for each; or nearly one, with what is wrong about it.
    """
    if reading.columns is not None:
        return mapped_layout(reading.columns, header, reading.time_unit, faults)
    for form in FORMATS:
        if form.why_not(header) is None:
            return form.layout(header, reading.time_unit, faults)
    best = max(FORMATS, key=lambda form: likeness(header, form.wanted))
    if _is_nearly(header, best):
        return best.layout(header, reading.time_unit, faults)
    faults.add(
        "none of the known kinds of trace",
        line=header.line,
        value=", ".join(header.names),
        allowed="one of the following, or any table with --columns arrival=NAME,prompt=NAME,output=NAME",
    )
    for form in FORMATS:
        faults.add(f"not {form.name}: {form.why_not(header)}", line=header.line)
    raise faults.error()


def _is_nearly(header: Header, form: Format) -> bool:
    """Whether a table is a misspelt one of this format: a column may be missing, few may be unknown."""
    exact, near = likeness(header, form.wanted)
    if len(header.names) - exact > _MOST_UNKNOWN:
        return False
    return exact == len(form.wanted) or (form.wanted[2:] != () and near >= 2)  # noqa: PLR2004 - of three columns
