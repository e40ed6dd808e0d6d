"""Fleets: which cluster each of several services gets under shared limits, exactly (CP-SAT; by the hour HiGHS)."""

from provisioner.fleet.answer import Dropped, FleetPlan, LimitUse, Pick, Raise
from provisioner.fleet.offers import Contender, kinds, offered, shares
from provisioner.fleet.planning import plan
from provisioner.fleet.problem import Kind, Offer, Option, Problem, Totals
from provisioner.fleet.solving import Effort

__all__ = [
    "Contender",
    "Dropped",
    "Effort",
    "FleetPlan",
    "Kind",
    "LimitUse",
    "Offer",
    "Option",
    "Pick",
    "Problem",
    "Raise",
    "Totals",
    "kinds",
    "offered",
    "plan",
    "shares",
]
