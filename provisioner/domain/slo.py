"""Service-level objectives: percentiles of latency as hard limits (Splitwise, Table VI)."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from provisioner.domain.value import Value

Metric = Literal["ttft", "tbt", "e2e"]
Unit = Literal["slowdown", "s"]


class Limit(Value):
    """One objective: the `percentile` of `metric` stays at or under `limit`."""

    metric: Metric
    percentile: float = Field(gt=0.0, lt=100.0)
    limit: float = Field(gt=0.0, le=1e9)
    unit: Unit = "slowdown"
    """`slowdown` divides by the same request's time alone on the reference machine; `s` is seconds."""

    @property
    def name(self) -> str:
        """`ttft_p99`, as in CSV headers."""
        return f"{self.metric}_p{self.percentile:g}"


class SloSet(Value):
    """Objectives that must all hold."""

    name: str = Field(min_length=1, max_length=80)
    reference_machine: str = "dgx-a100"
    limits: tuple[Limit, ...] = Field(min_length=1, max_length=100)
    tbt_counts_first_token: bool = False
    """Divide by `output_tokens` instead of `output_tokens - 1` (the paper's simulator)."""
    tbt_reference: Literal["mid_context", "prompt_as_batch"] = "mid_context"
    """The uncontended TBT: one request at half of its output, or, as the paper's simulator has it,
    the decode time asked with the prompt's tokens as the batch."""

    @model_validator(mode="after")
    def _limits_are_distinct(self) -> Self:
        if len({(limit.name, limit.unit) for limit in self.limits}) < len(self.limits):
            raise ValueError("the same metric and percentile is limited twice")
        return self
