"""Files of results, read."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from provisioner.errors import InputError
from provisioner.perf.results import Run, read_results

Read = Callable[[str | dict[str, Any]], list[Run]]
Faults = Callable[[str | dict[str, Any]], list[tuple[int | None, str | None, str]]]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Return a function that reads a file of such content, under a name that tells nothing."""

    def of(content: str | dict[str, Any]) -> list[Run]:
        file = tmp_path / "result.dat"
        file.write_text(content if isinstance(content, str) else json.dumps(content))
        return read_results(file)

    return of


@pytest.fixture
def faults(read: Read) -> Faults:
    """Return a function that gives the line, field and problem of each fault."""

    def of(content: str | dict[str, Any]) -> list[tuple[int | None, str | None, str]]:
        with pytest.raises(InputError) as caught:
            read(content)
        return [(fault.line, fault.field, fault.problem) for fault in caught.value.faults]

    return of
