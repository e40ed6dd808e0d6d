r"""A good plan by the hour, quickly: each service in turn has the best course while the others keep theirs.

A course is a closed path over hours, from option to option. What an hour costs hangs on the two options at its ends
(what serves, and what is being started for the next), so that with the courses of the others and the numbers reserved
given, dynamic programming finds the best one exactly; where a start takes more than one hour, the hours further ahead
are priced as if reserved. Plans only get better from round to round; the last need not be the best of all, but is a
bound that spares the exact search most of its work.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from provisioner.fleet.course import Course, Picks
from provisioner.fleet.hours import Hours
from provisioner.fleet.problem import Option
from provisioner.fleet.sourcing import SCALE, Sources

MOST_ROUNDS = 20
SHARE_OF_COST = 1e-6
"""What a dollar counts where the goal is another than cost."""
EXCESS = 1e6
"""What a unit beyond a limit counts."""


def good_picks(asked: Hours) -> Picks:
    """Clusters by hour and service: where no other course of a single service would make the plan better."""
    state = _State(asked)
    for service in range(len(asked.services)):
        state.respond(service, alone=True)
    best = state.picks()
    least = state.value(best)
    for _ in range(MOST_ROUNDS):
        before = least
        for service in range(len(asked.services)):
            state.respond(service)
            if (value := state.value(state.picks())) < least:
                best, least = state.picks(), value
        if least >= before:
            break
    return best


class _State:
    """The services' courses: the place of their option by hour."""

    def __init__(self, asked: Hours) -> None:
        self.asked = asked
        self.hours = range(len(asked.options))
        self.usd_counts = 1.0 if asked.minimize == "cost" else SHARE_OF_COST
        self.sources = [Sources(kind, asked.day) for kind in asked.kinds]
        self.courses = [[0 for _ in self.hours] for _ in asked.services]
        self.pairs = [[self._pairs(service, hour) for hour in self.hours] for service in range(len(asked.services))]

    def picks(self) -> Picks:
        return tuple(
            tuple(options[course[hour]] for options, course in zip(row, self.courses, strict=True))
            for hour, row in enumerate(self.asked.options)
        )

    def value(self, picks: Picks) -> float:
        """The goal, and what is beyond limits."""
        course = Course(self.asked, picks)
        cost = course.cost_usd()
        if cost is None:
            return float("inf")
        held = np.array([course.held[kind.name] for kind in self.asked.kinds]).T
        worth = np.array([kind.worth(self.asked.minimize) for kind in self.asked.kinds])
        return float((held @ worth).sum() + self.usd_counts * cost + self._excess(held).sum())

    def respond(self, service: int, *, alone: bool = False) -> None:
        """Give a service its best course; with `alone`, as if all machines were reserved for it."""
        own, others = self._held(service), np.zeros((len(self.hours), len(self.sources)), dtype=np.int64)
        for each in range(0 if alone else len(self.courses)):
            others += self._held(each)
        if not alone:
            others -= own
        most = int(others.max(initial=0)) + max(int(held.max(initial=0)) for held, _ in self.pairs[service])
        total = others + own
        tables = [self._prices(place, total[:, place], most, alone=alone) for place in range(len(self.sources))]
        costs = []
        for hour in self.hours:
            held, starts = self.pairs[service][hour]
            counts = held + others[hour]
            cost = sum(table[counts[:, :, place]] for place, table in enumerate(tables)) + self._excess(counts)
            costs.append(cost + starts)
        self.courses[service] = closed_path(costs)

    def _prices(self, place: int, held: NDArray[np.int64], most: int, *, alone: bool) -> NDArray[np.float64]:
        """What so many machines of a type count in an hour, beyond those reserved."""
        source, counts = self.sources[place], np.arange(most + 1)
        worth = source.kind.worth(self.asked.minimize) * counts
        if alone:
            cheapest = min([source.reserved, *(price for price, _, some in source.offers if some)])
            return np.asarray(worth + self.usd_counts * cheapest / SCALE * counts)
        reserved, _ = source.best(held.tolist())
        covering = source.covering(most)[np.maximum(counts - reserved, 0)] / SCALE
        return np.asarray(worth + self.usd_counts * covering)

    def _held(self, service: int) -> NDArray[np.int64]:
        """Machines held for a service: int64[hours, types]."""
        course = self.courses[service]
        return np.array(
            [self.pairs[service][hour][0][course[hour], course[(hour + 1) % len(course)]] for hour in self.hours]
        )

    def _pairs(self, service: int, hour: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """For each option of an hour and each of the next: machines held by type, and what the starts count."""
        now, then = self.asked.options[hour][service], self.asked.options[(hour + 1) % len(self.hours)][service]
        held = np.zeros((len(now), len(then), len(self.sources)), dtype=int)
        counted = np.zeros((len(now), len(then)))
        for role in {role for option in (*now, *then) for role in option.roles}:
            place = next(place for place, source in enumerate(self.sources) if source.kind.name == role[1])
            serving, coming = _counts(now, role), _counts(then, role)
            starts = np.maximum(coming[None, :] - serving[:, None], 0)
            lead = self.asked.lead_hours[role[1]]
            held[:, :, place] += serving[:, None] + (starts if lead else 0)
            further = max(lead - 1, 0) * self.sources[place].reserved / SCALE
            counted += self.usd_counts * (self.asked.start_usd + further) * starts
        return held, counted

    def _excess(self, held: NDArray[np.int64]) -> NDArray[np.float64]:
        """What is beyond the limits on held machines, racks aside; over the last axis, of types."""
        limits, kinds = self.asked.limits, self.asked.kinds
        beyond = np.zeros(held.shape[:-1])
        if limits.power_kw is not None:
            beyond += np.maximum(held @ np.array([kind.power_kw for kind in kinds]) - limits.power_kw, 0)
        if limits.machines is not None:
            beyond += np.maximum(held.sum(axis=-1) - limits.machines, 0)
        for place, kind in enumerate(kinds):
            if kind.name in limits.machines_of:
                beyond += np.maximum(held[..., place] - limits.machines_of[kind.name], 0)
        return np.asarray(EXCESS * beyond)


def _counts(options: Sequence[Option], role: tuple[str, str]) -> NDArray[np.int64]:
    return np.array([option.roles.get(role, 0) for option in options])


def closed_path(costs: Sequence[NDArray[np.float64]]) -> list[int]:
    """The cheapest way round: `costs[t][i, j]` from *i* at step *t* to *j* at the next, which after the last is 0."""
    first = costs[0].shape[0]
    so_far = np.where(np.eye(first, dtype=bool), 0.0, np.inf)  # by start, then by place
    came_from = []
    for cost in costs[:-1]:
        ways = so_far[:, :, None] + cost[None]
        came_from.append(ways.argmin(axis=1))
        so_far = ways.min(axis=1)
    closing = so_far + costs[-1].T
    start, place = (int(each) for each in np.unravel_index(int(closing.argmin()), closing.shape))
    path = [place]
    for back in reversed(came_from):
        path.append(int(back[start, path[-1]]))
    return path[::-1]
