"""The house has floors: each imports only from those above it, and only the lowest talks to the world."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "provisioner"
LAYERS = (
    ("errors", "folders"),
    ("remember",),
    ("texts",),
    ("domain",),
    ("catalog", "perf", "traces"),
    ("sim",),
    ("metrics", "capacity", "depth"),
    ("search",),
    ("fleet",),
    ("report",),
    ("cli",),
)
"""From the top. Those that stand on one floor know nothing of each other."""
RANK = {part: rank for rank, layer in enumerate(LAYERS) for part in layer}
MODULES = sorted(PACKAGE.rglob("*.py"))


def part_of(module: Path) -> str:
    """The first name below `provisioner`; empty for the package itself."""
    first = module.relative_to(PACKAGE).parts[0].removesuffix(".py")
    return "" if first == "__init__" else first


def imports(tree: ast.AST, module: Path) -> Iterator[tuple[int, str]]:
    """Line and dotted name of all that is imported, also within functions; relative names made absolute."""
    package = ["provisioner", *module.relative_to(PACKAGE).parts[:-1]]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            start = ".".join([*base, *([node.module] if node.module else [])])
            yield from ((node.lineno, f"{start}.{alias.name}") for alias in node.names)


def upward(source: str, module: Path) -> list[str]:
    """Imports that go the wrong way."""
    mine = part_of(module)
    wrong = []
    for line, name in imports(ast.parse(source), module):
        first, *rest = name.split(".")
        if first != "provisioner" or mine == "":
            continue
        other = rest[0] if rest else ""
        if other.startswith("__"):  # the package itself, as `__version__`
            continue
        if other != mine and RANK.get(other, len(LAYERS)) >= RANK[mine]:
            wrong.append(f"{module.name}:{line} imports {name}")
    return wrong


def forbidden(source: str) -> list[str]:
    """What only the command line may do: print, exit, read the environment."""
    found = []
    tree = ast.parse(source)
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id="print" | "exit" | "quit" | "input" as name)):
                found.append(f"{node.lineno}: {name}()")
            case ast.Name(id="SystemExit" as name):
                found.append(f"{node.lineno}: {name}")
            case ast.Attribute(value=ast.Name(id="sys"), attr="exit" | "stdout" | "stderr" | "stdin" | "argv" as name):
                found.append(f"{node.lineno}: sys.{name}")
            case ast.Attribute(value=ast.Name(id="os"), attr="environ" | "getenv" | "_exit" | "environb" as name):
                found.append(f"{node.lineno}: os.{name}")
            case ast.ImportFrom(module="os" | "sys" as start, names=names):
                banned = {"environ", "environb", "getenv", "_exit", "exit", "stdout", "stderr", "stdin", "argv"}
                found += [f"{node.lineno}: {start}.{alias.name}" for alias in names if alias.name in banned]
            case _:
                pass
    return found


def test_every_part_has_its_floor() -> None:
    parts = {part_of(module) for module in MODULES} - {""}
    assert parts <= set(RANK)
    assert {"errors", "domain", "catalog", "perf", "traces", "sim", "metrics", "capacity"} <= parts


@pytest.mark.parametrize("module", MODULES, ids=lambda module: str(module.relative_to(PACKAGE)))
def test_imports_go_one_way(module: Path) -> None:
    assert not upward(module.read_text(), module)


@pytest.mark.parametrize(
    "module",
    [module for module in MODULES if part_of(module) != "cli"],
    ids=lambda module: str(module.relative_to(PACKAGE)),
)
def test_only_the_command_line_talks_to_the_world(module: Path) -> None:
    found = forbidden(module.read_text())
    # The compiler's own switch, NUMBA_DISABLE_JIT, is read where the compiler is not loaded to read it.
    is_switch = module == PACKAGE / "sim" / "native.py"
    assert [each.split(": ")[1] for each in found] == (["os.environ"] if is_switch else [])


@pytest.mark.parametrize(
    ("place", "source"),
    [
        ("sim/kernel.py", "from provisioner.metrics import percentile"),
        ("sim/kernel.py", "import provisioner.cli.main"),
        ("sim/kernel.py", "def f():\n    from provisioner import search"),
        ("sim/kernel.py", "from ..search import minimise"),
        ("perf/fit.py", "from provisioner.catalog import Catalog"),
        ("domain/model.py", "from provisioner.sim import Network"),
        ("metrics.py", "from .capacity import WorkBound"),
        ("errors.py", "from provisioner import domain"),
        ("errors.py", "from provisioner.unheard_of import x"),
    ],
)
def test_this_test_finds_a_wrong_import(place: str, source: str) -> None:
    assert upward(source, PACKAGE / place)


def test_this_test_lets_a_right_import_pass() -> None:
    source = "import numpy\nfrom provisioner.errors import Fault\nfrom ..domain import model\nfrom .fit import fit"
    source += "\nfrom provisioner import __version__"
    assert not upward(source, PACKAGE / "perf" / "x.py")


@pytest.mark.parametrize(
    "source",
    [
        "print(1)",
        "import sys\nsys.exit(2)",
        "raise SystemExit",
        "import os\nos.environ['X']",
        "import os\nos.getenv('X')",
        "from os import environ",
        "import sys\nsys.stderr.write('x')",
    ],
)
def test_this_test_finds_talk(source: str) -> None:
    assert forbidden(source)
