"""Machines that are owned."""

from __future__ import annotations

from provisioner.fleet import Kind, Totals
from tests.fleet.made import option


def test_nobody_is_paid_for_using_what_was_dear() -> None:
    """One of a list price of 2 USD/h that costs its owner 9 in any case: using it is free, and no gain."""
    kind = Kind(name="old", cost_usd_per_h=2.0, power_kw=3.5, owned=3, sunk_usd_per_h=9.0)
    totals = Totals.of([kind], [option(4, 0)])
    assert totals.cost_usd_per_h == 2.0
    assert totals.sunk_usd_per_h == 27.0
