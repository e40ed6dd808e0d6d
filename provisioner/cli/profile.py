"""`provision profile`: the performance models, and how well they predict."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from provisioner.cli import profile_make
from provisioner.cli.options import Inputs, Outputs, shared
from provisioner.errors import Fault, InputError

app = typer.Typer(help="Performance models: import, fit, validate, show.", no_args_is_help=True)
app.command("import", epilog=profile_make.IMPORT_EXAMPLE)(profile_make.import_results)
app.command("import-aic", epilog=profile_make.AIC_EXAMPLE)(profile_make.import_aic)
app.command("estimate", epilog=profile_make.ESTIMATE_EXAMPLE)(profile_make.estimate)

DEFAULT_SET = "splitwise"
Made = TypeVar("Made")


@app.command("show", epilog="Example: provision profile show bloom-176b/dgx-a100 --json")
@shared(Inputs, Outputs)
def show(
    inputs: Inputs,
    outputs: Outputs,
    *,
    name: Annotated[str, typer.Argument(help="MODEL/MACHINE, or MODEL/MACHINE/tp4 for another tensor parallelism.")],
    profile: Annotated[str, typer.Option(help="A profile set, by name or file.", metavar="NAME")] = DEFAULT_SET,
) -> None:
    """Print the knots of one model on one machine.

    They are what the simulator uses.
    """
    from provisioner.cli import output
    from provisioner.cli.question import open_catalog, read_profile_set
    from provisioner.report import profile as shown
    from provisioner.report.answer import table_csv
    from provisioner.report.figures import choice

    output.check(outputs)
    model, machine, tensor_parallel = _parts(name)
    found = read_profile_set(open_catalog(inputs), profile).get(model, machine, tensor_parallel)
    output.hand_out(
        outputs,
        answer=found.to_dict(),
        table=lambda: shown.of_knots(found),
        csv=lambda: table_csv(shown.knot_rows(found)),
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
    splits: Annotated[int, typer.Option(help="Seeded 80:20 splits.", min=1, max=10_000, metavar="N")] = 50,
    seed: Annotated[int, typer.Option(help="Fixes the splits.", min=0, metavar="N")] = 0,
) -> None:
    """Print how far a profile is off on held-out rows.

    As mean absolute percentage errors; cells and ranges not to be relied on are named.
    """
    from provisioner.cli import output
    from provisioner.cli.console import note
    from provisioner.cli.progress import progress
    from provisioner.perf import read_points, validate
    from provisioner.perf.coverage import remarks
    from provisioner.perf.validate import axis_errors
    from provisioner.report import profile as shown
    from provisioner.report.answer import table_csv
    from provisioner.report.figures import choice

    output.check(outputs)
    file = _file_of(inputs, measurements)
    profiles = list(read_points(file).values())
    with progress("validating", quiet=inputs.quiet, total=len(profiles) * (splits + 1)) as advance:
        result = validate(profiles, splits=splits, seed=seed, watch=advance)
        axes = list(_done(map(axis_errors, profiles), advance))
    rows = shown.validation_rows(result)
    for points, row, along in zip(profiles, rows, axes, strict=False):
        row["axes"] = along
        row["warnings"] = list(remarks(points))
        for text in row["warnings"]:
            note(f"{row['profile']}: {text}", quiet=inputs.quiet)
    output.hand_out(
        outputs,
        answer={"splits": result.splits, "seed": result.seed, "rows": result.rows, "profiles": shown.finite(rows)},
        table=lambda: shown.of_validation(rows),
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
    """Fit the performance models.

    Measured against fitted times go to --csv.
    """
    from provisioner.cli import output
    from provisioner.cli.console import note
    from provisioner.cli.progress import progress
    from provisioner.perf import fit, read_points
    from provisioner.perf.compared import compare
    from provisioner.perf.coverage import remarks
    from provisioner.perf.knots import to_json
    from provisioner.perf.points import label
    from provisioner.report import profile as shown
    from provisioner.report.answer import table_csv
    from provisioner.report.figures import choice
    from provisioner.report.sink import write

    output.check(outputs, out=out)
    file = _file_of(inputs, measurements)
    profiles = list(read_points(file).values())
    with progress("fitting", quiet=inputs.quiet, total=len(profiles)) as advance:
        models = list(_done(map(fit, profiles), advance))
    compared = [compare(points, model) for points, model in zip(profiles, models, strict=True)]
    warnings = [f"{label(points.key)}: {text}" for points in profiles for text in remarks(points)]
    for text in warnings:
        note(text, quiet=inputs.quiet)
    if out is not None:
        write(out, to_json(models, f"fitted to {file.name}"), "--out")
    rows = [
        {
            "profile": label(points.key),
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
        answer={"schema_version": 1, "profiles": shown.finite(rows), "warnings": warnings},
        table=lambda: shown.of_fit(rows),
        csv=lambda: table_csv(
            [row for each in zip(profiles, compared, strict=True) for row in shown.compared_rows(*each)]
        ),
        figures=lambda: choice.of_points(profiles, file.stem),
    )


def _done(each: Iterable[Made], advance: Callable[[int], None]) -> Iterator[Made]:
    """The same, with a step told for each."""
    for made in each:
        advance(1)
        yield made


def _file_of(inputs: Inputs, measurements: str) -> Path:
    """A file by its path, or a profile set by its name."""
    from provisioner.cli.question import open_catalog

    file = Path(measurements)
    return file if file.suffix else open_catalog(inputs).find_file("profiles", measurements)


def _parts(name: str) -> tuple[str, str, int]:
    match name.split("/"):
        case [model, machine]:
            return model, machine, 8
        case [model, machine, tp] if tp.startswith("tp") and tp[2:].isdecimal() and len(tp) < 7:  # noqa: PLR2004
            return model, machine, int(tp[2:])
    raise InputError(
        Fault(problem="not a profile", field="NAME", value=name, allowed="MODEL/MACHINE or MODEL/MACHINE/tp4")
    )
