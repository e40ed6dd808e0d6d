"""`provision simulate`: one cluster, its verdict and its SLOs."""

from __future__ import annotations

from typing import Annotated

import typer

from provisioner.cli.options import Outputs, Question, shared

EXAMPLE = "Example: provision simulate --design HH --cluster 27,3 --target-rps 70"


@shared(Question, Outputs)
def simulate(
    question: Question,
    outputs: Outputs,
    *,
    design: Annotated[str, typer.Option(help="A design by name or file.")],
    cluster: Annotated[str, typer.Option(help="Machines: 27,3 or, for mixed ones, 40.", metavar="P,T")],
) -> None:
    """Simulate one cluster and judge it against every SLO."""
    from provisioner.cli import output

    output.check(outputs)
    from provisioner.cli.console import note
    from provisioner.cli.question import parse_cluster, resolve
    from provisioner.cli.warmth import announce_compilation

    announce_compilation(quiet=question.quiet)
    from provisioner.report import answer, table
    from provisioner.search import Judge

    setting = resolve(question, [design])
    parsed = parse_cluster(setting.designs[0], cluster)
    scenario = setting.scenario
    evaluation = Judge(parsed.design, scenario).evaluate(parsed, whole=True)
    for text in (*setting.notes, *evaluation.warnings):
        note(text, quiet=question.quiet)
    title = f"{parsed.design.name} {parsed.label}, {question.workload} at {scenario.rate_rps:.4g} RPS"
    output.hand_out(
        outputs,
        answer=answer.of_evaluation(evaluation, setting.inputs, scenario.rate_rps),
        table=lambda: table.of_evaluation(evaluation, title, scenario.rate_rps),
        csv=lambda: answer.to_csv([evaluation], scenario.rate_rps),
    )
    if not evaluation.is_feasible:
        raise typer.Exit(3)
