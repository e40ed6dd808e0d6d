"""A language model: how much memory its weights and its KV-cache take."""

from __future__ import annotations

from pydantic import Field

from provisioner.domain.machine import Machine
from provisioner.domain.value import Value


class Model(Value):
    """A decoder-only transformer.

    With grouped-query attention `kv_heads` is smaller than the number of query heads, and the
    KV-cache shrinks with it: Llama2-70B keeps 8 heads of 64.
    """

    name: str = Field(min_length=1, max_length=80)
    layers: int = Field(ge=1, le=100_000)
    hidden: int = Field(ge=1, le=10_000_000)
    kv_heads: int = Field(ge=1, le=1_000_000)
    head_dim: int = Field(ge=1, le=1_000_000)
    bytes_per_element: int = Field(default=2, ge=1, le=8)
    weights_bytes: int = Field(gt=0, le=2**60)

    @property
    def kv_bytes_per_token(self) -> int:
        """K and V, for every layer and KV head."""
        return 2 * self.layers * self.kv_heads * self.head_dim * self.bytes_per_element

    def kv_capacity_tokens(self, machine: Machine) -> float:
        """Tokens of KV-cache that fit beside the weights; negative where the weights do not fit."""
        return (machine.hbm_bytes * machine.usable_memory_fraction - self.weights_bytes) / self.kv_bytes_per_token
