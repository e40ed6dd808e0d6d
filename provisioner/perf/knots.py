"""Profile sets as knots: JSON, for models that are not fitted here.

Either one object as `provision profile show --json` prints it, or a mapping of names to such objects
without the three names in them:

    {"_source": "where it comes from",
     "bloom-176b/dgx-h100": {"prefill": {"tokens": [...], "seconds": [...]},
                             "decode": {"batch": [...], "seconds": [...], "gamma_s_per_token": 0.0},
                             "mixed_factor": 1.1}}

`"origin": "estimated"` in an entry says that nobody measured it. A name is `model/machine` or
`model/machine/tp4`; tensor parallelism is 8 and the mixed factor 1.1 where not given.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from provisioner.errors import FaultList
from provisioner.perf.checks import MAX_NAME, is_name, outside
from provisioner.perf.measured import MAX_PARALLEL
from provisioner.perf.model import MAX_SECONDS, MAX_TOKENS, PerformanceModel
from provisioner.perf.points import ORIGINS, Key, label

Floats = NDArray[np.float64]

DEFAULT_PARALLEL = 8
DEFAULT_MIXED_FACTOR = 1.1
MAX_KNOTS = 100_000
_NAMES = ("model", "machine", "tensor_parallel")
_KEY = re.compile(r"(?P<model>.+?)/(?P<machine>[^/]+?)(?:/tp(?P<parallel>[0-9]{1,4}))?")


def parse(text: str, file: Path) -> dict[Key, PerformanceModel]:
    """Read knots.

    Parameters
    ----------
    text : str
        The file's content.
    file : Path
        Named in faults.

    Returns
    -------
    dict of (model, machine, tensor_parallel) to PerformanceModel
        In the order of the file, each number as it stands there.

    Raises
    ------
    InputError
        With all faults, by dotted path.
    """
    faults = FaultList(file)
    content = _load(text, faults)
    models: dict[Key, PerformanceModel] = {}
    if "prefill" in content or "decode" in content:
        knots = {key: value for key, value in content.items() if key not in _NAMES}
        _add(models, _own_key(content, faults), "", knots, faults)
    else:
        profiles = {name: knots for name, knots in content.items() if name != "_source"}
        for name, knots in profiles.items():
            _add(models, _named_key(name, faults), name, knots, faults)
        if not profiles and not len(faults):
            faults.add("no profiles", allowed='"model/machine": {...}')
    faults.raise_if_any()
    return models


def to_json(models: Iterable[PerformanceModel], source: str) -> str:
    """Write performance models as a file of knots, which `parse` reads back number by number."""
    content: dict[str, Any] = {"_source": source}
    for model in models:
        knots = model.to_dict()
        key = str(knots.pop("model")), str(knots.pop("machine")), int(str(knots.pop("tensor_parallel")))
        content[label(key)] = knots
    return json.dumps(content, indent=1) + "\n"


def _load(text: str, faults: FaultList) -> dict[str, Any]:
    def distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        mapping: dict[str, Any] = {}
        for key, value in pairs:
            if key in mapping:
                faults.add("key given twice", field=key)
            mapping[key] = value
        return mapping

    try:
        content = json.loads(text, object_pairs_hook=distinct)
    except json.JSONDecodeError as error:
        faults.add(f"not JSON: {error.msg}", line=error.lineno)
    except RecursionError:
        faults.add("not JSON: nested too deeply")
    except ValueError as error:  # an integer of thousands of digits
        faults.add(f"not JSON: {error}")
    else:
        if isinstance(content, dict):
            return content
        faults.add("not a mapping", allowed='{"model/machine": {...}}')
    return {}


def _own_key(content: dict[str, Any], faults: FaultList) -> Key | None:
    """Take the names from inside the object."""
    before = len(faults)
    model, machine = content.get("model"), content.get("machine")
    for field, name in (("model", model), ("machine", machine)):
        if not is_name(name) or (field == "machine" and "/" in str(name)):
            faults.add("not a name", field=field, value=name, allowed=f"1 to {MAX_NAME} printable characters")
    parallel = content.get("tensor_parallel", DEFAULT_PARALLEL)
    if not isinstance(parallel, int) or isinstance(parallel, bool) or not 1 <= parallel <= MAX_PARALLEL:
        allowed = f"a whole number from 1 to {MAX_PARALLEL}"
        faults.add("not a whole number", field="tensor_parallel", value=parallel, allowed=allowed)
    return None if len(faults) > before else (str(model), str(machine), int(parallel))


def _named_key(name: str, faults: FaultList) -> Key | None:
    """Take the names from `model/machine/tp8`."""
    match = _KEY.fullmatch(name)
    if match is not None and is_name(match["model"]) and is_name(match["machine"]):
        parallel = int(match["parallel"] or DEFAULT_PARALLEL)
        if 1 <= parallel <= MAX_PARALLEL:
            return match["model"], match["machine"], parallel
    faults.add("unknown key", field=name, allowed="model/machine or model/machine/tpN")
    return None


def _add(models: dict[Key, PerformanceModel], key: Key | None, path: str, entry: object, faults: FaultList) -> None:
    """Read one profile's knots into `models`."""
    before = len(faults)
    knots = _mapping(entry, path, ("prefill", "decode"), faults, optional=("mixed_factor", "origin"))
    prefill = _table(knots, path, "prefill", ("tokens", "seconds"), faults)
    decode = _table(knots, path, "decode", ("batch", "seconds", "gamma_s_per_token"), faults)
    prefill_tokens = _numbers(prefill.get("tokens"), _join(path, "prefill.tokens"), MAX_TOKENS, faults)
    prefill_seconds = _numbers(prefill.get("seconds"), _join(path, "prefill.seconds"), MAX_SECONDS, faults)
    decode_batch = _numbers(decode.get("batch"), _join(path, "decode.batch"), MAX_TOKENS, faults)
    decode_seconds = _numbers(decode.get("seconds"), _join(path, "decode.seconds"), MAX_SECONDS, faults)
    gamma = _number(decode.get("gamma_s_per_token", 0.0), _join(path, "decode.gamma_s_per_token"), MAX_SECONDS, faults)
    factor = knots.get("mixed_factor", DEFAULT_MIXED_FACTOR)
    mixed_factor = _number(factor, _join(path, "mixed_factor"), MAX_SECONDS, faults)
    origin = knots.get("origin", "measured")
    if origin not in ORIGINS:
        faults.add("unknown origin", field=_join(path, "origin"), value=origin, allowed=", ".join(ORIGINS))
    if key in models:
        faults.add("profile given twice", field=path)
    if key is None or len(faults) > before:
        return
    try:
        models[key] = PerformanceModel(
            model=key[0],
            machine=key[1],
            tensor_parallel=key[2],
            prefill_tokens=prefill_tokens,
            prefill_seconds=prefill_seconds,
            decode_batch=decode_batch,
            decode_seconds=decode_seconds,
            gamma_s_per_token=gamma,
            mixed_factor=mixed_factor,
            origin=origin,
        )
    except ValueError as error:
        faults.add(str(error), field=path or None)


def _mapping(
    value: object, path: str, keys: Iterable[str], faults: FaultList, optional: Iterable[str] = ()
) -> dict[str, Any]:
    """Check that a mapping has all of `keys` and nothing but them and `optional`."""
    known = (*keys, *optional)
    if not isinstance(value, dict):
        faults.add("not a mapping", field=path, value=value, allowed=", ".join(known))
        return {}
    for key in keys:
        if value.get(key) is None:
            faults.add("missing key", field=_join(path, key))
    for key in value:
        if key not in known:
            faults.add("unknown key", field=_join(path, key), allowed=", ".join(known))
    return value


def _table(knots: dict[str, Any], path: str, name: str, keys: Iterable[str], faults: FaultList) -> dict[str, Any]:
    """Check the mapping `name` in `knots`; a missing one has been told."""
    value = knots.get(name)
    return {} if value is None else _mapping(value, _join(path, name), keys, faults)


def _numbers(value: object, path: str, high: float, faults: FaultList) -> Floats:
    """Read a list of numbers (k,); a missing one has been told."""
    if value is None:
        return np.empty(0)
    if not isinstance(value, list) or not 0 < len(value) <= MAX_KNOTS:
        faults.add("not a list of numbers", field=path, value=value, allowed=f"1 to {MAX_KNOTS} numbers")
        return np.empty(0)
    return np.array([_number(item, f"{path}[{i}]", high, faults) for i, item in enumerate(value)])


def _number(value: object, path: str, high: float, faults: FaultList) -> float:
    number = np.nan
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:
            number = np.inf
    problem = outside(number, 0, high)
    if problem is not None:
        faults.add(problem, field=path, value=value, allowed=f"a number from 0 to {high:.0f}")
    return number


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key
