"""Results as they come, in a file that only grows: what was finished is not simulated again.

SQLite, one row a result: its key (what it follows from), its value as JSON, and a checksum of both. Each
chunk of work is one transaction on the disk, so that a process may be killed at any moment.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from threading import Lock
from typing import Any, Self

from provisioner.errors import Fault, InputError
from provisioner.search.identity import edition

FIELD = "--results"
_MAGIC = b"SQLite format 3\0"
_LEAST_ROW_BYTES = 64
_TABLE = "CREATE TABLE IF NOT EXISTS results (key TEXT PRIMARY KEY, value TEXT NOT NULL, checksum TEXT NOT NULL)"


class ResultsFile:
    """Results by their keys.

    Parameters
    ----------
    path : Path
        Made if it is not there. A damaged file is put aside as `PATH.damaged`, and the good rows kept.
    resume : bool
        Whether to go on with a file that is there; without, such a file is refused.

    Raises
    ------
    InputError
        If it cannot be written, is no file of results, or is there without `resume`.
    """

    def __init__(self, path: Path, *, resume: bool = False) -> None:
        if path.exists() and not resume:
            raise InputError(
                Fault(problem="is there already", field=FIELD, value=str(path), allowed="--resume, or another file")
            )
        self.path = path
        self.notes: list[str] = []
        self._lock = Lock()
        self._known: dict[str, str] = {}
        with _explained(path):
            rows = list(self._salvaged())
            self._file = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
            self._file.execute("PRAGMA synchronous = FULL")
            self._file.execute(_TABLE)
            if rows:
                self._write(rows)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def __len__(self) -> int:
        return len(self._known)

    def find(self, key: str) -> Any:
        """The value that was recorded under a key, in this edition of the package; None if there is none."""
        found = self._known.get(_full(key))
        return None if found is None else json.loads(found)

    def add(self, results: Iterable[tuple[str, Any]]) -> None:
        """Record the results of a chunk: all of them, or none.

        Raises
        ------
        InputError
            If the disk is full, or the file can no longer be written.
        """
        with _explained(self.path), self._lock:
            self._write([(_full(key), json.dumps(value)) for key, value in results])

    def _write(self, rows: list[tuple[str, str]]) -> None:
        self._file.execute("BEGIN IMMEDIATE")
        try:
            self._file.executemany(
                "INSERT OR IGNORE INTO results VALUES (?, ?, ?)", [(*row, _checksum(*row)) for row in rows]
            )
            self._file.execute("COMMIT")
        except BaseException:
            if self._file.in_transaction:
                self._file.execute("ROLLBACK")
            raise
        self._known.update(rows)

    def _salvaged(self) -> Iterator[tuple[str, str]]:
        """Learn what a file holds; the good rows of a damaged one, which is put aside, to be written anew."""
        if not self.path.exists() or not self.path.stat().st_size:
            return
        _check_length(self.path)
        with closing(sqlite3.connect(self.path)) as file:
            rows, is_whole = _read(file)
        good = [(key, value) for key, value, checksum in rows if checksum == _checksum(key, value)]
        if is_whole and len(good) == len(rows):
            self._known.update(good)
            return
        aside = self.path.with_name(f"{self.path.name}.damaged")
        self.path.replace(aside)
        self.notes.append(f"{self.path} is damaged: {len(good):,} good results are kept, the file is now {aside.name}")
        yield from good


def _read(file: sqlite3.Connection) -> tuple[list[tuple[str, str, str]], bool]:
    """All rows that can be read, and whether that is all there are."""
    rows: list[tuple[str, str, str]] = []
    try:
        if file.execute("PRAGMA quick_check").fetchone() == ("ok",):
            return list(file.execute("SELECT key, value, checksum FROM results")), True
    except sqlite3.OperationalError as error:
        if "no such table" in str(error):
            raise _foreign() from error
    except sqlite3.DatabaseError:
        pass
    for number in range(1, _last(file) + 1):
        try:
            rows.extend(file.execute("SELECT key, value, checksum FROM results WHERE rowid = ?", (number,)))
        except (sqlite3.DatabaseError, UnicodeDecodeError):
            continue
    return rows, False


def _check_length(path: Path) -> None:
    """Refuse other files; lengthen one that was cut short, of which SQLite reads nothing, by zeros."""
    with path.open("r+b") as raw:
        header = raw.read(100)
        if not header.startswith(_MAGIC):
            raise _foreign()
        page = int.from_bytes(header[16:18], "big")
        raw.truncate(max(path.stat().st_size, (65536 if page == 1 else page) * int.from_bytes(header[28:32], "big")))


def _last(file: sqlite3.Connection) -> int:
    """The last row, or, where that cannot be read, more than there can be."""
    try:
        found = file.execute("SELECT max(rowid) FROM results").fetchone()[0]
        return int(found or 0)
    except sqlite3.DatabaseError:
        return Path(file.execute("PRAGMA database_list").fetchone()[2]).stat().st_size // _LEAST_ROW_BYTES


def _foreign() -> InputError:
    allowed = "a file that --results made, or a new one"
    return InputError(Fault(problem="is no file of results", field=FIELD, allowed=allowed))


def _full(key: str) -> str:
    """The key with the edition: another one may give other results."""
    return f"{edition()}: {key}"


def _checksum(key: str, value: str) -> str:
    return hashlib.sha256(f"{key}\n{value}".encode()).hexdigest()[:16]


class _explained:  # noqa: N801 - reads as what it does
    """Turns what SQLite says into a fault."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        return

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, sqlite3.Error | OSError):
            full = "full" in str(error)
            allowed = "more room, then the same with --resume" if full else "a file in a folder that can be written to"
            problem = f"cannot be written: {error}" + ("; what came before is kept" if full else "")
            raise InputError(Fault(problem=problem, field=FIELD, value=str(self._path), allowed=allowed)) from error
