"""Trajectories of a few requests worked out by hand, compared whole.

Unless a test says otherwise a prompt token takes 1 ms, a decode iteration 0.1 s whatever its batch, an
iteration of both 1.5 times its prompt phase, and transfers take no time. `A (0.2, 100, 3)` is a request
that arrives at 0.2 s, with a prompt of 100 tokens and an output of 3: its prompt gives the first token,
so it runs 2 decode iterations.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from provisioner.sim import Network, Simulation
from tests.sim.worlds import mixed, performance, requests, split

pytestmark = pytest.mark.nojit

Row = tuple[float, int, int]


def instant(**kwargs: Any) -> Network:
    """Two pools whose transfers take no time at all: sent layer by layer, hidden by the prompt, without residue."""
    return split(layerwise_from_tokens=0, **kwargs)


def check(simulation: Simulation, first_token_s: list[float], finish_s: list[float]) -> None:
    np.testing.assert_allclose(simulation.first_token_s, first_token_s, rtol=0, atol=1e-9)
    np.testing.assert_allclose(simulation.finish_s, finish_s, rtol=0, atol=1e-9)


def test_two_pools_with_transfers() -> None:
    # One prompt and one token machine, 500 tokens/s between them, layer-wise from 512 tokens, residue 0.05 s.
    # P: A 0 -> 0.1, B 0.1 -> 0.7, C and D together (1200 tokens) 0.7 -> 1.9.
    # Transfers: A is short, 100 / 500 = 0.2 after its prompt: 0.3. B takes 1.2, of which its prompt hides 0.6: 1.3.
    # C takes 2.0, of which its own 1000 tokens hide 1.0: 2.9. D has one output token: nothing is sent.
    # T: A 0.3 -> 0.5, B 1.3 -> 1.4, C 2.9 -> 3.0.
    trace = requests((0, 100, 3), (0.05, 600, 2), (0.3, 1000, 2), (0.4, 200, 1))
    simulation = split(tokens_per_s=500, residue_s=0.05).simulate(1, 1, trace)
    check(simulation, [0.1, 0.7, 1.9, 1.9], [0.5, 1.4, 3.0, 1.9])
    np.testing.assert_allclose(simulation.prompt_busy_s, [1.9, 0])
    np.testing.assert_allclose(simulation.decode_busy_s, [0, 0.4])
    assert simulation.peak_tokens.tolist() == [1200, 0]
    assert simulation.peak_decodes.tolist() == [0, 1]
    assert simulation.peak_kv.tolist() == [1800, 1002]  # B's KV-cache is still being sent when C and D start
    assert simulation.iterations == 3 + 4
    assert simulation.pool_sizes == (1, 1)
    np.testing.assert_allclose(simulation.prompt_start_s, [0, 0.1, 0.7, 0.7])
    np.testing.assert_allclose(simulation.decode_start_s, [0.3, 1.3, 2.9, np.inf])
    np.testing.assert_allclose(simulation.transfer_s, [0.2, 0.6, 1.0, np.nan])
    np.testing.assert_allclose(simulation.batch_time_s, [[0, 0.7, 1.2], [0, 0.4, 0]])
    # KV-cache on P: A 100 x 0.3, B 600 x 1.2, C 1000 x 2.2, D 200 x 1.2; on T: A 100 x 0.4 and its output 3 x 0.2,
    # B 600 x 0.7 and 2 x 0.1, C 1000 x 1.1 and 2 x 0.1.
    np.testing.assert_allclose(simulation.kv_token_s, [30 + 720 + 2200 + 240, 40.6 + 420.2 + 1100.2])
    assert simulation.end_s == pytest.approx(3.0)


def test_decodes_join_at_iteration_boundaries() -> None:
    # f(b) = 0.05 + 0.05 b, and 1 ms for each token of context; the context starts at the prompt and one token.
    # A is ready at 0.010 and would run 4 iterations: 0.111, 0.112, 0.113, 0.114.
    # B is ready at 0.210, in A's second, which ends at 0.233. Both: 0.15 + (13 + 21) ms = 0.184 -> 0.417.
    # C is ready at 0.415. All three: 0.2 + (14 + 22 + 16) ms = 0.252 -> 0.669, the last iteration of each.
    # D alone: prompt 0.7 -> 0.71, decode 0.1 + 11 ms -> 0.821.
    network = instant(model=performance(decode=((1, 0.1), (2, 0.15)), gamma=0.001))
    trace = requests((0, 10, 5), (0.19, 20, 3), (0.4, 15, 2), (0.7, 10, 2))
    simulation = network.simulate(1, 1, trace)
    check(simulation, [0.01, 0.21, 0.415, 0.71], [0.669, 0.669, 0.669, 0.821])
    np.testing.assert_allclose(simulation.decode_busy_s, [0, 0.659 + 0.111])
    np.testing.assert_allclose(simulation.prompt_busy_s, [0.055, 0])
    assert simulation.peak_decodes.tolist() == [0, 3]


def test_a_decode_ready_at_a_boundary_joins_at_the_next() -> None:
    # Powers of two, so that moments are equal exactly: 1/1024 s a prompt token, 1/4 s an iteration.
    # A is ready at 0.25 and runs 0.25 -> 1.25 in 4 iterations. B is ready at 0.5, where A's second begins:
    # the first boundary after that is 0.75. C arrives at 0.5, as P ends B's prompt, and starts then;
    # it is ready at 0.75, where a new run (of B) begins only after all events of the moment: it shares it.
    # {A, B, C} 0.75 -> 1.0 (B and C end), A 1.0 -> 1.25.
    network = instant(model=performance(prefill=((1, 2**-10), (1024, 1.0)), decode=((1, 0.25),)))
    simulation = network.simulate(1, 1, requests((0, 256, 5), (0.25, 256, 2), (0.5, 256, 2)))
    assert simulation.first_token_s.tolist() == [0.25, 0.5, 0.75]
    assert simulation.finish_s.tolist() == [1.25, 1.0, 1.0]
    assert simulation.peak_decodes.tolist() == [0, 3]


def test_a_mixed_machine_preempts_decodes_for_a_long_prompt() -> None:
    # Limit: 100 tokens. A: prompt 0 -> 0.04, decodes from there. B arrives in its first iteration, which ends at 0.14.
    # B's prompt and A's decode: 1.5 x 61 ms -> 0.2315. C waits; it is over the limit, so it runs alone and first:
    # 0.2315 -> 0.3815, A is preempted. Then A (its last), B and C: 0.4815; then B's second: 0.5815.
    trace = requests((0, 40, 4), (0.1, 60, 3), (0.2, 150, 2))
    simulation = mixed(max_batch_tokens=100).simulate(1, 0, trace)
    check(simulation, [0.04, 0.2315, 0.3815], [0.4815, 0.5815, 0.4815])
    np.testing.assert_allclose(simulation.prompt_busy_s, [0.04 + 0.15])
    np.testing.assert_allclose(simulation.decode_busy_s, [0.1 + 0.1 + 0.1])
    np.testing.assert_allclose(simulation.mixed_busy_s, [0.0915])
    assert simulation.peak_tokens.tolist() == [150]


def test_the_last_of_the_running_decodes_are_preempted() -> None:
    # Limit: 100 tokens. A and B: prompts 0 -> 0.02, decodes from there. C's prompt (99 tokens) leaves room for one of
    # them: A stays, B is preempted. 0.12 -> 1.5 x 100 ms -> 0.27. A has 2 iterations left, B 3: 0.47 and 0.57.
    simulation = mixed(max_batch_tokens=100).simulate(1, 0, requests((0, 10, 5), (0, 10, 5), (0.05, 99, 1)))
    check(simulation, [0.02, 0.02, 0.27], [0.47, 0.57, 0.27])


def test_a_preempted_decode_keeps_its_context() -> None:
    # As above in small, with 1 ms for each token of context. A: prompt 0 -> 0.05, first decode 0.1 + 51 ms -> 0.201.
    # B (100 tokens) 0.201 -> 0.301, A preempted. A's second has context 52: 0.152 -> 0.453; its third 0.153 -> 0.606.
    network = mixed(model=performance(gamma=0.001), max_batch_tokens=100)
    simulation = network.simulate(1, 0, requests((0, 50, 4), (0.1, 100, 1)))
    check(simulation, [0.05, 0.301], [0.606, 0.301])


@pytest.mark.parametrize(
    ("max_passed_over", "prompts_s", "decode_s"),
    [(4, [0.25, 0.35, 0.45, 0.55, 0.85, 0.95], 0.75), (2, [0.25, 0.35, 0.65, 0.75, 0.85, 0.95], 0.55)],
)
def test_a_decode_passed_over_too_often_goes_first(
    max_passed_over: int, prompts_s: list[float], decode_s: float
) -> None:
    # Limit: 100 tokens. A: prompt 0 -> 0.05, decode until 0.15; then six prompts that fill a batch each, 0.1 s apiece.
    # Each choice passes A over. After four (two) of them it goes first; alone, for no prompt fits beside it, and to
    # its end, for what waits already cuts no run: two iterations. Then the other prompts.
    trace = requests((0, 50, 4), *[(0.06, 100, 1)] * 6)
    network = mixed(max_batch_tokens=100, max_passed_over=max_passed_over)
    simulation = network.simulate(1, 0, trace)
    check(simulation, [0.05, *prompts_s], [decode_s, *prompts_s])


def test_a_decode_passed_over_too_often_goes_before_an_earlier_one_that_lacks_memory() -> None:
    # Room for 145 tokens. Eight prompts of 75 tokens together, 0 -> 0.075. Decodes of A to F take 60 tokens of output
    # (135 in all); G (80) has no room, and H (2) behind it must wait although it fits. A to D end at 0.175, 0.275,
    # 0.375 and 0.475, where batches are chosen. The first four choices, at 0.075 to 0.375, pass G and H over. At 0.475
    # both are overdue: G lacks memory still (81 + 80), H runs beside E and F: -> 0.575, where E and H end.
    # G has room then (60 + 80): 79 iterations -> 8.475. F has 39 from 0.075: 3.975.
    rows = [(0, 10, output) for output in (2, 3, 4, 5, 6, 40, 80)]
    simulation = mixed(kv_tokens=145).simulate(1, 0, requests(*rows, (0, 5, 2)))
    check(simulation, [0.075] * 8, [0.175, 0.275, 0.375, 0.475, 0.575, 3.975, 8.475, 0.575])


def test_a_decode_behind_its_prompt_does_not_age_and_holds_up_those_behind_it() -> None:
    # Room for 125 tokens. Six prompts of 10 together, 0 -> 0.06, and decodes of 1, 2, 3, 4, 5 and 39 iterations, whose
    # KV-cache is 60 + 60. G (80) and H (5) arrive at 0.07: G has no room, and H stands behind it. Batches are chosen at
    # 0.16, 0.26, 0.36, 0.46 and 0.56. At the fifth both prompts are overdue, but between them stands G's decode,
    # which has not aged. So H waits with G for the last of the others to end, 3.96: together 85 tokens -> 4.045.
    outputs = (2, 3, 4, 5, 6, 40)
    trace = requests(*[(0, 10, output) for output in outputs], (0.07, 80, 1), (0.07, 5, 1))
    simulation = mixed(kv_tokens=125).simulate(1, 0, trace)
    check(simulation, [0.06] * 6 + [4.045] * 2, [0.16, 0.26, 0.36, 0.46, 0.56, 3.96, 4.045, 4.045])


def test_of_prompts_passed_over_too_often_the_last_queued_goes_first() -> None:
    # One request a batch, and once passed over is too often. A 0 -> 0.1; B, C and D wait from 0.03, E from 0.15.
    # At 0.1 none has been passed over: B. At 0.2 C and D have, but E, queued before them because passed over less, has
    # not, so that none is overdue: C, by arrival. At 0.3 E has too: it goes before D, 0.3 -> 0.4, and D last.
    trace = requests((0, 100, 1), (0.01, 100, 1), (0.02, 100, 1), (0.03, 100, 1), (0.15, 100, 1))
    simulation = instant(max_batch_requests=1, max_passed_over=1).simulate(1, 1, trace)
    check(simulation, *[[0.1, 0.2, 0.3, 0.5, 0.4]] * 2)


def test_memory_limits_admission() -> None:
    # Room for 200 tokens. A and B: prompts together 0 -> 0.16. C's prompt fits (190) and A's decode (3 more: 193),
    # B's (11) does not: 1.5 x 31 ms -> 0.2065. Then A alone, for B still does not fit and C stands behind it:
    # -> 0.3065, A ends and frees 103. B and C: C ends at 0.4065, B runs on.
    # D (150) arrives at 1.0 and cuts B's run at 1.0065 in vain: 71 + 150 > 200. B ends at 1.3065; D: prompt -> 1.4565.
    trace = requests((0, 100, 3), (0, 60, 11), (0.1, 30, 2), (1.0, 150, 2))
    simulation = mixed(kv_tokens=200).simulate(1, 0, trace)
    check(simulation, [0.16, 0.16, 0.2065, 1.4565], [0.3065, 1.3065, 0.4065, 1.5565])
    assert simulation.peak_kv.tolist() == [193]


WAITING_TRANSFERS = ((0, 100, 2), (0.01, 30, 2), (0.02, 150, 2))
"""What the next two tests share: 1P + 1T, 1000 tokens/s, room for 200 tokens on T, 150 pending tokens.

A and B go to P, their decodes to T (which reserves 132). C finds a queue at P and T idle: T joins the mixed pool and
takes its prompt, 0.02 -> 0.17, and P its decode, for T's memory is spoken for. T then holds 150 tokens until
they are at P, 0.17 -> 0.32, where C's decode runs 0.32 -> 0.42. P runs A 0 -> 0.1 and B 0.1 -> 0.13."""


def test_a_transfer_waits_for_room_first_come_first_served() -> None:
    # A (100) has no room at T, B (30) would have, but stands behind it. At 0.32 both start: A -> 0.42, B -> 0.35.
    # B's decode 0.35 -> 0.45, which A joins only then: 0.45 -> 0.55.
    network = split(kv_tokens=1000, token_kv_tokens=200, tokens_per_s=1000, max_pending_tokens=120)
    simulation = network.simulate(1, 1, requests(*WAITING_TRANSFERS))
    assert simulation.prompt_machine.tolist() == [0, 0, 1]
    assert simulation.token_machine.tolist() == [1, 1, 0]
    check(simulation, [0.1, 0.13, 0.17], [0.55, 0.45, 0.42])


@pytest.mark.parametrize(("retry_s", "last_s"), [(1.0, 1.3), (0.1, 0.6)])
def test_the_habit_of_trying_a_transfer_again_after_a_time(retry_s: float, last_s: float) -> None:
    # A has no room at 0.1 and tries again at 1.1: -> 1.2, decode -> 1.3. Or each 0.1 s: in vain at 0.2 and 0.3, then
    # 0.4 -> 0.5, decode -> 0.6. B has room at 0.13: -> 0.16; T is at C's prompt until 0.17: decode 0.17 -> 0.27.
    # D comes when all is done.
    network = split(
        kv_tokens=1000, token_kv_tokens=200, tokens_per_s=1000, max_pending_tokens=120, transfer_retry_s=retry_s
    )
    simulation = network.simulate(1, 1, requests(*WAITING_TRANSFERS, (5, 10, 1)))
    check(simulation, [0.1, 0.13, 0.17, 5.01], [last_s, 0.27, 0.42, 5.01])


def test_a_transfer_to_be_tried_again_is_also_the_last_thing_to_happen() -> None:
    # As above without D.
    network = split(
        kv_tokens=1000, token_kv_tokens=200, tokens_per_s=1000, max_pending_tokens=120, transfer_retry_s=1.0
    )
    simulation = network.simulate(1, 1, requests(*WAITING_TRANSFERS))
    check(simulation, [0.1, 0.13, 0.17], [1.3, 0.27, 0.42])


def test_memory_freed_by_a_transfer_ends_a_run_while_something_waits() -> None:
    # P has room for 300 tokens, T for 110; 800 tokens/s. A: P, then T. B: P both, for T is spoken for.
    # Prompts of A and B 0 -> 0.15. A's transfer 0.15 -> 0.275, decode -> 0.375. B: 20 iterations from 0.15.
    # C (140) arrives at 0.16: 171 + 140 > 300; it cuts B's run at 0.25 in vain. At 0.275 A's 100 tokens leave P,
    # so the run ends at 0.35: C's prompt with B's decode, 1.5 x 141 ms -> 0.5615. B has 17 left: 2.2615.
    network = split(kv_tokens=300, token_kv_tokens=110, tokens_per_s=800)
    simulation = network.simulate(1, 1, requests((0, 100, 2), (0, 50, 21), (0.16, 140, 1)))
    assert simulation.prompt_machine.tolist() == [0, 0, 0]
    assert simulation.token_machine.tolist() == [1, 0, 0]
    check(simulation, [0.15, 0.15, 0.5615], [0.375, 2.2615, 0.5615])


def test_simultaneous_arrivals_share_a_batch() -> None:
    # 600 tokens 0 -> 0.6. B and C decode: B ends at 0.7, C at 0.8.
    simulation = mixed().simulate(1, 0, requests((0, 100, 1), (0, 200, 2), (0, 300, 3)))
    check(simulation, [0.6, 0.6, 0.6], [0.6, 0.7, 0.8])
    assert simulation.iterations == 3


def test_an_arrival_at_the_end_of_a_run_is_in_the_next_batch() -> None:
    # 1/1024 s a token: A and B (512) end at 0.5 exactly, when C (256) arrives. Its prompt goes with both decodes:
    # 1.5 x 258 / 1024 = 0.3779296875; then C's decode 0.25.
    network = mixed(model=performance(prefill=((1, 2**-10), (1024, 1.0)), decode=((1, 0.25),)))
    simulation = network.simulate(1, 0, requests((0, 256, 2), (0, 256, 2), (0.5, 256, 2)))
    assert simulation.first_token_s.tolist() == [0.5, 0.5, 0.8779296875]
    assert simulation.finish_s.tolist() == [0.8779296875, 0.8779296875, 1.1279296875]


def test_a_borrowed_machine_is_given_back_to_the_end_of_its_pool() -> None:
    # 1P + 2T, at most 150 pending tokens on a prompt machine with a queue. A goes to P and T1, B to P (A runs, so the
    # queue is empty) and T2, which has less reserved. C would make 300 pending tokens: T1, as idle as T2 but first,
    # joins the mixed pool, and serves C whole. P: A 0 -> 0.1, B 0.1 -> 0.2.
    # T1: C's prompt 0.02 -> 0.12; A's decode, ready at 0.1, and C's: A ends at 0.22, C at 0.32, and T1 returns.
    # T2: B 0.2 -> 0.3. D at 0.5: P -> 0.6, and T2, now the first of the token pool -> 0.7.
    # E at 0.55: P 0.6 -> 0.65, and T1, back in the token pool and with less reserved than T2 -> 0.75.
    trace = requests((0, 100, 2), (0.01, 100, 2), (0.02, 100, 3), (0.5, 100, 2), (0.55, 50, 2))
    simulation = instant(max_pending_tokens=150).simulate(1, 2, trace)
    assert simulation.prompt_machine.tolist() == [0, 0, 1, 0, 0]
    assert simulation.token_machine.tolist() == [1, 2, 1, 2, 1]
    check(simulation, [0.1, 0.2, 0.12, 0.6, 0.65], [0.22, 0.3, 0.32, 0.7, 0.75])
    np.testing.assert_allclose(simulation.mixed_pool_s, [0, 0.3, 0], atol=1e-9)


def test_borrowed_machines_stand_in_the_order_of_their_return() -> None:
    # As above, but C's prompt is of 200 tokens, 0.02 -> 0.22, and D finds T1 with a queue: T2 joins the mixed pool too,
    # serves D's one token, 0.03 -> 0.08, and returns before T1, which has A's decode to do, 0.22 -> 0.32.
    # T2: B 0.2 -> 0.3. E: P 0.5 -> 0.6, and T2, the first of the token pool -> 0.7.
    trace = requests((0, 100, 2), (0.01, 100, 2), (0.02, 200, 1), (0.03, 50, 1), (0.5, 100, 2))
    simulation = instant(max_pending_tokens=150).simulate(1, 2, trace)
    assert simulation.prompt_machine.tolist() == [0, 0, 1, 2, 0]
    assert simulation.token_machine.tolist() == [1, 2, 1, 2, 2]
    check(simulation, [0.1, 0.2, 0.22, 0.08, 0.6], [0.32, 0.3, 0.22, 0.08, 0.7])
    np.testing.assert_allclose(simulation.mixed_pool_s, [0, 0.3, 0.05], atol=1e-9)


@pytest.mark.parametrize(("max_pending_tokens", "prompt_machine"), [(250, 0), (249, 1)])
def test_pending_tokens_may_reach_their_limit(max_pending_tokens: int, prompt_machine: int) -> None:
    # A runs and B waits on P, 200 tokens; C brings 50.
    trace = requests((0, 100, 2), (0.01, 100, 2), (0.02, 50, 2))
    simulation = instant(max_pending_tokens=max_pending_tokens).simulate(1, 1, trace)
    assert simulation.prompt_machine.tolist() == [0, 0, prompt_machine]


def test_where_no_machine_may_be_borrowed_both_phases_go_to_the_shortest_queue() -> None:
    # 1P + 1T, 150 pending tokens. A, B: P and T. C: T joins the mixed pool. D: P would have 300 pending, T 203,
    # and the token pool is empty: both phases on T (103 against 200). E: P would have 210, T 214; P has 200, T 204: P.
    # P: A 0 -> 0.1; B and E (110 tokens) -> 0.21; E's decode -> 0.31.
    # T: C's prompt 0.02 -> 0.12; D's prompt with the decodes of A and C: 1.5 x 102 ms -> 0.273, A ends;
    # C's second decode, B's and D's: 0.373.
    trace = requests((0, 100, 2), (0.01, 100, 2), (0.02, 100, 3), (0.03, 100, 2), (0.04, 10, 2))
    simulation = instant(max_pending_tokens=150).simulate(1, 1, trace)
    assert simulation.prompt_machine.tolist() == [0, 0, 1, 1, 0]
    assert simulation.token_machine.tolist() == [1, 1, 1, 1, 0]
    check(simulation, [0.1, 0.21, 0.12, 0.273, 0.21], [0.273, 0.373, 0.373, 0.373, 0.31])


def test_a_decode_behind_its_prompt_makes_a_queue() -> None:
    # 1P + 1T, 150 pending tokens. A, B: P and T. C: T joins the mixed pool, 303 pending. D: P would have 300. T has
    # nothing else to do than C's prompt, which runs, but C's decode waits behind it: that is a queue, and 403 too many.
    # So both phases go to the shortest queue of all, P: B and D 0.1 -> 0.3, D's decode -> 0.4.
    # T: C's prompt 0.02 -> 0.32; A, B and C: 0.42; C: 0.52.
    trace = requests((0, 100, 2), (0.01, 100, 2), (0.02, 300, 3), (0.03, 100, 2))
    simulation = instant(max_pending_tokens=150).simulate(1, 1, trace)
    assert simulation.prompt_machine.tolist() == [0, 0, 1, 0]
    assert simulation.token_machine.tolist() == [1, 1, 1, 0]
    check(simulation, [0.1, 0.3, 0.32, 0.3], [0.42, 0.42, 0.52, 0.4])


def test_a_full_token_pool_borrows_a_prompt_machine() -> None:
    # 2P + 1T, room for 150 tokens on T. A: P1 and T (110). B: P2, for P1 has 100 pending; 110 + 52 > 150, so the prompt
    # machine with the least reserved memory, P2 (0 against 100 of A's prompt), joins the mixed pool and serves B whole.
    # C: P1 is the only prompt machine, with its queue empty; of the mixed pool P2 has room for the decode.
    # P1: A 0 -> 0.1, C 0.1 -> 0.12. P2: B's prompt 0 -> 0.05, decode 0.05 -> 0.15, which C joins at 0.15 (ready at
    # 0.12) -> 0.25. T: A 0.1 -> 1.0. P2 has nothing left at 0.25, having been in the mixed pool from 0.
    trace = requests((0, 100, 10), (0, 50, 2), (0.01, 20, 2 + 20))
    simulation = instant(kv_tokens=1000, token_kv_tokens=150).simulate(2, 1, trace)
    assert simulation.prompt_machine.tolist() == [0, 1, 0]
    assert simulation.token_machine.tolist() == [2, 1, 1]
    check(simulation, [0.1, 0.05, 0.12], [1.0, 0.15, 0.15 + 2.1])
    np.testing.assert_allclose(simulation.mixed_pool_s, [0, 2.25, 0], atol=1e-9)


def test_a_prompt_machine_on_loan_takes_other_decodes_too() -> None:
    # 1P + 1T, room for 150 tokens on T. A: P and T (110 until 1.0). B: 72 more are too many, so P joins the mixed pool
    # and serves it whole: prompt 0.2 -> 0.25, 21 iterations from there. C: no prompt machine is left, but P in the
    # mixed pool; its decode does not fit T either, but P. Its prompt goes with B's second iteration, at 0.35:
    # 1.5 x 51 ms -> 0.4265; C ends at 0.5265, B, with 18 left, at 2.3265, and P returns.
    trace = requests((0, 100, 10), (0.2, 50, 22), (0.3, 50, 2))
    simulation = instant(kv_tokens=1000, token_kv_tokens=150).simulate(1, 1, trace)
    assert simulation.prompt_machine.tolist() == [0, 0, 0]
    assert simulation.token_machine.tolist() == [1, 0, 0]
    check(simulation, [0.1, 0.25, 0.4265], [1.0, 2.3265, 0.5265])
    np.testing.assert_allclose(simulation.mixed_pool_s, [2.1265, 0], atol=1e-9)


def test_one_token_outputs_on_a_mixed_machine() -> None:
    # Room for 100 tokens. A takes it all, 0 -> 0.1, and frees it at once: B and C 0.1 -> 0.2; C's decode -> 0.3.
    simulation = mixed(kv_tokens=100).simulate(1, 0, requests((0, 100, 1), (0.05, 50, 1), (0.06, 50, 2)))
    check(simulation, [0.1, 0.2, 0.2], [0.1, 0.2, 0.3])
    assert simulation.peak_kv.tolist() == [100]


def test_one_token_outputs_leave_the_books_of_both_machines() -> None:
    # T has room for 120 tokens. A reserves 101 there until its prompt ends at 0.1, so B's token machine is P itself.
    # P: B 0.1 -> 0.15. C comes when T's books are empty again: P 0.3 -> 0.4, T -> 0.5.
    # D needs all of P's memory (150), which both A and B have left; T has no room for it.
    trace = requests((0, 100, 1), (0.05, 50, 1), (0.3, 100, 2), (0.6, 148, 2))
    simulation = instant(kv_tokens=150, token_kv_tokens=120).simulate(1, 1, trace)
    assert simulation.token_machine.tolist() == [1, 0, 1, 0]
    check(simulation, [0.1, 0.15, 0.4, 0.748], [0.1, 0.15, 0.5, 0.848])
    assert simulation.peak_kv.tolist() == [150, 102]


def test_prompts_are_batched_in_order_up_to_the_first_that_does_not_fit() -> None:
    # Limit: 100 tokens. A (60) alone, for B (60) does not fit and C (30) stands behind it; then B and C.
    simulation = instant(max_batch_tokens=100).simulate(1, 1, requests((0, 60, 1), (0, 60, 1), (0, 30, 1)))
    check(simulation, [0.06, 0.15, 0.15], [0.06, 0.15, 0.15])


def test_a_decode_does_not_cut_a_run_that_is_full() -> None:
    # Two requests a batch. P: A and B (30 tokens) 0 -> 0.03, C 0.03 -> 0.06. T: A and B run until A ends, two
    # iterations: 0.23, whatever C wants; then B and C: 0.33; then B's last two: 0.53.
    simulation = instant(max_batch_requests=2).simulate(1, 1, requests((0, 10, 3), (0, 20, 6), (0, 30, 2)))
    check(simulation, [0.03, 0.03, 0.06], [0.23, 0.53, 0.33])
    assert simulation.peak_decodes.tolist() == [0, 2]


def test_a_decode_does_not_cut_a_run_with_as_many_tokens_as_allowed() -> None:
    # The same with a limit of two tokens: each prompt is over it, and runs alone: 0.01, 0.03, 0.06.
    # T: A is ready at 0.01, B at 0.03: cut at 0.11, A and B run until A ends at 0.21; B and C -> 0.31; B -> 0.61.
    simulation = instant(max_batch_tokens=2).simulate(1, 1, requests((0, 10, 3), (0, 20, 6), (0, 30, 2)))
    check(simulation, [0.01, 0.03, 0.06], [0.21, 0.61, 0.31])


def test_decodes_left_waiting_are_taken_in_order_of_request_arrival() -> None:
    # One request a batch, 1P + 1T; P's batches: A 0 -> 0.01, B 0.01 -> 0.21, C 0.21 -> 0.22.
    # Transfers at 1000 tokens/s: A 0.02, B 0.41, C 0.23. T: A until 0.52 (5 iterations); B, ready at 0.41, arrived
    # before C, ready at 0.23: B 0.52 -> 0.62, C 0.62 -> 0.72.
    network = split(tokens_per_s=1000, max_batch_requests=1)
    simulation = network.simulate(1, 1, requests((0, 10, 6), (0, 200, 2), (0, 10, 2)))
    check(simulation, [0.01, 0.21, 0.22], [0.52, 0.62, 0.72])


def test_preempted_decodes_come_back_before_running_ones_and_newcomers() -> None:
    # Limit: 3 tokens, so that every prompt (10) runs alone. A, B, C: prompts 0 -> 0.03, one after the other.
    # They decode together from 0.03; D's prompt 0.13 -> 0.14 preempts all three. At 0.14 they come back in that order,
    # which fills the batch; D's decode waits until A ends its third iteration, at 0.34.
    # C has 9 - 3 left, B too: B, C, D -> 0.44, D ends; B, C run on to 0.94.
    trace = requests((0, 10, 4), (0, 10, 10), (0, 10, 10), (0.05, 10, 2))
    simulation = mixed(max_batch_tokens=3).simulate(1, 0, trace)
    check(simulation, [0.01, 0.02, 0.03, 0.14], [0.34, 0.94, 0.94, 0.44])


def test_prompts_join_the_shortest_queue_by_pending_tokens() -> None:
    # Two mixed machines. A: M1 (101 pending). B: M2 (51). C: M2 (62). D: M2 (83). E: M1 (101 < 83? no): M2 has 83: M2.
    # F at 0.06: M2's 50 have ended, and with them its pending tokens, the one of its only token among them: M2 has
    # 11 + 21 + 41 = 73 < 101: M2 again. M2: B 0 -> 0.05; C, D, E (70) -> 0.12; F -> 0.14. M1: A 0 -> 0.1.
    trace = requests((0, 100, 1), (0, 50, 1), (0.01, 10, 1), (0.02, 20, 1), (0.03, 40, 1), (0.06, 20, 1))
    simulation = mixed().simulate(2, 0, trace)
    assert simulation.prompt_machine.tolist() == [0, 1, 1, 1, 1, 1]
    check(simulation, *[[0.1, 0.05, 0.12, 0.12, 0.12, 0.14]] * 2)


def test_the_habit_of_letting_long_prompts_wait() -> None:
    # Limits: 100 tokens, one request. A: prompt 0 -> 0.05, then 10 decodes. B (150 tokens) arrives at 0.1, C (80) at
    # By the paper's text B goes at the next boundary: 0.15 -> 0.3, A preempted; A from 0.3, cut by C at 0.5:
    # A has done 3. C -> 0.58; A has 7 left: 1.28.
    rows: tuple[Row, ...] = ((0, 50, 11), (0.1, 150, 1), (0.47, 80, 1))
    limits = {"max_batch_tokens": 100, "max_batch_requests": 1}
    simulation = mixed(**limits).simulate(1, 0, requests(*rows))
    check(simulation, [0.05, 0.3, 0.58], [1.28, 0.3, 0.58])
    # By habit B lets the run go on, and C, which fits the limit, cuts it at 0.55. B is first then: -> 0.7; C -> 0.78.
    # A has done 5 of 10: 1.28.
    simulation = mixed(long_prompts_wait=True, **limits).simulate(1, 0, requests(*rows))
    check(simulation, [0.05, 0.7, 0.78], [1.28, 0.7, 0.78])
    # A prompt of just the limit does not wait.
    simulation = mixed(long_prompts_wait=True, **limits).simulate(1, 0, requests(rows[0], (0.1, 100, 1)))
    check(simulation, [0.05, 0.25], [1.15, 0.25])
    # Without C, B waits until A ends.
    simulation = mixed(long_prompts_wait=True, **limits).simulate(1, 0, requests(*rows[:2]))
    check(simulation, [0.05, 1.2], [1.05, 1.2])
    # Where the batch has room for B's decode, that cuts the run on arrival, as it does in the paper's simulator.
    simulation = mixed(long_prompts_wait=True, max_batch_tokens=100).simulate(1, 0, requests(*rows[:2]))
    check(simulation, [0.05, 0.3], [1.2, 0.3])


def test_the_habit_of_holding_the_first_token_with_the_prompt() -> None:
    # Room for 201 tokens. Two prompts of 100 fit together; with a token more each they do not.
    trace = requests((0, 100, 1), (0, 100, 1))
    check(mixed(kv_tokens=201).simulate(1, 0, trace), *[[0.2, 0.2]] * 2)
    simulation = mixed(kv_tokens=201, first_token_in_prompt_kv=True).simulate(1, 0, trace)
    check(simulation, *[[0.1, 0.2]] * 2)
    # In all, prompt and output take what they take.
    for habit in (False, True):
        simulation = mixed(first_token_in_prompt_kv=habit).simulate(1, 0, requests((0, 100, 11)))
        assert simulation.peak_kv.tolist() == [111]
        simulation = instant(first_token_in_prompt_kv=habit).simulate(1, 1, requests((0, 100, 11)))
        assert simulation.peak_kv.tolist() == [101 if habit else 100, 111]


@pytest.mark.parametrize(("strict", "token_machine"), [(False, 1), (True, 0)])
def test_the_habit_of_wanting_room_to_spare(*, strict: bool, token_machine: int) -> None:
    # A fills T exactly; by habit that is no room, and P serves both phases.
    network = instant(kv_tokens=1000, token_kv_tokens=110, strict_room=strict)
    simulation = network.simulate(1, 1, requests((0, 100, 10)))
    assert simulation.token_machine.tolist() == [token_machine]
    check(simulation, [0.1], [1.0])


@pytest.mark.parametrize(
    ("prompt_tokens", "rates", "residues", "visible_s"),
    [
        (511, (1000, 1000), (0.005, 0.005), 0.511),  # short: all of it
        (512, (1000, 1000), (0.005, 0.005), 0.005),  # long, as fast as the prompt: the residue
        (512, (1000, 1000), (0.005, 0.008), 0.008),  # the larger of the two machines
        (512, (1000, 1000), (0.008, 0.005), 0.008),
        (600, (400, 1000), (0.005, 0.008), 0.9),  # 1.5 s at the slower of two rates, 0.6 hidden by the prompt
        (600, (1000, 400), (0.005, 0.008), 0.9),
        (600, (100_000, 100_000), (0.005, 0.008), 0.006),  # never more than all of it
    ],
)
def test_how_long_a_transfer_shows(
    prompt_tokens: int, rates: tuple[float, float], residues: tuple[float, float], visible_s: float
) -> None:
    network = split(tokens_per_s=rates[0], residue_s=residues[0])
    network.machine_rows.kv_tokens_per_s = rates
    network.machine_rows.residue_s = residues
    simulation = network.simulate(1, 1, requests((0, prompt_tokens, 2)))
    first_s = prompt_tokens / 1000
    check(simulation, [first_s], [first_s + visible_s + 0.1])
