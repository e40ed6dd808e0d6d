"""The kernel's inner functions, for tests and benchmarks that call them one by one."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
from numba.core import types
from numba.np.numpy_support import as_dtype
from numpy.ctypeslib import as_ctypes_type

from provisioner.sim.block import Packing
from provisioner.sim.jit import object_code
from provisioner.sim.layout import kind_of
from provisioner.sim.native import IS_PLAIN, load, target

_AS = {int: ctypes.c_int64, float: ctypes.c_double, bool: ctypes.c_bool}


def from_python(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile an inner function for what it is called with, and call that."""
    if IS_PLAIN:
        return function

    @cache
    def compiled(*kinds: Any) -> tuple[Callable[..., int], Any]:
        address = load(object_code(function, kinds, "inner", target()), "inner")
        result = function.overloads[kinds].signature.return_type  # type: ignore[attr-defined]
        kind = None if result == types.none else as_ctypes_type(as_dtype(result))
        return ctypes.CFUNCTYPE(ctypes.c_int32)(address), kind

    def call(*arguments: Any) -> Any:
        plain = [each.item() if isinstance(each, np.generic) and not each.dtype.fields else each for each in arguments]
        native, kind = compiled(*(_kind_of(each) for each in plain))
        result = (kind or ctypes.c_void_p)()
        words = [word for each in plain for word in _words(each)]
        native(ctypes.byref(result), ctypes.byref(ctypes.c_void_p()), *words)
        return None if kind is None else result.value

    return call


_kinds: dict[object, Any] = {}


def _kind_of(argument: Any) -> Any:
    """Its type: one for all that are packed alike."""
    if isinstance(argument, tuple):
        key: object = (type(argument), *(getattr(leaf, "dtype", type(leaf)) for leaf in argument))
    else:
        key = (type(argument), getattr(argument, "dtype", None), getattr(argument, "ndim", None))
    return _kinds.setdefault(key, kind_of(argument, f"argument{len(_kinds)}"))


def _words(argument: Any) -> Iterator[Any]:
    """How it is handed over."""
    if isinstance(argument, tuple):
        yield ctypes.c_char_p(Packing(argument).pack(argument))
    elif isinstance(argument, np.ndarray):
        yield ctypes.c_void_p(argument.ctypes.data)
        yield from (ctypes.c_int64(length) for length in argument.shape)
    elif isinstance(argument, np.void):
        yield ctypes.c_void_p(np.frombuffer(argument, np.uint8).ctypes.data)
    else:
        yield _AS[type(argument)](argument)
