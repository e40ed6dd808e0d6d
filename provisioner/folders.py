"""Where what takes long to make is kept from one run to the next, and how."""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path

import platformdirs


def kept_for_user() -> Path | None:
    """The user's own cache folder; None for a user who has no home."""
    try:
        return Path(platformdirs.user_cache_dir("provisioner"))
    except RuntimeError:
        return None


def kept_for_all() -> Path:
    """The cache folder for all users of the machine."""
    return Path(platformdirs.site_cache_dir("provisioner"))


def hash_of_sources(folder: Path) -> str:
    """A hash of the modules in a folder: what was made by others than these is not taken for theirs."""
    digest = hashlib.sha256()
    for source in sorted(folder.glob("*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()


def write_whole(file: Path, data: bytes, mode: int | None = None) -> None:
    """Write a file so that other processes see all of it or nothing; with that mode, if one is given.

    Raises
    ------
    OSError
        If it cannot be written.
    """
    with tempfile.TemporaryDirectory(dir=file.parent) as folder:
        new = Path(folder) / file.name
        new.write_bytes(data)
        if mode is not None:
            new.chmod(mode)
        new.replace(file)
