"""Where files and folders are written: whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO

from provisioner.errors import Fault, InputError


def check_writable(path: Path, field: str) -> None:
    """Fail before the work is done if a file cannot be written after it.

    Raises
    ------
    InputError
        If the folder does not exist or cannot be written to, or the path is a folder.
    """
    folder = _target(path).parent
    if path.is_dir():
        problem = "is a folder"
    elif _is_stream(path) and os.access(path, os.W_OK):
        return
    elif not folder.is_dir():
        problem = f"folder {folder} does not exist"
    elif not os.access(folder, os.W_OK) or (path.exists() and not os.access(path, os.W_OK)):
        problem = "cannot be written"
    else:
        return
    raise InputError(Fault(problem=problem, field=field, value=str(path), allowed="a file in a folder that exists"))


def write(path: Path, content: str | bytes | Iterable[str], field: str) -> None:
    """Write a file, text as UTF-8, by way of a temporary one beside it, so that no half of it is ever seen.

    Pieces of text are written one after the other. A link stays one: what it points to is written. A device or a pipe
    gets the content itself.

    Raises
    ------
    InputError
        If the disk is full or the folder cannot be written to.
    """
    pieces = [content] if isinstance(content, str | bytes) else content
    temporary = None
    try:
        if _is_stream(path):
            with path.open("wb") as stream:
                _fill(stream, pieces)
            return
        target = _target(path)
        with tempfile.NamedTemporaryFile(dir=target.parent, delete=False) as file:
            temporary = Path(file.name)
            _fill(file, pieces)
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(target)
    except OSError as error:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
        raise InputError(Fault(problem=f"cannot be written: {error.strerror}", field=field, value=str(path))) from error


def _fill(file: IO[bytes], pieces: Iterable[str | bytes]) -> None:
    for piece in pieces:
        file.write(piece.encode() if isinstance(piece, str) else piece)


def _is_stream(path: Path) -> bool:
    """Whether there is a device, a pipe or a socket, which a file must not replace."""
    return path.exists() and not path.is_file() and not path.is_dir()


def _target(path: Path) -> Path:
    """What is written: the path, or what it links to."""
    return Path(os.path.realpath(path)) if path.is_symlink() else path


def check_folder(path: Path, field: str) -> None:
    """Fail before the work is done if a folder cannot be made, or has something in it.

    Raises
    ------
    InputError
        If there is a file of that name, or a folder that is not empty, or none that it could be made in.
    """
    if path.is_dir():
        problem = "is not empty" if any(path.iterdir()) else None
    elif os.path.lexists(path):
        problem = "is a file"
    else:
        problem = None if path.parent.is_dir() else f"folder {path.parent} does not exist"
    if problem is None and not os.access(path.parent, os.W_OK):
        problem = "cannot be written"
    if problem is not None:
        allowed = "a folder that is empty, or a new one in a folder that exists"
        raise InputError(Fault(problem=problem, field=field, value=str(path), allowed=allowed))


def write_folder(path: Path, files: Mapping[str, str], field: str) -> None:
    """Write a folder of files by way of a temporary one beside it, so that no half of it is ever seen.

    Raises
    ------
    InputError
        If the disk is full, or the folder is not empty or cannot be written to.
    """
    temporary = None
    try:
        temporary = Path(tempfile.mkdtemp(dir=path.parent))
        for name, content in files.items():
            (temporary / name).write_text(content, encoding="utf-8")
        temporary.chmod(0o777 & ~_umask())
        temporary.replace(path)  # onto an empty folder, or nothing
    except OSError as error:
        if temporary is not None:
            shutil.rmtree(temporary, ignore_errors=True)
        raise InputError(Fault(problem=f"cannot be written: {error.strerror}", field=field, value=str(path))) from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
