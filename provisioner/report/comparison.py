"""Designs side by side: amounts relative to a baseline, the best of each column marked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich import box
from rich.console import RenderableType
from rich.text import Text

from provisioner.report.narrow import FittingTable as Table
from provisioner.report.plain import plain, printable
from provisioner.report.title import titled
from provisioner.search import Evaluation

COLUMNS = ("throughput_rps", "cost_usd_per_h", "power_kw", "machines")
_MOST_IS_BEST = {"throughput_rps"}


@dataclass(frozen=True, slots=True)
class Row:
    """One design's cluster, its amounts relative to the baseline's, and the columns in which it is best."""

    evaluation: Evaluation
    ratios: dict[str, float | None]
    best: list[str]

    @property
    def columns(self) -> dict[str, Any]:
        """The same for CSV."""
        return {
            **{f"{name}_relative": value for name, value in self.ratios.items()},
            "best_in": " ".join(self.best),
        }


def _amounts(evaluation: Evaluation) -> dict[str, float]:
    cluster = evaluation.cluster
    values = (evaluation.rate_rps, cluster.cost_usd_per_h, cluster.power_kw, float(cluster.machines))
    return dict(zip(COLUMNS, values, strict=True))


def rows(found: Sequence[Evaluation], baseline: str) -> list[Row]:
    """Relate each cluster to the baseline design's; only clusters that pass can be best."""
    base = next((_amounts(e) for e in found if e.cluster.design.name == baseline), None)
    passing = [_amounts(evaluation) for evaluation in found if evaluation.is_feasible]
    best = {
        name: (max if name in _MOST_IS_BEST else min)(amounts[name] for amounts in passing)
        for name in COLUMNS
        if passing
    }
    compared = []
    for evaluation in found:
        amounts = _amounts(evaluation)
        ratios = {
            name: None if base is None or base[name] == 0 else round(amounts[name] / base[name], 6) for name in COLUMNS
        }
        wins = [
            name
            for name in COLUMNS
            if evaluation.is_feasible and abs(amounts[name] - best[name]) <= 1e-9 * abs(best[name])
        ]
        compared.append(Row(evaluation, ratios, wins))
    return compared


def table(compared: Sequence[Row], title: str, baseline: str) -> RenderableType:
    """The comparison as people look at it."""
    if not compared:
        return Text(f"{printable(title)}: no cluster of any design passes.")
    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=0)
    shown.add_column("Design", no_wrap=True)
    shown.add_column("Cluster", no_wrap=True)
    for heading in ("RPS", "USD/h", "kW", "n"):
        shown.add_column(heading, justify="right", no_wrap=True)
    shown.add_column("Verdict", no_wrap=True)
    for row in compared:
        evaluation = row.evaluation
        amounts = _amounts(evaluation)
        cells = [_cell(amounts[name], row.ratios[name], is_best=name in row.best) for name in COLUMNS]
        binding = f"{evaluation.binding.limit.name} {evaluation.headroom:+.0%}"
        verdict = Text(binding) if evaluation.is_feasible else Text(f"{binding}!", style="bold red")
        shown.add_row(plain(evaluation.cluster.design.short), evaluation.cluster.label, *cells, verdict)
    shown.caption = f"x relative to {plain(baseline)}, * best that passes, ! misses it"
    shown.caption_justify = "left"
    return titled(title, shown)


def _cell(amount: float, ratio: float | None, *, is_best: bool) -> Text:
    text = f"{amount:,.0f}" if amount >= 1000 else f"{amount:.4g}"  # noqa: PLR2004
    if ratio is not None:
        text += f" x{ratio:.2f}"
    return Text(f"{text}*" if is_best else f"{text} ", style="bold" if is_best else "")
