"""The base of every frozen value: checked when made, never changed, unknown fields refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import partial
from typing import Any

from pydantic import BaseModel, ConfigDict


class Value(BaseModel):
    """A frozen value. Construction raises `pydantic.ValidationError`, which `catalog` turns into faults."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


def remade(value: Any) -> tuple[Callable[[], Any], tuple[()]]:
    """What `__reduce__` returns for a dataclass that is sent without its locks, and what it has worked out so far."""
    kind: Callable[..., Any] = type(value)
    return partial(kind, **{each.name: getattr(value, each.name) for each in fields(value) if each.init}), ()
