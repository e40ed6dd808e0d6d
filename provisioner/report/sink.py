"""Where files are written: whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from provisioner.errors import Fault, InputError


def check_writable(path: Path, field: str) -> None:
    """Fail before the work is done if a file cannot be written after it.

    Raises
    ------
    InputError
        If the folder does not exist or cannot be written to, or the path is a folder.
    """
    folder = path.parent
    if path.is_dir():
        problem = "is a folder"
    elif not folder.is_dir():
        problem = f"folder {folder} does not exist"
    elif not os.access(folder, os.W_OK) or (path.exists() and not os.access(path, os.W_OK)):
        problem = "cannot be written"
    else:
        return
    raise InputError(Fault(problem=problem, field=field, value=str(path), allowed="a file in a folder that exists"))


def write(path: Path, content: str | bytes | Iterable[str], field: str) -> None:
    """Write a file, text as UTF-8, by way of a temporary one beside it, so that no half of it is ever seen.

    Pieces of text are written one after the other.

    Raises
    ------
    InputError
        If the disk is full or the folder cannot be written to.
    """
    temporary = None
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            temporary = Path(file.name)
            for piece in [content] if isinstance(content, str | bytes) else content:
                file.write(piece.encode() if isinstance(piece, str) else piece)
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    except OSError as error:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
        raise InputError(Fault(problem=f"cannot be written: {error.strerror}", field=field, value=str(path))) from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
