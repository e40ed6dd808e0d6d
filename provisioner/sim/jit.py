"""Compilation: the kernel's functions become one piece of machine code.

numba translates one function after the other. Left to itself it would make machine code of each, with a copy of all
that it calls, and optimise every copy; here each is kept as it was translated, and the whole is optimised once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import llvmlite.binding as llvm
import numba
from numba.core.codegen import CPUCodeLibrary, JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.typed_passes import IRLegalization, NativeLowering, NoPythonBackend

_Function = TypeVar("_Function", bound=Callable[..., object])


class _Part(JITCodeLibrary):
    """One translated function, of which no machine code is made."""

    def finalize(self) -> None:
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class _Translation(NativeLowering):
    _name = "translation"

    def run_pass(self, state: Any) -> bool:
        state.library = _Part(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        # Callers find the function by what numba would make for Python to call: here something that fails.
        key: Any = {}.popitem
        state.targetctx.insert_user_function(key, state["cr"].fndesc, [state.library])
        state["cr"] = state["cr"]._replace(cfunc=key)
        return True


class _Compiler(CompilerBase):
    """numba's own, but for the end."""

    def define_pipelines(self) -> list[PassManager]:
        passes = PassManager("kernel")
        for stage in (DefaultPassBuilder.define_untyped_pipeline, DefaultPassBuilder.define_typed_pipeline):
            passes.passes.extend(stage(self.state).passes)
        for each in (IRLegalization, _Translation, NoPythonBackend):
            passes.add_pass(each, each.__name__)
        passes.finalize()
        return [passes]


_options: dict[str, Any] = {
    "pipeline_class": _Compiler,
    "error_model": "numpy",
    # Python calls none of them.
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}

# With every helper inlined, a simulation takes a fifth less.
jit: Callable[[_Function], _Function] = numba.njit(**_options, forceinline=True)

# For what happens seldom: called, so that the event loop compiles faster and is no larger for it. (To say nothing would
# be to do as the caller does.)
jit_apart: Callable[[_Function], _Function] = numba.njit(**_options, forceinline=False)


def object_code(function: Any, kinds: Sequence[Any], symbol: str, target: llvm.TargetMachine) -> bytes:
    """Machine code of a `jit` function for arguments of some types, with all that it calls, under a symbol.

    It is called as numba has it: with the address where the result goes, one for exceptions, and the arguments, tables
    number by number.
    """
    function.compile(tuple(kinds))
    compiled = function.overloads[tuple(kinds)]
    whole = compiled.library._final_module.clone()  # noqa: SLF001 - numba has no other way
    for part in _called(compiled.library):
        whole.link_in(part._get_module_for_linking(), preserve=True)  # noqa: SLF001
    for each in whole.functions:
        if not each.is_declaration:
            each.linkage = "internal"
    entry = whole.get_function(compiled.fndesc.mangled_name)
    entry.name, entry.linkage = symbol, "external"
    whole.verify()
    builder = llvm.create_pass_builder(target, llvm.create_pipeline_tuning_options(speed_level=3))
    builder.getModulePassManager().run(whole, builder)
    return bytes(target.emit_object(whole))


def _called(library: CPUCodeLibrary) -> Iterator[CPUCodeLibrary]:
    """All that a function calls, and what that calls, each once."""
    found: dict[CPUCodeLibrary, None] = {}
    waiting = [library]
    while waiting:
        for callee in waiting.pop()._linking_libraries:  # noqa: SLF001
            if callee not in found:
                found[callee] = None
                if isinstance(callee, _Part):
                    waiting.append(callee)
    return iter(found)
