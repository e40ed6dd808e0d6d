"""How long an iteration takes: the performance model as the kernel reads it.

An iteration over *n* prompt tokens takes ``prefill(n)``; one over *b* running decodes whose contexts
sum to *c* tokens takes ``f(b) + gamma c``; one over both takes ``mixed_factor * prefill(n + b)``.
Every decode makes each context one token longer, so *k* decode iterations in a row take

    k f(b) + gamma (k c + b k (k - 1) / 2)

which is why a whole run is one event: its end, and the iterations complete at any time, are closed forms.
"""

from __future__ import annotations

import math

from provisioner.sim.jit import jit
from provisioner.sim.state import Timing


@jit
def _interpolate(timing: Timing, row: int, x: float) -> float:
    """Piecewise linear through the knots, and linear on beyond both ends, but never falling beyond the last."""
    knots = timing.knots[row]
    if knots == 1:
        return timing.y[row, 0]
    right = 1
    while right < knots - 1 and timing.x[row, right] < x:
        right += 1
    left_x, left_y = timing.x[row, right - 1], timing.y[row, right - 1]
    slope = (timing.y[row, right] - left_y) / (timing.x[row, right] - left_x)
    if slope < 0.0 and x > timing.x[row, right]:
        # Falling on beyond what was measured would lead below zero.
        return timing.y[row, right]
    return left_y + (x - left_x) * slope


@jit
def _look_up(timing: Timing, row: int, x: int) -> float:
    """The same of a whole number: where it lies among the knots is what a processor cannot foresee."""
    return timing.table[row, x] if x < timing.table.shape[1] else _interpolate(timing, row, float(x))


@jit
def prefill_s(timing: Timing, kind: int, tokens: int) -> float:
    """Seconds of one iteration over `tokens` prompt tokens."""
    return _look_up(timing, 2 * kind, tokens)


@jit
def decode_base_s(timing: Timing, kind: int, requests: int) -> float:
    """f(b): seconds of one iteration over `requests` decodes, contexts apart."""
    return _look_up(timing, 2 * kind + 1, requests)


@jit
def decodes_s(base_s: float, gamma: float, requests: int, context: int, iterations: int) -> float:
    """Seconds of `iterations` decode iterations in a row, contexts starting at `context` in all."""
    k = float(iterations)
    return k * base_s + gamma * (k * context + requests * k * (k - 1.0) / 2.0)


@jit
def decodes_within(base_s: float, gamma: float, requests: int, context: int, elapsed_s: float) -> int:
    """Decode iterations complete after `elapsed_s`: the root of the quadratic above, rounded down."""
    first_s = base_s + gamma * context
    growth_s = gamma * requests
    if growth_s <= 0.0:
        complete = int(elapsed_s / first_s)
    else:
        linear = first_s - growth_s / 2.0
        complete = int((math.sqrt(linear * linear + 2.0 * growth_s * elapsed_s) - linear) / growth_s)
    # The root is exact up to rounding: settle it against the formula that sets the run's end.
    while complete > 0 and decodes_s(base_s, gamma, requests, context, complete) > elapsed_s:
        complete -= 1
    while decodes_s(base_s, gamma, requests, context, complete + 1) <= elapsed_s:
        complete += 1
    return complete
