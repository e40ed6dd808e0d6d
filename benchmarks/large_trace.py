"""Describe a trace of the size of Azure 2024: 27 million rows of the same shape, generated here.

    python benchmarks/large_trace.py [ROWS] [FOLDER]

Each way of packing is described in a process of its own, whose peak memory is the kernel's count. The goal is at least
1 million rows a second of one processor in under 500 MB; the clock's seconds also hold what else the machine does.
"""

import gzip
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

ROWS = 27_000_000
_BLOCK = 500_000
_GOAL_MB, _GOAL_ROWS_PER_S = 500, 1e6
_DESCRIBE = """
import json, resource, sys, time
from provisioner.traces import describe
start, start_cpu = time.perf_counter(), time.process_time()
found = describe(sys.argv[1])
seconds, cpu = time.perf_counter() - start, time.process_time() - start_cpu
print(json.dumps([found.intake.rows, seconds, cpu, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))
"""


def write(path: Path, rows: int) -> None:
    """Write stamps of microseconds with an offset, lognormal lengths, Poisson arrivals over nine days."""
    rng = np.random.default_rng(0)
    at = np.datetime64("2024-05-10T00:00:00.009930", "us")
    mean_gap_us = 9 * 86_400e6 / rows
    with path.open("w", newline="") as file:
        file.write("TIMESTAMP,ContextTokens,GeneratedTokens\n")
        for start in range(0, rows, _BLOCK):
            count = min(_BLOCK, rows - start)
            times = at + np.cumsum(rng.exponential(mean_gap_us, count)).astype("timedelta64[us]")
            at = times[-1]
            prompts = np.clip(rng.lognormal(6.9, 1.0, count), 1, 32_000).astype(int).tolist()
            outputs = np.clip(rng.lognormal(4.9, 0.9, count), 1, 4_096).astype(int).tolist()
            stamps = [stamp.replace("T", " ") for stamp in np.datetime_as_string(times, unit="us").tolist()]
            lines = zip(stamps, prompts, outputs, strict=True)
            file.writelines(f"{stamp}+00:00,{prompt},{output}\n" for stamp, prompt, output in lines)


def packed(path: Path) -> dict[str, Path]:
    """The file as it is, and packed both ways."""
    import pyarrow as pa  # noqa: PLC0415 - only for Zstandard

    found = {"CSV": path, "gzip": path.with_suffix(".gz"), "Zstandard": path.with_suffix(".zst")}
    with path.open("rb") as whole, gzip.open(found["gzip"], "wb", compresslevel=1) as packing:
        while block := whole.read(2**22):
            packing.write(block)
    with path.open("rb") as whole, pa.CompressedOutputStream(str(found["Zstandard"]), "zstd") as packing:
        while block := whole.read(2**22):
            packing.write(block)
    return found


def main(rows: int = ROWS, folder: str | None = None) -> None:
    """Measure and print."""
    table = Table("What", "MB", "Seconds", "Rows/s", "Rows/CPU s", "Peak MB", "Goal met")
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        path = Path(scratch) / "azure_2024_shape.csv"
        started = time.perf_counter()
        write(path, rows)
        print(f"{rows:,} rows written in {time.perf_counter() - started:.0f} s")
        for what, file in packed(path).items():
            done = subprocess.run(
                [sys.executable, "-c", _DESCRIBE, str(file)], check=True, capture_output=True, text=True
            )
            read, seconds, cpu_s, peak_mb = json.loads(done.stdout)
            assert read == rows
            rates = [f"{rows / each:,.0f}" for each in (seconds, cpu_s)]
            met = peak_mb < _GOAL_MB and rows / cpu_s >= _GOAL_ROWS_PER_S
            size_mb = f"{file.stat().st_size / 1e6:,.0f}"
            table.add_row(what, size_mb, f"{seconds:.1f}", *rates, f"{peak_mb:.0f}", "yes" if met else "no")
    Console().print(table)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]), *sys.argv[2:3])
