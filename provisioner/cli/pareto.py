"""`provision pareto`: the clusters of which none is better than another in everything."""

from __future__ import annotations

import typer

from provisioner.cli.options import Designs, Outputs, Question, Search, shared
from provisioner.errors import Fault, InputError

EXAMPLE = """Examples: provision pareto --target-rps 70 --csv front.csv;
provision pareto --design HH --design HA --budget-machines 20 --replications 1"""


@shared(Question, Search, Outputs)
def pareto(
    question: Question,
    search: Search,
    outputs: Outputs,
    *,
    design: Designs = None,
) -> None:
    """Find the clusters than which none is better in everything.

    In cost, power and machines at a rate, or in throughput, cost and power within a budget.
    """
    from dataclasses import replace

    from provisioner.cli import output
    from provisioner.cli.crew import crew
    from provisioner.cli.optimize import PROBE_RPS
    from provisioner.cli.question import check_affordable, parse_budget, prepare
    from provisioner.report import answer, table
    from provisioner.report.figures import choice
    from provisioner.search import pareto, pareto_of_rates

    output.check(outputs)
    budget = parse_budget(search)
    if budget is not None and question.target_rps is not None:
        raise InputError(
            Fault(
                problem="at a rate, or within a budget: not both",
                field="--target-rps",
                value=question.target_rps,
                allowed="--target-rps, or --budget-cost, --budget-power, --budget-machines",
            )
        )
    asked = question if budget is None else replace(question, target_rps=PROBE_RPS)
    setting = prepare(asked, design or ["all"]).shown_in(outputs)
    check_affordable(budget, setting.designs)
    with crew(search, quiet=question.quiet) as workers:
        if budget is None:
            front = pareto(setting.judges, max_machines=search.max_machines, workers=workers)
            title = f"Non-dominated in cost, power and machines: {setting.title}"
            goal = {"pareto": ["cost", "power", "machines"], **setting.scenario.asked}
        else:
            front = pareto_of_rates(setting.judges, budget, max_machines=search.max_machines, workers=workers)
            title = f"Non-dominated in throughput, cost and power within {budget}: {' + '.join(question.workload)}"
            goal = {"pareto": ["throughput", "cost", "power"], "budget": str(budget)}
    status = "feasible" if front.clusters else "infeasible"
    output.hand_out(
        outputs,
        answer={
            **answer.of_clusters(front.clusters, setting.inputs, goal, status=status),
            "search": answer.search(front.certificate),
            "reason": front.reason,
        },
        table=lambda: table.of_front(front, title),
        csv=lambda: answer.to_csv(front.clusters),
        figures=lambda: choice.of_front(front, title, of_rates=budget is not None),
        quiet=question.quiet,
    )
    if not front.clusters:
        raise typer.Exit(3)
