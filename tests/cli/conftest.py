"""Runs the command in this process, in an empty folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from provisioner.cli.main import main
from tests.cli.runs import LOOKS, Provision, Run


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the empty folder that commands run in, with nothing that changes how output looks."""
    for name in LOOKS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def provision(capfd: pytest.CaptureFixture[str]) -> Provision:
    """Return a function that runs the command."""

    def run(*arguments: str) -> Run:
        capfd.readouterr()
        code = main(list(arguments))
        captured = capfd.readouterr()
        return Run(code, captured.out, captured.err)

    return run
