"""Judging clusters that must do without some of their machines.

A cluster passes if it does with all its machines, with every loss (machines gone from the start, the
others serving by the rules of borrowing where a whole pool is gone), through every loss in mid-run, and
for the share of the time that is asked. All are simulated: passing is not monotone in the counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from provisioner.domain.cluster import Cluster
from provisioner.domain.design import Design
from provisioner.domain.trace import Floats
from provisioner.search.availability import Availability
from provisioner.search.evaluate import Judge
from provisioner.search.evaluation import Evaluation, Trouble
from provisioner.search.outages import Lost
from provisioner.search.precision import Precision
from provisioner.search.scenario import Scenario
from provisioner.search.survive import Loss, Survive, worded

_How = Callable[[Judge, Cluster], Evaluation]


class ResilientJudge(Judge):
    """A judge that lets clusters pass only if they do without some machines too."""

    def __init__(
        self,
        design: Design,
        scenario: Scenario,
        precision: Precision | None = None,
        survive: Survive | None = None,
        availability: Availability | None = None,
    ) -> None:
        super().__init__(design, scenario, precision)
        self.survive = survive
        self.availability = availability
        self.losses = () if survive is None else survive.losses(design)
        self._plain = Judge(design, scenario, precision)
        self._holding: dict[tuple[int, ...], bool] = {}

    def content(self) -> tuple[Any, ...]:
        """What makes it again."""
        return self.design, self.scenario, self.precision, self.survive, self.availability

    def at_rate(self, rate_rps: float) -> Judge:
        """The judge of the same design at a rate."""
        if rate_rps == self.scenario.rate_rps:
            return self
        at_rate = self.scenario.at_rate(rate_rps)
        return ResilientJudge(self.design, at_rate, self.precision, self.survive, self.availability)

    def keeps_up(self, prompt_machines: Floats, token_machines: Floats) -> NDArray[np.bool_]:
        """Whether many clusters at once keep up with any of their losses."""
        answers = [super().keeps_up(prompt_machines, token_machines)]
        for loss in self.losses:
            prompt, token = (*loss, 0)[:2]
            left = np.maximum(prompt_machines - prompt, 0.0), np.maximum(token_machines - token, 0.0)
            answers.append(super().keeps_up(*left))
        return np.asarray(np.all(answers, axis=0))

    def screen(self, cluster: Cluster) -> Evaluation:
        """`Judge.screen`, ending with the first loss that the cluster does not survive."""
        return self._judged(cluster, Judge.screen, is_short=True)

    def evaluate(self, cluster: Cluster, *, whole: bool = False) -> Evaluation:
        """`Judge.evaluate` with all machines and with every loss."""
        return self._judged(cluster, partial(Judge.evaluate, whole=whole), is_short=not whole)

    def passes_alone(self, cluster: Cluster, replication: int) -> bool:
        """Whether the cluster passes in that replication by itself, with all machines and with every loss."""
        return super().passes_alone(cluster, replication) and all(
            judge.passes_alone(left, replication) for _, _, judge, left in self._troubles(cluster)
        )

    def _judged(self, cluster: Cluster, how: _How, *, is_short: bool) -> Evaluation:
        evaluation = how(self._plain, cluster)
        for loss, is_during, judge, left in self._troubles(cluster):
            if is_short and not evaluation.is_feasible:
                return evaluation
            found = how(judge, left)
            if not is_during and not self._could(cluster, loss):
                found = replace(found, load=math.inf)  # of a pool that is gone as a whole, it is not known otherwise
            trouble = Trouble(worded(self.design, loss), is_during, found)
            evaluation = replace(evaluation, troubles=(*evaluation.troubles, trouble))
        if self.availability is None or (is_short and not evaluation.is_feasible):
            return evaluation
        holds = partial(self.holds, cluster)
        share = self.availability.judge(cluster.counts, holds, exactly=not is_short or evaluation.is_feasible)
        return replace(evaluation, share=share)

    def _troubles(self, cluster: Cluster) -> Iterator[tuple[Loss, bool, Judge, Cluster]]:
        """Each loss, gone from the start and then in mid-run, with who judges which cluster for it."""
        if self.survive is None:
            return
        possible = dict.fromkeys(tuple(map(min, zip(loss, cluster.counts, strict=True))) for loss in self.losses)
        for loss in possible:
            yield loss, False, *self._without(cluster, loss)
        for loss in possible:
            lost = Lost(loss, self.survive.fail_at_s, self.survive.repair_s)
            yield loss, True, Judge(self.design, self.scenario, self.precision, lost), cluster

    def _without(self, cluster: Cluster, loss: Loss) -> tuple[Judge, Cluster]:
        """A smaller cluster; or, as a pool of none is no cluster, one whose machines fail before anything arrives."""
        left = tuple(count - lost for count, lost in zip(cluster.counts, loss, strict=True))
        if all(left):
            return self._plain, self.cluster(left[0], sum(left[1:]))
        return Judge(self.design, self.scenario, self.precision, Lost(loss, 0.0)), cluster

    def _could(self, cluster: Cluster, loss: Loss) -> bool:
        """Whether the machines that are left could do the work at best."""
        left = [float(count - lost) for count, lost in zip(cluster.counts, loss, strict=True)]
        return bool(self._plain.keeps_up(np.array(left[0]), np.array(sum(left[1:]))))

    def holds(self, cluster: Cluster, loss: Loss) -> bool:
        """Whether the SLOs hold while these machines are away."""
        left = tuple(count - lost for count, lost in zip(cluster.counts, loss, strict=True))
        if left not in self._holding:
            judge, smaller = self._without(cluster, loss)
            self._holding[left] = self._could(cluster, loss) and judge.screen(smaller).is_feasible
        return self._holding[left]
