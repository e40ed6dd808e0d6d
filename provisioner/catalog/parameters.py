"""How many parameters a transformer has, by what they do; counted from its Hugging Face configuration.

Each family is a sum over its layers. With h the hidden size, H and K the query and KV heads, d the head dimension and
i the size of the MLP:

    attention   h H d + 2 h K d + H d h  (+ biases, + norms of q and k)
    MLA         h r_q + r_q H (n + p) + h (r + p) + r H (n + v) + H v h    low ranks r_q and r, dims n, p (RoPE), v
    MLP         3 h i, gated; 2 h i in BLOOM
    experts     3 h i for each, and h for each in the router

Tested against the parameter counts that the models' authors publish.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

Number = Callable[..., int]
"""Reads a whole number of the configuration by its names: `number("num_hidden_layers", "n_layer")`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """Counts of a whole model."""

    linear: int
    """Matrices of attention and of dense MLPs (shared experts too): what quantisation shrinks."""
    routed: int = 0
    """Routed experts."""
    embedding: int
    head: int
    """The output matrix; 0 where it is the embedding."""
    other: int
    """Norms, biases, routers."""
    experts: int = 1
    experts_per_token: int = 1

    @property
    def total(self) -> int:
        """All of them."""
        return self.linear + self.routed + self.embedding + self.head + self.other

    @property
    def active(self) -> int:
        """What is multiplied with a token: without the input embedding, and with its own experts only."""
        chosen = self.routed * self.experts_per_token // self.experts
        return self.linear + chosen + (self.head or self.embedding) + self.other


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """What tells one family of dense and mixture models from another."""

    qkv_bias: bool = False
    qk_norm: bool = False
    attention_bias: bool = False
    mlp_bias: bool = False
    sinks: bool = False
    expert_bias: bool = False


def grouped(number: Number, traits: Traits, *, tied: bool) -> Parameters:
    """Llama and its kin, dense or with experts: grouped-query attention and gated MLPs."""
    h, layers = number("hidden_size"), number("num_hidden_layers")
    heads = number("num_attention_heads")
    kv_heads = number("num_key_value_heads", default=heads)
    d = number("head_dim", default=h // heads)
    attention = 2 * h * heads * d + 2 * h * kv_heads * d
    extra = 2 * h + (2 * d if traits.qk_norm else 0) + (heads if traits.sinks else 0)
    if traits.qkv_bias or traits.attention_bias:
        extra += (heads + 2 * kv_heads) * d + (h if traits.attention_bias else 0)
    mlp, routed, mlp_extra = _mlp(number, traits, h, layers)
    embedding = number("vocab_size") * h
    return Parameters(
        linear=layers * attention + mlp,
        routed=routed,
        embedding=embedding,
        head=0 if tied else embedding,
        other=layers * extra + mlp_extra + h,
        experts=_experts(number),
        experts_per_token=number("num_experts_per_tok", "experts_per_token", default=1),
    )


def latent(number: Number, *, tied: bool, router_bias: bool) -> Parameters:
    """DeepSeek-V2 and -V3 and their kin: multi-head latent attention, and experts after some dense layers."""
    h, layers, heads = number("hidden_size"), number("num_hidden_layers"), number("num_attention_heads")
    rank, q_rank = number("kv_lora_rank"), number("q_lora_rank", default=0)
    plain, rotary, value = number("qk_nope_head_dim"), number("qk_rope_head_dim"), number("v_head_dim")
    query = h * q_rank + q_rank * heads * (plain + rotary) if q_rank else h * heads * (plain + rotary)
    attention = query + h * (rank + rotary) + rank * heads * (plain + value) + heads * value * h
    mlp, routed, mlp_extra = _mlp(number, Traits(), h, layers)
    sparse = layers - number("first_k_dense_replace", default=0)
    embedding = number("vocab_size") * h
    return Parameters(
        linear=layers * attention + mlp,
        routed=routed,
        embedding=embedding,
        head=0 if tied else embedding,
        other=layers * (2 * h + rank + q_rank) + mlp_extra + h + (sparse * _experts(number) if router_bias else 0),
        experts=_experts(number),
        experts_per_token=number("num_experts_per_tok", default=1),
    )


def bloom(number: Number) -> Parameters:
    """BLOOM: multi-head attention and a plain MLP of four times the width, biases everywhere, the embedding tied."""
    h, layers = number("hidden_size", "n_embed"), number("n_layer", "num_hidden_layers")
    return Parameters(
        linear=layers * 12 * h * h,
        embedding=number("vocab_size") * h,
        head=0,
        other=layers * (9 * h + 4 * h) + 4 * h,  # biases of 3, 1, 4 and 1 h; four vectors of two norms; two norms more
    )


def _mlp(number: Number, traits: Traits, h: int, layers: int) -> tuple[int, int, int]:
    """Parameters of dense MLPs and shared experts, of routed experts, and of routers and biases, over all layers."""
    size = number("intermediate_size", default=0)
    experts = _experts(number)
    if experts == 1:
        biases = 2 * size + h if traits.mlp_bias else 0
        return layers * 3 * h * size, 0, layers * biases
    dense = number("first_k_dense_replace", default=0)
    own = number("moe_intermediate_size", default=size)
    together = number("n_shared_experts", default=0) * own + number("shared_expert_intermediate_size", default=0)
    sparse = layers - dense
    gate = h if number("shared_expert_intermediate_size", default=0) else 0
    biases = experts * (2 * own + h) + experts if traits.expert_bias else 0
    linear = dense * 3 * h * size + sparse * 3 * h * together
    return linear, sparse * experts * 3 * h * own, sparse * (experts * h + gate + biases)


def _experts(number: Number) -> int:
    return number("num_local_experts", "num_experts", "n_routed_experts", default=1)
