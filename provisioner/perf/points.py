"""Measured points: what a profiler saw of one model on one machine type."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Key = tuple[str, str, int]
"""(model, machine, tensor parallelism)"""

Origin = Literal["measured", "modelled", "estimated"]
"""Where times come from: a machine, another tool's model of it, or a roofline."""
ORIGINS: tuple[Origin, ...] = get_args(Origin)

COLUMNS = ("prompt_tokens", "batch", "output_tokens", "prefill_s", "decode_s")
MAX_COUNT = 1e9
MIN_SECONDS = 1e-9
MAX_SECONDS = 1e6


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Points:
    """Runs of one profile: run *i* is row *i*; repeats of a run are rows of their own.

    Parameters
    ----------
    model, machine : str
        Names in the catalog.
    tensor_parallel : int
        GPUs that share the model.
    prompt_tokens, batch, output_tokens : (n,) float64
        Prompt length of each request, requests in the batch, and tokens that each *generated*, which
        may be fewer than were asked for. From 1 (outputs from 0) to 1e9.
    prefill_s, decode_s : (n,) float64
        Seconds of the prompt phase, and of one token-phase iteration on average over the run, from
        1e-9 to 1e6; NaN where not measured.
    origin : {"measured", "modelled", "estimated"}
        Where the times come from.

    Raises
    ------
    ValueError
        If the arrays differ in shape or hold something else.
    """

    model: str
    machine: str
    tensor_parallel: int
    prompt_tokens: Floats
    batch: Floats
    output_tokens: Floats
    prefill_s: Floats
    decode_s: Floats
    origin: Origin = "measured"

    def __post_init__(self) -> None:
        arrays: list[Floats] = [getattr(self, column) for column in COLUMNS]
        if len({array.shape for array in arrays}) != 1 or arrays[0].ndim != 1:
            raise ValueError("the columns of a profile differ in length")
        lowest = (1, 1, 0)
        if not all(np.all((a >= low) & (a <= MAX_COUNT)) for a, low in zip(arrays[:3], lowest, strict=True)):
            raise ValueError("prompts and batches count from 1, outputs from 0, all to 1e9")
        if not all(np.all(np.isnan(a) | ((a >= MIN_SECONDS) & (a <= MAX_SECONDS))) for a in arrays[3:]):
            raise ValueError("measured times are from 1e-9 to 1e6 seconds")

    def __len__(self) -> int:
        return len(self.batch)

    @property
    def key(self) -> Key:
        """What the profile is of."""
        return self.model, self.machine, self.tensor_parallel

    @property
    def total_tokens(self) -> Floats:
        """Prompt tokens of the whole batch."""
        return self.prompt_tokens * self.batch

    @property
    def context_tokens(self) -> Floats:
        """Context of the whole batch, averaged over the run: prompts and half of the outputs."""
        return self.batch * (self.prompt_tokens + self.output_tokens / 2)

    def at(self, rows: NDArray[np.bool_] | NDArray[np.intp]) -> Points:
        """Select rows, by mask or by number."""
        return replace(self, **{column: getattr(self, column)[rows] for column in COLUMNS})


def label(key: Key) -> str:
    """Write a key as a file of knots does: `bloom-176b/dgx-h100/tp8`."""
    return f"{key[0]}/{key[1]}/tp{key[2]}"
