"""BurstGPT 1, 2 and 3 (github.com/HPMLL/BurstGPT, CC-BY): seconds from midnight of its first day.

Version 3 puts two columns between the others, so columns are found by name. A failed request has no
response tokens, and often no request tokens either; such rows are left out and counted.
"""

from provisioner.traces.formats.format import NamedColumns, seconds_from_first

BURSTGPT = NamedColumns(
    name="BurstGPT",
    arrival="Timestamp",
    prompt="Request tokens",
    output="Response tokens",
    clock=lambda _: seconds_from_first(),
    fixed_unit="s",
    others=frozenset({"Model", "Total tokens", "Log Type", "Session ID", "Elapsed time"}),
)
