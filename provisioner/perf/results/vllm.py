"""`vllm bench serve`: aggregates in milliseconds; with `--save-detailed` lists of every request, in seconds.

Also InferenceX, which keeps vLLM's names without `_ms`, in seconds. Failed requests stand in the lists with a TTFT
of 0, no output, and an error.
"""

from __future__ import annotations

from collections.abc import Iterable

from provisioner.errors import FaultList
from provisioner.perf.results.fields import Fields
from provisioner.perf.results.run import Run, Seen, achieved, are_as_long, first, implied_tpot_s, measured, zeros
from provisioner.perf.results.source import Source

VLLM = "vLLM bench serve"
INFERENCEX = "InferenceX"
_KEYS = ("model_id", "duration", "completed", "total_input_tokens", "total_output_tokens")
_LISTS = ("input_lens", "output_lens", "ttfts")


def why_not_vllm(source: Source) -> str | None:
    """Why a file is no result of vLLM's; None where it is one."""
    return lacking(source, _KEYS) or lacking_any(source, ("mean_ttft_ms", "median_ttft_ms", "ttfts"))


def why_not_inferencex(source: Source) -> str | None:
    """Why a file is no result of InferenceX's; None where it is one."""
    return lacking(source, _KEYS) or lacking_any(source, ("mean_ttft", "median_ttft"))


def read_vllm(source: Source, faults: FaultList) -> list[Run]:
    """Read one run a record."""
    return [_run(Fields(r.values, faults, r.line), source, VLLM, "_ms") for r in source.records]


def read_inferencex(source: Source, faults: FaultList) -> list[Run]:
    """Read one run a record."""
    return [_run(Fields(r.values, faults, r.line), source, INFERENCEX, "") for r in source.records]


def lacking(source: Source, keys: Iterable[str]) -> str | None:
    """Name the keys that the first record of a JSON file lacks; None where it has all."""
    if source.form == "CSV":
        return "it is CSV"
    missing = [key for key in keys if key not in source.first]
    return f"no {', '.join(missing)}" if missing else None


def lacking_any(source: Source, keys: Iterable[str]) -> str | None:
    """Say that the first record has none of some keys; None where it has one."""
    names = list(keys)
    return None if any(key in source.first for key in names) else f"no {' or '.join(names)}"


def _run(record: Fields, source: Source, kind: str, suffix: str) -> Run:
    completed = record.count("completed") or 0
    told = record.count("failed")
    prompts = record.count("num_prompts")
    failed = told if told is not None else max((prompts or completed) - completed, 0)
    seen, unmeasured = of_lists(record, "start_times") if _LISTS[0] in record else of_means(record, completed, suffix)
    return Run(
        file=source.file,
        kind=kind,
        line=record.line,
        model=record.text("model_id"),
        concurrency=first(record.count("max_concurrency"), record.count("max_concurrent_requests")),
        asked_rps=record.rate("request_rate"),
        achieved_rps=achieved(completed, record.seconds("duration"), record.count("request_throughput")),
        duration_s=record.seconds("duration"),
        completed=round(completed),
        failed=round(failed),
        zeros=unmeasured,
        seen=seen,
    )


def of_means(record: Fields, completed: float, suffix: str) -> tuple[tuple[Seen, ...], int]:
    """Read the typical request of a run: mean lengths, median times where there are such; and how many are 0."""
    unit = "ms" if suffix else "s"

    def time_s(statistic: str, metric: str) -> float | None:
        return record.seconds(f"{statistic}_{metric}{suffix}", unit)

    prompt, output = record.count("total_input_tokens"), record.count("total_output_tokens")
    means = (time_s("mean", "e2el"), time_s("mean", "ttft"))
    medians = (time_s("median", "e2el"), time_s("median", "ttft"))
    ttft_s = first(medians[1], means[1])
    tpot_s = first(time_s("median", "tpot"), time_s("mean", "tpot"))
    if not completed or not prompt or output is None:
        return (), 0
    e2e_s, until_s = means if means[0] is not None else medians
    seen = Seen(
        prompt_tokens=prompt / completed,
        output_tokens=output / completed,
        ttft_s=measured(ttft_s),
        tpot_s=measured(tpot_s),
        implied_tpot_s=implied_tpot_s(e2e_s, until_s, output / completed),
        line=record.line,
    )
    return (seen,), zeros(ttft_s, tpot_s)


def of_lists(record: Fields, starts: str) -> tuple[tuple[Seen, ...], int]:
    """Read every request that did not fail, from lists in seconds; and how many TTFTs of theirs are 0.

    E2E is TTFT and the gaps after it.
    """
    prompts, outputs = record.many("input_lens", "count"), record.many("output_lens", "count")
    ttfts, start_s = record.many("ttfts"), record.many(starts, "stamp_s")
    errors, gaps = record.raw("errors"), record.each_list("itls")
    errors = errors if isinstance(errors, list) else None
    if prompts is None or outputs is None or ttfts is None:
        record.fault(_LISTS[0], "a list of requests is missing", ", ".join(_LISTS))
        return (), 0
    if not are_as_long(prompts, outputs, ttfts, errors, gaps, start_s):
        record.fault(_LISTS[0], "the lists of requests differ in length", "one entry a request in each")
        return (), 0
    seen: list[Seen] = []
    unmeasured = 0
    for row, (prompt, output, ttft_s) in enumerate(zip(prompts, outputs, ttfts, strict=True)):
        if not prompt or not output or (errors and errors[row]):
            continue
        unmeasured += zeros(ttft_s)
        after = gaps[row].many("itls") if gaps else None
        decode_s = sum(gap or 0 for gap in after) if after else None
        began = start_s[row] if start_s else None
        seen.append(
            Seen(
                prompt_tokens=prompt,
                output_tokens=output,
                ttft_s=measured(ttft_s),
                implied_tpot_s=decode_s / (output - 1) if decode_s and output > 1 else None,
                start_s=began,
                end_s=began + (ttft_s or 0) + (decode_s or 0) if began is not None else None,
                line=record.line,
            )
        )
    return tuple(seen), unmeasured
