"""Damaged files of every kind: a clean error or a right answer, never a traceback, a hang or unbounded memory."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from provisioner.errors import Fault, InputError
from provisioner.traces import Bounds, Reading, describe, read_recording, read_sizes
from tests.traces.conftest import Write
from tests.traces.shapes import LENGTH_LISTS, SHAPES

MORE_FAULTS = 21
"""Twenty in full, and the number of the rest."""
damaging = settings(max_examples=250, suppress_health_check=[HealthCheck.function_scoped_fixture])
telling = st.sampled_from([*b'\0\xff\r\n,"#-+.e_ 09NTZ:{}[]', 0xC3, 0xA9])


def zstandard(content: bytes) -> bytes:
    pa = pytest.importorskip("pyarrow")
    return bytes(pa.Codec("zstd").compress(content, asbytes=True))


def parquet(codec: str) -> bytes:
    pa = pytest.importorskip("pyarrow")
    table = {
        "arrival_s": [0.5 * row for row in range(40)],
        "prompt_tokens": [row % 7 + 1 for row in range(40)],
        "output_tokens": [str(row + 1) for row in range(40)],
    }
    buffer = io.BytesIO()
    pytest.importorskip("pyarrow.parquet").write_table(pa.table(table), buffer, compression=codec, row_group_size=16)
    return buffer.getvalue()


def read_or_faults(read: Callable[..., Any], path: Path, reading: Reading) -> Any:
    """Anything else that is raised fails the test."""
    try:
        return read(path, reading)
    except InputError as error:
        return error.faults


def assert_sound(path: Path, reading: Reading) -> None:
    """Each reader gives faults that say where, or as many requests as the others."""
    kept = set()
    for read in (read_recording, describe, read_sizes):
        found = read_or_faults(read, path, reading)
        if isinstance(found, tuple) and isinstance(found[0], Fault):
            assert len(found) <= MORE_FAULTS
            assert all(fault.file == path and fault.problem for fault in found)
        else:
            intake = found[1] if isinstance(found, tuple) else found.intake
            assert 1 <= intake.kept <= intake.rows
            kept.add(intake.kept)
    assert len(kept) <= 1


def damaged(content: bytes, data: st.DataObject, most: int = 4) -> bytes:
    changed = bytearray(content)
    for _ in range(data.draw(st.integers(1, most))):
        place = data.draw(st.integers(0, len(changed)))
        lost = data.draw(st.integers(0, 3))
        changed[place : place + lost] = bytes(data.draw(st.lists(telling | st.integers(0, 255), max_size=3)))
    return bytes(changed)


@damaging
@given(st.sampled_from(list(SHAPES.values())), st.sampled_from(["refuse", "sort", "splice"]), st.data())
def test_text(write: Write, shape, unordered, data) -> None:  # type: ignore[no-untyped-def]
    reading = Reading(columns=shape.reading.columns, time_unit=shape.reading.time_unit, unordered=unordered)
    assert_sound(write(damaged(shape.content, data)), reading)


@damaging
@given(st.sampled_from(list(LENGTH_LISTS.values())), st.data())
def test_length_lists(write: Write, content, data) -> None:  # type: ignore[no-untyped-def]
    assert_sound(write(damaged(content, data)), Reading())


@damaging
@given(st.sampled_from([gzip.compress, zstandard]), st.sampled_from(list(SHAPES.values())), st.data())
def test_packed(write: Write, pack, shape, data) -> None:  # type: ignore[no-untyped-def]
    assert_sound(write(damaged(pack(shape.content), data)), shape.reading)


@damaging
@given(st.sampled_from(["none", "snappy", "zstd"]), st.data())
def test_parquet(write: Write, codec, data) -> None:  # type: ignore[no-untyped-def]
    assert_sound(write(damaged(parquet(codec), data, most=8)), Reading())


@damaging
@given(st.sampled_from([b"", b"PAR1", b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"{", b"["]), st.binary(max_size=200))
def test_any_bytes_at_all(write: Write, start, content) -> None:  # type: ignore[no-untyped-def]
    assert_sound(write(start + content), Reading())


@pytest.mark.parametrize("name", SHAPES)
def test_cut_anywhere(write: Write, name: str) -> None:
    shape = SHAPES[name]
    for end in range(0, len(shape.content), 7):
        assert_sound(write(shape.content[:end]), shape.reading)


@pytest.mark.parametrize("pack", [gzip.compress, zstandard])
def test_packed_bytes_cut_short(write: Write, pack) -> None:  # type: ignore[no-untyped-def]
    packed = pack(SHAPES["plain"].content * 1)
    for end in range(4, len(packed) - 1):
        with pytest.raises(InputError) as caught:
            read_recording(write(packed[:end]))
        assert caught.value.faults[0].problem.startswith(("the file cannot be read", "the file is empty"))


BOMBS = {
    "zeros": b"\0" * 30_000_000,
    "line ends": b"\n" * 30_000_000,
    "one line": b"arrival_s,prompt_tokens,output_tokens\n" + b"1" * 30_000_000,
    "rows": b"arrival_s,prompt_tokens,output_tokens\n" + b"1,1,1\n" * 5_000_000,
    "brackets": b'{"arrival_s":' + b"[" * 3_000_000,
    "commas": b"," * 900_000,
}


@pytest.mark.parametrize("content", BOMBS.values(), ids=BOMBS)
@pytest.mark.parametrize("pack", [gzip.compress, zstandard])
def test_small_files_that_unpack_to_large_ones(write: Write, pack, content: bytes) -> None:  # type: ignore[no-untyped-def]
    """They end at the bounds: a fault in well under a second each."""
    packed = pack(content)
    assert len(packed) < len(content) / 50
    with pytest.raises(InputError) as caught:
        read_recording(write(packed), bounds=Bounds(max_bytes=2_000_000, max_rows=100_000))
    assert len(caught.value.faults) <= MORE_FAULTS


def test_a_parquet_file_that_promises_too_much(write: Write) -> None:
    path = write(parquet("none"))
    with pytest.raises(InputError) as caught:
        read_recording(path, bounds=Bounds(max_rows=39))
    assert [fault.problem for fault in caught.value.faults] == ["too many rows"]


def test_a_parquet_file_that_unpacks_to_too_much(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    path = tmp_path / "bomb"
    table = pa.table({name: [1] * 100_000 for name in ("arrival_s", "prompt_tokens", "output_tokens")})
    pytest.importorskip("pyarrow.parquet").write_table(table, path, compression="zstd", use_dictionary=False)
    assert path.stat().st_size < 200_000
    with pytest.raises(InputError) as caught:
        read_recording(path, bounds=Bounds(max_bytes=1_000_000))
    assert [fault.problem for fault in caught.value.faults] == ["the file is too large"]


@pytest.mark.parametrize(
    ("start", "what"),
    [(b"PK\x03\x04", "a zip archive"), (b"BZh9", "packed with bzip2"), (b"\xfd7zXZ\0", "packed with xz")],
)
def test_packed_in_a_way_that_is_not_read(write: Write, start: bytes, what: str) -> None:
    with pytest.raises(InputError) as caught:
        read_recording(write(start + b"x" * 100))
    (fault,) = caught.value.faults
    assert fault.problem == f"{what}: not read here"


@pytest.mark.parametrize("content", [b"\x28\xb5\x2f\xfd\0", b"PAR1PAR1"])
def test_without_pyarrow(write: Write, monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    for name in ("pyarrow", "pyarrow.parquet"):
        monkeypatch.setitem(__import__("sys").modules, name, None)
    with pytest.raises(InputError) as caught:
        read_recording(write(content))
    (fault,) = caught.value.faults
    assert fault.problem.endswith("needs pyarrow, which is not installed")
    assert fault.allowed == "pip install '.[traces]' in the checkout"
