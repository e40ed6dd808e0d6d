"""Against independent simulators: the paper's own, and a naive one of our specification, on equal traces.

Their results stand outside this project; where they are absent these tests are skipped. The times of single requests
must agree to rounding: theirs are written with seven decimals (the paper's simulator) and nine (ours).
"""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import numpy as np
import pytest

from provisioner.catalog import Catalog
from provisioner.domain.design import Design
from provisioner.domain.model import Model
from provisioner.domain.slo import SloSet
from provisioner.domain.trace import Floats, RequestTrace
from provisioner.metrics import Yardstick, latencies
from provisioner.perf import PerformanceModel, ProfileSet, read_profiles
from provisioner.sim import Network, Simulation

REFERENCE = Path(__file__).parents[2].parent / "shared" / "reference"
SPECIFICATION = REFERENCE / "specification"
SPLITWISESIM = REFERENCE / "splitwisesim"

pytestmark = pytest.mark.skipif(
    not REFERENCE.is_dir(), reason=f"the reference simulators' results are not at {REFERENCE}"
)


ABSENT = {"case": "absent", "prompt_machines": "0", "token_machines": "0"}


def rows(file: Path) -> list[dict[str, str]]:
    """The rows of a table; one to be skipped where it is absent."""
    if not file.exists():
        return [ABSENT]
    with file.open(newline="") as lines:
        return list(csv.DictReader(lines))


def table(file: Path) -> Floats:
    with gzip.open(file, "rt") if file.suffix == ".gz" else file.open() as lines:
        return np.loadtxt(lines, delimiter=",", skiprows=1)


_traces: dict[str, RequestTrace] = {}


def trace_of(name: str) -> RequestTrace:
    """The trace of a case, whose path there is relative to its folder."""
    name = Path(name).name
    if name not in _traces:
        arrival_s, prompt_tokens, output_tokens = table(SPLITWISESIM / "traces" / name).T
        _traces[name] = RequestTrace(arrival_s.copy(), prompt_tokens.astype(np.int64), output_tokens.astype(np.int64))
    return _traces[name]


def performance_of(profiles: ProfileSet, design: Design, model: Model) -> dict[str, PerformanceModel]:
    return {box.name: profiles.get(model.name, box.name, design.tensor_parallel) for box in design.machines}


def measured(
    catalog: Catalog, profiles: ProfileSet, slo: SloSet, case: dict[str, str]
) -> tuple[Simulation, dict[str, float]]:
    """Simulate a case; the second result is the nine percentiles as slowdowns, by name."""
    design, model = catalog.design(case["design"]), catalog.model(case["model"])
    trace = trace_of(case["trace"])
    network = Network.of(design, model, performance_of(profiles, design, model))
    simulation = network.simulate(int(case["prompt_machines"]), int(case["token_machines"]), trace)
    reference = profiles.get(model.name, slo.reference_machine, design.tensor_parallel)
    yardstick = Yardstick(slo, trace, reference)
    return simulation, dict(zip([limit.name for limit in slo.limits], yardstick.values(simulation), strict=True))


def in_seconds(slo: SloSet) -> SloSet:
    limits = [limit.model_copy(update={"unit": "s"}) for limit in slo.limits]
    return slo.model_copy(update={"limits": tuple(limits)})


def assert_percentiles(
    slo: SloSet, simulation: Simulation, slowdowns: dict[str, float], case: dict[str, str], rtol: float
) -> None:
    reference = read_profiles(Catalog.open().find_file("profiles", "splitwisesim")).get("bloom-176b", "dgx-a100", 8)
    seconds = Yardstick(in_seconds(slo), simulation.trace, reference).values(simulation)
    assert len(slowdowns) == 9
    for (name, slowdown), value_s in zip(slowdowns.items(), seconds, strict=True):
        assert slowdown == pytest.approx(float(case[f"{name}_slowdown"]), rel=rtol), f"{name} slowdown"
        assert value_s == pytest.approx(float(case[f"{name}_s"]), rel=rtol), f"{name} in seconds"


@pytest.mark.parametrize("case", rows(SPECIFICATION / "cases.csv"), ids=lambda case: case["case"])
def test_a_naive_simulator_of_the_specification(case: dict[str, str]) -> None:
    catalog = Catalog.open()
    slo = catalog.slo("splitwise")
    simulation, slowdowns = measured(catalog, read_profiles(SPECIFICATION / "knots.json"), slo, case)
    assert simulation.unfinished == int(case["unfinished"])
    assert_percentiles(slo, simulation, slowdowns, case, 1e-4)
    _, first_token_s, finish_s = table(SPECIFICATION / "requests" / f"{case['case']}.csv.gz").T
    np.testing.assert_allclose(simulation.first_token_s, first_token_s, rtol=0, atol=1e-6)
    np.testing.assert_allclose(simulation.finish_s, finish_s, rtol=0, atol=1e-6)


def splitwisesim() -> tuple[Catalog, ProfileSet, SloSet]:
    """What the preset says: overrides, profile and SLOs."""
    catalog = Catalog.open(preset="splitwisesim")
    preset = catalog.preset("splitwisesim")
    assert preset.profile is not None
    assert preset.slo is not None
    return catalog, read_profiles(catalog.find_file("profiles", preset.profile)), catalog.slo(preset.slo)


@pytest.mark.parametrize("case", rows(SPLITWISESIM / "cases.csv"), ids=lambda case: case["case"])
def test_the_papers_own_simulator(case: dict[str, str]) -> None:
    catalog, profiles, slo = splitwisesim()
    simulation, slowdowns = measured(catalog, profiles, slo, case)
    assert len(simulation.trace) == int(case["requests"])
    assert simulation.unfinished == 0
    assert_percentiles(slo, simulation, slowdowns, case, 1e-3)
    theirs = table(SPLITWISESIM / "requests" / f"{case['case']}.csv.gz")
    ours = latencies(simulation, slo)
    np.testing.assert_allclose(ours.ttft, theirs[:, 1], rtol=0, atol=1e-6)
    np.testing.assert_allclose(ours.e2e, theirs[:, 3], rtol=0, atol=1e-6)
    several = simulation.trace.output_tokens > 1
    np.testing.assert_allclose(ours.tbt[several], theirs[several, 2], rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    "cell",
    rows(SPLITWISESIM / "hh_coding_70rps_grid.csv"),
    ids=lambda cell: f"{cell['prompt_machines']}P+{cell['token_machines']}T",
)
def test_the_grid_of_the_papers_own_simulator(cell: dict[str, str]) -> None:
    catalog, profiles, slo = splitwisesim()
    case = cell | {"design": "Splitwise-HH", "model": "bloom-176b", "trace": "coding_70rps_grid.csv"}
    _, slowdowns = measured(catalog, profiles, slo, case)
    theirs = {name: float(cell[f"{name}_slowdown"]) for name in slowdowns}
    assert slowdowns == pytest.approx(theirs, rel=1e-3)
    limits = {limit.name: limit.limit for limit in slo.limits}
    passes = [values[name] <= limit for values in (slowdowns, theirs) for name, limit in limits.items()]
    assert passes[:9] == passes[9:]
