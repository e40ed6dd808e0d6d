"""What a cluster could do at best, whatever its schedulers decide: bounds on work, sound by construction.

Every iteration of the model costs at least the sum of what its tokens cost at their cheapest:

- an iteration over x tokens of prompts, or of prompts and decodes, takes at least ``prefill(x)`` (times the mixed
  factor, should that be below 1), that is ``prefill(x) / x`` for each of its tokens; what a prefix cache has is none.
  A prompt of p tokens is only in iterations with x >= p, and x exceeds the token limit only if the prompt does, which
  then runs alone; in pieces, it is in any iterations within the limit;
- an iteration over b decodes takes ``f(b) + gamma c``, that is ``f(b) / b`` plus gamma times its own context
  for each of them; one that shares an iteration with prompts takes at least ``mixed_factor prefill(x) / x``;
- a token that is given by computing an evicted request anew takes at least two tokens of a prompt.

A machine has one second of work to give per second. Machines change roles, so only the work of the whole
cluster counts, spread over the machine types as favourably as possible: a fractional knapsack.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from provisioner.domain.design import Design
from provisioner.domain.scheduling import Scheduling
from provisioner.domain.trace import Floats, RequestTrace
from provisioner.perf.model import PerformanceModel


def _cheapest_token_s(model: PerformanceModel, least: Floats, most: Floats) -> Floats:
    """Least of prefill(x) / x for x in [least, most], elementwise.

    Between knots prefill is linear, so prefill(x) / x is monotone there: its least value lies at a knot
    or at an end of the range.
    """
    knots = model.prefill_tokens
    best: Floats = np.minimum(model.prefill_s(least) / least, model.prefill_s(most) / most)
    for knot, rate in zip(knots, model.prefill_s(knots) / knots, strict=True):
        inside = (least <= knot) & (knot <= most)
        best = np.where(inside, np.minimum(best, rate), best)
    return np.asarray(np.maximum(best, 0.0))


def least_prefill_s(model: PerformanceModel, prefill_tokens: Floats, scheduling: Scheduling) -> Floats:
    """(n,) float64: seconds of the fastest iteration in which so much of a prompt can be: alone, or in a batch.

    Where a profile is not monotone, more tokens may take less time. Linear pieces are least at an end. A prompt in
    pieces is in one iteration at least, and in so many that its tokens cost what they cost at their cheapest.
    """
    least, most = _iteration_tokens(prefill_tokens, scheduling)
    best: Floats = np.minimum(model.prefill_s(least), model.prefill_s(most))
    for knot, seconds in zip(model.prefill_tokens, model.prefill_seconds, strict=True):
        inside = (least <= knot) & (knot <= most)
        best = np.where(inside, np.minimum(best, seconds), best)
    once_s: Floats = np.maximum(best * min(1.0, model.mixed_factor), 0.0)
    if not scheduling.chunked_prefill:
        return once_s
    return np.maximum(once_s, prompt_work_s(model, prefill_tokens, scheduling))


def _iteration_tokens(prefill_tokens: Floats, scheduling: Scheduling) -> tuple[Floats, Floats]:
    """(n,) float64 each: the fewest and the most tokens of an iteration in which some of each prompt is computed."""
    if scheduling.chunked_prefill:
        most = np.full_like(prefill_tokens, float(scheduling.max_batch_tokens))
        return np.ones_like(prefill_tokens), most
    return prefill_tokens, np.maximum(prefill_tokens, scheduling.max_batch_tokens)


def least_decode_s(model: PerformanceModel, prompt_tokens: Floats, scheduling: Scheduling) -> Floats:
    """(n,) float64: seconds of the fastest iteration in which a request with such a prompt gets a token.

    Alone, or beside the shortest of prompts, or by being computed anew, whichever the model makes fastest; a batch is
    never faster.
    """
    batches = np.concatenate([[1.0], model.decode_batch])
    alone_s = float(model.decode_s(batches, np.zeros_like(batches)).min())
    tokens = np.concatenate([[2.0], model.prefill_tokens])
    mixed_s = _token_factor(model, scheduling) * float(model.prefill_s(tokens).min())
    return np.minimum(alone_s + model.gamma_s_per_token * (prompt_tokens + 1), mixed_s)


def _token_factor(model: PerformanceModel, scheduling: Scheduling) -> float:
    """What a token of an output takes of the time of a prompt's at the least, in an iteration that has prompts."""
    return min(1.0, model.mixed_factor) if scheduling.kv_on_demand else model.mixed_factor


def least_times_s(
    models: Sequence[PerformanceModel], trace: RequestTrace, scheduling: Scheduling
) -> tuple[Floats, Floats]:
    """(n,) float64 each: the least seconds to each request's first token, and from there to its last.

    What it takes alone on the fastest of the machines, without transfer.
    """
    prompt = trace.prompt_tokens.astype(np.float64)
    computed = scheduling.prefill_tokens(trace.prompt_tokens).astype(np.float64)
    prefill_s = np.min([least_prefill_s(model, computed, scheduling) for model in models], axis=0)
    step_s = np.min([least_decode_s(model, prompt, scheduling) for model in models], axis=0)
    return prefill_s, step_s * (trace.output_tokens - 1.0)


def prompt_work_s(model: PerformanceModel, prefill_tokens: Floats, scheduling: Scheduling) -> Floats:
    """(n,) float64: machine-seconds that so many tokens of each prompt cost at least."""
    least, most = _iteration_tokens(prefill_tokens, scheduling)
    return prefill_tokens * _cheapest_token_s(model, least, most) * min(1.0, model.mixed_factor)


def decode_work_s(model: PerformanceModel, trace: RequestTrace, scheduling: Scheduling) -> Floats:
    """(n,) float64: machine-seconds that each request's decodes cost at least."""
    most = min(scheduling.max_batch_requests, scheduling.max_batch_tokens, scheduling.max_batch_decodes)
    batches = np.arange(1, most + 1, dtype=np.float64)
    alone_s = float((model.decode_s(batches, np.zeros_like(batches)) / batches).min())
    mixed_s = math.inf
    longest = float(scheduling.max_batch_tokens)
    if scheduling.kv_on_demand:
        longest = max(longest, float((trace.prompt_tokens + trace.output_tokens).max(initial=2)))
    if longest > 1 and (scheduling.max_batch_requests > 1 or scheduling.kv_on_demand):
        cheapest_s = float(_cheapest_token_s(model, np.array([2.0]), np.array([longest]))[0])
        mixed_s = _token_factor(model, scheduling) * cheapest_s
    context = trace.prompt_tokens + 1
    token_s = np.minimum(alone_s + model.gamma_s_per_token * context, mixed_s)
    return np.asarray((trace.output_tokens - 1) * np.maximum(token_s, 0.0))


_NEAR_FULL = 1e-6
"""So near to 1, a load may be on either side of it, as it is rounded."""


@dataclass(frozen=True, slots=True, eq=False)
class WorkBound:
    """Whether so many machines could do the work of a trace within its span.

    Work items (a prompt, or a request's decodes) are sorted by how much cheaper they are on the first
    pool's machines; `first_s` and `saved_s` are cumulative: filling the first pool with the first k items
    takes `first_s[k]` there and leaves `total_s - saved_s[k]` for the second pool.
    """

    span_s: float
    first_s: Floats
    saved_s: Floats
    total_s: float

    @classmethod
    def of(
        cls, design: Design, performance: Mapping[str, PerformanceModel], trace: RequestTrace, span_s: float
    ) -> Self:
        """The bound for a design and a trace that arrives within `span_s` seconds."""
        prompts = design.scheduling.prefill_tokens(trace.prompt_tokens).astype(np.float64)
        costs = [
            np.concatenate(
                [
                    prompt_work_s(performance[machine.name], prompts, design.scheduling),
                    decode_work_s(performance[machine.name], trace, design.scheduling),
                ]
            )
            for machine in design.machines
        ]
        first, second = costs[0], costs[-1]
        with np.errstate(divide="ignore", invalid="ignore"):
            advantage = np.where(first > 0, second / first, np.inf)
        order = np.argsort(-advantage, kind="stable")
        return cls(
            span_s=span_s,
            first_s=np.concatenate([[0.0], np.cumsum(first[order])]),
            saved_s=np.concatenate([[0.0], np.cumsum(second[order])]),
            total_s=float(second.sum()),
        )

    def keeps_up(self, first: Floats, second: Floats) -> NDArray[np.bool_]:
        """Whether clusters of `first` + `second` machines could do the work within the span.

        Arrays of one shape; they need not be whole numbers. A design of mixed machines has zeros for
        `second`.
        """
        saved = np.interp(first * self.span_s, self.first_s, self.saved_s)
        left_s = np.maximum(self.total_s - saved, 0.0)
        # Rounding of the sums must not exclude a cluster that just fits.
        return np.asarray(left_s <= second * self.span_s + 1e-9 * self.total_s)

    def load(self, first: float, second: float) -> float:
        """The least share of its time that a cluster of so many machines must work; above 1 it cannot keep up."""
        if self.total_s <= 0:
            return 0.0
        first_span_s, second_span_s = first * self.span_s, second * self.span_s

        def share(item: int) -> float:
            """Of its time that the first pool needs for the items up to this one."""
            return self.first_s.item(item) / first_span_s

        def left_s(item: int) -> float:
            """What the second pool cannot do of the others in that share of its time: less from item to item."""
            return self.total_s - self.saved_s.item(item) - second_span_s * share(item)

        last = len(self.first_s) - 1
        item = max(1, bisect_left(range(last), True, key=lambda item: left_s(item) <= 0))
        part = left_s(item - 1) / max(left_s(item - 1) - left_s(item), math.ulp(0.0))
        load = share(item - 1) + part * (share(item) - share(item - 1))
        if load < 1.0 - _NEAR_FULL:
            return load
        return (
            min(load, 1.0) if self.keeps_up(np.array(first), np.array(second)) else max(load, math.nextafter(1.0, 2.0))
        )
