"""The quick way of CSV and the careful one: the same numbers, and never a number where the careful way has a fault."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from provisioner.errors import FaultList
from provisioner.traces.bulk import Bulk
from provisioner.traces.fields import decimals, whole_numbers
from provisioner.traces.lines import Lines
from provisioner.traces.stamps import stamps


def bulk_of(*fields: str, end: str = "\n") -> Bulk | None:
    """A table of two columns, the second of which is text."""
    return Bulk.of(Lines(1, "".join(f"{field},x{end}" for field in fields).encode()), 2)


def careful(convert, fields, **more):  # type: ignore[no-untyped-def]
    faults = FaultList("file")  # type: ignore[arg-type]
    found = convert(fields, range(1, len(fields) + 1), faults, field="f", **more)
    return None if faults else found


digits = st.text("0123456789", min_size=1, max_size=12)
noise = st.text("0123456789+-. eE_xTZ:\t\u0663", max_size=9)


@given(st.lists(digits | noise, min_size=1, max_size=8))
def test_whole_numbers(fields: list[str]) -> None:
    bulk = bulk_of(*fields)
    found = None if bulk is None else bulk.whole_numbers(0)
    if found is not None:
        assert np.array_equal(found, careful(whole_numbers, fields, low=0, high=2**62))
    elif all(field.isascii() and field.isdecimal() and len(field) <= 9 for field in fields):
        pytest.fail("plain digits were not taken")


numbers = st.floats(0, 1e9).map(repr) | st.integers(0, 10**9).map(str) | st.sampled_from(["1.", ".5", ".", "1.2.3"])


@given(st.lists(numbers | noise, min_size=1, max_size=8))
def test_decimals(fields: list[str]) -> None:
    bulk = bulk_of(*fields)
    found = None if bulk is None else bulk.decimals(0)
    if found is not None:
        assert np.array_equal(found, careful(decimals, fields, high=1e30, allowed=""))


def stamp_texts() -> st.SearchStrategy[str]:
    parts = st.tuples(
        st.sampled_from(["1970", "2023", "2024", "2199", "1969", "2200"]),
        st.sampled_from(["01", "02", "12", "13", "00"]),
        st.sampled_from(["01", "28", "29", "30", "31", "32"]),
        st.sampled_from([" ", "T", "_"]),
        st.sampled_from(["00:00:00", "23:59:59", "24:00:00", "12:60:00", "12:00:60", "1:00:00"]),
        st.sampled_from(["", ".", ".5", ".0099300", ".123456789", ".1234567890"]),
        st.sampled_from(["", "Z", "+00:00", "+0530", "-04:30", "+24:00"]),
    )
    return parts.map(lambda each: f"{each[0]}-{each[1]}-{each[2]}{''.join(each[3:])}")


@given(st.lists(stamp_texts(), min_size=1, max_size=4))
def test_stamps(fields: list[str]) -> None:
    bulk = bulk_of(*fields)
    assert bulk is not None
    found = bulk.stamps(0)
    faults = FaultList("file")  # type: ignore[arg-type]
    wanted, zoned = stamps(fields, range(len(fields)), faults, field="f", zoned=None)
    if found is not None:
        assert not faults
        assert np.array_equal(found[0], wanted)
        assert found[1] == zoned
    elif not faults and len({len(field) for field in fields}) == len(fields):
        pytest.fail("plain stamps were not taken")


def test_line_ends_of_both_kinds() -> None:
    for end in ("\n", "\r\n"):
        bulk = bulk_of("12", "345", end=end)
        assert bulk is not None
        numbers = bulk.whole_numbers(0)
        assert numbers is not None
        assert numbers.tolist() == [12, 345]
        assert bulk.text(1, 1) == "x"


@pytest.mark.parametrize(
    "data",
    [
        b'1,"x"\n',
        b"1,x\n\n2,x\n",
        b"#1,x\n",
        b"1,x\n2\n3,x,y\n",
        b"1,x\r\n2,x\n",
        b"1,\xc3\xa9\n",
        b"1,\0\n",
        b"1,x\ry\n",
    ],
)
def test_what_is_not_plain_is_left_to_the_careful_way(data: bytes) -> None:
    assert Bulk.of(Lines(1, data), 2) is None


def test_the_last_line_may_lack_its_end() -> None:
    bulk = Bulk.of(Lines(5, b"1,2\n3,4"), 2)
    assert bulk is not None
    assert bulk.numbers_of_lines == range(5, 7)
    found = bulk.whole_numbers(1)
    assert found is not None
    assert found.tolist() == [2, 4]
