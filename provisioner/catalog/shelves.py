"""Where things are looked for, and which entry a name means."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path

from provisioner.catalog.entry import Entry, exists, files_in, read_entries, read_file, suffixes
from provisioner.catalog.suggestion import did_you_mean
from provisioner.errors import Fault, InputError

_BY_PATH = ("designs", "models", "slos")


class Shelves:
    """The catalog folders in the order they are searched; files are read when first asked for, and once.

    `base` is the folder that a relative path given as a name starts from.
    """

    def __init__(self, folders: Iterable[Path], base: Path) -> None:
        # The current folder may be the shipped or the extra one too, under another spelling.
        first = {folder.resolve(): folder for folder in reversed(list(folders))}
        self._folders = tuple(reversed(first.values()))
        self._base = base
        self._read: dict[str, tuple[Entry, ...]] = {}
        self._read_by_path: dict[Path, Entry] = {}

    def entries(self, kind: str) -> Sequence[Entry]:
        """Return every entry of a kind, in the order they are searched."""
        if kind not in self._read:
            self._read[kind] = tuple(entry for folder in self._folders for entry in read_entries(folder, kind))
        return self._read[kind]

    def listed(self, kind: str) -> Iterable[Entry]:
        """Return one entry a name, the shipped first; a user's takes the place of the one it stands in for."""
        listed: dict[str, Entry] = {}
        for folder in reversed(self._folders):
            in_folder = [entry for entry in self.entries(kind) if entry.folder == folder]
            listed |= {entry.labels[0].casefold(): entry for entry in in_folder}
        return listed.values()

    def find(self, kind: str, name: str) -> Entry:
        """Return the entry that answers to `name` in the first folder that has one, or the file of that path.

        Raises
        ------
        InputError
            If none does, or if two in the same folder do.
        """
        path = self._base / name
        if kind in _BY_PATH and path.suffix in suffixes(kind) and exists(path):
            return self._at(path)
        for _, in_folder in groupby(self.entries(kind), key=lambda entry: entry.folder):
            found = [entry for entry in in_folder if entry.answers_to(name)]
            if len(found) > 1:
                raise InputError(_ambiguous(kind, name, [entry.file for entry in found]))
            if found:
                return found[0]
        known = [label for entry in self.entries(kind) for label in entry.labels]
        listed = [min(entry.labels, key=len) for entry in self.listed(kind)]
        raise InputError(_unknown(kind, name, known, listed, is_folder=exists(path) and path.is_dir()))

    def names(self, kind: str) -> tuple[str, ...]:
        """Return the name of every listed entry; of profiles, which others read, the names of their files."""
        if kind == "profiles":
            names = (name for folder in reversed(self._folders) for name in _names_below(folder / kind, suffixes(kind)))
            return tuple(dict.fromkeys(names))
        return tuple(entry.labels[0] for entry in self.listed(kind))

    def find_file(self, kind: str, name: str) -> Path:
        """Return the file of that name in the first folder that has one, or the file of that path."""
        endings = suffixes(kind)
        path = self._base / name
        if path.suffix in endings and exists(path):
            return path
        for folder in self._folders:
            wanted = folder / kind / name
            names = {wanted.name.casefold() + suffix for suffix in ("", *endings)}
            found = [
                file for file in files_in(wanted.parent) if file.suffix in endings and file.name.casefold() in names
            ]
            if len(found) > 1:
                raise InputError(_ambiguous(kind, name, found))
            if found:
                return found[0]
        known = self.names(kind)
        raise InputError(_unknown(kind, name, known, known, is_folder=exists(path) and path.is_dir()))

    def _at(self, path: Path) -> Entry:
        if path not in self._read_by_path:
            self._read_by_path[path] = Entry.of(read_file(path), path.stem, path.parent, path)
        return self._read_by_path[path]


def _unknown(kind: str, name: str, known: Iterable[str], listed: Iterable[str], *, is_folder: bool) -> Fault:
    problem = f"no {_one(kind)} has this name" + did_you_mean(name, known)
    if name and is_folder:
        problem += ", and this is a folder"
    file = f"or a file ({', '.join(suffixes(kind))})"
    allowed = ", ".join([*listed, file] if kind in (*_BY_PATH, "profiles") else listed)
    return Fault(problem=problem, field=_one(kind), value=name, allowed=allowed or None)


def _ambiguous(kind: str, name: str, files: Sequence[Path]) -> Fault:
    problem = f"more than one {_one(kind)} has this name: " + ", ".join(file.name for file in files)
    return Fault(problem=problem, file=files[0].parent, field=_one(kind), value=name)


def _names_below(folder: Path, suffixes: Iterable[str]) -> list[str]:
    files = [file for suffix in suffixes for file in folder.rglob(f"*{suffix}")]
    return sorted(file.relative_to(folder).with_suffix("").as_posix() for file in files)


def _one(kind: str) -> str:
    return kind.removesuffix("s")
