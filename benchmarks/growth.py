"""How the time and the memory of one simulation grow as the work grows: `python -m benchmarks.growth`.

Each case runs in a process of its own, so that its memory is its own, and asserts its count of events: as many as
the last time, or within the band that the case names. `--json FILE` keeps the figures for `benchmarks.between`.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.__main__ import network, seconds, trace
from provisioner.domain.trace import RequestTrace

REPEATS = 5
EVENTS_A_REQUEST = (3, 12)
"""An arrival, a prompt's run, a transfer and at least a share of the decodes' runs; no more than a few runs each."""
BASE = {"prompt": 27, "token": 3, "rate_rps": 70.0, "duration_s": 120.0, "output": 1, "days": 1}
NIGHT_S = 60.0
"""Between days: all that was begun is finished, so that each finds the cluster as the first does."""
CASES: dict[str, dict[str, float]] = {
    "base: 27P+3T, 70 RPS, 120 s": {},
    "requests x 10: one stream": {"duration_s": 1200.0},
    "requests x 10: ten such days": {"days": 10},
    "machines x 10, rate x 10": {"prompt": 270, "token": 30, "rate_rps": 700.0},
    "machines x 10": {"prompt": 270, "token": 30},
    "6P+2T, 15 RPS, 560 s": {"prompt": 6, "token": 2, "rate_rps": 15.0, "duration_s": 560.0},
    "1,000 machines, 2,000 RPS, 600 s": {"prompt": 900, "token": 100, "rate_rps": 2000.0, "duration_s": 600.0},
    "rate x 1/2": {"rate_rps": 35.0},
    "outputs x 10, token machines x 10": {"output": 10, "token": 30},
}


def measure(case: dict[str, float]) -> dict[str, Any]:
    """Simulate in this process."""
    days = [trace("coding", case["rate_rps"], case["duration_s"], day) for day in range(int(case["days"]))]
    requests = RequestTrace(
        np.concatenate([drawn.arrival_s + day * (case["duration_s"] + NIGHT_S) for day, drawn in enumerate(days)]),
        np.concatenate([drawn.prompt_tokens for drawn in days]),
        np.concatenate([drawn.output_tokens for drawn in days]) * int(case["output"]),
    )
    laid_out, counts = network("HH"), (int(case["prompt"]), int(case["token"]))
    result = laid_out.simulate(*counts, requests)
    memory_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    least, most = EVENTS_A_REQUEST
    assert result.unfinished == 0
    assert least <= result.events / len(requests) <= most, result.events / len(requests)
    return {
        "requests": len(requests),
        "events": result.events,
        "seconds": seconds(lambda: laid_out.simulate(*counts, requests), REPEATS),
        "memory_mb": memory_mb,
    }


def measured_apart(case: dict[str, float]) -> dict[str, Any]:
    """Simulate in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.growth", "--case", json.dumps(BASE | case)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main(arguments: list[str]) -> None:
    if arguments[:1] == ["--case"]:
        print(json.dumps(measure(json.loads(arguments[1]))))
        return
    found = {name: measured_apart(case) for name, case in CASES.items()}
    if arguments[:1] == ["--json"]:
        Path(arguments[1]).write_text(json.dumps(found))
    table = Table("What grows", "Requests", "Events", "Median", "Spread", "us/event", "Against base", "Memory")
    base = median(next(iter(found.values()))["seconds"])
    for name, each in found.items():
        middle = median(each["seconds"])
        table.add_row(
            name,
            f"{each['requests']:,}",
            f"{each['events']:,}",
            f"{middle * 1e3:.2f} ms",
            f"{min(each['seconds']) / middle:.2f} - {max(each['seconds']) / middle:.2f}",
            f"{middle / each['events'] * 1e6:.3f}",
            f"{middle / base:.1f}",
            f"{each['memory_mb']:.0f} MB",
        )
    Console(width=120).print(table)


if __name__ == "__main__":
    main(sys.argv[1:])
