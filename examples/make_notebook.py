"""Write and run `sizing.ipynb`: `python examples/make_notebook.py`. The cells stand here, for review."""

from __future__ import annotations

from pathlib import Path

import nbformat
from nbclient import NotebookClient

FILE = Path(__file__).with_name("sizing.ipynb")
CELLS = [
    """# Sizing a cluster in a notebook

How many machines serve code completion at 20 requests per second within the Splitwise SLOs, and how far is the answer
from the edge? The pieces are those of the command line; see the documentation's *How to work in a notebook*.""",
    """from provisioner.catalog import Catalog
from provisioner.perf import read_profiles
from provisioner.search import Judge, Precision, Scenario, Workers, minimise, pareto
from provisioner.traces import Drawn, Poisson, SizeTable

catalog = Catalog.open()
entry, folder = catalog.workload("coding")
scenario = Scenario(
    model=catalog.model("bloom-176b"),
    slo=catalog.slo("splitwise"),
    profiles=read_profiles(catalog.find_file("profiles", "splitwise")),
    demand=Drawn(SizeTable.read(folder / entry.sizes), 0, Poisson()),
    rate_rps=20.0,
    span_s=120.0,
)""",
    """## The cheapest cluster

A search ends with a proof: every cheaper cluster was simulated and misses, or cannot do the work.""",
    """judge = Judge(catalog.design("HH"), scenario, Precision(replications=3))
with Workers(2) as workers:
    plan = minimise([judge], "cost", max_machines=30, workers=workers)
plan""",
    """## The ledger as a data frame

Everything that was simulated, with the same columns as CSV.""",
    """frame = plan.to_frame()
frame.groupby("machines")["status"].value_counts().unstack(fill_value=0)""",
    "## The neighbourhood\n\nNine limits over a small grid; the figure is data until it is drawn.",
    """from IPython.display import Image

from provisioner.report.figures import HeatMaps
from provisioner.report.plots import image

with Workers(2) as workers:
    grid = workers.map(judge.evaluate, [judge.cluster(p, t) for p in range(6, 14) for t in range(1, 6)])
maps = HeatMaps.of(grid, "HH, coding at 20 requests/s")
print(maps.note)
Image(image(maps, ".png"))""",
    "## Other designs\n\nClusters of which none is better than another in cost, power and machines.",
    """judges = [Judge(catalog.design(name), scenario, Precision(replications=2)) for name in ("HH", "HA")]
with Workers(2) as workers:
    front = pareto(judges, max_machines=20, workers=workers)
front""",
]


def made() -> nbformat.NotebookNode:
    """The notebook, not run yet."""
    notebook = nbformat.v4.new_notebook()
    notebook.metadata["kernelspec"] = {"display_name": "Python 3", "language": "python", "name": "python3"}
    for number, text in enumerate(CELLS):
        is_text = text.startswith("#") and not text.startswith("#!")
        cell = (nbformat.v4.new_markdown_cell if is_text else nbformat.v4.new_code_cell)(text)
        cell["id"] = f"cell-{number}"
        notebook.cells.append(cell)
    return notebook


def run(notebook: nbformat.NotebookNode) -> None:
    """Run it from top to bottom; an error in a cell is raised."""
    NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    for cell in notebook.cells:
        cell.get("metadata", {}).pop("execution", None)  # when each cell ran


if __name__ == "__main__":
    notebook = made()
    run(notebook)
    nbformat.write(notebook, FILE)
