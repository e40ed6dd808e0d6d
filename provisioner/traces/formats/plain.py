"""Our own format, as `provision workload import` writes it: seconds from the start of measuring, as they stand."""

from provisioner.traces.clocks import NumberClock
from provisioner.traces.formats.format import NamedColumns

PLAIN = NamedColumns(
    name="plain",
    arrival="arrival_s",
    prompt="prompt_tokens",
    output="output_tokens",
    clock=lambda _: NumberClock("s", from_first=False),
    fixed_unit="s",
)
