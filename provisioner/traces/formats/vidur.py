"""Traces of Vidur, another simulator (github.com/microsoft/vidur, MIT): in seconds, or lengths alone."""

from provisioner.traces.formats.format import NamedColumns, seconds_from_first

_DERIVED = frozenset({"num_total_tokens", "pd_ratio"})

VIDUR = NamedColumns(
    name="Vidur",
    arrival="arrived_at",
    prompt="num_prefill_tokens",
    output="num_decode_tokens",
    clock=lambda _: seconds_from_first(),
    fixed_unit="s",
    others=_DERIVED,
)
VIDUR_LENGTHS = NamedColumns(
    name="Vidur's lengths",
    arrival=None,
    prompt="num_prefill_tokens",
    output="num_decode_tokens",
    others=_DERIVED,
)
