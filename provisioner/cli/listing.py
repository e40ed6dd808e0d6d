"""`provision list`: what the catalog holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from provisioner.cli.options import Inputs, Outputs, shared
from provisioner.errors import Fault, InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.text import Text

    from provisioner.catalog import Catalog
    from provisioner.report.listing import Entry

EXAMPLE = """Examples: provision list designs;
provision list machines --plot machines.png --csv machines.csv"""
KINDS = ("designs", "machines", "models", "workloads", "slos", "profiles", "presets")


@shared(Inputs, Outputs)
def listing(
    inputs: Inputs,
    outputs: Outputs,
    *,
    kind: Annotated[str | None, typer.Argument(help="Only one kind.", metavar="|".join(KINDS))] = None,
) -> None:
    """List what can be named.

    Your own folders come first, then what is shipped. Files have what each is, too.
    """
    from provisioner.cli import output
    from provisioner.cli.console import answers
    from provisioner.cli.question import open_catalog

    if kind is not None and kind not in KINDS:
        raise InputError(Fault(problem="unknown kind", field="list", value=kind, allowed=", ".join(KINDS)))
    output.check(outputs)
    catalog = open_catalog(inputs)
    names = {each: catalog.names(each) for each in ((kind,) if kind else KINDS)}
    if outputs == Outputs():
        answers().print(_names(names))
        return
    from provisioner.report import answer, listing
    from provisioner.report.figures.catalog import of_catalog

    entries = _read(catalog, names)
    rows = {each: listing.rows(found) for each, found in entries.items()}
    output.hand_out(
        outputs,
        answer={"schema_version": answer.SCHEMA_VERSION, "catalog": rows},
        table=lambda: _names(names),
        csv=lambda: answer.table_csv(
            rows[kind] if kind else [{"kind": each, "name": name} for each, own in names.items() for name in own]
        ),
        figures=lambda: of_catalog(entries),
        quiet=inputs.quiet,
    )


def _names(names: dict[str, tuple[str, ...]]) -> Text:
    """Of one kind a name a line, of all a line a kind."""
    from rich.text import Text

    from provisioner.report.plain import printable

    shown = {kind: [printable(name) for name in own] for kind, own in names.items()}
    if len(shown) == 1:
        return Text("\n".join(*shown.values()))
    return Text("\n".join(f"{kind}: {', '.join(own)}" for kind, own in shown.items()))


def _read(catalog: Catalog, names: dict[str, tuple[str, ...]]) -> dict[str, dict[str, Entry]]:
    """Every entry by kind and name; of profiles and presets only the names.

    Raises
    ------
    InputError
        With every fault of every entry.
    """
    from provisioner.cli.question import Faults
    from provisioner.traces import SizeTable

    def sizes(name: str) -> SizeTable:
        workload, folder = catalog.workload(name)
        return SizeTable.read(folder / workload.sizes)

    readers: dict[str, Callable[[str], Entry]] = {
        "designs": catalog.design,
        "machines": catalog.machine,
        "models": catalog.model,
        "slos": catalog.slo,
        "workloads": sizes,
    }
    faults = Faults()
    found: dict[str, dict[str, Entry]] = {}
    for kind, own in names.items():
        read = readers.get(kind)
        found[kind] = {name: None if read is None else faults.of(read, name) for name in own}
    faults.raise_if_any()
    return found
