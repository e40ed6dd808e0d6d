"""A language model: how much memory its weights and its KV-cache take, and what a token costs to compute."""

from __future__ import annotations

from pydantic import Field

from provisioner.domain.machine import Machine
from provisioner.domain.value import Value


class Experts(Value):
    """The routed experts of a mixture: each token is computed by a few of them, and only those are read."""

    count: int = Field(ge=1, le=1_000_000)
    per_token: int = Field(ge=1, le=1_000_000)
    weights_bytes: int = Field(gt=0, le=2**60)
    """Of all routed experts, in all layers; part of the model's `weights_bytes`."""

    def read_bytes(self, tokens: float) -> float:
        """Bytes of the experts that so many tokens are routed to, if each chooses its own at random."""
        missed: float = (1.0 - self.per_token / self.count) ** tokens
        return self.weights_bytes * (1.0 - missed)


class Model(Value):
    """A decoder-only transformer.

    With grouped-query attention `kv_heads` is smaller than the number of query heads, and the
    KV-cache shrinks with it: Llama2-70B keeps 8 heads of 64. Multi-head latent attention keeps one
    compressed vector for all heads: `kv_elements`, with one KV head.
    """

    name: str = Field(min_length=1, max_length=80)
    layers: int = Field(ge=1, le=100_000)
    hidden: int = Field(ge=1, le=10_000_000)
    kv_heads: int = Field(ge=1, le=1_000_000)
    head_dim: int = Field(ge=1, le=1_000_000)
    bytes_per_element: int = Field(default=2, ge=1, le=8)
    """Of the KV-cache."""
    weights_bytes: int = Field(gt=0, le=2**60)
    kv_layers: int | None = Field(default=None, ge=1, le=100_000)
    """Layers whose KV-cache grows with the context, where not all do."""
    kv_elements: int | None = Field(default=None, ge=1, le=1_000_000_000)
    """Kept of a token in a layer, where it is not K and V of each head."""
    active_parameters: int | None = Field(default=None, ge=1, le=2**60)
    """Multiplied with each token: without the input embedding, and of experts only those that a token is routed to."""
    attention_flops: int | None = Field(default=None, ge=1, le=2**60)
    """Of one token against one token of context, in all layers."""
    experts: Experts | None = None

    @property
    def kv_bytes_per_token(self) -> int:
        """K and V for every layer and KV head, or the compressed vector of every layer."""
        elements = self.kv_elements or 2 * self.kv_heads * self.head_dim
        return (self.kv_layers or self.layers) * elements * self.bytes_per_element

    def kv_capacity_tokens(self, machine: Machine, tensor_parallel: int = 1) -> float:
        """Tokens of KV-cache that fit beside the weights; negative where the weights do not fit.

        GPUs share the KV heads out; beyond one GPU a head, they hold copies.
        """
        copies = max(1.0, tensor_parallel / self.kv_heads)
        room_bytes = machine.hbm_bytes * machine.usable_memory_fraction - self.weights_bytes
        return room_bytes / (self.kv_bytes_per_token * copies)

    def flops(self, tokens: float, pairs: float) -> float:
        """FLOPs of an iteration over so many tokens, which attend to `pairs` tokens of context in all."""
        active = self.active_parameters or self.weights_bytes // 2  # of two bytes each, unless told
        return 2.0 * active * tokens + (self.attention_flops or 4 * self.layers * self.hidden) * pairs

    def read_bytes(self, tokens: float) -> float:
        """Bytes of weights read in an iteration over so many tokens."""
        if self.experts is None:
            return float(self.weights_bytes)
        return self.weights_bytes - self.experts.weights_bytes + self.experts.read_bytes(tokens)
