"""A fault is one line, whatever it holds."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provisioner.cli.wording import word
from provisioner.errors import Fault


@pytest.mark.parametrize(
    ("fault", "line"),
    [
        (Fault(problem="is empty"), "is empty"),
        (Fault(problem="is empty", file=Path("a/b.yaml")), "a/b.yaml: is empty"),
        (Fault(problem="is bad", file="x.csv", line=3), "x.csv:3: is bad"),
        (Fault(problem="is bad", line=3), "is bad"),
        (Fault(problem="is bad", field="--rps", value=-1), "--rps: is bad (got -1)"),
        (
            Fault(problem="must be at least 1", file="m.yaml", line=2, field="gpus", value=0, allowed="a whole number"),
            "m.yaml:2: gpus: must be at least 1 (got 0); allowed: a whole number",
        ),
        (Fault(problem="p", value=True), "p (got true)"),
        (Fault(problem="p", value=""), "p (got '')"),
        (Fault(problem="p", value=0.1), "p (got 0.1)"),
        (Fault(problem="p", value={}), "p (got a mapping)"),
        (Fault(problem="p", value=[1]), "p (got a list)"),
        (Fault(problem="p", value=(1,)), "p (got a list)"),
        (Fault(problem="p", value=10**5000), "p (got a number of very many digits)"),
        (Fault(problem="p", value="x" * 100), f"p (got '{'x' * 57}...')"),
        (Fault(problem="p", value="a\nb\t\x1b[31m"), "p (got 'a\\nb\\t\\x1b[31m')"),
        (Fault(problem="p", value="\u202etxt.exe"), "p (got '\\u202etxt.exe')"),
        (Fault(problem="p", value="\udcff"), "p (got '\\udcff')"),
        (Fault(problem="p\r", file="a\nb", field="c\u2028"), "a\\nb: c\\u2028: p\\r"),
    ],
)
def test_a_fault_is_worded_of_what_it_has(fault: Fault, line: str) -> None:
    assert word(fault) == line


@given(
    st.builds(
        Fault,
        problem=st.text(min_size=1),
        file=st.none() | st.text(),
        line=st.none() | st.integers(),
        field=st.none() | st.text(),
        value=st.none() | st.text() | st.binary() | st.floats() | st.integers() | st.lists(st.text()),
        allowed=st.none() | st.text(),
    )
)
def test_it_is_always_one_printable_line_of_bounded_length(fault: Fault) -> None:
    line = word(fault)
    assert line.isprintable()
    assert len(line) < 1500 + len(str(fault.file)) * 10
