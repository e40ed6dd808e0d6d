"""Evaluating many clusters at once: the only door to threads, processes and other machines.

What is done, and in which order it is looked at, does not depend on the number of workers: so a search makes
the same decisions, and counts the same clusters, on one core as on many, and the same bytes come out.

Threads of this process take one item at a time. To other processes, and where results are recorded,
work goes in chunks of at least `Backend.chunk_s` seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from itertools import chain, islice
from typing import Any, Self, TypeVar

from provisioner.errors import Fault, InputError
from provisioner.search.backends import Backend, Threads, ahead
from provisioner.search.results import ResultsFile

PART = 16
"""Simulations handed out together where what comes next depends on them."""
MOST_OF_A_CHUNK = 4096
PATIENCE = 5
"""Times that workers may be lost, one after the other, without a result in between."""

Item = TypeVar("Item")
Result = TypeVar("Result")
Numbered = tuple[int, Any]
Stream = Generator[tuple[Item, Result], None, None]
"""Items with their results."""


class Workers:
    """Those who evaluate clusters: by default threads, since the kernel releases the GIL.

    `watch` is told of every evaluation that is done, `expect` how many are still to come at most, where a search knows.
    With a file of `results`, work that can be recorded (`cells.Recorded`) is, and is not done again if it is there.
    """

    def __init__(
        self,
        jobs: int = 1,
        watch: Callable[[int], None] = lambda _: None,
        *,
        expect: Callable[[int], None] = lambda _: None,
        backend: Backend | None = None,
        results: ResultsFile | None = None,
    ) -> None:
        self._jobs = jobs
        self._watch = watch
        self.expect = expect
        self._is_direct = backend is None and results is None
        self._backend = backend or Threads(jobs)
        self._results = results

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._backend.close()

    def map(self, work: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
        """Do the work for each item; results in the items' order."""
        if self._is_direct:
            return [result for _, result in self._ahead(work, items)]
        found: dict[int, Result] = {}
        twins: dict[int, Item] = {}
        done = self._done(work, self._unknown(work, items, found, twins), is_ordered=False)
        found.update((number, result) for number, _, result in done)
        found.update((number, self._recorded(work, item)) for number, item in twins.items())
        return [found[number] for number in sorted(found)]

    @contextmanager
    def stream(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Stream[Item, Result]]:
        """Do the work a little ahead of who takes the results, and no further than they are taken.

        Items with their results, in the items' order. Who has what was looked for closes it: no more work is begun.
        """
        done = self._ahead(work, items) if self._is_direct else self._in_order(work, items)
        with closing(done):
            yield done

    def _ahead(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Stream[Item, Result]:
        def watched(item: Item) -> tuple[Item, Result]:
            result = work(item)
            self._watch(1)
            return item, result

        def known(item: Item) -> tuple[Item, Result] | None:
            found = work.known(item) if hasattr(work, "known") else None
            if found is None:
                return None
            self._watch(1)
            return item, found

        yield from ahead(watched, ((item,) for item in items), self._jobs, known=known)

    def _in_order(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Stream[Item, Result]:
        ready: dict[int, Result] = {}
        twins: dict[int, Item] = {}
        asked: dict[int, Item] = {}
        first = 0

        def noted() -> Iterator[Item]:
            for number, item in enumerate(items):
                asked[number] = item
                yield item

        def leading() -> Iterator[tuple[Item, Result]]:
            nonlocal first
            while first in ready or first in twins:
                if first in twins:
                    ready[first] = self._recorded(work, twins.pop(first))
                yield asked.pop(first), ready.pop(first)
                first += 1

        unknown = self._unknown(work, noted(), ready, twins)
        start = list(islice(unknown, 1))
        yield from leading()
        with closing(self._done(work, chain(start, unknown), is_ordered=True)) as done:
            for number, _, result in done:
                ready[number] = result
                yield from leading()
            yield from leading()

    def _unknown(
        self, work: Any, items: Iterable[Item], known: dict[int, Any], twins: dict[int, Item]
    ) -> Iterator[Numbered]:
        """The items, numbered, whose results are not recorded; those that are go to `known`.

        Those of which an equal one is being done go to `twins`: its result is recorded before any item after it is due.
        """
        handed: set[str] = set()
        for number, item in enumerate(items):
            if self._results is None or not hasattr(work, "key"):
                yield number, item
                continue
            key = work.key(item)
            data = self._results.find(key)
            if data is not None:
                known[number] = work.decode(data, item)
                self._watch(1)
            elif key in handed:
                twins[number] = item
            else:
                handed.add(key)
                yield number, item

    def _recorded(self, work: Any, item: Any) -> Any:
        """The result of an item of which an equal one was done."""
        assert self._results is not None
        self._watch(1)
        return work.decode(self._results.find(work.key(item)), item)

    def _done(
        self, work: Any, items: Iterator[Numbered], *, is_ordered: bool
    ) -> Generator[tuple[int, Any, Any], None, None]:
        """Do it in chunks, again where workers are lost; numbers, items and results as they come, or in order."""
        handed: dict[int, list[Numbered]] = {}
        pace = _Pace(self._backend.chunk_s)
        chunks = enumerate(pace.cut(items))
        losses = 0
        while True:
            try:
                with closing(self._backend.run(work, _noting(chunks, handed), is_ordered=is_ordered)) as done:
                    for chunk, seconds, results in done:
                        losses = 0
                        pace.note(seconds, len(results))
                        pairs = list(zip(handed.pop(chunk), results, strict=True))
                        self._record(work, pairs)
                        yield from ((number, item, result) for (number, item), result in pairs)
            except self._backend.losses as error:
                losses += 1
                if losses > PATIENCE:
                    raise _given_up(error) from error
                self._backend.reopen()
                chunks = chain(sorted(handed.items()), chunks)  # type: ignore[assignment]
                handed = {}
            else:
                return

    def _record(self, work: Any, pairs: list[tuple[Numbered, Any]]) -> None:
        if self._results is not None and hasattr(work, "key"):
            self._results.add((work.key(item), work.encode(result)) for (_, item), result in pairs)
        self._watch(len(pairs))


class _Pace:
    """How long an item takes, as far as it is known, and so how many go together."""

    def __init__(self, chunk_s: float) -> None:
        self._chunk_s = chunk_s
        self._size = 1

    def note(self, seconds: float, items: int) -> None:
        """Learn from a chunk."""
        self._size = min(MOST_OF_A_CHUNK, max(1, -int(-self._chunk_s * items // max(seconds, 1e-9))))

    def cut(self, items: Iterator[Numbered]) -> Iterator[list[Numbered]]:
        """Chunks of what is thought right at the time."""
        while chunk := list(islice(items, self._size)):
            yield chunk


def _noting(chunks: Iterable[tuple[int, list[Numbered]]], handed: dict[int, Any]) -> Iterator[tuple[int, list[Any]]]:
    """Hand out chunks, and note which are out."""
    for chunk, numbered in chunks:
        handed[chunk] = numbered
        yield chunk, [item for _, item in numbered]


def _given_up(error: BaseException) -> InputError:
    return InputError(
        Fault(
            problem=f"workers were lost {PATIENCE + 1} times without a result ({type(error).__name__}: {error})",
            field="--backend",
            allowed="workers with enough memory that stay; what is done is kept with --results, and --resume goes on",
        )
    )
