"""One simulation in depth: where the time, the memory and the requests were."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from provisioner.domain.trace import Floats, Ints
from provisioner.sim.run import Simulation

MOST_INSTANTS = 600


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PoolDepth:
    """What the machines of one pool did, as shares of their time until the last request finished."""

    name: str
    instances: int
    """What is simulated as one machine: a part of one, where it runs several instances of the model."""
    prompt: float
    """Share of the time in iterations of prompts alone."""
    decode: float
    mixed: float
    on_loan: float
    """Share of the time on loan to the mixed pool."""
    kv_mean: float
    """Mean KV-cache held, as a share of what the machines can hold."""
    kv_peak: float
    """The same of the machine and moment that held most."""
    batch_share: Floats
    """(b,) float64: share of the busy time in batches of each size in requests, from 0."""

    @property
    def busy(self) -> float:
        """Share of the time in iterations of any kind."""
        return self.prompt + self.decode + self.mixed


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Depth:
    """A simulation in depth.

    `instants_s` (k,) float64 are times at which `waiting_prompt`, `in_prompt`, `waiting_decode` and
    `in_decode` (k,) int64 count the requests in the system; the four add up to all of them. A request
    waits for its decode from its first token on, also while its KV-cache is sent, and counts as decoding
    from its first decode batch to its end, preempted or not.
    """

    pools: tuple[PoolDepth, ...]
    transferred: float
    """Share of the finished requests whose KV-cache was sent."""
    transfer_mean_s: float
    """Mean time that a transfer shows; 0 where there was none."""
    transfer_share: float
    """Mean over finished requests of the part of E2E that is visible transfer."""
    recomputations: int
    """How often a KV-cache was dropped for want of memory, to be computed anew."""
    instants_s: Floats
    waiting_prompt: Ints
    in_prompt: Ints
    waiting_decode: Ints
    in_decode: Ints

    @classmethod
    def of(cls, simulation: Simulation, names: tuple[str, ...], kv_capacity: tuple[int, ...]) -> Depth:
        """Look into a simulation; `names` and `kv_capacity` (tokens of a machine) are of its pools."""
        pools = tuple(
            _pool(simulation, pool, name, capacity)
            for pool, (name, capacity) in enumerate(zip(names, kv_capacity, strict=True))
        )
        finished = np.isfinite(simulation.finish_s)
        sent_s = np.nan_to_num(simulation.transfer_s[finished])
        was_sent = ~np.isnan(simulation.transfer_s[finished])
        e2e_s = simulation.finish_s[finished] - simulation.trace.arrival_s[finished]
        instants_s = np.linspace(0.0, simulation.end_s, MOST_INSTANTS) if simulation.end_s > 0 else np.zeros(1)
        counts = [
            _by(times, instants_s)
            for times in (
                simulation.trace.arrival_s,
                simulation.prompt_start_s,
                simulation.first_token_s,
                # A request of one token ends with its prompt, without a decode.
                np.minimum(simulation.decode_start_s, simulation.finish_s),
                simulation.finish_s,
            )
        ]
        return cls(
            pools=pools,
            transferred=float(was_sent.mean()) if len(was_sent) else 0.0,
            transfer_mean_s=float(sent_s[was_sent].mean()) if was_sent.any() else 0.0,
            transfer_share=float((sent_s / e2e_s).mean()) if len(e2e_s) else 0.0,
            recomputations=int(simulation.recomputations.sum()),
            instants_s=instants_s,
            waiting_prompt=counts[0] - counts[1],
            in_prompt=counts[1] - counts[2],
            waiting_decode=counts[2] - counts[3],
            in_decode=counts[3] - counts[4],
        )


def _by(times_s: Floats, instants_s: Floats) -> Ints:
    """How many of the times are at or before each instant."""
    return np.searchsorted(np.sort(times_s), instants_s, side="right")


def _pool(simulation: Simulation, pool: int, name: str, kv_capacity: int) -> PoolDepth:
    rows = simulation.pool_rows(pool)
    time_s = simulation.end_s if simulation.end_s > 0 else 1.0
    batch_s = simulation.batch_time_s[pool]
    return PoolDepth(
        name=name,
        instances=simulation.pool_sizes[pool],
        prompt=float(simulation.prompt_busy_s[rows].mean() / time_s),
        decode=float(simulation.decode_busy_s[rows].mean() / time_s),
        mixed=float(simulation.mixed_busy_s[rows].mean() / time_s),
        on_loan=float(simulation.mixed_pool_s[rows].mean() / time_s),
        kv_mean=float(simulation.kv_token_s[rows].mean() / time_s / kv_capacity),
        kv_peak=float(simulation.peak_kv[rows].max() / kv_capacity),
        batch_share=batch_s / batch_s.sum() if batch_s.any() else batch_s,
    )


def request_rows(simulation: Simulation) -> list[dict[str, Any]]:
    """One row a request; times in seconds, None where a thing never happened."""
    trace = simulation.trace
    with np.errstate(invalid="ignore", divide="ignore"):
        decode_s = simulation.finish_s - simulation.first_token_s
        tbt_s = np.where(trace.output_tokens > 1, decode_s / (trace.output_tokens - 1), np.nan)
    columns: dict[str, Any] = {
        "request": np.arange(len(trace)),
        "arrival_s": trace.arrival_s,
        "prompt_tokens": trace.prompt_tokens,
        "output_tokens": trace.output_tokens,
        "ttft_s": simulation.first_token_s - trace.arrival_s,
        "tbt_s": tbt_s,
        "e2e_s": simulation.finish_s - trace.arrival_s,
        "queue_s": simulation.prompt_start_s - trace.arrival_s,
        "transfer_s": simulation.transfer_s,
        "prompt_machine": simulation.prompt_machine,
        "token_machine": simulation.token_machine,
        "restarts": simulation.restarts,
        "recomputations": simulation.recomputations,
    }
    lists = [_listed(column) for column in columns.values()]
    return [dict(zip(columns, row, strict=True)) for row in zip(*lists, strict=True)]


def _listed(column: Any) -> list[Any]:
    if column.dtype.kind == "f":
        return [round(value, 9) if np.isfinite(value) else None for value in column.tolist()]
    return list(column.tolist())
