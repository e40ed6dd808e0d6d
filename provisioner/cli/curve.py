"""`provision curve`: latency against load, for one cluster or several."""

from __future__ import annotations

from typing import Annotated

import typer

from provisioner.cli.options import Crew, Outputs, Question, shared
from provisioner.errors import Fault, InputError

EXAMPLE = "Example: provision curve --design HH --cluster 27,3 --rps 30:100:10"


@shared(Question, Crew, Outputs)
def curve(
    question: Question,
    asked: Crew,
    outputs: Outputs,
    *,
    design: Annotated[list[str], typer.Option(help="A design by name or file; repeatable.", metavar="NAME")],
    cluster: Annotated[list[str], typer.Option(help="A cluster, one for each --design.", metavar="P,T")],
    rps: Annotated[str, typer.Option(help="Rates.", metavar="A:B[:STEP]")],
) -> None:
    """Simulate clusters over a range of rates.

    Each has the same requests at every rate.
    """
    from dataclasses import replace

    from rich.console import Group

    from provisioner.cli import output, ranges
    from provisioner.cli.crew import crew
    from provisioner.cli.question import parse_cluster, prepare
    from provisioner.report import answer, table
    from provisioner.report.characters import Curves
    from provisioner.report.figures import choice
    from provisioner.search import EVALUATE_WHOLE, Cell

    output.check(outputs)
    rates = ranges.parse(rps, "--rps")
    if question.target_rps is not None:
        raise InputError(Fault(problem="a curve has its rates from --rps", field="--target-rps", allowed="--rps alone"))
    if len(design) != len(cluster):
        raise InputError(
            Fault(
                problem=f"{len(cluster)} clusters for {len(design)} designs",
                field="--cluster",
                allowed="one for each --design",
            )
        )
    setting = prepare(replace(question, target_rps=rates[0]), design)
    by_name = {name: setting.catalog.design(name) for name in design}
    clusters = [parse_cluster(by_name[name], text) for name, text in zip(design, cluster, strict=True)]
    judges = {(name, rate): setting.judge(by_name[name]).at_rate(rate) for name in design for rate in rates}
    cells = [Cell(judges[name, rate], each) for name, each in zip(design, clusters, strict=True) for rate in rates]
    with crew(asked, quiet=question.quiet, total=len(cells)) as workers:
        found = workers.map(EVALUATE_WHOLE, cells)
    title = f"{' + '.join(question.workload)} against load"
    output.hand_out(
        outputs,
        answer=answer.of_clusters(found, setting.inputs, {"rps": rates}, status="feasible"),
        table=lambda: Group(table.of_curve(found, title), Curves(found)),
        csv=lambda: answer.to_csv(found),
        figures=lambda: choice.of_curve(found, title),
        quiet=question.quiet,
    )
