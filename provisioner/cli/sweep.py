"""`provision sweep`: the whole grid of counts, nine percentiles and a verdict per cell."""

from __future__ import annotations

from typing import Annotated

import typer

from provisioner.cli.options import Crew, OneDesign, Outputs, Question, shared
from provisioner.errors import Fault, InputError

EXAMPLE = """Examples: provision sweep --design HH --target-rps 70 --prompt 16:39 --token 1:12 --csv grid.csv;
provision sweep --design HH --target-rps 70 --prompt 1:200 --token 1:100 --backend dask --address tcp://host:8786
--results grid.db --resume --csv grid.csv"""
MOST_CELLS = 100_000


@shared(Question, Crew, Outputs)
def sweep(
    question: Question,
    asked: Crew,
    outputs: Outputs,
    *,
    design: OneDesign,
    prompt: Annotated[str, typer.Option(help="Counts of prompt machines, or of mixed ones.", metavar="A:B[:STEP]")],
    token: Annotated[str | None, typer.Option(help="Counts of token machines.", metavar="A:B[:STEP]")] = None,
) -> None:
    """Simulate every cluster of a grid.

    A cell that misses for certain is not simulated in further replications.
    """
    from provisioner.cli import output, ranges
    from provisioner.cli.crew import crew
    from provisioner.cli.question import prepare_one
    from provisioner.report import answer, grid
    from provisioner.report.figures import choice
    from provisioner.search import EVALUATE, Cell

    output.check(outputs)
    setting = prepare_one(question, design)
    judge = setting.judges[0]
    prompts = ranges.parse_counts(prompt, "--prompt")
    if judge.design.is_mixed != (token is None):
        wanted = "no --token for mixed machines" if judge.design.is_mixed else "counts of token machines, as 1:12"
        raise InputError(Fault(problem="does not fit the design", field="--token", value=token, allowed=wanted))
    tokens = [0] if token is None else ranges.parse_counts(token, "--token")
    if len(prompts) * len(tokens) > MOST_CELLS:
        raise InputError(Fault(problem="too many cells", field="--prompt", allowed=f"at most {MOST_CELLS:,}"))
    cells = [Cell(judge, judge.cluster(p, t)) for p in prompts for t in tokens]
    with crew(asked, quiet=question.quiet, total=len(cells)) as workers:
        found = workers.map(EVALUATE, cells)
    title = f"{judge.design.name}, {setting.title}"
    feasible = any(evaluation.is_feasible for evaluation in found)
    output.hand_out(
        outputs,
        answer=answer.of_clusters(
            found,
            setting.inputs,
            setting.scenario.asked,
            status="feasible" if feasible else "infeasible",
        ),
        table=lambda: grid.table(found, title),
        csv=lambda: answer.to_csv(found),
        figures=lambda: choice.of_grid(found, title),
        quiet=question.quiet,
    )
