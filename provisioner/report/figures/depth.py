"""Inside a simulation: time at each batch size (figure 17), and the requests in the system through time."""

from __future__ import annotations

import numpy as np

from provisioner.depth import Depth
from provisioner.report.figures.lines import Axis, Lines, Panel, Series

STATES = {
    "waiting_prompt": "await prompt",
    "in_prompt": "in prompt",
    "waiting_decode": "await decode",
    "in_decode": "in decode",
}


def of_depth(depth: Depth, title: str) -> Lines:
    """Shares of the busy time in batches of at most each size, and counts of requests."""
    batches = tuple(
        Series(
            label=f"{pool.name} machines",
            x=np.arange(len(pool.batch_share), dtype=np.float64),
            y=np.cumsum(pool.batch_share),
        )
        for pool in depth.pools
    )
    states = tuple(
        Series(label=label, x=depth.instants_s, y=getattr(depth, name).astype(np.float64))
        for name, label in STATES.items()
    )
    return Lines(
        title=title,
        panels=(
            Panel(
                title="Time at each batch size",
                x=Axis(label="Requests in the batch, at most"),
                y=Axis(label="Share of busy time", is_share=True),
                series=batches,
                is_step=True,
            ),
            Panel(
                title="Requests in the system",
                x=Axis(label="Time (s)"),
                y=Axis(label="Requests"),
                series=states,
            ),
        ),
        columns=2,
    )
