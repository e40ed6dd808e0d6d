"""Writing measured points as our own CSV, which `perf.measured` reads back as they were."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable

from provisioner.perf.measured import COLUMNS
from provisioner.perf.points import Points

_LENGTHS = ("prompt_tokens", "batch", "output_tokens")
_TIMES = ("prefill_s", "decode_s")


def to_csv(profiles: Iterable[Points], remarks: Iterable[str] = ()) -> str:
    """Return CSV text: remarks as comments at the head, then a row for each point, blank where not measured.

    Lengths are rounded to whole tokens; times have seven digits, beyond what any clock tells.
    """
    text = io.StringIO()
    for remark in remarks:
        text.write(f"# {''.join(c if c.isprintable() else ' ' for c in ' '.join(remark.split()))}\n")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow((*COLUMNS, "origin"))
    for points in profiles:
        lengths = zip(*(getattr(points, name).round().astype(int).tolist() for name in _LENGTHS), strict=True)
        times = zip(*(getattr(points, name).tolist() for name in _TIMES), strict=True)
        for numbers, seconds in zip(lengths, times, strict=True):
            writer.writerow((*points.key, *numbers, *map(_written, seconds), points.origin))
    return text.getvalue()


def _written(seconds: float) -> str:
    return "" if math.isnan(seconds) else f"{seconds:.7g}"
