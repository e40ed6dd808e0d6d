"""Help answers at once, with an example; and what is heavy is imported only when it is needed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from provisioner import __version__
from tests.cli.runs import Provision, environment

COMMANDS = [
    (),
    ("optimize",),
    ("simulate",),
    ("compare",),
    ("pareto",),
    ("sweep",),
    ("curve",),
    ("whatif",),
    ("fleet",),
    ("list",),
    ("warmup",),
    ("profile", "show"),
    ("workload", "describe"),
    ("workload", "import"),
    ("workload", "generate"),
    ("profile", "validate"),
]
HEAVY = ("numba", "llvmlite", "scipy", "numpy", "joblib", "ortools", "ruamel", "provisioner.domain", "provisioner.sim")
"""Not pydantic, which newer versions of typer import themselves; ours stands in `provisioner.domain`."""


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_help_has_an_example_of_this_command(provision: Provision, command: tuple[str, ...]) -> None:
    for flag in ("--help", "-h"):
        run = provision(*command, flag)
        assert run.code == 0
        assert run.err == ""
        example = run.out[run.out.rindex("Example") :]
        assert f"provision {' '.join(command)}".strip() in " ".join(example.split()).replace(
            "provision --", "provision optimize --" if command == ("optimize",) else "provision --"
        )


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_option_is_explained(provision: Provision, command: tuple[str, ...]) -> None:
    text = provision(*command, "--help").out
    assert max(map(len, text.splitlines())) <= 80
    assert not re.search(r"^ +--.* <", text, re.MULTILINE), "a value has a name of the user's, not of a type"
    lines = text[: text.rindex("Example")].splitlines()
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        words = line.split()
        if words and words[0].startswith("--") and len(line.rstrip()) < 35 and words[0] != "--version":
            assert following.startswith(" " * 20), line


@pytest.mark.parametrize("command", [(), ("profile",), ("workload",)], ids=["provision", "profile", "workload"])
def test_every_command_is_said_in_a_line(provision: Provision, command: tuple[str, ...]) -> None:
    listed = provision(*command, "--help").out.split("Commands:")[1]
    assert "..." not in listed


@pytest.mark.parametrize("command", [(), ("optimize",), ("simulate",), ("profile", "show")], ids=" ".join)
def test_help_imports_nothing_heavy(folder: Path, command: tuple[str, ...]) -> None:
    code = (
        "import sys\n"
        "from provisioner.cli.main import main\n"
        f"assert main({[*command, '--help']!r}) == 0\n"
        f"print('HEAVY', sorted(set(sys.modules) & set({HEAVY!r})))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=environment(), capture_output=True, text=True, check=False
    )
    assert done.stdout.splitlines()[-1] == "HEAVY []", done.stdout + done.stderr


def test_completion_imports_nothing_heavy(folder: Path) -> None:
    """Each press of the tab key starts a process."""
    asked = {"_PROVISION_COMPLETE": "complete_bash", "COMP_WORDS": "provision sim", "COMP_CWORD": "1"}
    code = (
        "import atexit, sys\n"
        f"atexit.register(lambda: print('HEAVY', sorted(set(sys.modules) & set({HEAVY!r}))))\n"
        "sys.argv = ['provision']\n"
        "from provisioner.cli.main import run\n"
        "run()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=environment(asked), capture_output=True, text=True, check=False
    )
    assert "simulate" in done.stdout.splitlines(), done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == "HEAVY []"


def test_version(provision: Provision) -> None:
    run = provision("--version")
    assert (run.code, run.out.split()) == (0, ["provision", __version__])


@pytest.mark.parametrize("command", [(), ("profile",)], ids=["provision", "profile"])
def test_no_arguments_show_help(provision: Provision, command: tuple[str, ...]) -> None:
    run = provision(*command)
    assert run.code == 2
    assert run.out == ""
    assert run.err.startswith("Usage:")
    assert len(run.err.splitlines()) > 5
