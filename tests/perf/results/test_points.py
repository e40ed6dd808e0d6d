"""What becomes a prefill time, what a decode time, and at which batch: worked by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from provisioner.errors import InputError
from provisioner.perf.results import Imported, to_points
from tests.perf.results import shapes
from tests.perf.results.conftest import Read

TARGET = ("some", "box", 2)


def rows(imported: Imported) -> list[tuple[float, ...]]:
    """Prompt, batch, output, prefill and decode; None where not measured."""
    points = imported.points
    columns = (points.prompt_tokens, points.batch, points.output_tokens, points.prefill_s, points.decode_s)
    return [tuple(None if np.isnan(each) else float(each) for each in row) for row in zip(*columns, strict=True)]


def approx(*wanted: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    return [tuple(None if each is None else pytest.approx(each) for each in row) for row in wanted]


def test_one_request_at_a_time_gives_both_times_at_batch_one(read: Read) -> None:
    imported = to_points(read(shapes.vllm()), TARGET)
    assert rows(imported) == approx((500, 1, 101, 0.05, 0.01))
    assert imported.points.key == TARGET
    assert imported.accounts[0].remarks == ("2 failed requests are left out",)


def test_under_load_there_is_no_prefill_time_and_the_batch_must_be_given(read: Read) -> None:
    runs = read(shapes.vllm(max_concurrency=32))
    with pytest.raises(InputError) as caught:
        to_points(runs, TARGET)
    assert [fault.field for fault in caught.value.faults] == ["--batch"]
    assert rows(to_points(runs, TARGET, (24,))) == approx((500, 24, 101, None, 0.01))


def test_a_batch_that_nothing_needs_is_not_ignored(read: Read) -> None:
    with pytest.raises(InputError, match="no run needs a batch"):
        to_points(read(shapes.vllm()), TARGET, (8,))
    assert len(to_points(read(shapes.vllm()), TARGET, "concurrency").points) == 1


def test_a_low_rate_is_no_concurrency_of_one(read: Read) -> None:
    """Requests at random times meet now and then, and the file does not say which."""
    imported = to_points(read(shapes.sglang(request_rate=0.001)), TARGET, (1,))
    assert rows(imported) == approx((510, 1, 401, None, 0.01))


def test_concurrency_is_by_littles_law_what_decodes_at_a_time(read: Read) -> None:
    """One request a second that decodes for 400 x 10 ms: four at a time, not the 4.08 in the system."""
    assert rows(to_points(read(shapes.sglang()), TARGET, "concurrency")) == approx((510, 4, 401, None, 0.01))


def test_a_batch_for_each_run_under_load_or_one_for_all(read: Read) -> None:
    runs = read(shapes.llmperf())  # the first is at concurrency 1
    assert [row[1] for row in rows(to_points(runs, TARGET, (2, 3)))] == [1, 2, 3]
    assert [row[1] for row in rows(to_points(runs, TARGET, (7,)))] == [1, 7, 7]
    with pytest.raises(InputError, match="2 of the runs: concurrency 2, concurrency 4"):
        to_points(runs, TARGET, (1, 2, 3))


def test_times_of_day_show_which_requests_were_alone(read: Read) -> None:
    """The first ends before the second starts; the third starts in the second's decode, after its first token."""
    requests = [shapes.aiperf_request(start) for start in (10.0, 1.0, 10.5)]
    runs = read(shapes.lines(*requests))
    imported = to_points(runs, TARGET, (2,))
    assert rows(imported) == approx(
        (100, 1, 101, 0.03, None),  # alone until its first token, then not
        (100, 1, 101, 0.03, 0.01),
        (100, 2, 101, None, 0.01),
    )


def test_a_request_beside_one_that_started_long_before_is_not_alone(read: Read) -> None:
    """The longest of the requests before counts, not the last."""
    long = shapes.aiperf_request(1.0, latency_ms=9030.0)
    runs = read(shapes.lines(long, shapes.aiperf_request(2.0), shapes.aiperf_request(5.0), shapes.aiperf_request(20.0)))
    prefill = [row[3] for row in rows(to_points(runs, TARGET, (2,)))]
    assert prefill == [pytest.approx(0.03), None, None, pytest.approx(0.03)]


def test_a_tpot_that_contradicts_the_end_to_end_time_gives_way(read: Read) -> None:
    imported = to_points(read(shapes.inference_perf()), TARGET, (10,))
    assert rows(imported) == approx((204, 10, 51, None, 0.01))
    assert any("is 5 ms, but E2E, TTFT and lengths imply 10 ms" in text for text in imported.accounts[0].remarks)


def test_a_rate_that_was_not_reached_is_told(read: Read) -> None:
    imported = to_points(read(shapes.vllm(request_rate=2.0)), TARGET)
    assert "asked for 2 requests a second, got 0.9524" in imported.accounts[0].remarks


def test_zeros_are_told(read: Read) -> None:
    runs = read(shapes.vllm(median_ttft_ms=0.0))
    imported = to_points(runs, TARGET)
    assert rows(imported) == approx((500, 1, 101, None, 0.01))
    assert "1 times of 0 were not measured and are left out" in imported.accounts[0].remarks


def test_no_time_at_all_is_refused(read: Read) -> None:
    with pytest.raises(InputError, match="no time was measured"):
        to_points(read(shapes.vllm(max_concurrency=8, median_tpot_ms=0, mean_e2el_ms=0)), TARGET)


def test_plain_csv_may_tell_the_batch(read: Read) -> None:
    runs = read("prompt_tokens,output_tokens,batch,tpot_ms\n100,10,8,12\n100,10,16,15\n")
    assert rows(to_points(runs, TARGET)) == approx((100, 8, 10, None, 0.012), (100, 16, 10, None, 0.015))
