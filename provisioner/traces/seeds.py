"""Random streams from a seed.

`SeedSequence(seed)` spawns one child a replication, and that one a child for the arrivals and one for the
lengths; the spawn keys are written out, so that replication 1,000 needs no 999 others. Streams do not
overlap, and drawing more from one leaves the other as it was: another length table meets the same arrival
times, another arrival process the same lengths.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from provisioner.errors import Fault, InputError


class Streams(NamedTuple):
    """The generators of one replication."""

    arrivals: np.random.Generator
    lengths: np.random.Generator


def streams(seed: int, replication: int = 0) -> Streams:
    """Make the generators of one replication, at their beginning.

    Parameters
    ----------
    seed : int
        At least 0.
    replication : int
        At least 0 and under 2**32; equal seeds and other replications are independent.

    Raises
    ------
    InputError
        If one is out of range.
    """
    faults = [
        Fault(problem="out of range", field=field, value=value, allowed=allowed)
        for field, value, most, allowed in (
            ("seed", seed, 2**128, "a whole number from 0 to 2**128 - 1"),
            ("replication", replication, 2**32, "a whole number from 0 to 2**32 - 1"),
        )
        if not 0 <= value < most
    ]
    if faults:
        raise InputError(faults)
    return Streams(*(_generator(seed, replication, stream) for stream in range(len(Streams._fields))))


def _generator(seed: int, replication: int, stream: int) -> np.random.Generator:
    # PCG64 by name: default_rng may become another generator.
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(replication, stream))))
