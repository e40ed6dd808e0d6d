"""What the catalog holds as plain data: an entry a row, with units in the keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from provisioner.domain.design import Design
from provisioner.domain.machine import Machine
from provisioner.domain.model import Model
from provisioner.domain.slo import SloSet
from provisioner.traces import SizeTable
from provisioner.traces.distribution import Distribution

Entry = Machine | Model | Design | SloSet | SizeTable | None
Row = dict[str, Any]


def rows(entries: Mapping[str, Entry]) -> list[Row]:
    """A row for each entry by name, or for each objective of an SLO set; of what has no values, the name."""
    return [{"name": name, **values} for name, entry in entries.items() for values in _values(entry)]


def lengths(sizes: SizeTable) -> tuple[Distribution, Distribution]:
    """How prompts and outputs are distributed."""
    return _distribution(sizes.prompt_tokens, sizes.count), _distribution(sizes.output_tokens, sizes.count)


def _distribution(values: Any, counts: Any) -> Distribution:
    found, place = np.unique(values, return_inverse=True)
    return Distribution(found, np.bincount(place, weights=counts).astype(np.int64))


def _values(entry: Entry) -> Sequence[Row]:
    match entry:
        case Machine():
            return [_of_machine(entry)]
        case Model():
            weights, cache = entry.weights_bytes / 1e9, entry.kv_bytes_per_token / 1e3
            return [{"layers": entry.layers, "weights_gb": weights, "kv_cache_kb_per_token": cache}]
        case Design():
            return [_of_design(entry)]
        case SloSet():
            return [
                {"metric": each.metric, "percentile": each.percentile, "limit": each.limit, "unit": each.unit}
                for each in (*entry.limits, *((entry.goodput,) if entry.goodput else ()))
            ]
        case SizeTable():
            named = zip(("prompt", "output"), lengths(entry), strict=True)
            return [{key: value for kind, each in named for key, value in _of_lengths(kind, each).items()}]
        case None:
            return [{}]


def _of_machine(machine: Machine) -> Row:
    return {
        "gpus": machine.gpus,
        "cost_usd_per_h": machine.cost_usd_per_h,
        "power_kw": machine.power_kw,
        "gpu_memory_gb": machine.hbm_bytes / 1e9,
        "interconnect_gb_per_s": machine.interconnect_bytes_per_s / 1e9,
    }


def _of_design(design: Design) -> Row:
    """A mixed machine serves prompts and tokens."""
    prompt, token = design.whole_machines[0], design.whole_machines[-1]
    return {
        "short": design.short,
        "prompt_machine": prompt.name,
        "token_machine": token.name,
        "is_mixed": design.is_mixed,
        "prompt_machine_usd_per_h": prompt.cost_usd_per_h,
        "token_machine_usd_per_h": token.cost_usd_per_h,
        "prompt_machine_kw": prompt.power_kw,
        "token_machine_kw": token.power_kw,
    }


def _of_lengths(kind: str, found: Distribution) -> Row:
    percentiles = found.percentiles((50, 90, 99))
    return {
        f"{kind}_tokens_mean": round(found.mean, 6),
        **{f"{kind}_tokens_p{percent:g}": value for percent, value in percentiles.items()},
    }
