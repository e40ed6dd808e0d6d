"""A file or a pipe as a stream of bytes, unpacked if it is packed. Its first bytes say what it is, never its name.

gzip needs nothing; Zstandard and Parquet need pyarrow (the extra `traces`), which is imported only then.
"""

from __future__ import annotations

import importlib
import io
import os
import stat
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from provisioner.errors import FaultList
from provisioner.traces.bounds import Bounds

_MAGIC_BYTES = 8
_BUFFER_BYTES = 2**18
_GZIP_HEADER = zlib.MAX_WBITS | 16  # wants a gzip header and its checksum
_GZIP, _ZSTANDARD, PARQUET = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PAR1"
_NOT_READ = {
    b"PK\x03\x04": "a zip archive",
    b"BZh": "packed with bzip2",
    b"\xfd7zXZ\x00": "packed with xz",
    b"SQLite": "a database",
    b"ARROW1": "an Arrow file",
    b"%PDF": "a PDF document",
}


Watch = Callable[[int], None]


def unwatched(_: int) -> None:
    """Nobody wants to know."""


@dataclass(frozen=True, slots=True)
class Source:
    """An opened input.

    Parameters
    ----------
    path : Path
        Where it was found.
    stream : BinaryIO
        Its unpacked bytes, from the first. Reading may raise one of `UNREADABLE`.
    is_parquet : bool
        Whether it is a Parquet file, which is read from `path` and not from the stream.
    """

    path: Path
    stream: BinaryIO
    is_parquet: bool


UNREADABLE = (OSError, EOFError, zlib.error)
"""What reading raises where the disk fails or packed bytes are damaged."""


@contextmanager
def opened(path: Path, faults: FaultList, bounds: Bounds, watch: Watch = unwatched) -> Iterator[Source]:
    """Open a file or pipe; `watch` is told of the bytes read of it, packed as they are.

    Raises
    ------
    InputError
        If it cannot be opened, is too large, or is packed in a way that is not read here.
    """
    with _file(path, faults, bounds) as file:
        try:
            first = _read_exactly(file, _MAGIC_BYTES)
            whole = _rejoined(first, file, watch)
            unpacked = _unpacked(first, whole, faults)
            inner = first if unpacked is whole else _read_exactly(unpacked, _MAGIC_BYTES)
        except UNREADABLE as error:
            add_unreadable(faults, error)
            raise faults.error() from error
        is_parquet = inner.startswith(PARQUET)
        if is_parquet and not (unpacked is whole and file.seekable()):
            faults.add("a Parquet file that is packed or comes through a pipe", allowed="a Parquet file as it is")
            raise faults.error()
        yield Source(path, unpacked if unpacked is whole else _rejoined(inner, unpacked), is_parquet)


def add_unreadable(faults: FaultList, error: BaseException) -> None:
    """Note why reading failed."""
    words = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    faults.add(f"the file cannot be read: {' '.join(words.split())}")


def add_too_large(faults: FaultList, bounds: Bounds) -> None:
    """Note that a file, or what it is unpacked to, is beyond the bounds."""
    faults.add("the file is too large", allowed=f"up to {bounds.max_bytes:,} bytes")


def pyarrow_module(name: str, what: str, faults: FaultList) -> Any:
    """Import a module of pyarrow.

    Raises
    ------
    InputError
        If it is not installed.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        faults.add(f"{what} needs pyarrow, which is not installed", allowed="pip install '.[traces]' in the checkout")
        raise faults.error() from error


def _file(path: Path, faults: FaultList, bounds: Bounds) -> BinaryIO:
    """Open the file, or raise the one fault that prevents it."""
    try:
        stream = path.open("rb")
    except FileNotFoundError:
        faults.add("no such file")
    except IsADirectoryError:
        faults.add("a directory, not a file")
    except OSError as error:
        faults.add(f"the file cannot be opened: {error.strerror}")
    except ValueError:  # a zero byte in the name
        faults.add("not the name of a file")
    else:
        status = os.fstat(stream.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_size <= bounds.max_bytes:
            return stream
        stream.close()
        add_too_large(faults, bounds)
    raise faults.error()


def _unpacked(first: bytes, whole: BinaryIO, faults: FaultList) -> BinaryIO:
    if first.startswith(_GZIP):
        return io.BufferedReader(_Stream(_Gzip(whole)), _BUFFER_BYTES)
    if first.startswith(_ZSTANDARD):
        arrow = pyarrow_module("pyarrow", "Zstandard", faults)
        packed = arrow.CompressedInputStream(arrow.PythonFile(whole, mode="r"), "zstd")
        return io.BufferedReader(_Stream(packed), _BUFFER_BYTES)
    for magic, what in _NOT_READ.items():
        if first.startswith(magic):
            faults.add(f"{what}: not read here", allowed="text or Parquet; text may be packed with gzip or Zstandard")
            raise faults.error()
    return whole


def _read_exactly(stream: BinaryIO, size: int) -> bytes:
    """Read as many bytes, or all there are: a pipe may give fewer at once."""
    parts, left = [], size
    while left and (part := stream.read(left)):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def _rejoined(first: bytes, rest: BinaryIO, watch: Watch = unwatched) -> BinaryIO:
    return io.BufferedReader(_Stream(rest, first, watch), _BUFFER_BYTES)


class _Stream(io.RawIOBase):
    """Anything with `read`, with the bytes that were read before put back in front."""

    def __init__(self, rest: Any, first: bytes = b"", watch: Watch = unwatched) -> None:
        self._rest = rest
        self._first = first
        self._watch = watch

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        part = self._first or self._rest.read(len(buffer))
        taken = part[: len(buffer)]
        self._first = self._first[len(taken) :]
        buffer[: len(taken)] = taken
        self._watch(len(taken))
        return len(taken)


class _Gzip:
    """What a stream of gzip members unpacks to. The standard library's reader does the same in steps of 8 kB."""

    def __init__(self, packed: BinaryIO) -> None:
        self._packed = packed
        self._rest = b""
        self._member: Any = zlib.decompressobj(_GZIP_HEADER)

    def read(self, size: int) -> bytes:
        """Give up to so many bytes; none at the end. Raises `zlib.error` and `EOFError` over damaged ones."""
        while rest := self._rest or self._packed.read(_BUFFER_BYTES):
            if self._member.eof:
                rest = rest.lstrip(b"\0")  # members may be padded
                self._member = zlib.decompressobj(_GZIP_HEADER) if rest else self._member
            found: bytes = self._member.decompress(rest, size) if rest else b""
            self._rest = self._member.unused_data if self._member.eof and rest else self._member.unconsumed_tail
            if found:
                return found
        if not self._member.eof:
            raise EOFError("packed bytes end too early")
        return b""
