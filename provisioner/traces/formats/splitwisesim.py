"""Traces of SplitwiseSim, the simulator of the Splitwise paper (github.com/Mutinifni/splitwise-sim, MIT), in seconds.

A row with a batch size other than 1 would stand for several requests; its simulator has none, and they are refused.
"""

from provisioner.traces.formats.format import NamedColumns, seconds_from_first

SPLITWISESIM = NamedColumns(
    name="SplitwiseSim",
    arrival="arrival_timestamp",
    prompt="prompt_size",
    output="token_size",
    clock=lambda _: seconds_from_first(),
    fixed_unit="s",
    others=frozenset({"request_type", "application_id"}),
    must_be_one="batch_size",
)
