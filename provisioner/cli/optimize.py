"""`provision optimize`, the main job: the cheapest cluster at a rate, or the highest rate within a budget."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from provisioner.cli import emit as manifests
from provisioner.cli.emit import Emit
from provisioner.cli.options import Failing, Outputs, Question, Search, shared
from provisioner.errors import Fault, InputError

if TYPE_CHECKING:
    from provisioner.cli.question import Setting
    from provisioner.search import Budget, Judge, Objective, Plan, Workers

EXAMPLE = """Examples: provision --design HA --target-rps 70 --minimize cost;
provision --design HH --maximize throughput --budget-power 440;
provision --design HA --target-rps 70 --minimize cost --survive machines=1 --emit k8s manifests"""

Design = Annotated[list[str], typer.Option(help="A design by name or file; repeatable; or all.", metavar="NAME")]
Minimize = Annotated[str | None, typer.Option(help="What to spend least of.", metavar="cost|power|machines")]
Maximize = Annotated[str | None, typer.Option(help="What to get most of, within budgets.", metavar="throughput")]


@shared(Question, Search, Failing, Outputs)
def optimize(
    question: Question,
    search: Search,
    failing: Failing,
    outputs: Outputs,
    *,
    design: Design,
    minimize: Minimize = None,
    maximize: Maximize = None,
    emit: Emit = None,
) -> None:
    """Find the least cluster for a rate, or the most for a budget.

    It meets every SLO, and the answer says why nothing less does.
    """
    from provisioner.cli import output

    manifests.check(emit)
    output.check(outputs)
    goal = Goal.parse(question, search, minimize, maximize)
    from provisioner.cli.console import note
    from provisioner.cli.crew import crew
    from provisioner.cli.question import check_affordable, prepare
    from provisioner.cli.resilience import with_failures
    from provisioner.report import answer, table
    from provisioner.report.figures import choice

    setting = with_failures(prepare(goal.question, design), failing).shown_in(outputs)
    check_affordable(goal.budget, setting.designs)
    with crew(search, quiet=question.quiet) as workers:
        plan = goal.solve(setting.judges, search, workers)
    for text in (*plan.notes, *(plan.best.warnings if plan.best else ())):
        note(text, quiet=question.quiet)
    manifests.write(emit, setting, plan.best if plan.is_feasible else None, quiet=question.quiet)
    output.hand_out(
        outputs,
        answer=answer.of_plan(plan, setting.inputs, goal.echo(setting)),
        table=lambda: table.of_plan(plan, goal.title(setting)),
        csv=lambda: answer.to_csv(plan.evaluations),
        figures=lambda: choice.of_plan(plan, goal.title(setting), goal.objective),
        quiet=question.quiet,
    )
    if not plan.is_feasible:
        raise typer.Exit(3)


class Goal:
    """One of the two questions: the least at a rate, or the most within a budget."""

    def __init__(self, question: Question, objective: Objective | None, budget: Budget | None) -> None:
        self.question = question
        self.objective = objective
        self.budget = budget

    @classmethod
    def parse(cls, question: Question, search: Search, minimize: str | None, maximize: str | None) -> Goal:
        """Tell which question is asked, or why neither is.

        Raises
        ------
        InputError
            If both or neither are asked, or something that belongs to the one is missing or to the other given.
        """
        from dataclasses import replace

        from provisioner.cli.question import parse_budget, parse_objective

        budget = parse_budget(search)
        if minimize is not None and maximize is not None:
            raise _conflict("--minimize and --maximize ask two questions at once", "one of them")
        if maximize is None:
            if budget is not None:
                raise _conflict("a budget goes with --maximize throughput", "--maximize, or no --budget-...")
            return cls(question, parse_objective(minimize), None)
        if maximize != "throughput":
            raise InputError(Fault(problem="unknown goal", field="--maximize", value=maximize, allowed="throughput"))
        if budget is None:
            raise _conflict("--maximize needs a budget", "--budget-cost, --budget-power or --budget-machines")
        if question.target_rps is not None:
            raise _conflict("--maximize finds the rate: --target-rps does not go with it", "one of them")
        # A rate to begin with; the search finds its own way from there.
        return cls(replace(question, target_rps=PROBE_RPS), None, budget)

    def solve(self, judges: list[Judge], search: Search, workers: Workers) -> Plan:
        """Search for the answer."""
        from provisioner.search import maximise, minimise

        if self.budget is not None:
            return maximise(judges, self.budget, workers=workers)
        assert self.objective is not None
        return minimise(judges, self.objective, max_machines=search.max_machines, workers=workers)

    def echo(self, setting: Setting) -> dict[str, Any]:
        """The goal, as JSON has it."""
        if self.budget is None:
            return {"minimize": self.objective, **setting.scenario.asked}
        return {
            "maximize": "throughput",
            "budget_cost_usd_per_h": self.budget.cost_usd_per_h,
            "budget_power_kw": self.budget.power_kw,
            "budget_machines": self.budget.machines,
        }

    def title(self, setting: Setting) -> str:
        """The goal in words."""
        if self.budget is None:
            return f"Least {self.objective} for {setting.title}"
        return f"Most requests per second within {self.budget}: {' + '.join(self.question.workload)}"


PROBE_RPS = 10.0


def _conflict(problem: str, allowed: str) -> InputError:
    return InputError(Fault(problem=problem, allowed=allowed))
