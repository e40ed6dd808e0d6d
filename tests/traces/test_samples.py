"""The files that other people's tools wrote, where they are at hand; counted again with Python's csv and json.

None of them is kept here; `shapes` has small ones of the same shapes.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from provisioner.errors import InputError
from provisioner.traces import Reading, describe, read_recording, read_trace

SHARED = Path(__file__).parents[3] / "shared"
TRACES, DATA = SHARED / "samples" / "traces", SHARED / "data"
pytestmark = pytest.mark.skipif(not TRACES.is_dir(), reason=f"the samples are not in {SHARED}")


def test_burstgpt() -> None:
    """400 rows, 17 of them 0/0/0, from second 5 to 37,274; four ties of a second among the others."""
    found = describe(TRACES / "burstgpt_1_first400.csv")
    assert (found.intake.format, found.intake.rows, found.intake.kept) == ("BurstGPT CSV", 400, 383)
    (failed,) = found.intake.left_out
    assert (failed.rows, failed.first_line) == (17, 22)
    with (TRACES / "burstgpt_1_first400.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["Response tokens"] != "0"]
    times = np.array([float(row["Timestamp"]) for row in rows])
    assert found.arrivals is not None
    assert found.arrivals.span_s == times[-1] - times[0] == 37_269
    assert found.arrivals.ties == np.count_nonzero(np.diff(times) == 0) == 4
    assert found.arrivals.quiet_minutes == pytest.approx(0.7005, abs=1e-4)
    assert found.prompt.mean == pytest.approx(np.mean([int(row["Request tokens"]) for row in rows]))
    assert found.output.percentiles((50,)) == {50: np.median([int(row["Response tokens"]) for row in rows])}


def test_mooncake() -> None:
    """2,000 rows in 669,000 ms, on 224 different times about 3 s apart, up to 19 at once; prompts to 123,192."""
    path = TRACES / "mooncake_conversation_first2000.jsonl"
    with pytest.raises(InputError) as caught:
        describe(path)
    assert caught.value.faults[0].field == "--time-unit"
    found = describe(path, Reading(time_unit="ms"))
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    times = np.array([row["timestamp"] for row in rows])
    assert found.arrivals is not None
    assert (found.intake.kept, found.arrivals.span_s) == (len(rows), 669.0) == (2000, times[-1] / 1000)
    assert found.arrivals.ties == len(times) - len(np.unique(times)) == 1776
    assert found.arrivals.most_at_once == np.unique(times, return_counts=True)[1].max() == 19
    assert found.arrivals.smallest_gap_s == pytest.approx(2.999)
    assert found.prompt.values[-1] == 123_192
    assert found.pearson == pytest.approx(
        np.corrcoef([row["input_length"] for row in rows], [row["output_length"] for row in rows])[0, 1]
    )


def test_splitwisesim() -> None:
    trace = read_trace(TRACES / "splitwisesim_test_trace.csv")
    assert trace.arrival_s.tolist() == [0.0, 2.0, 3.0]
    assert trace.prompt_tokens.tolist() == [4096, 2048, 2048]
    assert trace.output_tokens.tolist() == [32, 8, 16]


def test_vidur_equals_azure_row_for_row() -> None:
    vidur = read_trace(TRACES / "vidur_splitwise_conv_first500.csv")
    azure = read_trace(DATA / "azure_llm_2023_conversation.csv")
    assert len(vidur) == 500
    assert vidur.arrival_s == pytest.approx(azure.arrival_s[:500], abs=2e-6)
    assert np.array_equal(vidur.prompt_tokens, azure.prompt_tokens[:500])
    assert np.array_equal(vidur.output_tokens, azure.output_tokens[:500])


@pytest.mark.parametrize(
    ("name", "rows", "span_s", "gap_cv", "medians", "cap"),
    [
        ("coding", 8_819, 3435.948056, 13.15, (1469, 13), (7437, 355 / 8_819)),
        ("conversation", 19_366, 3501.721937, 1.094, (1020, 129), None),
    ],
)
def test_azure_2023(*, name, rows, span_s, gap_cv, medians, cap) -> None:  # type: ignore[no-untyped-def]
    found = describe(DATA / f"azure_llm_2023_{name}.csv")
    assert (found.intake.format, found.intake.rows, found.intake.kept) == ("Azure CSV", rows, rows)
    assert found.arrivals is not None
    assert found.arrivals.span_s == pytest.approx(span_s, abs=1e-9)
    assert found.arrivals.rate_rps == pytest.approx((rows - 1) / span_s)
    assert found.arrivals.gap_cv == pytest.approx(gap_cv, rel=1e-3)
    assert (found.prompt.percentiles((50,))[50], found.output.percentiles((50,))[50]) == medians
    assert found.prompt.cap == cap


def test_what_is_no_trace_gets_the_list_of_kinds() -> None:
    others = [DATA / "splitwise_profile_raw.csv", *sorted((SHARED / "samples" / "results").iterdir())]
    assert len(others) > 5
    for path in others:
        with pytest.raises(InputError) as caught:
            read_recording(path)
        problems = [fault.problem for fault in caught.value.faults]
        assert len(problems) == 9 or problems == ["not a JSON object"], path
