"""The types of this folder's fixtures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

Write = Callable[[str, str | bytes], Path]
"""Writes a file of the user's catalog folder."""
Lines = Callable[[Callable[[], object]], list[str]]
"""Gives the worded faults of a call that must fail."""
