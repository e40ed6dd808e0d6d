"""Fitting a performance model to measured points.

1. Repeats are noise: rows of one shape (prompt, batch, output) are pooled to their medians, and every
   shape counts once, however often it was repeated.
2. Shapes that cannot have run as one batch are left out (`plausible`).
3. Both phases are monotone piecewise linear functions. With ramps that rise from 0 to 1 between two
   neighbouring knots,

       time_i ~ t_1 + sum_j d_j ramp_j(x_i)  [+ gamma c_i for decode],   d_j >= 0, gamma >= 0,

   and the sum of squared *relative* errors is least: non-negative least squares (Lawson and Hanson).
   Knots stand at the measured token counts (prefill) and batch sizes (decode).

The context `c` of a decode is `batch * (prompt + output / 2)`: the mean over the run, with the tokens
that were really generated.

Why least squares: on the public Splitwise profile least absolute errors predict decode 0.05 points of
MAPE better, but of two shapes with as many tokens they take the faster, and so err by -1.9 % on average
in prefill; least squares err by -0.5 % there, and have the lower MAPE too.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from provisioner.errors import Fault, InputError
from provisioner.perf.model import PerformanceModel
from provisioner.perf.points import COLUMNS, Points, label
from provisioner.perf.shapes import medians, numbered
from provisioner.remember import remembered

Floats = NDArray[np.float64]

MAX_KNOTS = 64
MAX_SHAPES = 4096
CONTRADICTION = 2.0
"""Of two prompt phases, the one with more to do cannot be this much faster."""
CONTEXT_SPREAD = 1.25
"""Contexts at one batch size must differ by this factor to tell what a token of context costs."""
LEAST_SHARE = 0.01
"""No time is fitted below this share of the shortest measured one."""


@remembered
def fit(points: Points, *, mixed_factor: float = 1.1) -> PerformanceModel:
    """Fit the performance model of one profile.

    Where no batch size was measured at clearly different contexts, the cost of context cannot be told
    from the cost of the batch and `gamma` is 0. Where the first segment would lead below the first
    knot's time per token, a knot at 1 with just that time is added.

    Parameters
    ----------
    points : Points
        Measured runs; at least one prefill and one decode time.
    mixed_factor : float
        Given, because profilers do not measure mixed iterations.

    Returns
    -------
    PerformanceModel
        At most 64 knots a phase (and one at 1), times not decreasing.

    Raises
    ------
    InputError
        If a phase was not measured at all.
    """
    runs = pooled(points)
    runs = runs.at(_uncontradicted(runs))
    prefill = runs.at(~np.isnan(runs.prefill_s))
    decode = runs.at(~np.isnan(runs.decode_s))
    faults = [
        Fault(problem=f"no {column} was measured", field=column, value=label(points.key))
        for column, measured in (("prefill_s", prefill), ("decode_s", decode))
        if not len(measured)
    ]
    if faults:
        raise InputError(faults)
    tokens, prefill_seconds, _ = _monotone(prefill.total_tokens, prefill.prefill_s)
    context = decode.context_tokens if _tells_context(decode) else None
    batch, decode_seconds, gamma = _monotone(decode.batch, decode.decode_s, context)
    return PerformanceModel(
        model=points.model,
        machine=points.machine,
        tensor_parallel=points.tensor_parallel,
        prefill_tokens=tokens,
        prefill_seconds=prefill_seconds,
        decode_batch=batch,
        decode_seconds=decode_seconds,
        gamma_s_per_token=gamma,
        mixed_factor=mixed_factor,
        max_context_tokens=float(decode.context_tokens.max()),
        origin=points.origin,
    )


def plausible(points: Points) -> NDArray[np.bool_]:
    """Tell which rows can have run as the one batch that they say they were.

    A batch that does not fit in memory runs in parts, and its "prompt phase" is that of the first part:
    in the public Splitwise profile 64 prompts of 512 tokens on two GPUs take a seventh of the time of
    32. Two shapes contradict each other if one has prompts at least as long and at least as many, and
    takes less than half the time. The shape with the most contradictions is left out, decode time and
    all, until there is none.

    Returns
    -------
    (n,) bool
        False for rows to be left out.
    """
    runs, shape = _pool(points)
    return _uncontradicted(runs)[shape]


def _uncontradicted(runs: Points) -> NDArray[np.bool_]:
    """Tell which shapes to keep, of runs that were pooled."""
    prompt, batch, seconds = runs.prompt_tokens, runs.batch, runs.prefill_s
    contradicts = (prompt[:, None] <= prompt) & (batch[:, None] <= batch) & (seconds[:, None] > CONTRADICTION * seconds)
    contradicts |= contradicts.T
    kept = np.ones(len(runs), dtype=np.bool_)
    count = contradicts.sum(axis=0)
    while count.any():
        worst = int(np.argmax(count))
        count -= contradicts[worst]
        contradicts[:, worst] = False
        count[worst] = 0
        kept[worst] = False
    return kept


def pooled(points: Points) -> Points:
    """One row per shape (prompt, batch, output): medians of what was measured of it.

    Beyond 4,096 shapes, as where lengths come from real requests, shapes that are alike are taken
    together and stand at the medians of their lengths: alike within 2 %, or 4 %, 9 %, and so on.
    """
    return _pool(points)[0]


def _pool(points: Points) -> tuple[Points, NDArray[np.intp]]:
    """Pool the points, and tell the pooled row of each row."""
    shapes = np.column_stack([points.prompt_tokens, points.batch, points.output_tokens])
    count, row = numbered(shapes)
    step = 1 / 32
    while count > MAX_SHAPES:
        count, row = numbered(np.round(np.log2(np.maximum(shapes, 0.5)) / step))
        step *= 2
    columns: dict[str, Any] = {column: medians(getattr(points, column), row, count) for column in COLUMNS}
    return replace(points, **columns), row


def _tells_context(decode: Points) -> bool:
    """Whether some batch size was measured at contexts different enough."""
    by_batch = (decode.context_tokens[decode.batch == batch] for batch in np.unique(decode.batch))
    return any(float(np.ptp(c)) >= (CONTEXT_SPREAD - 1) * float(c.min()) for c in by_batch)


def _monotone(x: Floats, seconds: Floats, context: Floats | None = None) -> tuple[Floats, Floats, float]:
    """Least squares of relative errors: knots, seconds at them, and seconds per token of `context` (or 0)."""
    from scipy.optimize import nnls  # noqa: PLC0415 - takes longer to load than all fits take; results are remembered

    knots = _knots(x)
    ramps = [np.clip((x - low) / (high - low), 0.0, 1.0) for low, high in pairwise(knots)]
    columns = [np.ones_like(x), *ramps]
    scale = 1.0 if context is None else float(context.max())
    if context is not None:
        columns.append(context / scale)
    least = LEAST_SHARE * float(seconds.min())
    found, _ = nnls(np.column_stack(columns) / seconds[:, None], (seconds - least) / seconds, maxiter=100 * MAX_KNOTS)
    times = least + np.cumsum(found[: len(knots)])
    gamma = 0.0 if context is None else float(found[-1]) / scale
    return *_anchored(knots, times), gamma


def _knots(x: Floats) -> Floats:
    """All values, or 64 of them that are evenly spread in the logarithm, both ends included."""
    values = np.unique(x)
    if len(values) <= MAX_KNOTS:
        return values
    wanted = np.geomspace(values[0], values[-1], MAX_KNOTS)
    spread = np.unique(np.searchsorted(values, wanted).clip(0, len(values) - 1))
    return np.asarray(values[spread])


def _anchored(knots: Floats, times: Floats) -> tuple[Floats, Floats]:
    """Add a knot at 1 where the first segment leads below the first knot's time per token."""
    if len(knots) == 1 or knots[0] <= 1:
        return knots, times
    slope = (times[1] - times[0]) / (knots[1] - knots[0])
    per_token = times[0] / knots[0]
    if times[0] - slope * (knots[0] - 1) >= per_token:
        return knots, times
    return np.concatenate([[1.0], knots]), np.concatenate([[per_token], times])
