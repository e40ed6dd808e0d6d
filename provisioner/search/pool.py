"""Evaluating many clusters at once.

What is done, and in which order it is looked at, does not depend on the number of workers: so a search makes
the same decisions, and counts the same clusters, on one core as on many.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Self, TypeVar

from joblib import Parallel, delayed

PART = 16
"""Simulations handed out together where what comes next depends on them."""

Item = TypeVar("Item")
Result = TypeVar("Result")


class Workers:
    """Threads that evaluate clusters; the kernel releases the GIL.

    `watch` is told of every evaluation that is done.
    """

    def __init__(self, jobs: int = 1, watch: Callable[[int], None] = lambda _: None) -> None:
        self._jobs = jobs
        self._parallel = Parallel(n_jobs=jobs, backend="threading")
        self._watch = watch

    def __enter__(self) -> Self:
        self._parallel.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._parallel.__exit__(*error)

    def map(self, work: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
        """Do the work for each item; results in the items' order."""
        return list(self._parallel(delayed(self._watched)(work, item) for item in items))

    @contextmanager
    def stream(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Iterator[tuple[Item, Result]]]:
        """Do the work a little ahead of who takes the results, and no further than they are taken.

        Items with their results, in the items' order.
        """

        def paired(item: Item) -> tuple[Item, Result]:
            return item, self._watched(work, item)

        parallel = Parallel(n_jobs=self._jobs, backend="threading", return_as="generator", batch_size=1)
        done = parallel(delayed(paired)(item) for item in items)
        try:
            yield done
        finally:
            with warnings.catch_warnings():
                # That some of the work was in vain is what running ahead means.
                warnings.filterwarnings("ignore", message=".*tasks", category=UserWarning)
                done.close()

    def _watched(self, work: Callable[[Item], Result], item: Item) -> Result:
        result = work(item)
        self._watch(1)
        return result
