"""A user's catalog folder, and the lines that a fault-finding call prints."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from provisioner.cli.wording import word
from provisioner.errors import InputError
from tests.catalog.user_folder import Lines, Write


@pytest.fixture
def user(tmp_path: Path) -> Path:
    """Return an empty catalog folder."""
    folder = tmp_path / "mine"
    folder.mkdir()
    return folder


@pytest.fixture
def write(user: Path) -> Write:
    """Return a function that writes a file of the user's folder."""

    def _write(name: str, content: str | bytes) -> Path:
        file = user / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file

    return _write


@pytest.fixture
def lines(user: Path) -> Lines:
    """Return a function that gives the worded faults of a call, with paths relative to the user's folder."""

    def _lines(call: Callable[[], object]) -> list[str]:
        with pytest.raises(InputError) as caught:
            call()
        return [word(fault).replace(f"{user}/", "") for fault in caught.value.faults]

    return _lines
