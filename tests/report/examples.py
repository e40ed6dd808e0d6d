"""One figure of each kind, with names that mean harm."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from provisioner.report import comparison
from provisioner.report.figures import Cloud, Figure, Front, HeatMaps, Part, Scatter, Stacks, bars, cdf, curve
from provisioner.search import Certificate, Plan
from provisioner.traces.distribution import Distribution
from tests.report.made import HOSTILE, MIXED, SPLIT, evaluation

EVIL = SPLIT.model_copy(update={"name": HOSTILE[:80], "short": HOSTILE[:40]})
GRID = [
    evaluation((prompt, token), (4.5 / prompt, 0.5, 3.0 / token, math.inf if prompt == 1 else 0.5), design=EVIL)
    for prompt in range(1, 9)
    for token in range(1, 7)
]
MISSES = [evaluation((prompt, 1), (2, 2, 2, math.inf), design=EVIL) for prompt in range(1, 9)]

BEST = GRID[-1]
PLAN = Plan(
    status="optimal",
    best=BEST,
    evaluations=tuple(GRID),
    certificate=Certificate(simulated=48, excluded_by_bound=7, elapsed_s=0.1, text="every cheaper cluster fails"),
    confirmed=(19, 20),
    notes=(HOSTILE,),
)
INPUTS = {"design": [HOSTILE], "workload": "coding", "seed": 3, "version": "1.2.3", "duration_s": 120.0}
COMMAND = f"provision --design '{HOSTILE}' --target-rps 70"


def figures() -> dict[str, Figure]:
    """By kind."""
    cloud = Cloud(label=HOSTILE, measured_s=np.array([0.01, 0.1]), fitted_s=np.array([0.011, 0.09]))
    curves = [evaluation((2, 1), (rate / 20,) * 4, design=EVIL, rate_rps=rate, ci_half=0.1) for rate in (10, 20, 30)]
    curves += [evaluation((3, 1), (rate / 30,) * 4, design=EVIL, rate_rps=rate) for rate in (10, 20, 30)]
    rows = comparison.rows([GRID[-1], evaluation((4, 0), design=MIXED)], MIXED.name)
    return {
        "heatmaps": HeatMaps.of(GRID, HOSTILE),
        "misses": HeatMaps.of(MISSES, HOSTILE),
        "curve": curve.against_load(curves, HOSTILE),
        "cdf": cdf.of_distributions(
            {"Prompt (tokens)": {HOSTILE: Distribution(np.arange(1, 500), np.ones(499, np.int64))}}, HOSTILE
        ),
        "front": Front.of(GRID[-1:], GRID, HOSTILE),
        "not joined": replace(
            Front.of(GRID[-2:], GRID, HOSTILE), is_joined=False, kinds=("gets", "could have", "misses")
        ),
        "stacks": Stacks(
            title=HOSTILE,
            x_label="Share of the limit",
            rows=(HOSTILE, "Power (kW)"),
            parts=(
                Part(label=HOSTILE, lengths=(0.5, math.nan), texts=("5", "")),
                Part(label="other", lengths=(0.25, 3.0), texts=("2.5", "30")),
            ),
            is_limited=(True, False),
            ends=(f"{HOSTILE}\nsecond line", "30, no limit"),
            note=HOSTILE,
        ),
        "no front": Front.of([], MISSES, HOSTILE),
        "bars": bars.of_designs(rows, MIXED.name, HOSTILE),
        "objectives": bars.of_objectives([(HOSTILE, GRID[0])], HOSTILE),
        "scatter": Scatter(title=HOSTILE, panels=((HOSTILE, (cloud,)),), note=HOSTILE),
        "no values": curve.against_load([evaluation((2, 1), (math.nan,) * 4)], HOSTILE),
    }
