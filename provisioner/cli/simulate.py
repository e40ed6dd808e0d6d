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
    from provisioner.cli.question import parse_cluster, prepare
    from provisioner.report import answer, table

    setting = prepare(question, [design])
    parsed = parse_cluster(setting.designs[0], cluster)
    evaluation = setting.judge(parsed.design).evaluate(parsed, whole=True)
    for text in evaluation.warnings:
        note(text, quiet=question.quiet)
    output.hand_out(
        outputs,
        answer=answer.of_evaluation(evaluation, setting.inputs),
        table=lambda: table.of_evaluation(evaluation, f"{parsed.design.name} {parsed.label}, {setting.title}"),
        csv=lambda: answer.to_csv([evaluation]),
    )
    if not evaluation.is_feasible:
        raise typer.Exit(3)
