"""Document to domain value: pydantic checks, and here its errors become faults in plain words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from provisioner.catalog.document import OVERRIDES, Document, Key, Origin
from provisioner.catalog.suggestion import did_you_mean
from provisioner.domain.value import Value
from provisioner.errors import Fault, InputError

V = TypeVar("V", bound=Value)

_PROBLEMS = {
    "missing": "is missing",
    "int_type": "must be a whole number",
    "float_type": "must be a number",
    "finite_number": "must be finite",
    "bool_type": "must be true or false",
    "string_type": "must be text",
    "tuple_type": "must be a list",
    "dict_type": "must be a mapping of names to values",
    "model_type": "must be a mapping of names to values",
    "greater_than": "must be above {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be below {lt}",
    "less_than_equal": "must be at most {le}",
    "string_too_short": "must not be empty",
    "string_too_long": "must have at most {max_length} characters",
    "too_short": "must not be empty",
    "too_long": "must have at most {max_length} entries",
    "literal_error": "is not one of those allowed",
    "value_error": "{error}",
}
_NOUNS = {"integer": "a whole number", "number": "a number", "boolean": "true or false", "array": "a list"}
_BOUNDS = {
    "minimum": "at least {}",
    "exclusiveMinimum": "above {}",
    "maximum": "at most {}",
    "minItems": "of at least {}",
    "exclusiveMaximum": "below {}",
}


def checked(kind: type[V], document: Document) -> V:
    """Return the document as a `kind`.

    Raises
    ------
    InputError
        With the document's own faults and every one that the domain finds.
    """
    faults = list(document.faults)
    if document.value is None and faults:
        raise InputError(unique(faults))  # what could not be read at all has no second fault
    try:
        value = kind.model_validate(document.value)
    except ValidationError as error:
        faults += _translated(kind, document, error.errors(include_url=False))
        raise InputError(unique(faults)) from None
    if faults:
        raise InputError(unique(faults))
    return value


def unique(faults: Iterable[Fault]) -> list[Fault]:
    """Return the faults without repetition: two designs may name one faulty machine."""
    return list({(fault.file, fault.line, fault.field, fault.problem): fault for fault in faults}.values())


def _translated(kind: type[Value], document: Document, errors: Iterable[ErrorDetails]) -> Iterator[Fault]:
    schema = kind.model_json_schema()
    already = {fault.field for fault in document.faults}
    for error in errors:
        fault = _fault(schema, document, error)
        # What could not be read has no value, and that it has none is not a second fault.
        if fault is not None and fault.field not in already:
            yield fault


def _fault(schema: Mapping[str, Any], document: Document, error: ErrorDetails) -> Fault | None:
    key, reason, given = error["loc"], error["type"], error["input"]
    if reason == "extra_forbidden":
        known = _part(schema, key[:-1]).get("properties", {})
        problem = "is no known field" + did_you_mean(str(key[-1]), known)
        return document.origin(key).fault(problem, allowed=", ".join(known))
    if reason == "too_short" and given:
        return None  # pydantic counts the entries that are left after the faulty ones, each reported already
    context = {name: _plain(value) for name, value in error.get("ctx", {}).items()}
    problem = _PROBLEMS[reason].format(**context) if reason in _PROBLEMS else error["msg"]
    if reason == "missing":  # has no line, but what it is missing from may have one
        parent = document.origin(key[:-1])
        return parent.below(key[-1:]).fault(problem, allowed=_described(schema, key))
    if reason == "value_error":  # a rule about several fields: no one value is wrong, unless one was changed
        return _changed(document, problem, document.origin(key)).fault(problem)
    return document.origin(key).fault(problem, value=given, allowed=_described(schema, key))


def _changed(document: Document, problem: str, otherwise: Origin) -> Origin:
    """Where a field that a problem names was overridden."""
    fields = {key[-1]: origin for key, origin in document.origins.items() if key and origin.file == OVERRIDES}
    return next((origin for name, origin in fields.items() if str(name) in problem), otherwise)


def _part(schema: Mapping[str, Any], key: Key) -> Mapping[str, Any]:
    """Return the JSON schema of one field; an empty one where any value goes."""
    part = schema
    for step in (None, *key):
        if step is not None:
            part = part.get("items", {}) if isinstance(step, int) else part.get("properties", {}).get(step, {})
        # `Machine | None` comes wrapped, and in older pydantic a reference with a default; the first is what counts.
        part = (part.get("anyOf") or part.get("allOf") or [part])[0]
        if "$ref" in part:
            part = schema["$defs"][part["$ref"].rsplit("/", 1)[-1]]
    return part


def _described(schema: Mapping[str, Any], key: Key) -> str | None:
    part = _part(schema, key)
    if "enum" in part or "const" in part:
        return " or ".join(part.get("enum", [part.get("const")]))
    if "properties" in part:
        return "a mapping with " + ", ".join(part["properties"])
    if part.get("type") == "string":
        return (
            f"text of {part.get('minLength', 0)} to {part['maxLength']} characters" if "maxLength" in part else "text"
        )
    if part.get("type") not in _NOUNS:
        return None
    bounds = [words.format(_plain(part[name])) for name, words in _BOUNDS.items() if name in part]
    return _NOUNS[part["type"]] + (" " + " and ".join(bounds) if bounds else "")


def _plain(number: object) -> object:
    return f"{number:.15g}" if isinstance(number, float) else number
