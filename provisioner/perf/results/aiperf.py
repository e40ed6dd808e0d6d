"""AIPerf: a summary in which each metric names its unit, or JSON lines of every request, unsorted, with stamps in ns.

Its `inter_token_latency` is (E2E - TTFT) / (tokens - 1) of a request: our TPOT.
"""

from __future__ import annotations

from provisioner.errors import FaultList
from provisioner.perf.results.fields import PER_SECOND, Fields
from provisioner.perf.results.run import Run, Seen, achieved, first, implied_tpot_s, measured, typical, zeros
from provisioner.perf.results.source import Source
from provisioner.perf.results.vllm import lacking

SUMMARY = "AIPerf summary"
REQUESTS = "AIPerf requests"


def why_not_summary(source: Source) -> str | None:
    """Why a file is no summary of AIPerf's; None where it is one."""
    return lacking(source, ("request_count", "request_latency", "input_config"))


def why_not_requests(source: Source) -> str | None:
    """Why a file is no list of AIPerf's requests; None where it is one."""
    if missing := lacking(source, ("metadata", "metrics")):
        return missing
    metadata = source.first["metadata"]
    return None if isinstance(metadata, dict) and "request_start_ns" in metadata else "no metadata.request_start_ns"


def read_summary(source: Source, faults: FaultList) -> list[Run]:
    """Read one run a record."""
    return [_summary(Fields(record.values, faults, record.line), source) for record in source.records]


def read_requests(source: Source, faults: FaultList) -> list[Run]:
    """Read one run: all requests of the file."""
    seen: list[Seen] = []
    failed = warmup = unmeasured = 0
    for record in source.records:
        request = Fields(record.values, faults, record.line)
        metadata = request.part("metadata")
        if metadata.text("benchmark_phase") == "warmup":
            warmup += 1
        elif "error" in request or metadata.raw("was_cancelled") is True:
            failed += 1
        else:
            found, zero = _request(request.part("metrics"), metadata)
            unmeasured += zero
            seen.append(found)
    spans = [(each.start_s, each.end_s) for each in seen if each.start_s is not None and each.end_s is not None]
    duration_s = max(end for _, end in spans) - min(start for start, _ in spans) if spans else None
    return [
        Run(
            file=source.file,
            kind=REQUESTS,
            achieved_rps=achieved(len(seen), duration_s),
            duration_s=duration_s,
            completed=len(seen),
            failed=failed,
            zeros=unmeasured,
            warmup=warmup,
            seen=tuple(each for each in seen if each.prompt_tokens and each.output_tokens),
        )
    ]


def _request(metrics: Fields, metadata: Fields) -> tuple[Seen, int]:
    output = metrics.part("output_sequence_length").count("value") or 0
    ttft_s, tpot_s, e2e_s = (
        _time_s(metrics.part(name), "value")
        for name in ("time_to_first_token", "inter_token_latency", "request_latency")
    )
    seen = Seen(
        prompt_tokens=metrics.part("input_sequence_length").count("value") or 0,
        output_tokens=output,
        ttft_s=measured(ttft_s),
        tpot_s=measured(tpot_s),
        implied_tpot_s=implied_tpot_s(e2e_s, ttft_s, output),
        start_s=metadata.stamp_s("request_start_ns", "ns"),
        end_s=metadata.stamp_s("request_end_ns", "ns"),
        line=metadata.line,
    )
    return seen, zeros(ttft_s, tpot_s)


def _summary(record: Fields, source: Source) -> Run:
    completed = record.part("request_count").count("avg") or 0
    load = record.part("input_config", "loadgen")
    models = record.part("input_config", "endpoint").raw("model_names")
    seen, unmeasured = _typical(record) if completed else ((), 0)
    duration_s = _time_s(record.part("benchmark_duration"), "avg")
    return Run(
        file=source.file,
        kind=SUMMARY,
        line=record.line,
        model=models[0][:80] if isinstance(models, list) and models and isinstance(models[0], str) else None,
        # With a rate the load is open, whatever bound on the concurrency is echoed beside it.
        concurrency=None if "request_rate" in load else load.count("concurrency"),
        asked_rps=load.rate("request_rate"),
        achieved_rps=achieved(completed, duration_s, record.part("request_throughput").count("avg")),
        duration_s=duration_s,
        completed=round(completed),
        failed=round(record.part("error_request_count").count("avg") or 0),
        zeros=unmeasured,
        seen=seen,
    )


def _typical(record: Fields) -> tuple[tuple[Seen, ...], int]:
    prompt = record.part("input_sequence_length").count("avg")
    output = record.part("output_sequence_length").count("avg")
    ttft, tpot, latency = (
        record.part(name) for name in ("time_to_first_token", "inter_token_latency", "request_latency")
    )
    ttft_s = first(_time_s(ttft, "p50"), _time_s(ttft, "avg"))
    tpot_s = first(_time_s(tpot, "p50"), _time_s(tpot, "avg"))
    implied = implied_tpot_s(_time_s(latency, "avg"), _time_s(ttft, "avg"), output or 0)
    return typical(prompt, output, (ttft_s, tpot_s), implied, record.line)


def _time_s(metric: Fields, statistic: str) -> float | None:
    """A time in the unit that stands beside it."""
    unit = metric.text("unit")
    if statistic not in metric:
        return None
    if unit not in PER_SECOND:
        metric.fault("unit", "not a unit of time", ", ".join(PER_SECOND))
        return None
    return metric.seconds(statistic, unit)
