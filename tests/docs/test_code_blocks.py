"""Every block of code in the documentation runs, page by page, each page in a folder of its own.

`sh` and `python` blocks are run in order; blocks with a title are written into the file that it names first.
`console` blocks need files or machines of the reader's: of these the options must exist.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from provisioner.cli.main import main

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
FENCE = re.compile(r"^```(\w*)(?: title=\"([^\"]+)\")?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    language: str
    title: str
    content: str


def blocks(page: Path) -> list[Block]:
    return [Block(*found) for found in FENCE.findall(page.read_text(encoding="utf-8"))]


def commands(content: str) -> Iterator[tuple[list[str], int]]:
    """Each command with the exit code that it says; lines that end with a backslash go on."""
    for line in content.replace("\\\n", " ").splitlines():
        if line.strip():
            said = re.search(r"# exits (\d+)$", line)
            yield shlex.split(line.removeprefix("$ "), comments=True), int(said[1]) if said else 0


RUN = [page for page in PAGES if any(block.language in ("sh", "python") for block in blocks(page))]


@pytest.mark.parametrize("page", RUN, ids=lambda page: str(page.relative_to(DOCS)))
def test_every_block_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib", reason="pages draw figures: extra [plot]")
    pytest.importorskip("vl_convert", reason="pages write reports: extra [report]")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in blocks(page):
        if block.language == "sh":
            for command, code in commands(block.content):
                assert command[0] == "provision"
                assert main(command[1:]) == code, shlex.join(command)
        elif block.language == "python":
            if "to_frame" in block.content:
                pytest.importorskip("pandas", reason="frames come with the extra [notebook]")
            exec(compile(block.content, str(page), "exec"), names)
        elif block.title:
            Path(block.title).parent.mkdir(parents=True, exist_ok=True)
            Path(block.title).write_text(block.content, encoding="utf-8")


CONSOLE = [
    (page, command)
    for page in PAGES
    for block in blocks(page)
    if block.language == "console"
    for command, _ in commands(block.content)
    if command[0] == "provision"
]


@pytest.mark.parametrize(
    ("page", "command"), CONSOLE, ids=[f"{page.stem}: {shlex.join(command)[:60]}" for page, command in CONSOLE]
)
def test_options_of_commands_that_are_only_shown_exist(
    page: Path,  # noqa: ARG001 - names the test
    command: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = command[1:]
    path = words[: next((place for place, word in enumerate(words) if not re.fullmatch(r"[a-z-]+", word)), len(words))]
    path = path if path and not path[0].startswith("-") else ["optimize"]
    while path and main([*path, "--help"]) != 0:
        path = path[:-1]  # an argument, not a command
    known = set(re.findall(r"--[a-z-]+|(?<=[ ,])-[a-z]\b", capsys.readouterr().out))
    used = {word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)}
    assert used <= known


def test_every_image_is_made_by_the_gallerys_script_and_shown() -> None:
    script = (DOCS / "scripts" / "gallery.py").read_text(encoding="utf-8")
    made = set(re.findall(r'^    "(\w+)": "provision', script, re.MULTILINE))
    gallery = (DOCS / "gallery.md").read_text(encoding="utf-8")
    assert made == {file.stem for file in (DOCS / "gallery").iterdir()}
    assert made == set(re.findall(r"\(gallery/(\w+)\.png\)", gallery))


def test_commands_shown_beside_images_are_those_that_made_them() -> None:
    script = " ".join(re.findall(r'"([^"]*)"', (DOCS / "scripts" / "gallery.py").read_text(encoding="utf-8")))
    shown = [shlex.join(command) for page, command in CONSOLE if page.stem == "gallery"]
    assert len(shown) > 10
    joined = re.sub(r"\s+", " ", script)
    assert not [command for command in shown if command not in joined]
