"""Kernels as Python and compiled code call them: what each side gets, and when it is compiled.

numba's object for a compiled function is its *dispatcher*. Compiled code knows a function by the *type* of
its dispatcher. A kernel has two dispatchers, one for each *side*: most kernels are called from one side only,
and each side needs different code.

* The one that Python calls makes machine code, and the wrapper that Python needs.
* The *inside* one makes code that compiled callers link in, or call (:mod:`structures.compiling.code`).

Each compiles when it is first called. The types lead compiled callers to the inside dispatcher. The table
:data:`KINDS` lists how the kinds of kernels differ.

Calls of quiet kernels differ in two ways. Their arguments are widened, so that the same code serves integers
of every width. And compiled callers have no branch for exceptions: they get the null value instead.

A *guard* emits code before and after a call: a lock, around the methods of containers.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import models, register_model

from structures.compiling.cache import (
    KernelCache,
    others_may_write,
    package_of,
    record_digests,
    warn_once,
    with_digests,
)
from structures.compiling.code import (
    InnerCompiler,
    InsideCache,
    InsideCompiler,
    LateCache,
    LateCompiler,
    emit_call,
)
from structures.compiling.numba_private import (
    Compiler,
    CPUDispatcher,
    DispatcherType,
    NullCache,
    fix_returning_optional,
    global_compiler_lock,
)

# ------------------------------------------------------------------------------------------------- types
_WIDE = {types.boolean: types.int64, types.float32: types.float64}


def widened(argument: Any) -> Any:
    """Return the type that quiet kernels are compiled for in place of a literal or narrow one.

    A type may name another one that it is passed as: containers are passed as borrowed pointers.
    """
    argument = types.unliteral(argument)
    if isinstance(argument, types.Integer):
        return types.int64
    return getattr(argument, "passed_as", None) or _WIDE.get(argument, argument)


class _NoGuard:
    """The guard of most calls. That of a method is a lock, which has the same attributes."""

    def of_callers_in(self, context: Any) -> Any:
        """Return the guard for the function that a context compiles."""
        return self

    @contextmanager
    def block(self, context: Any, builder: Any, argument_types: Any, arguments: Any) -> Iterator[None]:
        """Emit what comes before the call, and what comes after it."""
        yield


NO_GUARD = _NoGuard()


class KernelType(DispatcherType):
    """numba type of a kernel."""

    def get_impl_key(self, sig: Any, guard: Any = NO_GUARD) -> Any:
        overload = self.dispatcher.overloads[tuple(sig.args)]
        context = self.dispatcher.targetctx
        key = (KernelType, guard, overload.library)
        if key not in context._defns:
            context.insert_func_defn([(self._lowering(overload, guard), key, (types.Any,) * len(sig.args))])
        return key

    def _lowering(self, overload: Any, guard: Any) -> Any:
        """Return the lowering of a guarded call of a compiled kernel."""

        def lower(context, builder, signature, arguments):
            self._record_digests(context)
            of_caller = guard.of_callers_in(context)
            return self._emit(context, builder, overload, signature.args, arguments, of_caller)

        lower.libs = (overload.library,)  # type: ignore[attr-defined]
        lower.signature = overload.signature  # type: ignore[attr-defined]
        return lower

    def _record_digests(self, context: Any) -> None:
        record_digests(context, package_of(self.dispatcher.py_func))

    def _emit(self, context, builder, overload, given, arguments, guard):
        """Emit a call that passes exceptions on."""
        callee = overload.signature
        with guard.block(context, builder, callee.args, arguments):
            status, result = context.call_internal_no_propagate(builder, overload.fndesc, callee, arguments)
        with cgutils.if_unlikely(builder, status.is_error):
            context.call_conv.return_status_propagate(builder, status)
        return fix_returning_optional(context, builder, callee, status, result)


def _cast(context: Any, builder: Any, argument: Any, given: Any, wanted: Any) -> Any:
    """Emit a cast; of a uint64 past int64, which would wrap around, code that raises."""
    if given == types.uint64:
        is_past = builder.icmp_signed("<", argument, argument.type(0))
        with cgutils.if_unlikely(builder, is_past):
            context.call_conv.return_user_exc(builder, OverflowError, ("an integer is past int64",))
    return context.cast(builder, argument, given, wanted)


class QuietType(KernelType):
    """numba type of a quiet kernel."""

    def get_call_type(self, context: Any, args: Any, kws: Any) -> Any:
        kws = {name: widened(typ) for name, typ in dict(kws).items()}
        signature = super().get_call_type(context, tuple(map(widened, args)), kws)
        # A kernel that can only return True has a literal type, which would hide the null value.
        return signature and signature.replace(return_type=types.unliteral(signature.return_type))

    def _emit(self, context, builder, overload, given, arguments, guard):
        """Emit a call that returns the null value if the kernel raises."""
        wanted = overload.signature.args
        arguments = [_cast(context, builder, *each) for each in zip(arguments, given, wanted, strict=True)]
        if guard is NO_GUARD:
            return _call(context, builder, overload, arguments, guard)
        is_needed = guard.is_needed(context, builder, wanted, arguments)
        with builder.if_else(is_needed, likely=False) as (needed, not_needed):
            with needed:
                apart, apart_block = _call_apart(context, builder, overload, arguments, guard), builder.block
            with not_needed:
                result = _call(context, builder, overload, arguments, NO_GUARD)
                block = builder.block
        merged = builder.phi(result.type)
        merged.add_incoming(apart, apart_block)
        merged.add_incoming(result, block)
        return merged


def _call(context: Any, builder: Any, overload: Any, arguments: Any, guard: Any) -> Any:
    callee = overload.signature
    with guard.block(context, builder, callee.args, arguments):
        status, result = context.call_internal_no_propagate(builder, overload.fndesc, callee, arguments)
    # Of a literal type, which has no null value.
    result = context.cast(builder, result, callee.return_type, types.unliteral(callee.return_type))
    return builder.select(status.is_error, cgutils.get_null_value(result.type), result)


def _call_apart(context: Any, builder: Any, overload: Any, arguments: Any, guard: Any) -> Any:
    """Emit a call of a function that has the guarded call."""
    name = f"guarded.{overload.fndesc.llvm_func_name}"
    if name not in builder.module.globals:
        returned = context.get_value_type(types.unliteral(overload.signature.return_type))
        kind = ir.FunctionType(returned, [argument.type for argument in arguments])
        function = ir.Function(builder.module, kind, name)
        function.linkage = "linkonce_odr"
        function.attributes.add("noinline")
        inside = ir.IRBuilder(function.append_basic_block())
        inside.ret(_call(context, inside, overload, function.args, guard))
    # In the eyes of the compiler it only reads, so that a loop of searches keeps what it has read.
    attributes = ("nounwind", "readonly") if guard.only_reads else ("nounwind",)
    return builder.call(builder.module.globals[name], arguments, attrs=attributes)


class LateType(KernelType):
    """numba type of a late kernel: nothing is compiled when a call of it is."""

    def get_call_type(self, context: Any, args: Any, kws: Any) -> Any:
        return types.boolean(*map(widened, args))

    def get_impl_key(self, sig: Any, guard: Any = NO_GUARD) -> Any:
        context = self.dispatcher.targetctx
        key = (LateType, self.dispatcher, sig.args)
        if key not in context._defns:
            context.insert_func_defn([(self._call_late, key, (types.Any,) * len(sig.args))])
        return key

    def _call_late(self, context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        self._record_digests(context)
        return emit_call(context, builder, self.dispatcher, signature.args, arguments)


for each in (KernelType, QuietType, LateType):
    register_model(each)(models.OpaqueModel)


# ------------------------------------------------------------------------------------------- dispatchers
class Kind(NamedTuple):
    """What one side of a kernel is made with."""

    numba_type: type[KernelType]  # how compiled code calls the kernel
    compiler: type[Compiler]
    cache: type[KernelCache]
    other_side: str
    options: dict[str, bool]

    @property
    def is_inside(self) -> bool:
        """Whether it is the side for compiled callers."""
        return "no_cpython_wrapper" in self.options


_FOR_PYTHON = {"no_cfunc_wrapper": True}
_FOR_CALLERS = {"no_cfunc_wrapper": True, "no_cpython_wrapper": True}
_INLINED = {**_FOR_CALLERS, "forceinline": True}

KINDS = {
    # Called from Python:
    "plain": Kind(KernelType, Compiler, KernelCache, "plain inside", {}),
    "quiet": Kind(QuietType, Compiler, KernelCache, "quiet inside", _FOR_PYTHON),
    "inlined": Kind(QuietType, Compiler, KernelCache, "inlined inside", _FOR_PYTHON),
    # Called from compiled code:
    "plain inside": Kind(KernelType, InsideCompiler, InsideCache, "plain", _FOR_CALLERS),
    "quiet inside": Kind(QuietType, InsideCompiler, InsideCache, "quiet", _FOR_CALLERS),
    "inlined inside": Kind(QuietType, InsideCompiler, InsideCache, "quiet", _INLINED),
    "inner": Kind(QuietType, InnerCompiler, InsideCache, "quiet", _FOR_CALLERS),
    "late": Kind(LateType, LateCompiler, LateCache, "quiet", _FOR_CALLERS),
}
"""The kinds of kernels, by the names that the decorators use."""


_has_extensions = False  # whether those of numba, which packages register, have been loaded


class Dispatcher(CPUDispatcher):
    """Compiles one side of a kernel when it is first called, or loads it from the cache."""

    name: str  # of the kind
    kind: Kind

    @functools.cached_property
    def _cache(self) -> Any:
        """The cache, opened at the first use, so that importing does not touch the disk."""
        source = self.py_func.__code__.co_filename
        if not Path(source).exists():  # typed at a prompt
            return NullCache()
        try:
            cache = self.kind.cache(with_digests(self.py_func, self.name))
        except RuntimeError:  # numba found no folder that it may write to
            warn_once("no folder to keep compiled code in", "writable folder")
            return NullCache()
        if others_may_write(cache.cache_path, source):
            warn_once(
                f"other users can write to {cache.cache_path}, where compiled code would be kept, and so "
                "choose what this process runs. The folder is not used",
                "folder that only you can write to",
            )
            return NullCache()
        return cache

    @functools.cached_property
    def _other_side(self) -> Any:
        return dispatcher(self.py_func, self.kind.other_side)

    @property
    def _numba_type_(self) -> Any:
        return self.kind.numba_type(self if self.kind.is_inside else self._other_side)

    def _compilation_chain_init_hook(self) -> None:
        # numba lets other threads run while the first one loads extensions, and fails if it looks up the
        # type of a value while they register theirs. Later calls take no lock: a process that forks
        # meanwhile would leave it locked in the child.
        global _has_extensions
        if not _has_extensions:
            with global_compiler_lock:
                super()._compilation_chain_init_hook()
            _has_extensions = True

    def typeof_pyval(self, val: Any) -> Any:  # called before anything is compiled, too
        self._compilation_chain_init_hook()
        return super().typeof_pyval(val)

    def compile(self, sig: Any) -> Any:
        if self.kind.numba_type is KernelType:
            return super().compile(sig)
        # Widened here and not in `typeof`: numba remembers the types of values for all functions, those of
        # other packages included.
        given = tuple(sig)
        with global_compiler_lock:
            entry_point = super().compile(tuple(map(widened, given)))
            if not self.kind.is_inside:
                self._look_up(given, entry_point)
        return entry_point

    @functools.cached_property
    def _looked_up(self) -> set[tuple[Any, ...]]:
        """The types of arguments for which numba's quick look finds the code."""
        return set()

    def _look_up(self, given: tuple[Any, ...], entry_point: Any) -> None:
        # Never twice: if numba finds two, it takes neither.
        if given not in self._looked_up:
            self._looked_up.add(given)  # which also keeps the types, and so their codes
            self._insert([typ._code for typ in given], entry_point, False)

    def add_overload(self, cres: Any) -> None:
        arguments = tuple(cres.signature.args)
        if self.kind.is_inside:
            self.overloads[arguments] = cres
        else:
            super().add_overload(cres)
            self._looked_up.add(arguments)

    def _compile_for_args(self, *args: Any, **kws: Any) -> Any:
        if self.kind.is_inside:
            return self._other_side  # numba calls it with the arguments
        return super()._compile_for_args(*args, **kws)

    def address(self, arguments: tuple[Any, ...]) -> int:
        """Return the address of the machine code of a late kernel for these types of arguments."""
        with global_compiler_lock:  # which code that the cache did not write or read is translated under
            super().compile(types.boolean(*arguments))
            compiled = self.overloads[arguments]
            return compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)

    def _reduce_states(self) -> dict[str, Any]:
        return {"uuid": str(self._uuid), "py_func": self.py_func, "name": self.name}

    @classmethod
    def _rebuild(cls, uuid: str, py_func: Any, name: str = "plain inside", **earlier: Any) -> Any:
        if uuid not in cls._memo:
            dispatcher(py_func, name)._set_uuid(uuid)
        return cls._memo[uuid]


_READ_STATUSES: set[tuple[str, str]] = set()


def reads_statuses(description: Any) -> bool:
    """Return whether the function that numba compiles, and describes, is a kernel that cannot raise."""
    return (description.modname, description.qualname) in _READ_STATUSES


def dispatcher(function: Callable[..., Any], name: str) -> Any:
    """Return a dispatcher of the kind with this name."""
    kind = KINDS[name]
    made = njit(nogil=True, pipeline_class=kind.compiler, **kind.options)(function)
    made.__class__ = Dispatcher
    if kind.numba_type is not KernelType:
        _READ_STATUSES.add((function.__module__, function.__qualname__))
    made.name, made.kind = name, kind
    del made._cache  # numba's, which keeps nothing
    return made


def __getattr__(name: str) -> Any:
    """Return the class for a name that code cached by 0.1.0 has: each kind had a class of its own."""
    if name.endswith("Dispatcher"):
        return Dispatcher
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
