"""What a profile's points do not tell: cells that contradict each other, and ranges hardly measured."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from provisioner.perf.fit import CONTEXT_SPREAD, plausible, pooled
from provisioner.perf.points import Points

Floats = NDArray[np.float64]

FALL = 0.03
"""More work that takes this much less time is more than noise."""
FEWEST_KNOTS = 3
WIDEST_GAP = 8.0
"""Neighbouring knots further apart than this factor leave what lies between to guesswork."""
MAX_SHOWN = 5


def remarks(points: Points) -> tuple[str, ...]:
    """Say what is wrong with the coverage of a profile's points, a sentence each; nothing for sound ones."""
    kept = plausible(points)
    runs = pooled(points.at(kept))
    prefill, decode = runs.at(~np.isnan(runs.prefill_s)), runs.at(~np.isnan(runs.decode_s))
    found = [
        *_phase("prefill", "prompt tokens", prefill.total_tokens, prefill.prefill_s),
        *_thin("decode", "batch", decode.batch),
        *_falls_of_decode(decode),
        *_context(decode),
    ]
    if not kept.all():
        found.append(f"{np.count_nonzero(~kept)} rows cannot have run as one batch and are left out")
    return tuple(found)


def _phase(phase: str, unit: str, size: Floats, seconds: Floats) -> Iterator[str]:
    yield from _thin(phase, unit, size)
    sizes = np.unique(size)
    typical = np.array([np.median(seconds[size == each]) for each in sizes])
    yield from _worded(phase, _falls(sizes, typical, unit))


def _thin(phase: str, unit: str, size: Floats) -> Iterator[str]:
    knots = np.unique(size)
    if not len(knots):
        yield f"{phase} was not measured"
    elif len(knots) == 1:
        yield f"{phase} was measured at {knots[0]:g} {unit} only: it is taken to last as long at any other"
    elif len(knots) < FEWEST_KNOTS:
        yield f"{phase} was measured at {len(knots)} {unit} only ({_listed(knots)}): the rest is extrapolated"
    else:
        for low, high in pairwise(knots):
            if high > WIDEST_GAP * low and low >= WIDEST_GAP:
                yield f"{phase} has nothing between {low:g} and {high:g} {unit}"


def _falls_of_decode(decode: Points) -> Iterator[str]:
    """More requests of the same length, or longer ones in the same batch, must not be faster."""
    falls: list[str] = []
    for prompt in np.unique(decode.prompt_tokens):
        rows = decode.at(decode.prompt_tokens == prompt)
        falls += _falls_along(rows.batch, rows, f"batch at prompts of {prompt:g}")
    for batch in np.unique(decode.batch):
        rows = decode.at(decode.batch == batch)
        falls += _falls_along(rows.prompt_tokens, rows, f"prompt tokens at batch {batch:g}")
    yield from _worded("decode", falls)


def _falls_along(size: Floats, rows: Points, unit: str) -> list[str]:
    sizes = np.unique(size)
    return _falls(sizes, np.array([np.median(rows.decode_s[size == each]) for each in sizes]), unit)


def _falls(sizes: Floats, seconds: Floats, unit: str) -> list[str]:
    return [
        f"from {sizes[i]:g} to {sizes[i + 1]:g} {unit} by {1 - seconds[i + 1] / seconds[i]:.0%}"
        for i in np.flatnonzero(seconds[1:] < (1 - FALL) * seconds[:-1])
    ]


def _worded(phase: str, falls: list[str]) -> Iterator[str]:
    if falls:
        more = f", and {len(falls) - MAX_SHOWN} more" if len(falls) > MAX_SHOWN else ""
        yield f"{phase} is not monotone: it falls {'; '.join(falls[:MAX_SHOWN])}{more}"


def _context(decode: Points) -> Iterator[str]:
    if not len(decode):
        return
    contexts = (decode.context_tokens[decode.batch == batch] for batch in np.unique(decode.batch))
    if not any(c.max() >= CONTEXT_SPREAD * c.min() for c in contexts):
        yield "no batch was measured at clearly different contexts: what a token of context costs is taken as 0"


def _listed(values: Floats) -> str:
    return ", ".join(f"{value:g}" for value in values)
