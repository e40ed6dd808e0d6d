"""Each kind of file, with numbers worked out by hand from `shapes`."""

from __future__ import annotations

import math

import pytest

from tests.perf.results import shapes
from tests.perf.results.conftest import Read


@pytest.mark.parametrize(("name", "content"), shapes.ALL.items(), ids=list(shapes.ALL))
def test_the_kind_is_found_by_content(read: Read, name: str, content: str) -> None:
    assert {run.kind for run in read(content)} == {name.partition(",")[0]}


def test_vllm_has_milliseconds_and_failures(read: Read) -> None:
    (run,) = read(shapes.vllm())
    (seen,) = run.seen
    assert (run.completed, run.failed, run.asked_rps, run.concurrency) == (100, 2, math.inf, 1)
    assert (run.achieved_rps, run.duration_s, run.model) == (0.9523809, 105.0, "some/model")
    assert (seen.prompt_tokens, seen.output_tokens) == (500, 101)
    assert (seen.ttft_s, seen.tpot_s) == pytest.approx((0.050, 0.010))  # medians
    assert seen.implied_tpot_s == pytest.approx((1.050 - 0.052) / 100)  # means


def test_the_rate_is_completions_over_the_duration_where_it_is_not_told(read: Read) -> None:
    run = shapes.vllm(request_rate=2.0)
    del run["request_throughput"]
    assert read(run)[0].achieved_rps == pytest.approx(100 / 105)


def test_vllm_lists_every_request_in_seconds_and_leaves_out_those_that_failed(read: Read) -> None:
    (run,) = read(shapes.vllm_detailed())
    assert [(seen.prompt_tokens, seen.output_tokens, seen.ttft_s) for seen in run.seen] == [
        (100, 3, 0.05),
        (200, 5, 0.06),
        (300, 1, 0.07),
    ]
    # TPOT counts tokens, not chunks: 40 ms over two tokens, then 80 ms over four of which two chunks were streamed.
    assert [seen.implied_tpot_s for seen in run.seen] == [pytest.approx(0.02), pytest.approx(0.02), None]
    assert run.failed == 1


def test_a_time_of_zero_is_counted_and_not_taken(read: Read) -> None:
    (run,) = read(shapes.vllm_detailed(ttfts=[0.0, 0.06, 0.07, 0.0]))
    assert run.zeros == 1  # that of the failed request is no measurement at all
    assert run.seen[0].ttft_s is None


def test_sglang_tells_tpot_by_the_end_to_end_time_not_by_chunks(read: Read) -> None:
    first, second = read(shapes.ALL["SGLang bench_serving"])
    (seen,) = first.seen
    assert (seen.prompt_tokens, seen.output_tokens, seen.ttft_s, seen.tpot_s) == (510, 401, 0.08, None)
    assert seen.implied_tpot_s == pytest.approx((4.080 - 0.080) / 400)
    assert (first.line, first.label, first.asked_rps) == (1, "random", 1.0)
    assert (second.line, second.label, second.asked_rps) == (2, "sharegpt", math.inf)  # a bare Infinity


def test_guidellm_has_seconds_and_milliseconds_and_its_own_tpot(read: Read) -> None:
    (run,) = read(shapes.guidellm())
    (seen,) = run.seen
    assert (seen.prompt_tokens, seen.output_tokens) == (32, 9)
    assert (seen.ttft_s, seen.tpot_s, seen.implied_tpot_s) == pytest.approx((0.02, 0.01, 0.01))
    assert (run.completed, run.failed, run.asked_rps, run.achieved_rps) == (2, 1, 2.0, 0.4)
    assert run.concurrency == 1  # as seen, not the 10,240 allowed


def test_an_older_guidellm_has_other_names(read: Read) -> None:
    report = shapes.guidellm()
    (benchmark,) = report["benchmarks"]
    benchmark["args"] = {"strategy": {"type_": "throughput"}}
    benchmark["run_stats"] = {"requests_made": benchmark["metrics"].pop("request_totals")}
    del benchmark["config"]
    (run,) = read(report)
    assert (run.completed, run.failed, run.asked_rps) == (2, 1, math.inf)


def test_aiperf_names_the_unit_of_each_metric(read: Read) -> None:
    (run,) = read(shapes.aiperf())
    (seen,) = run.seen
    assert (seen.ttft_s, seen.tpot_s, seen.implied_tpot_s) == pytest.approx((0.03, 0.018, 0.018))
    assert (run.completed, run.failed, run.concurrency, run.achieved_rps) == (64, 0, 1, 0.25)


def test_aiperf_requests_have_stamps_and_some_do_not_count(read: Read) -> None:
    warm = shapes.aiperf_request(0.0)
    warm["metadata"]["benchmark_phase"] = "warmup"
    lost = shapes.aiperf_request(9.0, error={"code": 500})
    (run,) = read(shapes.lines(shapes.aiperf_request(5.0), warm, lost, shapes.aiperf_request(1.0)))
    assert (run.completed, run.failed, run.warmup) == (2, 1, 1)
    assert [(seen.start_s, seen.end_s, seen.line) for seen in run.seen] == [(5.0, 6.03, 1), (1.0, 2.03, 4)]
    assert run.duration_s == pytest.approx(6.03 - 1.0)


def test_inference_perf_has_seconds_and_counts_chunks(read: Read) -> None:
    (run,) = read(shapes.inference_perf())
    (seen,) = run.seen
    assert (run.completed, run.failed, run.asked_rps, run.achieved_rps) == (990, 10, 20.0, 19.8)
    assert (seen.tpot_s, seen.implied_tpot_s) == pytest.approx((0.005, 0.010))


def test_inference_perf_requests_have_stamps_of_chunks(read: Read) -> None:
    lost = shapes.inference_perf_request(7.0, error={"error_type": "timeout"})
    (run,) = read(shapes.lines(shapes.inference_perf_request(100.0), lost, shapes.inference_perf_request(103.0)))
    assert (run.completed, run.failed) == (2, 1)
    assert [seen.ttft_s for seen in run.seen] == pytest.approx([0.05, 0.05])
    assert [seen.implied_tpot_s for seen in run.seen] == pytest.approx([0.02, 0.02])


def test_inferencex_has_seconds_under_the_names_of_vllm(read: Read) -> None:
    (run,) = read(shapes.inferencex())
    (seen,) = run.seen
    assert (seen.prompt_tokens, seen.output_tokens, seen.ttft_s, seen.tpot_s) == (1024, 128, 0.4, 0.015)


def test_llmperf_mixes_milliseconds_and_seconds(read: Read) -> None:
    runs = read(shapes.llmperf())
    assert [run.concurrency for run in runs] == [1, 2, 4]
    assert [run.seen[0].ttft_s for run in runs] == pytest.approx([0.19, 0.38, 0.76])
    assert [run.seen[0].tpot_s for run in runs] == pytest.approx([0.031, 0.032, 0.034])
    assert [run.achieved_rps for run in runs] == pytest.approx([0.2, 0.4, 0.8])  # 30.2 n tokens a second of 151
    assert [run.completed for run in runs] == [None] * 3


def test_llmperf_itself_writes_a_flat_summary_and_responses(read: Read) -> None:
    (summary,) = read(shapes.llmperf_summary())
    assert (summary.completed, summary.failed, summary.achieved_rps) == (20, 3, 0.2)
    assert (summary.seen[0].ttft_s, summary.seen[0].implied_tpot_s) == pytest.approx((0.18, 0.05))
    (responses,) = read(shapes.ALL["LLMPerf responses"])
    assert (responses.completed, responses.failed) == (1, 1)
    assert responses.seen[0].implied_tpot_s == pytest.approx(0.02)


def test_plain_csv_has_a_run_for_each_concurrency(read: Read) -> None:
    alone, loaded = read(shapes.PLAIN)
    assert [(run.concurrency, run.completed, run.failed) for run in (alone, loaded)] == [(1, 3, 0), (16, 1, 1)]
    assert [seen.ttft_s for seen in alone.seen] == pytest.approx([0.040, 0.042, 0.080])


def test_plain_csv_says_which_columns_it_does_not_read(read: Read) -> None:
    (run,) = read("prompt_tokens,output_tokens,gpu,ttft_s\n10,10,h100,0.1\n")
    assert run.notes == ("columns not read: gpu",)
