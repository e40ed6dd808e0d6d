"""Plain CSV: one request or one run a row, columns by name, with the unit of each time in its name.

    prompt_tokens,output_tokens,concurrency,batch,ttft_ms,tpot_ms,e2e_ms,start_s,end_s,error

Only `prompt_tokens`, `output_tokens` and one of the times are needed; `_s`, `_ms`, `_us` and `_ns` are units.
`concurrency` is the most requests in flight, `batch` the engine's batch; a row with an `error` failed.
"""

from __future__ import annotations

from itertools import groupby

from provisioner.errors import FaultList
from provisioner.perf.results.fields import Fields
from provisioner.perf.results.run import Run, Seen, implied_tpot_s, measured, zeros
from provisioner.perf.results.source import Record, Source

NAME = "plain CSV"
_UNITS = ("s", "ms", "us", "ns")
_TIMES = ("ttft", "tpot", "e2e")
_NO_ERROR = ("0", "false", "none", "null")
_OTHERS = ("prompt_tokens", "output_tokens", "concurrency", "batch", "start_s", "end_s", "error")


def why_not(source: Source) -> str | None:
    """Why a file is no plain CSV of results; None where it is one."""
    if source.form != "CSV":
        return f"it is {source.form}"
    missing = [name for name in ("prompt_tokens", "output_tokens") if name not in source.first]
    if missing:
        return f"no column {' or '.join(missing)}"
    if "prefill_s" in source.first or "decode_s" in source.first:
        return "it is a profile already"
    known = [f"{time}_{unit}" for time in _TIMES for unit in _UNITS]
    if any(name in source.first for name in known):
        return None
    bare = [time for time in _TIMES if time in source.first]
    return f"{bare[0]} names no unit: {bare[0]}_s or {bare[0]}_ms" if bare else f"no column {' or '.join(known[:8:2])}"


def read(source: Source, faults: FaultList) -> list[Run]:
    """Read one run for each concurrency."""
    known = {*_OTHERS, *(f"{time}_{unit}" for time in _TIMES for unit in _UNITS)}
    ignored = [name for name in source.first if name not in known]
    notes = (f"columns not read: {', '.join(ignored)}",) if ignored else ()
    for time in _TIMES:
        if sum(f"{time}_{unit}" in source.first for unit in _UNITS) > 1:
            Fields(source.first, faults, 1).fault(time, "given in two units", "one of them")

    def concurrency(record: Record) -> str:
        return str(record.values.get("concurrency") or "")

    by_concurrency = groupby(sorted(source.records, key=concurrency), key=concurrency)
    return [_run(list(records), source, faults, notes) for _, records in by_concurrency]


def _run(records: list[Record], source: Source, faults: FaultList, notes: tuple[str, ...]) -> Run:
    rows = [Fields(record.values, faults, record.line) for record in records]
    found = [_seen(row) for row in rows if (row.text("error") or "0").strip().casefold() in _NO_ERROR]
    concurrency = rows[0].count("concurrency")
    return Run(
        file=source.file,
        kind=NAME,
        line=rows[0].line,
        label="" if concurrency is None else f"concurrency {concurrency:g}",
        concurrency=concurrency,
        completed=len(found),
        failed=len(rows) - len(found),
        zeros=sum(zero for _, zero in found),
        seen=tuple(seen for seen, _ in found if seen.prompt_tokens and seen.output_tokens),
        notes=notes,
    )


def _seen(row: Fields) -> tuple[Seen, int]:
    times = {
        time: next((row.seconds(f"{time}_{unit}", unit) for unit in _UNITS if f"{time}_{unit}" in row), None)
        for time in _TIMES
    }
    output = row.count("output_tokens") or 0
    seen = Seen(
        prompt_tokens=row.count("prompt_tokens") or 0,
        output_tokens=output,
        ttft_s=measured(times["ttft"]),
        tpot_s=measured(times["tpot"]),
        implied_tpot_s=implied_tpot_s(times["e2e"], times["ttft"], output),
        start_s=row.stamp_s("start_s"),
        end_s=row.stamp_s("end_s"),
        batch=row.count("batch"),
        line=row.line,
    )
    return seen, zeros(*times.values())
