"""Where files are written: into what a link points to, into a device or pipe itself, and over nothing else."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from provisioner.errors import InputError
from provisioner.report.sink import check_writable, write


def test_a_link_stays_a_link_and_what_it_points_to_is_written(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    link, target = tmp_path / "latest.csv", tmp_path / "runs" / "today.csv"
    link.symlink_to(target)
    for content in ("new", "newer"):
        check_writable(link, "--csv")
        write(link, content, "--csv")
        assert link.is_symlink()
        assert target.read_text() == content
    assert [path.name for path in target.parent.iterdir()] == ["today.csv"]


def test_a_link_into_a_folder_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    (tmp_path / "latest.csv").symlink_to(tmp_path / "gone" / "today.csv")
    with pytest.raises(InputError, match="gone does not exist"):
        check_writable(tmp_path / "latest.csv", "--csv")


def test_a_pipe_is_written_to_and_not_replaced_by_a_file(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()), daemon=True)
    reader.start()
    check_writable(pipe, "--csv")
    write(pipe, ["a,b\n", "1,2\n"], "--csv")
    reader.join(10)
    assert read == ["a,b\n1,2\n"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="no /dev/full here")
def test_a_full_device_is_told_and_stays_a_device(tmp_path: Path) -> None:
    link = tmp_path / "full"
    link.symlink_to("/dev/full")
    check_writable(link, "--csv")
    with pytest.raises(InputError, match="No space left on device"):
        write(link, "text", "--csv")
    assert link.is_char_device()
