"""Work as it travels to other processes: what it is about is named by its identity, and sent to each worker once.

A judge has traces and profiles, which are large and the same for every cluster: in a parcel only its
identity stands, and beside the parcel its description, which a backend sends to each worker once (a
memory map, a scattered array, an object in a store). The worker makes the judge from it when it first
meets it. Results travel back the same way: a design or a limit in them is named, and is here again the
object that it was.
"""

from __future__ import annotations

import io
import pickle
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, cached_property
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from provisioner.search.identity import edition, identity

MOST_KEPT = 64
"""Shared things that a worker keeps."""

Description = NDArray[np.uint8]


class Shared:
    """Something that much work refers to. It never changes in what it says."""

    def content(self) -> tuple[Any, ...]:
        """What it says: the arguments that make it again."""
        raise NotImplementedError

    def parts(self) -> Sequence[Any]:
        """Objects within it that results refer to."""
        return ()

    def __reduce__(self) -> tuple[type, tuple[Any, ...]]:
        return type(self), self.content()

    @cached_property
    def identity(self) -> str:
        """A hash of its content."""
        return identity(type(self).__name__, *self.content())

    @cached_property
    def description(self) -> Description:
        """What it says, as bytes."""
        return np.frombuffer(pickle.dumps(self), np.uint8)


class _Packer(pickle.Pickler):
    def __init__(self, file: io.BytesIO, shared: dict[str, Shared]) -> None:
        super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
        self.shared = shared
        self._parts: dict[int, tuple[str, int]] = {}
        for each in shared.values():
            self._learn(each)

    def _learn(self, shared: Shared) -> None:
        for index, part in enumerate(shared.parts()):
            self._parts.setdefault(id(part), (shared.identity, index))

    def persistent_id(self, thing: Any) -> str | tuple[str, int] | None:
        """The name of what is shared, or a part of it."""
        if not isinstance(thing, Shared):
            return self._parts.get(id(thing))
        if thing.identity not in self.shared:
            self.shared[thing.identity] = thing
            self._learn(thing)
        return thing.identity


class _Unpacker(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, shared: Mapping[str, Shared]) -> None:
        super().__init__(file)
        self._shared = shared

    def persistent_load(self, name: Any) -> Any:
        """What has the name."""
        return self._shared[name] if isinstance(name, str) else self._shared[name[0]].parts()[name[1]]


def pack(thing: Any, shared: dict[str, Shared]) -> bytes:
    """Pickle something; what is shared goes into `shared` and stands there by its name."""
    file = io.BytesIO()
    _Packer(file, shared).dump(thing)
    return file.getvalue()


def unpack(data: bytes, shared: Mapping[str, Shared]) -> Any:
    """The opposite of `pack`."""
    return _Unpacker(io.BytesIO(data), shared).load()


def work_off(sender: str, data: bytes, names: Sequence[str], *descriptions: Any) -> tuple[float, bytes]:
    """Do a parcel's work, in a worker: seconds that it took, and its results or what was raised, packed.

    Raises
    ------
    OtherEditionError
        If the sender's package is not the one that is here.
    """
    if sender != edition():
        raise OtherEditionError(edition())
    _warm()
    shared = {name: _kept(name, description) for name, description in zip(names, descriptions, strict=True)}
    work, items = unpack(data, shared)
    started = time.perf_counter()
    outcome = _outcome(work, items)
    return time.perf_counter() - started, pack(outcome, shared)


class OtherEditionError(Exception):
    """A worker has another version of this package."""


def _outcome(work: Callable[[Any], Any], items: Iterable[Any]) -> list[Any] | Exception:
    try:
        return [work(item) for item in items]
    except Exception as error:  # noqa: BLE001 - raised again where the work came from
        return error


@cache
def _warm() -> None:
    from provisioner.sim.warm import warm  # noqa: PLC0415 - compiles, and only workers need that done beforehand

    warm()


_shared: OrderedDict[str, Shared] = OrderedDict()
_lock = Lock()


def _kept(name: str, description: Any) -> Shared:
    """What has been made before in this process, or is made now."""
    with _lock:
        if name not in _shared:
            array = description if isinstance(description, np.ndarray) else _fetched(description)
            _shared[name] = pickle.loads(array.tobytes())  # noqa: S301 - from who gave the work
            while len(_shared) > MOST_KEPT:
                _shared.popitem(last=False)
        _shared.move_to_end(name)
        return _shared[name]


def _fetched(reference: Any) -> Description:
    """An object in Ray's store."""
    import ray  # noqa: PLC0415 - only where there is such a reference

    array: Description = ray.get(reference)
    return array
