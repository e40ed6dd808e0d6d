"""Every kind of trace: the values that stand in a file made by hand, whatever the file is called and packed with."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from provisioner.errors import Fault, InputError
from provisioner.traces import Reading, describe, read_recording, read_sizes, read_trace
from provisioner.traces.formats import FORMATS
from provisioner.traces.table import Header
from tests.traces.conftest import Write
from tests.traces.shapes import LENGTH_LISTS, SHAPES, Shape, each_shape


def rows_of(path: Path, reading: Reading) -> list[tuple[float, int, int]]:
    trace = read_trace(path, reading)
    return list(zip(trace.arrival_s.tolist(), trace.prompt_tokens.tolist(), trace.output_tokens.tolist(), strict=True))


def faults_of(path: Path, reading: Reading | None = None) -> tuple[Fault, ...]:
    with pytest.raises(InputError) as caught:
        read_trace(path, reading)
    return caught.value.faults


def assert_holds(path: Path, shape: Shape) -> None:
    found = rows_of(path, shape.reading)
    assert [row[1:] for row in found] == [row[1:] for row in shape.rows]
    # The nearest double to a difference of decimal times may be an ulp beside that of the decimal difference.
    assert [row[0] for row in found] == pytest.approx([row[0] for row in shape.rows], rel=1e-12, abs=1e-12)


@each_shape
def test_values(write: Write, shape: Shape) -> None:
    path = write(shape.content)
    assert_holds(path, shape)
    intake = read_recording(path, shape.reading).intake
    assert intake.format == shape.format
    assert intake.unused == shape.unused
    assert [(each.rows, each.first_line) for each in intake.left_out] == [each[1:] for each in shape.left_out]
    assert all(each.reason.startswith(wanted[0]) for each, wanted in zip(intake.left_out, shape.left_out, strict=True))
    assert intake.kept == len(shape.rows)
    assert intake.rows == len(shape.rows) + sum(rows for _, rows, _ in shape.left_out)


@each_shape
def test_packed_with_gzip(write: Write, shape: Shape) -> None:
    assert_holds(write(gzip.compress(shape.content)), shape)


@each_shape
def test_packed_with_gzip_in_several_members(write: Write, shape: Shape) -> None:
    half = len(shape.content) // 2
    assert_holds(write(gzip.compress(shape.content[:half]) + gzip.compress(shape.content[half:])), shape)


@each_shape
def test_packed_with_zstandard(write: Write, shape: Shape) -> None:
    pa = pytest.importorskip("pyarrow")
    assert_holds(write(bytes(pa.Codec("zstd").compress(shape.content, asbytes=True))), shape)


@each_shape
def test_a_parquet_file_of_the_same_texts(tmp_path: Path, shape: Shape) -> None:
    """The columns decide, not what they are written in."""
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "trace.csv"  # the name lies
    parquet.write_table(pa.table(_columns(shape.content)), path)
    assert_holds(path, shape)
    assert read_recording(path, shape.reading).intake.format.endswith(" Parquet")


def _columns(content: bytes) -> dict[str, list[Any]]:
    import csv  # noqa: PLC0415
    import json  # noqa: PLC0415

    lines = content.decode().splitlines()
    if lines[0].startswith("{"):
        found = [json.loads(line) for line in lines]
        return {key: [each[key] if key == "hash_ids" else str(each[key]) for each in found] for key in found[0]}
    rows = list(csv.reader(lines))
    return {name: [row[place] for row in rows[1:]] for place, name in enumerate(rows[0])}


def test_parquet_of_numbers_and_times(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    times = np.array(["2026-03-01T00:00:00.000001", "2026-03-01T00:00:01.5"], dtype="datetime64[us]")
    for zone in (None, "UTC", "Europe/Berlin"):
        table = {
            "at": pa.array(times, type=pa.timestamp("us", zone)),
            "in": pa.array([5, 70], type=pa.int16()),
            "out": pa.array([6.0, 8.0]),
            "tags": [["a"], []],
        }
        parquet.write_table(pa.table(table), tmp_path / "x")
        reading = Reading(columns={"arrival": "at", "prompt": "in", "output": "out"})
        assert rows_of(tmp_path / "x", reading) == [(0.0, 5, 6), (1.499999, 70, 8)]
        (fault,) = faults_of(tmp_path / "x", Reading(columns={"arrival": "at", "prompt": "tags", "output": "out"}))
        assert (fault.problem, fault.field) == ("a column of lists or structures", "tags")


def test_parquet_holes_have_their_row(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = {"arrival_s": [0.0, None, -1.0], "prompt_tokens": [1, 2, 3], "output_tokens": [1, None, 3]}
    parquet.write_table(pa.table(table), tmp_path / "x")
    assert [(fault.line, fault.field) for fault in faults_of(tmp_path / "x")] == [
        (2, "arrival_s"),
        (2, "output_tokens"),
        (3, "arrival_s"),
    ]


def test_parquet_bytes_that_are_no_text(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    texts = pa.Array.from_buffers(
        pa.string(), 2, [None, pa.py_buffer(np.array([0, 1, 2], dtype=np.int32)), pa.py_buffer(b"1\xff")]
    )
    table = pa.table({"arrival_s": [0, 1], "prompt_tokens": texts, "output_tokens": [1, 1]})
    pytest.importorskip("pyarrow.parquet").write_table(table, tmp_path / "x")
    assert [(fault.line, fault.field) for fault in faults_of(tmp_path / "x")] == [(2, "prompt_tokens")]


def test_no_table_is_of_two_kinds() -> None:
    for form in FORMATS:
        header = Header(1, form.wanted)
        assert [other.name for other in FORMATS if other.why_not(header) is None] == [form.name]


class TestUnits:
    def test_mooncake_asks(self, write: Write) -> None:
        path = write(SHAPES["mooncake"].content)
        (fault,) = faults_of(path)
        assert fault == Fault(
            problem="the file does not say in which unit timestamp counts, and writers differ",
            file=path,
            field="--time-unit",
            value="27000",
            allowed="s, ms, us, ns",
        )

    @pytest.mark.parametrize(("unit", "last_s"), [("s", 3001.0), ("ms", 3.001), ("us", 0.003001), ("ns", 3.001e-6)])
    def test_each_unit(self, write: Write, unit: Any, last_s: float) -> None:
        trace = read_trace(write(SHAPES["mooncake"].content), Reading(time_unit=unit))
        assert trace.span_s == pytest.approx(last_s, rel=1e-12)

    def test_a_column_map_asks_too(self, write: Write) -> None:
        path = write(SHAPES["mapped-csv"].content)
        (fault,) = faults_of(path, Reading(columns={"arrival": "when", "prompt": "in", "output": "out"}))
        assert fault.field == "--time-unit"

    @pytest.mark.parametrize("name", ["plain", "burstgpt-1", "vidur", "splitwisesim", "azure-2023", "mapped-jsonl"])
    def test_another_unit_than_the_formats_own_is_refused(self, write: Write, name: str) -> None:
        shape = SHAPES[name]
        (fault,) = faults_of(write(shape.content), Reading(columns=shape.reading.columns, time_unit="ms"))
        assert (fault.field, fault.value) == ("--time-unit", "ms")

    def test_the_formats_own_unit_may_be_said(self, write: Write) -> None:
        assert len(read_trace(write(SHAPES["vidur"].content), Reading(time_unit="s"))) == 2

    def test_lengths_need_no_unit(self, write: Write) -> None:
        sizes, intake = read_sizes(write(SHAPES["mooncake"].content))
        assert sizes.prompt_tokens.tolist() == [891, 6758, 123_192]
        assert intake.has_times

    def test_nanoseconds_since_1970(self, write: Write) -> None:
        """As loggers write them: the spacing of doubles there is 256 ns."""
        path = write(b"t,p,o\n1700000000000000000,1,1\n1700000001500000000,1,1\n")
        reading = Reading(columns={"arrival": "t", "prompt": "p", "output": "o"}, time_unit="ns")
        assert read_trace(path, reading).arrival_s[1] == pytest.approx(1.5, abs=1e-6)

    def test_numbers_beyond_any_calendar(self, write: Write) -> None:
        path = write(SHAPES["mooncake"].content + b'{"timestamp": 1e16, "input_length": 1, "output_length": 1}\n')
        (fault,) = faults_of(path, Reading(time_unit="ms"))
        assert (fault.line, fault.field, fault.problem) == (4, "timestamp", "out of range")

    def test_too_far_from_the_first(self, write: Write) -> None:
        path = write(SHAPES["mooncake"].content + b'{"timestamp": 1e13, "input_length": 1, "output_length": 1}\n')
        (fault,) = faults_of(path, Reading(time_unit="ms"))
        assert (fault.line, fault.problem, fault.value) == (4, "too far from the first arrival", "1e13")


class TestTimes:
    """Negative and non-finite times are refused, with their row."""

    @pytest.mark.parametrize("value", ["-1", "NaN", "Infinity", "-Infinity", "null", '"soon"', "[1]", "true", "1e999"])
    def test_in_json(self, write: Write, value: str) -> None:
        path = write(
            SHAPES["mooncake"].content + f'{{"timestamp": {value}, "input_length": 1, "output_length": 1}}\n'.encode()
        )
        (fault,) = faults_of(path, Reading(time_unit="ms"))
        assert (fault.line, fault.field) == (4, "timestamp")

    @pytest.mark.parametrize("value", ["-1", "nan", "inf", "", "1e999"])
    @pytest.mark.parametrize("name", ["burstgpt-1", "vidur", "splitwisesim"])
    def test_in_csv(self, write: Write, name: str, value: str) -> None:
        content = SHAPES[name].content.decode()
        head, first, *_ = content.splitlines()
        time = {"burstgpt-1": "5", "vidur": "0.0", "splitwisesim": "1"}[name]
        fields = first.split(",")
        fields[fields.index(time) if name != "splitwisesim" else 3] = value
        (fault,) = faults_of(write(f"{head}\n{first}\n{','.join(fields)}\n"))
        assert fault.line == 3


class TestColumns:
    def test_a_splitwisesim_batch_is_several_requests(self, write: Write) -> None:
        content = SHAPES["splitwisesim"].content.replace(b"3.5,1,2048", b"3.5,4,2048")
        (fault,) = faults_of(write(content))
        assert (fault.line, fault.field, fault.value) == (3, "batch_size", "4")

    def test_a_map_of_columns_that_are_not_there(self, write: Write) -> None:
        faults = faults_of(write(SHAPES["plain"].content), Reading(columns={"prompt": "in", "output": "output_tokens"}))
        assert [(fault.problem, fault.field) for fault in faults] == [("the column is missing", "in")]

    @pytest.mark.parametrize("columns", [{}, {"prompt": "x"}, {"prompt": "x", "output": "y", "model": "z"}])
    def test_no_map(self, columns: dict[str, str]) -> None:
        with pytest.raises(InputError) as caught:
            Reading(columns=columns)
        assert [fault.field for fault in caught.value.faults] == ["--columns"]

    def test_every_bad_option_at_once(self) -> None:
        with pytest.raises(InputError) as caught:
            Reading(columns={}, time_unit="min", window=(2.0, 1.0), unordered="shuffle")  # type: ignore[arg-type]
        fields = [fault.field for fault in caught.value.faults]
        assert fields == ["--columns", "--time-unit", "--window", "--unordered"]

    @pytest.mark.parametrize("window", [(-1.0, 1.0), (1.0, 1.0), (float("nan"), 1.0), (0.0, float("nan"))])
    def test_no_window(self, window: tuple[float, float]) -> None:
        with pytest.raises(InputError):
            Reading(window=window)

    def test_a_key_that_is_missing_in_one_row(self, write: Write) -> None:
        path = write(SHAPES["plain-jsonl"].content + b'{"arrival_s": 2, "prompt_tokens": 3}\n')
        (fault,) = faults_of(path)
        assert (fault.problem, fault.line, fault.field) == ("the key is missing", 3, "output_tokens")


class TestJson:
    @pytest.mark.parametrize(
        "line", ["[1, 2, 3]", "1", "{", "{'a': 1}", "[" * 100_000, '{"a":' * 50_000, "9" * 100_000, "garbage"]
    )
    def test_a_line_that_is_no_object(self, write: Write, line: str) -> None:
        faults = faults_of(write(SHAPES["plain-jsonl"].content + f"{line}\n".encode()))
        assert [(fault.problem, fault.line) for fault in faults] == [("not a JSON object", 3)]

    def test_a_whole_document(self, write: Write) -> None:
        (fault,) = faults_of(write('{\n "arrival_s": 1,\n "prompt_tokens": 2\n}\n'))
        assert (fault.problem, fault.line) == ("not a JSON object", 1)

    def test_a_list(self, write: Write) -> None:
        (fault,) = faults_of(write('[{"arrival_s": 1, "prompt_tokens": 2, "output_tokens": 3}]'))
        assert fault.problem == "a JSON list"

    def test_more_keys_than_any_trace(self, write: Write) -> None:
        (fault,) = faults_of(write("{" + ", ".join(f'"k{n}": {n}' for n in range(300)) + "}\n"))
        assert fault.problem == "too many keys"


class TestLengthLists:
    @pytest.mark.parametrize("content", LENGTH_LISTS.values(), ids=LENGTH_LISTS)
    def test_values(self, write: Write, content: bytes) -> None:
        sizes, intake = read_sizes(write(content))
        assert list(zip(sizes.prompt_tokens.tolist(), sizes.output_tokens.tolist(), strict=True)) == [(7, 3), (100, 20)]
        assert not intake.has_times

    @pytest.mark.parametrize("content", LENGTH_LISTS.values(), ids=LENGTH_LISTS)
    def test_they_are_no_trace(self, write: Write, content: bytes) -> None:
        (fault,) = faults_of(write(content))
        assert (fault.problem, fault.field) == ("lengths without arrival times", "--arrivals")

    def test_they_are_described(self, write: Write) -> None:
        found = describe(write(LENGTH_LISTS["headed"]))
        assert found.arrivals is None
        assert found.prompt.mean == 53.5

    def test_zeros_are_left_out(self, write: Write) -> None:
        sizes, intake = read_sizes(write(b"10,0\n0,0\n5,6\n"))
        assert sizes.requests == 1
        assert [(each.rows, each.first_line) for each in intake.left_out] == [(1, 2), (1, 1)]


class TestOrder:
    CONTENT = b"arrival_s,prompt_tokens,output_tokens\n5,1,1\n7,2,1\n1,3,1\n4,4,1\n2,5,1\n"

    def test_refused(self, write: Write) -> None:
        (fault,) = faults_of(write(self.CONTENT))
        assert fault.line == 4
        assert fault.allowed == "7 (line 3) or later; --unordered sort, or splice where the clock was reset"

    def test_sorted(self, write: Write) -> None:
        rows = rows_of(write(self.CONTENT), Reading(unordered="sort"))
        assert rows == [(1.0, 3, 1), (2.0, 5, 1), (4.0, 4, 1), (5.0, 1, 1), (7.0, 2, 1)]

    def test_sorted_from_the_first_arrival_on(self, write: Write) -> None:
        """A clock that counts from the first row gives negative times before it."""
        path = write(b"arrived_at,num_prefill_tokens,num_decode_tokens\n9,1,1\n7,2,1\n8,3,1\n")
        assert rows_of(path, Reading(unordered="sort")) == [(0.0, 2, 1), (1.0, 3, 1), (2.0, 1, 1)]

    def test_spliced(self, write: Write) -> None:
        """5, 7, then a reset to 1: it goes on at 7; 3 s later a reset to 2."""
        path = write(self.CONTENT)
        rows = rows_of(path, Reading(unordered="splice"))
        assert rows == [(5.0, 1, 1), (7.0, 2, 1), (7.0, 3, 1), (10.0, 4, 1), (10.0, 5, 1)]
        intake = read_recording(path, Reading(unordered="splice")).intake
        assert (intake.steps_back, intake.largest_step_back_s) == (2, 6.0)

    def test_spliced_across_pieces(self, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
        whole = rows_of(write(self.CONTENT), Reading(unordered="splice"))
        monkeypatch.setattr("provisioner.traces.lines.CHUNK_BYTES", 1)
        assert rows_of(write(self.CONTENT), Reading(unordered="splice")) == whole


class TestWindow:
    CONTENT = b"arrival_s,prompt_tokens,output_tokens\n" + b"".join(b"%d,%d,1\n" % (10 + n, n + 1) for n in range(10))

    def test_from_the_first_arrival(self, write: Write) -> None:
        rows = rows_of(write(self.CONTENT), Reading(window=(2.0, 5.0)))
        assert rows == [(12.0, 3, 1), (13.0, 4, 1), (14.0, 5, 1)]

    def test_what_is_outside_is_counted(self, write: Write) -> None:
        (left_out,) = read_recording(write(self.CONTENT), Reading(window=(2.0, 5.0))).intake.left_out
        assert (left_out.reason, left_out.rows, left_out.first_line) == ("an arrival outside the window", 7, 2)

    def test_of_sorted_rows(self, write: Write) -> None:
        head, *rows = self.CONTENT.splitlines(keepends=True)
        path = write(head + b"".join(reversed(rows)))
        assert rows_of(path, Reading(window=(2.0, 4.0), unordered="sort")) == [(12.0, 3, 1), (13.0, 4, 1)]

    def test_empty(self, write: Write) -> None:
        (fault,) = faults_of(write(self.CONTENT), Reading(window=(100.0, 200.0)))
        assert fault.problem == "no request is left of 10 rows: 10 with an arrival outside the window"

    def test_lengths_of_a_part_of_the_time(self, write: Write) -> None:
        sizes, _ = read_sizes(write(self.CONTENT), Reading(window=(0.0, 3.0)))
        assert sizes.prompt_tokens.tolist() == [1, 2, 3]
