"""The kernel as machine code: found, loaded and called, and compiled once for every version of it.

It is kept in the user's cache folder, or in that for all users of the machine, as in an image; one file, under the hash
of what it was made from and for: this package's sources, the compiler, the processor. Where it can be neither found nor
kept, it is compiled for this process alone.
"""

from __future__ import annotations

import ctypes
import errno
import hashlib
import os
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock

import llvmlite
import llvmlite.binding as llvm
import numpy as np

from provisioner.folders import hash_of_sources, kept_for_all, kept_for_user, write_whole
from provisioner.sim.block import Packing
from provisioner.sim.state import World, empty_world

SYMBOL = "run_events"


def is_on(switch: str) -> bool:
    """Whether one of numba's switches is on: a number that is not 0."""
    try:
        return int(switch) != 0
    except ValueError:
        return False


IS_PLAIN = is_on(os.environ.get("NUMBA_DISABLE_JIT", "0"))
"""The kernel runs as plain Python, for coverage and debuggers."""

_DIGEST_BYTES = hashlib.sha256().digest_size
_KEPT_BYTES = 2**25 - 2**16
"""glibc gives memory back to the system unless as much has been freed at once before, but at most 32 MB: the next
simulation then has its pages anew, which takes a third of its time."""
_loading = Lock()
_engines: list[llvm.ExecutionEngine] = []
"""They own the machine code."""


def run_events(world: World) -> None:
    """`kernel.run_events`, compiled; other threads run meanwhile."""
    if IS_PLAIN:
        from provisioner.sim.kernel import run_events as plain  # noqa: PLC0415 - loads the compiler

        plain(world)
        return
    with _loading:
        call, packing = _entry()
    nowhere = (ctypes.c_void_p * 2)()
    call(ctypes.byref(nowhere), ctypes.byref(nowhere), packing.pack(world))


@cache
def _entry() -> tuple[Callable[..., int], Packing]:
    np.empty(_KEPT_BYTES, np.uint8)
    function = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)
    return function(load(machine_code(), SYMBOL)), Packing(empty_world())


@cache
def machine_code() -> bytes:
    """The compiled kernel: found, or made and kept where that is possible."""
    found = _found()
    if found is not None:
        return found[1]
    code = _compiled()
    with suppress(OSError):  # it serves this process
        keep(code)
    return code


def _compiled() -> bytes:
    from provisioner.sim.jit import object_code  # noqa: PLC0415 - loads the compiler
    from provisioner.sim.kernel import run_events as entry  # noqa: PLC0415
    from provisioner.sim.layout import kind_of  # noqa: PLC0415

    return object_code(entry, (kind_of(empty_world(), "World"),), SYMBOL, target())


@cache
def target() -> llvm.TargetMachine:
    """The processor at hand, to make machine code for."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    triple = llvm.get_process_triple()
    cpu, features = _processor()
    reloc = "static" if triple.startswith("x86") else "default"  # as numba has it
    return llvm.Target.from_triple(triple).create_target_machine(
        cpu=cpu, features=features, opt=3, reloc=reloc, codemodel="jitdefault", jit=True
    )


def load(code: bytes, symbol: str) -> int:
    """Load machine code for as long as this process runs; returns where the symbol is."""
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target())
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    _engines.append(engine)
    return int(engine.get_function_address(symbol))


def file(*, for_all: bool = False) -> Path | None:
    """Where the machine code of just these sources is kept: for this user, or for all users of the machine.

    None for a user who has no home.
    """
    folder = kept_for_all() if for_all else kept_for_user()
    return None if folder is None else folder / f"kernel-{_made_from()}"


def is_compiled() -> bool:
    """Whether there is nothing to compile: that takes some ten seconds."""
    return IS_PLAIN or kept_in() is not None


def kept_in() -> Path | None:
    """The file that the machine code is read from; None if there is none."""
    found = _found()
    return None if found is None else found[0]


def keep(code: bytes, *, for_all: bool = False) -> None:
    """Keep machine code: others see all of it or nothing.

    Raises
    ------
    OSError
        If the folder cannot be written to, or is full, or there is none.
    """
    place = file(for_all=for_all)
    if place is None:
        raise FileNotFoundError(errno.ENOENT, "there is no home folder")
    place.parent.mkdir(parents=True, exist_ok=True)
    if for_all:  # whoever they are, and whatever the one who keeps it gives others by default
        place.parent.chmod(0o755)
    write_whole(place, hashlib.sha256(code).digest() + code, 0o644 if for_all else None)


def _found() -> tuple[Path, bytes] | None:
    """The first file that is there and not damaged, and the machine code in it."""
    for place in (file(), file(for_all=True)):
        if place is not None:
            with suppress(OSError):
                content = place.read_bytes()
                code = content[_DIGEST_BYTES:]
                if hashlib.sha256(code).digest() == content[:_DIGEST_BYTES]:
                    return place, code
    return None


@cache
def _made_from() -> str:
    compiler = find_spec("numba")
    version = b"" if compiler is None else Path(str(compiler.origin)).with_name("_version.py").read_bytes()
    parts = (hash_of_sources(Path(__file__).parent), llvmlite.__version__, version, *_processor())
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def _processor() -> tuple[str, str]:
    return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()
