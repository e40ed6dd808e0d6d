"""Shared spares: cases worked out by hand, and brute force that looks at every loss by itself."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from random import Random

import pytest

from provisioner.fleet.spares import Loss, Protected, own_spares, shared_spares

COSTS = {"a": 1.0, "h": 2.0}


def service(name: str, types: str, counts: Loss, *held: Loss) -> Protected:
    """Holds with all machines, and without those losses."""
    return Protected(name, tuple(types), counts, lambda loss: not any(loss) or loss in held)


def test_services_without_slack_share_what_each_would_need() -> None:
    """Three services of one type: three spares of their own, one together."""
    three = [service(name, "hh", (5, 3)) for name in "xyz"]
    assert own_spares(three, 1, COSTS) == {"h": 3}
    assert shared_spares(three, 1, COSTS) == {"h": 1}
    assert shared_spares(three, 2, COSTS) == {"h": 2}


def test_types_do_not_replace_each_other() -> None:
    two = [service("x", "ha", (5, 3)), service("y", "aa", (4, 4))]
    assert own_spares(two, 1, COSTS) == {"a": 2, "h": 1}
    assert shared_spares(two, 1, COSTS) == {"a": 1, "h": 1}


def test_slack_needs_no_spare() -> None:
    """`x` does without any one machine, `y` without a token machine."""
    two = [service("x", "ha", (5, 3), (1, 0), (0, 1)), service("y", "ha", (5, 3), (0, 1))]
    assert shared_spares(two, 1, COSTS) == {"h": 1}
    assert shared_spares(two[:1], 1, COSTS) == {}
    # Of two machines of one pool gone from `x`, one must be given back.
    assert shared_spares(two[:1], 2, COSTS) == {"a": 1, "h": 1}


def test_the_cheaper_way_is_taken() -> None:
    """Without one of each, giving back either is enough."""
    one = [service("x", "ha", (1, 1), (1, 0), (0, 1))]
    assert shared_spares(one, 2, COSTS) == {"a": 1}
    assert shared_spares(one, 2, {"a": 3.0, "h": 2.0}) == {"h": 1}


def brute_force(services: Sequence[Protected], lost: int) -> dict[str, int]:
    """Every loss of every machine, every way of giving back."""
    types = sorted({name for each in services for name in each.types})
    pools = [(place, pool) for place, each in enumerate(services) for pool in range(len(each.counts))]
    sizes = [services[place].counts[pool] for place, pool in pools]

    def goes_on(loss: Loss, spares: Loss) -> bool:
        for back in product(*(range(count + 1) for count in loss)):
            used = [
                sum(n for n, (place, pool) in zip(back, pools, strict=True) if services[place].types[pool] == name)
                for name in types
            ]
            if any(count > most for count, most in zip(used, spares, strict=True)):
                continue
            left = [gone - given for gone, given in zip(loss, back, strict=True)]
            states = [
                tuple(n for n, (owner, _) in zip(left, pools, strict=True) if owner == place)
                for place in range(len(services))
            ]
            if all(each.holds(state) for each, state in zip(services, states, strict=True)):
                return True
        return False

    losses = [loss for loss in product(*(range(min(size, lost) + 1) for size in sizes)) if sum(loss) <= lost]
    enough = [
        spares
        for spares in product(range(lost + 1), repeat=len(types))
        if all(goes_on(loss, spares) for loss in losses)
    ]
    best = min(enough, key=lambda s: (sum(n * COSTS[name] for n, name in zip(s, types, strict=True)), sum(s), s))
    return {name: count for name, count in zip(types, best, strict=True) if count}


@pytest.mark.parametrize("seed", range(60))
def test_spares_are_brute_forces(seed: int) -> None:
    """Up to three services that hold without whatever, monotone or not; up to two machines lost."""
    random = Random(seed)
    services = []
    for name in range(random.randint(1, 3)):
        types = random.choice(["hh", "ha", "aa", "a"])
        counts = tuple(random.randint(1, 3) for _ in types)
        states = [state for state in product(*(range(3) for _ in types)) if any(state)]
        services.append(service(str(name), types, counts, *random.sample(states, random.randint(0, len(states)))))
    lost = random.randint(1, 2)
    found = shared_spares(services, lost, COSTS)
    assert found == brute_force(services, lost)
    own = own_spares(services, lost, COSTS)
    assert sum(COSTS[name] * n for name, n in found.items()) <= sum(COSTS[name] * n for name, n in own.items())


def test_many_services_take_no_time() -> None:
    """Fifty services of four kinds, three machines lost."""
    kinds = ("hh", "ha", "aa", "a")
    services = [service(str(n), kinds[n % 4], tuple(3 for _ in kinds[n % 4])) for n in range(50)]
    assert shared_spares(services, 3, COSTS) == {"a": 3, "h": 3}
