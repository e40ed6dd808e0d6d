r"""Spare machines that services share: enough for any so many machines of the fleet to fail at once.

A spare takes the place of any machine of its type, in any service. A service that loses :math:`l` (machines by pool)
and is given :math:`r \le l` back goes on if its SLOs hold without :math:`l - r`, by simulation; many a cluster
has slack, and needs nothing for some losses. Spares :math:`s` (machines by type) are enough if for every loss of at
most *k* machines of the fleet there are :math:`r_i` with :math:`\sum_i r_i \le s`. The cheapest such *s* is found by
trying all, the cheapest first. Until a spare has taken over, its service runs without: how long that may be is not
looked at here.

The fleet shares because not all services fail at once: k spares of a type are always enough, where k for each service
by itself would be k times the number of services.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement, product

Loss = tuple[int, ...]
Needs = tuple[Loss, ...]
"""Spares by type, each of which is enough, none more than another."""
MOST_LOST = 4


@dataclass(frozen=True, slots=True)
class Protected:
    """A service's cluster: its machines by pool, their types, and whether its SLOs hold without some of them."""

    name: str
    types: tuple[str, ...]
    counts: tuple[int, ...]
    holds: Callable[[Loss], bool]


def own_spares(services: Sequence[Protected], lost: int, costs: Mapping[str, float]) -> dict[str, int]:
    """Spares by type if every service has its own, for so many machines of it: the sum."""
    total: Counter[str] = Counter()
    for service in services:
        total.update(shared_spares([service], lost, costs))
    return dict(sorted(total.items()))


def shared_spares(services: Sequence[Protected], lost: int, costs: Mapping[str, float]) -> dict[str, int]:
    """The cheapest spares by type that are enough for any `lost` machines of all these services together.

    `costs` are of each type; of equally dear ones the fewest are taken.
    """
    types = sorted({name for service in services for name in service.types})
    profiles = Counter(_profile(service, lost, types) for service in services)
    # Of services that need the same, no more can be hit than machines fail.
    needing = [profile for profile, count in profiles.items() for _ in range(min(count, lost))]
    worst = [_combined(each) for each in _scenarios(needing, lost)]
    choices = product(range(lost + 1), repeat=len(types))

    def dear(spares: Loss) -> tuple[float, int, Loss]:
        cost = sum(count * costs[name] for count, name in zip(spares, types, strict=True))
        return round(cost, 9), sum(spares), spares

    for spares in sorted(choices, key=dear):
        if all(any(_within(need, spares) for need in needs) for needs in worst):
            return {name: count for name, count in zip(types, spares, strict=True) if count}
    raise AssertionError("as many of each type as machines fail are always enough")


Profile = tuple[tuple[Needs, ...], ...]
"""What a service may need when it loses 0, 1, 2... machines: needs of each loss."""


def _profile(service: Protected, lost: int, types: Sequence[str]) -> Profile:
    ranges = [range(min(count, lost) + 1) for count in service.counts]
    by_size: list[list[Needs]] = [[] for _ in range(lost + 1)]
    for loss in product(*ranges):
        if sum(loss) <= lost:
            by_size[sum(loss)].append(_needs(service, loss, types))
    return tuple(tuple(sorted(set(needs))) for needs in by_size)


def _needs(service: Protected, loss: Loss, types: Sequence[str]) -> Needs:
    """The least that must be given back of a loss, each way."""
    found = []
    for back in product(*(range(count + 1) for count in loss)):
        if service.holds(tuple(gone - given for gone, given in zip(loss, back, strict=True))):
            by_type = Counter(dict.fromkeys(types, 0))
            for name, count in zip(service.types, back, strict=True):
                by_type[name] += count
            found.append(tuple(by_type[name] for name in types))
    return _least(found)


def _least(needs: Sequence[Loss]) -> Needs:
    distinct = sorted(set(needs))
    return tuple(each for each in distinct if not any(_within(other, each) for other in distinct if other != each))


def _within(need: Loss, spares: Loss) -> bool:
    return all(count <= most for count, most in zip(need, spares, strict=True))


def _scenarios(needing: Sequence[Profile], lost: int) -> Iterator[list[Needs]]:
    """What is needed where, for every loss of just so many machines of the fleet; smaller ones need no more."""
    for hit in {tuple(sorted(each)) for each in combinations_with_replacement(range(len(needing)), lost)}:
        sizes = Counter(hit)
        yield from map(list, product(*(_up_to(needing[place], size) for place, size in sizes.items())))


def _up_to(profile: Profile, size: int) -> list[Needs]:
    """Needs of losses of at most so many machines: what holds without more need not hold without fewer."""
    return [needs for few in profile[: size + 1] for needs in few]


def _combined(scenario: Sequence[Needs]) -> Needs:
    """Each way to give every service what it needs."""
    return _least([tuple(map(sum, zip(*each, strict=True))) for each in product(*scenario)])
