"""The share of the time in which the SLOs hold, from how often machines fail and how long they are away.

Machines fail independently of each other: each is up for a time with mean MTBF, then away for a repair. In
the long run it is down a share ``q = repair / (MTBF + repair)`` of the time, whatever the distributions
(an alternating renewal process), and of the n machines of a pool i are down with the binomial probability
``C(n, i) q^i (1 - q)^(n - i)``. So

    availability = sum over (i, j) of P(i of the prompt pool down) P(j of the token pool down)
                   [SLOs hold with i and j machines fewer],

where the bracket is 1 or 0 by simulation. The most likely states are judged first; what has not been judged
counts for the one bound and not for the other. The moments of change themselves are left out: failures are
rare beside the minutes that a cluster takes to settle (`survive` looks at those).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

from provisioner.search.survive import Loss

_LEAST = 1e-15
_SHOWN = 0.01
"""Bounds are made as tight as this share of the target's own distance from 1."""


@dataclass(frozen=True, slots=True)
class Availability:
    """A target, from 0 to 1, and what machines are like."""

    target: float
    mtbf_s: float
    repair_s: float

    @property
    def down(self) -> float:
        """The share of the time that a machine is away."""
        return self.repair_s / (self.mtbf_s + self.repair_s)

    def states(self, counts: tuple[int, ...]) -> list[tuple[float, Loss]]:
        """Machines that are down in each pool of so many, with probabilities, the most likely first."""
        pools = []
        for count in counts:
            likely = [(binomial(count, lost, self.down), lost) for lost in range(count + 1)]
            pools.append([(chance, lost) for chance, lost in likely if chance > _LEAST])
        found = []
        for state in product(*pools):
            chance = 1.0
            for each, _ in state:
                chance *= each
            found.append((chance, tuple(lost for _, lost in state)))
        return sorted(found, key=lambda state: (-state[0], state[1]))

    def judge(self, counts: tuple[int, ...], holds: Callable[[Loss], bool], *, exactly: bool) -> Share:
        """Bound the share of a cluster: until it is certain whether the target is met, or `exactly` as far as shown."""
        lower, upper, judged = 0.0, 1.0, 0
        for chance, loss in self.states(counts):
            is_certain = lower >= self.target or upper < self.target
            if is_certain and (not exactly or upper - lower <= _SHOWN * (1.0 - self.target)):
                break
            if holds(loss):
                lower += chance
            else:
                upper -= chance
            judged += 1
        return Share(self, lower, max(upper, lower), judged)


def binomial(count: int, lost: int, down: float) -> float:
    """The probability that so many of `count` are down, each for that share of the time, above 0 and below 1."""
    ways = math.lgamma(count + 1) - math.lgamma(lost + 1) - math.lgamma(count - lost + 1)
    return math.exp(ways + lost * math.log(down) + (count - lost) * math.log1p(-down))


@dataclass(frozen=True, slots=True)
class Share:
    """What is known of the share of the time in which a cluster's SLOs hold."""

    asked: Availability
    lower: float
    upper: float
    states: int
    """Numbers of machines down that were judged."""

    @property
    def is_met(self) -> bool:
        """Whether the target is met for certain."""
        return self.lower >= self.asked.target
