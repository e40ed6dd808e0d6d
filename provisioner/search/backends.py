"""Where work is done: threads here, processes here, or workers elsewhere, each by a backend of joblib.

A backend runs numbered chunks of work and gives their results as they come, or in order. What may be
lost on the way, it names in `losses`; `reopen` gets it ready to go on.
"""

from __future__ import annotations

import os
import signal
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Future, ThreadPoolExecutor
from contextlib import suppress
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeVar

from provisioner.errors import Fault, InputError
from provisioner.search.identity import edition
from provisioner.search.parcel import OtherEditionError, Shared, pack, unpack, work_off

if TYPE_CHECKING:
    from joblib import Parallel

Chunk = tuple[int, list[Any]]
"""Its number and its items."""
Done = tuple[int, float, list[Any]]
"""A chunk's number, the seconds of work, and the results."""
Results = Generator[Done, None, None]
Result = TypeVar("Result")
MAPPED_BYTES = 10_000
"""Arrays from this size on are given to processes as memory maps."""


class Backend:
    """Runs chunks of work; what is common to all."""

    losses: tuple[type[Exception], ...] = ()
    chunk_s = 0.15
    """Seconds of work that travel together: what it takes to send them is then little beside it."""

    def run(self, work: Callable[[Any], Any], chunks: Iterable[Chunk], *, is_ordered: bool) -> Results:
        """Do chunks of work."""
        raise NotImplementedError

    def reopen(self) -> None:
        """Go on after a loss."""

    def close(self) -> None:
        """Let go of what was opened."""


class Threads(Backend):
    """Threads of this process: nothing is sent, and results come in order."""

    chunk_s = 0.01
    """Seconds of work that are written down together: that takes a tenth as long."""

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs

    def run(self, work: Callable[[Any], Any], chunks: Iterable[Chunk], *, is_ordered: bool) -> Results:  # noqa: ARG002
        """Do chunks of work."""

        def timed(number: int, items: list[Any]) -> Done:
            started = time.perf_counter()
            results = [work(item) for item in items]
            return number, time.perf_counter() - started, results

        yield from ahead(timed, chunks, self._jobs, most=1)


def ahead(
    work: Callable[..., Result],
    calls: Iterable[tuple[Any, ...]],
    jobs: int,
    *,
    most: int = 4,
    known: Callable[..., Result | None] = lambda *_: None,
) -> Generator[Result, None, None]:
    """Call in threads, each at most so many ahead of who takes the results, in order; to close it is not to wait.

    What is `known` is not handed to a thread, which would take longer than to look it up.
    """
    if jobs == 1:
        yield from (work(*call) for call in calls)
        return
    threads = ThreadPoolExecutor(jobs)
    begun: deque[Future[Result] | Result] = deque()

    def first() -> Result:
        each = begun.popleft()
        return each.result() if isinstance(each, Future) else each

    try:
        for call in calls:
            found = known(*call)
            begun.append(threads.submit(work, *call) if found is None else found)
            if len(begun) > most * jobs:
                yield first()
        while begun:
            yield first()
    finally:
        threads.shutdown(wait=False, cancel_futures=True)


class Remote(Backend):
    """Other processes, here or elsewhere: work is sent in parcels."""

    def run(self, work: Callable[[Any], Any], chunks: Iterable[Chunk], *, is_ordered: bool) -> Results:
        """Do chunks of work."""
        from joblib import delayed  # noqa: PLC0415 - a plain run does without it, and so starts sooner

        sent: dict[int, dict[str, Shared]] = {}
        is_closed = False

        def calls() -> Iterator[Any]:
            for number, items in chunks:
                if is_closed:
                    return
                shared = sent[number] = {}
                data = pack((work, items), shared)
                descriptions = [self.given(each) for each in shared.values()]
                yield delayed(_numbered)(number, edition(), data, tuple(shared), *descriptions)

        done = self.parallel(is_ordered=is_ordered)(calls())
        try:
            for number, seconds, data in done:
                outcome = unpack(data, sent.pop(number))
                if isinstance(outcome, Exception):
                    raise outcome
                yield number, seconds, outcome
        except GeneratorExit:
            # What has begun is waited for: joblib would kill the workers, and start others for what comes next.
            is_closed = True
            with suppress(Exception):
                deque(done, maxlen=0)
            raise
        except OtherEditionError as error:
            raise other_edition("a worker", str(error)) from error

    def parallel(self, *, is_ordered: bool) -> Parallel:
        """Joblib's way to the workers."""
        raise NotImplementedError

    def given(self, shared: Shared) -> Any:
        """A description as workers are given it: once each."""
        return shared.description


class Processes(Remote):
    """Processes of this machine."""

    losses = (BrokenExecutor,)

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs

    def parallel(self, *, is_ordered: bool) -> Parallel:
        """Joblib's own default."""
        from joblib import Parallel  # noqa: PLC0415 - as above

        return Parallel(
            n_jobs=self._jobs,
            backend="loky",
            return_as=_as(is_ordered),
            batch_size=1,
            max_nbytes=MAPPED_BYTES,
            initializer=_end_with,
            initargs=(os.getpid(),),
        )


def _end_with(parent: int) -> None:
    """In a worker: end when whoever started it is gone, killed perhaps, instead of waiting for more work."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os.kill(os.getpid(), signal.SIGTERM)

    Thread(target=watch, daemon=True).start()


def _as(is_ordered: bool) -> str:  # noqa: FBT001 - the one thing it asks
    return "generator" if is_ordered else "generator_unordered"


def _numbered(number: int, *parcel: Any) -> tuple[int, float, bytes]:
    return number, *work_off(*parcel)


def other_edition(worker: str, found: str) -> InputError:
    """The fault of a worker with another version."""
    return InputError(
        Fault(
            problem=f"{worker} has provisioner {found}, which may give other results",
            field="--backend",
            allowed=f"provisioner {edition()} on every worker",
        )
    )


def not_installed(name: str) -> InputError:
    """The fault of an extra that is not there."""
    return InputError(
        Fault(
            problem=f"{name} is not installed",
            field="--backend",
            value=name,
            allowed=f"pip install '.[{name}]' in the checkout, or threads, processes",
        )
    )


def open_backend(name: str, jobs: int, address: str | None = None) -> Backend | None:
    """A backend by name; None for threads, which need none.

    Raises
    ------
    InputError
        If it is unknown, not installed, not reached, or its workers are not as this process is.
    """
    if address is not None and name not in {"dask", "ray"}:
        raise InputError(Fault(problem="goes with --backend dask or ray", field="--address", value=address))
    match name:
        case "threads":
            return None
        case "processes":
            return Processes(jobs)
        case "dask":
            from provisioner.search.on_dask import Dask  # noqa: PLC0415 - an extra

            return Dask.open(address, jobs)
        case "ray":
            from provisioner.search.on_ray import Ray  # noqa: PLC0415 - an extra

            return Ray.open(address, jobs)
    allowed = "threads, processes, dask, ray"
    raise InputError(Fault(problem="unknown backend", field="--backend", value=name, allowed=allowed))
