r"""Arrival processes, at one request per second on average.

A process at rate :math:`\lambda` is the process at rate 1 with every time divided by :math:`\lambda`, so one
sequence of unit-rate arrivals serves every rate (common random numbers). Times are given in blocks; how many
are taken does not change those before.

- `Poisson`: independent exponential gaps.
- `Gamma`: independent gamma gaps of mean 1 and coefficient of variation *c*: shape :math:`1/c^2`, scale
  :math:`c^2`. Measuring starts at an arbitrary time, not at an arrival, so the wait for the first request is
  the residual of a length-biased gap, :math:`U \cdot \Gamma(1/c^2 + 1, c^2)`. The number of arrivals in *t*
  seconds then has mean *t* exactly. (Starting at an arrival would add about :math:`(c^2 - 1)/2` requests: 87
  for the *c* = 13.2 of the Azure coding trace.) With *c* = 1 it is Poisson.
- `Recorded`: the arrivals of a trace, once, then no more. Its own rate is (n - 1) / (last - first).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Protocol

import numpy as np

from provisioner.domain.trace import Floats, RequestTrace
from provisioner.errors import Fault, InputError

_BLOCK = 4096
CV_RANGE = (0.01, 100.0)
MAX_REQUESTS = 50_000_000


class ArrivalProcess(Protocol):
    """A point process with one arrival per second on average."""

    def unit_arrivals(self, rng: np.random.Generator) -> Iterator[Floats]:
        """Give arrival times in seconds, block after block, never decreasing.

        Parameters
        ----------
        rng : Generator
            Changed with each block.
        """


@dataclass(frozen=True, slots=True)
class Poisson:
    """Arrivals that know nothing of each other."""

    def unit_arrivals(self, rng: np.random.Generator) -> Iterator[Floats]:
        """Give arrival times; see `ArrivalProcess`."""
        return _running_sums(rng.standard_exponential(_BLOCK) for _ in repeat(None))


@dataclass(frozen=True, slots=True)
class Gamma:
    """Arrivals with gamma gaps: bursty for `cv` > 1, more regular than Poisson for `cv` < 1.

    Parameters
    ----------
    cv : float
        Coefficient of variation of the gaps, from 0.01 to 100.

    Raises
    ------
    InputError
        If `cv` is out of range.
    """

    cv: float

    def __post_init__(self) -> None:
        low, high = CV_RANGE
        if not low <= self.cv <= high:
            raise InputError(Fault(problem="out of range", field="cv", value=self.cv, allowed=f"{low:g} to {high:g}"))

    def unit_arrivals(self, rng: np.random.Generator) -> Iterator[Floats]:
        """Give arrival times; see `ArrivalProcess`."""
        scale = self.cv**2
        first = np.array([rng.random() * rng.gamma(1 / scale + 1, scale)])
        return _running_sums(chain([first], (rng.gamma(1 / scale, scale, _BLOCK) for _ in repeat(None))))


@dataclass(frozen=True, slots=True)
class Recorded:
    """The arrivals of a trace, with its bursts, once.

    Raises
    ------
    InputError
        If the trace has no rate, because all of its requests arrive at once.
    """

    trace: RequestTrace

    def __post_init__(self) -> None:
        if not 0 < self.rate_rps < np.inf:
            fault = Fault(
                problem="a recording without a rate",
                field="arrivals",
                value=f"{len(self.trace)} requests, all at the same time",
                allowed="two arrival times or more",
            )
            raise InputError(fault)

    @property
    def rate_rps(self) -> float:
        """Requests per second from the first arrival to the last; 0 or infinite where there is none."""
        gaps = len(self.trace) - 1
        if gaps < 1:
            return 0.0
        span_s = float(self.trace.arrival_s[-1] - self.trace.arrival_s[0])
        return gaps / span_s if span_s > 0 else np.inf

    def unit_arrivals(self, rng: np.random.Generator) -> Iterator[Floats]:  # noqa: ARG002 - nothing is random here
        """Give arrival times; see `ArrivalProcess`."""
        yield self.trace.arrival_s * self.rate_rps


def arrivals_s(process: ArrivalProcess, rate_rps: float, duration_s: float, rng: np.random.Generator) -> Floats:
    """Draw the arrivals from 0 until just before `duration_s`.

    Parameters
    ----------
    process : ArrivalProcess
        Which one.
    rate_rps, duration_s : float
        Rate and length, finite and above 0, with up to 50 million requests in all.
    rng : Generator
        Changed.

    Returns
    -------
    (n,) float64
        Seconds, never decreasing.

    Raises
    ------
    InputError
        If rate or duration is out of range.
    """
    check_extent(rate_rps, duration_s)
    blocks = []
    for block in process.unit_arrivals(rng):
        blocks.append(block / rate_rps)
        if blocks[-1][-1] >= duration_s:
            break
    times = np.concatenate(blocks)
    return times[: np.searchsorted(times, duration_s, side="left")]


def check_extent(rate_rps: float, duration_s: float) -> None:
    """Refuse a rate and a duration that are not finite, not above 0, or too many requests together.

    Raises
    ------
    InputError
        With a fault for each.
    """
    faults = [
        Fault(problem="out of range", field=field, value=value, allowed="a finite number above 0")
        for field, value in (("rate_rps", rate_rps), ("duration_s", duration_s))
        if not 0 < value < np.inf
    ]
    if not faults and rate_rps * duration_s > MAX_REQUESTS:
        allowed = f"up to {MAX_REQUESTS:,} requests, the rate times the {duration_s:g} s"
        faults.append(Fault(problem="too many requests", field="rate_rps", value=rate_rps, allowed=allowed))
    if faults:
        raise InputError(faults)


def _running_sums(blocks: Iterable[Floats]) -> Iterator[Floats]:
    total = 0.0
    for block in blocks:
        times = total + np.cumsum(block)
        total = float(times[-1])
        yield times
