"""The two commands of the README's quick start can be taken from it, as `.ci/run` does."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"


def quick_start() -> list[str]:
    """The blocks of shell commands under "Quick start": the main job, then the tests."""
    text = README.read_text()
    if "## Quick start" not in text:
        pytest.skip("the README has no quick start")
    section = text.split("## Quick start", 1)[1].split("\n## ", 1)[0]
    return re.findall(r"^```sh\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(
    "file", [README, *README.parent.glob("docs/**/*.md"), *README.parent.glob("provisioner/**/*.py")]
)
def test_nobody_is_told_to_install_the_package_of_the_same_name_on_pypi(file: Path) -> None:
    """It is another project's, and would be installed in place of this one."""
    assert not re.search(r"pip\s+install\s+(-\S+\s+)*['\"]?provisioner\b", file.read_text(encoding="utf-8"))


def test_there_are_exactly_two_commands() -> None:
    blocks = quick_start()
    assert len(blocks) == 2
    for block in blocks:
        assert len(block.strip().splitlines()) == 1
        assert shlex.split(block)


@pytest.mark.parametrize(("index", "last"), [(0, "provision"), (1, "pytest")])
def test_each_does_its_own_set_up(index: int, last: str) -> None:
    """Nothing before it: it makes its environment, installs into it, and runs what it installed."""
    steps = [shlex.split(step) for step in quick_start()[index].split("&&")]
    assert steps[0][1:4] == ["-m", "venv", ".venv"]
    assert any("install" in step for step in steps[1:-1])
    assert steps[-1][0].startswith(".venv/bin/")
    assert last in {Path(word).name for word in steps[-1]}


def test_the_first_is_the_main_job() -> None:
    steps = shlex.split(quick_start()[0].split("&&")[-1])
    assert steps[1:] == ["--design", "HA", "--target-rps", "70", "--minimize", "cost"]
