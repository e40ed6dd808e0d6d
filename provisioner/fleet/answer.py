"""The plan of a fleet: who gets what, what that takes, and which limit it hangs on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from provisioner.fleet.problem import Kind, Offer, Option, Totals

Status = Literal["optimal", "feasible", "infeasible"]
NOT_FOUND = "none was found in the time allowed"
"""What is known where nothing is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Raise:
    """A limit that is large enough for something better, and how much better the goal would be."""

    to: float
    gain: float | None
    """In the goal's unit; None where there was no fleet at all before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitUse:
    """A limit, what the fleet uses of it, and what more of it would buy."""

    name: str
    unit: str
    limit: float
    used: float | None
    one_more: float = 0.0
    """Its shadow value: what one unit more would gain, in the goal's unit. Machines come whole, so often nothing."""
    enough: Raise | None = None
    """The least limit with which the goal would be better, all others kept; None if it does not bind."""
    is_known: bool = True
    """Whether there was time to find out whether it binds, or how much would be enough."""

    @property
    def binds(self) -> bool:
        """Whether a larger limit would make the fleet better."""
        return self.enough is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    """A service that would have to go once only this part of something could be had."""

    service: str
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Pick:
    """What a service gets; None where it is dropped."""

    offer: Offer
    option: Option | None
    cost_usd_per_h: float
    """At list price, whether or not machines are owned."""
    power_kw: float

    @classmethod
    def of(cls, offer: Offer, option: Option | None, kinds: Sequence[Kind]) -> Pick:
        """The pick with what its cluster takes."""
        bought = [replace(kind, owned=0) for kind in kinds]
        totals = Totals.of(bought, [option])
        return cls(offer=offer, option=option, cost_usd_per_h=totals.cost_usd_per_h, power_kw=totals.power_kw)

    @property
    def share(self) -> float:
        """Part of its target that is served."""
        return self.offer.share(self.option)


@dataclass(frozen=True, kw_only=True)
class FleetPlan:
    """The best fleet, or why there is none."""

    status: Status
    picks: tuple[Pick, ...] = ()
    totals: Totals | None = None
    value: float | None = None
    """What the goal amounts to."""
    bound: float | None = None
    """What no fleet of these clusters can be better than."""
    limits: tuple[LimitUse, ...] = ()
    conflict: tuple[LimitUse, ...] = ()
    """Limits that contradict each other, none of which could be left out; `used` is not known."""
    dropped_first: tuple[Dropped, ...] = ()
    unexplained: tuple[str, ...] = ()
    """Of limits, conflict and dropped_first: what is not known, or not known to be all, for want of time."""
    rationed: str | None = None
    """What `dropped_first` takes away."""
    elapsed_s: float = field(default=0.0, compare=False)

    @property
    def is_feasible(self) -> bool:
        """Whether there is a fleet within the limits."""
        return self.status != "infeasible"

    @property
    def gap(self) -> float:
        """How much better, as a share, a fleet could be at most than this one; 0 if it is proven the best."""
        if not self.value or self.bound is None:
            return 0.0
        return abs(self.value - self.bound) / abs(self.value)

    @property
    def reason(self) -> str | None:
        """Why there is no fleet."""
        return None if self.is_feasible else contradiction(self.conflict)


def contradiction(conflict: Sequence[LimitUse]) -> str:
    """Contradicting limits in words; without any, time was short."""
    named = " and ".join(f"{use.name} at most {use.limit:g} {use.unit}" for use in conflict)
    if not named:
        return NOT_FOUND
    return f"nothing is within {named}" + (": any of them may be raised" if len(conflict) > 1 else "")
