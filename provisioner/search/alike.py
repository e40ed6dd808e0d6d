"""Clusters that do as smaller ones do: where a machine has nothing to do, more of its kind have nothing to do either.

A prompt goes to the machine with the fewest pending tokens, the first among equals; a pool lends the machine that has
the least, the first among equals. So a last machine of the first pool that has had nothing to do stood behind another
at every choice, and any number of machines in its place would have stood there too: everything happens as it did, to
the bit, for as long as was simulated. Where a simulation ended with a verdict, that is the verdict on all of them.
(Not where the number of machines itself decides how many requests may be inside.)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from provisioner.domain.cluster import Cluster

if TYPE_CHECKING:
    from provisioner.search.evaluation import Evaluation


class Screened:
    """Evaluations of clusters of one design, and of which others they hold as well. For several threads."""

    def __init__(self) -> None:
        self._own: dict[tuple[int, ...], Evaluation] = {}
        self._idle: dict[int, Evaluation] = {}

    def keep(self, evaluation: Evaluation) -> None:
        """Remember an evaluation."""
        self._own[evaluation.cluster.counts] = evaluation
        if evaluation.has_idle:
            self._idle[evaluation.cluster.token_machines] = evaluation

    def find(self, cluster: Cluster) -> Evaluation | None:
        """The cluster's own evaluation, or that of another which it does as; None where neither is known."""
        own = self._own.get(cluster.counts)
        idle = self._idle.get(cluster.token_machines)
        if own is None and idle is not None and idle.used is not None and cluster.prompt_machines > idle.used:
            return idle
        return own


def apart(evaluations: Sequence[Evaluation]) -> tuple[Sequence[Evaluation], int]:
    """Those that are to be simulated, of one question; and how many others do as one of them."""
    needed: list[Evaluation] = []
    seen: set[tuple[str, float, int]] = set()
    for evaluation in evaluations:
        if evaluation.has_idle:
            cluster = evaluation.cluster
            kind = cluster.design.name, evaluation.rate_rps, cluster.token_machines
            if kind in seen:
                continue
            seen.add(kind)
        needed.append(evaluation)
    return needed, len(evaluations) - len(needed)
