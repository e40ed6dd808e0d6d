"""A simulation as Chrome trace events, which Perfetto (ui.perfetto.dev) and about:tracing open.

A machine is a process: its thread shows what it runs - prompt, decode, mixed or idle, one complete event
("X") a run of equal iterations - transfers that arrive are asynchronous events ("b", "e") beside it, since
several may be under way, and counters ("C") show its queue and its KV-cache as each run ends. Times are in
microseconds, as the format has them (Trace Event Format, 2016).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from provisioner.report.plain import printable
from provisioner.sim.run import Recording

Event = dict[str, Any]
LANE = 1
"""The thread of a machine that shows its runs."""


@dataclass(frozen=True, slots=True)
class Window:
    """The seconds of the simulation that are written; what reaches into them is cut to them."""

    start_s: float
    end_s: float

    def cut(self, start_s: float, end_s: float) -> tuple[float, float] | None:
        """The part inside, in microseconds; None where there is none."""
        start_s, end_s = max(start_s, self.start_s), min(end_s, self.end_s)
        return (_us(start_s), _us(end_s)) if start_s < end_s else None


def machine_names(pools: Sequence[str], sizes: Sequence[int]) -> list[str]:
    """`prompt 1`, `prompt 2`, ... `token 1`, in the order of the simulation."""
    return [f"{pool} {number + 1}" for pool, size in zip(pools, sizes, strict=True) for number in range(size)]


def to_json(recording: Recording, names: Sequence[str], window: Window, title: str) -> Iterator[str]:
    """The file in pieces: one event a line; `names` are of the machines."""
    told = {"title": printable(title), "window_s": [window.start_s, window.end_s]}
    yield '{"displayTimeUnit":"ms","otherData":' + json.dumps(told) + ',"traceEvents":[\n'
    separator = ""
    for event in events(recording, names, window):
        yield separator + json.dumps(event, separators=(",", ":"))
        separator = ",\n"
    yield "\n]}\n"


def events(recording: Recording, names: Sequence[str], window: Window) -> Iterator[Event]:
    """Every event, machine by machine."""
    for number, name in enumerate(names):
        process = number + 1
        yield _named(process, "process_name", {"name": printable(name)})
        yield _named(process, "process_sort_index", {"sort_index": number})
        yield _named(process, "thread_name", {"name": "iterations"})
        yield from _runs(recording, number, process, window)
        yield from _transfers(recording, number, process, window)


def _named(process: int, what: str, arguments: Event) -> Event:
    return {"ph": "M", "pid": process, "tid": LANE, "name": what, "args": arguments}


def _runs(recording: Recording, machine: int, process: int, window: Window) -> Iterator[Event]:
    """Runs with the idle time between them, and the counters."""
    now_s = 0.0
    for run in recording.runs_of(machine):
        yield from _complete(process, "idle", (now_s, run.start_s), window)
        phase = "decode" if not run.prompts else "mixed" if run.decodes else "prompt"
        told = {
            "prompts": int(run.prompts),
            "prompt_tokens": int(run.prompt_tokens),
            "decodes": int(run.decodes),
            "iterations": int(run.iterations),
        }
        yield from _complete(process, phase, (run.start_s, run.end_s), window, told)
        if window.start_s <= run.end_s <= window.end_s:
            yield _counted(process, "queue", run.end_s, {"waiting": int(run.waiting)})
            yield _counted(process, "KV-cache", run.end_s, {"tokens": int(run.used_kv)})
        now_s = run.end_s
    yield from _complete(process, "idle", (now_s, recording.end_s), window)


def _complete(
    process: int, name: str, between_s: tuple[float, float], window: Window, told: Event | None = None
) -> Iterator[Event]:
    part = window.cut(*between_s)
    if part is not None and part[1] > part[0]:
        yield {
            "ph": "X", "pid": process, "tid": LANE, "name": name, "cat": "iterations", "ts": part[0],
            "dur": round(part[1] - part[0], 3), **({"args": told} if told else {}),
        }  # fmt: skip


def _counted(process: int, name: str, at_s: float, values: Event) -> Event:
    return {"ph": "C", "pid": process, "tid": LANE, "name": name, "ts": _us(at_s), "args": values}


def _transfers(recording: Recording, machine: int, process: int, window: Window) -> Iterator[Event]:
    """KV-caches on their way to the machine."""
    for transfer in recording.transfers_to(machine):
        part = window.cut(transfer.start_s, transfer.end_s)
        if part is None:
            continue
        common = {"pid": process, "tid": LANE, "name": "transfer", "cat": "transfer", "id": int(transfer.request)}
        yield {"ph": "b", "ts": part[0], "args": {"request": int(transfer.request)}, **common}
        yield {"ph": "e", "ts": part[1], **common}


def _us(seconds: float) -> float:
    return round(1e6 * seconds, 3)
