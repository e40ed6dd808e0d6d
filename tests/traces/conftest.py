from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

Write = Callable[[str | bytes], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a small file and give its path; the name says nothing about the format."""

    def write_file(content: str | bytes) -> Path:
        path = tmp_path / "file.dat"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write_file
