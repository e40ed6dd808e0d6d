"""`provision profile`: the performance models, and how well they predict."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from provisioner.cli import profile_make
from provisioner.cli.options import Inputs, Outputs, shared
from provisioner.errors import Fault, InputError

if TYPE_CHECKING:
    from provisioner.perf import PerformanceModel, Points, Validation
    from provisioner.perf.compared import Compared

app = typer.Typer(
    help="Performance models: import measurements, fit them, validate the fit, show the knots.", no_args_is_help=True
)
app.command("import", epilog=profile_make.IMPORT_EXAMPLE)(profile_make.import_results)
app.command("import-aic", epilog=profile_make.AIC_EXAMPLE)(profile_make.import_aic)
app.command("estimate", epilog=profile_make.ESTIMATE_EXAMPLE)(profile_make.estimate)

DEFAULT_SET = "splitwise"


@app.command("show", epilog="Example: provision profile show bloom-176b/dgx-a100 --json")
@shared(Inputs, Outputs)
def show(
    inputs: Inputs,
    outputs: Outputs,
    *,
    name: Annotated[str, typer.Argument(help="MODEL/MACHINE, or MODEL/MACHINE/tp4 for another tensor parallelism.")],
    profile: Annotated[str, typer.Option(help="A profile set, by name or file.")] = DEFAULT_SET,
) -> None:
    """Print the knots that the simulator uses for one model on one machine."""
    from provisioner.cli import output
    from provisioner.cli.question import open_catalog, read_profile_set
    from provisioner.report.answer import table_csv
    from provisioner.report.figures import choice

    output.check(outputs)
    model, machine, tensor_parallel = _parts(name)
    found = read_profile_set(open_catalog(inputs), profile).get(model, machine, tensor_parallel)
    output.hand_out(
        outputs,
        answer=found.to_dict(),
        table=lambda: _knots_table(found),
        csv=lambda: table_csv(_knot_rows(found)),
        figures=lambda: choice.of_model(found),
    )


@app.command("validate", epilog="Example: provision profile validate")
@shared(Inputs, Outputs)
def validate(
    inputs: Inputs,
    outputs: Outputs,
    *,
    measurements: Annotated[
        str, typer.Argument(help="A CSV file of measured points, or the name of a profile set made of them.")
    ] = DEFAULT_SET,
    splits: Annotated[int, typer.Option(help="Seeded 80:20 splits.", min=1, max=10_000)] = 50,
    seed: Annotated[int, typer.Option(help="Fixes the splits.", min=0)] = 0,
) -> None:
    """Print the mean absolute percentage error on held-out rows, and name cells and ranges not to be relied on."""
    from provisioner.cli import output
    from provisioner.cli.console import note
    from provisioner.cli.question import open_catalog
    from provisioner.perf import read_points, validate
    from provisioner.perf.coverage import remarks
    from provisioner.perf.validate import axis_errors
    from provisioner.report.answer import table_csv
    from provisioner.report.figures import choice

    output.check(outputs)
    file = open_catalog(inputs).find_file("profiles", measurements)
    profiles = list(read_points(file).values())
    result = validate(profiles, splits=splits, seed=seed)
    rows = _validation_rows(result)
    for points, row in zip(profiles, rows, strict=False):
        row["axes"] = axis_errors(points)
        row["warnings"] = list(remarks(points))
        for text in row["warnings"]:
            note(f"{row['profile']}: {text}", quiet=inputs.quiet)
    output.hand_out(
        outputs,
        answer={"splits": result.splits, "seed": result.seed, "rows": result.rows, "profiles": _finite(rows)},
        table=lambda: _validation_table(rows),
        csv=lambda: table_csv([{key: value for key, value in row.items() if key in rows[-1]} for row in rows]),
        figures=lambda: choice.of_points(profiles, file.stem),
    )


@app.command("fit", epilog="Example: provision profile fit my.csv --csv compared.csv")
@shared(Inputs, Outputs)
def fit_profile(
    inputs: Inputs,
    outputs: Outputs,
    *,
    measurements: Annotated[
        str, typer.Argument(help="A CSV file of measured points, or the name of a profile set made of them.")
    ] = DEFAULT_SET,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write the fitted knots there, as JSON.", metavar="FILE")
    ] = None,
) -> None:
    """Fit the performance models; measured against fitted times go to --csv."""
    from provisioner.cli import output
    from provisioner.cli.console import note
    from provisioner.cli.question import open_catalog
    from provisioner.perf import fit, read_points
    from provisioner.perf.compared import compare
    from provisioner.perf.coverage import remarks
    from provisioner.perf.knots import to_json
    from provisioner.report.answer import table_csv
    from provisioner.report.figures import choice
    from provisioner.report.sink import write

    output.check(outputs, out=out)
    file = open_catalog(inputs).find_file("profiles", measurements)
    profiles = list(read_points(file).values())
    models = [fit(points) for points in profiles]
    compared = [compare(points, model) for points, model in zip(profiles, models, strict=True)]
    warnings = [f"{_label(points.key)}: {text}" for points in profiles for text in remarks(points)]
    for text in warnings:
        note(text, quiet=inputs.quiet)
    if out is not None:
        write(out, to_json(models, f"fitted to {file.name}"), "--out")
    rows = [
        {
            "profile": _label(points.key),
            "origin": points.origin,
            "knots": len(model.prefill_tokens) + len(model.decode_batch),
            "gamma_s_per_token": model.gamma_s_per_token,
            **{f"{each.phase}_mape": each.mape for each in phases},
            **{f"{each.phase}_worst": each.worst for each in phases},
        }
        for points, model, phases in zip(profiles, models, compared, strict=True)
    ]
    output.hand_out(
        outputs,
        answer={"schema_version": 1, "profiles": _finite(rows), "warnings": warnings},
        table=lambda: _fit_table(rows),
        csv=lambda: table_csv([row for each in zip(profiles, compared, strict=True) for row in _compared_rows(*each)]),
        figures=lambda: choice.of_points(profiles, file.stem),
    )


def _parts(name: str) -> tuple[str, str, int]:
    match name.split("/"):
        case [model, machine]:
            return model, machine, 8
        case [model, machine, tp] if tp.startswith("tp") and tp[2:].isdecimal() and len(tp) < 7:  # noqa: PLR2004
            return model, machine, int(tp[2:])
    raise InputError(
        Fault(problem="not a profile", field="NAME", value=name, allowed="MODEL/MACHINE or MODEL/MACHINE/tp4")
    )


def _knot_rows(model: PerformanceModel) -> list[dict[str, Any]]:
    rows = [
        {"phase": "prefill", "at": tokens, "seconds": seconds}
        for tokens, seconds in zip(model.prefill_tokens.tolist(), model.prefill_seconds.tolist(), strict=True)
    ]
    rows += [
        {"phase": "decode", "at": batch, "seconds": seconds}
        for batch, seconds in zip(model.decode_batch.tolist(), model.decode_seconds.tolist(), strict=True)
    ]
    return rows


def _knots_table(model: PerformanceModel) -> Any:
    from rich import box
    from rich.table import Table

    from provisioner.report.plain import plain

    table = Table(
        title=plain(
            f"{model.model} on {model.machine}, TP {model.tensor_parallel}: "
            f"gamma {model.gamma_s_per_token:.4g} s/token, mixed x {model.mixed_factor:g}"
            + ("" if model.origin == "measured" else f"; {model.origin}, not measured")
        ),
        title_justify="left",
        box=box.SIMPLE_HEAD,
    )
    table.add_column("Phase")
    table.add_column("Tokens or batch", justify="right")
    table.add_column("ms", justify="right")
    for row in _knot_rows(model):
        table.add_row(row["phase"], f"{row['at']:g}", f"{row['seconds'] * 1e3:.3f}")
    return table


def _finite(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows with None for what is no number, as JSON has none such."""

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: plain(each) for key, each in value.items()}
        return None if isinstance(value, float) and not math.isfinite(value) else value

    return [plain(row) for row in rows]


def _compared_rows(points: Points, phases: tuple[Compared, Compared]) -> list[dict[str, Any]]:
    return [
        {
            "profile": _label(points.key),
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


def _fit_table(rows: list[dict[str, Any]]) -> Any:
    from rich import box
    from rich.table import Table

    from provisioner.report.plain import plain

    table = Table(title="Error of the fit on its own points: mean (worst)", title_justify="left", box=box.SIMPLE_HEAD)
    table.add_column("Profile", overflow="fold")
    table.add_column("Origin")
    for column in ("Knots", "Prefill", "Decode"):
        table.add_column(column, justify="right")
    for row in rows:
        errors = (f"{row[f'{phase}_mape']:.2%} ({row[f'{phase}_worst']:.1%})" for phase in ("prefill", "decode"))
        table.add_row(plain(row["profile"]), row["origin"], str(row["knots"]), *errors)
    return table


def _label(key: tuple[str, str, int]) -> str:
    return f"{key[0]}/{key[1]}/tp{key[2]}"


def _validation_rows(result: Validation) -> list[dict[str, Any]]:
    rows = [
        {
            "profile": _label((each.model, each.machine, each.tensor_parallel)),
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


def _validation_table(rows: list[dict[str, Any]]) -> Any:
    from rich import box
    from rich.console import Group
    from rich.table import Table

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
        axes.add_column(name.capitalize(), justify="right")
    for row in rows[:-1]:
        axes.add_row(row["profile"], *(_share(row["axes"][name]) for name in names))
    return Group(table, axes)


def _share(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.2%}"
