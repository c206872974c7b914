"""Code of kernels that compiled callers link in: how it is compiled, and how it is cached.

For these callers no machine code is made: they translate the code together with their own, as far as they use
it.

Cost accepted: three classes that replace parts of numba. Without them the first use of a container takes
longer. This is the processor time of ``MaxHeap({1: 1})`` with six verbs, and of a first ``bpe.train`` of one
line, both with an empty cache (numba 0.68, median of 5 runs)::

                                                                 heap     training
    as it is                                                     3.97 s   10.7 s
    with all passes for inner kernels                            3.97 s   11.8 s
    without InnerLibrary: inner code is optimised by itself too  4.03 s   11.7 s
    without InsideLibrary: machine code is made of it, too       4.66 s   14.4 s
    without both sides apart: Python's code serves all callers   5.05 s   17.0 s
"""

from __future__ import annotations

from typing import Any

from llvmlite.binding import parse_bitcode

from structures.compiling.cache_folder import turn_to_write
from structures.compiling.numba_private import (
    Compiler,
    CompileResultCacheImpl,
    FunctionCache,
    JITCodeLibrary,
    compile_result,
)
from structures.compiling.quick_compiling import KnownOperators, fewer_collections


class InsideLibrary(JITCodeLibrary):
    """Code for callers to link in."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def serialize_using_object_code(self) -> Any:
        return self.serialize_using_bitcode()  # there is no object code


class InnerLibrary(InsideLibrary):
    """Code that is optimised only as a part of its callers."""

    def _optimize_final_module(self) -> None:
        pass


class KernelCompiler(Compiler):
    """Compiles a kernel."""

    def __init__(self, typingctx, targetctx, library, args, return_type, flags, locals):
        known = KnownOperators(typingctx)
        super().__init__(known, targetctx, library, args, return_type, flags, locals)

    def compile_extra(self, func):
        with fewer_collections():
            return super().compile_extra(func)


class InsideCompiler(KernelCompiler):
    """Compiles a kernel for compiled callers."""

    _library_class: type[InsideLibrary] = InsideLibrary

    def __init__(self, typingctx, targetctx, library, args, return_type, flags, locals):
        library = self._library_class(targetctx.codegen(), "inside")
        flags.no_compile = True
        super().__init__(typingctx, targetctx, library, args, return_type, flags, locals)


class InnerCompiler(InsideCompiler):
    """Compiles an inner kernel, without the passes that find nothing to do in a plain loop."""

    _library_class = InnerLibrary
    _LEFT_OUT = (
        "WithLifting",
        "InlineClosureLikes",
        "MakeFunctionToJitFunction",
        "InlineInlinables",
        "InlineOverloads",
        "DeadBranchPrune",
        "LiteralUnroll",
        "LiteralPropagationSubPipelinePass",
        "NopythonRewrites",
    )

    def define_pipelines(self):
        pipelines = super().define_pipelines()
        for pipeline in pipelines:
            pipeline.passes = [each for each in pipeline.passes if each[0].__name__ not in self._LEFT_OUT]
        return pipelines


class _InsideCacheImpl(CompileResultCacheImpl):
    """Reads code as it was written.

    numba would translate it when it reads it. That changes the code: intrinsics are replaced by what they
    stand for, and callers that link the result in are slower.
    """

    def reduce(self, cres: Any) -> Any:
        library, description, _, signature, *_ = cres._reduce()
        return library, description, signature

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        (name, _, bitcode), description, signature = payload
        library = InsideLibrary(target_context.codegen(), name)
        library._final_module = parse_bitcode(bitcode)
        library._finalize_final_module()
        return compile_result(
            target_context=target_context, library=library, fndesc=description, signature=signature
        )


class _FilesWithKeys:
    """Files of numba's cache that say what they are the code of.

    Two processes that write at the same time choose names for their files by the index that each has read,
    and may choose the same one. Then the index leads to other code than it says. So they take turns, where
    the system lets them, and the keys tell where it does not.
    """

    def __init__(self, files: Any, folder: str) -> None:
        self._files = files
        self._folder = folder
        self.flush = files.flush

    def save(self, key: Any, data: Any) -> None:
        with turn_to_write(self._folder):
            self._files.save(key, (key, data))

    def load(self, key: Any) -> Any:
        key_and_data = self._files.load(key)
        return key_and_data[1] if key_and_data and key_and_data[0] == key else None


class KernelCache(FunctionCache):
    """numba's cache on disk, for processes that write at the same time."""

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        self._cache_file: Any = _FilesWithKeys(self._cache_file, self.cache_path)


class InsideCache(KernelCache):
    """The cache for code that callers link in."""

    _impl_class = _InsideCacheImpl
