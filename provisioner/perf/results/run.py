"""What a benchmark saw: runs, and the requests in them, whatever tool wrote the file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

CONTRADICTION = 0.25
"""A tool's TPOT this far from what E2E, TTFT and lengths imply is of something else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One request, or the typical request of a run that tells only medians and means. Seconds and tokens.

    None stands for what the file does not tell, and for a time of 0, which no request can have had.
    """

    prompt_tokens: float
    output_tokens: float
    ttft_s: float | None = None
    tpot_s: float | None = None
    """As the tool has it; whether that is TPOT as we define it is what `implied_tpot_s` shows."""
    implied_tpot_s: float | None = None
    """(E2E - TTFT) / (output tokens - 1)."""
    start_s: float | None = None
    end_s: float | None = None
    batch: float | None = None
    """Requests in the engine's batch, where the file tells."""
    line: int | None = None

    @property
    def is_contradicted(self) -> bool:
        """Whether the tool's TPOT is far from its definition: it counts chunks for tokens, or the first token too."""
        if self.tpot_s is None or self.implied_tpot_s is None:
            return False
        return abs(self.tpot_s / self.implied_tpot_s - 1) > CONTRADICTION

    @property
    def decode_s(self) -> float | None:
        """TPOT to go by: the tool's, unless there is none or it is contradicted."""
        return self.implied_tpot_s if self.tpot_s is None or self.is_contradicted else self.tpot_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One benchmark run.

    Parameters
    ----------
    file, line
        Where it stands.
    kind : str
        The tool.
    label : str
        What tells it from the file's other runs; may be empty.
    model : str or None
        As the file names it.
    concurrency : float or None
        Most requests in flight at once, where the file bounds them.
    asked_rps, achieved_rps : float or None
        Requests per second; asked is infinite for all at once.
    duration_s : float or None
    completed, failed, zeros, warmup : int
        Requests; `completed` is None where the file does not tell. `zeros` are times of 0 among the completed, which
        were not measured.
    seen : tuple of Seen
        Of the requests that completed.
    notes : tuple of str
    """

    file: Path
    kind: str
    line: int | None = None
    label: str = ""
    model: str | None = None
    concurrency: float | None = None
    asked_rps: float | None = None
    achieved_rps: float | None = None
    duration_s: float | None = None
    completed: int | None
    failed: int = 0
    zeros: int = 0
    warmup: int = 0
    seen: tuple[Seen, ...]
    notes: tuple[str, ...] = ()

    @property
    def mean_decoding(self) -> float | None:
        """Requests in their token phase at a time, by Little's law: the rate times the time each spends there."""
        if self.achieved_rps is None or not self.seen:
            return None
        spent = [
            (seen.output_tokens - 1) * tpot_s
            for seen in self.seen
            if (tpot_s := seen.implied_tpot_s or seen.tpot_s) is not None
        ]
        return self.achieved_rps * sum(spent) / len(spent) if spent else None


def measured(seconds: float | None) -> float | None:
    """A time that was measured: 0 was not."""
    return seconds or None


def implied_tpot_s(e2e_s: float | None, ttft_s: float | None, output_tokens: float) -> float | None:
    """TPOT by its definition; None where the file does not tell, or where the times contradict each other."""
    if not e2e_s or not ttft_s or output_tokens <= 1 or e2e_s <= ttft_s:
        return None
    return (e2e_s - ttft_s) / (output_tokens - 1)


def typical(
    prompt: float | None,
    output: float | None,
    times_s: tuple[float | None, float | None],
    implied_tpot_s: float | None,
    line: int | None = None,
) -> tuple[tuple[Seen, ...], int]:
    """What a file tells of its requests together: lengths, TTFT and TPOT; and how many of the times are 0."""
    if not prompt or output is None:
        return (), 0
    ttft_s, tpot_s = times_s
    seen = Seen(
        prompt_tokens=prompt,
        output_tokens=output,
        ttft_s=measured(ttft_s),
        tpot_s=measured(tpot_s),
        implied_tpot_s=implied_tpot_s,
        line=line,
    )
    return (seen,), zeros(ttft_s, tpot_s)


def zeros(*seconds: float | None) -> int:
    """How many times are 0."""
    return sum(each == 0 for each in seconds)


def first(*numbers: float | None) -> float | None:
    """The first that is told."""
    return next((number for number in numbers if number is not None), None)


def achieved(completed: float, duration_s: float | None, told: float | None = None) -> float | None:
    """Requests per second, as told or from the duration."""
    return told if told is not None else completed / duration_s if duration_s else None


def are_as_long(*lists: Sequence[object] | None) -> bool:
    """Whether all lists there are have one length."""
    return len({len(each) for each in lists if each is not None}) <= 1
