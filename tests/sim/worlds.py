"""Small worlds to simulate, in round numbers: the KV-cache of a token takes two bytes, the weights too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from provisioner.domain.design import Design
from provisioner.domain.machine import Machine
from provisioner.domain.model import Model
from provisioner.domain.scheduling import Scheduling
from provisioner.domain.trace import RequestTrace
from provisioner.perf.model import PerformanceModel
from provisioner.sim import Network
from provisioner.sim.native import run_events
from provisioner.sim.state import World, make_world

KV_BYTES = 2
MODEL = Model(
    name="tiny", layers=1, hidden=1, kv_heads=8, head_dim=1, kv_elements=2, bytes_per_element=1, weights_bytes=2
)
AMPLE = 10**12
"""More tokens of KV-cache than any test uses."""
INSTANT = 1e15
"""Tokens a second of an interconnect that takes no time."""

Knots = Sequence[tuple[float, float]]
PER_TOKEN_1_MS: Knots = ((1, 0.001), (1000, 1.0))
"""One millisecond for each prompt token."""
STEADY_100_MS: Knots = ((1, 0.1),)
"""A tenth of a second for each decode iteration, whatever the batch."""


def performance(
    prefill: Knots = PER_TOKEN_1_MS, decode: Knots = STEADY_100_MS, gamma: float = 0.0, mixed_factor: float = 1.5
) -> PerformanceModel:
    """A performance model through (tokens, seconds) and (requests, seconds)."""
    return PerformanceModel(
        model="tiny",
        machine="box",
        tensor_parallel=1,
        prefill_tokens=np.array([float(x) for x, _ in prefill]),
        prefill_seconds=np.array([float(y) for _, y in prefill]),
        decode_batch=np.array([float(x) for x, _ in decode]),
        decode_seconds=np.array([float(y) for _, y in decode]),
        gamma_s_per_token=gamma,
        mixed_factor=mixed_factor,
    )


def machine(
    name: str = "box", kv_tokens: int = AMPLE, tokens_per_s: float = INSTANT, residue_s: float = 0.0
) -> Machine:
    """A machine that holds `kv_tokens` of KV-cache beside the weights, and sends `tokens_per_s`."""
    return Machine(
        name=name,
        gpus=1,
        hbm_bytes=MODEL.weights_bytes + KV_BYTES * kv_tokens,
        usable_memory_fraction=1.0,
        interconnect_bytes_per_s=KV_BYTES * tokens_per_s,
        transfer_residue_s=residue_s,
        cost_usd_per_h=1.0,
        power_kw=1.0,
    )


def design(machines: Sequence[Machine], scheduling: Scheduling) -> Design:
    """A design of one mixed machine type, or of a prompt and a token machine."""
    if len(machines) == 1:
        return Design(name="test", short="test", mixed=machines[0], scheduling=scheduling)
    return Design(name="test", short="test", prompt=machines[0], token=machines[1], scheduling=scheduling)


def mixed(model: PerformanceModel | None = None, kv_tokens: int = AMPLE, **scheduling: Any) -> Network:
    """Machines that run both phases."""
    box = machine(kv_tokens=kv_tokens)
    return Network.of(design([box], Scheduling(**scheduling)), MODEL, {"box": model or performance()})


def split(
    model: PerformanceModel | None = None,
    token_model: PerformanceModel | None = None,
    *,
    kv_tokens: int = AMPLE,
    token_kv_tokens: int | None = None,
    tokens_per_s: float = INSTANT,
    residue_s: float = 0.0,
    **scheduling: Any,
) -> Network:
    """A prompt pool and a token pool; both have the prompt pool's performance and memory where nothing else is said."""
    prompt = machine("prompt-box", kv_tokens, tokens_per_s, residue_s)
    token = machine("token-box", token_kv_tokens or kv_tokens, tokens_per_s, residue_s)
    first = model or performance()
    return Network.of(
        design([prompt, token], Scheduling(**scheduling)),
        MODEL,
        {"prompt-box": first, "token-box": token_model or first},
    )


def requests(*rows: tuple[float, int, int]) -> RequestTrace:
    """A trace from (arrival, prompt tokens, output tokens)."""
    table = np.array(rows, np.float64).reshape(-1, 3)
    return RequestTrace(table[:, 0].copy(), table[:, 1].astype(np.int64), table[:, 2].astype(np.int64))


def empty_world(network: Network, counts: Sequence[int], trace: RequestTrace) -> World:
    """The kernel's state at time 0, as `Network.simulate` sets it up."""
    machines = np.repeat(network.machine_rows, counts)
    world = make_world(network.rules, network.timing, network._given(trace), machines)
    for rows in (world.requests, world.tasks):  # the kernel fills them as requests arrive
        rows.view(np.uint8)[:] = 0
    for machine in ("prompt_machine", "token_machine"):
        world.requests[machine] = -1
    return readable(world)


def readable(world: World) -> World:
    """The same arrays, with fields as attributes."""
    fields = ("requests", "tasks", "machines", "clock", "ends")
    return world._replace(**{field: getattr(world, field).view(np.recarray) for field in fields})


def final_state(network: Network, counts: Sequence[int], trace: RequestTrace) -> World:
    """What the kernel leaves behind: all of the state."""
    world = empty_world(network, counts, trace)
    run_events(world)
    return world
