"""Profiles as tables and rows: knots, fitted against measured times, errors on rows held out."""

from __future__ import annotations

import math
from typing import Any

from rich import box
from rich.console import Group, RenderableType

from provisioner.perf import Compared, PerformanceModel, Points, Validation
from provisioner.perf.points import label
from provisioner.report.narrow import FittingTable as Table
from provisioner.report.plain import plain
from provisioner.report.title import titled


def knot_rows(model: PerformanceModel) -> list[dict[str, Any]]:
    """Knots of both phases, one a row."""
    rows = [
        {"phase": "prefill", "at": tokens, "seconds": seconds}
        for tokens, seconds in zip(model.prefill_tokens.tolist(), model.prefill_seconds.tolist(), strict=True)
    ]
    rows += [
        {"phase": "decode", "at": batch, "seconds": seconds}
        for batch, seconds in zip(model.decode_batch.tolist(), model.decode_seconds.tolist(), strict=True)
    ]
    return rows


def of_knots(model: PerformanceModel) -> RenderableType:
    """Knots, and where they come from if not from a machine."""
    title = (
        f"{model.model} on {model.machine}, TP {model.tensor_parallel}: "
        f"gamma {model.gamma_s_per_token:.4g} s/token, mixed x {model.mixed_factor:g}"
        + ("" if model.origin == "measured" else f"; {model.origin}, not measured")
    )
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("Phase")
    table.add_column("Tokens or batch", justify="right")
    table.add_column("ms", justify="right")
    for row in knot_rows(model):
        table.add_row(row["phase"], f"{row['at']:g}", f"{row['seconds'] * 1e3:.3f}")
    return titled(title, table)


def finite(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows with None for what is no number, as JSON has none such."""

    def told(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: told(each) for key, each in value.items()}
        return None if isinstance(value, float) and not math.isfinite(value) else value

    return [told(row) for row in rows]


def compared_rows(points: Points, phases: tuple[Compared, Compared]) -> list[dict[str, Any]]:
    """Measured and fitted time of each shape, one a row."""
    return [
        {
            "profile": label(points.key),
            "origin": points.origin,
            "phase": each.phase,
            "size": size,
            "context_tokens": context,
            "measured_s": measured,
            "fitted_s": fitted,
        }
        for each in phases
        for size, context, measured, fitted in zip(
            each.size.tolist(),
            each.context_tokens.tolist(),
            each.measured_s.tolist(),
            each.fitted_s.tolist(),
            strict=True,
        )
    ]


def of_fit(rows: list[dict[str, Any]]) -> RenderableType:
    """How well each fit matches its own points."""
    table = Table(title="Error of the fit on its own points: mean (worst)", title_justify="left", box=box.SIMPLE_HEAD)
    table.add_column("Profile", overflow="fold")
    table.add_column("Origin")
    for column in ("Knots", "Prefill", "Decode"):
        table.add_column(column, justify="right")
    for row in rows:
        errors = (f"{row[f'{phase}_mape']:.2%} ({row[f'{phase}_worst']:.1%})" for phase in ("prefill", "decode"))
        table.add_row(plain(row["profile"]), row["origin"], str(row["knots"]), *errors)
    return table


def validation_rows(result: Validation) -> list[dict[str, Any]]:
    """Errors of each profile, then of all rows together."""
    rows = [
        {
            "profile": label((each.model, each.machine, each.tensor_parallel)),
            "rows": each.rows,
            "left_out": each.left_out,
            "prefill_mape": each.prefill_mape,
            "decode_mape": each.decode_mape,
            "mape": each.mape,
        }
        for each in result.profiles
    ]
    rows.append(
        {
            "profile": "all",
            "rows": result.rows,
            "left_out": result.left_out,
            "prefill_mape": result.prefill_mape,
            "decode_mape": result.decode_mape,
            "mape": result.mape,
        }
    )
    return rows


def of_validation(rows: list[dict[str, Any]]) -> RenderableType:
    """Errors on rows held out, and on whole values of each axis."""
    table = Table(title="Mean absolute percentage error on held-out rows", title_justify="left", box=box.SIMPLE_HEAD)
    table.add_column("Profile", overflow="fold")
    for column in ("Rows", "Left out", "Prefill", "Decode", "Together"):
        table.add_column(column, justify="right")
    for row in rows:
        shares = (_share(row[key]) for key in ("prefill_mape", "decode_mape", "mape"))
        table.add_row(row["profile"], str(row["rows"]), str(row["left_out"]), *shares)
    axes = Table(
        title="The same with whole values held out, along each axis", title_justify="left", box=box.SIMPLE_HEAD
    )
    axes.add_column("Profile", overflow="fold")
    names = list(rows[0]["axes"])
    for name in names:
        axes.add_column(name.capitalize().replace(" over ", "\nover "), justify="right")
    for row in rows[:-1]:
        axes.add_row(row["profile"], *(_share(row["axes"][name]) for name in names))
    return Group(table, axes)


def _share(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.2%}"
