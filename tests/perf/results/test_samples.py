"""Files that other people's tools wrote, where they lie beside the project: that each is taken for what it is.

Expected numbers are read off the files.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from provisioner.perf.results import read_results, to_points

SAMPLES = Path(__file__).parents[3].parent / "shared" / "samples" / "results"

pytestmark = pytest.mark.skipif(not SAMPLES.is_dir(), reason="real results lie in ../shared, which is absent")

# File; kind; runs; requests; failed; asked and achieved RPS of the first run; median TTFT and TPOT in ms, of the first.
# TPOT is (mean E2E - TTFT) / (tokens - 1) where the tool's own is of chunks or not told (SGLang, inference-perf).
TOLD = {
    "aiperf_concurrency1.json": ("AIPerf summary", 1, 64, 0, None, 0.25043, 30.6685, 18.158),
    "aiperf_concurrency1_requests.jsonl": ("AIPerf requests", 1, 10, 0, None, 10 / 39.3875, 31.7429, 18.15335),
    "guidellm_v2.json": ("GuideLLM", 2, 2, 0, 2.0, 0.39843, 11.276, 1.04598),
    "inference_perf_stage_1.json": ("inference-perf stage", 1, 1884, 0, 31.4, 31.15591, 29.3081, 8.42362),
    "inferencex_conc4.json": ("InferenceX", 1, 40, 0, float("inf"), 1.65381, 477.180, 13.62267),
    "llmperf_summary.json": ("LLMPerf by concurrency", 8, None, 0, None, 29.58098 / 150, 190.8136, 32.48609),
    "sglang_serve_llama33_70b.jsonl": ("SGLang bench_serving", 7, 300, 0, 1.0, 300 / 298.36758, 85.74515, 14.53611),
    "vllm_serve_2025_pd_1p3d.json": ("vLLM bench serve", 1, 500, 0, float("inf"), 45.19108, 211.5486, 7.83357),
    "vllm_serve_2026_rate_0.5.json": ("vLLM bench serve", 1, 125, 0, 0.5, 0.34815, 1500.8368, 281.8535),
    "vllm_serve_2026_sharegpt.json": ("vLLM bench serve", 1, 250, 0, 0.3, 0.29646, 434.8737, 122.3448),
}


def test_every_file_is_known() -> None:
    assert {file.name for file in SAMPLES.iterdir()} == set(TOLD)


@pytest.mark.parametrize("name", sorted(TOLD))
def test_it_is_taken_for_what_it_is(name: str) -> None:
    kind, count, completed, failed, asked, achieved, ttft_ms, tpot_ms = TOLD[name]
    runs = read_results(SAMPLES / name)
    first = runs[0]
    assert ({run.kind for run in runs}, len(runs)) == ({kind}, count)
    assert (first.completed, first.failed, first.asked_rps) == (completed, failed, asked)
    assert first.achieved_rps == pytest.approx(achieved, rel=1e-4)
    imported = to_points(runs, ("m", "x", 1), "concurrency")
    assert first.seen[0].ttft_s == pytest.approx(ttft_ms / 1e3, rel=1e-4)
    assert imported.points.decode_s[0] == pytest.approx(tpot_ms / 1e3, rel=1e-4)


def test_only_runs_without_company_give_prefill_times() -> None:
    alone = {
        "aiperf_concurrency1.json",
        "aiperf_concurrency1_requests.jsonl",
        "guidellm_v2.json",
        "llmperf_summary.json",
    }
    for name in TOLD:
        imported = to_points(read_results(SAMPLES / name), ("m", "x", 1), "concurrency")
        assert (sum(account.prefill_rows for account in imported.accounts) > 0) == (name in alone)
