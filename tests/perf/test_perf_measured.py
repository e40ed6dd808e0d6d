"""Reading measured points: what is right is read, what is wrong is named with line and column."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from provisioner.errors import InputError
from provisioner.perf import measured, read_points
from provisioner.perf.measured import parse

FILE = Path("profile.csv")
HEADER = "model,machine,tensor_parallel,prompt_tokens,batch,output_tokens,prefill_s,decode_s"
ROW = "m,box,8,512,2,128,0.1,0.03"
RAW_HEADER = (
    "model,hardware,prompt_size,batch_size,token_size,peak_power,average_power,"
    "prompt_time,token_time,e2e_time,tensor_parallel"
)
NAMES = "1 to 80 printable characters"
TIMES = "1e-09 to 1000000 s, or 0: not measured"


def faults_of(text: str) -> list[tuple[object, ...]]:
    with pytest.raises(InputError) as caught:
        parse(text, FILE)
    assert all(fault.file == FILE for fault in caught.value.faults)
    return [(fault.line, fault.field, fault.problem, fault.value, fault.allowed) for fault in caught.value.faults]


def test_our_own_header() -> None:
    head = '# source: "the lab"\r\n#,"unbalanced\r\n\r\n'
    text = f"{head}{HEADER}\r\n{ROW}\r\n\r\n other/m , box ,1,512,1,0,,0.02\r\nm,box,8,1e3,1,1,0,0"
    (one, other) = parse(text, FILE).values()
    assert one.key == ("m", "box", 8)
    assert one.prompt_tokens.tolist() == [512.0, 1000.0]
    assert one.batch.tolist() == [2.0, 1.0]
    assert one.output_tokens.tolist() == [128.0, 1.0]
    np.testing.assert_array_equal(one.prefill_s, [0.1, np.nan])
    np.testing.assert_array_equal(one.decode_s, [0.03, np.nan])
    assert other.key == ("other/m", "box", 1)
    assert np.isnan(other.prefill_s[0])


def test_columns_in_another_order() -> None:
    columns = HEADER.split(",")
    text = "\n".join(",".join(reversed(line.split(","))) for line in (",".join(columns), ROW))
    assert parse(text, FILE)["m", "box", 8].prefill_s.tolist() == [0.1]


def test_the_public_profiles_header() -> None:
    rows = [
        "m,h100-80gb-pcap,512,1,128,0.0,0.0,76.5,36.25,4640,8",  # 128 iterations and 0: all of it
        "m,h100-80gb-pcap,512,1,8192,1.0,0.7,76.5,36,3600,8",  # stopped after 100,
        "m,h100-80gb-pcap,512,1,8192,1.0,0.7,76.5,36,7200,8",  # 200,
        "m,h100-80gb-pcap,512,1,8192,1.0,0.7,76.5,36,36000,8",  # and 1000
        "m,h100-80gb-pcap,512,4,64,0.0,0.0,76.5,0,0,8",  # nothing known of the token phase
    ]
    points = parse("\n".join([RAW_HEADER, *rows]), FILE)["m", "dgx-h100-cap", 8]
    assert points.prefill_s[0] == 76.5 / 1000
    assert points.decode_s[0] == 36.25 / 1000
    assert points.output_tokens.tolist() == [128, 200, 200, 200, 64]
    assert np.isnan(points.decode_s[4])


@pytest.mark.parametrize(
    ("column", "cell", "problem", "allowed"),
    [
        ("model", "", "not a name", NAMES),
        ("machine", "a\x1bb", "not a name", NAMES),
        ("machine", "a/b", "a machine's name has no '/'", None),
        ("tensor_parallel", "0", "too small", "a whole number from 1 to 1024"),
        ("tensor_parallel", "2048", "too large", "a whole number from 1 to 1024"),
        ("prompt_tokens", "many", "not a number", "a whole number from 1 to 1000000000"),
        ("prompt_tokens", "1_000", "not a number", "a whole number from 1 to 1000000000"),
        ("prompt_tokens", "", "not a number", "a whole number from 1 to 1000000000"),
        ("prompt_tokens", "-5", "negative", "a whole number from 1 to 1000000000"),
        ("batch", "1.5", "not a whole number", "a whole number from 1 to 1000000000"),
        ("batch", "inf", "too large", "a whole number from 1 to 1000000000"),
        ("output_tokens", "-1", "negative", "a whole number from 0 to 1000000000"),
        ("prefill_s", "nan", "not a number", TIMES),
        ("prefill_s", "-0.1", "negative", TIMES),
        ("decode_s", "0.1s", "not a number", TIMES),
        ("decode_s", "1e-12", "too small", TIMES),
        ("decode_s", "1e7", "too large", TIMES),
    ],
)
def test_a_faulty_cell(column: str, cell: str, problem: str, allowed: str | None) -> None:
    cells = dict(zip(HEADER.split(","), ROW.split(","), strict=True))
    row = ",".join((cells | {column: cell}).values())
    assert faults_of(f"# head\n{HEADER}\n{ROW}\n{row}\n") == [(4, column, problem, cell, allowed)]


def test_times_of_the_public_profile_are_in_milliseconds() -> None:
    row = "m,b200,512,1,128,0.0,0.0,-1,36.25,4640,8"
    assert faults_of(f"{RAW_HEADER}\n{row}\n") == [
        (2, "hardware", "unknown machine", "b200", "a100-80gb, h100-80gb, h100-80gb-pcap"),
        (2, "prompt_time", "negative", "-1", "1e-06 to 1000000000 ms, or 0: not measured"),
    ]


@pytest.mark.parametrize("text", ["", "\n \n", "# only a comment\n"])
def test_an_empty_file(text: str) -> None:
    assert faults_of(text) == [(None, None, "empty file", None, "a header and rows")]


def test_a_header_alone() -> None:
    assert faults_of(HEADER) == [(None, None, "no rows", None, "at least one below the header")]


def test_every_fault_of_the_header() -> None:
    header = HEADER.replace("batch,", "batches,").replace("decode_s", "model")
    assert faults_of(f"{header}\n{ROW}") == [
        (None, "batch", "missing column", None, HEADER),
        (None, "decode_s", "missing column", None, HEADER),
        (None, "batches", "unknown column", None, HEADER),
        (None, "model", "column given twice", None, None),
    ]


def test_a_row_of_another_width() -> None:
    assert faults_of(f"{HEADER}\n{ROW},1\n{ROW}") == [(2, None, "wrong number of fields", 9, "8")]


def test_what_is_no_csv() -> None:
    assert faults_of(f'{HEADER}\n"m"x,box') == [(2, None, "not CSV: ',' expected after '\"'", None, None)]
    assert faults_of(f'{HEADER}\n"m') == [(2, None, "not CSV: unexpected end of data", None, None)]


def test_the_first_twenty_faults_and_how_many_more() -> None:
    bad = ROW.replace("512", "x")
    found = faults_of("\n".join([HEADER, *[bad] * 33]))
    assert len(found) == 21
    assert [fault[0] for fault in found[:20]] == list(range(2, 22))
    assert found[20] == (None, None, "and 13 more", None, None)


def test_too_many_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measured, "MAX_ROWS", 2)
    assert len(parse(f"{HEADER}\n{ROW}\n{ROW}", FILE)["m", "box", 8]) == 2
    assert faults_of(f"{HEADER}\n{ROW}\n{ROW}\n{ROW}") == [(4, None, "too many rows", None, "at most 2")]


def test_a_long_value_is_cut_in_the_fault() -> None:
    ((_, _, _, value, _),) = faults_of(f"{HEADER}\n{ROW.replace('512', 'x' * 1000)}")
    assert value == "x" * 77 + "..."


cells = st.sampled_from(["m", "box", "8", "512", "0.1", "", "0", "-1", "nan", "1e999", "a100-80gb", '"', "#", "x" * 99])
lines = st.lists(st.lists(cells, max_size=12).map(",".join) | st.just(ROW), max_size=8)


@given(st.sampled_from([HEADER, RAW_HEADER, "", "#", "model,machine"]), lines, st.text(max_size=40))
@settings(max_examples=300)
def test_any_text_is_read_or_refused(header: str, rows: list[str], tail: str) -> None:
    try:
        profiles = parse("\n".join([header, *rows, tail]), FILE)
    except InputError:
        return
    assert all(len(points) for points in profiles.values())


@given(st.binary(max_size=60))
@settings(max_examples=100)
def test_any_bytes_are_read_or_refused(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    file = tmp_path_factory.mktemp("fuzz") / "profile"
    file.write_bytes(content)
    with pytest.raises(InputError):
        read_points(file)
