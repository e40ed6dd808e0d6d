"""`provision fleet --one-cluster`: one cluster that would serve each of the services, in the worst case or nearly."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from provisioner.errors import Fault, InputError

if TYPE_CHECKING:
    from provisioner.cli.options import Outputs
    from provisioner.cli.services import Judging, Served
    from provisioner.fleet.reading import FleetFile
    from provisioner.search import Case


def one_cluster(found: FleetFile, served: list[Served], judging: Judging, outputs: Outputs, share: float) -> None:
    """Search for it, and show it in each case."""
    from provisioner.cli import output, services
    from provisioner.cli.progress import progress
    from provisioner.cli.question import cores
    from provisioner.report import answer
    from provisioner.report import robust as report
    from provisioner.report.figures import choice
    from provisioner.search import Workers, robust

    cases = _cases(found, served, share)
    objective = found.fleet.minimize
    assert objective is not None
    with (
        progress("simulating", quiet=judging.quiet) as bar,
        Workers(cores(judging), bar, expect=bar.at_most) as workers,
    ):
        plan = robust(cases, objective, share=share, max_machines=judging.max_machines, workers=workers)
    names = [case.name for case in cases]
    goal = {"minimize": objective, "one_cluster": True, "share": share}
    title = f"{found.fleet.name}: one cluster, least {objective}"
    output.hand_out(
        outputs,
        answer={
            **answer.of_clusters(
                plan.evaluations,
                services.echo(judging, served),
                goal,
                status=plan.status,
                extra=[{"service": name} for name, _ in zip(names, plan.evaluations, strict=False)],
            ),
            "share": plan.share,
            "search": answer.search(plan.certificate),
        },
        table=lambda: report.table(plan, names, title),
        csv=lambda: answer.table_csv(
            [{"service": name, **answer.row(each)} for name, each in zip(names, plan.evaluations, strict=False)]
        ),
        figures=lambda: choice.of_cases(list(zip(names, plan.evaluations, strict=False)), title),
        quiet=judging.quiet,
    )
    if plan.status == "infeasible":
        raise typer.Exit(3)


def _cases(found: FleetFile, served: list[Served], share: float) -> list[Case]:
    """The services as cases of the designs that all of them allow.

    Raises
    ------
    InputError
        If there is no such design, nothing to minimise, limits that one cluster does not have, or no such share.
    """
    from provisioner.domain.fleet import Limits
    from provisioner.search import Case

    common = set.intersection(*({judge.design.name for judge in each.contender.judges} for each in served))
    faults = []
    if not common:
        faults.append(found.fault(("services",), "no design is allowed for all", allowed="a design that all name"))
    if found.fleet.minimize is None:
        faults.append(found.fault(("maximize",), "one cluster takes the least", allowed="minimize"))
    for name, given in (("limits", found.fleet.limits != Limits()), ("owned", bool(found.fleet.owned))):
        if given:
            faults.append(found.fault((name,), "does not go with --one-cluster", allowed="a file without it"))
    if not 0 < share <= 1:
        faults.append(Fault(problem="out of range", field="--share", value=share, allowed="above 0, to 1"))
    if faults:
        raise InputError(faults)
    return [
        Case(
            name=each.service.name,
            judges=tuple(
                sorted(
                    (judge for judge in each.contender.judges if judge.design.name in common),
                    key=lambda judge: judge.design.name,
                )
            ),
            weight=each.service.weight,
        )
        for each in served
    ]
