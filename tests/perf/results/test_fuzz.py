"""Every reader on damaged files: a clean error or points that hold their conditions, never anything else."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from provisioner.errors import InputError
from provisioner.perf import read_points, to_csv
from provisioner.perf.results import read_results, to_points
from tests.perf.results import shapes

WHOLE = sorted(shapes.ALL)
JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**30), 10**30),
    st.floats(),
    st.text(max_size=8),
    st.lists(st.integers(-5, 5), max_size=3),
    st.dictionaries(st.text(max_size=4), st.integers(), max_size=2),
)


def survives(content: bytes) -> bool:
    """Read a file and everything after it; whether it was taken."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "result"
        file.write_bytes(content)
        try:
            imported = to_points(read_results(file), ("m", "x", 1), "concurrency")
        except InputError:
            return False
        # Points check their own conditions; what is written is read back.
        file.write_text(to_csv([imported.points]))
        assert len(read_points(file)["m", "x", 1]) == len(imported.points)
        return True


@pytest.mark.parametrize("name", [name for name in WHOLE if name not in ("LLMPerf responses", "plain CSV")])
def test_the_whole_file_is_taken_if_it_tells_a_rate(name: str) -> None:
    assert survives(shapes.ALL[name].encode())


@given(st.sampled_from(WHOLE), st.data())
@settings(max_examples=300)
def test_damaged_bytes(name: str, data: st.DataObject) -> None:
    content = bytearray(shapes.ALL[name].encode())
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(content) - 1))
        match data.draw(st.sampled_from("xdti")):
            case "x":
                content[place] = data.draw(st.integers(0, 255))
            case "d":
                del content[place : place + data.draw(st.integers(1, 20))]
            case "t":
                del content[place:]
            case _:
                content[place:place] = data.draw(st.binary(max_size=6))
        if not content:
            break
    survives(bytes(content))


@given(st.sampled_from([name for name in WHOLE if name != "plain CSV"]), st.data())
@settings(max_examples=300)
def test_damaged_values(name: str, data: st.DataObject) -> None:
    """Any value, anywhere, is replaced by another of any type."""
    records = records_of(shapes.ALL[name])
    for _ in range(data.draw(st.integers(1, 3))):
        damage(records, data)
    survives("\n".join(json.dumps(record) for record in records).encode())


def records_of(text: str) -> list[Any]:
    """Values of a JSON file, or of each of its lines."""
    try:
        return [json.loads(text)]
    except json.JSONDecodeError:
        return [json.loads(line) for line in text.splitlines()]


def damage(root: list[Any], data: st.DataObject) -> None:
    """Replace or remove one value somewhere below `root`."""
    at: Any = root
    while True:
        keys = list(at) if isinstance(at, dict) else list(range(len(at)))
        if not keys:
            return
        key = data.draw(st.sampled_from(keys))
        deeper = isinstance(at[key], dict | list) and at[key] and data.draw(st.integers(0, 5))
        if not deeper:
            break
        at = at[key]
    if at is not root and data.draw(st.integers(0, 4)) == 0:
        del at[key]
    else:
        at[key] = data.draw(JUNK)
