"""Compare two commits: `python -m benchmarks.between COMMIT [COMMIT]`, the second being the working tree if left out.

Each is checked out beside the other, and the growth benchmarks run turn by turn, so that what else the machine does
meets both alike. Ratios of the fastest runs are printed: those that noise has reached least.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

HERE = Path(__file__).parents[1]
ROUNDS = 3


def checked_out(commit: str, folder: Path) -> Path:
    """A commit's sources, with the benchmark of here."""
    subprocess.run(["git", "-C", str(HERE), "worktree", "add", "--detach", "--quiet", str(folder), commit], check=True)
    shutil.copy(HERE / "benchmarks" / "growth.py", folder / "benchmarks")
    return folder


def figures(sources: Path, file: Path) -> dict[str, Any]:
    """One run of the benchmark on some sources."""
    command = [sys.executable, "-m", "benchmarks.growth", "--json", str(file)]
    environment = {**os.environ, "PYTHONPATH": str(sources)}
    subprocess.run(command, check=True, env=environment, cwd=sources, stdout=subprocess.DEVNULL)
    found: dict[str, Any] = json.loads(file.read_text())
    return found


def main(commits: list[str]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sides = [checked_out(commit, folder / str(number)) for number, commit in enumerate(commits)]
        try:
            sources = [*sides, HERE][:2]
            runs = [[figures(each, folder / "figures.json") for each in sources] for _ in range(ROUNDS)]
        finally:
            for side in sides:
                subprocess.run(["git", "-C", str(HERE), "worktree", "remove", "--force", str(side)], check=False)
    table = Table("What", "First", "Second", "Second / first", "Events")
    for case in runs[0][0]:
        first, second = (min(min(run[side][case]["seconds"]) for run in runs) for side in (0, 1))
        events = [runs[0][side][case]["events"] for side in (0, 1)]
        same = "the same" if events[0] == events[1] else f"{events[0]:,}, {events[1]:,}"
        table.add_row(case, f"{first * 1e3:.2f} ms", f"{second * 1e3:.2f} ms", f"{second / first:.2f}", same)
    Console(width=120).print(table)


if __name__ == "__main__":
    main(sys.argv[1:] or ["HEAD"])
