"""Evaluating many clusters at once.

Work is cut into parts of a fixed size, whatever the number of workers, and parts are taken in order: so a
search makes the same decisions, and simulates the same clusters, on one core as on many.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Self, TypeVar

from joblib import Parallel, delayed

PART = 16
"""Simulations handed out together."""

Item = TypeVar("Item")
Result = TypeVar("Result")


class Workers:
    """Threads that evaluate clusters; the kernel releases the GIL.

    `watch` is told of every evaluation that is done.
    """

    def __init__(self, jobs: int = 1, watch: Callable[[int], None] = lambda _: None) -> None:
        self._parallel = Parallel(n_jobs=jobs, backend="threading")
        self._watch = watch

    def __enter__(self) -> Self:
        self._parallel.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._parallel.__exit__(*error)

    def map(self, work: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
        """Do the work for each item; results in the items' order."""

        def watched(item: Item) -> Result:
            result = work(item)
            self._watch(1)
            return result

        return list(self._parallel(delayed(watched)(item) for item in items))
