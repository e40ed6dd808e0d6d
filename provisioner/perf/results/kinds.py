"""Which tool wrote a file: found by its content, never by its name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from provisioner.errors import Fault, FaultList, InputError
from provisioner.perf.results import aiperf, guidellm, inference_perf, llmperf, plain, sglang, vllm
from provisioner.perf.results.run import Run
from provisioner.perf.results.source import Source, read_source


class Kind(NamedTuple):
    """A format: its name, why a file is not of it (None where it is), and its reader."""

    name: str
    why_not: Callable[[Source], str | None]
    read: Callable[[Source, FaultList], list[Run]]


KINDS = (
    Kind(sglang.NAME, sglang.why_not, sglang.read),
    Kind(vllm.VLLM, vllm.why_not_vllm, vllm.read_vllm),
    Kind(vllm.INFERENCEX, vllm.why_not_inferencex, vllm.read_inferencex),
    Kind(guidellm.NAME, guidellm.why_not, guidellm.read),
    Kind(aiperf.SUMMARY, aiperf.why_not_summary, aiperf.read_summary),
    Kind(aiperf.REQUESTS, aiperf.why_not_requests, aiperf.read_requests),
    Kind(inference_perf.STAGE, inference_perf.why_not_stage, inference_perf.read_stage),
    Kind(inference_perf.REQUESTS, inference_perf.why_not_requests, inference_perf.read_requests),
    Kind(llmperf.KEYED, llmperf.why_not_keyed, llmperf.read_keyed),
    Kind(llmperf.SUMMARY, llmperf.why_not_summary, llmperf.read_summary),
    Kind(llmperf.RESPONSES, llmperf.why_not_responses, llmperf.read_responses),
    Kind(plain.NAME, plain.why_not, plain.read),
)
"""In the order they are tried: SGLang's has all that vLLM's has, and more."""


def read_results(file: Path) -> list[Run]:
    """Read a benchmark's result.

    Returns
    -------
    list of Run
        At least one, each with at least one request that completed, or the file is refused.

    Raises
    ------
    InputError
        If the file cannot be read, is of no known kind (with why it is none of each), holds times that are negative
        or not finite (with their line), or holds no request that completed.
    """
    source = read_source(file)
    reasons: list[str] = []
    for kind in KINDS:
        why_not = kind.why_not(source)
        if why_not is None:
            return _read(kind, source)
        reasons.append(f"{kind.name} ({why_not})")
    raise InputError(
        [
            Fault(problem="not a benchmark result of a known kind", file=file, allowed="one of the kinds below"),
            *(Fault(problem=f"not {reason}", file=file) for reason in reasons),
        ]
    )


def _read(kind: Kind, source: Source) -> list[Run]:
    if source.faults is not None:
        source.faults.raise_if_any()
    faults = FaultList(source.file)
    runs = kind.read(source, faults)
    if not any(run.seen for run in runs) and not len(faults):
        failed = sum(run.failed for run in runs)
        faults.add(f"no request that completed is in this {kind.name} file: {failed} failed")
    faults.raise_if_any()
    return runs
