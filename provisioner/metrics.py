"""From what happened to percentiles, slowdowns and a verdict (Splitwise, section II-C and Table VI).

TTFT is first token - arrival; E2E is last token - arrival; TBT is (E2E - TTFT) / (output tokens - 1), and
undefined for one output token. Percentiles are over all requests that arrived, interpolated linearly: a
request that never finishes counts with infinite times, so that an overloaded cluster is not flattered.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from provisioner.domain.slo import Goodput, Limit, Metric, Objective, SloSet, Unit
from provisioner.domain.trace import Floats, RequestTrace
from provisioner.perf.model import PerformanceModel
from provisioner.remember import remembered
from provisioner.sim import Simulation, Stop

Verdict = Literal["met", "missed", "uncertain"]
LEAST_FOR_INTERVAL = 2
_MEASURES: dict[Metric, int] = {"ttft": 0, "tbt": 1, "e2e": 2}


@dataclass(frozen=True, slots=True, eq=False)
class Latencies:
    """Times of each request in seconds, or their slowdowns: (n,) float64 each, TBT NaN where undefined."""

    ttft: Floats
    tbt: Floats
    e2e: Floats

    def of(self, metric: Metric, counted: slice = slice(None)) -> Floats:
        """The times of one metric, of the requests that count, where it is defined."""
        times: Floats = getattr(self, metric)[counted]
        return times[~np.isnan(times)] if metric == "tbt" else times


def latencies(simulation: Simulation, slo: SloSet) -> Latencies:
    """TTFT, TBT and E2E of each request in seconds."""
    trace = simulation.trace
    e2e_s = simulation.finish_s - trace.arrival_s
    with np.errstate(invalid="ignore"):
        decode_s = np.where(np.isinf(e2e_s), np.inf, simulation.finish_s - simulation.first_token_s)
    return Latencies(simulation.first_token_s - trace.arrival_s, time_between_tokens_s(decode_s, trace, slo), e2e_s)


def time_between_tokens_s(decode_s: Floats, trace: RequestTrace, slo: SloSet) -> Floats:
    """(n,) float64: TBT where requests take so long from the first token to the last; NaN for one output token."""
    tokens = trace.output_tokens - (0 if slo.tbt_counts_first_token else 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(trace.output_tokens > 1, decode_s / tokens, np.nan)


def alone(trace: RequestTrace, reference: PerformanceModel, slo: SloSet) -> Latencies:
    """The times of each request alone on the reference machine, in seconds: what slowdowns divide by."""
    prompt = trace.prompt_tokens.astype(np.float64)
    output = trace.output_tokens.astype(np.float64)
    ttft_s = reference.prefill_s(prompt)
    if slo.tbt_reference == "prompt_as_batch":
        tbt_s = reference.decode_s(prompt, np.zeros_like(prompt))
    else:
        tbt_s = reference.decode_s(np.ones_like(prompt), prompt + output / 2)
    return Latencies(ttft_s, tbt_s, ttft_s + (output - 1) * tbt_s)


def percentiles(values: Floats, percents: Sequence[float]) -> list[float]:
    """The percentiles by linear interpolation, as numpy's, but with infinite values; NaN for no values."""
    if len(values) == 0:
        return [math.nan] * len(percents)
    ordered = np.sort(values)  # in vectors, and so sooner than `partition` at several places
    return [_between(ordered, percent * (len(values) - 1) / 100) for percent in percents]


def _between(ordered: Floats, place: float) -> float:
    """The value at a place that need not be whole."""
    low = int(place)
    value = float(ordered[low])
    if place == low or math.isinf(value):
        return value
    return value + (float(ordered[low + 1]) - value) * (place - low)


class Yardstick:
    """Measures simulations of one trace: knows what each request takes alone."""

    def __init__(self, slo: SloSet, trace: RequestTrace, reference: PerformanceModel, since_s: float = 0.0) -> None:
        self.slo = slo
        self._alone = alone(trace, reference, slo)
        self._trace = trace
        self._arrival_s = trace.arrival_s
        self.since_s = since_s
        self._by_kind: dict[tuple[Metric, Unit], list[Limit]] = {}
        for limit in slo.limits:
            self._by_kind.setdefault((limit.metric, limit.unit), []).append(limit)

    def growth(self, simulation: Simulation, span_s: float) -> float:
        """`backlog_growth` against this trace's requests alone."""
        return backlog_growth(simulation, span_s, self._alone.e2e)

    def values(self, simulation: Simulation, since_s: float | None = None) -> tuple[float, ...]:
        """The achieved value of each limit of the SLO set, in its unit, in their order.

        Over the requests that arrive from `since_s` on, which is the yardstick's own unless given.
        """
        return self.values_of(latencies(simulation, self.slo), since_s, simulation.trace.arrival_s)

    def values_of(
        self, seconds: Latencies, since_s: float | None = None, arrival_s: Floats | None = None
    ) -> tuple[float, ...]:
        """The value of each objective for such times in seconds, and arrivals, which a closed loop has of its own."""
        times = {unit: self._in(unit, seconds) for unit in self.slo.units}
        arrivals = self._arrival_s if arrival_s is None else arrival_s
        # They are in order: what counts is a slice.
        counted = slice(int(np.searchsorted(arrivals, self.since_s if since_s is None else since_s)), None)
        found: dict[Objective, float] = {}
        for (metric, unit), limits in self._by_kind.items():
            values = percentiles(times[unit].of(metric, counted), [limit.percentile for limit in limits])
            found |= zip(limits, values, strict=True)
        if self.slo.goodput is not None:
            found[self.slo.goodput] = missed_share(self.slo.goodput, times, counted)
        return tuple(found[objective] for objective in self.slo.objectives)

    def _in(self, unit: Unit, seconds: Latencies) -> Latencies:
        """Times in seconds, in a unit."""
        match unit:
            case "slowdown":
                alone = self._alone
                return Latencies(seconds.ttft / alone.ttft, seconds.tbt / alone.tbt, seconds.e2e / alone.e2e)
            case "s_per_token":
                trace = self._trace
                return Latencies(seconds.ttft / trace.prompt_tokens, seconds.tbt, seconds.e2e / trace.output_tokens)
        return seconds

    def stop(self, most: Floats) -> Stop:
        """Stop once a percentile is certain to exceed its value in `most`, in order of the objectives.

        More requests then exceed it than stand above the percentile. A goodput stops nothing.
        """
        kind = self._kind
        order = np.lexsort((most[: len(kind)], kind))
        return Stop(
            measure=self._measure,
            unit_s=self._unit_s,
            first=self._first,
            most=most[order],
            left=self._left[order],
            number=order,
        )

    @cached_property
    def _kind(self) -> NDArray[np.int64]:
        """(limits,): which of the kinds, metrics in a unit, each is."""
        kinds = list(self._by_kind)
        return np.array([kinds.index((limit.metric, limit.unit)) for limit in self.slo.limits], np.int64)

    @cached_property
    def _measure(self) -> NDArray[np.int64]:
        """(kinds,): what is measured."""
        return np.array([_MEASURES[metric] for metric, _ in self._by_kind], np.int64)

    @cached_property
    def _first(self) -> NDArray[np.int64]:
        """(kinds + 1,): where the limits of each begin, in their order."""
        return np.searchsorted(np.sort(self._kind), np.arange(len(self._by_kind) + 1))

    @cached_property
    def _left(self) -> NDArray[np.int64]:
        """(limits,): how many requests may stand above each percentile."""
        counted = dict(zip(self._by_kind, np.isfinite(self._unit_s).sum(axis=0).tolist(), strict=True))
        counts = [counted[limit.metric, limit.unit] for limit in self.slo.limits]
        places = [limit.percentile * (n - 1) / 100 for limit, n in zip(self.slo.limits, counts, strict=True)]
        return np.array(counts, np.int64) - 1 - np.array(places).astype(np.int64)

    @cached_property
    def _unit_s(self) -> Floats:
        """(n, kinds) float64: what each request's seconds are a multiple of, infinite where it does not count."""
        trace = self._trace
        table = np.empty((len(trace), len(self._by_kind)))
        second = Latencies(*np.ones((3, len(trace))))
        steps = trace.output_tokens - 1.0
        # TBT is of the time from the first token to the last, which one token does not have.
        tokens = np.where(steps > 0, steps + int(self.slo.tbt_counts_first_token), np.inf)
        for column, (metric, unit) in enumerate(self._by_kind):
            unit_s = 1 / getattr(self._in(unit, second), metric)
            table[:, column] = unit_s * tokens if metric == "tbt" else unit_s
        table[trace.arrival_s < self.since_s] = np.inf
        return table


def missed_share(goodput: Goodput, times: Mapping[Unit, Latencies], counted: slice) -> float:
    """Share of the requests that miss any of the joint limits; NaN for no requests. TBT where undefined is met."""
    values: list[Floats] = [getattr(times[bound.unit], bound.metric)[counted] for bound in goodput.limits]
    if not len(values[0]):
        return math.nan
    limits = (bound.limit for bound in goodput.limits)
    return float(np.any([value > limit for value, limit in zip(values, limits, strict=True)], axis=0).mean())


def backlog_growth(simulation: Simulation, span_s: float, alone_s: Floats) -> float:
    """How much faster requests arrive than they finish, as a share of the arrivals: 0 unless it is beyond noise.

    Over the second half of the span, the growth of the requests in the system, less the growth there
    would be if each took just `alone_s` (which a short span has as well). Beyond noise is more than
    four standard deviations of a Poisson count.
    """
    arrival_s = simulation.trace.arrival_s
    half_s = span_s / 2
    arrived = int(np.count_nonzero(arrival_s > half_s))
    if arrived == 0:
        return 0.0

    def inside(finish_s: Floats, at_s: float) -> int:
        return int(np.count_nonzero(arrival_s <= at_s) - np.count_nonzero(finish_s <= at_s))

    start, end = inside(simulation.finish_s, half_s), inside(simulation.finish_s, span_s)
    unavoidable = inside(arrival_s + alone_s, span_s) - inside(arrival_s + alone_s, half_s)
    growth = end - start - max(unavoidable, 0)
    return growth / arrived if growth > 4 * np.sqrt(start + end) else 0.0


@dataclass(frozen=True, slots=True)
class SloResult:
    """What a cluster achieves against one limit."""

    limit: Objective
    value: float
    """Mean of the replications' percentiles, or shares that miss; NaN where no request has the metric."""
    ci95: tuple[float, float] | None
    """Student's t interval of the mean over replications; None for a single one, an infinite value, or mere bounds."""
    verdict: Verdict

    @property
    def met(self) -> bool:
        """Whether the objective certainly holds."""
        return self.verdict == "met"

    @property
    def headroom(self) -> float:
        """The part of the limit that is left: negative where it is missed, 1 where nothing counts."""
        return 1.0 if np.isnan(self.value) else 1.0 - self.value / self.limit.limit


def slo_results(
    slo: SloSet,
    replications: Sequence[Iterable[float]],
    confidence: float | None = None,
    planned: int | None = None,
    to_come: Floats | None = None,
    *,
    are_bounds: bool = False,
) -> tuple[SloResult, ...]:
    """Pool the values of each replication, as `Yardstick.values` gives them, into verdicts.

    Without a `confidence` the mean decides, otherwise its interval at that confidence. If fewer than
    the `planned` replications were run because the others, whose values sum to `to_come` at least, could
    not bring the mean back under the limit, the objective is missed. A replication without a metric does
    not count for it; a metric that no request has is met. Values that `are_bounds` have no interval to be told.
    """
    table = np.array([tuple(values) for values in replications])
    is_known = ~np.isnan(table)
    totals = np.where(is_known, table, 0.0).sum(axis=0).tolist()
    missing = (planned or len(table)) - len(table)
    rest = [0.0] * len(totals) if to_come is None else to_come.tolist()
    results = []
    for place, objective in enumerate(slo.objectives):
        values = table[is_known[:, place], place]
        mean = totals[place] / len(values) if len(values) else math.nan
        if missing and totals[place] + rest[place] > objective.limit * (len(values) + missing):
            verdict: Verdict = "missed"
        else:
            verdict = _verdict(values, mean, objective.limit, confidence)
        results.append(SloResult(objective, mean, None if are_bounds else interval(values, 0.95), verdict))
    return tuple(results)


def _verdict(values: Floats, mean: float, limit: float, confidence: float | None) -> Verdict:
    if not len(values):
        return "met"
    if confidence is None or math.isinf(mean):
        return "missed" if mean > limit else "met"
    ends = interval(values, confidence)
    if ends is None:
        return "uncertain"
    return "met" if ends[1] <= limit else "missed" if ends[0] > limit else "uncertain"


def interval(values: Floats, confidence: float) -> tuple[float, float] | None:
    """Student's t interval of the mean; None for a single value, or an infinite one."""
    if len(values) < LEAST_FOR_INTERVAL or not np.all(np.isfinite(values)):
        return None
    mean = float(values.mean())
    half = student_t(confidence, len(values) - 1) * float(values.std(ddof=1)) / math.sqrt(len(values))
    return mean - half, mean + half


@cache
@remembered
def student_t(confidence: float, degrees: int) -> float:
    """Half-width of a two-sided interval of Student's t, in standard errors."""
    from scipy import special  # noqa: PLC0415 - as long to load as a search of 50 clusters; results are remembered

    return float(special.stdtrit(degrees, (1 + confidence) / 2))


def binding(results: Sequence[SloResult]) -> SloResult:
    """The objective with the least headroom."""
    return min(results, key=lambda result: result.headroom)
