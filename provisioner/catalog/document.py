"""YAML as plain values that know the line they come from.

YAML is a large language and its files come from anywhere, so only the part that a table of values needs is read:
mappings, lists and scalars of one document. Anchors, aliases, tags and directives are refused; so nothing is
constructed but plain values, and a file cannot grow in memory beyond its own size.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from ruamel.yaml import YAML
from ruamel.yaml.constructor import SafeConstructor
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from ruamel.yaml.reader import ReaderError

from provisioner.errors import Fault, InputError
from provisioner.texts import read_text

MAX_BYTES = 2**18
"""Far above any hand-written file, and a few seconds of parsing at worst."""

Key = tuple[str | int, ...]
"""The way from the top of a document to one of its values: names in mappings, positions in lists."""

OVERRIDES = "--set"
"""The place of a value that the command line put in."""

_CONSTRUCT = {
    "tag:yaml.org,2002:null": SafeConstructor.construct_yaml_null,
    "tag:yaml.org,2002:bool": SafeConstructor.construct_yaml_bool,
    "tag:yaml.org,2002:int": SafeConstructor.construct_yaml_int,
    "tag:yaml.org,2002:float": SafeConstructor.construct_yaml_float,
}
_TEXT = {f"tag:yaml.org,2002:{name}" for name in ("str", "timestamp", "merge", "value")}
"""Scalars that YAML may give a meaning of their own, and that are plain text to us."""
_COLLECTIONS = {"tag:yaml.org,2002:map", "tag:yaml.org,2002:seq"}
_DIRECTIVE = re.compile("^%", re.MULTILINE)


class Origin(NamedTuple):
    """Where a value stands: `file` and `line` (1-based), and its dotted name there."""

    file: Path | str
    line: int | None
    field: str

    def below(self, steps: Key) -> Origin:
        """Return the origin of a part for which no line of its own is known."""
        return self._replace(field=".".join(map(str, (self.field, *steps) if self.field else steps)))

    def fault(self, problem: str, value: object = None, allowed: str | None = None) -> Fault:
        """Return a fault that stands here."""
        return Fault(
            problem=problem, file=self.file, line=self.line, field=self.field or None, value=value, allowed=allowed
        )

    def placed(self, fault: Fault) -> Fault:
        """Return a fault of the value here as one that stands here, unless it has a place of its own."""
        return fault if fault.file else self.fault(fault.problem, fault.value, fault.allowed)


@dataclass(frozen=True, slots=True)
class Document:
    """Plain values (dict, tuple, str, int, float, bool, None), their origins, and what was wrong so far.

    A number without a fraction is an int, however it is written, so that `352.5e9` may count bytes.
    """

    value: Any
    origins: Mapping[Key, Origin]
    faults: tuple[Fault, ...] = ()

    def origin(self, key: Key) -> Origin:
        """Return where `key` stands, or would stand: the nearest part above it that has a line."""
        known = next(n for n in range(len(key), -1, -1) if key[:n] in self.origins)
        return self.origins[key[:known]].below(key[known:])

    def part(self, name: str) -> Document:
        """Return what stands under `name`, as a document of its own."""
        origins = {key[1:]: origin for key, origin in self.origins.items() if key[:1] == (name,)}
        return Document(self.value[name], origins, self.faults)


def read_document(file: Path) -> Document:
    """Read a YAML file. One that cannot be read is a document of nothing but faults."""
    try:
        return parse_document(_text(file), file)
    except InputError as error:
        return Document(None, {(): Origin(file, None, "")}, error.faults)


def parse_document(text: str, file: Path | str) -> Document:
    """Parse YAML text; `file` is what its faults name as their place.

    Raises
    ------
    InputError
        If the text is not YAML, is empty, or nests too deeply.
    """
    builder = _Builder(file)
    value = builder.value(_composed(text, file), (), None)
    return Document(value, builder.origins, tuple(builder.faults))


def _text(file: Path) -> str:
    try:
        if not file.is_file():
            raise InputError(Fault(problem="is a folder, not a file" if file.is_dir() else "is no file", file=file))
    except ValueError as error:
        raise InputError(Fault(problem=f"cannot be read: {error}", file=file)) from None
    return read_text(file, MAX_BYTES)


def _composed(text: str, file: Path | str) -> Node:
    if directive := _DIRECTIVE.search(text):
        line = text.count("\n", 0, directive.start()) + 1
        raise InputError(Fault(problem="a line starts with %", file=file, line=line, allowed="YAML without directives"))
    try:
        node: Node | None = _yaml().compose(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        at = mark.line + 1 if mark else None
        raise InputError(Fault(problem=f"is not YAML: {error.problem}", file=file, line=at)) from None
    except ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise InputError(Fault(problem="holds a control character", file=file, line=line)) from None
    except RecursionError:
        raise InputError(Fault(problem="nests too deeply", file=file)) from None
    except (YAMLError, ValueError, LookupError, AttributeError, AssertionError) as error:
        # The parser has no promise to raise its own errors alone, and the text is at fault all the same.
        raise InputError(Fault(problem=f"is not YAML: {error}", file=file)) from None
    if node is None:
        raise InputError(Fault(problem="is empty", file=file))
    return node


@dataclass(slots=True)
class _Builder:
    """Turns composed nodes into plain values, and goes on after a fault."""

    file: Path | str
    origins: dict[Key, Origin] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    scalars: SafeConstructor = field(default_factory=lambda: _yaml().constructor)

    def value(self, node: Node, key: Key, line: int | None) -> Any:
        self.origins[key] = Origin(self.file, line, "").below(key)
        # An alias is composed as the node it names, whose anchor shows here too.
        if node.anchor is not None:
            return self._refused(key, "uses a YAML anchor or alias", "the value itself")
        match node:
            case ScalarNode():
                return self._scalar(node, key)
            case MappingNode() if node.tag in _COLLECTIONS:
                return self._mapping(node, key)
            case SequenceNode() if node.tag in _COLLECTIONS:
                return tuple(self.value(item, (*key, i), _line(item)) for i, item in enumerate(node.value))
        return self._refused(key, "uses a YAML tag", "the value without a tag")

    def _mapping(self, node: MappingNode, key: Key) -> dict[str, Any]:
        mapping: dict[str, Any] = {}
        for name, item in node.value:
            line = _line(name)
            if not isinstance(name, ScalarNode) or name.anchor is not None:
                self.faults.append(Origin(self.file, line, "").below(key).fault("has a name that is not plain text"))
            elif name.value in mapping:
                first = self.origins[*key, name.value].line
                origin = Origin(self.file, line, "").below((*key, name.value))
                self.faults.append(origin.fault(f"stands twice, first in line {first}", allowed="one of the two"))
            else:
                mapping[name.value] = self.value(item, (*key, name.value), line)
        return mapping

    def _scalar(self, node: ScalarNode, key: Key) -> Any:
        try:
            if node.tag in _TEXT:
                node.value.encode()  # an escaped half of a surrogate pair is no text
                return node.value
            if node.tag not in _CONSTRUCT:
                return self._refused(key, "uses a YAML tag", "the value without a tag")
            value = _CONSTRUCT[node.tag](self.scalars, node)
        except UnicodeEncodeError:
            return self._refused(key, "is not Unicode text", "text")
        except (ValueError, LookupError):
            return self._refused(key, "is not a number that can be read", "a number of fewer digits")
        return int(value) if isinstance(value, float) and value.is_integer() else value

    def _refused(self, key: Key, problem: str, allowed: str) -> None:
        self.faults.append(self.origins[key].fault(problem, allowed=allowed))


def _yaml() -> YAML:
    return YAML(typ="safe", pure=True)


def _line(node: Node) -> int:
    return int(node.start_mark.line) + 1
