"""A preset: defaults of options, and overrides, under one name."""

from __future__ import annotations

from pydantic import Field

from provisioner.domain.value import Value


class Preset(Value):
    """A named way to run: what `--profile` and `--slo` default to, and what is set before any `--set`."""

    name: str = Field(min_length=1, max_length=80)
    profile: str | None = None
    slo: str | None = None
    set: dict[str, object] = Field(default={})
    """Override path to value, as `machines.*.usable_memory_fraction: 1.0`."""
