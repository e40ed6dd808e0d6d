r"""Ways to fill a rack, for machines that must stand in racks of limited power and slots.

With *w* a way to fill one rack of a group (so many machines of each type, within its power and slots, such that no
machine more would fit) and :math:`z_w` the racks filled that way, machines :math:`n_m` fit into the racks of all
groups exactly if

.. math:: \sum_w w_m z_w \ge n_m \text{ for each type } m, \qquad \sum_{w \in g} z_w \le R_g \text{ for each group } g,

since leaving a place of a full rack empty gives every other way to fill it. Racks alike are never told apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from provisioner.domain.fleet import Rack
from provisioner.fleet.problem import Kind

TOLERANCE_KW = 1e-9


def fillings(rack: Rack, kinds: Sequence[Kind]) -> list[tuple[int, ...]]:
    """Machines of each type in a full rack, every way."""
    found = []
    for counts in _within(rack.power_kw + TOLERANCE_KW, rack.slots, [kind.power_kw for kind in kinds]):
        spare_kw = rack.power_kw + TOLERANCE_KW - sum(n * k.power_kw for n, k in zip(counts, kinds, strict=True))
        is_full = sum(counts) == rack.slots or all(kind.power_kw > spare_kw for kind in kinds)
        if is_full and any(counts):
            found.append(counts)
    return found


def _within(power_kw: float, slots: int, draws_kw: Sequence[float]) -> Iterator[tuple[int, ...]]:
    """Every choice of machines within power and slots."""
    if not draws_kw:
        yield ()
        return
    count = 0
    while count <= slots and count * draws_kw[0] <= power_kw:
        for rest in _within(power_kw - count * draws_kw[0], slots - count, draws_kw[1:]):
            yield (count, *rest)
        count += 1
