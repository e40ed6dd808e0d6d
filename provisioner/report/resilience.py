"""What is said of a cluster that must do without some machines."""

from __future__ import annotations

import math
from typing import Any

from provisioner.search import Evaluation
from provisioner.search.availability import Share
from provisioner.search.evaluation import Trouble
from provisioner.search.rows import number


def data(evaluation: Evaluation) -> dict[str, Any]:
    """The keys that an answer has more, where that was asked."""
    found: dict[str, Any] = {}
    if evaluation.troubles:
        found["survival"] = [_trouble(trouble) for trouble in evaluation.troubles]
    if evaluation.share is not None:
        found["availability"] = _share(evaluation.share)
    return found


def _trouble(trouble: Trouble) -> dict[str, Any]:
    result = trouble.evaluation.binding
    return {
        "lost": trouble.lost,
        "when": "mid-run" if trouble.is_during else "from the start",
        "met": trouble.evaluation.is_feasible,
        "binding_slo": {
            "metric": result.limit.metric,
            "percentile": result.limit.percentile,
            "headroom": number(result.headroom),
        },
    }


def _share(share: Share) -> dict[str, Any]:
    return {
        "target": share.asked.target,
        "at_least": number(share.lower),
        "at_most": number(share.upper),
        "met": share.is_met,
        "mtbf_s": share.asked.mtbf_s,
        "repair_s": share.asked.repair_s,
        "states_judged": share.states,
    }


def lines(evaluation: Evaluation) -> list[str]:
    """The same in words, a line each."""
    found = []
    for trouble in evaluation.troubles:
        left = trouble.evaluation
        verdict = "passes" if left.is_feasible else "does not pass"
        found.append(f"With {trouble}, it {verdict}: {left.binding.limit.name} {left.headroom:+.0%}.")
    if evaluation.share is not None:
        found.append(f"The SLOs hold {of_share(evaluation.share)} of the time.")
    return found


def of_share(share: Share) -> str:
    """The bounds, in so many digits that they tell a share from 1."""
    digits = max(0, math.ceil(-math.log10(1.0 - share.asked.target)) - 1) + 1
    return f"{share.lower:.{digits}%} to {share.upper:.{digits}%}".replace("%", " %")
