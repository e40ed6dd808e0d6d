"""Commands are run as in `tests/cli`: in this process, in an empty folder."""

from __future__ import annotations

from tests.cli.conftest import folder, provision

__all__ = ["folder", "provision"]
