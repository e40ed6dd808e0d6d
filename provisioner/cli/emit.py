"""`--emit TARGET DIR`: the answer as manifests."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from provisioner.errors import Fault, InputError

if TYPE_CHECKING:
    from provisioner.cli.question import Setting
    from provisioner.search import Evaluation

Emit = Annotated[
    tuple[str, Path] | None,
    typer.Option(help="Write manifests of the cluster into a new folder: k8s, dynamo or llm-d.", metavar="TARGET DIR"),
]


def check(emit: tuple[str, Path] | None) -> None:
    """Fail before the work if the target is unknown, or the folder could not be written after it.

    Raises
    ------
    InputError
        If so.
    """
    if emit is None:
        return
    from provisioner.report.manifests import TARGETS
    from provisioner.report.sink import check_folder

    target, folder = emit
    if target not in TARGETS:
        raise InputError(
            Fault(
                problem="unknown target", field="--emit", value=target, allowed=f"{', '.join(TARGETS)}, then a folder"
            )
        )
    check_folder(folder, "--emit")


def write(emit: tuple[str, Path] | None, setting: Setting, evaluation: Evaluation | None, *, quiet: bool) -> None:
    """Write the manifests of a cluster that meets its SLOs; say so where none does."""
    from provisioner.cli.console import note

    if emit is None:
        return
    if evaluation is None or not evaluation.is_feasible:
        note(f"nothing to deploy: {emit[1]} is not written", quiet=quiet)
        return
    from provisioner.report.manifests import Deployment, files
    from provisioner.report.sink import write_folder

    cluster = evaluation.cluster
    summary = f"{cluster.design.name} {cluster.label}, planned for {setting.title}."
    deployment = Deployment.of(cluster, setting.scenario.model.name, summary)
    write_folder(emit[1], files(emit[0], deployment), "--emit")
