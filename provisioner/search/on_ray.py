"""Workers of a Ray cluster (extra `ray`), by Ray's own backend of joblib."""

from __future__ import annotations

import logging
from typing import Any, Self

from joblib import Parallel

from provisioner.errors import Fault, InputError
from provisioner.search.backends import Remote, _as, not_installed
from provisioner.search.parcel import Shared

try:
    import ray
    from ray.util.joblib.ray_backend import RayBackend
except ImportError as error:
    raise not_installed("ray") from error


class Ray(Remote):
    """Actors of a Ray cluster; descriptions lie in its object store."""

    losses = (ray.exceptions.RayError,)

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs
        self._given: dict[str, Any] = {}

    @classmethod
    def open(cls, address: str | None, jobs: int) -> Self:
        """Connect, or start a cluster on this machine.

        Raises
        ------
        InputError
            If none answers.
        """
        try:
            options = {"num_cpus": jobs, "include_dashboard": False} if address is None else {"address": address}
            ray.init(log_to_driver=False, logging_level=logging.CRITICAL, ignore_reinit_error=True, **options)
        except (ConnectionError, ValueError, RuntimeError, ray.exceptions.RayError) as error:
            allowed = "a cluster that runs (ray start --head), as host:6379 or ray://host:10001"
            raise InputError(
                Fault(problem="no Ray cluster answers there", field="--address", value=address, allowed=allowed)
            ) from error
        cores = int(ray.cluster_resources().get("CPU", 0))
        return cls(max(1, min(cores, jobs) if address is None else cores))

    def given(self, shared: Shared) -> Any:
        """A reference into the object store."""
        if shared.identity not in self._given:
            self._given[shared.identity] = ray.put(shared.description)
        return self._given[shared.identity]

    def parallel(self, *, is_ordered: bool) -> Parallel:
        """Joblib's way to the workers."""
        return Parallel(n_jobs=self._jobs, backend=_Giving(), return_as=_as(is_ordered), batch_size=1)

    def close(self) -> None:
        """Leave the cluster; one that was started here ends."""
        ray.shutdown()


class _Giving(RayBackend):  # type: ignore[misc]  # has no types
    """Gives results as they come: Ray's pool lets results be fetched while it runs."""

    supports_return_generator = True
