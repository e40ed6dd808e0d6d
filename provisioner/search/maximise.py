"""The most requests per second under budgets: iso-cost, iso-power, iso-machines.

Rates are steps of half a percent, and all rates share one sequence of requests (common random numbers), so
that a cluster's results change smoothly with the rate. Of every cluster that the budget cannot enlarge
the largest passing step is found by bracketing; a cluster that fails one step above the best so far is
done with. Passing need not be monotone in the rate: the answer is the largest rate below which all tested
rates pass, and the rates just above it are tried too, to say so where one of them passes.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import numpy as np

from provisioner.domain.cluster import Cluster
from provisioner.search.cells import decode, encode, of
from provisioner.search.confirm import confirm
from provisioner.search.evaluate import Judge, impossible_limits
from provisioner.search.evaluation import Evaluation
from provisioner.search.goal import Budget
from provisioner.search.minimise import nearest, why_none
from provisioner.search.parcel import Shared
from provisioner.search.plan import Certificate, Plan
from provisioner.search.pool import PART, Workers

STEP = 1.005
FIRST_STRIDE = 16
"""Steps of the first stride when bracketing: about 8 %."""
LOWEST_STEP = -1400
"""The least rate tried: about one request in 1,000 seconds."""
ABOVE = (2, 4, 8)
"""Steps above the answer that are tried to see whether the passing rates are an interval."""


Cell = tuple["RateSearch", Cluster]


def rate_of(step: int) -> float:
    """Requests per second of a step."""
    return float(f"{STEP**step:.6g}")


@dataclass(eq=False)
class RateSearch(Shared):
    """The clusters of one design at any rate, with one judge per rate."""

    judge: Judge
    _at: dict[int, Judge] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def content(self) -> tuple[Any, ...]:
        """What makes it again."""
        return (self.judge,)

    def parts(self) -> Sequence[Any]:
        """What evaluations refer to."""
        return self.judge.parts()

    def at(self, step: int) -> Judge:
        """The judge of that rate, made when it is first asked for."""
        with self._lock:
            if step not in self._at:
                self._at[step] = self.judge.at_rate(rate_of(step))
            return self._at[step]

    def may_pass(self, cluster: Cluster, step: int) -> bool:
        """Whether the bounds allow the rate: that on work, and what its requests take alone."""
        judge = self.at(step)
        counts = np.array([float(cluster.prompt_machines)]), np.array([float(cluster.token_machines)])
        return bool(judge.keeps_up(*counts)[0]) and not impossible_limits(judge)

    def is_silent(self, step: int) -> bool:
        """Whether the rate is so low that no request arrives."""
        judge = self.at(step)
        return not judge.scenario.has_requests(judge.precision.least)


@dataclass(eq=False)
class Climb:
    """The rates tried of one cluster."""

    search: RateSearch
    cluster: Cluster
    tried: dict[int, Evaluation] = field(default_factory=dict)
    excluded: set[int] = field(default_factory=set)
    """Steps at which a bound excludes the cluster."""

    def passes(self, step: int) -> bool:
        """Whether the cluster meets every objective at a step; one without requests is no answer, but a lower end."""
        if step in self.excluded:
            return False
        if step not in self.tried:
            if self.search.is_silent(step):
                return True
            if not self.search.may_pass(self.cluster, step):
                self.excluded.add(step)
                return False
            self.tried[step] = self.search.at(step).screen(self.cluster)
        return self.tried[step].is_feasible

    def run(self, start: int) -> Climb:
        """Bracket and bisect from a starting step; returns itself."""
        if self.passes(start):
            low, stride = start, FIRST_STRIDE
            while self.passes(low + stride):
                low, stride = low + stride, 2 * stride
            high = low + stride
        else:
            high, stride = start, FIRST_STRIDE
            while not self.passes(high - stride):
                high, stride = high - stride, 2 * stride
                if high < LOWEST_STEP:
                    return self
            low = high - stride
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.passes(middle) else (low, middle)
        return self

    @property
    def best(self) -> int | None:
        """The largest step below which all tried steps pass; None if the least of them fails."""
        best = None
        for step in sorted(self.tried):
            if not self.tried[step].is_feasible:
                break
            best = step
        return best


@dataclass(frozen=True, slots=True)
class Promise:
    """Look at a cell at a step, to see which to begin with: a `cells.Recorded`."""

    step: int

    def __call__(self, cell: Cell, /) -> float:
        """The headroom in the replication with the most work."""
        return cell[0].at(self.step).glance(cell[1]).headroom

    def key(self, cell: Cell, /) -> str:
        """The step, the judge and the counts."""
        return f"promise at {self.step} {of(*cell)}"

    def encode(self, headroom: float, /) -> Any:
        """As it is."""
        return headroom

    def decode(self, data: Any, _: Cell, /) -> float:
        """As it is."""
        return float(data)


@dataclass(frozen=True, slots=True)
class Climbing:
    """Climb from a step, or only try it: a `cells.Recorded`. The climb that comes back is the one to go on with."""

    start: int
    tests_only: bool = False

    def __call__(self, climb: Climb, /) -> Climb:
        """Climb."""
        if self.tests_only:
            climb.passes(self.start)
            return climb
        return climb.run(self.start)

    def key(self, climb: Climb, /) -> str:
        """The step, the judge and the counts."""
        return f"{'try' if self.tests_only else 'climb'} from {self.start} {of(climb.search, climb.cluster)}"

    def encode(self, climb: Climb, /) -> Any:
        """All that was tried; of a test just that, for what was tried before does not follow from the key."""
        steps = {self.start} if self.tests_only else climb.tried.keys() | climb.excluded
        tried = [(step, encode(each)) for step, each in climb.tried.items() if step in steps]
        return [tried, sorted(climb.excluded & steps)]

    def decode(self, data: Any, climb: Climb, /) -> Climb:
        """The climb with what was tried."""
        judge = climb.search.judge
        tried = {step: decode(each, judge, climb.cluster) for step, each in data[0]}
        return Climb(climb.search, climb.cluster, climb.tried | tried, climb.excluded | set(data[1]))


def largest_rate(judge: Judge, cluster: Cluster) -> Evaluation | None:
    """One cluster at the largest rate below which all tested rates pass, to half a percent; None if none passes."""
    cell = (RateSearch(judge), cluster)
    climb = Climb(*cell).run(first_step([cell]))
    return None if climb.best is None else climb.tried[climb.best]


def maximise(judges: Sequence[Judge], budget: Budget, *, workers: Workers) -> Plan:
    """Find the cluster within the budget that passes at the highest rate, to half a percent.

    Among clusters of equal rate the one with the most headroom is taken.
    """
    started = time.perf_counter()
    searches = [RateSearch(judge) for judge in judges]
    cells = [(search, cluster) for search in searches for cluster in budget.largest(search.judge.design)]
    climbs = _race(cells, workers) if cells else []
    return _plan(judges, climbs, budget, started, workers)


def _race(cells: Sequence[Cell], workers: Workers) -> list[Climb]:
    """Climb with the most promising cluster; each other one climbs on only from a step above the best so far."""
    start = first_step(cells)
    promising = workers.map(Promise(start), cells)
    order = sorted(range(len(cells)), key=lambda index: -promising[index])
    climbs = [Climb(*cells[index]) for index in order]
    climbs[0].run(start)
    for first in range(1, len(climbs), PART):
        part = climbs[first : first + PART]
        best = _highest(climbs)
        step = start if best is None else best + 1
        part = workers.map(Climbing(step, tests_only=True), part)
        hopeful = [number for number, climb in enumerate(part) if climb.passes(step) or best is None]
        for number, climb in zip(hopeful, workers.map(Climbing(step), [part[n] for n in hopeful]), strict=True):
            part[number] = climb
        climbs[first : first + PART] = part
    best = _highest(climbs)
    if best is not None:
        climbs = workers.map(Climbing(best, tests_only=True), climbs)  # which others reach it
    return climbs


def first_step(cells: Sequence[Cell]) -> int:
    """A step to begin with: some 60 % of the work that the largest cluster could do at best."""
    rates = [search.judge.scenario.rate_rps / max(search.judge.load(cluster), 1e-9) for search, cluster in cells]
    return max(LOWEST_STEP, round(math.log(max(0.6 * max(rates), 1e-6)) / math.log(STEP)))


def _highest(climbs: Sequence[Climb]) -> int | None:
    return max((climb.best for climb in climbs if climb.best is not None), default=None)


def _plan(judges: Sequence[Judge], climbs: Sequence[Climb], budget: Budget, started: float, workers: Workers) -> Plan:
    tried = tuple(climb.tried[step] for climb in climbs for step in sorted(climb.tried))
    certificate = Certificate.of(
        [tried],
        judges,
        started,
        f"every cluster that {budget} cannot enlarge fails {STEP - 1:.1%} above the rate, "
        "or a sound bound excludes it there",
        excluded_by_bound=sum(len(climb.excluded) for climb in climbs),
        uncertain=sum(evaluation.is_uncertain for evaluation in tried),
    )
    best = _highest(climbs)
    if best is None:
        closest = nearest(judges, tried, workers)
        return Plan(
            status="infeasible",
            best=closest,
            evaluations=tried,
            certificate=certificate,
            reason=why_none(judges, closest, f"raise the budget ({budget})"),
        )
    winners = sorted((climb for climb in climbs if climb.best == best), key=lambda climb: -climb.tried[best].headroom)
    winner = winners[0]
    above = [rate_of(best + steps) for steps in ABOVE if winner.passes(best + steps)]
    return Plan(
        status="optimal",
        best=winner.tried[best],
        evaluations=tried,
        certificate=certificate,
        equally_good=len(winners) - 1,
        confirmed=confirm(winner.search.at(best), winner.cluster, workers),
        notes=tuple(
            f"passing rates are not an interval: {rate:.4g} RPS passes too, above rates that fail" for rate in above
        ),
    )
