"""LLMPerf: a summary of runs keyed by concurrency, the tool's own flat summary, or its list of single responses.

The first mixes milliseconds and seconds; the others are in seconds. Its inter-token latency may count the first token
too, so TPOT is taken from E2E, TTFT and lengths where they are there.
"""

from __future__ import annotations

from provisioner.errors import FaultList
from provisioner.perf.results.fields import Fields, as_number
from provisioner.perf.results.run import Run, Seen, first, implied_tpot_s, measured, zeros
from provisioner.perf.results.source import Source
from provisioner.perf.results.vllm import lacking

KEYED = "LLMPerf by concurrency"
SUMMARY = "LLMPerf summary"
RESPONSES = "LLMPerf responses"
_TTFT, _TPOT = "first-time-to-token_mean_in_ms", "latency_ms_per_token"


def why_not_keyed(source: Source) -> str | None:
    """Why a file is no summary keyed by concurrency; None where it is one."""
    if source.form == "CSV":
        return "it is CSV"
    entries = list(source.first.values())
    if not entries or not isinstance(entries[0], dict):
        return "no runs keyed by concurrency"
    return None if _TTFT in entries[0] else f"no {_TTFT} in the first entry"


def why_not_summary(source: Source) -> str | None:
    """Why a file is no flat summary; None where it is one."""
    return lacking(source, ("num_concurrent_requests", "results_ttft_s_mean", "results_num_completed_requests"))


def why_not_responses(source: Source) -> str | None:
    """Why a file is no list of responses; None where it is one."""
    return lacking(source, ("ttft_s", "end_to_end_latency_s", "number_input_tokens", "number_output_tokens"))


def read_keyed(source: Source, faults: FaultList) -> list[Run]:
    """Read one run a key."""
    runs: list[Run] = []
    for record in source.records:
        table = Fields(record.values, faults, record.line)
        runs += [_keyed(table.part(key), key, source) for key in table]
    return runs


def read_summary(source: Source, faults: FaultList) -> list[Run]:
    """Read one run a record."""
    return [_summary(Fields(record.values, faults, record.line), source) for record in source.records]


def read_responses(source: Source, faults: FaultList) -> list[Run]:
    """Read one run: all responses of the file."""
    seen: list[Seen] = []
    failed = unmeasured = 0
    for record in source.records:
        response = Fields(record.values, faults, record.line)
        prompt, output = response.count("number_input_tokens"), response.count("number_output_tokens")
        if "error_code" in response or not prompt or not output:
            failed += 1
            continue
        ttft_s, e2e_s = response.seconds("ttft_s"), response.seconds("end_to_end_latency_s")
        unmeasured += zeros(ttft_s, e2e_s)
        implied = implied_tpot_s(e2e_s, ttft_s, output)
        seen.append(
            Seen(
                prompt_tokens=prompt,
                output_tokens=output,
                ttft_s=measured(ttft_s),
                implied_tpot_s=implied,
                line=record.line,
            )
        )
    return [
        Run(
            file=source.file,
            kind=RESPONSES,
            completed=len(seen),
            failed=failed,
            zeros=unmeasured,
            seen=tuple(seen),
        )
    ]


def _keyed(run: Fields, key: str, source: Source) -> Run:
    concurrency = run.count("concurrency")
    if concurrency is None and key.strip().isdecimal():
        concurrency = as_number(key)
    prompt, output = run.count("input_token_length"), run.count("output_token_length")
    ttft_s, tpot_s = run.seconds(_TTFT, "ms"), run.seconds(_TPOT, "ms")
    tokens_per_s = run.count("throughput_token_per_s")
    seen = Seen(prompt_tokens=prompt or 0, output_tokens=output or 0, ttft_s=measured(ttft_s), tpot_s=measured(tpot_s))
    return Run(
        file=source.file,
        kind=KEYED,
        label=f"concurrency {key[:20]}",
        concurrency=concurrency,
        achieved_rps=tokens_per_s / output if tokens_per_s and output else None,
        completed=None,
        zeros=zeros(ttft_s, tpot_s),
        seen=(seen,) if prompt and output else (),
    )


def _summary(record: Fields, source: Source) -> Run:
    completed = record.count("results_num_completed_requests") or 0
    prompt = first(record.count("results_number_input_tokens_mean"), record.count("mean_input_tokens"))
    output = first(record.count("results_number_output_tokens_mean"), record.count("mean_output_tokens"))
    ttft_s = first(record.seconds("results_ttft_s_quantiles_p50"), record.seconds("results_ttft_s_mean"))
    e2e_s, mean_ttft_s = record.seconds("results_end_to_end_latency_s_mean"), record.seconds("results_ttft_s_mean")
    per_minute = record.count("results_num_completed_requests_per_min")
    seen = Seen(
        prompt_tokens=prompt or 0,
        output_tokens=output or 0,
        ttft_s=measured(ttft_s),
        implied_tpot_s=implied_tpot_s(e2e_s, mean_ttft_s, output or 0),
        line=record.line,
    )
    return Run(
        file=source.file,
        kind=SUMMARY,
        line=record.line,
        model=record.text("model"),
        concurrency=record.count("num_concurrent_requests"),
        achieved_rps=None if per_minute is None else per_minute / 60,
        completed=round(completed),
        failed=round(record.count("results_number_errors") or 0),
        zeros=zeros(ttft_s, e2e_s),
        seen=(seen,) if prompt and output and completed else (),
    )
