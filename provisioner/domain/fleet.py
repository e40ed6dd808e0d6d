"""A fleet: several services under shared limits, as its file has it."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from provisioner.domain.value import Value

Minimize = Literal["cost", "power", "machines"]
Maximize = Literal["throughput", "smallest_share"]


class Period(Value):
    """A rate from one hour to another, `from_hour` included."""

    from_hour: int = Field(ge=0, le=8784)
    to_hour: int = Field(ge=1, le=8784)
    rps: float = Field(gt=0.0, le=1e6)

    @model_validator(mode="after")
    def _ends_after_it_starts(self) -> Self:
        if self.to_hour <= self.from_hour:
            raise ValueError("to_hour must be after from_hour")
        return self


class Service(Value):
    """What is served to some users: requests, a model, objectives, and what that is worth.

    Its rate is given as `target_rps`, as `hourly_rps`, as `hours`, as `rates_from`, or by a trace file as `workload`.
    """

    name: str = Field(min_length=1, max_length=40)
    workload: str = Field(default="coding", min_length=1, max_length=1000)
    """A workload of the catalog, or a trace file."""
    model: str = Field(default="bloom-176b", min_length=1, max_length=1000)
    slo: str = Field(default="splitwise", min_length=1, max_length=1000)
    profile: str = Field(default="splitwise", min_length=1, max_length=1000)
    designs: tuple[str, ...] = Field(default=("all",), min_length=1, max_length=100)
    """The designs that may serve it."""
    weight: float = Field(default=1.0, gt=0.0, le=1e6)
    """What one of its requests is worth beside those of other services."""
    target_rps: float | None = Field(default=None, gt=0.0, le=1e6)
    hourly_rps: tuple[float, ...] | None = Field(default=None, min_length=1, max_length=8784)
    """Requests per second of each hour, from the first."""
    hours: tuple[Period, ...] | None = Field(default=None, min_length=1, max_length=1000)
    """The same as periods, which must follow each other without a gap."""
    rates_from: str | None = Field(default=None, min_length=1, max_length=1000)
    """A trace file whose arrivals, hour by hour, are the rates."""

    @property
    def rates(self) -> tuple[float, ...] | None:
        """Rate of each hour, None where the file gives none."""
        if self.hours is not None:
            ordered = sorted(self.hours, key=lambda period: period.from_hour)
            return tuple(period.rps for period in ordered for _ in range(period.from_hour, period.to_hour))
        return self.hourly_rps


class Rack(Value):
    """So many racks alike: each feeds so much power and has room for so many machines."""

    name: str = Field(min_length=1, max_length=40)
    count: int = Field(ge=1, le=10_000)
    power_kw: float = Field(gt=0.0, le=1e6)
    slots: int = Field(ge=1, le=24)


class Limits(Value):
    """What the fleet as a whole may take; None is no limit."""

    cost_usd_per_h: float | None = Field(default=None, gt=0.0, le=1e9)
    """Money still to be spent: what is sunk in machines owned does not count."""
    power_kw: float | None = Field(default=None, gt=0.0, le=1e9)
    machines: int | None = Field(default=None, ge=1, le=1_000_000)
    machines_of: dict[str, int] = Field(default={})
    """Machines at most, by type."""
    racks: tuple[Rack, ...] = Field(default=(), max_length=20)
    """Where every machine must stand, if any are given."""


class Owned(Value):
    """Machines of one type that are there already."""

    machines: int = Field(ge=1, le=1_000_000)
    sunk_usd_per_h: float | None = Field(default=None, ge=0.0, le=1e9)
    """What each costs whether it is used or not; None for its whole price, so that using it costs nothing more."""


class Day(Value):
    """Plans by the hour: what machines cost that come and go, and what it takes to give one another role.

    Prices are parts of a machine's `cost_usd_per_h`; None for what is not to be had.
    """

    reserved: float = Field(default=1.0, gt=0.0, le=100.0)
    """Of a machine kept for all hours."""
    on_demand: float | None = Field(default=None, gt=0.0, le=100.0)
    """Of a machine kept for single hours."""
    spot: float | None = Field(default=None, gt=0.0, le=100.0)
    """Of one that may be taken away."""
    spot_machines: dict[str, int] = Field(default={})
    """Spot machines at most, by type."""
    change_s: float = Field(default=300.0, ge=0.0, le=86400.0)
    """Seconds in which a machine that changes its role, or its service and so its model, serves nothing."""
    change_usd: float = Field(default=0.0, ge=0.0, le=1e6)
    """Cost of one such change, or start."""
    levels: int = Field(default=6, ge=1, le=50)
    """Rates for which clusters are searched: so many equal parts of a service's highest; each hour's is rounded up."""


class Fleet(Value):
    """Services, what they may take together, and what is wanted of them."""

    name: str = Field(default="fleet", min_length=1, max_length=80)
    services: tuple[Service, ...] = Field(min_length=1, max_length=200)
    limits: Limits = Limits()
    owned: dict[str, Owned] = Field(default={})
    """By machine type."""
    minimize: Minimize | None = None
    maximize: Maximize | None = None
    day: Day = Day()
    share_steps: int = Field(default=5, ge=1, le=20)
    """Where not all has to be served: a service gets any of so many equal steps of its rate."""

    @model_validator(mode="after")
    def _has_one_goal(self) -> Self:
        if (self.minimize is None) == (self.maximize is None):
            raise ValueError(
                "a fleet has one goal: minimize cost, power or machines; or maximize throughput or smallest_share"
            )
        return self
