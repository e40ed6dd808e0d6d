"""The example notebook runs from top to bottom, and is the one that its script makes."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

nbformat = pytest.importorskip("nbformat", reason="notebooks are run with the extra [docs]")
pytest.importorskip("nbclient", reason="notebooks are run with the extra [docs]")
pytest.importorskip("ipykernel", reason="notebooks are run with the extra [docs]")
pytest.importorskip("pandas", reason="frames come with the extra [notebook]")

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_notebook", EXAMPLES / "make_notebook.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_it_is_the_one_of_its_script_and_was_run(script: ModuleType) -> None:
    kept = nbformat.read(EXAMPLES / "sizing.ipynb", as_version=4)
    assert [cell.source for cell in kept.cells] == [cell.source for cell in script.made().cells]
    code = [cell for cell in kept.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    assert sum(bool(cell.outputs) for cell in code) == len(code) - 1  # all but the first show something


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning", "ignore::FutureWarning")
def test_it_runs(script: ModuleType) -> None:
    notebook = script.made()
    script.run(notebook)
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert not [output for output in outputs if output.output_type == "error"]
    html = "".join(output.data.get("text/html", "") for output in outputs if "data" in output)
    assert "optimal: Splitwise-HH" in html
    assert any("image/png" in output.data for output in outputs if "data" in output)
