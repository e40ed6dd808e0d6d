"""Profile sets as measured points: CSV, one run a row.

Two headers are known. Our own:

    model,machine,tensor_parallel,prompt_tokens,batch,output_tokens,prefill_s,decode_s

and that of the public Splitwise profile, whose times are in milliseconds, whose machines are named by
their GPUs, and whose `token_size` is what was asked for: most runs stopped earlier. There the tokens
generated are the median of `e2e_time / token_time` over the repeats, or `token_size` if that is less.

A further column `origin` may say `measured` (as it is without), `modelled` or `estimated`, one for each profile.

Columns may come in any order, and lines that start with `#` may stand at the head. Times that are
blank or 0 were not measured.
"""

from __future__ import annotations

import csv
import io
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from provisioner.errors import FaultList
from provisioner.perf.checks import MAX_NAME, is_name, outside
from provisioner.perf.points import MAX_COUNT, MAX_SECONDS, MIN_SECONDS, ORIGINS, Key, Origin, Points
from provisioner.perf.shapes import medians, numbered

Floats = NDArray[np.float64]

MAX_ROWS = 1_000_000
MAX_PARALLEL = 1024

COLUMNS = (
    "model",
    "machine",
    "tensor_parallel",
    "prompt_tokens",
    "batch",
    "output_tokens",
    "prefill_s",
    "decode_s",
)
RAW_MACHINES = {"a100-80gb": "dgx-a100", "h100-80gb": "dgx-h100", "h100-80gb-pcap": "dgx-h100-cap"}
_NUMBERS = 6
"""Values kept of a row: prompt, batch, output, prefill, decode, end to end."""


@dataclass(frozen=True, slots=True)
class _Format:
    """Names of the columns, in the order of `COLUMNS` and then the optional end-to-end time."""

    columns: tuple[str, ...]
    ignored: frozenset[str] = frozenset()
    machines: dict[str, str] | None = None
    per_second: int = 1
    """Units of time in a second."""
    origin: str | None = None
    """An optional column."""


_OURS = _Format(COLUMNS, origin="origin")
_RAW = _Format(
    columns=(
        "model",
        "hardware",
        "tensor_parallel",
        "prompt_size",
        "batch_size",
        "token_size",
        "prompt_time",
        "token_time",
        "e2e_time",
    ),
    ignored=frozenset({"peak_power", "average_power"}),
    machines=RAW_MACHINES,
    per_second=1000,
)


def parse(text: str, file: Path) -> dict[Key, Points]:
    """Read measured points.

    Parameters
    ----------
    text : str
        The file's content.
    file : Path
        Named in faults.

    Returns
    -------
    dict of (model, machine, tensor_parallel) to Points
        In the order of the file.

    Raises
    ------
    InputError
        With all faults, by line and column.
    """
    faults = FaultList(file)
    rows = _rows(text, faults)
    _, header = next(rows, (0, None))
    if header is None and not len(faults):
        faults.add("empty file", allowed="a header and rows")
    faults.raise_if_any()
    names = [name.strip() for name in header or ()]
    layout = _RAW if "hardware" in names else _OURS
    _check_header(names, layout, faults)
    faults.raise_if_any()

    where = [names.index(column) for column in layout.columns]
    values: dict[Key, array[float]] = {}
    origins: dict[Key, Origin] = {}
    origin_at = names.index(layout.origin) if layout.origin in names else None
    count = 0
    for line, row in rows:
        count += 1
        if count > MAX_ROWS:
            faults.add("too many rows", line=line, allowed=f"at most {MAX_ROWS}")
            break
        if len(row) != len(names):
            faults.add("wrong number of fields", line=line, value=len(row), allowed=str(len(names)))
            continue
        key, numbers = _parse_row([row[i].strip() for i in where], line, layout, faults)
        if origin_at is not None:
            _note_origin(origins, key, row[origin_at].strip(), line, faults)
        if not len(faults):
            values.setdefault(key, array("d")).extend(numbers)
    if not count and not len(faults):
        faults.add("no rows", allowed="at least one below the header")
    faults.raise_if_any()
    return {
        key: _points(key, np.array(numbers).reshape(-1, _NUMBERS).T, origins.get(key, "measured"))
        for key, numbers in values.items()
    }


def _note_origin(origins: dict[Key, Origin], key: Key, cell: str, line: int, faults: FaultList) -> None:
    """Read where a row's times come from; all rows of a profile must agree."""
    for origin in ORIGINS:
        if (cell or "measured") == origin:
            if origins.setdefault(key, origin) != origin:
                faults.add("one profile has two origins", line=line, field="origin", value=cell, allowed=origins[key])
            return
    faults.add("unknown origin", line=line, field="origin", value=cell, allowed=", ".join(ORIGINS))


def _rows(text: str, faults: FaultList) -> Iterator[tuple[int, list[str]]]:
    """Yield rows with their line numbers, without comments at the head and blank lines."""
    lines = io.StringIO(text, newline="")
    above, first = next(((n, line) for n, line in enumerate(lines) if not _is_comment(line)), (0, ""))
    reader = csv.reader(chain([first], lines), strict=True)
    try:
        for row in reader:
            if any(field.strip() for field in row):
                yield above + reader.line_num, row
    except csv.Error as error:
        faults.add(f"not CSV: {error}", line=above + reader.line_num)


def _is_comment(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith("#")


def _check_header(names: list[str], layout: _Format, faults: FaultList) -> None:
    for column in layout.columns:
        if column not in names:
            faults.add("missing column", field=column, allowed=",".join(layout.columns))
    for i, name in enumerate(names):
        if name in names[:i]:
            faults.add("column given twice", field=name)
        elif name not in layout.columns and name not in layout.ignored and name != layout.origin:
            faults.add("unknown column", field=name, allowed=",".join(layout.columns))


def _parse_row(cells: list[str], line: int, layout: _Format, faults: FaultList) -> tuple[Key, list[float]]:
    """Read the cells, in the order of the format: the key, and the row's six values."""
    model, machine, *numbers = cells
    model_column, machine_column, *columns = layout.columns
    for name, column in ((model, model_column), (machine, machine_column)):
        if not is_name(name):
            faults.add(
                "not a name", line=line, field=column, value=name, allowed=f"1 to {MAX_NAME} printable characters"
            )
    if layout.machines is None:
        if "/" in machine:
            faults.add("a machine's name has no '/'", line=line, field=machine_column, value=machine)
    elif machine in layout.machines:
        machine = layout.machines[machine]
    else:
        faults.add(
            "unknown machine", line=line, field=machine_column, value=machine, allowed=", ".join(layout.machines)
        )
    limits = ((1, MAX_PARALLEL), (1, MAX_COUNT), (1, MAX_COUNT), (0, MAX_COUNT))
    parallel, *lengths = (
        _whole(cell, line, column, limit, faults) for cell, column, limit in zip(numbers, columns, limits, strict=False)
    )
    times = [
        _time(cell, line, column, layout.per_second, faults)
        for cell, column in zip(numbers[len(limits) :], columns[len(limits) :], strict=True)
    ]
    unknown = [np.nan] * (_NUMBERS - len(lengths) - len(times))
    return (model, machine, int(parallel)), [*lengths, *times, *unknown]


def _whole(cell: str, line: int, column: str, limits: tuple[float, float], faults: FaultList) -> float:
    low, high = limits
    number = _number(cell)
    problem = outside(number, low, high) or ("" if number.is_integer() else "not a whole number")
    if problem:
        faults.add(problem, line=line, field=column, value=cell, allowed=f"a whole number from {low} to {high:.0f}")
        return low
    return number


def _time(cell: str, line: int, column: str, per_second: int, faults: FaultList) -> float:
    """Return seconds, or NaN if not measured."""
    number = _number(cell or "0") / per_second
    if number == 0:
        return np.nan
    problem = outside(number, MIN_SECONDS, MAX_SECONDS)
    if problem is None:
        return number
    low, high = MIN_SECONDS * per_second, MAX_SECONDS * per_second
    unit = "s" if per_second == 1 else "ms"
    faults.add(
        problem, line=line, field=column, value=cell, allowed=f"{low:g} to {high:.0f} {unit}, or 0: not measured"
    )
    return np.nan


def _number(cell: str) -> float:
    """Return NaN for what is no number."""
    try:
        return float(cell) if "_" not in cell else np.nan
    except ValueError:
        return np.nan


def _points(key: Key, columns: Floats, origin: Origin) -> Points:
    prompt, batch, output, prefill, decode, end_to_end = columns
    return Points(
        model=key[0],
        machine=key[1],
        tensor_parallel=key[2],
        prompt_tokens=prompt,
        batch=batch,
        output_tokens=_generated(np.column_stack([prompt, batch, output]), end_to_end / decode),
        prefill_s=prefill,
        decode_s=decode,
        origin=origin,
    )


def _generated(shapes: Floats, iterations: Floats) -> Floats:
    """Return the tokens generated: the median iterations of a shape's repeats, at most what was asked for."""
    count, number = numbered(shapes)
    return np.fmin(shapes[:, 2], np.round(medians(iterations, number, count))[number])
