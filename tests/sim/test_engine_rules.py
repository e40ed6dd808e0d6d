"""Rules of scheduling that serving engines have and the paper has not, worked out by hand.

A prompt token takes 1 ms, a decode iteration 0.1 s whatever its batch, an iteration of both 1.5 times its prompt phase.
`A (0.2, 100, 3)` arrives at 0.2 s, with a prompt of 100 tokens and an output of 3: one from the prompt, two decoded.
"""

from __future__ import annotations

import numpy as np
import pytest

from provisioner.domain.failures import Failures
from provisioner.domain.scheduling import Scheduling
from tests.sim.test_trajectories import check, instant
from tests.sim.worlds import mixed, performance, requests, split

pytestmark = pytest.mark.nojit

INF = float("inf")


class TestLimitsOfPromptsAndDecodes:
    def test_prompts_one_by_one(self) -> None:
        # Together they would be done at 0.3, all three.
        simulation = instant(max_batch_prompts=1).simulate(1, 1, requests(*[(0, 100, 1)] * 3))
        check(simulation, [0.1, 0.2, 0.3], [0.1, 0.2, 0.3])

    def test_decodes_one_by_one(self) -> None:
        # Both prompts 0 -> 0.2. A's decodes 0.2 -> 0.4, and only then B's. Together both would end at 0.4.
        # C's prompt, 0.25 -> 0.35, brings a decode that cannot join: A's run goes on. C: 0.6 -> 0.8.
        trace = requests((0, 100, 3), (0, 100, 3), (0.25, 100, 3))
        simulation = instant(max_batch_decodes=1).simulate(1, 1, trace)
        check(simulation, [0.2, 0.2, 0.35], [0.4, 0.6, 0.8])
        assert simulation.peak_decodes.tolist() == [0, 1]

    def test_a_limit_of_prompts_leaves_room_for_decodes(self) -> None:
        # A's prompt 0 -> 0.1. B's with A's first decode: 1.5 x 201 ms -> 0.4015; C must wait. C's with A's second and
        # B's only one: 1.5 x 52 ms -> 0.4795.
        trace = requests((0, 100, 3), (0, 200, 2), (0, 50, 1))
        simulation = mixed(max_batch_prompts=1).simulate(1, 0, trace)
        check(simulation, [0.1, 0.4015, 0.4795], [0.4795, 0.4795, 0.4795])

    def test_decodes_beyond_their_limit_wait(self) -> None:
        # Prompts 0 -> 0.03. Two decodes of three: A and B 0.03 -> 0.13, where A ends; B and C 0.13 -> 0.23, 0.33.
        trace = requests((0, 10, 2), (0, 10, 4), (0, 10, 3))
        simulation = mixed(max_batch_decodes=2).simulate(1, 0, trace)
        check(simulation, [0.03] * 3, [0.13, 0.33, 0.33])


class TestPrefixCache:
    def test_what_is_cached_is_not_computed_but_held_and_attended_to(self) -> None:
        # A quarter of 100 tokens is computed: 0.025. The first decode sees 101 tokens, the second 102: 0.201 and 0.202.
        network = mixed(model=performance(gamma=0.001), cached_prompt_share=0.75)
        simulation = network.simulate(1, 0, requests((0, 100, 3)))
        check(simulation, [0.025], [0.428])
        assert simulation.peak_tokens.tolist() == [25]
        assert simulation.peak_kv.tolist() == [103]

    def test_what_is_cached_is_sent(self) -> None:
        # 500 tokens/s. A: prompt 0 -> 0.025, then all of its 100 tokens in 0.2. B (600, sent layer by layer): prompt
        # 0.025 -> 0.175, which hides as much of 1.2 s: 1.05 s to 1.225.
        network = split(tokens_per_s=500, cached_prompt_share=0.75)
        simulation = network.simulate(1, 1, requests((0, 100, 2), (0.01, 600, 2)))
        check(simulation, [0.025, 0.175], [0.325, 1.325])

    @pytest.mark.parametrize(("share", "tokens"), [(0.0, [1, 3, 100]), (0.5, [1, 2, 50]), (1.0, [1, 1, 1])])
    def test_whole_tokens_are_cached_and_never_all(self, share: float, tokens: list[int]) -> None:
        """Of one token none, of three one (1.5 rounded down), and of a wholly cached prompt the last is computed."""
        assert Scheduling(cached_prompt_share=share).prefill_tokens(np.array([1, 3, 100])).tolist() == tokens


class TestAdmission:
    def test_a_full_cluster_turns_requests_away(self) -> None:
        # A is inside 0 -> 0.3. B comes meanwhile, and never gets in; C does: 0.35 -> 0.45 -> 0.65.
        trace = requests((0, 100, 3), (0.1, 100, 3), (0.35, 100, 3))
        simulation = mixed(max_requests_per_machine=1).simulate(1, 0, trace)
        check(simulation, [0.1, INF, 0.45], [0.3, INF, 0.65])
        assert simulation.prompt_machine.tolist() == [0, -1, 0]
        assert simulation.unfinished == 1

    def test_the_limit_is_of_the_cluster(self) -> None:
        # Two machines have room for two, whichever machine they are on; D comes when both are done.
        trace = requests((0, 100, 3), (0.01, 100, 3), (0.02, 100, 3), (0.4, 100, 1))
        simulation = mixed(max_requests_per_machine=1).simulate(2, 0, trace)
        check(simulation, [0.1, 0.11, INF, 0.5], [0.3, 0.31, INF, 0.5])

    def test_who_restarts_is_in_already(self) -> None:
        # A is on the machine that fails at 0.05, and starts anew behind B on the other. C finds two inside where one
        # may be. B: 0.01 -> 0.11; A's prompt beside B's last token: 1.5 x 101 ms -> 0.2615. D is in.
        trace = requests((0, 100, 1), (0.01, 100, 2), (0.06, 100, 1), (0.3, 100, 1))
        network = mixed(max_requests_per_machine=1)
        simulation = network.simulate(2, 0, trace, Failures.of([(0.05, 0)]))
        check(simulation, [0.2615, 0.11, INF, 0.4], [0.2615, 0.2615, INF, 0.4])


class TestChunkedPrefill:
    def test_a_long_prompt_runs_in_pieces_beside_decodes(self) -> None:
        # At most 100 tokens. A: prompt 0 -> 0.04, first decode -> 0.14, when B is there. A's decode and 99 tokens of B,
        # twice: 1.5 x 100 ms each -> 0.29 and 0.44, A's last. The other 52 of B -> 0.492, and its decode -> 0.592.
        # By the paper's rules B's 250 tokens would have held A up.
        network = mixed(chunked_prefill=True, max_batch_tokens=100)
        simulation = network.simulate(1, 0, requests((0, 40, 4), (0.1, 250, 2)))
        check(simulation, [0.04, 0.492], [0.44, 0.592])
        np.testing.assert_allclose(simulation.prompt_busy_s, [0.04 + 0.052])
        np.testing.assert_allclose(simulation.mixed_busy_s, [0.3])
        np.testing.assert_allclose(simulation.decode_busy_s, [0.2])
        np.testing.assert_allclose(simulation.prompt_start_s, [0, 0.14])
        np.testing.assert_allclose(simulation.kv_token_s, [40 * 0.44 + 4 * 0.4 + 250 * 0.452 + 2 * 0.1])
        assert simulation.peak_tokens.tolist() == [100]
        assert simulation.iterations == 6

    def test_prompts_fill_what_an_iteration_has_left(self) -> None:
        # 100 of A's 150 -> 0.1; its other 50 and 50 of B's 80 -> 0.2; B's other 30 and C's 30 -> 0.26.
        network = mixed(chunked_prefill=True, max_batch_tokens=100)
        simulation = network.simulate(1, 0, requests((0, 150, 1), (0, 80, 1), (0, 30, 1)))
        check(simulation, [0.2, 0.26, 0.26], [0.2, 0.26, 0.26])

    def test_limits_of_prompts_count_pieces(self) -> None:
        # One prompt an iteration: A's 100 and 50, B's 80, C's 30.
        network = mixed(chunked_prefill=True, max_batch_tokens=100, max_batch_prompts=1)
        simulation = network.simulate(1, 0, requests((0, 150, 1), (0, 80, 1), (0, 30, 1)))
        check(simulation, [0.15, 0.23, 0.26], [0.15, 0.23, 0.26])

    def test_no_prompt_takes_the_memory_that_a_decode_waits_for(self) -> None:
        # Room for 100. A, B and C: 90 tokens, 0 -> 0.09, where C ends: 80 are held. A lacks room for its output, B
        # does not: -> 0.19. D, there since 0.05, would fit, but must wait. Then A holds 60 and 30, and D has room for
        # just its 10: 1.5 x 11 ms -> 0.2065. A's other 28 decodes -> 3.0065.
        trace = requests((0, 60, 30), (0, 20, 2), (0, 10, 1), (0.05, 10, 1))
        simulation = mixed(kv_tokens=100, chunked_prefill=True).simulate(1, 0, trace)
        check(simulation, [0.09, 0.09, 0.09, 0.2065], [3.0065, 0.19, 0.09, 0.2065])

    def test_memory_on_demand_excludes_what_reserves_it(self) -> None:
        with pytest.raises(ValueError, match="kv_on_demand goes without first_token_in_prompt_kv"):
            mixed(kv_on_demand=True, first_token_in_prompt_kv=True)

    def test_it_is_for_mixed_machines(self) -> None:
        with pytest.raises(ValueError, match="chunked_prefill"):
            split(chunked_prefill=True)
