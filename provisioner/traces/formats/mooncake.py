"""Mooncake-shaped traces (github.com/kvcache-ai/Mooncake, Apache-2.0), and the Qwen traces of the same shape.

Mooncake counts milliseconds, others write seconds under the same keys, and no file says which: the unit must be given.
Shared prefixes (`hash_ids`) and turns of a conversation are not taken into account.
"""

from provisioner.traces.clocks import OpenClock
from provisioner.traces.formats.format import NamedColumns

MOONCAKE = NamedColumns(
    name="Mooncake",
    arrival="timestamp",
    prompt="input_length",
    output="output_length",
    clock=OpenClock,
    others=frozenset({"hash_ids", "chat_id", "parent_chat_id", "type", "turn"}),
)
