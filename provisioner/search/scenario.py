"""What a cluster is asked to do: a model, a workload, objectives. The same for every cluster of a search."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any

from provisioner.domain.design import Design
from provisioner.domain.model import Model
from provisioner.domain.slo import SloSet
from provisioner.domain.trace import RequestTrace
from provisioner.domain.value import remade
from provisioner.errors import InputError
from provisioner.metrics import Yardstick
from provisioner.perf import PerformanceModel, ProfileSet
from provisioner.traces import Demand

TYPICAL_CONTEXT = 1024.0


@dataclass(frozen=True, slots=True)
class Trial:
    """One replication: its requests, and what measures them."""

    trace: RequestTrace
    yardstick: Yardstick


@dataclass(frozen=True, kw_only=True, eq=False)
class Scenario:
    """A workload at a rate, and how clusters are judged on it.

    Parameters
    ----------
    model, slo, profiles
        What is served, what must hold, and how long iterations take.
    demand : Demand
        Every cluster gets the same requests from it (common random numbers).
    rate_rps : float
        Requests per second.
    span_s : float
        Seconds over which requests arrive.
    warmup_s : float
        Requests that arrive before are served, but not counted.
    """

    model: Model
    slo: SloSet
    profiles: ProfileSet
    demand: Demand
    rate_rps: float
    span_s: float
    warmup_s: float = 0.0
    _trials: dict[int, Trial] = field(default_factory=dict, init=False)
    _lock: Lock = field(default_factory=Lock, init=False)

    def __reduce__(self) -> tuple[Callable[[], Any], tuple[()]]:
        return remade(self)

    @property
    def users(self) -> int:
        """Users of a closed loop; 0 where requests arrive by themselves."""
        return self.trial(0).trace.users

    @property
    def asked(self) -> dict[str, float]:
        """What is asked of a cluster, for a goal: a rate, or so many users."""
        return {"users": self.users} if self.users else {"target_rps": self.rate_rps}

    def at_rate(self, rate_rps: float) -> Scenario:
        """The same requests at another rate."""
        return replace(self, rate_rps=rate_rps)

    def has_requests(self, replications: int) -> bool:
        """Whether any request of the first replications counts. None at all would meet every objective."""
        traces = (self.trial(replication).trace for replication in range(replications))
        return any(len(trace) and trace.span_s >= self.warmup_s for trace in traces)

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

    @property
    def reference(self) -> PerformanceModel:
        """What slowdowns are relative to; where there are none, the slowest that the profile set has of the model.

        Raises
        ------
        InputError
            If the profile set does not cover the machine, or has nothing of the model.
        """
        slo = self.slo
        others = [] if slo.needs_reference else [m for m in self.profiles.models.values() if m.model == self.model.name]
        if others:
            return max(others, key=lambda model: model.decode_s(1.0, TYPICAL_CONTEXT))
        try:
            return self.profiles.get(self.model.name, slo.reference_machine, slo.reference_tensor_parallel)
        except InputError as error:
            problem = f"the slowdowns of {slo.name} divide by times that profile {self.profiles.name!r} does not have"
            allowed = "a profile that has them, or an SLO set with limits in seconds"
            raise InputError(replace(error.faults[0], problem=problem, allowed=allowed)) from None

    def trial(self, replication: int) -> Trial:
        """A replication, drawn when it is first asked for. Thread-safe."""
        with self._lock:
            if replication not in self._trials:
                trace = self.demand.trace(replication, self.rate_rps, self.span_s)
                yardstick = Yardstick(self.slo, trace, self.reference, since_s=self.warmup_s)
                self._trials[replication] = Trial(trace, yardstick)
            return self._trials[replication]
