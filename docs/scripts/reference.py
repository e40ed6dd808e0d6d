"""What MkDocs does while it builds: the command line's page from its own help, and links that leave the site."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterator
from contextlib import redirect_stdout
from typing import Any
from unittest import mock

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from typer.main import get_command

from provisioner.cli.main import main, parser

INTRODUCTION = """# Command line

What `--help` prints for each command. Exit codes: 0 an answer that meets every SLO; 1 an internal error; 2 bad input;
3 no cluster within the limits meets the SLOs; 130 interrupted.
"""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the page of the command line."""
    files.append(File.generated(config, "reference/cli.md", content=command_line()))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Links into the repository, outside the site, become the path that they name."""
    return re.sub(r"\[([^\]]+)\]\(\.\./((?:provisioner|tests|benchmarks|examples)/[^)]+)\)", r"\1 (`\2`)", markdown)


def command_line() -> str:
    """The page: a section for each command."""
    parts = [INTRODUCTION, _section(())]
    parts += [_section(path) for path in _commands(get_command(parser()), ())]
    return "\n".join(parts)


def _commands(command: Any, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Names of all commands, those of groups behind their group's."""
    for name, inner in getattr(command, "commands", {}).items():
        if not hasattr(inner, "commands"):
            yield (*path, name)
        yield from _commands(inner, (*path, name))


def _section(path: tuple[str, ...]) -> str:
    text = io.StringIO()
    with mock.patch.dict(os.environ, {"COLUMNS": "100", "NO_COLOR": "1"}), redirect_stdout(text):
        main([*path, "--help"])
    return f"## {' '.join(('provision', *path))}\n\n```text\n{text.getvalue().strip()}\n```\n"
