"""One cluster for several cases, as a table."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from provisioner.report.fleet import empty
from provisioner.report.plain import plain, printable
from provisioner.report.table import room
from provisioner.report.title import titled
from provisioner.search import RobustPlan


def table(plan: RobustPlan, names: Sequence[str], title: str) -> RenderableType:
    """The cluster, and how it does in each case."""
    proof = plan.certificate
    found = Text(f"{proof.simulated:,} simulated, in {proof.elapsed_s:.1f} s: {proof.text}.")
    if not plan.evaluations:
        return Group(Text(f"{printable(title)}: none."), found)
    cluster = plan.evaluations[0].cluster
    taken = f"{cluster.cost_usd_per_h:,.2f} USD/h, {cluster.power_kw:,.1f} kW"
    heading = f"{title}: {cluster.design.short} {cluster.label}, {taken}"
    shown = empty(("Case",), ("RPS", "passes", "binding", "room"))
    for name, each in zip(names, plan.evaluations, strict=True):
        verdict = "yes" if each.is_feasible else "no"
        shown.add_row(plain(name), f"{each.rate_rps:.4g}", verdict, each.binding.limit.name, room(each))
    worst = f"{printable(names[plan.worst])} is the worst case; it passes in {plan.share:.0%} of the weight."
    return Group(titled(heading, shown), Text(worst), found)
