"""A machine's KV-cache memory, in tokens: taken and freed, and how much of it for how long."""

from __future__ import annotations

from provisioner.sim.jit import jit
from provisioner.sim.state import Records


@jit
def take(machine: Records, kv_tokens: int, now: float) -> None:
    """Take memory, which must be free."""
    machine.used_kv += kv_tokens
    machine.peak_kv = max(machine.peak_kv, machine.used_kv)
    machine.kv_token_s -= kv_tokens * now


@jit
def give_up(machine: Records, kv_tokens: int, now: float) -> None:
    """Free memory."""
    machine.used_kv -= kv_tokens
    machine.kv_token_s += kv_tokens * now
