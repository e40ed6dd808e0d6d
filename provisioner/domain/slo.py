"""Service-level objectives: percentiles of latency as hard limits (Splitwise, Table VI), and goodput.

Times are measured in one of three units: `slowdown`, relative to the same request alone on the
reference machine; `s`, seconds; `s_per_token`, seconds for each of the request's own tokens: TTFT over
its prompt, E2E over its output (the "normalised latency" of Orca and vLLM); TBT is per token already.
"""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from provisioner.domain.value import Value

Metric = Literal["ttft", "tbt", "e2e"]
Unit = Literal["slowdown", "s", "s_per_token"]


class Bound(Value):
    """What a single request must meet: its `metric` stays at or under `limit`."""

    metric: Metric
    limit: float = Field(gt=0.0, le=1e9)
    unit: Unit = "slowdown"


class Limit(Value):
    """One objective: the `percentile` of `metric` stays at or under `limit`."""

    metric: Metric
    percentile: float = Field(gt=0.0, lt=100.0)
    limit: float = Field(gt=0.0, le=1e9)
    unit: Unit = "slowdown"
    """`slowdown` divides by the same request's time alone on the reference machine; `s` is seconds; `s_per_token`
    divides seconds by the request's tokens."""

    @property
    def name(self) -> str:
        """`ttft_p99`, as in CSV headers."""
        return f"{self.metric}_p{self.percentile:g}"


class Goodput(Value):
    """One objective: at least this `share` of the requests meet all `limits` jointly.

    It is judged as every objective is, by what must stay at or under a limit: the share that misses.
    A request of one output token has no TBT, and meets a bound on it.
    """

    share: float = Field(gt=0.0, lt=1.0)
    limits: tuple[Bound, ...] = Field(min_length=1, max_length=100)

    @property
    def metric(self) -> Literal["goodput"]:
        """What is limited."""
        return "goodput"

    @property
    def percentile(self) -> float:
        """The share that must meet, in percent."""
        return round(100 * self.share, 10)

    @property
    def limit(self) -> float:
        """Largest share of requests that may miss."""
        return round(1 - self.share, 12)

    @property
    def unit(self) -> Literal["missed"]:
        """The share that misses."""
        return "missed"

    @property
    def name(self) -> str:
        """`goodput_p99`: what 99 % of the requests must meet."""
        return f"{self.metric}_p{self.percentile:g}"


Objective = Limit | Goodput


class SloSet(Value):
    """Objectives that must all hold."""

    name: str = Field(min_length=1, max_length=80)
    reference_machine: str = "dgx-a100"
    reference_tensor_parallel: int = Field(default=8, ge=1, le=1024)
    limits: tuple[Limit, ...] = Field(default=(), min_length=1, max_length=100)
    goodput: Goodput | None = None
    tbt_counts_first_token: bool = False
    """Divide by `output_tokens` instead of `output_tokens - 1` (the paper's simulator)."""
    tbt_reference: Literal["mid_context", "prompt_as_batch"] = "mid_context"
    """The uncontended TBT: one request at half of its output, or, as the paper's simulator has it,
    the decode time asked with the prompt's tokens as the batch."""

    @model_validator(mode="after")
    def _limits_are_distinct(self) -> Self:
        if not self.objectives:
            raise ValueError("gives neither limits nor a goodput")
        given = [(limit.name, limit.unit) for limit in self.limits]
        twice = next((each for each in given if given.count(each) > 1), None)
        if twice is not None:
            raise ValueError(f"limits {twice[0]} in {twice[1]} twice")
        return self

    @property
    def objectives(self) -> tuple[Objective, ...]:
        """Everything that must hold: the limits, then the goodput."""
        return self.limits if self.goodput is None else (*self.limits, self.goodput)

    @property
    def units(self) -> frozenset[Unit]:
        """Every unit that a time is limited in."""
        bounds: tuple[Bound, ...] = () if self.goodput is None else self.goodput.limits
        return frozenset([limit.unit for limit in self.limits] + [bound.unit for bound in bounds])

    @property
    def needs_reference(self) -> bool:
        """Whether anything is relative to the reference machine."""
        return "slowdown" in self.units
