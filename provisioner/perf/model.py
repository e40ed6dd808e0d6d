"""The performance model: how long one iteration of a machine takes (Splitwise, V-B).

    prefill_s(n)     = g(n)                      n prompt tokens in all
    decode_s(b, c)   = f(b) + gamma c            b requests whose contexts sum to c tokens
    mixed_s(n, b, c) = mixed_factor g(n + b)     both in one iteration

`g` and `f` are piecewise linear between knots, and linear beyond both ends with the slope of the
first or last segment; a single knot is a constant.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from provisioner.perf.points import Origin

Floats = NDArray[np.float64]
Number = TypeVar("Number", float, Floats)

MAX_SECONDS = 1e9
MAX_TOKENS = 1e18


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PerformanceModel:
    """Iteration times of one model on one machine type.

    A fit gives times that never decrease with the knots; knots that come from a file may, because
    the medians of the paper's own simulator do.

    Parameters
    ----------
    model, machine : str
        Names in the catalog.
    tensor_parallel : int
        GPUs that share the model, at least 1.
    prefill_tokens, prefill_seconds : (k,) float64
        Knots of `g`: increasing positive token counts, and positive seconds. Made read-only.
    decode_batch, decode_seconds : (j,) float64
        Knots of `f`: increasing positive request counts, and positive seconds. Made read-only.
    gamma_s_per_token : float
        Seconds that one token of context adds to a token-phase iteration, at least 0.
    mixed_factor : float
        How much longer an iteration of both phases takes than one of as many prompt tokens, > 0.
    max_context_tokens : float or None
        Largest measured sum of contexts in a batch; None if not known.
    origin : {"measured", "modelled", "estimated"}
        Where the times come from.

    Raises
    ------
    ValueError
        If a condition above does not hold, or if the first segment leads to no time at all, or less,
        at one token or one request.
    """

    model: str
    machine: str
    tensor_parallel: int
    prefill_tokens: Floats
    prefill_seconds: Floats
    decode_batch: Floats
    decode_seconds: Floats
    gamma_s_per_token: float
    mixed_factor: float = 1.1
    max_context_tokens: float | None = None
    origin: Origin = "measured"

    def __post_init__(self) -> None:
        if self.tensor_parallel < 1:
            raise ValueError("tensor_parallel must be at least 1")
        if not 0 <= self.gamma_s_per_token <= MAX_SECONDS:
            raise ValueError("decode.gamma_s_per_token must be a number of at least 0")
        if not 0 < self.mixed_factor <= MAX_SECONDS:
            raise ValueError("mixed_factor must be a number above 0")
        _check_knots("prefill", "tokens", self.prefill_tokens, self.prefill_seconds)
        _check_knots("decode", "batch", self.decode_batch, self.decode_seconds)

    def prefill_s(self, n: Number) -> Number:
        """Seconds of one prompt-phase iteration over `n` prompt tokens in all (array of any shape, or float)."""
        return _along(self.prefill_tokens, self.prefill_seconds, n)

    def decode_s(self, b: Number, c: Number) -> Number:
        """Seconds of one token-phase iteration of `b` requests whose contexts sum to `c` tokens."""
        return _along(self.decode_batch, self.decode_seconds, b) + self.gamma_s_per_token * c

    def mixed_s(self, n: Number, b: Number, c: Number) -> Number:  # noqa: ARG002 - the model's third argument, for other laws
        """Seconds of one iteration over `n` prompt tokens and `b` decodes; their contexts `c` do not count."""
        return self.mixed_factor * self.prefill_s(n + b)

    def to_dict(self) -> dict[str, object]:
        """Return the knots that the simulator uses, as `profile show --json` prints them; and if not measured, so."""
        return {
            "model": self.model,
            "machine": self.machine,
            "tensor_parallel": self.tensor_parallel,
            "prefill": {"tokens": _plain(self.prefill_tokens), "seconds": self.prefill_seconds.tolist()},
            "decode": {
                "batch": _plain(self.decode_batch),
                "seconds": self.decode_seconds.tolist(),
                "gamma_s_per_token": self.gamma_s_per_token,
            },
            "mixed_factor": self.mixed_factor,
            **({} if self.origin == "measured" else {"origin": self.origin}),
        }


def _along(knots: Floats, seconds: Floats, x: Number) -> Number:
    """Interpolate linearly, and extrapolate with the first and the last segment, but never fall beyond the last."""
    y = np.interp(x, knots, seconds)
    if len(knots) > 1:
        slopes = np.diff(seconds) / np.diff(knots)
        y = y + slopes[0] * np.minimum(x - knots[0], 0.0) + max(slopes[-1], 0.0) * np.maximum(x - knots[-1], 0.0)
    return y if isinstance(x, np.ndarray) else float(y)


def _check_knots(phase: str, unit: str, knots: Floats, seconds: Floats) -> None:
    if knots.ndim != 1 or knots.shape != seconds.shape or not knots.size:
        raise ValueError(f"{phase}: as many seconds as {unit} are needed, and at least one")
    if not np.all((knots > 0) & (knots <= MAX_TOKENS)) or np.any(np.diff(knots) <= 0):
        raise ValueError(f"{phase}.{unit} must be positive, finite and increasing")
    if not np.all((seconds > 0) & (seconds <= MAX_SECONDS)):
        raise ValueError(f"{phase}.seconds must be positive and finite")
    if _along(knots, seconds, 1.0) <= 0:
        raise ValueError(
            f"{phase}: the first segment leads to a time of 0 or less at {unit} = 1; a knot at 1 mends that"
        )
    knots.setflags(write=False)
    seconds.setflags(write=False)


def _plain(knots: Floats) -> list[float]:
    """Whole numbers without a decimal point."""
    return [int(knot) if knot.is_integer() else knot for knot in knots.tolist()]
