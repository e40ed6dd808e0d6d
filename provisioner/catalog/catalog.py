"""The catalog: things by name, from the user's folders first and then from those shipped.

Folders are searched in order: the one of `--catalog`, the current one, the shipped one. Each may have `designs/`
(with `machines.yaml` in it), `models/`, `slos/`, `workloads/`, `profiles/` and `presets/`. Machines are merged by
name: a user's `dgx-a100` stands in for the shipped one as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from provisioner.catalog.checking import checked, unique
from provisioner.catalog.document import OVERRIDES, Document, Origin
from provisioner.catalog.entry import Entry, exists
from provisioner.catalog.override import Edit, Override, applied, resolved
from provisioner.catalog.preset import Preset
from provisioner.catalog.shelves import Shelves
from provisioner.domain.design import Design
from provisioner.domain.machine import Machine
from provisioner.domain.model import Model
from provisioner.domain.slo import SloSet
from provisioner.domain.workload import Workload
from provisioner.errors import Fault, InputError

SHIPPED = Path(__file__).resolve().parent.parent / "shipped"

_STAND_IN = Machine(
    name="?",
    gpus=1,
    hbm_bytes=1,
    interconnect_bytes_per_s=1.0,
    transfer_residue_s=0.0,
    cost_usd_per_h=0.0,
    power_kw=0.0,
)
"""Takes the place of a machine that cannot be had, so that the rest of its design is checked too."""


class Catalog:
    """What can be named, with every override applied.

    Parameters
    ----------
    folders
        Catalog folders in the order they are searched.
    overrides
        Path to value, as of `parse_override`; applied in order, after those of the preset.
    preset
        Name of the preset whose `set` counts as overrides.
    base
        The folder that a relative path given as a name starts from.

    Raises
    ------
    InputError
        If an override changes nothing, names an unknown field, or sets a value that its field does not take, whether
        or not the changed entry is used. Every method raises it too, with every fault of what it was asked for.
    """

    def __init__(
        self,
        folders: Iterable[Path],
        overrides: Mapping[str, object] | None = None,
        preset: str | None = None,
        base: Path = Path(),
    ) -> None:
        self._shelves = Shelves(folders, base)
        changes = [] if preset is None else self._overrides_of(preset)
        changes += [Override(path, value, Origin(OVERRIDES, None, path)) for path, value in (overrides or {}).items()]
        self._edits = self._resolved(changes)
        self._check_edits()

    @classmethod
    def open(
        cls,
        extra: Path | None = None,
        cwd: Path | None = None,
        overrides: Mapping[str, object] | None = None,
        preset: str | None = None,
    ) -> Catalog:
        """Open the folders `extra` and `cwd`, where given, and the shipped one."""
        if extra is not None and not extra.is_dir():
            raise InputError(
                Fault(problem="is no folder", file=extra, allowed="a folder that holds designs/, models/, ...")
            )
        folders = [folder for folder in (extra, cwd) if folder is not None]
        return cls([*folders, SHIPPED], overrides, preset, cwd or Path())

    def machine(self, name: str) -> Machine:
        """Return a machine type."""
        return self._machine(self._shelves.find("machines", name))

    def model(self, name: str) -> Model:
        """Return a model by its name or the path of its file."""
        return self._model(self._shelves.find("models", name))

    def design(self, name: str) -> Design:
        """Return a design by its name, its short name or the path of its file."""
        return self._design(self._shelves.find("designs", name))

    def designs(self) -> tuple[Design, ...]:
        """Return all designs: the shipped ones in the paper's order, then the user's."""
        designs: list[Design] = []
        faults: list[Fault] = []
        for entry in self._shelves.listed("designs"):
            try:
                designs.append(self._design(entry))
            except InputError as error:
                faults += error.faults
        if faults:
            raise InputError(unique(faults))
        return tuple(designs)

    def slo(self, name: str) -> SloSet:
        """Return a set of SLOs by its name or the path of its file."""
        return self._slo(self._shelves.find("slos", name))

    def workload(self, name: str) -> tuple[Workload, Path]:
        """Return a workload, and the folder that its `sizes` file stands in."""
        entry = self._shelves.find("workloads", name)
        document, folder = entry.document, entry.file.parent
        match document.value:
            case {"sizes": str(sizes)} if not exists(folder / sizes):
                missing = document.origin(("sizes",)).fault("is no file beside this one", value=sizes)
                document = replace(document, faults=(*document.faults, missing))
        return checked(Workload, document), folder

    def preset(self, name: str) -> Preset:
        """Return a preset."""
        return checked(Preset, self._shelves.find("presets", name).document)

    def names(self, kind: str) -> tuple[str, ...]:
        """Return the names of a kind, each once, the shipped ones first.

        Kinds are designs, machines, models, slos, workloads, profiles and presets.
        """
        return self._shelves.names(kind)

    def find_file(self, kind: str, name: str) -> Path:
        """Return a file by its path or its name, which in a subfolder of its kind is `bloom-176b/dgx-a100`.

        Profiles may be YAML, CSV or JSON, everything else is YAML.
        """
        return self._shelves.find_file(kind, name)

    def _document(self, kind: str, entry: Entry) -> Document:
        document = entry.document
        for edit in self._edits:
            if edit.applies_to(kind, entry):
                document = applied(document, edit)
        return document

    def _machine(self, entry: Entry) -> Machine:
        return checked(Machine, self._document("machines", entry))

    def _model(self, entry: Entry) -> Model:
        return checked(Model, self._document("models", entry))

    def _slo(self, entry: Entry) -> SloSet:
        document = self._document("slos", entry)
        _, faults = self._machines_of(document, ["reference_machine"])
        return checked(SloSet, replace(document, faults=(*document.faults, *faults)))

    def _design(self, entry: Entry) -> Design:
        document = self._document("designs", entry)
        machines, faults = self._machines_of(document, ["prompt", "token", "mixed"])
        value = {**document.value, **machines} if machines else document.value
        return checked(Design, replace(document, value=value, faults=(*document.faults, *faults)))

    def _machines_of(self, document: Document, fields: Iterable[str]) -> tuple[dict[str, Machine], list[Fault]]:
        """Look up the machines that some fields name."""
        machines: dict[str, Machine] = {}
        faults: list[Fault] = []
        named = document.value if isinstance(document.value, dict) else {}
        for field in fields:
            if named.get(field) is None:
                continue
            try:
                machines[field] = self._machine_named(named[field], document.origin((field,)))
            except InputError as error:
                machines[field] = _STAND_IN
                faults += error.faults
        return machines, faults

    def _machine_named(self, name: object, origin: Origin) -> Machine:
        if not isinstance(name, str):
            raise InputError(origin.fault("must be the name of a machine", name, ", ".join(self.names("machines"))))
        try:
            entry = self._shelves.find("machines", name)
        except InputError as error:
            raise InputError(map(origin.placed, error.faults)) from None
        return self._machine(entry)

    def _overrides_of(self, preset: str) -> list[Override]:
        document = self._shelves.find("presets", preset).document
        changes = checked(Preset, document).set
        places = {path: document.origin(("set", path)) for path in changes}
        return [Override(path, value, places[path]._replace(field=path)) for path, value in changes.items()]

    def _resolved(self, overrides: Iterable[Override]) -> tuple[Edit, ...]:
        edits: list[Edit] = []
        faults: list[Fault] = []
        for override in overrides:
            try:
                edits.append(resolved(override, self._shelves))
            except InputError as error:
                faults += error.faults
        if faults:
            raise InputError(unique(faults))
        return tuple(edits)

    def _check_edits(self) -> None:
        """Check each changed entry now, for the faults that the overrides are to blame for."""
        make = {"machines": self._machine, "models": self._model, "designs": self._design, "slos": self._slo}
        to_blame = {edit.override.origin.file for edit in self._edits}
        changed = dict.fromkeys((edit.kind, entry) for edit in self._edits for entry in edit.entries)
        faults: list[Fault] = []
        for kind, entry in changed:
            try:
                make[kind](entry)
            except InputError as error:
                faults += (fault for fault in error.faults if fault.file in to_blame)
        if faults:
            raise InputError(unique(faults))
