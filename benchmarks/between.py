"""Compare two commits: `python -m benchmarks.between COMMIT [COMMIT]`, the second being the working tree if left out.

Each is checked out beside the other, and the growth benchmarks and the main job run turn by turn, so that what else the
machine does meets both alike. Ratios of the fastest runs are printed: those that noise has reached least. Both run the
benchmarks of here, and keep what they compile in a folder that is gone afterwards. It takes some minutes.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.__main__ import MAIN_JOB

HERE = Path(__file__).parents[1]
ROUNDS = 3
COMMANDS = {"provision main job": MAIN_JOB, "provision --help": ["--help"]}


def checked_out(commit: str, folder: Path) -> Path:
    """A commit's sources, with the benchmarks of here."""
    found = subprocess.run(
        ["git", "-C", str(HERE), "worktree", "add", "--detach", "--quiet", str(folder), commit],
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    if found.returncode:
        sys.exit(f"{commit}: {found.stderr.strip()}")
    shutil.copytree(HERE / "benchmarks", folder / "benchmarks", dirs_exist_ok=True)
    return folder


def run(sources: Path, cache: Path, *arguments: str) -> float:
    """Run a module of some sources; returns seconds."""
    environment = {**os.environ, "PYTHONPATH": str(sources), "XDG_CACHE_HOME": str(cache)}
    command = [sys.executable, "-m", *arguments]
    started = time.perf_counter()
    subprocess.run(command, check=True, env=environment, cwd=sources, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def figures(sources: Path, cache: Path) -> dict[str, Any]:
    """One run of all benchmarks on some sources."""
    file = cache / "figures.json"
    run(sources, cache, "benchmarks.growth", "--json", str(file))
    found: dict[str, Any] = json.loads(file.read_text())
    for name, arguments in COMMANDS.items():
        seconds = [run(sources, cache, "provisioner.cli.main", *arguments) for _ in range(2)]
        found[name] = {"seconds": seconds, "events": 0}
    return found


def measured(commits: list[str], folder: Path) -> list[list[dict[str, Any]]]:
    """The figures of both, in each round."""
    sides: list[Path] = []
    try:
        for number, commit in enumerate(commits):
            sides.append(checked_out(commit, folder / f"side-{number}"))
        pairs = [(sources, folder / f"cache-{number}") for number, sources in enumerate([*sides, HERE][:2])]
        for _, cache in pairs:
            cache.mkdir()
        return [[figures(*pair) for pair in pairs] for _ in range(ROUNDS)]
    finally:
        for side in sides:
            subprocess.run(["git", "-C", str(HERE), "worktree", "remove", "--force", str(side)], check=False)


def main(commits: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        runs = measured(commits, Path(folder))
    table = Table("What", "First", "Second", "Second / first", "Events")
    for case in runs[0][0]:
        first, second = (min(min(run[side][case]["seconds"]) for run in runs) for side in (0, 1))
        events = [runs[0][side][case]["events"] for side in (0, 1)]
        same = "the same" if events[0] == events[1] else f"{events[0]:,}, {events[1]:,}"
        shown = same if events[0] else ""
        table.add_row(case, f"{first * 1e3:.2f} ms", f"{second * 1e3:.2f} ms", f"{second / first:.2f}", shown)
    Console(width=120).print(table)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3) or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    main(sys.argv[1:])
