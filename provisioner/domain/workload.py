"""A workload: where lengths and arrivals come from."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from provisioner.domain.value import Value


class Workload(Value):
    """A named workload of the catalog: a joint table of (prompt, output) lengths, and an arrival process."""

    name: str = Field(min_length=1, max_length=80)
    sizes: str = Field(min_length=1, max_length=255)
    """File of the joint size table beside the YAML: `prompt_tokens,output_tokens,count`."""
    arrivals: Literal["poisson"] = "poisson"
    source: str = Field(default="", max_length=2000)
    """Where the lengths come from, with licence."""
