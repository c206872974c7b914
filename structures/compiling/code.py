"""Code of kernels that compiled callers link in, or call by its address: how it is compiled and cached.

**Inside code.** For compiled callers no machine code is made: they translate the code together with their
own, as far as they use it.

Cost accepted: classes that replace parts of numba. Without them the first use of a container takes longer.
This is the processor time of ``MaxHeap({1: 1})`` with six verbs, and of a first ``bpe.train`` of one line,
both with an empty cache (numba 0.68, median of 5 runs)::

                                                                 heap     training
    as it is                                                     3.97 s   10.7 s
    with all passes for inner kernels                            3.97 s   11.8 s
    without InnerLibrary: inner code is optimized by itself too  4.03 s   11.7 s
    without InsideLibrary: machine code is made of it, too       4.66 s   14.4 s
    one dispatcher for Python and for compiled callers           5.05 s   17.0 s

**Late code** is compiled when it is first reached, not when its callers are compiled: growth and undo, which
a first use of a container does not need. Callers do not contain it. They call a function that knows its
address, and that asks Python for the address once, by name. Python then compiles the kernel, or reads it from
the cache. It is one piece of machine code for all callers, which are smaller and compile sooner.

A late kernel returns a bool: whether it has succeeded. If it raises, for instance because memory has run out,
its callers get False. Callers may have released the GIL, and may be threads of ``prange``: the function takes
the GIL while it asks. Ctrl-C in the meantime is kept until the call from Python is over.

Cost accepted: a call of a late kernel is never inlined, and the first one may take half a second. Where
memory does not suffice even to compile it, callers get False, too; what Python raised is given to
``sys.unraisablehook``.
"""

from __future__ import annotations

import importlib
from functools import partial
from hashlib import sha256
from typing import Any

from llvmlite import ir
from llvmlite.binding import parse_bitcode
from numba import types
from numba.core import cgutils

from structures.compiling.cache import KernelCache, KernelCacheImpl
from structures.compiling.numba_private import (
    Compiler,
    JITCodeLibrary,
    compile_result,
)

_WORD, _BIT = ir.IntType(64), ir.IntType(1)


# ----------------------------------------------------------------------------------- libraries and compilers
class InsideLibrary(JITCodeLibrary):
    """Code for callers to link in."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def serialize_using_object_code(self) -> Any:
        return self.serialize_using_bitcode()  # no object code was made


class InnerLibrary(InsideLibrary):
    """Code that is optimized only as a part of its callers."""

    def _optimize_final_module(self) -> None:
        pass


class LateLibrary(JITCodeLibrary):
    """Machine code that the cache can hold."""

    def __init__(self, codegen: Any, name: str) -> None:
        super().__init__(codegen, name)
        self.enable_object_caching()


class InsideCompiler(Compiler):
    """Compiles a kernel for compiled callers."""

    _library_class: type[JITCodeLibrary] = InsideLibrary

    def __init__(self, typingctx, targetctx, library, args, return_type, flags, locals):
        library = self._library_class(targetctx.codegen(), "inside")
        flags.no_compile = True
        super().__init__(typingctx, targetctx, library, args, return_type, flags, locals)


class InnerCompiler(InsideCompiler):
    """Compiles an inner kernel, without the passes that change nothing in a plain loop."""

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


class LateCompiler(InsideCompiler):
    """Compiles a kernel that is called by its address: machine code, and no wrapper."""

    _library_class = LateLibrary


# ------------------------------------------------------------------------------------------------ its cache
class _LateCacheImpl(KernelCacheImpl):
    """Writes and reads code that has no wrapper for Python."""

    def reduce(self, cres: Any) -> Any:
        library, description, _, signature, *_ = cres._reduce()
        return library, description, signature

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        library, description, signature = payload
        return compile_result(
            target_context=target_context,
            library=self._library_of(target_context.codegen(), library),
            fndesc=description,
            signature=signature,
        )

    def _library_of(self, codegen: Any, stored: Any) -> Any:
        return codegen.unserialize_library(stored)


class _InsideCacheImpl(_LateCacheImpl):
    """Reads code as it was written.

    numba would translate it when it reads it. That changes the code: intrinsics are replaced by what they
    stand for, and callers that link the result in are slower.
    """

    def _library_of(self, codegen: Any, stored: Any) -> InsideLibrary:
        name, _, bitcode = stored
        library = InsideLibrary(codegen, name)
        library._final_module = parse_bitcode(bitcode)
        library._finalize_final_module()
        return library


class InsideCache(KernelCache):
    """The cache for code that callers link in."""

    _impl_class = _InsideCacheImpl


class LateCache(KernelCache):
    """The cache for late kernels."""

    _impl_class = _LateCacheImpl


# -------------------------------------------------------------------------------------- calls by an address
def address_of(module: str, name: str, arguments: tuple[Any, ...]) -> int:
    """Return the address of the code of a late kernel, negative if Ctrl-C came in the meantime."""
    sign = 1
    while True:
        try:
            return sign * getattr(importlib.import_module(module), name).address(arguments)
        except KeyboardInterrupt:
            sign = -1


def emit_address(context: Any, builder: Any, dispatcher: Any, arguments: tuple[Any, ...]) -> Any:
    """Emit a call of the function that knows the address of a late kernel, null if compiling failed."""
    function = dispatcher.py_func
    asked = function.__module__, function.__name__, arguments
    name = f"late.{'.'.join(asked[:2])}.{sha256(repr(asked).encode()).hexdigest()[:16]}"
    module = builder.module
    if name not in module.globals:
        getter = ir.Function(module, ir.FunctionType(cgutils.voidptr_t, []), name)
        getter.linkage = "linkonce_odr"
        for attribute in ("noinline", "cold"):
            getter.attributes.add(attribute)
        _fill(context, getter, asked)
    return builder.call(module.globals[name], [])


def _fill(context: Any, getter: Any, asked: Any) -> None:
    known = ir.GlobalVariable(getter.module, cgutils.voidptr_t, f"{getter.name}.known")
    known.linkage = "internal"
    known.initializer = cgutils.voidptr_t(None)
    builder = ir.IRBuilder(getter.append_basic_block())
    address = builder.load_atomic(known, "monotonic", 8)
    with cgutils.if_likely(builder, cgutils.is_not_null(builder, address)):
        builder.ret(address)
    python = context.get_python_api(builder)
    held = python.gil_ensure()
    ask = python.unserialize(python.serialize_object(partial(address_of, *asked)))
    answer_at = cgutils.alloca_once_value(builder, python.get_null_object())
    with cgutils.if_likely(builder, cgutils.is_not_null(builder, ask)):  # else a signal interrupted it
        builder.store(python.call_function_objargs(ask, ()), answer_at)
    answer = builder.load(answer_at)
    number = cgutils.alloca_once_value(builder, _WORD(0))
    with builder.if_else(cgutils.is_null(builder, answer)) as (none, some):
        with none:
            python.err_write_unraisable(ask)
        with some:
            builder.store(python.long_as_longlong(answer), number)
            python.decref(answer)
    python.decref(ask)
    with builder.if_then(builder.icmp_signed("<", builder.load(number), _WORD(0))):
        interrupt = ir.FunctionType(ir.VoidType(), [])
        builder.call(cgutils.get_or_insert_function(getter.module, interrupt, "PyErr_SetInterrupt"), [])
        builder.store(builder.neg(builder.load(number)), number)
    python.gil_release(held)
    address = builder.inttoptr(builder.load(number), cgutils.voidptr_t)
    builder.store_atomic(address, known, "monotonic", 8)
    builder.ret(address)


def emit_call(context: Any, builder: Any, dispatcher: Any, argument_types: Any, arguments: Any) -> Any:
    """Emit a call of a late kernel; return the bit that it returns, 0 if it raises."""
    address = emit_address(context, builder, dispatcher, argument_types)
    result = cgutils.alloca_once_value(builder, _BIT(0))
    with cgutils.if_likely(builder, cgutils.is_not_null(builder, address)):
        convention = context.call_conv
        kind = convention.get_function_type(types.boolean, argument_types)
        callee = builder.bitcast(address, kind.as_pointer())
        status, done = convention.call_function(builder, callee, types.boolean, argument_types, arguments)
        done = builder.icmp_unsigned("!=", done, done.type(0))
        builder.store(builder.and_(done, builder.not_(status.is_error)), result)
    return builder.load(result)
