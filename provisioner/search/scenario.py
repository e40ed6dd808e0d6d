"""What a cluster is asked to do: a model, a workload, objectives. The same for every cluster of a search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from provisioner.domain.design import Design
from provisioner.domain.model import Model
from provisioner.domain.slo import SloSet
from provisioner.domain.trace import RequestTrace
from provisioner.metrics import Yardstick
from provisioner.perf import PerformanceModel, ProfileSet


@dataclass(frozen=True, kw_only=True, eq=False)
class Scenario:
    """Replications of one workload, and how they are judged.

    Parameters
    ----------
    model, slo, profiles
        What is served, what must hold, and how long iterations take.
    traces : tuple of RequestTrace
        One per replication; every cluster gets the same ones (common random numbers).
    span_s : float
        Seconds over which requests arrive.
    rate_rps : float
        Requests per second, as asked for or as recorded.
    """

    model: Model
    slo: SloSet
    profiles: ProfileSet
    traces: tuple[RequestTrace, ...]
    span_s: float
    rate_rps: float

    def performance(self, design: Design) -> Mapping[str, PerformanceModel]:
        """Performance model of each machine of a design, by machine name.

        Raises
        ------
        InputError
            If the profile set does not cover a machine.
        """
        return {
            machine.name: self.profiles.get(self.model.name, machine.name, design.tensor_parallel)
            for machine in design.machines
        }

    @cached_property
    def yardsticks(self) -> tuple[Yardstick, ...]:
        """One for each replication."""
        reference = self.profiles.get(self.model.name, self.slo.reference_machine, 8)
        return tuple(Yardstick(self.slo, trace, reference) for trace in self.traces)
