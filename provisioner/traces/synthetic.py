"""Synthetic request traces: lengths from a table, arrivals from a process, one seed."""

from __future__ import annotations

from provisioner.domain.trace import RequestTrace
from provisioner.traces.arrivals import ArrivalProcess
from provisioner.traces.sequence import RequestSequence
from provisioner.traces.sizes import SizeTable


def generate(
    sizes: SizeTable,
    rate_rps: float,
    duration_s: float,
    seed: int,
    replication: int = 0,
    *,
    arrivals: ArrivalProcess | None = None,
    independent: bool = False,
) -> RequestTrace:
    """Draw one trace. For several rates keep a `RequestSequence`; it gives the same traces, drawn once.

    Parameters
    ----------
    sizes : SizeTable
        Lengths.
    rate_rps, duration_s : float
        Rate and length, finite and above 0, with up to 50 million requests in all.
    seed, replication : int
        See `seeds.streams`.
    arrivals : ArrivalProcess, optional
        Poisson if not given.
    independent : bool
        Draw prompt and output from their own distributions, as the paper's simulator does.

    Raises
    ------
    InputError
        If a number is out of range.
    """
    sequence = RequestSequence.drawn(
        sizes, seed=seed, replication=replication, arrivals=arrivals, independent=independent
    )
    return sequence.at_rate(rate_rps, duration_s)
