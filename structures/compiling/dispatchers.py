"""Kernels as Python and compiled code call them: what each side gets, and when it is compiled.

numba's object for a compiled function is its *dispatcher*. Compiled code knows a function by the *type* of
its dispatcher. A kernel has two dispatchers: most kernels are called from one side only, and each side needs
different code.

* The one that Python calls makes machine code, and the wrapper that Python needs.
* The *inside* one makes code that compiled callers link in (:mod:`structures.compiling.inside_code`).

Each compiles when it is first called. The types lead compiled callers to the inside dispatcher.
A late kernel has a third one, for callers that have its address (:mod:`structures.compiling.late_code`).

Calls of quiet kernels differ in two ways. Their arguments are widened, so that the same code serves integers
of every width. And compiled callers have no branch for exceptions: they get the null value instead.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import models, register_model

from structures.compiling.cache_folder import others_may_write
from structures.compiling.digests import stamped
from structures.compiling.inside_code import (
    InnerCompiler,
    InsideCache,
    InsideCompiler,
    KernelCache,
    KernelCompiler,
)
from structures.compiling.late_code import LateCache, LateCompiler, emit_call
from structures.compiling.numba_private import (
    CPUDispatcher,
    DispatcherType,
    NullCache,
    fix_returning_optional,
    global_compiler_lock,
)
from structures.compiling.stamps import leave_stamp

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


class _Nothing:
    """What is around most calls of kernels; around those of methods is a lock, which has these attributes."""

    def of_callers_in(self, context: Any) -> Any:
        """Return what is around the calls of the function that is compiled."""
        return self

    @contextmanager
    def block(self, context: Any, builder: Any, argument_types: Any, arguments: Any) -> Iterator[None]:
        """Emit what comes before the call, and what comes after it."""
        yield


NOTHING_AROUND = _Nothing()


class KernelType(DispatcherType):
    """numba type of a kernel."""

    def get_impl_key(self, sig: Any) -> Any:
        overload = self.dispatcher.overloads[tuple(sig.args)]
        context = self.dispatcher.targetctx
        key = (KernelType, overload.library)
        if key not in context._defns:
            anything = (types.Any,) * len(overload.signature.args)
            context.insert_func_defn([(self._call(overload), key, anything)])
        return key

    def _leave_stamp(self, context: Any) -> None:
        leave_stamp(context, self.dispatcher.py_func.__module__.partition(".")[0])

    def call_within(self, around: Any, sig: Any) -> Any:
        """Return the lowering of a call with something around it."""
        return self._call(self.dispatcher.overloads[tuple(sig.args)], around)

    def _call(self, overload: Any, around: Any = NOTHING_AROUND) -> Any:
        """Return the lowering of a call to a compiled kernel."""

        def lower(context, builder, signature, arguments):
            self._leave_stamp(context)
            callee = overload.signature
            with around.of_callers_in(context).block(context, builder, callee.args, arguments):
                status, result = context.call_internal_no_propagate(
                    builder, overload.fndesc, callee, arguments
                )
            with cgutils.if_unlikely(builder, status.is_error):
                context.call_conv.return_status_propagate(builder, status)
            return fix_returning_optional(context, builder, callee, status, result)

        lower.libs = (overload.library,)  # type: ignore[attr-defined]
        lower.signature = overload.signature  # type: ignore[attr-defined]
        return lower


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

    def _call(self, overload: Any, around: Any = NOTHING_AROUND) -> Any:
        """Return the lowering of a call that gives the null value where the kernel raises."""
        callee = overload.signature
        result_type = types.unliteral(callee.return_type)

        def call(context, builder, arguments, within):
            description = overload.fndesc
            with within.block(context, builder, callee.args, arguments):
                status, result = context.call_internal_no_propagate(builder, description, callee, arguments)
            result = context.cast(builder, result, callee.return_type, result_type)  # of a literal, not null
            return builder.select(status.is_error, cgutils.get_null_value(result.type), result)

        def call_apart(context, builder, arguments, within):
            name = f"within.{overload.fndesc.llvm_func_name}"
            if name not in builder.module.globals:
                returned = context.get_value_type(result_type)
                kind = ir.FunctionType(returned, [argument.type for argument in arguments])
                function = ir.Function(builder.module, kind, name)
                function.linkage = "linkonce_odr"
                function.attributes.add("noinline")
                inside = ir.IRBuilder(function.append_basic_block())
                inside.ret(call(context, inside, function.args, within))
            # In the eyes of the compiler it only reads, so that a loop of searches keeps what it has read.
            attributes = ("nounwind", "readonly") if within.only_reads else ("nounwind",)
            return builder.call(builder.module.globals[name], arguments, attrs=attributes)

        def call_either_way(context, builder, arguments, within):
            is_needed = within.is_needed(context, builder, callee.args, arguments)
            with builder.if_else(is_needed, likely=False) as (needed, not_needed):
                with needed:
                    apart, apart_block = call_apart(context, builder, arguments, within), builder.block
                with not_needed:
                    result, block = call(context, builder, arguments, NOTHING_AROUND), builder.block
            merged = builder.phi(result.type)
            merged.add_incoming(apart, apart_block)
            merged.add_incoming(result, block)
            return merged

        def lower(context, builder, signature, arguments):
            self._leave_stamp(context)
            arguments = [
                _cast(context, builder, argument, given, wanted)
                for argument, given, wanted in zip(arguments, signature.args, callee.args, strict=True)
            ]
            within = around.of_callers_in(context)
            if within is NOTHING_AROUND:
                return call(context, builder, arguments, within)
            return call_either_way(context, builder, arguments, within)

        lower.libs = (overload.library,)  # type: ignore[attr-defined]
        lower.signature = overload.signature  # type: ignore[attr-defined]
        return lower


class LateType(KernelType):
    """numba type of a late kernel: nothing is compiled when a call of it is."""

    def get_call_type(self, context: Any, args: Any, kws: Any) -> Any:
        return types.boolean(*map(widened, args))

    def get_impl_key(self, sig: Any) -> Any:
        context = self.dispatcher.targetctx
        key = (LateType, self.dispatcher, sig.args)
        if key not in context._defns:
            context.insert_func_defn([(self._call_late, key, (types.Any,) * len(sig.args))])
        return key

    def _call_late(self, context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        self._leave_stamp(context)
        return emit_call(context, builder, self.dispatcher, signature.args, arguments)


for each in (KernelType, QuietType, LateType):
    register_model(each)(models.OpaqueModel)


# ----------------------------------------------------------------------------------- called from Python
class _CachedDispatcher(CPUDispatcher):
    """Looks for its cache at the first use, so that an import touches no disk."""

    @functools.cached_property
    def _cache(self) -> Any:
        source = self.py_func.__code__.co_filename
        if not Path(source).exists():  # typed at a prompt
            return NullCache()
        try:
            cache = self._make_cache()
        except RuntimeError:  # numba found no folder that it may write to
            _warn_once("no folder to keep compiled code in", "writable folder")
            return NullCache()
        if others_may_write(cache.cache_path, source):
            _warn_once(
                f"other users can write to {cache.cache_path}, where compiled code would be kept, and so "
                "choose what this process runs. The folder is not used",
                "folder that only you can write to",
            )
            return NullCache()
        return cache

    def _make_cache(self) -> Any:
        return KernelCache(stamped(self.py_func))


_remedies_given: set[str] = set()


def _warn_once(problem: str, remedy: str) -> None:
    """Warn once in a process, however many folders have the problem."""
    if remedy in _remedies_given:
        return
    _remedies_given.add(remedy)
    warnings.warn(
        f"{problem}: kernels are compiled again in every process. Set NUMBA_CACHE_DIR to a {remedy}.",
        RuntimeWarning,
        stacklevel=2,
    )


class KernelDispatcher(_CachedDispatcher):
    """Compiles a kernel for Python; for compiled callers it has another dispatcher."""

    @property
    def _numba_type_(self) -> Any:
        return KernelType(self._inside)

    @functools.cached_property
    def _inside(self) -> Any:
        return dispatcher(self.py_func, _InsideDispatcher)


class QuietDispatcher(KernelDispatcher):
    """Compiles a quiet kernel for Python."""

    @property
    def _numba_type_(self) -> Any:
        return QuietType(self._inside)

    @functools.cached_property
    def _inside(self) -> Any:
        return dispatcher(self.py_func, _QuietInsideDispatcher)

    @functools.cached_property
    def _looked_up(self) -> set[tuple[Any, ...]]:
        """The types of arguments for which numba's quick look finds the code."""
        return set()

    def compile(self, sig: Any) -> Any:
        # Widened here and not where a value is given its type: numba remembers the types of values for all
        # functions, those of other packages included.
        given = tuple(sig)
        with global_compiler_lock:
            entry_point = super().compile(tuple(map(widened, given)))
            self._look_up(given, entry_point)
        return entry_point

    def _look_up(self, given: tuple[Any, ...], entry_point: Any) -> None:
        # Never twice: where numba finds two, it takes neither.
        if given not in self._looked_up:
            self._looked_up.add(given)  # which also keeps the types, and so their codes
            self._insert([typ._code for typ in given], entry_point, False)

    def add_overload(self, cres: Any) -> None:
        super().add_overload(cres)
        self._looked_up.add(tuple(cres.signature.args))


# ----------------------------------------------------------------------------- called from compiled code
class _InsideDispatcher(_CachedDispatcher):
    """Compiles a kernel for compiled callers."""

    def _make_cache(self) -> Any:
        return InsideCache(stamped(self.py_func, "inside"))

    @property
    def _numba_type_(self) -> Any:
        return KernelType(self)

    def add_overload(self, cres: Any) -> None:
        self.overloads[tuple(cres.signature.args)] = cres

    @functools.cached_property
    def _for_python(self) -> Any:
        return dispatcher(self.py_func, KernelDispatcher)

    def _compile_for_args(self, *args: Any, **kws: Any) -> Any:
        return self._for_python  # numba calls it with the arguments


class _QuietInsideDispatcher(_InsideDispatcher):
    """Compiles a quiet kernel for compiled callers."""

    @property
    def _numba_type_(self) -> Any:
        return QuietType(self)

    def compile(self, sig: Any) -> Any:
        return super().compile(tuple(map(widened, sig)))

    @functools.cached_property
    def _for_python(self) -> Any:
        return dispatcher(self.py_func, QuietDispatcher)


class _InlinedInsideDispatcher(_QuietInsideDispatcher):
    """Compiles a quiet kernel that becomes a part of its compiled callers."""


class InlinedDispatcher(QuietDispatcher):
    """Compiles for Python a kernel that becomes a part of its compiled callers."""

    @functools.cached_property
    def _inside(self) -> Any:
        return dispatcher(self.py_func, _InlinedInsideDispatcher)


class InnerDispatcher(_QuietInsideDispatcher):
    """Compiles a kernel that only compiled code calls; for Python it has another dispatcher."""


class LateDispatcher(_QuietInsideDispatcher):
    """Compiles a kernel that compiled code calls by its address, when it is first reached."""

    def _make_cache(self) -> Any:
        return LateCache(stamped(self.py_func, "late"))

    @property
    def _numba_type_(self) -> Any:
        return LateType(self)

    def address(self, arguments: tuple[Any, ...]) -> int:
        """Return the address of the machine code for these types of arguments."""
        with global_compiler_lock:
            CPUDispatcher.compile(self, types.boolean(*arguments))
        compiled = self.overloads[arguments]
        return compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)


# ------------------------------------------------------------------------------------------- making them
_FOR_CALLERS = {"no_cfunc_wrapper": True, "no_cpython_wrapper": True, "pipeline_class": InsideCompiler}
_FOR_PYTHON = {"no_cfunc_wrapper": True, "pipeline_class": KernelCompiler}
_OPTIONS: dict[type[CPUDispatcher], dict[str, Any]] = {
    KernelDispatcher: {"pipeline_class": KernelCompiler},
    QuietDispatcher: _FOR_PYTHON,
    InlinedDispatcher: _FOR_PYTHON,
    _InsideDispatcher: _FOR_CALLERS,
    _QuietInsideDispatcher: _FOR_CALLERS,
    _InlinedInsideDispatcher: _FOR_CALLERS | {"forceinline": True},
    InnerDispatcher: _FOR_CALLERS | {"pipeline_class": InnerCompiler},
    LateDispatcher: _FOR_CALLERS | {"pipeline_class": LateCompiler},
}


def dispatcher(function: Callable[..., Any], kind: type[CPUDispatcher]) -> Any:
    """Return a dispatcher of one of the kinds."""
    made = njit(nogil=True, **_OPTIONS[kind])(function)
    made.__class__ = kind
    del made._cache  # numba's, which keeps nothing
    return made
