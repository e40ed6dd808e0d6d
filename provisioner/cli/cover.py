"""`provision fleet --spares`: spare machines for the clusters of a plan, shared and each by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from provisioner.errors import Fault, InputError

if TYPE_CHECKING:
    from rich.text import Text

    from provisioner.cli.services import Served
    from provisioner.fleet import FleetPlan
    from provisioner.fleet.spares import Protected
    from provisioner.search import Evaluation


@dataclass(frozen=True, slots=True)
class Spares:
    """Spares by machine type: shared by all services, and the sum of each service's own."""

    lost: int
    shared: Mapping[str, int]
    own: Mapping[str, int]
    costs: Mapping[str, float]

    def cost(self, spares: Mapping[str, int]) -> float:
        """USD/h."""
        return sum(count * self.costs[name] for name, count in spares.items())

    def data(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "machines_lost": self.lost,
            "shared": dict(self.shared),
            "shared_usd_per_h": round(self.cost(self.shared), 6),
            "each_its_own": dict(self.own),
            "each_its_own_usd_per_h": round(self.cost(self.own), 6),
        }

    def text(self) -> Text:
        """In a sentence."""
        from rich.text import Text

        return Text(
            f"For any {self.lost} lost at once: {_worded(self.shared)} as spares for all, "
            f"{self.cost(self.shared):,.2f} USD/h; {_worded(self.own)} if each service had its own, "
            f"{self.cost(self.own):,.2f} USD/h."
        )


def _worded(spares: Mapping[str, int]) -> str:
    from provisioner.report.plain import printable

    return ", ".join(f"{count} {printable(name)}" for name, count in spares.items()) or "none"


def spares(plan: FleetPlan, served: Sequence[Served], lost: int) -> Spares:
    """The spares of a plan: whether a cluster does without machines is simulated.

    Raises
    ------
    InputError
        If a cluster counts parts of machines, of which several fail together.
    """
    from provisioner.fleet.spares import own_spares, shared_spares

    picked = [
        _protected(each, pick.option.evaluation)
        for each, pick in zip(served, plan.picks, strict=False)
        if pick.option is not None and pick.option.evaluation is not None
    ]
    costs = {name: box.cost_usd_per_h for each in served for name, box in each.contender.machines.items()}
    if not picked:
        return Spares(lost, {}, {}, costs)
    return Spares(lost, shared_spares(picked, lost, costs), own_spares(picked, lost, costs), costs)


def _protected(each: Served, evaluation: Evaluation) -> Protected:
    from provisioner.fleet.spares import Protected
    from provisioner.search.resilient import ResilientJudge

    cluster = evaluation.cluster
    if cluster.design.unit == "instance":
        problem = "spares are machines, and this design counts instances"
        raise InputError(Fault(problem=problem, field="--spares", value=cluster.design.name))
    setting = each.setting
    judge = ResilientJudge(cluster.design, setting.scenario.at_rate(evaluation.rate_rps), setting.precision)
    types = tuple(machine.name for machine in cluster.design.machines)
    return Protected(each.service.name, types, cluster.counts, partial(_holds, judge, cluster))


def _holds(judge: Any, cluster: Any, loss: tuple[int, ...]) -> bool:
    """Without any loss the cluster is the plan's: it passes."""
    return not any(loss) or judge.holds(cluster, loss)
