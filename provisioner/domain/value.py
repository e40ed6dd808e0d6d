"""The base of every frozen value: checked when made, never changed, unknown fields refused."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Value(BaseModel):
    """A frozen value. Construction raises `pydantic.ValidationError`, which `catalog` turns into faults."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, allow_inf_nan=False, use_attribute_docstrings=True
    )
