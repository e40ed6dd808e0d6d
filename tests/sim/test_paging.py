"""KV-cache on demand, worked out by hand; what is computed anew, when, and what stays as it was.

A prompt token takes 1 ms, a decode iteration 0.1 s whatever its batch; machines hold 100 tokens of KV-cache.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given

from tests.sim.strategies import Case, cases, examples
from tests.sim.test_trajectories import check
from tests.sim.worlds import mixed, performance, requests, split

pytestmark = pytest.mark.nojit

INF = float("inf")


class TestOnOneMachine:
    def test_who_arrived_last_makes_room_and_is_computed_anew(self) -> None:
        # Both prompts 0 -> 0.08, both admitted: 82 held, two more with every iteration: room for ten, to 1.08. B holds
        # 50, and is dropped. A's other 19 decodes -> 2.98. B's prompt and its 11 tokens are 51, too many beside A:
        # 2.98 -> 3.031, its 12th token. The other 18 -> 4.831. Reserving, B would not have begun to decode before 2.98.
        simulation = mixed(kv_tokens=100, kv_on_demand=True).simulate(1, 0, requests((0, 40, 30), (0, 40, 30)))
        check(simulation, [0.08, 0.08], [2.98, 4.831])
        assert simulation.recomputations.tolist() == [0, 1]
        assert simulation.peak_kv.tolist() == [100]
        # Each token from when it is taken: A's prompt and 29 tokens to 2.98; B's and 10 to 1.08, then 51 and 18.
        first = 40 * 2.98 + sum(2.98 - (0.08 + 0.1 * k) for k in range(29))
        dropped = 40 * 1.08 + sum(1.08 - (0.08 + 0.1 * k) for k in range(10))
        again = 51 * (4.831 - 2.98) + sum(4.831 - (3.031 + 0.1 * k) for k in range(18))
        np.testing.assert_allclose(simulation.kv_token_s, [first + dropped + again])

    def test_a_context_that_is_attended_to_makes_times_quadratic_and_memory_cubic(self) -> None:
        # Iteration k of A alone takes 0.1 + 0.001 (10 + k) s: its token is taken when those before it have ended.
        simulation = mixed(performance(gamma=0.001), kv_tokens=100, kv_on_demand=True).simulate(
            1, 0, requests((0, 10, 8))
        )
        starts_s = 0.01 + np.concatenate([[0.0], np.cumsum(0.1 + 0.001 * (10 + np.arange(1, 7)))])
        end_s = 0.01 + float(np.sum(0.1 + 0.001 * (10 + np.arange(1, 8))))
        check(simulation, [0.01], [end_s])
        np.testing.assert_allclose(simulation.kv_token_s, [10 * end_s + np.sum(end_s - starts_s)])
        assert simulation.peak_kv.tolist() == [17]

    def test_who_was_dropped_stands_before_those_who_wait(self) -> None:
        # As above, with C, whose 30 tokens lack room at first, and would have it beside A from 1.08 on: but B is first.
        # Both at 2.98: 81 tokens -> 3.061; B's other 18 -> 4.861.
        trace = requests((0, 40, 30), (0, 40, 30), (0.5, 30, 1))
        simulation = mixed(kv_tokens=100, kv_on_demand=True).simulate(1, 0, trace)
        check(simulation, [0.08, 0.08, 3.061], [2.98, 4.861, 3.061])
        assert simulation.recomputations.tolist() == [0, 1, 0]

    def test_decodes_that_all_wait_make_room_for_the_first(self) -> None:
        # Two prompts of 50 fill the machine: neither has room to decode, reserving for ever. B is dropped: A's decode
        # 0.1 -> 0.2; B's 51 tokens -> 0.251, which is its last token.
        trace = requests((0, 50, 2), (0, 50, 2))
        check(mixed(kv_tokens=100).simulate(1, 0, trace), [0.1, 0.1], [INF, INF])
        simulation = mixed(kv_tokens=100, kv_on_demand=True).simulate(1, 0, trace)
        check(simulation, [0.1, 0.1], [0.2, 0.251])

    def test_what_a_prefix_cache_has_is_not_computed_anew(self) -> None:
        # Half of each prompt is cached: 0 -> 0.04, then ten iterations -> 1.04. A's other 19 -> 2.94; B's 20 and 11
        # tokens -> 2.971; 18 decodes -> 4.771.
        network = mixed(kv_tokens=100, kv_on_demand=True, cached_prompt_share=0.5)
        simulation = network.simulate(1, 0, requests((0, 40, 30), (0, 40, 30)))
        check(simulation, [0.04, 0.04], [2.94, 4.771])

    def test_what_no_machine_could_hold_is_turned_away(self) -> None:
        # A would hold 60 + 40, without its last token, which just fits; B one more.
        trace = requests((0, 60, 41), (0, 60, 42))
        simulation = mixed(kv_tokens=100, kv_on_demand=True).simulate(1, 0, trace)
        check(simulation, [0.06, INF], [4.06, INF])
        assert simulation.prompt_machine.tolist() == [0, -1]

    def test_a_prompt_in_pieces_that_has_begun_is_not_kept_waiting(self) -> None:
        # 50 tokens an iteration. A 0 -> 0.04, then decodes; B's 55 tokens are there at 0.1. A's first decode -> 0.14,
        # the next beside 49 of B: 1.5 x 50 ms -> 0.215, and beside the other 6: 1.5 x 7 ms -> 0.2255. A holds 43, B 55:
        # there is room for one iteration of both: -> 0.3255. B is dropped; A's other 6 -> 0.9255. B's 57 tokens in 50
        # and 7, the last of which give its third token -> 0.9825.
        network = mixed(kv_tokens=100, kv_on_demand=True, chunked_prefill=True, max_batch_tokens=50)
        simulation = network.simulate(1, 0, requests((0, 40, 11), (0.1, 55, 3)))
        check(simulation, [0.04, 0.2255], [0.9255, 0.9825])


class TestOnATokenMachine:
    def test_a_transfer_waits_for_room_that_a_run_has_taken_meanwhile(self) -> None:
        # A decodes from 0.04. At 1.05, when B's prompt is done, ten iterations are over and A holds 51: no room for 50.
        # B is sent when A has ended, at 2.94, and decodes -> 3.34.
        network = split(kv_tokens=10**9, token_kv_tokens=100, kv_on_demand=True)
        simulation = network.simulate(1, 1, requests((0, 40, 30), (1.0, 50, 5)))
        check(simulation, [0.04, 1.05], [2.94, 3.34])

    def test_a_transfer_shortens_the_run_beside_it(self) -> None:
        # B's 45 tokens come at 1.045, beside 51. It joins at 1.14: 98 held, room for one more iteration, to 1.34. B has
        # three tokens, and is dropped; beside A's 54 there is no room for its 48. A ends at 2.94. The token machine
        # computes B anew -> 2.988, its fourth token; the fifth -> 3.088.
        network = split(kv_tokens=10**9, token_kv_tokens=100, kv_on_demand=True)
        simulation = network.simulate(1, 1, requests((0, 40, 30), (1.0, 45, 5)))
        check(simulation, [0.04, 1.045], [2.94, 3.088])
        assert simulation.recomputations.tolist() == [0, 1]
        assert simulation.peak_kv.tolist() == [45, 100]
        np.testing.assert_allclose(simulation.prompt_busy_s, [0.085, 0.048])

    def test_routing_counts_prompts_alone(self) -> None:
        # Two token machines. Reserving, A (60 tokens in all) and B (40) leave C, in need of 65, no room in the token
        # pool: it decodes at the prompt machine. On demand its 30 fit.
        trace = requests((0, 20, 40), (0, 30, 10), (0, 30, 35))
        machines = {
            on_demand: split(kv_tokens=90, kv_on_demand=on_demand).simulate(1, 2, trace).token_machine.tolist()
            for on_demand in (False, True)
        }
        assert machines == {False: [1, 2, 0], True: [1, 2, 1]}


@given(cases(ample=True))
@examples(150)
def test_with_memory_for_everything_mixed_machines_do_what_they_do_reserving(case: Case) -> None:
    if not case.design.is_mixed or case.design.scheduling.first_token_in_prompt_kv:
        return
    rules = case.design.scheduling
    both = [
        dataclasses.replace(
            case, design=case.design.model_copy(update={"scheduling": rules.model_copy(update={"kv_on_demand": each})})
        ).simulate()
        for each in (False, True)
    ]
    for field in ("first_token_s", "finish_s", "decode_busy_s", "recomputations"):
        np.testing.assert_array_equal(getattr(both[0], field), getattr(both[1], field))


@given(cases())
@examples(400)
def test_on_demand_mixed_machines_finish_all_that_they_let_in(case: Case) -> None:
    """Reserving, they may block themselves: prompts fill the memory that decodes wait for."""
    scheduling = case.design.scheduling
    if case.design.is_mixed and scheduling.kv_on_demand:
        simulation = case.simulate()
        np.testing.assert_array_equal(np.isinf(simulation.finish_s), simulation.prompt_machine < 0)
