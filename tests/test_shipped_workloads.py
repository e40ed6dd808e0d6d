"""The shipped size tables stand in for the raw traces: simulated clusters tell no difference.

Issue: the nine percentiles of two clusters at 70 RPS within 2 % of those from sampling the raw trace, mean over 20
seeds, with the same arrival times. Source of the raw traces: Azure Public Dataset 2023, CC-BY 4.0.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from provisioner.catalog import Catalog
from provisioner.perf import read_profiles
from provisioner.search import Judge, Precision, Scenario
from provisioner.traces import Drawn, Poisson, SizeTable, read_trace

RAW = Path(__file__).parents[1].parent / "shared" / "data"
SEEDS = 20

pytestmark = pytest.mark.skipif(not RAW.is_dir(), reason="the raw traces lie in ../shared, which is absent")


@pytest.mark.parametrize(("workload", "prompt", "token"), [("coding", 35, 5), ("conversation", 25, 15)])
def test_percentiles_are_those_of_the_raw_trace(workload: str, prompt: int, token: int) -> None:
    catalog = Catalog.open()
    entry, folder = catalog.workload(workload)
    shipped = SizeTable.read(folder / entry.sizes)
    raw = SizeTable.of_trace(read_trace(RAW / f"azure_llm_2023_{workload}.csv"))
    values = []
    for sizes in (shipped, raw):
        scenario = Scenario(
            model=catalog.model("bloom-176b"),
            slo=catalog.slo("splitwise"),
            profiles=read_profiles(catalog.find_file("profiles", "splitwise")),
            demand=Drawn(sizes, 0, Poisson()),
            rate_rps=70.0,
            span_s=120.0,
        )
        judge = Judge(catalog.design("HH"), scenario, Precision(replications=SEEDS))
        evaluation = judge.evaluate(judge.cluster(prompt, token), whole=True)
        assert evaluation.replications == SEEDS
        values.append([result.value for result in evaluation.results])
    assert len(values[0]) == 9
    np.testing.assert_allclose(values[0], values[1], rtol=0.02)
