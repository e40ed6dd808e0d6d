"""The bar of a long job: count, rate and time left on a terminal; nothing with `--quiet`."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.runs import environment

pty = pytest.importorskip("pty", reason="there is no terminal to look at")

SWEEP = ("sweep", "--design", "HH", "--target-rps", "30", "--duration", "30", "--replications", "5",
         "--prompt", "5:24", "--token", "1:10", "--json", "answer.json")  # fmt: skip


def shown(folder: Path, *arguments: str) -> str:
    """What standard error, a terminal, is sent."""
    main, terminal = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "provisioner.cli.main", *arguments],
        cwd=folder,
        env=environment({"TERM": "xterm", "COLUMNS": "100"}),
        stdout=subprocess.DEVNULL,
        stderr=terminal,
    ) as running:
        os.close(terminal)
        text = b""
        try:
            while chunk := os.read(main, 65536):
                text += chunk
        except OSError:  # how a terminal says that nobody is left
            pass
    os.close(main)
    assert running.returncode == 0
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text.decode("utf-8", "replace"))


def test_a_job_of_known_size_tells_count_rate_and_time_left(folder: Path) -> None:
    text = shown(folder, *SWEEP)
    assert re.search(r"simulating .*\d+/200 +[\d.e+]+/s +\d+:\d\d", text)


def test_quiet_says_nothing_on_a_terminal_either(folder: Path) -> None:
    assert shown(folder, *SWEEP, "--quiet") == ""
