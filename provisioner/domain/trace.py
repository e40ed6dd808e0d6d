"""A request trace: when requests arrive and how long they are, as three arrays of one length."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class RequestTrace:
    """Requests in order of arrival; from here on request *i* is row *i*.

    Parameters
    ----------
    arrival_s : (n,) float64
        Seconds from the start of measuring, finite, not negative, not decreasing.
    prompt_tokens, output_tokens : (n,) int64
        At least 1 each.
    users : int
        Above 0 for a closed loop: the first so many requests arrive together, and whenever a request is
        finished, the next one arrives. Arrivals behind the first are known when they have been simulated.

    Raises
    ------
    ValueError
        If a condition above does not hold. Readers check first and say which row.
    """

    arrival_s: Floats
    prompt_tokens: Ints
    output_tokens: Ints
    users: int = 0

    def __post_init__(self) -> None:
        lengths = {len(self.arrival_s), len(self.prompt_tokens), len(self.output_tokens)}
        if len(lengths) != 1:
            raise ValueError("arrivals, prompts and outputs differ in length")
        if not np.all(np.isfinite(self.arrival_s)) or np.any(self.arrival_s < 0):
            raise ValueError("arrivals must be finite and not negative")
        if np.any(np.diff(self.arrival_s) < 0):
            raise ValueError("arrivals must not decrease")
        if np.any(self.prompt_tokens < 1) or np.any(self.output_tokens < 1):
            raise ValueError("prompts and outputs have at least one token")
        if self.users < 0 or np.any(np.diff(self.arrival_s[: self.users]) > 0):
            raise ValueError("users are not negative, and begin together")
        for array in (self.arrival_s, self.prompt_tokens, self.output_tokens):
            array.setflags(write=False)

    def __len__(self) -> int:
        return len(self.arrival_s)

    @property
    def span_s(self) -> float:
        """Time of the last arrival; 0 for an empty trace."""
        return float(self.arrival_s[-1]) if len(self) else 0.0

    def from_first(self) -> RequestTrace:
        """The same requests with time counted from the first arrival."""
        return replace(self, arrival_s=self.arrival_s - self.arrival_s[:1])

    def scaled_in_time(self, factor: float) -> RequestTrace:
        """The same requests with every arrival time multiplied by `factor` (> 0)."""
        return replace(self, arrival_s=self.arrival_s * factor)
