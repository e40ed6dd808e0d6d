"""Who does the work of a search, from the options in words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from provisioner.cli.options import Search
from provisioner.errors import Fault, InputError

if TYPE_CHECKING:
    from provisioner.search import Workers


@contextmanager
def crew(search: Search, *, quiet: bool, total: int | None = None) -> Iterator[Workers]:
    """Workers on the backend, with a bar of progress and the file of results.

    Raises
    ------
    InputError
        If the backend cannot be had, or the file cannot be used.
    """
    from provisioner.cli.console import note, progress
    from provisioner.cli.question import cores
    from provisioner.search import ResultsFile, Workers, open_backend

    if search.resume and search.results is None:
        raise InputError(Fault(problem="goes with --results", field="--resume", allowed="--results FILE --resume"))
    with ExitStack() as open_until_done:
        results = None
        if search.results is not None:
            results = open_until_done.enter_context(ResultsFile(search.results, resume=search.resume))
            for text in results.notes:
                note(text, quiet=quiet)
            if len(results):
                note(f"{len(results):,} results are there already", quiet=quiet)
        backend = open_backend(search.backend, cores(search), search.address)
        advance = open_until_done.enter_context(progress("simulating", quiet=quiet, total=total))
        yield open_until_done.enter_context(Workers(cores(search), advance, backend=backend, results=results))
