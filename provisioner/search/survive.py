"""What a cluster must survive: which machines may be lost at once, in every way that makes a difference.

Machines of one pool are alike, so a loss is a count for each pool. `prompt=1,token=1` are all losses of at
most one prompt and one token machine; `machines=2` of at most two, whichever; `dgx-h100=1` of at most one of
that type, in whichever pool.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from provisioner.domain.design import Design

Loss = tuple[int, ...]
"""Machines of each of the design's pools, in the order of `Design.machines`."""
MOST_LOST = 20
ANY = "machines"


@dataclass(frozen=True, slots=True)
class Survive:
    """Losses that a cluster must survive: gone from the start, and failing together in mid-run.

    `terms` are names of pools or machine types, or `machines` for any, with counts. Those that fail in
    mid-run do so at `fail_at_s`, and are back after `repair_s`.
    """

    terms: tuple[tuple[str, int], ...]
    fail_at_s: float
    repair_s: float = np.inf

    def losses(self, design: Design) -> tuple[Loss, ...]:
        """Every loss but none at all, the largest first.

        Raises
        ------
        KeyError
            If a name is none of the design's.
        """
        names = pool_names(design)
        found = {(0,) * len(names)}
        for name, count in self.terms:
            if name not in terms_of(design):
                raise KeyError(name)
            mine = [name in (ANY, *pool) for pool in names]
            found = {tuple(map(sum, zip(loss, more, strict=True))) for loss in found for more in _up_to(count, mine)}
        return tuple(sorted((loss for loss in found if any(loss)), key=lambda loss: (-sum(loss), loss)))


def _up_to(count: int, mine: Sequence[bool]) -> Iterator[Loss]:
    """At most so many in all, in the pools that count."""
    for loss in product(*(range(count + 1) if counts else (0,) for counts in mine)):
        if sum(loss) <= count:
            yield loss


def pool_names(design: Design) -> tuple[tuple[str, str], ...]:
    """Of each pool its name, and that of its machine type."""
    return tuple((pool, machine.name) for pool, machine in zip(design.pools, design.whole_machines, strict=True))


def terms_of(design: Design) -> tuple[str, ...]:
    """The names that a design has for what may be lost."""
    names = pool_names(design)
    return (ANY, *(pool for pool, _ in names), *dict.fromkeys(machine for _, machine in names))


def worded(design: Design, loss: Loss) -> str:
    """A loss as it is typed: `prompt=1,token=1`."""
    pairs = zip(pool_names(design), loss, strict=True)
    return ",".join(f"{pool}={count}" for (pool, _), count in pairs if count)
