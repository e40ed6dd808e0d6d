"""A simulation in depth: worked by hand, and sums that must hold."""

from __future__ import annotations

from io import StringIO

import numpy as np
import pytest
from hypothesis import given
from rich.console import Console

from provisioner.depth import Depth, request_rows
from provisioner.report.depth import data, table
from tests.sim.strategies import Case, cases, examples
from tests.sim.worlds import mixed, requests, split

pytestmark = pytest.mark.nojit


def test_one_request_by_hand() -> None:
    """1 ms a prompt token, 100 ms a decode, 100 tokens sent in 0.1 s: prompt 0-0.1, sent to 0.2, decode to 0.4.

    KV-cache of the token machine: 100 tokens from 0.1 to 0.4 and 3 from 0.2 to 0.4, of 1,000, over 0.4 s.
    """
    network = split(kv_tokens=1000, tokens_per_s=1000.0, layerwise_from_tokens=1000)
    result = network.simulate(1, 1, requests((0.0, 100, 3)))
    depth = Depth.of(result, ("prompt", "token"), (1000, 1000))
    prompt, token = depth.pools
    assert (prompt.prompt, prompt.decode, token.decode) == pytest.approx((0.25, 0.0, 0.5))
    assert token.kv_mean == pytest.approx((100 * 0.3 + 3 * 0.2) / 0.4 / 1000)
    assert prompt.kv_mean == pytest.approx(100 * 0.2 / 0.4 / 1000)
    assert token.kv_peak == pytest.approx(0.103)
    assert token.batch_share.tolist() == [0.0, 1.0]
    assert (depth.transferred, depth.transfer_mean_s, depth.transfer_share) == pytest.approx((1.0, 0.1, 0.25))
    (row,) = request_rows(result)
    assert row["ttft_s"] == pytest.approx(0.1)
    assert row["tbt_s"] == pytest.approx(0.15)
    assert row["queue_s"] == 0.0


def test_what_is_computed_anew_is_counted_and_told() -> None:
    # As in tests/sim/test_paging.py: room for ten iterations of both, then the second is dropped.
    result = mixed(kv_tokens=100, kv_on_demand=True).simulate(1, 0, requests((0, 40, 30), (0, 40, 30)))
    depth = Depth.of(result, ("mixed",), (100,))
    assert data(depth)["recomputations"] == depth.recomputations == 1
    assert [row["recomputations"] for row in request_rows(result)] == [0, 1]
    console = Console(width=100, record=True, file=StringIO())
    console.print(table(depth))
    assert "computed anew: 1 times." in console.export_text()


@given(cases())
@examples(100)
def test_the_four_counts_are_all_in_the_system(case: Case) -> None:
    counts = case.counts
    result = case.network.simulate(counts[0], counts[1] if len(counts) > 1 else 0, case.trace)
    depth = Depth.of(result, ("a", "b")[: len(counts)], (1,) * len(counts))
    series = [depth.waiting_prompt, depth.in_prompt, depth.waiting_decode, depth.in_decode]
    assert all(np.all(each >= 0) for each in series)
    inside = [
        np.count_nonzero(case.trace.arrival_s <= t) - np.count_nonzero(result.finish_s <= t) for t in depth.instants_s
    ]
    assert np.sum(series, axis=0).tolist() == inside
    np.testing.assert_allclose(result.batch_time_s.sum(), result.busy_s.sum(), rtol=1e-9, atol=1e-9)
