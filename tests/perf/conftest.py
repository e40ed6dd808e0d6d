"""What the tests of profiles share."""

from __future__ import annotations

from pathlib import Path

import pytest

RAW = Path(__file__).parents[2].parent / "shared" / "data" / "splitwise_profile_raw.csv"
SHIPPED = Path(__file__).parents[2] / "provisioner" / "shipped" / "profiles"


@pytest.fixture(scope="session")
def raw_profile() -> Path:
    """The public Splitwise profile, which is no part of this project."""
    if not RAW.exists():
        pytest.skip(f"the public Splitwise profile is not at {RAW}")
    return RAW


@pytest.fixture(scope="session")
def splitwise() -> Path:
    return SHIPPED / "splitwise.csv"


@pytest.fixture(scope="session")
def splitwisesim() -> Path:
    return SHIPPED / "splitwisesim.json"
