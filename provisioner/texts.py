"""A small file of text, whole or not at all."""

from __future__ import annotations

from pathlib import Path

from provisioner.errors import Fault, InputError


def read_text(file: Path, most_bytes: int) -> str:
    """Read UTF-8, with or without a byte order mark.

    Raises
    ------
    InputError
        If it cannot be read, is longer than `most_bytes`, or is not UTF-8 (with the line).
    """
    try:
        with file.open("rb") as stream:
            content = stream.read(most_bytes + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(Fault(problem=f"cannot be read: {reason}", file=file)) from None
    if len(content) > most_bytes:
        raise InputError(Fault(problem="is too large", file=file, allowed=f"at most {most_bytes:,} bytes"))
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(Fault(problem="is not UTF-8 text", file=file, line=line, allowed="UTF-8")) from None
