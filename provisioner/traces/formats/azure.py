"""Azure LLM inference traces of 2023 and 2024, and the multimodal one of 2025.

From github.com/Azure/AzurePublicDataset, CC-BY.

Times are dates: with 7 decimals and no zone in 2023, with 6 and an offset later. The images of 2025 are not
taken into account: a vision encoder is not simulated.
"""

from provisioner.traces.clocks import StampClock
from provisioner.traces.formats.format import NamedColumns

AZURE = NamedColumns(
    name="Azure",
    arrival="TIMESTAMP",
    prompt="ContextTokens",
    output="GeneratedTokens",
    clock=lambda _: StampClock(),
    fixed_unit="dates",
    others=frozenset({"NumImages"}),
)
