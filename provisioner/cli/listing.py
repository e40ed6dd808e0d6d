"""`provision list`: what the catalog holds."""

from __future__ import annotations

from typing import Annotated

import typer

from provisioner.cli.options import Inputs, shared
from provisioner.errors import Fault, InputError

EXAMPLE = "Example: provision list designs"
KINDS = ("designs", "machines", "models", "workloads", "slos", "profiles", "presets")


@shared(Inputs)
def show(
    inputs: Inputs,
    *,
    kind: Annotated[str | None, typer.Argument(help="Only one kind.", metavar="|".join(KINDS))] = None,
) -> None:
    """List what can be named.

    Your own folders come first, then what is shipped.
    """
    from provisioner.cli.console import answers
    from provisioner.cli.question import open_catalog
    from provisioner.report.plain import printable

    if kind is not None and kind not in KINDS:
        raise InputError(Fault(problem="unknown kind", field="list", value=kind, allowed=", ".join(KINDS)))
    catalog = open_catalog(inputs)
    console = answers()
    for each in (kind,) if kind else KINDS:
        names = [printable(name) for name in catalog.names(each)]
        if kind:
            console.print("\n".join(names), markup=False, soft_wrap=True)
        else:
            console.print(f"{each}: {', '.join(names)}", markup=False)
