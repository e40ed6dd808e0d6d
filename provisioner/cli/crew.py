"""Who does the work of a search, from the options in words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from provisioner.cli.options import Crew
from provisioner.errors import Fault, InputError

if TYPE_CHECKING:
    from provisioner.cli.progress import Bar
    from provisioner.search import Workers


@contextmanager
def crew(asked: Crew, *, quiet: bool, total: int | None = None, bar: Bar | None = None) -> Iterator[Workers]:
    """Workers on the backend, with a bar of progress, if the caller has none, and the file of results.

    Raises
    ------
    InputError
        If the backend cannot be had, or the file cannot be used.
    """
    from provisioner.cli.console import note
    from provisioner.cli.progress import progress
    from provisioner.cli.question import cores
    from provisioner.search import ResultsFile, Workers, open_backend

    if asked.resume and asked.results is None:
        raise InputError(Fault(problem="goes with --results", field="--resume", allowed="--results FILE --resume"))
    with ExitStack() as open_until_done:
        results = None
        if asked.results is not None:
            results = open_until_done.enter_context(ResultsFile(asked.results, resume=asked.resume))
            for text in results.notes:
                note(text, quiet=quiet)
            if len(results):
                note(f"{len(results):,} results are there already", quiet=quiet)
        backend = open_backend(asked.backend, cores(asked), asked.address)
        bar = bar or open_until_done.enter_context(progress("simulating", quiet=quiet, total=total))
        yield open_until_done.enter_context(
            Workers(cores(asked), bar, expect=bar.at_most, backend=backend, results=results)
        )
