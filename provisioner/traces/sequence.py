"""One sequence of requests for every rate: common random numbers.

Request *i* has the same lengths and the same unit-rate arrival time at every rate; the rate only divides the
time. So the requests at 80 RPS start with those at 70 RPS, and a latency curve or a search over rates
compares clusters on the same requests instead of on luck.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Self

import numpy as np

from provisioner.domain.trace import Floats, Ints, RequestTrace
from provisioner.traces.arrivals import ArrivalProcess, Poisson, Recorded, check_extent
from provisioner.traces.seeds import streams
from provisioner.traces.sizes import SizeTable

Lengths = Callable[[int], tuple[Ints, Ints]]


class RequestSequence:
    """Requests at one per second on average, drawn as far as they have been asked for.

    Made by `drawn` or `recorded`. Asking for more never changes what was given before. It holds iterators,
    so it does not go to another process: send the traces, or the arguments of `drawn`.

    Parameters
    ----------
    unit_arrivals : iterator of (k,) float64
        Blocks of arrival times at one request per second, never decreasing; it may end.
    lengths : callable
        Gives the prompt and output tokens of the next `k` requests.
    """

    def __init__(self, unit_arrivals: Iterator[Floats], lengths: Lengths) -> None:
        self._more = unit_arrivals
        self._lengths = lengths
        self._unit: Floats = np.empty(0)
        self._prompts: Ints = np.empty(0, dtype=np.int64)
        self._outputs: Ints = np.empty(0, dtype=np.int64)

    @classmethod
    def drawn(
        cls,
        sizes: SizeTable,
        *,
        seed: int,
        replication: int = 0,
        arrivals: ArrivalProcess | None = None,
        independent: bool = False,
    ) -> Self:
        """Draw lengths from a table and arrivals from a process, from separate streams of the seed.

        Parameters
        ----------
        sizes : SizeTable
            Lengths.
        seed, replication : int
            See `seeds.streams`.
        arrivals : ArrivalProcess, optional
            Poisson if not given.
        independent : bool
            See `SizeTable.sample`.

        Raises
        ------
        InputError
            If seed or replication is out of range.
        """
        random = streams(seed, replication)
        process = Poisson() if arrivals is None else arrivals
        return cls(
            process.unit_arrivals(random.arrivals),
            lambda n: sizes.sample(n, random.lengths, independent=independent),
        )

    @classmethod
    def recorded(cls, trace: RequestTrace) -> Self:
        """Replay a trace with its own lengths, scaled in time; it ends where the trace ends.

        Raises
        ------
        InputError
            If the trace has no rate, because all of its requests arrive at once.
        """
        process = Recorded(trace)
        return cls(
            process.unit_arrivals(np.random.default_rng(0)),  # not used
            lambda _: (trace.prompt_tokens, trace.output_tokens),
        )

    def at_rate(self, rate_rps: float, duration_s: float) -> RequestTrace:
        """Give the requests that arrive before `duration_s` at this rate.

        Parameters
        ----------
        rate_rps, duration_s : float
            Rate and length, finite and above 0, with up to 50 million requests in all.

        Returns
        -------
        RequestTrace
            Requests with arrivals in [0, duration_s). Fewer than the rate promises where the sequence
            ends before: a recording of *n* requests lasts about n / rate_rps seconds.

        Raises
        ------
        InputError
            If rate or duration is out of range.
        """
        check_extent(rate_rps, duration_s)
        self._reach(rate_rps, duration_s)
        arrival_s = self._unit / rate_rps
        n = int(np.searchsorted(arrival_s, duration_s, side="left"))
        return RequestTrace(arrival_s[:n], self._prompts[:n], self._outputs[:n])

    def _reach(self, rate_rps: float, duration_s: float) -> None:
        blocks = [self._unit]
        while not len(blocks[-1]) or blocks[-1][-1] / rate_rps < duration_s:
            block = next(self._more, None)
            if block is None:
                break
            blocks.append(block)
        grown = sum(len(block) for block in blocks[1:])
        if grown:
            prompts, outputs = self._lengths(grown)
            self._unit = np.concatenate(blocks)
            self._prompts = np.concatenate((self._prompts, prompts))
            self._outputs = np.concatenate((self._outputs, outputs))
