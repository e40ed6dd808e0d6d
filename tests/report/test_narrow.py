"""Tables in narrow windows: no number is cut off; in wide ones they are as they were."""

from __future__ import annotations

import io

import pytest
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from provisioner.report.narrow import FittingTable
from provisioner.report.plain import plain
from tests.cli.runs import TINY, Provision
from tests.report.made import HOSTILE

HEAD = ("--design", "HH")
COMMANDS = {
    "optimize": (*HEAD, *TINY, "--minimize", "cost", "--max-machines", "9"),
    "compare": ("compare", *HEAD, "--design", "HA", *TINY, "--minimize", "cost", "--max-machines", "12"),
    "curve": ("curve", *HEAD, "--cluster", "5,1", "--rps", "5:10:5", *TINY[2:]),
    "sweep": ("sweep", *HEAD, *TINY, "--prompt", "2:60", "--token", "1:2"),
    "simulate": ("simulate", *HEAD, "--cluster", "5,2", *TINY, "--depth"),
    "whatif": ("whatif", *HEAD, "--cluster", "5,2", *TINY, "--fail", "prompt=1"),
    "generate": ("workload", "generate", "--target-rps", "10", "--duration", "10", "--out", "made.csv"),
}


def table(kind: type[Table]) -> Table:
    shown = kind(title=plain(HOSTILE), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False, padding=0)
    shown.add_column("Service", overflow="fold")
    shown.add_column("ttft\np50", justify="right", no_wrap=True)
    shown.add_column("USD/h", justify="right", no_wrap=True)
    shown.add_row(plain(HOSTILE), Text("1234.5!", style="red"), "1,234.56")
    shown.add_row("chat", "2.25", "")
    shown.caption = "! misses"
    return shown


def drawn(shown: Table, width: int) -> list[str]:
    text = io.StringIO()
    Console(file=text, width=width).print(shown)
    return [line.rstrip() for line in text.getvalue().splitlines()]


@pytest.mark.parametrize("width", [30, 40, 80, 200])
def test_where_there_is_room_it_is_the_table_it_was(width: int) -> None:
    assert drawn(table(FittingTable), width) == drawn(table(Table), width)


def test_where_there_is_none_each_row_is_written_out() -> None:
    lines = drawn(table(FittingTable), 22)
    assert "ttft p50 1234.5!" in lines
    assert "USD/h    1,234.56" in lines
    assert lines[lines.index("Service  chat") :] == ["Service  chat", "ttft p50 2.25", "", "! misses", ""]
    assert "\x1b" not in "".join(lines)
    assert "".join(HOSTILE.split("\x1b")[0].split()) in "".join("".join(lines).split())  # the title, folded


@pytest.mark.parametrize("name", COMMANDS)
def test_nothing_is_cut_off_at_40_columns(provision: Provision, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    run = provision(*COMMANDS[name], "--quiet")
    assert run.code in (0, 3), run.err
    assert "…" not in run.out
    assert max(map(len, run.out.splitlines())) <= 40
