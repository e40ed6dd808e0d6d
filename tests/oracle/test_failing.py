"""With machines that fail, too, the kernel does what the oracle does."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from provisioner.domain.failures import Failures
from tests.oracle.failing import FailingSimulator
from tests.oracle.simulator import Machine, Request
from tests.oracle.test_oracle import kernel, worlds


@st.composite
def failures(draw: st.DrawFn, machines: int) -> list[tuple[float, int]]:
    """At most all machines, on a grid in time, so that many fail at one moment and when other things happen."""
    numbers = draw(st.lists(st.integers(0, machines - 1), max_size=machines, unique=True))
    grid = draw(st.sampled_from([1 / 16, 1 / 2, 2]))
    return [(draw(st.integers(0, int(6 / grid))) * grid, number) for number in numbers]


@given(worlds(), st.data())
@settings(max_examples=600, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_the_kernel_is_the_oracle_with_failures(world: dict[str, Any], data: st.DataObject) -> None:
    failing = data.draw(failures(sum(world["counts"])))
    homes = ("mixed",) if len(world["kinds"]) == 1 else ("prompt", "token")
    pools = [
        (kind, home)
        for kind, home, count in zip(world["kinds"], homes, world["counts"], strict=True)
        for _ in range(count)
    ]
    machines = [Machine(number, kind, home) for number, (kind, home) in enumerate(pools)]
    requests = [Request(number, *request) for number, request in enumerate(world["requests"])]
    oracle = FailingSimulator(requests, machines, world["rules"], failing)
    oracle.run()
    result = kernel(**world, failures=Failures.of(failing))
    assert result.first_token_s.tolist() == [request.first_token_s for request in requests]
    assert result.finish_s.tolist() == [request.finish_s for request in requests]
    assert result.restarts.tolist() == oracle.restarts
    routed = [(r.source.number, r.target.number) if r.number in oracle.routed else (-1, -1) for r in requests]
    assert list(zip(result.prompt_machine.tolist(), result.token_machine.tolist(), strict=True)) == routed
