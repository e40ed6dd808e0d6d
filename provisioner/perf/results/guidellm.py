"""GuideLLM: a report of several benchmarks; the request latency in seconds, all else in milliseconds.

Its `time_per_output_token` divides the whole latency by the tokens, so it holds the TTFT; its `inter_token_latency` is
what we call TPOT. Names differ by version: settings are under `config` or `args`, and totals in one of three places.
"""

from __future__ import annotations

import math

from provisioner.errors import FaultList
from provisioner.perf.results.fields import Fields
from provisioner.perf.results.run import Run, Seen, first, implied_tpot_s, typical
from provisioner.perf.results.sglang import first_text
from provisioner.perf.results.source import Source
from provisioner.perf.results.vllm import lacking

NAME = "GuideLLM"


def why_not(source: Source) -> str | None:
    """Why a file is no report of GuideLLM's; None where it is one."""
    if missing := lacking(source, ("benchmarks",)):
        return missing
    benchmarks = source.first["benchmarks"]
    if not isinstance(benchmarks, list) or not benchmarks:
        return "benchmarks is no list, or empty"
    return None if isinstance(benchmarks[0], dict) and "metrics" in benchmarks[0] else "no benchmarks[0].metrics"


def read(source: Source, faults: FaultList) -> list[Run]:
    """Read one run a benchmark."""
    runs: list[Run] = []
    for record in source.records:
        report = Fields(record.values, faults, record.line)
        benchmarks = report.parts("benchmarks")
        runs += [_run(each, report, source, number) for number, each in enumerate(benchmarks)]
    return runs


def _run(benchmark: Fields, report: Fields, source: Source, number: int) -> Run:
    settings = benchmark.part("config" if "config" in benchmark else "args")
    strategy = settings.part("strategy")
    metrics = benchmark.part("metrics")
    totals = next(
        (
            part
            for part in (
                metrics.part("request_totals"),
                benchmark.part("request_totals"),
                benchmark.part("scheduler_metrics", "requests_made"),
            )
            if "successful" in part
        ),
        benchmark.part("run_stats", "requests_made"),
    )
    completed = totals.count("successful") or 0
    seen, unmeasured = _typical(metrics) if completed else ((), 0)
    return Run(
        file=source.file,
        kind=NAME,
        label=f"benchmarks[{number}] {strategy.text('type_') or ''}".strip(),
        model=settings.part("backend").text("model") or first_text(report.part("args"), "model"),
        concurrency=_most_in_flight(strategy, metrics),
        asked_rps=_asked_rps(strategy),
        achieved_rps=metrics.part("requests_per_second", "successful").count("mean"),
        duration_s=benchmark.seconds("duration"),
        completed=round(completed),
        failed=round((totals.count("errored") or 0) + (totals.count("incomplete") or 0)),
        zeros=unmeasured,
        seen=seen,
    )


def _typical(metrics: Fields) -> tuple[tuple[Seen, ...], int]:
    def of(metric: str) -> Fields:
        return metrics.part(metric, "successful")

    prompt, output = of("prompt_token_count").count("mean"), of("output_token_count").count("mean")
    ttft, tpot, latency = of("time_to_first_token_ms"), of("inter_token_latency_ms"), of("request_latency")
    ttft_s = first(ttft.seconds("median", "ms"), ttft.seconds("mean", "ms"))
    tpot_s = first(tpot.seconds("median", "ms"), tpot.seconds("mean", "ms"))
    implied = implied_tpot_s(latency.seconds("mean"), ttft.seconds("mean", "ms"), output or 0)
    return typical(prompt, output, (ttft_s, tpot_s), implied)


def _most_in_flight(strategy: Fields, metrics: Fields) -> float | None:
    if strategy.text("type_") == "synchronous":
        return 1
    seen = metrics.part("request_concurrency", "total").count("max")
    return first(seen or None, strategy.count("streams"), strategy.count("max_concurrency"))


def _asked_rps(strategy: Fields) -> float | None:
    rate = strategy.rate("rate")
    return math.inf if rate is None and strategy.text("type_") == "throughput" else rate
