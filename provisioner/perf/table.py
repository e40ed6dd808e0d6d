"""Profile sets: one file that holds the performance models of many (model, machine, parallelism)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from provisioner.errors import Fault, InputError
from provisioner.perf import knots, measured
from provisioner.perf.fit import fit
from provisioner.perf.model import PerformanceModel
from provisioner.perf.points import Key, Points, label
from provisioner.texts import read_text

MAX_BYTES = 64 * 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileSet:
    """Performance models by (model, machine, tensor parallelism), under the file's name."""

    name: str
    models: Mapping[Key, PerformanceModel]

    def get(self, model: str, machine: str, tensor_parallel: int) -> PerformanceModel:
        """Find the performance model of `model` on `machine`.

        Raises
        ------
        InputError
            If the set has none; the fault lists those it has.
        """
        found = self.models.get((model, machine, tensor_parallel))
        if found is None:
            raise InputError(
                Fault(
                    problem=f"profile {self.name!r} has no such model, machine and tensor parallelism",
                    field="profile",
                    value=label((model, machine, tensor_parallel)),
                    allowed=", ".join(label(key) for key in self.models),
                )
            )
        return found


def read_profiles(file: Path, name: str | None = None) -> ProfileSet:
    """Read a profile set: measured points (CSV), which are fitted, or knots (JSON), taken as they stand.

    Parameters
    ----------
    file : Path
        At most 64 MiB of UTF-8, told apart by content.
    name : str, optional
        The file's name without its ending if not given.

    Raises
    ------
    InputError
        If the file cannot be read, with all its faults; or if points of a profile cannot be fitted.
    """
    text = read_text(file, MAX_BYTES)
    if _is_json(text):
        return ProfileSet(name=name or file.stem, models=knots.parse(text, file))
    models: dict[Key, PerformanceModel] = {}
    faults: list[Fault] = []
    for key, points in measured.parse(text, file).items():
        try:
            models[key] = fit(points)
        except InputError as error:
            faults += [replace(fault, file=file) for fault in error.faults]
    if faults:
        raise InputError(faults)
    return ProfileSet(name=name or file.stem, models=models)


def read_points(file: Path) -> dict[Key, Points]:
    """Read the measured points of a profile set.

    Raises
    ------
    InputError
        If the file cannot be read, with all its faults; or if it holds knots instead of measurements.
    """
    text = read_text(file, MAX_BYTES)
    if _is_json(text):
        raise InputError(Fault(problem="holds knots, not measured points", file=file, allowed="CSV"))
    return measured.parse(text, file)


def _is_json(text: str) -> bool:
    return text.lstrip()[:1] in ("{", "[")


def merged(points: Points, file: Path | None) -> tuple[list[Points], list[str]]:
    """Points beside those that a file of measured points holds already, and the remarks at its head.

    Measured rows of the same profile stay beside the new ones; modelled and estimated ones give way.

    Raises
    ------
    InputError
        If the file holds something else, or rows of the same profile of another origin.
    """
    if file is None or not file.exists():
        return [points], []
    before = read_points(file)
    same = before.pop(points.key, None)
    if same is not None and same.origin != points.origin:
        problem = f"holds {same.origin} times of {label(points.key)} already"
        raise InputError(Fault(problem=problem, file=file, allowed=f"{points.origin} ones, or another file"))
    both = [points] if same is None or points.origin != "measured" else [same, points]
    remarks = [line[1:].strip() for line in read_text(file, MAX_BYTES).splitlines() if line.startswith("#")]
    return [*before.values(), *both], remarks
