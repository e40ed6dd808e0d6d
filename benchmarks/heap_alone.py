"""What the heap operations of a simulation would cost alone: `python -m benchmarks.heap_alone`.

Every run and transfer of a recorded simulation goes into one binary heap when it starts and out when it ends, and
every decode likewise into and out of its machine's, in the order in which that happened: `sim/heap.py` and nothing
else.
"""

from __future__ import annotations

from statistics import median

import numpy as np

from benchmarks.__main__ import network, seconds, trace
from provisioner.sim.arrays import Heap, make_heap
from provisioner.sim.heap import pop, push
from provisioner.sim.jit import jit
from provisioner.sim.state import Records
from tests.sim.inner import from_python

REPEATS = 31


@jit
def replay(heap: Heap, row: Records, item: Records, key: Records) -> int:  # pragma: no cover
    """Push where there is an item, pop where there is none; returns the pops."""
    pops = 0
    for step in range(len(row)):
        if item[step] >= 0:
            push(heap, row[step], item[step], key[step])
        else:
            pop(heap, row[step])
            pops += 1
    return pops


def measure(design: str, workload: str, prompt: int, token: int) -> None:
    """Print both medians, of one process."""
    laid_out, requests = network(design), trace(workload)
    recording = laid_out.record(prompt, token, requests)
    result, log = recording.simulation, recording.log
    decoded = np.isfinite(result.finish_s) & np.isfinite(result.decode_start_s)
    start_s = np.concatenate([log.start_s, result.decode_start_s[decoded]])
    end_s = np.concatenate([log.end_s, result.finish_s[decoded]])
    row = np.concatenate([np.zeros(len(log), np.int64), 1 + result.token_machine[decoded]])
    item = np.arange(len(row))
    # At one moment, what ends makes way before what starts, but nothing ends before it has started.
    order = np.lexsort((np.concatenate([item, item]), np.repeat([1, 0], len(row)), np.concatenate([start_s, end_s])))
    assert np.all(start_s < end_s)
    steps = (np.concatenate([row, row])[order], np.concatenate([item, np.full(len(row), -1)])[order])
    keys = np.concatenate([end_s, end_s])[order]
    alone_of = from_python(replay)
    heap = make_heap(1 + prompt + token, len(row), np.float64)
    assert alone_of(heap, *steps, keys) == len(row)
    assert not heap.size.any()
    alone = median(seconds(lambda: alone_of(heap, *steps, keys), REPEATS))
    whole = median(seconds(lambda: laid_out.simulate(prompt, token, requests), REPEATS))
    print(
        f"{design} {prompt}P+{token}T {workload}: {result.events:,} events in {whole * 1e3:.2f} ms; "
        f"{len(row):,} pushes and pops alone in {alone * 1e3:.2f} ms; ratio {whole / alone:.1f}"
    )


if __name__ == "__main__":
    measure("HH", "coding", 27, 3)
    measure("HH", "conversation", 25, 15)
