"""Request traces to text."""

from __future__ import annotations

from provisioner.domain.trace import RequestTrace
from provisioner.traces.formats import PLAIN


def plain_csv(trace: RequestTrace) -> str:
    """Write the trace in the plain format; `read_trace` gives the same arrays back, bit for bit."""
    rows = zip(trace.arrival_s.tolist(), trace.prompt_tokens.tolist(), trace.output_tokens.tolist(), strict=True)
    lines = [",".join(PLAIN.wanted), *(f"{arrival!r},{prompt},{output}" for arrival, prompt, output in rows)]
    return "\n".join(lines) + "\n"
