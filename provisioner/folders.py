"""Where what takes long to make is kept from one run to the next."""

from __future__ import annotations

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
