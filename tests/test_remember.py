"""Results kept from one run to the next."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

SOURCE = """
from provisioner.remember import remembered
CALLS = []

@remembered
def double(x):
    CALLS.append(x)
    return 2 * x
"""


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], tuple[Callable[[int], int], list[int]]]:
    """Import a source as a module, as another run would."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    file = tmp_path / "source" / "doubling.py"
    file.parent.mkdir()

    def imported(source: str) -> tuple[Callable[[int], int], list[int]]:
        file.write_text(source, encoding="utf-8")
        spec = importlib.util.spec_from_file_location("doubling", file)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, "doubling", module)
        spec.loader.exec_module(module)
        return module.double, module.CALLS

    return imported


def test_another_run_need_not_work_it_out_again(load: Callable[[str], tuple[Callable[[int], int], list[int]]]) -> None:
    double, calls = load(SOURCE)
    assert [double(3), double(4), double(3)] == [6, 8, 6]
    assert calls == [3, 4]
    double, calls = load(SOURCE)
    assert [double(3), double(5)] == [6, 10]
    assert calls == [5]


def test_other_sources_have_other_results(load: Callable[[str], tuple[Callable[[int], int], list[int]]]) -> None:
    """Also where only what the function calls has changed."""
    helped = SOURCE.replace("return 2 * x", "return helper(x)") + "\n\ndef helper(x):\n    return 2 * x\n"
    double, _ = load(helped)
    assert double(3) == 6
    double, _ = load(helped.replace("2 * x", "20 * x"))
    assert double(3) == 60


def test_where_nothing_can_be_kept_it_works_all_the_same(
    load: Callable[[str], tuple[Callable[[int], int], list[int]]], tmp_path: Path
) -> None:
    (tmp_path / "cache").write_text("a file where the folder would be", encoding="utf-8")
    double, calls = load(SOURCE)
    assert [double(3), double(3)] == [6, 6]
    assert calls == [3, 3]


@pytest.mark.parametrize("damage", [b"", b"I4x\n.", b"cnowhere\nnothing\n.", b"\x80\x05K"])
def test_a_damaged_result_is_worked_out_again(
    load: Callable[[str], tuple[Callable[[int], int], list[int]]], tmp_path: Path, damage: bytes
) -> None:
    double, calls = load(SOURCE)
    double(3)
    for file in (tmp_path / "cache").rglob("*.pickle"):
        file.write_bytes(damage)
    assert [double(3), double(3)] == [6, 6]
    assert calls == [3, 3]
