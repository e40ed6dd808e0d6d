"""Running the command line, in this process or in one of its own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).parents[2]
REFERENCE = REPOSITORY.parent / "shared" / "reference"

TINY = ("--target-rps", "10", "--duration", "10", "--replications", "2")
"""A hundred requests: quick to simulate, and enough for every verdict."""
MAIN_JOB = ("--design", "HH", *TINY, "--minimize", "cost", "--max-machines", "9")

LOOKS = ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "TERM")
"""What changes how output looks."""


@dataclass(frozen=True)
class Run:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def answer(self) -> dict[str, Any]:
        """The JSON on standard output, which must hold nothing else."""
        return parsed(self.out)

    @property
    def errors(self) -> list[str]:
        """Lines on standard error, notes apart."""
        return [line for line in self.err.splitlines() if not line.startswith("note: ")]

    @property
    def notes(self) -> list[str]:
        return [line for line in self.err.splitlines() if line.startswith("note: ")]


Provision = Callable[..., Run]
"""Runs the command with these arguments."""


def parsed(text: str) -> dict[str, Any]:
    """JSON as the standard has it: without NaN and infinity, and no key twice."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    def distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        assert len(found) == len(pairs), "a key stands twice"
        return found

    answer: dict[str, Any] = json.loads(text, parse_constant=refuse, object_pairs_hook=distinct)
    return answer


def timeless(text: str) -> str:
    """Without the time it took, which may differ."""
    return re.sub(r'"elapsed_s": [0-9.]+|, in [0-9.]+ s:', "(elapsed)", text)


def environment(changes: Mapping[str, str | None] | None = None) -> dict[str, str]:
    """This process's environment without what changes looks, then changed; None takes a variable away."""
    kept: dict[str, str | None] = {name: value for name, value in os.environ.items() if name not in LOOKS}
    kept["PYTHONPATH"] = str(REPOSITORY)
    return {name: value for name, value in {**kept, **(changes or {})}.items() if value is not None}


def process(
    *arguments: str | bytes, cwd: Path, changes: Mapping[str, str | None] | None = None, timeout_s: float = 120
) -> Run:
    """Run the command in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "provisioner.cli.main", *arguments],
        cwd=cwd,
        env=environment(changes),
        capture_output=True,
        timeout=timeout_s,
        check=False,
    )
    return Run(done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"))
