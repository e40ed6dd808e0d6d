"""Where names stand beside points: off the line, off other points and off other names."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

Spot = tuple[float, float]
Box = tuple[float, float, float, float]
LETTER_WIDTH, HEIGHT = 5.3, 10.0
"""Of text of eight points."""
CLEAR = 6.0
"""Half the width of a point's own box."""


def placed(points: Sequence[Spot], names: Sequence[str], *, line: Sequence[Spot], is_rising: bool) -> list[Spot | None]:
    """For each point where its name stands, as an offset of its near end, or None where every place is taken.

    All in points of 1/72 inch. Of the free places the one that least of the line goes through is taken; a line that
    falls leaves room above and to the right, one that rises above and to the left.
    """
    offsets = [(7.0, 8.0), (-7.0, -8.0), (8.0, 0.0), (-8.0, 0.0), (7.0, -8.0), (-7.0, 8.0)]
    if is_rising:
        offsets = [(-right, up) for right, up in offsets]
    marks = [_around(point) for point in points]
    path = _along(line)
    taken: list[Box] = []
    found: list[Spot | None] = []
    for place, (point, name) in enumerate(zip(points, names, strict=True)):
        others = [*taken, *marks[:place], *marks[place + 1 :]]
        boxes = [(_box(point, offset, name), offset) for offset in offsets]
        free = [(box, offset) for box, offset in boxes if not any(_meet(box, other) for other in others)]
        if not free:
            found.append(None)
            continue
        box, offset = min(free, key=lambda pair: sum(_holds(pair[0], spot) for spot in path))
        taken.append(box)
        found.append(offset)
    return found


def _around(point: Spot) -> Box:
    x, y = point
    return x - CLEAR, y - CLEAR, x + CLEAR, y + CLEAR


def _box(point: Spot, offset: Spot, name: str) -> Box:
    near, middle = point[0] + offset[0], point[1] + offset[1]
    far = near + (1 if offset[0] > 0 else -1) * LETTER_WIDTH * len(name)
    return min(near, far), middle - HEIGHT / 2, max(near, far), middle + HEIGHT / 2


def _meet(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _holds(box: Box, spot: Spot) -> bool:
    return box[0] <= spot[0] <= box[2] and box[1] <= spot[1] <= box[3]


def _along(line: Sequence[Spot]) -> list[Spot]:
    """Spots along a line, close to each other."""
    return [
        (a[0] + (b[0] - a[0]) * part / 40, a[1] + (b[1] - a[1]) * part / 40)
        for a, b in pairwise(line)
        for part in range(41)
    ]
