"""The least, the most, and what cannot be."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from provisioner.capacity import WorkBound
from provisioner.domain.cluster import Cluster
from provisioner.domain.scheduling import Scheduling
from provisioner.domain.trace import RequestTrace
from provisioner.errors import InputError
from provisioner.sim import Network, simulate
from provisioner.sim.native import IS_PLAIN
from tests.sim.worlds import MODEL, design, machine, mixed, performance, requests, split

pytestmark = pytest.mark.nojit

NOTHING = RequestTrace(np.empty(0), np.empty(0, np.int64), np.empty(0, np.int64))
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(("network", "counts"), [(mixed(), (2, 0)), (split(), (2, 3))])
def test_no_requests(network: Network, counts: tuple[int, int]) -> None:
    simulation = network.simulate(*counts, NOTHING)
    assert simulation.unfinished == 0
    assert simulation.makespan_s == 0.0
    assert simulation.events == simulation.iterations == 0
    assert simulation.busy_s.tolist() == [0.0] * sum(counts)
    assert len(simulation.finish_s) == 0


@pytest.mark.parametrize("network", [mixed(), split()])
def test_one_request_of_one_token(network: Network) -> None:
    simulation = network.simulate(1, 0 if network.design.is_mixed else 1, requests((0, 1, 1)))
    assert simulation.first_token_s.tolist() == simulation.finish_s.tolist() == [0.001]


def test_simulate_is_a_network_used_once() -> None:
    boxes = [machine("prompt-box"), machine("token-box")]
    cluster = Cluster(design=design(boxes, Scheduling()), prompt_machines=2, token_machines=1)
    models = {"prompt-box": performance(), "token-box": performance(decode=((1, 0.2),))}
    simulation = simulate(cluster, MODEL, models, requests((1, 100, 3)))
    assert simulation.finish_s[0] == pytest.approx(1.5)
    assert simulation.pool_sizes == (2, 1)
    assert simulation.pool_rows(0) == slice(0, 2)
    assert simulation.pool_rows(1) == slice(2, 3)


@pytest.mark.parametrize(("network", "counts"), [(mixed(), (2, 0)), (split(), (1, 1))])
def test_everything_at_once(network: Network, counts: tuple[int, int]) -> None:
    simulation = network.simulate(*counts, requests(*[(0, 100, 5)] * 200))
    assert simulation.unfinished == 0
    assert simulation.prompt_busy_s.sum() + simulation.mixed_busy_s.sum() >= 20 * (1 - 1e-9)


def test_the_books_of_a_request_that_never_fits() -> None:
    # Neither prompt (150 tokens) nor decode (60 + 60) fits a machine of 100. They stay, without end, and count.
    for rows in ([(0, 150, 2)], [(0, 60, 60)]):
        for network, counts in ((mixed(kv_tokens=100), (2, 0)), (split(kv_tokens=100), (1, 1))):
            simulation = network.simulate(*counts, requests(*rows))
            assert simulation.unfinished == 1
            assert np.isinf(simulation.finish_s[0])
            assert simulation.makespan_s == 0.0
    # It blocks only its own machine: the next goes to the other.
    simulation = mixed(kv_tokens=100).simulate(2, 0, requests((0, 150, 2), (1, 10, 2)))
    assert np.isinf(simulation.first_token_s[0])
    assert simulation.finish_s[1] == pytest.approx(1.11)


def test_decodes_that_wait_for_each_others_memory_never_finish() -> None:
    # Two prompts fill the memory, and neither decode fits beside them: that is what the rules say.
    simulation = mixed(kv_tokens=200).simulate(1, 0, requests((0, 100, 2), (0, 100, 2)))
    assert simulation.first_token_s.tolist() == [0.2, 0.2]
    assert simulation.unfinished == 2


@pytest.mark.parametrize("pool", ["prompt-box", "token-box"])
def test_weights_that_do_not_fit(pool: str) -> None:
    # A machine whose memory the weights fill, and one with room for a token.
    boxes = [machine(name, kv_tokens=0 if name == pool else 1) for name in ("prompt-box", "token-box")]
    models = {box.name: performance() for box in boxes}
    with pytest.raises(InputError, match="weights of tiny leave no room") as caught:
        Network.of(design(boxes, Scheduling()), MODEL, models)
    (fault,) = caught.value.faults
    assert pool in fault.problem
    assert fault.field == "model"


def test_room_for_one_token_is_room() -> None:
    assert mixed(kv_tokens=1).simulate(1, 0, requests((0, 1, 1))).finish_s.tolist() == [0.001]


@pytest.mark.parametrize("habit", [False, True])
@pytest.mark.parametrize("is_mixed", [False, True])
def test_a_thousand_requests_of_overload_come_to_an_end(*, is_mixed: bool, habit: bool) -> None:
    # Ten times what the machines can do, at lengths that differ. A tenth of it where the kernel is not compiled.
    rng = np.random.default_rng(1)
    n = 100 if IS_PLAIN else 1000
    trace = RequestTrace(np.cumsum(rng.exponential(0.01, n)), rng.integers(1, 300, n), rng.integers(1, 30, n))
    rules = {"long_prompts_wait": habit, "first_token_in_prompt_kv": habit, "strict_room": habit}
    network = mixed(**rules) if is_mixed else split(tokens_per_s=2000, **rules)
    simulation = network.simulate(1, 0 if is_mixed else 1, trace)
    assert simulation.unfinished == 0
    assert simulation.makespan_s > 5 * trace.span_s
    assert simulation.events < 20 * n


WAITING_FOR_EACH_OTHER = """
import itertools
from provisioner.sim import kernel
from tests.sim.worlds import requests, split

tries, send = itertools.count(), kernel.send

def counted(*arguments):
    if next(tries) > 1000:
        raise SystemExit("for ever")
    send(*arguments)

kernel.send = counted
network = split(kv_tokens=200, tokens_per_s=1000, max_pending_tokens=120, transfer_retry_s={retry_s})
print(network.simulate(1, 1, requests((0, 100, 2), (0.01, 90, 2), (0.02, 150, 2))).unfinished)
"""


@pytest.mark.parametrize("retry_s", [0.0, 1.0])
def test_transfers_that_wait_for_each_other_end_unfinished(retry_s: float) -> None:
    # P holds the prompts of A and B (190 of 200 tokens), which wait for room at T; T holds that of C (150), which waits
    # for room at P, its token machine. Each request alone fits either machine. To try again for ever would not end; so
    # this is run as plain Python, where it can be stopped.
    run = subprocess.run(
        [sys.executable, "-c", WAITING_FOR_EACH_OTHER.format(retry_s=retry_s)],
        cwd=ROOT,
        env={"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert run.stdout == "3\n"


def test_the_peak_of_memory_counts_transfers_under_way() -> None:
    # T: A's prompt from 0.1, its output from 1.1, all until 2.2: 112 tokens. B's prompt comes 1.5 -> 2.5.
    simulation = split(tokens_per_s=100).simulate(1, 1, requests((0, 100, 12), (1.4, 100, 2)))
    np.testing.assert_allclose(simulation.finish_s, [2.2, 2.6])
    assert simulation.peak_kv.tolist() == [100, 212]


def test_memory_freed_by_a_transfer_starts_an_idle_machine() -> None:
    # P has room for 300 tokens and sends 100 tokens/s. A 0 -> 0.1, sent until 1.1; B 0.1 -> 0.2, sent until 1.2.
    # C (120) is passed over at 0.2: 200 + 120 > 300. D (240) arrives at 0.5, while P is idle, and has no room either.
    # At 1.1 A's 100 tokens leave P: C, first in line, has room: 1.1 -> 1.22, sent until 2.42.
    # Then D: 2.42 -> 2.66, sent until 5.06.
    rows = ((0, 100, 2), (0.01, 100, 2), (0.15, 120, 2))
    network = split(kv_tokens=300, token_kv_tokens=1000, tokens_per_s=100)
    simulation = network.simulate(1, 1, requests(*rows, (0.5, 240, 2)))
    np.testing.assert_allclose(simulation.first_token_s, [0.1, 0.2, 1.22, 2.66])
    np.testing.assert_allclose(simulation.finish_s, [1.2, 1.3, 2.52, 5.16])
    # With a D that never fits, C is never served: P stays idle with C first in line.
    simulation = network.simulate(1, 1, requests(*rows, (0.5, 310, 2)))
    np.testing.assert_allclose(simulation.finish_s, [1.2, 1.3, 2.52, np.inf])


def test_the_work_bound_with_mixed_iterations_that_are_cheaper() -> None:
    # A: prompt 0 -> 0.001, decodes; B (1000 tokens) goes with its second: 0.5 x 1001 ms, 0.101 -> 0.6015, all done.
    # A bound that says more than 0.6015 s of work is no bound.
    model = performance(mixed_factor=0.5)
    trace = requests((0, 1, 3), (0.05, 1000, 1))
    network = mixed(model)
    simulation = network.simulate(1, 0, trace)
    assert simulation.makespan_s == pytest.approx(0.6015)
    bound = WorkBound.of(network.design, {"box": model}, trace, simulation.makespan_s)
    assert bound.load(1.0, 0.0) <= 1


def test_times_that_fall_towards_the_last_knot_do_not_fall_below_it() -> None:
    # Linear on, they would be less than nothing: a prompt of 300 tokens -0.05 s, an iteration of 4 decodes -0.02 s.
    model = performance(prefill=((1, 0.1), (100, 0.05)), decode=((1, 0.04), (2, 0.02)))
    simulation = mixed(model).simulate(1, 0, requests(*[(1, 75, 3)] * 4))
    np.testing.assert_allclose(simulation.first_token_s, 1.05)
    np.testing.assert_allclose(simulation.finish_s, 1.09)
