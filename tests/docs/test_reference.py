"""The page of the command line is made from the commands' own help."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

pytest.importorskip("mkdocs", reason="the site is built with the extra [docs]")

SCRIPT = Path(__file__).parents[2] / "docs" / "scripts" / "reference.py"


def test_every_command_has_a_section_with_its_usage() -> None:
    spec = importlib.util.spec_from_file_location("reference", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    page = module.command_line()
    for command in ("optimize", "sweep", "simulate", "profile validate", "workload describe", "list"):
        assert f"## provision {command}\n\n```text\nUsage: provision {command} [OPTIONS]" in page
    assert "--trace-events FILE.json" in page
    assert (
        module.on_page_markdown("see [x](../provisioner/a.py), [y](model.md)")
        == "see x (`provisioner/a.py`), [y](model.md)"
    )
