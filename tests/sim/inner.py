"""The kernel's inner functions, for tests that call them one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba


def from_python(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap an inner function, which only compiled code can call."""
    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        return function

    @numba.njit(error_model="numpy")
    def call(*arguments: Any) -> Any:
        return function(*arguments)

    return call
