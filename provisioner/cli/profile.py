"""`provision profile`: the performance models, and how well they predict."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from provisioner.cli.options import Inputs, Outputs, shared
from provisioner.errors import Fault, InputError

if TYPE_CHECKING:
    from provisioner.perf import PerformanceModel, Validation

app = typer.Typer(help="Performance models: show the fitted knots, validate the fit.", no_args_is_help=True)

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

    output.check(outputs)
    model, machine, tensor_parallel = _parts(name)
    found = read_profile_set(open_catalog(inputs), profile).get(model, machine, tensor_parallel)
    output.hand_out(
        outputs, answer=found.to_dict(), table=lambda: _knots_table(found), csv=lambda: table_csv(_knot_rows(found))
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
    """Print the mean absolute percentage error on held-out rows, prefill and decode apart."""
    from provisioner.cli import output
    from provisioner.cli.question import open_catalog
    from provisioner.perf import read_points, validate
    from provisioner.report.answer import table_csv

    output.check(outputs)
    file = Path(measurements)
    if not file.suffix:
        file = open_catalog(inputs).find_file("profiles", measurements)
    result = validate(read_points(file).values(), splits=splits, seed=seed)
    rows = _validation_rows(result)
    output.hand_out(
        outputs,
        answer={"splits": result.splits, "seed": result.seed, "rows": result.rows, "profiles": rows},
        table=lambda: _validation_table(rows),
        csv=lambda: table_csv(rows),
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

    table = Table(
        title=f"{model.model} on {model.machine}, TP {model.tensor_parallel}: "
        f"gamma {model.gamma_s_per_token:.4g} s/token, mixed x {model.mixed_factor:g}",
        title_justify="left",
        box=box.SIMPLE_HEAD,
    )
    table.add_column("Phase")
    table.add_column("Tokens or batch", justify="right")
    table.add_column("ms", justify="right")
    for row in _knot_rows(model):
        table.add_row(row["phase"], f"{row['at']:g}", f"{row['seconds'] * 1e3:.3f}")
    return table


def _validation_rows(result: Validation) -> list[dict[str, Any]]:
    rows = [
        {
            "profile": f"{each.model}/{each.machine}/tp{each.tensor_parallel}",
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
    from rich.table import Table

    table = Table(title="Mean absolute percentage error on held-out rows", title_justify="left", box=box.SIMPLE_HEAD)
    table.add_column("Profile")
    for column in ("Rows", "Left out", "Prefill", "Decode", "Together"):
        table.add_column(column, justify="right")
    for row in rows:
        shares = (f"{row[key]:.2%}" for key in ("prefill_mape", "decode_mape", "mape"))
        table.add_row(row["profile"], str(row["rows"]), str(row["left_out"]), *shares)
    return table
