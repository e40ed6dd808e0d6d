"""Request traces to text."""

from __future__ import annotations

from collections.abc import Iterator

from provisioner.domain.trace import RequestTrace
from provisioner.traces.formats import PLAIN

_BLOCK_ROWS = 100_000


def plain_csv(trace: RequestTrace) -> str:
    """Write the trace in the plain format; `read_trace` gives the same arrays back, bit for bit."""
    return "".join(plain_csv_pieces(trace))


def plain_csv_pieces(trace: RequestTrace) -> Iterator[str]:
    """The same text, some rows at a time, for traces of which the text would not fit into memory."""
    yield ",".join(PLAIN.wanted) + "\n"
    columns = (trace.arrival_s, trace.prompt_tokens, trace.output_tokens)
    for start in range(0, len(trace), _BLOCK_ROWS):
        rows = zip(*(column[start : start + _BLOCK_ROWS].tolist() for column in columns), strict=True)
        yield "".join(f"{arrival!r},{prompt},{output}\n" for arrival, prompt, output in rows)
