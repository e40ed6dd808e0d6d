"""Timelines against the rules of the Trace Event Format, and one by hand."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from provisioner.report.timeline import Window, machine_names, to_json
from tests.cli.runs import TINY, Provision
from tests.report.made import HOSTILE
from tests.sim.worlds import requests, split

NAMES = machine_names(("prompt", "token"), (1, 1))
RECORDING = split(tokens_per_s=1000.0, layerwise_from_tokens=10**6).record(1, 1, requests((0.0, 100, 3), (0.5, 100, 1)))
"""A prompt from 0 to 0.1 s, its KV-cache sent until 0.2, two decodes until 0.4; another prompt from 0.5 to 0.6 s."""


def written(window: Window, names: list[str] = NAMES) -> dict[str, Any]:
    read: dict[str, Any] = json.loads("".join(to_json(RECORDING, names, window, HOSTILE)))
    return read


def check(events: list[dict[str, Any]]) -> None:
    """What the format asks of each kind of event."""
    named = {(e["pid"], e["name"]) for e in events if e["ph"] == "M"}
    begun: dict[tuple[Any, ...], float] = {}
    lanes: dict[tuple[int, int], list[tuple[float, float]]] = {}
    for event in events:
        assert {"ph", "pid", "tid", "name"} <= set(event)
        assert isinstance(event["pid"], int)
        assert (event["pid"], "process_name") in named
        if event["ph"] == "M":
            continue
        assert event["ts"] >= 0
        match event["ph"]:
            case "X":
                assert event["dur"] > 0
                lanes.setdefault((event["pid"], event["tid"]), []).append((event["ts"], event["ts"] + event["dur"]))
            case "b":
                key = (event["pid"], event["cat"], event["id"], event["name"])
                assert key not in begun
                begun[key] = event["ts"]
            case "e":
                assert begun.pop((event["pid"], event["cat"], event["id"], event["name"])) <= event["ts"]
            case "C":
                assert all(isinstance(value, int) for value in event["args"].values())
            case _:
                pytest.fail(f"no event of ours: {event}")
    assert not begun
    for spans in lanes.values():
        assert all(one[1] <= other[0] + 0.002 for one, other in pairwise(sorted(spans)))


def test_each_machine_shows_what_it_does_and_nothing_overlaps() -> None:
    events = written(Window(0.0, 10.0))["traceEvents"]
    check(events)
    shown = [(e["pid"], e["name"], e["ts"], e["dur"]) for e in events if e["ph"] == "X"]
    assert shown == [
        (1, "prompt", 0.0, 100_000.0),
        (1, "idle", 100_000.0, 400_000.0),
        (1, "prompt", 500_000.0, 100_000.0),
        (2, "idle", 0.0, 200_000.0),
        (2, "decode", 200_000.0, 200_000.0),
        (2, "idle", 400_000.0, 200_000.0),
    ]
    decode = next(e for e in events if e["name"] == "decode")
    assert decode["args"] == {"prompts": 0, "prompt_tokens": 0, "decodes": 1, "iterations": 2}
    sent = [(e["ph"], e["pid"], e["ts"], e["id"]) for e in events if e["name"] == "transfer"]
    assert sent == [("b", 2, 100_000.0, 0), ("e", 2, 200_000.0, 0)]


def test_counters_show_queue_and_memory_as_runs_end() -> None:
    events = written(Window(0.0, 10.0))["traceEvents"]
    memory = [(e["pid"], e["ts"], e["args"]["tokens"]) for e in events if e["name"] == "KV-cache"]
    # The prompt holds its 100 tokens; the decode has room for its 100 and 3.
    assert [(pid, ts) for pid, ts, _ in memory] == [(1, 100_000.0), (1, 600_000.0), (2, 400_000.0)]
    assert memory[0][2] in (100, 101)  # with the first token, where that counts
    assert memory[2][2] == 103
    assert [e["args"] for e in events if e["name"] == "queue"] == [{"waiting": 0}] * 3


def test_a_window_cuts_what_reaches_into_it() -> None:
    events = written(Window(0.15, 0.25))["traceEvents"]
    check(events)
    shown = [(e["pid"], e["name"], e["ts"], e["dur"]) for e in events if e["ph"] == "X"]
    assert shown == [
        (1, "idle", 150_000.0, 100_000.0),
        (2, "idle", 150_000.0, 50_000.0),
        (2, "decode", 200_000.0, 50_000.0),
    ]
    assert not [e for e in events if e["ph"] == "C"]
    assert [e["ts"] for e in events if e["name"] == "transfer"] == [150_000.0, 200_000.0]


def test_machines_are_named_and_names_are_text() -> None:
    read = written(Window(0.0, 1.0), ["a\x1b[31m", "b"])
    names = [e["args"]["name"] for e in read["traceEvents"] if e["name"] == "process_name"]
    assert names == ["a\\x1b[31m", "b"]
    assert "\x1b" not in read["otherData"]["title"]


def test_the_command_writes_a_timeline_of_its_window(provision: Provision, folder: Path) -> None:
    run = provision("simulate", "--design", "HH", "--cluster", "5,2", *TINY, "--quiet",
                    "--trace-events", "t.json", "--trace-window", "2:4")  # fmt: skip
    assert run.err == ""
    read = json.loads((folder / "t.json").read_text(encoding="utf-8"))
    check(read["traceEvents"])
    names = [e["args"]["name"] for e in read["traceEvents"] if e["name"] == "process_name"]
    assert names == [*(f"prompt {number}" for number in range(1, 6)), "token 1", "token 2"]
    times = [e["ts"] for e in read["traceEvents"] if "ts" in e]
    assert min(times) >= 2e6
    assert max(times) <= 4e6
    assert {"prompt", "decode", "idle", "transfer", "queue", "KV-cache"} <= {e["name"] for e in read["traceEvents"]}


@pytest.mark.parametrize("window", ["5", "5:4", "-1:4", "a:b", "1:2:3", "0:inf", ""])
def test_a_window_that_is_none_is_told(provision: Provision, window: str) -> None:
    run = provision("simulate", "--design", "HH", "--cluster", "5,2", *TINY, "--trace-events", "t.json",
                    f"--trace-window={window}")  # fmt: skip
    assert run.code == 2
    assert run.errors[0].startswith("error: --trace-window: not a window")


def test_a_window_after_the_end_is_told_and_nothing_is_written(provision: Provision, folder: Path) -> None:
    run = provision("simulate", "--design", "HH", "--cluster", "5,2", *TINY, "--trace-events", "t.json",
                    "--requests", "r.csv", "--trace-window=900:1000")  # fmt: skip
    assert run.code == 2
    assert run.errors[0].startswith(
        "error: --trace-window: begins when all is done (got '900:1000'); allowed: from 0 to "
    )
    assert not list(folder.iterdir())
