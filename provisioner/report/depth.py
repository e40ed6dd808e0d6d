"""One simulation in depth, as a table and as data."""

from __future__ import annotations

from typing import Any

import numpy as np
from rich import box
from rich.console import Group, RenderableType
from rich.text import Text

from provisioner.depth import Depth, PoolDepth
from provisioner.report.narrow import FittingTable as Table

_BATCHES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)


def data(depth: Depth) -> dict[str, Any]:
    """Everything, for JSON."""
    return {
        "pools": [
            {
                "pool": pool.name,
                "instances": pool.instances,
                "busy": round(pool.busy, 6),
                "prompt": round(pool.prompt, 6),
                "decode": round(pool.decode, 6),
                "mixed": round(pool.mixed, 6),
                "on_loan": round(pool.on_loan, 6),
                "kv_mean": round(pool.kv_mean, 6),
                "kv_peak": round(pool.kv_peak, 6),
                "time_at_batch_size": [round(share, 6) for share in pool.batch_share.tolist()],
            }
            for pool in depth.pools
        ],
        "transfer": {
            "requests": round(depth.transferred, 6),
            "mean_s": round(depth.transfer_mean_s, 9),
            "share_of_e2e": round(depth.transfer_share, 6),
        },
        "recomputations": depth.recomputations,
        "queue": {
            "time_s": [round(instant, 6) for instant in depth.instants_s.tolist()],
            "waiting_prompt": depth.waiting_prompt.tolist(),
            "in_prompt": depth.in_prompt.tolist(),
            "waiting_decode": depth.waiting_decode.tolist(),
            "in_decode": depth.in_decode.tolist(),
        },
    }


def table(depth: Depth) -> RenderableType:
    """Pools, batch sizes, and the requests in the system through time."""
    pools = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    pools.add_column("Time of pool", no_wrap=True)
    for heading in ("prompt", "decode", "mixed", "idle", "on loan", "KV mean", "KV peak"):
        pools.add_column(heading, justify="right", no_wrap=True)
    for pool in depth.pools:
        shares = (pool.prompt, pool.decode, pool.mixed, 1 - pool.busy, pool.on_loan, pool.kv_mean, pool.kv_peak)
        pools.add_row(pool.name, *(f"{share:.0%}" for share in shares))
    lines = [f"{pool.name}: {_batches(pool)}" for pool in depth.pools]
    if len(depth.pools) > 1:
        lines.append(
            f"KV-cache of {depth.transferred:.0%} of the requests is sent; it shows for "
            f"{depth.transfer_mean_s * 1e3:.1f} ms, {depth.transfer_share:.1%} of E2E."
        )
    if depth.recomputations:
        lines.append(f"KV-cache was dropped for want of memory, and computed anew: {depth.recomputations:,} times.")
    return Group(
        pools, Text("Busy time in batches of at most so many requests:"), Text("\n".join(lines)), _queue(depth)
    )


def _batches(pool: PoolDepth) -> str:
    running = np.cumsum(pool.batch_share)
    shares = [(size, float(running[min(size, len(running) - 1)])) for size in _BATCHES]
    shown = [
        (size, share) for index, (size, share) in enumerate(shares) if not index or shares[index - 1][1] < 1 - 1e-9
    ]
    return ", ".join(f"{size}: {share:.0%}" for size, share in shown)


def _queue(depth: Depth) -> Table:
    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    shown.add_column("Requests at", justify="right", no_wrap=True)
    columns = {
        "await prompt": depth.waiting_prompt,
        "in prompt": depth.in_prompt,
        "await decode": depth.waiting_decode,
        "in decode": depth.in_decode,
    }
    for heading in columns:
        shown.add_column(heading, justify="right", no_wrap=True)
    last = len(depth.instants_s) - 1
    for index in sorted({round(last * step / 8) for step in range(9)}):
        counts = (str(series[index]) for series in columns.values())
        shown.add_row(f"{depth.instants_s[index]:.0f} s", *counts)
    return shown
