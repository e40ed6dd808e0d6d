"""The state as one block of memory, whose address is all that compiled code is given.

The block has a word of eight bytes for each number of a named tuple, and for each array its address and its shape, in
the order of the fields. Compiled code takes it for what the first such tuple was, so every later one is checked
against that.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

WORD_BYTES = 8


def leaves(value: Any) -> Iterator[Any]:
    """The numbers and arrays of a named tuple and of those in it, in order."""
    if isinstance(value, tuple):
        for field in value:
            yield from leaves(field)
    else:
        yield value


class Packing:
    """How named tuples like an example are packed."""

    def __init__(self, example: tuple[Any, ...]) -> None:
        self._dtypes = [leaf.dtype if isinstance(leaf, np.ndarray) else None for leaf in leaves(example)]
        self._struct = struct.Struct("=" + "".join(_format(leaf) for leaf in leaves(example)))

    def pack(self, value: tuple[Any, ...]) -> bytes:
        """The block: it holds addresses of the arrays, which must outlive it.

        Raises
        ------
        TypeError
            If an array has another dtype than the example's, or gaps.
        struct.error
            If a number is of another type, or there are more or fewer.
        """
        words: list[Any] = []
        for leaf, dtype in zip(leaves(value), self._dtypes, strict=True):
            if dtype is None:
                words.append(leaf)
            else:
                _check(leaf, dtype)
                words.append(leaf.ctypes.data)
                words.extend(leaf.shape)
        return self._struct.pack(*words)


def _format(leaf: Any) -> str:
    if isinstance(leaf, np.ndarray):
        return "q" * (1 + leaf.ndim)
    return "d" if isinstance(leaf, float) else "q"


def _check(array: NDArray[Any], dtype: np.dtype[Any]) -> None:
    if array.dtype != dtype or not array.flags.c_contiguous:
        raise TypeError(f"compiled code takes arrays of {dtype} without gaps, not of {array.dtype}")
