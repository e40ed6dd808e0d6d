"""Readers: hand-checked values, and one exact fault per thing that can be wrong."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from provisioner.domain.trace import RequestTrace
from provisioner.errors import Fault, InputError
from provisioner.traces import Bounds, bounds, lines, plain_csv, read_trace
from provisioner.traces.bulk import Bulk
from provisioner.traces.formats import FORMATS

PLAIN = "arrival_s,prompt_tokens,output_tokens\n"
AZURE = "TIMESTAMP,ContextTokens,GeneratedTokens\n"
TOKENS = "a whole number from 0 to 10,000,000"
SECONDS = "seconds from 0 to 1,000,000,000"
STAMP = "a time such as 2023-11-16 18:17:03.9799600 or 2024-05-10 00:00:00.009930+00:00"


def rows_of(trace: RequestTrace) -> list[tuple[float, int, int]]:
    columns = (trace.arrival_s, trace.prompt_tokens, trace.output_tokens)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def faults_of(path: Path, **limits: int) -> list[Fault]:
    with pytest.raises(InputError) as caught:
        read_trace(path, bounds=Bounds(**limits))
    faults = caught.value.faults
    assert all(fault.file == path for fault in faults)
    return list(faults)


def only_fault(path: Path, **limits: int) -> Fault:
    (fault,) = faults_of(path, **limits)
    return fault


class TestValues:
    def test_plain_arrivals_stand_as_they_are(self, write):
        trace = read_trace(write(PLAIN + "0.5,100,20\n0.5,1,1\n7.25e1,10000000,3\n"))
        assert rows_of(trace) == [(0.5, 100, 20), (0.5, 1, 1), (72.5, 10_000_000, 3)]
        assert (trace.arrival_s.dtype, trace.prompt_tokens.dtype) == (np.float64, np.int64)

    def test_azure_2023_starts_at_its_first_request(self, write):
        rows = "2023-11-16 23:59:59.9799601,4808,10\n2023-11-17 00:00:00.0319600,3180,8"  # no final line end
        trace = read_trace(write((AZURE + rows).replace("\n", "\r\n")))
        assert rows_of(trace) == [(0.0, 4808, 10), (0.0519999, 3180, 8)]

    def test_azure_2024_has_offsets(self, write):
        rows = [
            "2024-05-10 00:00:00.009930+00:00,2162,5",
            "2024-05-10 02:00:01.009930+02:00,2399,6",
            "2024-05-09T19:30:03-0430,76,15",
            "2024-05-10 00:00:03.5Z,1,1",
        ]
        trace = read_trace(write(AZURE + "\n".join(rows)))
        assert trace.arrival_s.tolist() == [0.0, 1.0, 2.99007, 3.49007]

    def test_leap_day(self, write):
        trace = read_trace(write(AZURE + "2024-02-28 23:00:00,1,1\n2024-03-01 01:00:00,1,1\n"))
        assert trace.arrival_s.tolist() == [0.0, 26 * 3600.0]

    def test_columns_in_any_order_with_row_numbers(self, write):
        content = ",output_tokens, arrival_s ,request_id,prompt_tokens\n0,7,1.5,r-1,300\n1,8,2.5,r-2,400\n"
        assert rows_of(read_trace(write(content))) == [(1.5, 300, 7), (2.5, 400, 8)]

    def test_mark_comments_blank_lines_blanks_and_quotation_marks(self, write):
        content = '\ufeff# made by hand\n\n"arrival_s",prompt_tokens,output_tokens\n  \n 1 ,"2", +3\n#4,5,6\n\n'
        assert rows_of(read_trace(write(content))) == [(1.0, 2, 3)]

    def test_a_file_of_many_pieces(self, write, monkeypatch):
        monkeypatch.setattr(lines, "CHUNK_BYTES", 64)
        rows = [(0.25 * row, row + 1, 2 * row + 1) for row in range(200)]
        content = PLAIN + "".join(f"{arrival},{prompt},{output}\n" for arrival, prompt, output in rows)
        assert rows_of(read_trace(write(content))) == rows

    def test_azure_of_many_pieces_keeps_its_start(self, write, monkeypatch):
        monkeypatch.setattr(lines, "CHUNK_BYTES", 64)
        content = AZURE + "".join(f"2023-11-16 18:17:{second:02}.5,1,1\n" for second in range(60))
        assert read_trace(write(content)).arrival_s.tolist() == list(range(60))

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
    def test_a_pipe(self, tmp_path):
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        writer = threading.Thread(target=pipe.write_text, args=(PLAIN + "1,2,3\n",))
        writer.start()
        assert rows_of(read_trace(pipe)) == [(1.0, 2, 3)]
        writer.join()


class TestFiles:
    def test_missing(self, tmp_path):
        path = tmp_path / "none.csv"
        assert only_fault(path) == Fault(problem="no such file", file=path)

    def test_directory(self, tmp_path):
        assert only_fault(tmp_path) == Fault(problem="a directory, not a file", file=tmp_path)

    def test_below_a_file(self, write):
        path = write(PLAIN) / "x.csv"
        assert only_fault(path) == Fault(problem="the file cannot be opened: Not a directory", file=path)

    def test_zero_byte_in_the_name(self):
        assert only_fault(Path("a\0b")) == Fault(problem="not the name of a file", file=Path("a\0b"))

    @pytest.mark.parametrize("content", ["", "\n \n", "# nothing\n", "\ufeff"])
    def test_empty(self, write, content):
        path = write(content)
        allowed = "a head line and at least one row"
        assert only_fault(path) == Fault(problem="the file is empty", file=path, allowed=allowed)

    @pytest.mark.parametrize("content", [PLAIN, PLAIN.strip(), AZURE + "\r\n#\n"])
    def test_head_line_only(self, write, content):
        path = write(content)
        expected = Fault(problem="no requests below the head line", file=path, allowed="at least one row")
        assert only_fault(path) == expected

    @pytest.mark.parametrize(
        ("content", "line"),
        [(b"\0", 1), (PLAIN.encode() + b"1,2,3\n1,\x002,3\n", 3), (PLAIN.encode("utf-16-le"), 1)],
    )
    def test_zero_bytes(self, write, content, line):
        path = write(content)
        assert faults_of(path)[0] == Fault(
            problem="not text: a zero byte", file=path, line=line, allowed="text in UTF-8"
        )

    def test_not_utf8(self, write, monkeypatch):
        monkeypatch.setattr(lines, "CHUNK_BYTES", 64)
        path = write(PLAIN.encode() + b"1,2,3\n" * 50 + b"1,2,\xe9\n1,2,3\n")
        expected = Fault(problem="not UTF-8 text", file=path, line=52, value="byte 0xe9", allowed="text in UTF-8")
        assert only_fault(path) == expected

    def test_bytes_that_are_no_text_join_the_faults_before_them(self, write, monkeypatch):
        monkeypatch.setattr(lines, "CHUNK_BYTES", 64)
        path = write(PLAIN.encode() + b"1,2,x\n" + b"1,2,3\n" * 50 + b"\xff\n")
        assert [(fault.problem, fault.line) for fault in faults_of(path)] == [
            ("not a whole number", 2),
            ("not UTF-8 text", 53),
        ]

    def test_too_large(self, write):
        path = write(PLAIN + "1,2,3\n" * 1000)
        expected = Fault(problem="the file is too large", file=path, allowed="up to 1,000 bytes")
        assert only_fault(path, max_bytes=1000) == expected
        assert len(read_trace(path, bounds=Bounds(max_bytes=path.stat().st_size))) == 1000

    def test_the_default_bounds(self):
        assert (bounds.MAX_BYTES, bounds.MAX_ROWS) == (2 * 2**30, 50_000_000)

    @pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no /dev/zero here")
    def test_an_endless_device(self):
        path = Path("/dev/zero")
        expected = Fault(problem="a line is too long", file=path, allowed="lines of up to 1,048,576 bytes")
        assert only_fault(path) == expected

    @pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="no /proc here")
    def test_a_file_that_opens_and_cannot_be_read(self):
        path = Path("/proc/self/mem")
        assert only_fault(path) == Fault(problem="the file cannot be read: Input/output error", file=path)

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
    def test_a_pipe_that_is_too_large(self, tmp_path):
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        writer = threading.Thread(target=pipe.write_text, args=(PLAIN + "1,2,3\n" * 100,))
        writer.start()
        assert only_fault(pipe, max_bytes=100).problem == "the file is too large"
        writer.join()

    def test_too_many_rows(self, write, monkeypatch):
        path = write(PLAIN + "#\n" + "1,2,3\n" * 100)
        assert len(read_trace(path, bounds=Bounds(max_rows=100))) == 100
        expected = Fault(problem="too many rows", file=path, line=102, allowed="up to 99 rows")
        assert only_fault(path, max_rows=99) == expected
        monkeypatch.setattr(lines, "CHUNK_BYTES", 64)
        assert only_fault(path, max_rows=99) == expected


class TestHead:
    @pytest.mark.parametrize("head", ["0.5,100,20", "prompt_tokens", "when,how long", "a,b,c,d,e,f,g,h,i"])
    def test_unknown(self, write, head):
        """Every kind is named, with why the file is not of it."""
        path = write(f"# a comment\n{head}\n1,2,3\n")
        first, *others = faults_of(path)
        assert first == Fault(
            problem="none of the known kinds of trace",
            file=path,
            line=2,
            value=head.replace(",", ", "),
            allowed="one of the following, or any table with --columns arrival=NAME,prompt=NAME,output=NAME",
        )
        words = {fault.problem for fault in others}
        assert len(words) == len(FORMATS) == 8
        assert "not Azure: no TIMESTAMP, ContextTokens, GeneratedTokens" in words
        assert "not Mooncake: no timestamp, input_length, output_length" in words

    def test_columns_besides_are_why_not(self, write):
        """A log of another tool that happens to have all of the columns wanted, and many more."""
        path = write(PLAIN.strip() + ",tenant,model,priority,status\n1,2,3,a,b,c,200\n")
        assert any(
            fault.problem == "not plain: has tenant, model, priority, status besides" for fault in faults_of(path)
        )

    def test_misspelt(self, write):
        path = write("arrivals,prompt_tokens,Output_Tokens\n1,2,3\n")
        allowed = "the columns arrival_s, prompt_tokens, output_tokens"
        assert faults_of(path) == [
            Fault(
                problem="unknown column; did you mean arrival_s?", file=path, line=1, field="arrivals", allowed=allowed
            ),
            Fault(
                problem="unknown column; did you mean output_tokens?",
                file=path,
                line=1,
                field="Output_Tokens",
                allowed=allowed,
            ),
        ]

    def test_one_too_many(self, write):
        path = write("model,TIMESTAMP,ContextTokens,GeneratedTokens\ngpt,2023-11-16 18:17:03,1,1\n")
        allowed = "the columns TIMESTAMP, ContextTokens, GeneratedTokens"
        assert only_fault(path) == Fault(problem="unknown column", file=path, line=1, field="model", allowed=allowed)

    def test_missing(self, write):
        path = write("arrival_s,output_tokens\n1,2\n")
        assert only_fault(path) == Fault(problem="the column is missing", file=path, line=1, field="prompt_tokens")

    def test_twice(self, write):
        path = write("arrival_s,prompt_tokens,output_tokens,arrival_s\n1,2,3,4\n")
        assert only_fault(path) == Fault(problem="the column stands here twice", file=path, line=1, field="arrival_s")

    def test_a_head_that_is_no_csv_is_not_replaced_by_the_row_below(self, write):
        path = write('"arrival_s,prompt_tokens,output_tokens\n1,2,3\n')
        assert only_fault(path) == Fault(
            problem="the line is no CSV",
            file=path,
            line=1,
            value='"arrival_s,prompt_tokens,output_tokens',
            allowed="fields between commas, quotation marks closed on the same line",
        )


class TestRows:
    @pytest.mark.parametrize(
        ("row", "problem"), [("1.5", "the row has 1 column"), ("1.5,2,3,4", "the row has 4 columns")]
    )
    def test_truncated_or_too_long(self, write, row, problem):
        path = write(PLAIN + f"1,2,3\n{row}")
        assert only_fault(path) == Fault(
            problem=problem, file=path, line=3, value=row, allowed="3 columns, as in the head line"
        )

    def test_a_quotation_mark_left_open(self, write):
        path = write(PLAIN + '1,2,3\n2,"2,3\n3,4,5\n4,"x"y,3\n')
        assert [(fault.problem, fault.line, fault.value) for fault in faults_of(path)] == [
            ("the line is no CSV", 3, '2,"2,3'),
            ("the line is no CSV", 5, '4,"x"y,3'),
        ]

    def test_old_line_ends(self, write):
        assert only_fault(write(PLAIN + "1,2,3\r2,3,4\r")).problem == "the line is no CSV"

    @pytest.mark.parametrize(
        ("value", "problem"),
        [
            ("", "not a whole number"),
            ("many", "not a whole number"),
            ("12.5", "not a whole number"),
            ("1e3", "not a whole number"),
            ("nan", "not a whole number"),
            ("inf", "not a whole number"),
            ("1_000", "not a whole number"),
            ("\u0663", "not a whole number"),  # a digit to Python, in Arabic
            ("-5", "out of range"),
            ("10000001", "out of range"),
            ("99999999999999999999999", "out of range"),
        ],
    )
    @pytest.mark.parametrize(
        ("head", "row", "field"),
        [
            (PLAIN, "1,{},1", "prompt_tokens"),
            (PLAIN, "1,1,{}", "output_tokens"),
            (AZURE, "2023-11-16 18:17:03,{},1", "ContextTokens"),
            (AZURE, "2023-11-16 18:17:03,1,{}", "GeneratedTokens"),
        ],
    )
    def test_tokens(self, write, *, head, row, field, value, problem):
        path = write(head + row.format(7) + "\n" + row.format(value) + "\n" + row.format(8) + "\n")
        assert only_fault(path) == Fault(problem=problem, file=path, line=3, field=field, value=value, allowed=TOKENS)

    @pytest.mark.parametrize(
        ("value", "problem"),
        [
            ("", "not a number"),
            ("soon", "not a number"),
            ("1_0", "not a number"),
            ("0x10", "not a number"),
            ("nan", "not finite"),
            ("-inf", "not finite"),
            ("1e999", "not finite"),
            ("-0.001", "out of range"),
            ("1700158623.98", "out of range"),
        ],
    )
    def test_seconds(self, write, value, problem):
        path = write(PLAIN + f"0,1,1\n{value},1,1\n2,1,1\n")
        assert only_fault(path) == Fault(
            problem=problem, file=path, line=3, field="arrival_s", value=value, allowed=SECONDS
        )

    @pytest.mark.parametrize(
        "value",
        [
            "",
            "now",
            "NaT",
            "2023-11-16",
            "2023-13-16 18:17:03",
            "2023-02-30 18:17:03",
            "2023-11-16 24:17:03",
            "2023-11-16 18:17:60",
            "2023-11-16 18:17:03.",
            "2023-11-16 18:17:03.1234567890",
            "2023-11-16 18:17:03+24:00",
            "1023-11-16 18:17:03",
            "16/11/2023 18:17:03",
            "1700158623",
        ],
    )
    def test_stamps(self, write, value):
        path = write(AZURE + f"2023-11-16 18:17:03,1,1\n{value},1,1\n")
        assert only_fault(path) == Fault(
            problem="not a date and time", file=path, line=3, field="TIMESTAMP", value=value, allowed=STAMP
        )

    def test_a_first_stamp_that_is_none(self, write):
        path = write(AZURE + "never,1,1\n2023-11-16 18:17:03,1,1\n2023-11-16 18:17:02,1,1\n")
        assert [(fault.line, fault.value) for fault in faults_of(path)] == [(2, "never"), (4, "2023-11-16 18:17:02")]

    def test_no_stamp_at_all(self, write):
        assert [fault.line for fault in faults_of(write(AZURE + "x,1,1\ny,1,1\n"))] == [2, 3]

    @pytest.mark.parametrize(
        ("first", "second", "problem"),
        [
            ("2023-11-16 18:17:03", "2023-11-16 18:17:03Z", "an offset from UTC, unlike the rows before"),
            ("2023-11-16 18:17:03Z", "2023-11-16 18:17:03", "no offset from UTC, unlike the rows before"),
        ],
    )
    def test_offsets_in_some_rows_only(self, write, first, second, problem):
        path = write(AZURE + f"{first},1,1\n{second},1,1\n")
        assert only_fault(path) == Fault(
            problem=problem, file=path, line=3, field="TIMESTAMP", value=second, allowed=STAMP
        )

    @pytest.mark.parametrize("chunk_bytes", [1, 256 * 2**10])
    def test_the_first_arrival_that_goes_back(self, write, monkeypatch, chunk_bytes):
        monkeypatch.setattr(lines, "CHUNK_BYTES", chunk_bytes)
        path = write(PLAIN + "1,1,1\n3.50,1,1\n#\n2,1,1\n1,1,1\n0,1,1\n")
        assert only_fault(path) == Fault(
            problem="the first arrival that goes back in time",
            file=path,
            line=5,
            field="arrival_s",
            value="2",
            allowed="3.50 (line 3) or later; --unordered sort, or splice where the clock was reset",
        )

    def test_order_is_checked_past_faulty_times(self, write):
        path = write(PLAIN + "1,1,1\n3,1,1\nx,1,1\n2,1,1\n")
        assert [(fault.problem, fault.line) for fault in faults_of(path)] == [
            ("not a number", 4),
            ("the first arrival that goes back in time", 5),
        ]

    def test_azure_out_of_order(self, write):
        path = write(AZURE + "2023-11-16 18:17:03,1,1\n2023-11-16 18:17:02,1,1\n")
        fault = only_fault(path)
        assert (fault.line, fault.allowed) == (
            3,
            "2023-11-16 18:17:03 (line 2) or later; --unordered sort, or splice where the clock was reset",
        )

    def test_every_fault_at_once(self, write):
        path = write(PLAIN + 'x,-1,y\n1,2\n-1,1,1\n"3,4,5\n')
        assert [(fault.line, fault.field) for fault in faults_of(path)] == [
            (2, "arrival_s"),
            (2, "prompt_tokens"),
            (2, "output_tokens"),
            (3, None),
            (4, "arrival_s"),
            (5, None),
        ]

    def test_twenty_and_the_number_of_the_rest(self, write):
        path = write(PLAIN + "1,1,zero\n" * 1500)
        *first, last = faults_of(path)
        assert [fault.line for fault in first] == list(range(2, 22))
        assert last == Fault(problem="and 1,480 more", file=path)

    def test_exactly_twenty(self, write):
        assert len(faults_of(write(PLAIN + "1,1,zero\n" * 20))) == 20

    def test_long_values_are_shortened(self, write):
        assert only_fault(write(PLAIN + "1,1," + "9" * 5000 + "\n")).value == "9" * 77 + "..."


arrivals = st.lists(st.floats(0, 1e9), min_size=1, max_size=40).map(sorted)
tokens = st.integers(1, 10_000_000)


@given(arrivals, st.data())
def test_round_trip(tmp_path_factory, arrivals, data):
    n = len(arrivals)
    sizes = [np.array(data.draw(st.lists(tokens, min_size=n, max_size=n)), dtype=np.int64) for _ in range(2)]
    trace = RequestTrace(np.array(arrivals), *sizes)
    path = tmp_path_factory.mktemp("round") / "trace.csv"
    path.write_text(plain_csv(trace))
    assert rows_of(read_trace(path)) == rows_of(trace)


SOUND = (
    PLAIN.encode() + b"0.5,100,20\n1,7,3\n2.25,4096,1\n",
    AZURE.encode() + b"2023-11-16 18:17:03.9799600,4808,10\r\n2023-11-16 18:17:04.0319600,3180,8",
    AZURE.encode() + b"2024-05-10 00:00:00.009930+00:00,1,2\n2024-05-10 00:00:00.019930+00:00,3,4\n",
)
telling = st.sampled_from([*b'\0\xff\r\n,"#-+.e_ 09N', 0xC3, 0xA9])


def read_or_faults(path: Path) -> RequestTrace | tuple[Fault, ...]:
    """Anything else that is raised fails the test."""
    try:
        return read_trace(path)
    except InputError as error:
        return error.faults


@settings(max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(SOUND), st.data())
def test_damage_gives_faults_or_a_valid_trace(write, content, data):
    damaged = bytearray(content)
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(damaged)))
        kept = data.draw(st.integers(0, 3))
        damaged[place : place + kept] = bytes(data.draw(st.lists(telling | st.integers(0, 255), max_size=3)))
    path = write(bytes(damaged))
    result = read_or_faults(path)
    assert len(result) >= 1
    if isinstance(result, RequestTrace):
        assert result.prompt_tokens.max() <= 10_000_000
    else:
        assert len(result) <= 21
        assert all(fault.file == path for fault in result)


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from([PLAIN, AZURE, ""]), st.binary(max_size=200))
def test_any_bytes_at_all(write, head, content):
    assert len(read_or_faults(write(head.encode() + content))) >= 1


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.sampled_from(["1", " 2 ", "+3", "-4", "1.5", "12.0", "x", "1_0", "\u0663", "1e3", "-7", "007"]), min_size=1
    )
)
def test_a_fault_elsewhere_changes_no_other_verdict(write, fields):
    """The quick way and the way that looks for faults agree on every field."""
    alone = [isinstance(read_or_faults(write(f"{PLAIN}1,{field},1\n")), RequestTrace) for field in fields]
    together = read_or_faults(write(PLAIN + "".join(f"1,{field},1\n" for field in fields) + "1,x,1\n"))
    assert [fault.line for fault in together if fault.line] == [
        line for line, is_sound in enumerate([*alone, False], 2) if not is_sound
    ][:20]


def test_sound_rows_are_read_all_at_once(write, monkeypatch):
    """Twenty thousand rows take 0.05 s so, and a second where each is looked at by itself."""
    found = []
    for name in ("of", "whole_numbers", "stamps"):
        way = getattr(Bulk, name)

        def watched(*arguments, way=way):
            found.append(way(*arguments))
            return found[-1]

        monkeypatch.setattr(Bulk, name, staticmethod(watched) if name == "of" else watched)
    stamps = np.datetime64("2023-11-16T18:17:03", "ns") + np.arange(20_000) * np.timedelta64(170_000_100, "ns")
    path = write(AZURE + "".join(f"{str(stamp)[:-2].replace('T', ' ')},1020,129\r\n" for stamp in stamps))
    assert len(read_trace(path)) == 20_000
    assert len(found) >= 4
    assert all(each is not None for each in found)
