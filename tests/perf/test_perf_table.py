"""Profile sets: files told apart by content, and looked up by name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from provisioner.errors import InputError
from provisioner.perf import read_points, read_profiles, table

CSV = """\
model,machine,tensor_parallel,prompt_tokens,batch,output_tokens,prefill_s,decode_s
m,box,8,512,1,128,0.1,0.03
m,box,8,1024,2,128,0.3,0.04
m,other,8,512,1,128,0.2,0.03
"""


def the_fault(file: Path) -> tuple[object, ...]:
    with pytest.raises(InputError) as caught:
        read_profiles(file)
    (fault,) = caught.value.faults
    assert fault.file == file
    return fault.line, fault.problem, fault.allowed


def test_points_are_fitted(tmp_path: Path) -> None:
    file = tmp_path / "lab.txt"
    file.write_bytes(b"\xef\xbb\xbf" + CSV.encode())
    profiles = read_profiles(file)
    assert profiles.name == "lab"
    assert read_profiles(file, name="mine").name == "mine"
    assert profiles.get("m", "box", 8).prefill_s(512.0) == pytest.approx(0.1)
    assert list(read_points(file)) == [("m", "box", 8), ("m", "other", 8)]


def test_what_is_shown_reads_back_the_same(tmp_path: Path) -> None:
    source, shown = tmp_path / "points.csv", tmp_path / "shown.csv"
    source.write_text(CSV)
    model = read_profiles(source).get("m", "box", 8)
    shown.write_text(json.dumps(model.to_dict(), indent=2))
    assert read_profiles(shown).get("m", "box", 8).to_dict() == model.to_dict()


def test_a_profile_that_is_not_there(tmp_path: Path) -> None:
    file = tmp_path / "lab.csv"
    file.write_text(CSV)
    with pytest.raises(InputError) as caught:
        read_profiles(file).get("m", "box", 4)
    (fault,) = caught.value.faults
    assert fault.problem == "profile 'lab' has no such model, machine and tensor parallelism"
    assert fault.value == "m/box/tp4"
    assert fault.allowed == "m/box/tp8, m/other/tp8"


def test_every_profile_that_cannot_be_fitted_is_told(tmp_path: Path) -> None:
    file = tmp_path / "lab.csv"
    file.write_text(CSV.replace("0.3,0.04", "0.3,").replace("0.1,0.03", "0.1,").replace("0.2,0.03", ",0.03"))
    with pytest.raises(InputError) as caught:
        read_profiles(file)
    assert [(fault.file, fault.problem, fault.value) for fault in caught.value.faults] == [
        (file, "no decode_s was measured", "m/box/tp8"),
        (file, "no prefill_s was measured", "m/other/tp8"),
    ]


def test_knots_are_no_points(tmp_path: Path) -> None:
    file = tmp_path / "knots"
    file.write_text(" {}")
    with pytest.raises(InputError, match="holds knots, not measured points"):
        read_points(file)


def test_files_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert the_fault(tmp_path / "none") == (None, "cannot be read: No such file or directory", None)
    assert the_fault(tmp_path) == (None, "cannot be read: Is a directory", None)
    assert the_fault(Path("a\0b"))[1] == "cannot be read: embedded null byte"
    file = tmp_path / "file"
    file.write_bytes(b"model\nm\xff")
    assert the_fault(file) == (2, "is not UTF-8 text", "UTF-8")
    monkeypatch.setattr(table, "MAX_BYTES", 4)
    assert the_fault(file)[1] == "is too large"
