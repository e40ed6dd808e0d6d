"""inference-perf: one stage a file, in seconds, with asked and achieved rates; or a list of every request.

Its `time_per_output_token` and its ITL count streamed chunks; where a token comes in two chunks they are half of our
TPOT, which E2E, TTFT and lengths show.
"""

from __future__ import annotations

from provisioner.errors import FaultList
from provisioner.perf.results.fields import Fields
from provisioner.perf.results.run import Run, Seen, achieved, first, implied_tpot_s, measured, typical, zeros
from provisioner.perf.results.source import Source
from provisioner.perf.results.vllm import lacking

STAGE = "inference-perf stage"
REQUESTS = "inference-perf requests"


def why_not_stage(source: Source) -> str | None:
    """Why a file is no stage of inference-perf's; None where it is one."""
    return lacking(source, ("load_summary", "successes", "failures"))


def why_not_requests(source: Source) -> str | None:
    """Why a file is no list of inference-perf's requests; None where it is one."""
    if missing := lacking(source, ("start_time", "end_time", "info")):
        return missing
    info = source.first["info"]
    return None if isinstance(info, dict) and "output_token_times" in info else "no info.output_token_times"


def read_stage(source: Source, faults: FaultList) -> list[Run]:
    """Read one run a record."""
    return [_stage(Fields(record.values, faults, record.line), source) for record in source.records]


def read_requests(source: Source, faults: FaultList) -> list[Run]:
    """Read one run: all requests of the file."""
    requests = [Fields(record.values, faults, record.line) for record in source.records]
    completed = [request for request in requests if "error" not in request]
    found = [_request(request) for request in completed]
    seen = [each for each, _ in found if each is not None]
    spans = [(each.start_s, each.end_s) for each in seen if each.start_s is not None and each.end_s is not None]
    duration_s = max(end for _, end in spans) - min(start for start, _ in spans) if spans else None
    return [
        Run(
            file=source.file,
            kind=REQUESTS,
            achieved_rps=achieved(len(seen), duration_s),
            duration_s=duration_s,
            completed=len(completed),
            failed=len(requests) - len(completed),
            zeros=sum(zero for _, zero in found),
            seen=tuple(seen),
        )
    ]


def _request(request: Fields) -> tuple[Seen | None, int]:
    info = request.part("info")
    start_s, end_s = request.stamp_s("start_time"), request.stamp_s("end_time")
    chunks = info.many("output_token_times", "stamp_s")
    prompt, output = info.count("input_tokens"), info.count("output_tokens")
    if start_s is None or end_s is None or not prompt or not output:
        return None, 0
    if end_s < start_s or (chunks and chunks[0] is not None and chunks[0] < start_s):
        request.fault("start_time", "after the end or the first token", "a time before both")
        return None, 0
    ttft_s = chunks[0] - start_s if chunks and chunks[0] is not None else None
    seen = Seen(
        prompt_tokens=prompt,
        output_tokens=output,
        ttft_s=measured(ttft_s),
        implied_tpot_s=implied_tpot_s(end_s - start_s, ttft_s, output),
        start_s=start_s,
        end_s=end_s,
        line=request.line,
    )
    return seen, zeros(ttft_s)


def _stage(record: Fields, source: Source) -> Run:
    load, successes = record.part("load_summary"), record.part("successes")
    completed = successes.count("count") or 0
    seen, unmeasured = _typical(successes) if completed else ((), 0)
    return Run(
        file=source.file,
        kind=STAGE,
        line=record.line,
        concurrency=load.count("concurrency"),
        asked_rps=load.rate("requested_rate"),
        achieved_rps=first(successes.part("throughput").count("requests_per_sec"), load.count("achieved_rate")),
        duration_s=load.seconds("send_duration"),
        completed=round(completed),
        failed=round(record.part("failures").count("count") or 0),
        zeros=unmeasured,
        seen=seen,
    )


def _typical(successes: Fields) -> tuple[tuple[Seen, ...], int]:
    latency = successes.part("latency")
    prompt, output = successes.part("prompt_len").count("mean"), successes.part("output_len").count("mean")
    ttft, tpot = latency.part("time_to_first_token"), latency.part("time_per_output_token")
    ttft_s = first(ttft.seconds("median"), ttft.seconds("mean"))
    tpot_s = first(tpot.seconds("median"), tpot.seconds("mean"))
    e2e_s = latency.part("request_latency").seconds("mean")
    implied = implied_tpot_s(e2e_s, ttft.seconds("mean"), output or 0)
    return typical(prompt, output, (ttft_s, tpot_s), implied, successes.line)
