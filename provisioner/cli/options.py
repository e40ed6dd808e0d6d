"""The options that mean the same everywhere, declared once and shared by the commands.

A command takes them as one value: `@shared(Question)` gives its function the option for each field of
`Question`, and passes them on together as its first argument.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import MISSING, Field, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

if TYPE_CHECKING:
    from provisioner.traces import Reading

OneDesign = Annotated[str, typer.Option(help="A design by name or file.", metavar="NAME")]
OneCluster = Annotated[str, typer.Option(help="Machines: 27,3 or, for mixed ones, 40.", metavar="P,T")]
Designs = Annotated[
    list[str] | None, typer.Option(help="A design by name or file; repeatable.", metavar="NAME", show_default="all")
]
STDOUT = Path("-")
"""`--json` without a file: the answer goes to standard output."""
TYPED: ContextVar[tuple[str, ...]] = ContextVar("TYPED", default=())
"""The arguments as they were typed, for a report to say how to get it again."""


@dataclass(frozen=True, kw_only=True)
class Loudness:
    """How much is said."""

    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no notes.")] = False


@dataclass(frozen=True, kw_only=True)
class Inputs(Loudness):
    """Where things are found, and how much is said."""

    catalog: Annotated[Path | None, typer.Option(help="Folder searched before ./designs etc.", metavar="DIR")] = None
    set: Annotated[
        list[str] | None,
        typer.Option(help="Override one field, as machines.dgx-h100.cost_usd_per_h=24.", metavar="PATH=VALUE"),
    ] = None
    preset: Annotated[str | None, typer.Option(help="A named set of defaults, as splitwisesim.", metavar="NAME")] = None


@dataclass(frozen=True, kw_only=True)
class Files(Loudness):
    """How trace files are read."""

    columns: Annotated[
        str | None,
        typer.Option(help="A file's own names of its columns.", metavar="arrival=NAME,prompt=NAME,output=NAME"),
    ] = None
    time_unit: Annotated[
        str | None, typer.Option(help="Unit of a file's times, if it does not say.", metavar="s|ms|us|ns")
    ] = None
    window: Annotated[
        str | None, typer.Option(help="A part of a file, in seconds from its first request.", metavar="FROM:TO")
    ] = None
    unordered: Annotated[
        str | None,
        typer.Option(
            help="Where a file's time goes back: sort it, or go on from there (a clock was reset).",
            metavar="sort|splice",
            show_default="refuse",
        ),
    ] = None

    @property
    def reading(self) -> Reading:
        """The same for `traces`.

        Raises
        ------
        InputError
            If an option is wrong.
        """
        from provisioner.cli.files import reading

        return reading(self)


@dataclass(frozen=True, kw_only=True)
class Traffic(Files, Inputs):
    """What requests arrive, and when."""

    workload: Annotated[
        list[str],
        typer.Option(
            help="A workload of the catalog, or a trace file; repeat with weights for a mix.",
            metavar="NAME[:WEIGHT]|FILE",
            show_default="coding",
        ),
    ] = field(default_factory=lambda: ["coding"])
    target_rps: Annotated[
        float | None,
        typer.Option(help="Requests per second. A trace file without it is replayed as it is.", metavar="RPS"),
    ] = None
    arrivals: Annotated[
        str | None,
        typer.Option(
            help="Arrival process: poisson, gamma:CV, hourly:R1,R2,..., closed:USERS[:REQUESTS]; of a file also "
            "recorded, resampled[:REQUESTS].",
            metavar="PROCESS",
            show_default="poisson; recorded for a file",
        ),
    ] = None
    duration: Annotated[
        float | None,
        typer.Option(help="Seconds of arrivals.", metavar="S", show_default="120; a file's own length"),
    ] = None
    seed: Annotated[int, typer.Option(help="Fixes everything random.", metavar="N", min=0)] = 0


@dataclass(frozen=True, kw_only=True)
class Question(Traffic):
    """What is served, how much of it, and how it is judged."""

    model: Annotated[
        str, typer.Option(help="A model of the catalog, or a Hugging Face config.json.", metavar="NAME|FILE")
    ] = "bloom-176b"
    slo: Annotated[
        str | None, typer.Option(help="An SLO set, by name or file.", metavar="NAME|FILE", show_default="splitwise")
    ] = None
    profile: Annotated[
        str | None, typer.Option(help="A profile set, by name or file.", metavar="NAME|FILE", show_default="splitwise")
    ] = None
    choose_cap: Annotated[
        bool, typer.Option("--choose-cap", help="Try every pool at every power cap level that the profile has.")
    ] = False
    replications: Annotated[int, typer.Option(help="Independent seeds.", metavar="N", min=1, max=10_000)] = 5
    confidence: Annotated[
        float | None,
        typer.Option(
            help="Judge by intervals at this confidence, adding replications until they decide.",
            metavar="P",
            show_default="judge by means",
        ),
    ] = None
    max_replications: Annotated[
        int, typer.Option(help="Replications at most, with --confidence.", metavar="N", min=2)
    ] = 30
    warmup: Annotated[float, typer.Option(help="First seconds whose requests do not count.", metavar="S", min=0)] = 0.0


@dataclass(frozen=True, kw_only=True)
class Failing:
    """What a cluster must do without."""

    survive: Annotated[
        str | None,
        typer.Option(
            help="Meet the SLOs with any such machines gone, and while they fail; also a machine type.",
            metavar="prompt=1,token=1|machines=1",
        ),
    ] = None
    fail_at: Annotated[
        float | None, typer.Option(help="When they fail.", metavar="S", show_default="half of the time", min=0)
    ] = None
    repair: Annotated[
        str | None,
        typer.Option(help="How long until a machine is back, as 90, 30m, 4h.", metavar="TIME", show_default="never"),
    ] = None
    availability: Annotated[
        float | None,
        typer.Option(help="Share of the time in which the SLOs hold, as 0.999; needs --mtbf, --repair.", metavar="P"),
    ] = None
    mtbf: Annotated[
        str | None, typer.Option(help="Mean time until a machine fails, as 1000h, 60d.", metavar="TIME")
    ] = None


@dataclass(frozen=True, kw_only=True)
class Outputs:
    """Where the answer goes besides the table."""

    plot: Annotated[Path | None, typer.Option(help="Draw the answer: .png, .svg or .pdf.", metavar="FILE")] = None
    report: Annotated[
        Path | None, typer.Option(help="Write a page for the browser, in one file.", metavar="FILE.html")
    ] = None
    csv: Annotated[Path | None, typer.Option(help="Write a CSV file.", metavar="FILE")] = None
    json: Annotated[Path | None, typer.Option(help="JSON instead of the table, or into a file.", metavar="[FILE]")] = (
        None
    )

    @property
    def show_every_cluster(self) -> bool:
        """Whether clusters beside the answer are shown with their values."""
        return any(file is not None for file in (self.plot, self.report, self.csv))


@dataclass(frozen=True, kw_only=True)
class Crew:
    """Who simulates, and where the results are kept."""

    jobs: Annotated[
        int | None,
        typer.Option(
            help="Threads or processes that simulate.", metavar="N", min=1, max=1024, show_default="all cores"
        ),
    ] = None
    backend: Annotated[str, typer.Option(help="Where to simulate.", metavar="threads|processes|dask|ray")] = "threads"
    address: Annotated[
        str | None, typer.Option(help="Of a Dask scheduler or a Ray cluster, as tcp://host:8786.", metavar="ADDRESS")
    ] = None
    results: Annotated[
        Path | None, typer.Option(help="Keep results as they come, in an SQLite file.", metavar="FILE")
    ] = None
    resume: Annotated[bool, typer.Option("--resume", help="Go on with --results where a run ended.")] = False


@dataclass(frozen=True, kw_only=True)
class Search(Crew):
    """How far a search goes."""

    budget_cost: Annotated[float | None, typer.Option(help="At most so much an hour.", metavar="USD/h")] = None
    budget_power: Annotated[float | None, typer.Option(help="At most so much power.", metavar="kW")] = None
    budget_machines: Annotated[int | None, typer.Option(help="At most so many machines.", metavar="N")] = None
    max_machines: Annotated[int, typer.Option(help="Largest cluster considered.", metavar="N", min=1, max=2000)] = 200


def shared(*groups: type) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of some groups; each group is passed as a value, in order, before the rest."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        own = list(inspect.signature(command, eval_str=True).parameters.values())[len(groups) :]
        shared_parameters = [parameter for group in groups for parameter in _parameters(group)]

        @functools.wraps(command)
        def call(**given: Any) -> None:
            values = [group(**{each.name: given.pop(each.name) for each in fields(group)}) for group in groups]
            command(*values, **given)

        call.__signature__ = inspect.Signature([*own, *shared_parameters])  # type: ignore[attr-defined]
        call.__annotations__ = {parameter.name: parameter.annotation for parameter in (*own, *shared_parameters)}
        return call

    return decorate


def _parameters(group: type) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            each.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=_default(each),
            annotation=hints[each.name],
        )
        for each in fields(group)
    ]


def _default(each: Field[Any]) -> Any:
    if each.default_factory is not MISSING:
        return each.default_factory()
    return inspect.Parameter.empty if each.default is MISSING else each.default
