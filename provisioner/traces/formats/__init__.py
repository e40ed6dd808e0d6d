"""The known formats of traces, and which of them a table has: its columns decide, never the name of the file."""

from provisioner.traces.formats.choice import FORMATS, choose
from provisioner.traces.formats.format import Format, Layout
from provisioner.traces.formats.plain import PLAIN

__all__ = ["FORMATS", "PLAIN", "Format", "Layout", "choose"]
