"""Small synthetic results of every kind, in the shape and with the traps of real ones; numbers that divide by hand."""

from __future__ import annotations

import json
from typing import Any

Json = dict[str, Any]


def vllm(**changes: Any) -> Json:
    """100 requests of 500 prompt and 101 output tokens: TTFT 50 ms, TPOT 10 ms, E2E 1,050 ms; one at a time."""
    run = {
        "date": "20260101-000000",
        "endpoint_type": "openai",
        "model_id": "some/model",
        "num_prompts": 102,
        "request_rate": "inf",
        "burstiness": 1.0,
        "max_concurrency": 1,
        "duration": 105.0,
        "completed": 100,
        "failed": 2,
        "total_input_tokens": 50_000,
        "total_output_tokens": 10_100,
        "request_throughput": 0.9523809,
        "mean_ttft_ms": 52.0,
        "median_ttft_ms": 50.0,
        "mean_tpot_ms": 9.98,
        "median_tpot_ms": 10.0,
        "mean_itl_ms": 20.0,
        "median_itl_ms": 20.0,
        "mean_e2el_ms": 1050.0,
        "median_e2el_ms": 1049.0,
    }
    return {**run, **changes}


def vllm_detailed(**changes: Any) -> Json:
    """Three requests that completed and one that failed; seconds. The third has one output token, so no TPOT."""
    lists = {
        "input_lens": [100, 200, 300, 400],
        "output_lens": [3, 5, 1, 0],
        "ttfts": [0.05, 0.06, 0.07, 0.0],
        "itls": [[0.01, 0.03], [0.04, 0.04], [], []],
        "generated_texts": ["a", "b", "c", ""],
        "errors": ["", "", "", "Traceback: timed out"],
    }
    return {**vllm(completed=3, failed=1, max_concurrency=8), **lists, **changes}


def sglang(**changes: Any) -> Json:
    """300 requests of 510 and 401 tokens: mean E2E 4,080 ms, median TTFT 80 ms, so TPOT is 10 ms; ITL says 12."""
    run = {
        "backend": "sglang",
        "dataset_name": "random",
        "request_rate": 1.0,
        "max_concurrency": None,
        "total_input_tokens": 153_000,
        "total_output_tokens": 120_300,
        "total_output_tokens_retokenized": 120_192,
        "mean_e2e_latency_ms": 4080.0,
        "median_e2e_latency_ms": 4000.0,
        "median_ttft_ms": 80.0,
        "median_itl_ms": 12.0,
        "output_throughput": 401.0,
        "random_range_ratio": 0.0,
        "duration": 300.0,
        "completed": 300,
    }
    return {**run, **changes}


def guidellm(**changes: Any) -> Json:
    """Two requests of 32 and 9 tokens, never two at once: latency 0.1 s, TTFT 20 ms, so 10 ms a token after it.

    `time_per_output_token_ms` is the latency over the tokens, as GuideLLM has it.
    """

    def statistics(mean: float, most: float | None = None) -> Json:
        part = {"mean": mean, "median": mean, "max": mean if most is None else most, "count": 2}
        return {"successful": part, "total": part, "errored": {**part, "mean": 0.0}, "incomplete": {}}

    benchmark = {
        "type_": "generative_benchmark",
        "config": {
            "strategy": {"type_": "constant", "rate": 2.0, "max_concurrency": 10_240},
            "backend": {"model": "mock"},
        },
        "duration": 5.0,
        "metrics": {
            "request_totals": {"successful": 2, "errored": 1, "incomplete": 0, "total": 3},
            "requests_per_second": statistics(0.4),
            "request_concurrency": statistics(0.01, most=1.0),
            "request_latency": statistics(0.1),
            "prompt_token_count": statistics(32.0),
            "output_token_count": statistics(9.0),
            "time_to_first_token_ms": statistics(20.0),
            "time_per_output_token_ms": statistics(11.1),
            "inter_token_latency_ms": statistics(10.0),
        },
        "requests": {"successful": [], "errored": [], "incomplete": []},
        **changes,
    }
    return {"metadata": {"version": "2"}, "config": {}, "benchmarks": [benchmark]}


def aiperf(**changes: Any) -> Json:
    """64 requests of 100 and 201 tokens at concurrency 1: TTFT 30 ms, TPOT 18 ms, E2E 3.63 s in its own unit."""

    def metric(average: float, unit: str) -> Json:
        return {"unit": unit, "avg": average, "p50": average}

    summary = {
        "request_throughput": metric(0.25, "requests/sec"),
        "request_latency": metric(3.63, "sec"),
        "request_count": metric(64.0, "requests"),
        "time_to_first_token": metric(30.0, "ms"),
        "inter_token_latency": metric(18_000.0, "us"),
        "inter_chunk_latency": metric(36.0, "ms"),
        "output_sequence_length": metric(201.0, "tokens"),
        "input_sequence_length": metric(100.0, "tokens"),
        "benchmark_duration": metric(256.0, "sec"),
        "error_request_count": None,
        "input_config": {
            "endpoint": {"model_names": ["some/model"]},
            "loadgen": {"concurrency": 1, "request_count": 64},
        },
    }
    return {**summary, **changes}


def aiperf_request(start_s: float, ttft_ms: float = 30.0, latency_ms: float = 1030.0, **changes: Any) -> Json:
    """One request of 100 and 101 tokens: TPOT 10 ms; stamps in nanoseconds."""

    def metric(value: float, unit: str) -> Json:
        return {"value": value, "unit": unit}

    record = {
        "metadata": {
            "request_start_ns": round(start_s * 1e9),
            "request_end_ns": round((start_s + latency_ms / 1e3) * 1e9),
            "benchmark_phase": "profiling",
            "was_cancelled": False,
        },
        "metrics": {
            "input_sequence_length": metric(100, "tokens"),
            "output_sequence_length": metric(101, "tokens"),
            "time_to_first_token": metric(ttft_ms, "ms"),
            "request_latency": metric(latency_ms, "ms"),
            "inter_token_latency": metric((latency_ms - ttft_ms) / 100, "ms"),
        },
        "error": None,
    }
    return {**record, **changes}


def inference_perf(**changes: Any) -> Json:
    """Seconds. E2E 0.53, TTFT 0.03, 51 tokens: 10 ms a token, of which the tool counts two chunks, so 5 ms."""

    def statistics(mean: float) -> Json:
        return {"mean": mean, "min": mean, "median": mean, "max": mean}

    stage = {
        "load_summary": {"count": 1000, "send_duration": 50.0, "requested_rate": 20.0, "achieved_rate": 20.01},
        "successes": {
            "count": 990,
            "latency": {
                "request_latency": statistics(0.53),
                "time_per_output_token": statistics(0.005),
                "time_to_first_token": statistics(0.03),
                "inter_token_latency": {"mean": 0.005, "median": 0.00004},
            },
            "throughput": {"requests_per_sec": 19.8},
            "prompt_len": statistics(204.0),
            "output_len": statistics(51.0),
        },
        "failures": {"count": 10, "request_latency": None},
    }
    return {**stage, **changes}


def inference_perf_request(start_s: float, **changes: Any) -> Json:
    """One request of 64 and 11 tokens: first chunk after 50 ms, end after 250 ms, so 20 ms a token."""
    return {
        "start_time": start_s,
        "end_time": start_s + 0.25,
        "request": "...",
        "response": "...",
        "info": {
            "input_tokens": 64,
            "output_tokens": 11,
            "output_token_times": [start_s + 0.05, start_s + 0.15, start_s + 0.25],
        },
        "error": None,
        **changes,
    }


def inferencex(**changes: Any) -> Json:
    """vLLM's names in seconds: 40 requests of 1,024 and 128 tokens, four at a time."""
    run = {
        "model_id": "some/model",
        "num_prompts": 40,
        "request_rate": "inf",
        "max_concurrency": 4,
        "duration": 24.0,
        "completed": 40,
        "total_input_tokens": 40_960,
        "total_output_tokens": 5_120,
        "request_throughput": 1.6666667,
        "median_ttft": 0.4,
        "median_e2el": 2.3,
        "median_tpot": 0.015,
    }
    return {**run, **changes}


def llmperf() -> Json:
    """Keyed by concurrency; TTFT and TPOT in ms, throughput in tokens per second."""
    return {
        str(n): {
            "concurrency": n,
            "input_token_length": 750,
            "output_token_length": 151,
            "first-time-to-token_mean_in_ms": 190.0 * n,
            "throughput_token_per_s": 30.2 * n,
            "latency_ms_per_token": 30.0 + n,
        }
        for n in (1, 2, 4)
    }


def llmperf_summary() -> Json:
    """The tool's own flat summary, in seconds: E2E 5.19, TTFT 0.19, 101 tokens, so 50 ms a token."""
    return {
        "model": "some-model",
        "num_concurrent_requests": 1,
        "mean_input_tokens": 550,
        "mean_output_tokens": 150,
        "results_inter_token_latency_s_mean": 0.052,
        "results_ttft_s_mean": 0.19,
        "results_ttft_s_quantiles_p50": 0.18,
        "results_end_to_end_latency_s_mean": 5.19,
        "results_number_input_tokens_mean": 600,
        "results_number_output_tokens_mean": 101,
        "results_num_completed_requests": 20,
        "results_num_completed_requests_per_min": 12.0,
        "results_number_errors": 3,
    }


def llmperf_response(**changes: Any) -> Json:
    """One response: E2E 2.1 s, TTFT 0.1 s, 101 tokens, so 20 ms a token."""
    return {
        "error_code": None,
        "error_msg": "",
        "inter_token_latency_s": 0.021,
        "ttft_s": 0.1,
        "end_to_end_latency_s": 2.1,
        "number_total_tokens": 651,
        "number_output_tokens": 101,
        "number_input_tokens": 550,
        **changes,
    }


PLAIN = """prompt_tokens,output_tokens,concurrency,ttft_ms,tpot_ms,error
512,100,1,40,9.5,
512,100,1,42,9.7,
1024,100,1,80,9.9,
512,100,16,400,14,
512,0,16,0,0,timeout
"""


def lines(*records: Json) -> str:
    """JSON lines."""
    return "".join(json.dumps(record) + "\n" for record in records)


ALL: dict[str, str] = {
    "vLLM bench serve": json.dumps(vllm()),
    "vLLM bench serve, detailed": json.dumps(vllm_detailed()),
    "SGLang bench_serving": lines(sglang(), sglang(request_rate=float("inf"), dataset_name="sharegpt")),
    "GuideLLM": json.dumps(guidellm()),
    "AIPerf summary": json.dumps(aiperf(), indent=1),
    "AIPerf requests": lines(aiperf_request(5.0), aiperf_request(1.0), aiperf_request(5.5)),
    "inference-perf stage": json.dumps(inference_perf()),
    "inference-perf requests": json.dumps([inference_perf_request(1.0), inference_perf_request(2.0)]),
    "InferenceX": json.dumps(inferencex()),
    "LLMPerf by concurrency": json.dumps(llmperf()),
    "LLMPerf summary": json.dumps(llmperf_summary()),
    "LLMPerf responses": json.dumps([llmperf_response(), llmperf_response(error_code=500)]),
    "plain CSV": PLAIN,
}
"""A file of each kind, by what the reader calls it (before the comma)."""
