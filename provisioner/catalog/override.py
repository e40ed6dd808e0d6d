"""Overrides: `machines.dgx-h100.cost_usd_per_h=24` changes one field of the catalog for one run.

The change is made to the values as read, before they are checked, so an override is held to the rules of a file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from provisioner.catalog.document import OVERRIDES, Document, Key, Origin, parse_document
from provisioner.catalog.entry import Entry
from provisioner.catalog.shelves import Shelves
from provisioner.catalog.suggestion import did_you_mean
from provisioner.errors import Fault, InputError

OVERRIDABLE = ("machines", "models", "designs", "slos")
_FORM = "KIND.NAME.FIELD=VALUE with KIND one of " + ", ".join(OVERRIDABLE) + " and NAME a name or *"


@dataclass(frozen=True, slots=True)
class Override:
    """A change as asked for: `path` is kind.name.field[.field], and `origin` is who asks."""

    path: str
    value: object
    origin: Origin


@dataclass(frozen=True, slots=True)
class Edit:
    """A change as found: the entries of `kind` that it changes, and which of their fields."""

    kind: str
    entries: Sequence[Entry]
    is_for_all: bool
    key: tuple[str, ...]
    override: Override

    def applies_to(self, kind: str, entry: Entry) -> bool:
        """Whether it changes this entry."""
        return self.kind == kind and (self.is_for_all or entry in self.entries)


def parse_override(text: str) -> tuple[str, object]:
    """Split `path=value`; the value is read as a YAML scalar, so `0.9` is a number and `true` a truth.

    Raises
    ------
    InputError
        If there is no `=`, or no single value after it.
    """
    path, equals, value = text.partition("=")
    if not (path and equals and value.strip()):
        raise InputError(Fault(problem="is no override", file=OVERRIDES, value=text, allowed=_FORM))
    origin, single = Origin(OVERRIDES, None, path), "one number, word or truth"
    try:
        document = parse_document(value, OVERRIDES)
    except InputError as error:
        raise InputError(origin.fault(fault.problem, value, single) for fault in error.faults) from None
    if document.faults:
        raise InputError(origin.fault(fault.problem, value, fault.allowed) for fault in document.faults)
    if isinstance(document.value, dict | tuple):
        raise InputError(origin.fault("must be a single value", value, single))
    return path, document.value


def resolved(override: Override, shelves: Shelves) -> Edit:
    """Find what an override means. A name may contain dots, so the longest one that is known counts.

    Raises
    ------
    InputError
        If its path has another form, or names nothing.
    """
    kind, *steps = override.path.split(".")
    if kind not in OVERRIDABLE:
        problem = f"'{kind}' cannot be set" + did_you_mean(kind, OVERRIDABLE)
        raise InputError(override.origin.fault(problem, allowed=_FORM))
    name, *key = steps or [""]
    if not key:
        raise InputError(override.origin.fault("names no field", allowed=_FORM))
    if name == "*" and (entries := shelves.entries(kind)):
        return Edit(kind, entries, is_for_all=True, key=tuple(key), override=override)
    faults: tuple[Fault, ...] = ()
    for length in range(len(key), 0, -1):
        try:
            entry = shelves.find(kind, ".".join(steps[:length]))
        except InputError as error:
            faults = error.faults
        else:
            return Edit(kind, [entry], is_for_all=False, key=tuple(steps[length:]), override=override)
    raise InputError(map(override.origin.placed, faults))


def applied(document: Document, edit: Edit) -> Document:
    """Return the document with one field changed, or with a fault where there is no such field."""
    origin = edit.override.origin
    if not isinstance(document.value, dict):
        return document  # has its fault already, or will when it is checked
    try:
        key = _located(document.value, edit.key)
    except InputError as error:
        return replace(document, faults=(*document.faults, *map(origin.placed, error.faults)))
    # The parts on the way that the file does not have come from the override too.
    new = {key[:n]: origin for n in range(1, len(key)) if key[:n] not in document.origins}
    kept = {other: place for other, place in document.origins.items() if other[: len(key)] != key}
    value = _put(document.value, key, edit.override.value)
    return replace(document, value=value, origins=kept | new | {key: origin})


def _located(value: Any, key: tuple[str, ...]) -> Key:
    """Return the key with positions for what it names in lists."""
    located: list[str | int] = []
    for step in key:
        if isinstance(value, tuple):
            names = {_limit_name(item) or str(i): i for i, item in enumerate(value)}
            positions = names | {str(i): i for i in range(len(value))}
            if step not in positions:
                problem = f"'{step}' is not in the list" + did_you_mean(step, names)
                raise InputError(Fault(problem=problem, allowed=", ".join(names)))
            located.append(positions[step])
            value = value[positions[step]]
        elif value is None or isinstance(value, dict):
            located.append(step)
            value = (value or {}).get(step)
        else:
            raise InputError(Fault(problem=f"a single value has no field '{step}'", value=value))
    return tuple(located)


def _put(value: Any, key: Key, new: object) -> Any:
    if not key:
        return new
    step, rest = key[0], key[1:]
    if isinstance(step, int):
        return (*value[:step], _put(value[step], rest, new), *value[step + 1 :])
    fields = value or {}
    return {**fields, step: _put(fields.get(step), rest, new)}


def _limit_name(item: object) -> str | None:
    """Return the name of an SLO's limit, `ttft_p99`, by which people know it better than by its position."""
    match item:
        case {"metric": str(metric), "percentile": int() | float() as percentile}:
            return f"{metric}_p{percentile}"
    return None
