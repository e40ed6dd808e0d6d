"""`provision profile import`, `import-aic` and `estimate`: profiles from measurements, another model, or a roofline."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from provisioner.cli.options import Inputs, Outputs, shared
from provisioner.errors import Fault, InputError

if TYPE_CHECKING:
    from provisioner.perf import Points
    from provisioner.perf.points import Key
    from provisioner.perf.results import Batches

MAX_PARALLEL = 1024
MAX_BATCH = 1_000_000
GOOD_FIT = 0.02
"""A mean error of the fit above this is worth a remark."""

Model = Annotated[str | None, typer.Option(help="The model's name in your catalog, or its file.", metavar="NAME")]
Machine = Annotated[str | None, typer.Option(help="The machine's name in your catalog.", metavar="NAME")]
Parallel = Annotated[int | None, typer.Option("--tp", help="Tensor parallelism.", min=1, max=MAX_PARALLEL, metavar="N")]
Out = Annotated[Path | None, typer.Option("--out", "-o", help="Write the profile's CSV there.", metavar="FILE")]
Append = Annotated[bool, typer.Option("--append", help="Keep the other profiles that --out holds.")]


IMPORT_EXAMPLE = (
    "Example: provision profile import bench.json --model my-llm --machine dgx-h100 --tp 8 --batch 16 --out my.csv"
)
ESTIMATE_EXAMPLE = "Example: provision profile estimate --model config.json --machine dgx-h100 --tp 8 --out my.csv"
AIC_EXAMPLE = (
    "Example: provision profile import-aic --aic-model meta-llama/Meta-Llama-3.1-70B --system h100_sxm "
    "--model llama-3.1-70b --machine dgx-h100 --tp 8 --out my.csv"
)


@shared(Inputs, Outputs)
def import_results(
    inputs: Inputs,
    outputs: Outputs,
    *,
    files: Annotated[list[Path], typer.Argument(help="Results of benchmarks.", metavar="FILE...")],
    model: Model = None,
    machine: Machine = None,
    tp: Parallel = None,
    batch: Annotated[
        str | None,
        typer.Option(
            help="The engine's batch in each run under load, or 'concurrency': requests decoding at a time on average.",
            metavar="N[,N...]|concurrency",
        ),
    ] = None,
    out: Out = None,
    append: Append = False,
) -> None:
    """Make a profile of benchmark results.

    Of vLLM, SGLang, GuideLLM, AIPerf, inference-perf, LLMPerf, InferenceX, or plain CSV.
    """
    from provisioner.cli import output
    from provisioner.cli.progress import progress
    from provisioner.cli.question import Faults
    from provisioner.perf.results import read_results, to_points
    from provisioner.report import imported

    output.check(outputs, out=out)
    faults = Faults()
    target = faults.of(_target, inputs, model, machine, tp)
    batches = faults.of(_parse_batches, batch)
    read = []
    with progress("reading, files", quiet=inputs.quiet, total=len(files)) as advance:
        for file in files:
            read.append(faults.of(read_results, file))
            advance(1)
    faults.raise_if_any()
    assert target is not None
    runs = [run for each in read for run in each or ()]
    found = to_points(runs, target, batches)
    rows = [imported.row(account) for account in found.accounts]
    remarks = [*imported.mixed_up(found), *imported.remarks(found)]
    sources = [imported.source(row) for row in rows]
    _finish(inputs, outputs, found.points, out, append=append, rows=rows, remarks=remarks, sources=sources)


@shared(Inputs, Outputs)
def import_aic(
    inputs: Inputs,
    outputs: Outputs,
    *,
    aic_model: Annotated[
        str | None, typer.Option(help="The model, as AIConfigurator names it.", metavar="NAME")
    ] = None,
    system: Annotated[
        str | None, typer.Option(help="The hardware, as AIConfigurator names it: h100_sxm.", metavar="NAME")
    ] = None,
    backend: Annotated[str, typer.Option(help="The engine.", metavar="vllm|trtllm|sglang")] = "vllm",
    expert_parallel: Annotated[
        int, typer.Option(help="Of --tp, for an MoE.", min=1, max=MAX_PARALLEL, metavar="N")
    ] = 1,
    model: Model = None,
    machine: Machine = None,
    tp: Parallel = None,
    out: Out = None,
    append: Append = False,
) -> None:
    """Make a profile of NVIDIA's AIConfigurator.

    Sampled on a grid, once, for any of its models and systems.
    """
    from provisioner.cli import output
    from provisioner.cli.progress import working
    from provisioner.cli.question import Faults
    from provisioner.perf import aic

    output.check(outputs, out=out)
    faults = Faults()
    target = faults.of(_target, inputs, model, machine, tp)
    for option, value in (("--aic-model", aic_model), ("--system", system)):
        if value is None:
            faults.add("missing", field=option, allowed="a name that AIConfigurator knows")
    faults.raise_if_any()
    assert target is not None
    subject = aic.Subject(model=aic_model or "", system=system or "", backend=backend, expert_parallel=expert_parallel)
    with working(f"sampling {subject.model}", quiet=inputs.quiet):
        points = aic.sample(subject, target)
    source = f"{aic.DISTRIBUTION} {aic.version()}, {subject.model} on {subject.system}, {backend}, TP {target[2]}"
    _finish(inputs, outputs, points, out, append=append, rows=[], remarks=[], sources=[f"{source}: modelled"])


@shared(Inputs, Outputs)
def estimate(
    inputs: Inputs,
    outputs: Outputs,
    *,
    model: Annotated[
        str | None, typer.Option(help="A model of the catalog, or a Hugging Face config.json.", metavar="NAME")
    ] = None,
    machine: Annotated[str | None, typer.Option(help="A machine of the catalog.", metavar="NAME")] = None,
    tp: Parallel = None,
    compute: Annotated[
        float, typer.Option(help="Share of peak FLOPs that is reached.", min=0.01, max=1, metavar="X")
    ] = 0.6,
    memory: Annotated[
        float, typer.Option(help="Share of memory bandwidth that is reached.", min=0.01, max=1, metavar="X")
    ] = 0.8,
    out: Out = None,
    append: Append = False,
) -> None:
    """Estimate a profile where nothing was measured.

    By a roofline; every answer from it says that it is an estimate.
    """
    from provisioner.cli import output
    from provisioner.cli.question import Faults, open_catalog
    from provisioner.perf.roofline import Roofline, Shares
    from provisioner.perf.roofline import estimate as sampled

    output.check(outputs, out=out)
    faults = Faults()
    catalog = open_catalog(inputs)
    for option, value in (("--model", model), ("--machine", machine), ("--tp", tp)):
        if value is None:
            faults.add("missing", field=option)
    found_model = faults.of(catalog.model, model) if model else None
    found_machine = faults.of(catalog.machine, machine) if machine else None
    faults.raise_if_any()
    assert found_model is not None
    assert found_machine is not None
    shares = Shares(compute=compute, memory=memory)
    points = sampled(Roofline(found_model, found_machine, tp or 1, shares))
    source = (
        f"roofline of {found_model.name} on {found_machine.name}, TP {tp}: {compute:g} of peak FLOPs, "
        f"{memory:g} of memory bandwidth: estimated, nothing was measured"
    )
    _finish(inputs, outputs, points, out, append=append, rows=[], remarks=[], sources=[source])


def _target(inputs: Inputs, model: str | None, machine: str | None, tp: int | None) -> Key:
    from provisioner.cli.question import Faults, open_catalog
    from provisioner.perf.checks import MAX_NAME, is_name

    faults = Faults()
    if model is not None and Path(model).suffix in (".json", ".yaml", ".yml"):
        found = faults.of(open_catalog(inputs).model, model)
        model = None if found is None else found.name
        faults.raise_if_any()
    for option, value in (("--model", model), ("--machine", machine), ("--tp", tp)):
        if value is None:
            faults.add("missing: no file tells it", field=option)
        elif isinstance(value, str) and (not is_name(value) or (option == "--machine" and "/" in value)):
            allowed = f"1 to {MAX_NAME} printable characters" + (" without '/'" if option == "--machine" else "")
            faults.add("not a name", field=option, value=value, allowed=allowed)
    faults.raise_if_any()
    return str(model), str(machine), int(tp or 0)


def _parse_batches(text: str | None) -> Batches:
    if text is None or text == "concurrency":
        return text  # type: ignore[return-value]  # narrowed to the one literal
    numbers = [each.strip() for each in text.split(",")]
    if not all(each.isascii() and each.isdecimal() and 0 < int(each[:9]) <= MAX_BATCH for each in numbers):
        allowed = f"whole numbers from 1 to {MAX_BATCH:,} with commas, or concurrency"
        raise InputError(Fault(problem="not a batch", field="--batch", value=text, allowed=allowed))
    return tuple(map(int, numbers))


def _finish(
    inputs: Inputs,
    outputs: Outputs,
    points: Points,
    out: Path | None,
    *,
    append: bool,
    rows: Sequence[dict[str, Any]],
    remarks: Sequence[str],
    sources: Sequence[str],
) -> None:
    """Write the profile, say what is wrong with it, and describe it."""
    from provisioner.cli import output
    from provisioner.cli.console import note
    from provisioner.cli.progress import working
    from provisioner.perf.coverage import remarks as coverage
    from provisioner.perf.table import merged
    from provisioner.perf.writer import to_csv
    from provisioner.report import imported
    from provisioner.report.answer import table_csv
    from provisioner.report.figures import choice
    from provisioner.report.sink import write

    profiles, kept = merged(points, out if append else None)
    with working("fitting", quiet=inputs.quiet):
        fit, poor = _fit_errors(points)
    told = [*remarks, *coverage(points), *poor]
    for text in told:
        note(text, quiet=inputs.quiet)
    if out is not None:
        write(out, to_csv(profiles, [*kept, *sources]), "--out")
    summary = imported.summary(points, fit, out)
    output.hand_out(
        outputs,
        answer={"schema_version": 1, **summary, "runs": list(rows), "warnings": told},
        table=lambda: imported.table(summary, rows),
        csv=lambda: table_csv(list(rows) or [summary]),
        figures=lambda: choice.of_points([points], points.model),
    )


def _fit_errors(points: Points) -> tuple[dict[str, float | None], list[str]]:
    """Mean errors of the fit on its own points; and why it is no good, where it is not."""
    from provisioner.perf.compared import compare

    try:
        phases = compare(points)
    except InputError as error:
        faults = "; ".join(fault.problem for fault in error.faults)
        return {"prefill": None, "decode": None}, [f"no model can be fitted to this alone: {faults}"]
    poor = [
        f"{each.phase} is fitted with a mean error of {each.mape:.1%}, worst {each.worst:.1%}"
        for each in phases
        if each.mape > GOOD_FIT
    ]
    return {each.phase: round(each.mape, 6) for each in phases}, poor
