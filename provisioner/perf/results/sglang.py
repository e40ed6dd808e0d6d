"""SGLang's `bench_serving`: JSON lines, one run a line, of several datasets and rates; times in milliseconds.

Older versions give neither TPOT nor a mean TTFT; TPOT then follows from the mean E2E and the median TTFT. ITL is
between streamed chunks, which may hold several tokens: it is not read.
"""

from __future__ import annotations

from provisioner.errors import FaultList
from provisioner.perf.results.fields import Fields
from provisioner.perf.results.run import Run, Seen, achieved, first, implied_tpot_s, measured, zeros
from provisioner.perf.results.source import Source
from provisioner.perf.results.vllm import lacking, lacking_any, of_lists

NAME = "SGLang bench_serving"


def why_not(source: Source) -> str | None:
    """Why a file is no result of SGLang's; None where it is one."""
    return lacking(source, ("completed", "duration", "total_input_tokens", "total_output_tokens")) or lacking_any(
        source, ("total_output_tokens_retokenized", "random_range_ratio", "sharegpt_output_len")
    )


def read(source: Source, faults: FaultList) -> list[Run]:
    """Read one run a line."""
    return [_run(Fields(record.values, faults, record.line), source) for record in source.records]


def _run(record: Fields, source: Source) -> Run:
    completed = record.count("completed") or 0
    duration_s = record.seconds("duration")
    lists = "input_lens" in record and "ttfts" in record
    seen, unmeasured = of_lists(record, "start_times") if lists else _typical(record, completed)
    errors = record.raw("errors")
    failed = sum(bool(error) for error in errors) if isinstance(errors, list) else 0
    return Run(
        file=source.file,
        kind=NAME,
        line=record.line,
        label=record.text("dataset_name") or "",
        model=first_text(record, "model_id", "model", "model_path"),
        concurrency=record.count("max_concurrency"),
        asked_rps=record.rate("request_rate"),
        achieved_rps=achieved(completed, duration_s, record.count("request_throughput")),
        duration_s=duration_s,
        completed=round(completed),
        failed=failed,
        zeros=unmeasured,
        seen=seen,
    )


def first_text(record: Fields, *names: str) -> str | None:
    """The first of some texts that there is."""
    return next((text for name in names if (text := record.text(name))), None)


def _typical(record: Fields, completed: float) -> tuple[tuple[Seen, ...], int]:
    prompt, output = record.count("total_input_tokens"), record.count("total_output_tokens")
    mean_ttft_s, median_ttft_s = record.seconds("mean_ttft_ms", "ms"), record.seconds("median_ttft_ms", "ms")
    ttft_s = first(median_ttft_s, mean_ttft_s)
    tpot_s = first(record.seconds("median_tpot_ms", "ms"), record.seconds("mean_tpot_ms", "ms"))
    e2e_s = record.seconds("mean_e2e_latency_ms", "ms")
    if not completed or not prompt or output is None:
        return (), 0
    seen = Seen(
        prompt_tokens=prompt / completed,
        output_tokens=output / completed,
        ttft_s=measured(ttft_s),
        tpot_s=measured(tpot_s),
        implied_tpot_s=implied_tpot_s(e2e_s, first(mean_ttft_s, median_ttft_s), output / completed),
        line=record.line,
    )
    return (seen,), zeros(ttft_s, tpot_s)
