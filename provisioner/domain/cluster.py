"""A cluster: a design with counts."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from provisioner.domain.design import Design
from provisioner.domain.value import Value


class Cluster(Value):
    """So many prompt machines and token machines of a design; or instances, where those are its `unit`.

    A design of mixed machines has its count in `prompt_machines`, as the paper's `40P/T`.
    """

    design: Design
    prompt_machines: int = Field(ge=1, le=100_000)
    token_machines: int = Field(ge=0, le=100_000)

    @model_validator(mode="after")
    def _has_its_pools(self) -> Self:
        if self.design.is_mixed and self.token_machines:
            raise ValueError("a design of mixed machines has no token machines")
        if not self.design.is_mixed and not self.token_machines:
            raise ValueError("a split design needs at least one token machine")
        return self

    @property
    def counts(self) -> tuple[int, ...]:
        """Machines of each of the design's pools, in the order of `Design.machines`."""
        return (self.prompt_machines,) if self.design.is_mixed else (self.prompt_machines, self.token_machines)

    @property
    def machines(self) -> int:
        """Machines in all, or instances where those are the design's unit."""
        return self.prompt_machines + self.token_machines

    @property
    def gpus(self) -> int:
        """GPUs in all."""
        return sum(n * machine.gpus for n, machine in zip(self.counts, self.design.machines, strict=True))

    @property
    def cost_usd_per_h(self) -> float:
        """Cost of the whole cluster, rounded so that equal sums are equal."""
        total = sum(n * machine.cost_usd_per_h for n, machine in zip(self.counts, self.design.machines, strict=True))
        return round(total, 9)

    @property
    def power_kw(self) -> float:
        """Provisioned power of the whole cluster, rounded in the same way."""
        return round(sum(n * machine.power_kw for n, machine in zip(self.counts, self.design.machines, strict=True)), 9)

    @property
    def label(self) -> str:
        """The paper's shorthand: `27P+3T`, or `40P/T` for mixed machines."""
        if self.design.is_mixed:
            return f"{self.prompt_machines}P/T"
        return f"{self.prompt_machines}P+{self.token_machines}T"
