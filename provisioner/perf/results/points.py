"""From what a benchmark saw to measured points.

- A prefill time is the TTFT of a request that was alone until its first token: under load it holds queueing.
- A decode time is TPOT, with the engine's batch: 1 for a request that was alone until it ended; otherwise as the file
  or the user says, since the concurrency that a load generator reports is not the engine's batch.
- Whether a tool's TPOT is ours, E2E, TTFT and lengths show: where they imply another time by more than a quarter (the
  tool counts chunks for tokens, or the first token too), what they imply is taken, and said.

Requests were alone where the run had a concurrency of 1, or where their times of day show it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from provisioner.errors import Fault, InputError
from provisioner.perf.points import MIN_SECONDS, Key, Points
from provisioner.perf.results.run import Run, Seen

RATE_SHORTFALL = 0.05
"""An achieved rate this much below the one asked is worth a remark."""

Batches = tuple[int, ...] | Literal["concurrency"] | None
Row = tuple[float, float, float, float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """What became of a run's requests."""

    run: Run
    prefill_rows: int
    decode_rows: int
    batch: int | None
    """Of the requests that were not alone; None where all were."""
    remarks: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """Measured points, and what they were made of."""

    points: Points
    accounts: tuple[Account, ...]


def to_points(runs: Sequence[Run], target: Key, batches: Batches = None) -> Imported:
    """Turn what was seen into measured points.

    Parameters
    ----------
    runs : sequence of Run
        Of one model on one machine at one tensor parallelism.
    target : (model, machine, tensor_parallel)
        Which; none of it stands in the files.
    batches : tuple of int, "concurrency" or None
        Engine's batch of each run whose requests were not alone, in order, or of all of them; `concurrency` takes the
        mean number of requests in their token phase, by Little's law.

    Raises
    ------
    InputError
        If a batch is needed and not given, or given and not needed, or no time was measured at all.
    """
    alone = [_alone(run) for run in runs]
    needing = [number for number, run in enumerate(runs) if _needs_batch(run, alone[number])]
    given = dict(zip(needing, _batches([runs[number] for number in needing], batches), strict=True))
    rows: list[Row] = []
    accounts: list[Account] = []
    for number, run in enumerate(runs):
        found = [_row(seen, place, given.get(number)) for seen, place in zip(run.seen, alone[number], strict=True)]
        kept = [row for row in found if not (np.isnan(row[3]) and np.isnan(row[4]))]
        rows += kept
        accounts.append(_account(run, kept, given.get(number), is_guessed=batches == "concurrency"))
    if not rows:
        raise InputError(
            Fault(
                problem="no time was measured in any request",
                file=runs[0].file,
                allowed="TTFT at concurrency 1, or TPOT",
            )
        )
    prompt, batch, output, prefill, decode = np.array(rows).T
    points = Points(
        model=target[0],
        machine=target[1],
        tensor_parallel=target[2],
        prompt_tokens=prompt,
        batch=batch,
        output_tokens=output,
        prefill_s=prefill,
        decode_s=decode,
    )
    return Imported(points=points, accounts=tuple(accounts))


def _alone(run: Run) -> list[tuple[bool, bool]]:
    """Whether each request was alone until its first token, and until its last."""
    if run.concurrency is not None and run.concurrency <= 1:
        return [(True, True)] * len(run.seen)
    spans = [(seen.start_s, seen.end_s) for seen in run.seen]
    if any(start is None or end is None for start, end in spans):
        return [(False, False)] * len(run.seen)
    start, end = np.array(spans, np.float64).reshape(-1, 2).T
    first_token = start + np.array([seen.ttft_s or 0.0 for seen in run.seen])
    order = np.lexsort((end, start))
    before = np.concatenate([[-np.inf], np.maximum.accumulate(end[order])[:-1]])
    after = np.concatenate([start[order][1:], [np.inf]])
    undisturbed = before <= start[order]
    answers = np.empty((len(order), 2), np.bool_)
    answers[order, 0] = undisturbed & (after >= first_token[order])
    answers[order, 1] = undisturbed & (after >= end[order])
    return [(bool(prefill), bool(decode)) for prefill, decode in answers]


def _needs_batch(run: Run, alone: Sequence[tuple[bool, bool]]) -> bool:
    return any(
        not to_the_end and seen.batch is None and seen.decode_s is not None
        for seen, (_, to_the_end) in zip(run.seen, alone, strict=True)
    )


def _batches(runs: Sequence[Run], batches: Batches) -> list[int]:
    """The batch of each run that needs one."""
    if not runs and isinstance(batches, tuple):
        problem = "no run needs a batch: its requests were alone, or the file tells"
        raise InputError(Fault(problem=problem, field="--batch", value=",".join(map(str, batches))))
    if batches == "concurrency" or not runs:
        return [_by_littles_law(run) for run in runs]
    if batches is not None and len(batches) in (1, len(runs)):
        return [*batches] * (len(runs) if len(batches) == 1 else 1)
    names = ", ".join(_name(run) for run in runs[:8]) + (", ..." if len(runs) > 8 else "")  # noqa: PLR2004
    problem = f"the engine's batch is not in the file for {len(runs)} of the runs: {names}"
    allowed = f"one whole number, {len(runs)} with commas, or 'concurrency': requests decoding at a time on average"
    value = None if batches is None else ",".join(map(str, batches))
    raise InputError(Fault(problem=problem, file=runs[0].file, field="--batch", value=value, allowed=allowed))


def _by_littles_law(run: Run) -> int:
    mean = run.mean_decoding
    if mean is None:
        problem = "neither rate nor duration is in the file: the requests decoding at a time cannot be told"
        raise InputError(
            Fault(problem=problem, file=run.file, line=run.line, field="--batch", allowed="a whole number")
        )
    return max(1, round(mean))


def _name(run: Run) -> str:
    rate = "" if run.asked_rps is None else f"rate {run.asked_rps:g}"
    return " ".join(part for part in (run.label, rate) if part) or run.kind


def _row(seen: Seen, alone: tuple[bool, bool], batch: int | None) -> Row:
    """Tokens, batch, and the two times, NaN where not measured."""
    until_first, to_the_end = alone
    size = 1 if to_the_end else seen.batch or batch
    decode_s = seen.decode_s if size else None
    prefill_s = seen.ttft_s if until_first else None
    if until_first and not to_the_end and prefill_s is not None:
        size, decode_s = 1, None  # one row has one batch: that of the prompt, which was alone
    return (
        max(1.0, round(seen.prompt_tokens)),
        max(1.0, round(size or 1)),
        float(round(seen.output_tokens)),
        _or_nan(prefill_s),
        _or_nan(decode_s),
    )


def _or_nan(seconds: float | None) -> float:
    return seconds if seconds is not None and seconds >= MIN_SECONDS else np.nan


def _account(run: Run, rows: Sequence[Row], batch: int | None, *, is_guessed: bool) -> Account:
    prefill = sum(not np.isnan(row[3]) for row in rows)
    decode = sum(not np.isnan(row[4]) for row in rows)
    remarks = [*run.notes]
    contradicted = [seen for seen in run.seen if seen.is_contradicted]
    if contradicted:
        seen = contradicted[0]
        times = (
            f"{(seen.tpot_s or 0) * 1e3:.4g} ms, but E2E, TTFT and lengths imply {(seen.implied_tpot_s or 0) * 1e3:.4g}"
        )
        remarks.append(f"the file's TPOT is {times} ms, which is taken ({len(contradicted)} times)")
    if batch is not None and is_guessed:
        remarks.append(f"a batch of {batch} is taken: the requests decoding at a time on average, by Little's law")
    if run.zeros:
        remarks.append(f"{run.zeros} times of 0 were not measured and are left out")
    if run.failed:
        remarks.append(f"{run.failed} failed requests are left out")
    if run.warmup:
        remarks.append(f"{run.warmup} warm-up requests are left out")
    if _falls_short(run):
        remarks.append(f"asked for {run.asked_rps:g} requests a second, got {run.achieved_rps:.4g}")
    return Account(run=run, prefill_rows=prefill, decode_rows=decode, batch=batch, remarks=tuple(remarks))


def _falls_short(run: Run) -> bool:
    if run.asked_rps is None or run.achieved_rps is None or np.isinf(run.asked_rps):
        return False
    return run.achieved_rps < (1 - RATE_SHORTFALL) * run.asked_rps
