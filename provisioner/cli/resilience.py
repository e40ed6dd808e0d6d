"""What a cluster must do without, from options: `--survive`, `--availability`."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from provisioner.cli import durations
from provisioner.cli.options import Failing
from provisioner.cli.question import Faults, Setting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from provisioner.domain.design import Design
    from provisioner.search.availability import Availability
    from provisioner.search.survive import Survive


def with_failures(setting: Setting, failing: Failing) -> Setting:
    """The same question of clusters that must do without some machines, if that is asked.

    Raises
    ------
    InputError
        With all faults of the options.
    """
    faults = Faults()
    _check_pairs(failing, faults)
    survive = _survive(failing, setting, faults)
    availability = _availability(failing, faults)
    faults.raise_if_any()
    if survive is None and availability is None:
        return setting
    asked = {
        "survive": failing.survive,
        "fail_at_s": survive.fail_at_s if survive else None,
        "repair": failing.repair,
        "availability": failing.availability,
        "mtbf": failing.mtbf,
    }
    wanted = [
        *([f"surviving {failing.survive}"] if survive else []),
        *([f"{failing.availability:.6g} of the time"] if availability else []),
    ]
    return replace(
        setting,
        survive=survive,
        availability=availability,
        title=f"{setting.title}, {' and '.join(wanted)}",
        inputs={**setting.inputs, **asked},
    )


def _check_pairs(failing: Failing, faults: Faults) -> None:
    """Refuse what would be ignored, and what is missing."""
    if failing.survive is None and failing.fail_at is not None:
        faults.add("does nothing without --survive", field="--fail-at", value=failing.fail_at)
    if failing.survive is None and failing.availability is None and failing.repair is not None:
        faults.add("does nothing without --survive or --availability", field="--repair", value=failing.repair)
    if failing.availability is None and failing.mtbf is not None:
        faults.add("does nothing without --availability", field="--mtbf", value=failing.mtbf)
    if failing.availability is not None and (failing.mtbf is None or failing.repair is None):
        faults.add(
            "needs to know how often machines fail, and for how long",
            field="--availability",
            value=failing.availability,
            allowed="with --mtbf and --repair, as --mtbf 1000h --repair 4h",
        )


def _survive(failing: Failing, setting: Setting, faults: Faults) -> Survive | None:
    from provisioner.search.survive import MOST_LOST, Survive

    if failing.survive is None:
        return None
    terms = []
    for part in failing.survive.split(","):
        name, _, count = part.strip().partition("=")
        if not count.isdecimal() or not 0 < int(count) <= MOST_LOST:
            allowed = f"names with counts from 1 to {MOST_LOST}, as prompt=1,token=1 or machines=1"
            faults.add("not a loss of machines", field="--survive", value=part, allowed=allowed)
        else:
            terms.append((name, int(count)))
            _check_name(name, setting.designs, faults)
    if len(dict(terms)) < len(terms):
        faults.add("names the same machines twice", field="--survive", value=failing.survive, allowed="each once")
    if sum(count for _, count in terms) > MOST_LOST:
        faults.add("too many to try", field="--survive", value=failing.survive, allowed=f"{MOST_LOST} in all")
    span_s = setting.scenario.span_s
    if setting.scenario.users and failing.fail_at is None:
        faults.add("needed where users wait for answers", field="--fail-at", allowed="seconds from the start")
    at_s = span_s / 2 if failing.fail_at is None else failing.fail_at
    if not 0 <= at_s < span_s:
        faults.add("not within the run", field="--fail-at", value=at_s, allowed=f"0 to below {span_s:g}")
    repair_s = faults.of(durations.parse, failing.repair, "--repair") if failing.repair is not None else math.inf
    return Survive(tuple(terms), at_s, repair_s or math.inf)


def _check_name(name: str, designs: Sequence[Design], faults: Faults) -> None:
    from provisioner.search.survive import terms_of

    for design in designs:
        if name not in terms_of(design):
            faults.add(
                f"not machines of {design.short}", field="--survive", value=name, allowed=", ".join(terms_of(design))
            )


def _availability(failing: Failing, faults: Faults) -> Availability | None:
    from provisioner.search.availability import Availability

    if failing.availability is None or failing.mtbf is None or failing.repair is None:
        return None
    if not 0 < failing.availability < 1:
        faults.add("out of range", field="--availability", value=failing.availability, allowed="a share, as 0.999")
    mtbf_s = faults.of(durations.parse, failing.mtbf, "--mtbf")
    repair_s = faults.of(durations.parse, failing.repair, "--repair")
    return Availability(failing.availability, mtbf_s, repair_s) if mtbf_s and repair_s else None
