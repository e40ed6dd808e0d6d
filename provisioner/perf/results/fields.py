"""Numbers of a result file, each checked as it is asked for.

What is absent or null is None; what stands there and is wrong is a fault, with its line and its dotted name.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, Literal

from provisioner.errors import SHOWN_CHARACTERS, FaultList
from provisioner.perf.points import MAX_COUNT, MAX_SECONDS
from provisioner.perf.results.source import MAX_RECORDS

PER_SECOND = {"s": 1.0, "sec": 1.0, "seconds": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}
"""Units of time, and how many of each make a second."""
MAX_STAMP_S = 1e11
"""A time of day in seconds since 1970 is far below."""


class Fields:
    """A mapping of a file.

    Parameters
    ----------
    values : dict
        Any JSON; anything else than a mapping is a fault.
    faults : FaultList
        Takes what is wrong.
    line : int or None
        Stands in every fault.
    path : str
        Dotted name of the mapping, before the names in it.
    """

    def __init__(self, values: object, faults: FaultList, line: int | None = None, path: str = "") -> None:
        self._faults = faults
        self._line = line
        self._path = path
        if not isinstance(values, dict):
            self._fault("", values, "not a mapping", '{"name": value, ...}')
            values = {}
        self._values: dict[str, Any] = values

    def __contains__(self, name: str) -> bool:
        return self._values.get(name) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    @property
    def line(self) -> int | None:
        """Where it stands."""
        return self._line

    def part(self, *names: str) -> Fields:
        """The mapping at the end of a way of names; an empty one where there is none."""
        at = self
        for name in names:
            value = at._values.get(name)
            at = Fields({} if value is None else value, self._faults, self._line, at._name(name))
        return at

    def parts(self, name: str) -> list[Fields]:
        """The mappings of a list; none where there is no list."""
        value = self._values.get(name)
        if not isinstance(value, list):
            if value is not None:
                self._fault(name, value, "not a list", "a list of mappings")
            return []
        return [
            Fields(item, self._faults, self._line, f"{self._name(name)}[{number}]") for number, item in enumerate(value)
        ]

    def text(self, name: str) -> str | None:
        """A text, up to 80 characters of it; None for anything else."""
        value = self._values.get(name)
        return value[:SHOWN_CHARACTERS] if isinstance(value, str) and value.strip() else None

    def seconds(self, name: str, unit: str = "s") -> float | None:
        """A time in seconds: finite and not negative. 0 stands for itself; who counts zeros is the caller."""
        per_second = PER_SECOND[unit]
        return self._number(name, lambda value: value / per_second, MAX_SECONDS, f"a time in {unit}, at least 0")

    def stamp_s(self, name: str, unit: str = "s") -> float | None:
        """A time of day in seconds since some epoch."""
        per_second = PER_SECOND[unit]
        return self._number(name, lambda value: value / per_second, MAX_STAMP_S, f"a time of day in {unit}")

    def count(self, name: str) -> float | None:
        """A number of tokens or requests, which may be a mean: finite and not negative."""
        return self._number(name, lambda value: value, MAX_COUNT, f"a number from 0 to {MAX_COUNT:.0f}")

    def rate(self, name: str) -> float | None:
        """Requests per second; infinite for all at once, written `inf` or `Infinity`."""
        value = self._values.get(name)
        if value == math.inf or (isinstance(value, str) and value.strip().casefold() in ("inf", "infinity")):
            return math.inf
        return self.count(name)

    def many(self, name: str, read: Literal["seconds", "stamp_s", "count"] = "seconds") -> list[float | None] | None:
        """A list of numbers, each as `seconds`, `stamp_s` or `count` reads one; None where there is no list."""
        value = self._values.get(name)
        if value is None:
            return None
        if not isinstance(value, list) or len(value) > MAX_RECORDS:
            self._fault(name, value, "not a list, or a very long one", f"a list of up to {MAX_RECORDS:,} numbers")
            return None
        most = {"seconds": MAX_SECONDS, "stamp_s": MAX_STAMP_S, "count": MAX_COUNT}[read]
        numbers: list[float | None] = []
        for place, item in enumerate(value):
            number = as_number(item)
            if not 0 <= number <= most:
                one = Fields({f"{name}[{place}]": item}, self._faults, self._line, self._path)
                numbers.append(getattr(one, read)(f"{name}[{place}]"))
            else:
                numbers.append(number)
        return numbers

    def each_list(self, name: str) -> list[Fields] | None:
        """A list of lists, each as the mapping {`name`: list} that `many` reads; None where there is no list."""
        value = self._values.get(name)
        if not isinstance(value, list):
            return None
        return [Fields({name: item}, self._faults, self._line, self._path) for item in value]

    def raw(self, name: str) -> Any:
        """What stands there, unchecked."""
        return self._values.get(name)

    def fault(self, name: str, problem: str, allowed: str | None = None) -> None:
        """Note something wrong with a value."""
        self._fault(name, self._values.get(name), problem, allowed)

    def _number(self, name: str, scaled: Callable[[float], float], most: float, allowed: str) -> float | None:
        value = self._values.get(name)
        if value is None or value == "":
            return None
        number = scaled(as_number(value))
        if math.isnan(number):
            self._fault(name, value, "not a number", allowed)
        elif number < 0:
            self._fault(name, value, "negative", allowed)
        elif math.isinf(number):
            self._fault(name, value, "not finite", allowed)
        elif number > most:
            self._fault(name, value, "too large", allowed)
        else:
            return number
        return None

    def _fault(self, name: str, value: object, problem: str, allowed: str | None) -> None:
        field = self._name(name) if name else self._path
        self._faults.add(problem, line=self._line, field=field or None, value=value, allowed=allowed)

    def _name(self, name: str) -> str:
        return f"{self._path}.{name}" if self._path else name


def as_number(value: object) -> float:
    """A JSON number, or the text of one in CSV; NaN for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return math.nan
    if isinstance(value, str) and "_" in value:
        return math.nan
    try:
        return float(value)
    except ValueError:
        return math.nan
    except OverflowError:
        return math.inf
