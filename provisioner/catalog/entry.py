"""The entries of a catalog folder, read but not yet checked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from provisioner.catalog.document import Document, read_document
from provisioner.catalog.huggingface import read_config
from provisioner.errors import Fault, InputError

MACHINES = "machines.yaml"
SUFFIXES = (".yaml", ".yml")

_PAPER_ORDER = ("splitwise-aa", "splitwise-hh", "splitwise-ha", "splitwise-hhcap", "baseline-a100", "baseline-h100")


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """One thing in the catalog.

    `labels` are the names it answers to, whatever their case: its `name`, its `short` name and the name of its
    file. The first is the one it is listed under. `folder` is the catalog folder that it stands in.
    """

    labels: tuple[str, ...]
    folder: Path
    file: Path
    document: Document

    @classmethod
    def of(cls, document: Document, stem: str, folder: Path, file: Path) -> Entry:
        """Make an entry whose name, where it gives none, is `stem`: that of its file, or its name in machines.yaml."""
        if not isinstance(document.value, dict):
            return cls((stem,), folder, file, document)
        named = replace(document, value={"name": stem, **document.value})
        given = [named.value["name"], named.value.get("short"), stem]
        labels = dict.fromkeys(label for label in given if isinstance(label, str) and label)
        return cls(tuple(labels), folder, file, named)

    def answers_to(self, name: str) -> bool:
        """Whether `name` is one of its labels."""
        return name.casefold() in {label.casefold() for label in self.labels}


def suffixes(kind: str) -> tuple[str, ...]:
    """Return the endings of a kind's files: a model may be a Hugging Face configuration, a profile a table or knots."""
    return {"profiles": (*SUFFIXES, ".csv", ".json"), "models": (*SUFFIXES, ".json")}.get(kind, SUFFIXES)


def read_file(file: Path) -> Document:
    """Read an entry's file, by its ending: YAML, or the Hugging Face configuration of a model."""
    return read_config(file) if file.suffix == ".json" else read_document(file)


def exists(path: Path) -> bool:
    """Whether there is such a file; no, for a name that no file could have."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def files_in(folder: Path) -> list[Path]:
    """Return what stands in a folder, by name; nothing where there is no such folder."""
    try:
        return sorted(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return []
    except OSError as error:
        raise InputError(Fault(problem=f"cannot be read: {error.strerror}", file=folder)) from None


def read_entries(folder: Path, kind: str) -> Iterator[Entry]:
    """Read a folder's entries of one kind: the paper's designs in its order, then the others by name.

    A broken file is an entry with faults, which matter only to who asks for it; a broken machines.yaml is raised
    at once, since nobody can say which machines it was to hold.
    """
    if kind == "machines":
        if exists(file := folder / "designs" / MACHINES):
            yield from _machines(folder, file)
        return
    for file in sorted(files_in(folder / kind), key=_paper_rank):
        if file.suffix in suffixes(kind) and (kind, file.name) != ("designs", MACHINES):
            yield Entry.of(read_file(file), file.stem, folder, file)


def _machines(folder: Path, file: Path) -> Iterator[Entry]:
    document = read_document(file)
    if not isinstance(document.value, dict):
        problem = Fault(problem="must be a mapping of machine names to their fields", file=file)
        raise InputError(document.faults or problem)
    for name in document.value:
        yield Entry.of(document.part(name), name, folder, file)


def _paper_rank(file: Path) -> int:
    return _PAPER_ORDER.index(file.stem) if file.stem in _PAPER_ORDER else len(_PAPER_ORDER)
