"""A performance model: time of an iteration by its tokens or its batch."""

from __future__ import annotations

import numpy as np

from provisioner.perf import PerformanceModel
from provisioner.report.figures.lines import Axis, Lines, Panel, Series

CONTEXTS = (0, 1024, 4096)
"""Tokens of context of each request, for which decode times are drawn."""


def of_model(model: PerformanceModel) -> Lines:
    """The fitted knots, in milliseconds."""
    batch = model.decode_batch
    decode = tuple(
        Series(label=f"context {context:,}", x=batch, y=1e3 * model.decode_s(batch, batch * context))
        for context in CONTEXTS
    )
    tokens = model.prefill_tokens
    prefill = Series(label="g(n)", x=tokens, y=1e3 * np.asarray(model.prefill_s(tokens)))
    time = Axis(label="Time of one iteration (ms)")
    return Lines(
        title=f"{model.model} on {model.machine}, TP {model.tensor_parallel}",
        panels=(
            Panel(title="Prefill", x=Axis(label="Prompt tokens"), y=time, series=(prefill,), with_points=True),
            Panel(title="Decode", x=Axis(label="Requests in the batch"), y=time, series=decode, with_points=True),
        ),
        columns=2,
        note="Dots: fitted knots. Context: tokens of each request in the batch",
    )
