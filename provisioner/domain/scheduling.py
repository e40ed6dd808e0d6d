"""How requests are routed, batched and moved: the limits of Splitwise, sections IV-A to IV-C.

The defaults are the paper's rules. The fields from `max_batch_prompts` on are what serving engines have beyond
them. Those from `first_token_in_prompt_kv` on exist so that the paper's own simulator, which departs from
its text, can be reproduced exactly (preset `splitwisesim`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from provisioner.domain.value import Value

if TYPE_CHECKING:
    from provisioner.domain.trace import Ints


class Scheduling(Value):
    """Limits of the cluster scheduler, the machine scheduler and the KV-cache transfer."""

    max_batch_requests: int = Field(default=512, ge=1, le=100_000)
    max_batch_tokens: int = Field(default=2048, ge=1, le=10_000_000)
    """Tokens of one iteration: a prompt counts all of its tokens, a decode one."""
    max_passed_over: int = Field(default=4, ge=1, le=1_000_000)
    """A request left waiting by this many batch choices goes first."""
    max_pending_tokens: int = Field(default=8192, ge=0, le=1_000_000_000)
    """A prompt machine with a queue takes no prompt that would raise its pending tokens beyond this."""
    layerwise_from_tokens: int = Field(default=512, ge=0, le=1_000_000_000)
    """Prompts from this length on are transferred layer by layer, overlapped with their own prefill."""

    max_batch_prompts: int = Field(default=100_000, ge=1, le=100_000)
    """Prompts in one iteration."""
    max_batch_decodes: int = Field(default=100_000, ge=1, le=100_000)
    """Decodes in one iteration."""
    cached_prompt_share: float = Field(default=0.0, ge=0.0, le=1.0)
    """Share of every prompt that a prefix cache has: it is not computed, but at least one token is."""
    max_requests_per_machine: int = Field(default=0, ge=0, le=1_000_000)
    """A request is turned away while the cluster has so many inside for each machine in service; 0 admits all."""
    chunked_prefill: bool = False
    """Decodes go first, and prompts fill what `max_batch_tokens` leaves of an iteration, in pieces; no request ages.
    Only where every machine is mixed."""

    kv_on_demand: bool = False
    """A decode takes KV-cache token by token, not all that it will need at once; what no longer fits is dropped, of the
    requests that arrived last first, and computed anew."""

    first_token_in_prompt_kv: bool = False
    """The first token's KV is held with the prompt's instead of with the output's."""
    strict_room: bool = False
    """A token machine must have room to spare: a request that fills it exactly is sent elsewhere."""
    long_prompts_wait: bool = False
    """A prompt that does not fit the token limit lets a run of decodes go on to its end."""
    transfer_retry_s: float = Field(default=0.0, ge=0.0, le=3600.0)
    """A transfer that finds no room is tried again after this time; 0 queues it at its destination."""

    def prefill_tokens(self, prompt_tokens: Ints) -> Ints:
        """(n,) int64: tokens of each prompt that have to be computed."""
        if self.cached_prompt_share == 0.0:
            return prompt_tokens
        cached = (self.cached_prompt_share * prompt_tokens).astype("i8")
        computed: Ints = (prompt_tokens - cached).clip(min=1)
        return computed
