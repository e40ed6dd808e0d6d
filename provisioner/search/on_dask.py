"""Workers of a Dask cluster (extra `dask`), by joblib's own backend."""

from __future__ import annotations

import asyncio
import logging
import warnings
from concurrent.futures import CancelledError
from functools import partial
from typing import Any, Self

from joblib import Parallel
from joblib._dask import DaskDistributedBackend

from provisioner.errors import Fault, InputError
from provisioner.search.backends import Remote, _as, not_installed, other_edition
from provisioner.search.identity import edition

try:
    import distributed
except ImportError as error:
    raise not_installed("dask") from error

ANSWERS_IN_S = 5.0
WORKERS_IN_S = 15.0
ASK = "__import__('provisioner.search.identity', fromlist=['edition']).edition()"
"""As text, since a worker that lacks the package, or has another Python, understands nothing else of ours."""


class Dask(Remote):
    """Workers of a scheduler, which gives a lost worker's work to the others."""

    losses = (
        distributed.scheduler.KilledWorker,
        distributed.comm.CommClosedError,
        CancelledError,
        OSError,
    )

    def __init__(self, address: str, client: Any) -> None:
        self._address = address
        self._client = client
        # What joblib gives to some worker would be lost with it, and all work that refers to it.
        client.scatter = partial(client.scatter, broadcast=True)

    @classmethod
    def open(cls, address: str | None, _: int) -> Self:
        """Connect, and see that every worker is as this process is.

        Raises
        ------
        InputError
            If none answers, there are no workers, or one has another version or none.
        """
        if address is None:
            allowed = "the address of a scheduler, as tcp://host:8786 (start one: dask scheduler)"
            raise InputError(Fault(problem="missing", field="--address", allowed=allowed))
        _hush("distributed", "tornado")
        client = _connected(address)
        try:
            _check_workers(client, address)
        except BaseException:
            client.close(timeout=1)
            raise
        return cls(address, client)

    def parallel(self, *, is_ordered: bool) -> Parallel:
        """Joblib's way to the workers."""
        return Parallel(backend=_Telling(client=self._client), return_as=_as(is_ordered), batch_size=1)

    def reopen(self) -> None:
        """Connect again, if the scheduler is still there."""
        self.close()
        self._client = Dask.open(self._address, 0)._client  # noqa: SLF001 - its own

    def close(self) -> None:
        """Leave the scheduler and its workers to others."""
        self._client.close(timeout=1)


class _Telling(DaskDistributedBackend):  # type: ignore[misc]  # has no types
    """Tells when work is lost, where joblib's waits for it for ever."""

    def effective_n_jobs(self, n_jobs: int) -> int:
        """At least two, or joblib would leave a single worker idle and do the work here."""
        return max(2, int(super().effective_n_jobs(n_jobs)))

    async def _collect(self) -> None:
        while self._continue:
            async for future, result in self.waiting_futures:
                waiting, callback = self._results.pop(future), self._callbacks.pop(future)
                outcome = _outcome(future, result)
                waiting.set_result(outcome)
                callback(outcome)
            await asyncio.sleep(0.01)


def _hush(*packages: str) -> None:
    """What they log is said in a line, where it matters."""
    for name in [*packages, *logging.root.manager.loggerDict]:
        if name.split(".")[0] in packages:
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)


def _outcome(future: Any, result: Any) -> Any:
    if future.status == "finished":
        return result
    if future.status == "error":
        return result[1]
    return result if isinstance(result, Exception) else distributed.comm.CommClosedError(f"work is {future.status}")


def _connected(address: str) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of versions: ours is checked, and said in a line
            return distributed.Client(address, timeout=ANSWERS_IN_S, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise InputError(
            Fault(
                problem="no Dask scheduler answers there",
                field="--address",
                value=address,
                allowed="a scheduler that runs (dask scheduler); what is done is kept with --results",
            )
        ) from error


def _check_workers(client: Any, address: str) -> None:
    """See that there are workers, all with this edition of the package."""
    try:
        client.wait_for_workers(1, timeout=WORKERS_IN_S)
    except TimeoutError as error:
        allowed = f"at least one (dask worker {address})"
        raise InputError(
            Fault(problem="the scheduler has no workers", field="--address", value=address, allowed=allowed)
        ) from error
    for worker, found in client.run(eval, ASK, on_error="return").items():
        if isinstance(found, ModuleNotFoundError):
            raise InputError(
                Fault(
                    problem=f"worker {worker} has no package {found.name}",
                    field="--backend",
                    allowed=f"provisioner {edition()} on every worker",
                )
            )
        if found != edition() and not isinstance(found, OSError):  # who has gone since does no work either
            raise other_edition(f"worker {worker}", str(found))
