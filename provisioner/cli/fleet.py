"""`provision fleet`: many services under shared limits."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from provisioner.cli.options import Outputs, shared
from provisioner.cli.services import Judging
from provisioner.errors import Fault, InputError

if TYPE_CHECKING:
    from provisioner.cli.services import Served
    from provisioner.fleet import Offer, Problem
    from provisioner.fleet.reading import FleetFile
    from provisioner.search import Certificate

EXAMPLE = """Examples: provision fleet fleet.yaml;
provision fleet fleet.yaml --spares 1;
provision fleet fleet.yaml --by-hour --replications 2 --json plan.json"""


@shared(Judging, Outputs)
def fleet(
    judging: Judging,
    outputs: Outputs,
    *,
    file: Annotated[Path, typer.Argument(help="The services, their limits and the goal, in YAML.", metavar="FILE")],
    by_hour: Annotated[
        bool, typer.Option("--by-hour", help="A plan for each hour, with changes between them.")
    ] = False,
    one_cluster: Annotated[
        bool, typer.Option("--one-cluster", help="One cluster that would serve each of the services alone.")
    ] = False,
    share: Annotated[
        float | None,
        typer.Option(
            help="With --one-cluster: pass for services of this share of the weight.", metavar="S", show_default="1"
        ),
    ] = None,
    spares: Annotated[
        int,
        typer.Option(help="Machines that may fail at once: how many spares do, shared.", metavar="N", min=0, max=4),
    ] = 0,
    time_limit: Annotated[float, typer.Option(help="Seconds for each integer program.", metavar="S", min=0.1)] = 60.0,
) -> None:
    """Plan clusters for many services under shared limits.

    Which cluster each gets, and what the limits cost.
    """
    from rich.console import Group

    from provisioner.cli import cover, output, services
    from provisioner.cli.console import note
    from provisioner.cli.progress import working
    from provisioner.cli.question import cores
    from provisioner.cli.warmth import get_ready
    from provisioner.fleet import Effort, plan
    from provisioner.report import answer
    from provisioner.report import fleet as report
    from provisioner.report.figures.fleet import of_fleet

    output.check(outputs)
    if one_cluster and by_hour:
        raise InputError(Fault(problem="--by-hour and --one-cluster are two questions", allowed="one of them"))
    if share is not None and not one_cluster:
        raise InputError(Fault(problem="goes with --one-cluster", field="--share", value=share))
    if spares and (by_hour or one_cluster):
        raise InputError(Fault(problem="does not go with --by-hour or --one-cluster", field="--spares", value=spares))
    if not (one_cluster or by_hour):
        check_solver()
    found, served = services.read(file, judging)
    get_ready(quiet=judging.quiet)
    for each in served:
        for text in each.setting.notes:
            note(f"{each.service.name}: {text}", quiet=judging.quiet)
    if one_cluster:
        from provisioner.cli.fleet_one import one_cluster as search

        search(found, served, judging, outputs, 1.0 if share is None else share)
        return
    if by_hour:
        _by_hour(found, served, judging, outputs, time_limit)
        return
    problem, certificates = _problem(found, served, judging)
    with working("solving", quiet=judging.quiet):
        planned = plan(problem, Effort(time_s=time_limit, threads=cores(judging)))
    goal = found.fleet.minimize or found.fleet.maximize or ""
    verb = "minimize" if found.fleet.minimize else "maximize"
    title = f"{found.fleet.name}: {'least' if found.fleet.minimize else 'most'} {goal.replace('_', ' ')}"
    shared_out = cover.spares(planned, served, spares) if spares else None
    echoed = {**services.echo(judging, served), **({"spares": spares} if spares else {})}
    output.hand_out(
        outputs,
        answer={
            **report.answer(planned, echoed, {verb: goal}, certificates),
            **({} if shared_out is None else {"spares": shared_out.data()}),
        },
        table=lambda: Group(
            report.table(planned, goal, title, certificates), *([] if shared_out is None else [shared_out.text()])
        ),
        csv=lambda: answer.table_csv([report.row(pick) for pick in planned.picks]),
        figures=lambda: of_fleet(planned, goal, title),
        quiet=judging.quiet,
    )
    if not planned.is_feasible:
        raise typer.Exit(3)


def _by_hour(found: FleetFile, served: list[Served], judging: Judging, outputs: Outputs, time_limit: float) -> None:
    from provisioner.cli import output, services
    from provisioner.cli.progress import progress
    from provisioner.cli.question import cores
    from provisioner.fleet import Effort
    from provisioner.fleet.rates import horizon, options_by_hour, planned
    from provisioner.report import answer
    from provisioner.report import day as report
    from provisioner.report.figures.day import by_hour
    from provisioner.search import Workers

    hours, faults = horizon(found, [each.rates for each in served])
    if found.fleet.minimize is None:
        problem = "a plan by the hour serves every service in full in every hour"
        faults.append(found.fault(("maximize",), problem, allowed="minimize: cost, power or machines"))
    if faults:
        raise InputError(faults)
    rates = [each.rates or (each.contender.rate_rps,) * hours for each in served]
    contenders = [each.contender for each in served]
    with (
        progress("simulating", quiet=judging.quiet, parts=len(contenders) + 1) as bar,
        Workers(cores(judging), bar, expect=bar.at_most) as workers,
    ):
        options = []
        for contender, by in zip(contenders, rates, strict=True):
            bar.part(contender.name)
            options.append(
                options_by_hour(contender, found.fleet, by, max_machines=judging.max_machines, workers=workers)[0]
            )
        bar.part("the plan")
        faults = [_unserved(found, place, judging) for place, rows in enumerate(options) if not all(rows)]
        if faults:
            raise InputError(faults)
        effort = Effort(time_s=time_limit, threads=cores(judging))
        plan = planned(contenders, found.fleet, rates, options, effort=effort, workers=workers)
    title = f"{found.fleet.name}: least {found.fleet.minimize} by the hour"
    output.hand_out(
        outputs,
        answer=report.answer(plan, services.echo(judging, served), rates),
        table=lambda: report.table(plan, title),
        csv=lambda: answer.table_csv(report.rows(plan, rates)),
        figures=lambda: [by_hour(plan, rates, title)] if plan.is_feasible else [],
        quiet=judging.quiet,
    )
    if not plan.is_feasible:
        raise typer.Exit(3)


def check_solver() -> None:
    """Fail before the work if OR-tools is not installed.

    Raises
    ------
    InputError
        If it is not.
    """
    from importlib.util import find_spec

    if find_spec("ortools") is None:
        raise InputError(
            Fault(
                problem="plans need ortools, which is not installed", allowed="pip install '.[fleet]' in the checkout"
            )
        )


def _problem(found: FleetFile, served: list[Served], judging: Judging) -> tuple[Problem, list[Certificate]]:
    """The integer program, once the clusters of every service are known.

    Raises
    ------
    InputError
        With a fault for each service that no cluster serves.
    """
    from provisioner.cli.progress import progress
    from provisioner.cli.question import cores
    from provisioner.fleet import Problem, kinds, offered, shares
    from provisioner.search import Workers

    certificates: list[Certificate] = []
    offers: list[Offer] = []
    with (
        progress("simulating", quiet=judging.quiet, parts=len(served)) as bar,
        Workers(cores(judging), bar, expect=bar.at_most) as workers,
    ):
        for each in served:
            bar.part(each.service.name)
            offer, proofs = offered(
                each.contender, found.fleet, shares(found.fleet), max_machines=judging.max_machines, workers=workers
            )
            offers.append(offer)
            certificates += proofs
    faults = [_unserved(found, place, judging) for place, offer in enumerate(offers) if not offer.options]
    if faults:
        raise InputError(faults)
    machines = {name: machine for each in served for name, machine in each.contender.machines.items()}
    problem = Problem(
        kinds=kinds(found.fleet, machines),
        offers=tuple(offers),
        limits=found.fleet.limits,
        minimize=found.fleet.minimize,
        maximize=found.fleet.maximize,
    )
    return problem, certificates


def _unserved(found: FleetFile, place: int, judging: Judging) -> Fault:
    return found.fault(
        ("services", place, "name"),
        f"no cluster of at most {judging.max_machines} machines of its designs serves it",
        found.fleet.services[place].name,
        "other designs, a lower rate or a larger --max-machines",
    )
