"""The shipped size tables, alone and against the traces they were derived from."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from provisioner.domain.trace import RequestTrace
from provisioner.traces import SizeTable, read_trace

ROOT = Path(__file__).parents[2]
SHIPPED = ROOT / "provisioner" / "shipped" / "workloads"
RAW = ROOT.parent / "shared" / "data"
needs_raw = pytest.mark.skipif(not RAW.is_dir(), reason=f"the raw Azure traces are not in {RAW}")

# name: requests, span in s, medians, coefficient of variation of the gaps
FACTS = {
    "coding": (8_819, 3435.948056, (1469, 13), 13.15),
    "conversation": (19_366, 3501.721937, (1020, 129), 1.094),
}
names = pytest.mark.parametrize("name", FACTS)


def raw_trace(name: str) -> RequestTrace:
    return read_trace(RAW / f"azure_llm_2023_{name}.csv")


def expanded(table: SizeTable) -> tuple[np.ndarray, np.ndarray]:
    return np.repeat(table.prompt_tokens, table.count), np.repeat(table.output_tokens, table.count)


def ks_distance(left: np.ndarray, right: np.ndarray) -> float:
    return float(stats.ks_2samp(left, right, method="asymp").statistic)


@names
def test_table(name):
    path = SHIPPED / f"{name}.csv"
    table = SizeTable.read(path)
    requests, _, medians, _ = FACTS[name]
    assert path.stat().st_size <= 200_000
    assert table.requests == requests
    assert len(table) < 0.6 * requests
    assert [np.median(axis) for axis in expanded(table)] == pytest.approx(medians, rel=0.01)


@names
def test_table_names_its_source(name):
    text = (SHIPPED / f"{name}.csv").read_text(encoding="utf-8")
    head = "".join(line for line in text.splitlines() if line.startswith("#"))
    for part in ("Azure LLM inference trace 2023", "Azure Public Dataset", "CC-BY 4.0", "Patel et al.", "ISCA 2024"):
        assert part in head


@names
def test_large_samples_follow_the_table(name):
    table = SizeTable.read(SHIPPED / f"{name}.csv")
    for independent in (False, True):
        drawn = table.sample(100_000, np.random.default_rng(2), independent=independent)
        for axis, own in zip(drawn, expanded(table), strict=True):
            assert ks_distance(axis, own) < 0.02


@needs_raw
@names
def test_raw_trace(name):
    trace = raw_trace(name)
    requests, span_s, medians, cv = FACTS[name]
    gaps = np.diff(trace.arrival_s)
    assert len(trace) == requests
    assert trace.arrival_s[0] == 0.0
    assert trace.span_s == pytest.approx(span_s, abs=1e-9)
    assert (np.median(trace.prompt_tokens), np.median(trace.output_tokens)) == medians
    assert gaps.std() / gaps.mean() == pytest.approx(cv, rel=1e-3)


@needs_raw
@names
def test_table_is_close_to_the_raw_trace(name):
    trace = raw_trace(name)
    raw = (trace.prompt_tokens, trace.output_tokens)
    own = expanded(SizeTable.read(SHIPPED / f"{name}.csv"))
    for mine, theirs in zip(own, raw, strict=True):
        assert ks_distance(mine, theirs) <= 0.005
        assert mine.mean() == pytest.approx(theirs.mean(), rel=0.001)
        assert np.max(np.abs(np.sort(mine) / np.sort(theirs) - 1)) < 0.0201
        assert np.percentile(mine, [90, 99, 100]) == pytest.approx(np.percentile(theirs, [90, 99, 100]), rel=0.011)
    assert stats.spearmanr(*own).statistic == pytest.approx(stats.spearmanr(*raw).statistic, abs=0.001)


@needs_raw
def test_tables_are_what_the_script_makes(tmp_path):
    script = ROOT / "benchmarks" / "derive_workloads.py"
    subprocess.run([sys.executable, script, RAW, tmp_path], check=True, capture_output=True)
    for name in FACTS:
        assert (tmp_path / f"{name}.csv").read_bytes() == (SHIPPED / f"{name}.csv").read_bytes()
