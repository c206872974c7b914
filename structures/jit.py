"""How this package compiles: lazily, without the GIL, cached on disk and never stale.

numba's cache looks at the file of a function, not at the files of the functions it calls, so that an
upgraded callee goes unnoticed: the caller runs the old code. :func:`kernel` puts a digest of the sources
of the function's own package, and of this one, into the key of every cached signature.

Cost accepted: a change to any source file compiles every kernel of its package again.

Kernels are of three kinds: plain ones, *quiet* ones, which cannot raise (:func:`quiet`), and among these
*inner* ones, which are there for compiled callers alone (:func:`inner`).

What Python calls and what compiled callers link in are compiled apart, each when it is first asked for. For
callers no machine code is made, which is a good part of the time; most kernels are called from one side only.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from llvmlite.binding import parse_bitcode
from numba import config, njit, types
from numba.core import cgutils
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _Cache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, compile_result
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.extending import models, register_model

__all__ = ["DIGEST", "kernel", "package_digest"]


# ------------------------------------------------------------------------------------------- digests
@functools.cache
def package_digest(package: str) -> str:
    """Return a digest of the sources of a package.

    Parameters
    ----------
    package : str
        Name of an importable top-level package or module. A namespace package, one without
        ``__init__.py``, is all of its folders.

    Returns
    -------
    str
        16 hexadecimal digits; the empty string where there is no such package, as for a script.

    Complexity
    ----------
    One read of every ``.py`` file of the package, once in a process.

    Examples
    --------
    >>> len(package_digest("structures"))
    16
    """
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):  # a script: numba's own stamp of the file is enough
        spec = None
    if spec is None or not (spec.submodule_search_locations or spec.origin):
        return ""
    if spec.submodule_search_locations:
        folders = map(Path, spec.submodule_search_locations)
        sources = {(path.relative_to(folder), path) for folder in folders for path in folder.rglob("*.py")}
    else:
        sources = {(Path(), Path(str(spec.origin)))}
    digest = hashlib.sha256()
    for name, source in sorted(sources):
        try:
            text = source.read_bytes()
        except OSError:  # inside a zip file, or gone
            continue
        digest.update(str(name).encode() + b"\0")
        digest.update(len(text).to_bytes(8, "little") + text)
    return digest.hexdigest()[:16]


DIGEST: str = package_digest(__name__.partition(".")[0])
"""Digest of the sources of this package."""


# --------------------------------------------------------------------------------------------- cache
class _Library(JITCodeLibrary):
    """Code in which numba does not prepare passes for every function that is only declared."""

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout
        for function in ll_module.functions:
            if not function.is_declaration:
                passes, builder = self._codegen._function_pass_manager()
                passes.run(function, builder)


class _InsideLibrary(_Library):
    """Code for callers to link in, who translate it with their own, as far as they use it."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def serialize_using_object_code(self) -> Any:
        return self.serialize_using_bitcode()  # there is no object code


class _InnerLibrary(_InsideLibrary):
    """Code that callers optimise with their own as well."""

    def _optimize_final_module(self) -> None:
        pass


class _InnerCacheImpl(CompileResultCacheImpl):
    """Reads code for callers as it was written: numba would translate it first, which leaves its traces."""

    def reduce(self, cres: Any) -> Any:
        library, description, _, signature, *_ = cres._reduce()
        return library, description, signature

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        (name, _, bitcode), description, signature = payload
        library = _InsideLibrary(target_context.codegen(), name)
        library._final_module = parse_bitcode(bitcode)
        library._finalize_final_module()
        return compile_result(
            target_context=target_context, library=library, fndesc=description, signature=signature
        )


class _DigestCache(FunctionCache):
    """numba's cache on disk, with the digests in the key of every compiled signature."""

    def __init__(self, py_func: Callable[..., Any], is_inner: bool) -> None:
        if is_inner:
            self._impl_class = _InnerCacheImpl
        super().__init__(py_func)
        self._more = (DIGEST, package_digest(py_func.__module__.partition(".")[0]), is_inner)

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        return (*super()._index_key(sig, codegen), *self._more)


class _LazyCache(_Cache):
    """Stands in for a :class:`_DigestCache` until the first use, so that importing touches no disk."""

    _warned = False

    def __init__(self, py_func: Callable[..., Any], is_inner: bool) -> None:
        self._py_func = py_func
        self._is_inner = is_inner

    @functools.cached_property
    def _cache(self) -> Any:
        try:
            return _DigestCache(self._py_func, self._is_inner)
        except RuntimeError:  # numba found no folder that it may write to
            if not _LazyCache._warned:
                _LazyCache._warned = True
                warnings.warn(
                    "no folder to keep compiled code in: kernels are compiled again in every process. "
                    "Set NUMBA_CACHE_DIR to a writable folder.",
                    RuntimeWarning,
                    stacklevel=2,
                )
            return None

    @property
    def cache_path(self) -> str | None:
        return self._cache.cache_path if self._cache else None

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        return self._cache.load_overload(sig, target_context) if self._cache else None

    def save_overload(self, sig: Any, cres: Any) -> None:
        if self._cache:
            self._cache.save_overload(sig, cres)

    def enable(self) -> None:
        if self._cache:
            self._cache.enable()

    def disable(self) -> None:
        if self._cache:
            self._cache.disable()

    def flush(self) -> None:
        if self._cache:
            self._cache.flush()


# ------------------------------------------------------------------------------- calls that cannot raise
_WIDE = {types.boolean: types.int64, types.float32: types.float64}


def _widened(argument: Any) -> Any:
    """Return the one type that quiet kernels are compiled for in place of the literal and narrow ones.

    A type may name another one to be passed as: containers go as borrowed pointers.
    """
    argument = types.unliteral(argument)
    if isinstance(argument, types.Integer):
        return types.int64
    return getattr(argument, "passed_as", None) or _WIDE.get(argument, argument)


class KernelType(types.Dispatcher):
    """numba type of a kernel: compiled callers link in what is compiled for them alone."""

    def get_impl_key(self, sig: Any) -> Any:
        overload = self.dispatcher.overloads[tuple(sig.args)]
        context = self.dispatcher.targetctx
        key = (KernelType, overload.library)
        if key not in context._defns:
            anything = (types.Any,) * len(overload.signature.args)
            context.insert_func_defn([(self._call(overload), key, anything)])
        return key

    def _call(self, overload: Any) -> Any:
        """Return the lowering of a call to a compiled kernel."""

        def lower(context, builder, signature, arguments):
            return context.call_internal(builder, overload.fndesc, overload.signature, arguments)

        lower.libs = (overload.library,)  # type: ignore[attr-defined]
        lower.signature = overload.signature  # type: ignore[attr-defined]
        return lower


class QuietType(KernelType):
    """numba type of a quiet kernel: compiled callers call it without a branch for exceptions."""

    def get_call_type(self, context: Any, args: Any, kws: Any) -> Any:
        kws = {name: _widened(typ) for name, typ in dict(kws).items()}
        signature = super().get_call_type(context, tuple(map(_widened, args)), kws)
        # A kernel that can only return True has a literal type, which would hide the null value.
        return signature and signature.replace(return_type=types.unliteral(signature.return_type))

    def _call(self, overload: Any) -> Any:
        """Return the lowering of a call that gives the null value where the kernel raises."""

        def lower(context, builder, signature, arguments):
            callee = overload.signature
            arguments = [
                context.cast(builder, argument, given, wanted)
                for argument, given, wanted in zip(arguments, signature.args, callee.args, strict=True)
            ]
            status, result = context.call_internal_no_propagate(builder, overload.fndesc, callee, arguments)
            result = context.cast(builder, result, callee.return_type, signature.return_type)
            return builder.select(status.is_error, cgutils.get_null_value(result.type), result)

        lower.libs = (overload.library,)  # type: ignore[attr-defined]
        lower.signature = overload.signature  # type: ignore[attr-defined]
        return lower


register_model(KernelType)(models.OpaqueModel)
register_model(QuietType)(models.OpaqueModel)


class _KernelDispatcher(CPUDispatcher):
    """Compiles a kernel for Python; for compiled callers it has another one."""

    @property
    def _numba_type_(self) -> Any:
        return KernelType(self._inside)

    @functools.cached_property
    def _inside(self) -> Any:
        return _compiled(self.py_func, _InsideDispatcher)


class _QuietDispatcher(_KernelDispatcher):
    """Compiles a quiet kernel for Python."""

    @property
    def _numba_type_(self) -> Any:
        return QuietType(self._inside)

    @functools.cached_property
    def _inside(self) -> Any:
        return _compiled(self.py_func, _QuietInsideDispatcher)

    @functools.cached_property
    def _looked_up(self) -> set[tuple[Any, ...]]:
        """What numba's quick look at the arguments of a call finds an overload for."""
        return set()

    def compile(self, sig: Any) -> Any:
        # Widened here and not where a value is given its type: numba remembers the types of values for all
        # functions, other people's too.
        given = tuple(sig)
        with global_compiler_lock:
            entry_point = super().compile(tuple(map(_widened, given)))
            self._look_up(given, entry_point)
        return entry_point

    def _look_up(self, given: tuple[Any, ...], entry_point: Any) -> None:
        # Never twice: of two that are found, numba takes neither.
        if given not in self._looked_up:
            self._looked_up.add(given)  # which also keeps the types, and so their codes
            self._insert([typ._code for typ in given], entry_point, False)

    def add_overload(self, cres: Any) -> None:
        super().add_overload(cres)
        self._looked_up.add(tuple(cres.signature.args))


# ------------------------------------------------------------------------------------------ inner kernels
class _KernelCompiler(Compiler):
    def __init__(self, typingctx, targetctx, library, args, return_type, flags, locals):
        library = _Library(targetctx.codegen(), "kernel")
        library.enable_object_caching()
        super().__init__(typingctx, targetctx, library, args, return_type, flags, locals)


class _InsideCompiler(Compiler):
    _library_class = _InsideLibrary

    def __init__(self, typingctx, targetctx, library, args, return_type, flags, locals):
        library = self._library_class(targetctx.codegen(), "inside")
        flags.no_compile = True
        super().__init__(typingctx, targetctx, library, args, return_type, flags, locals)


class _InnerCompiler(_InsideCompiler):
    """Leaves out the passes that find nothing to do in a plain loop, a tenth of the time."""

    _library_class = _InnerLibrary
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


class _InsideDispatcher(CPUDispatcher):
    """Compiles a kernel for compiled callers."""

    @property
    def _numba_type_(self) -> Any:
        return KernelType(self)

    def add_overload(self, cres: Any) -> None:
        self.overloads[tuple(cres.signature.args)] = cres

    @functools.cached_property
    def _for_python(self) -> Any:
        return _compiled(self.py_func, _KernelDispatcher)

    def _compile_for_args(self, *args: Any, **kws: Any) -> Any:
        return self._for_python  # Python calls that then


class _QuietInsideDispatcher(_InsideDispatcher):
    """Compiles a quiet kernel for compiled callers."""

    @property
    def _numba_type_(self) -> Any:
        return QuietType(self)

    def compile(self, sig: Any) -> Any:
        return super().compile(tuple(map(_widened, sig)))

    @functools.cached_property
    def _for_python(self) -> Any:
        return _compiled(self.py_func, _QuietDispatcher)


class _InnerDispatcher(_QuietInsideDispatcher):
    """Compiles a kernel that is there for compiled callers alone."""


# --------------------------------------------------------------------------------------------- decorators
_FOR_CALLERS = {"no_cfunc_wrapper": True, "no_cpython_wrapper": True, "pipeline_class": _InsideCompiler}
_OPTIONS: dict[type[CPUDispatcher], dict[str, Any]] = {
    _KernelDispatcher: {"pipeline_class": _KernelCompiler},
    _QuietDispatcher: {"no_cfunc_wrapper": True, "pipeline_class": _KernelCompiler},
    _InsideDispatcher: _FOR_CALLERS,
    _QuietInsideDispatcher: _FOR_CALLERS,
    _InnerDispatcher: _FOR_CALLERS | {"pipeline_class": _InnerCompiler},
}


def _compiled(function: Callable[..., Any], kind: type[CPUDispatcher]) -> Any:
    """Return a dispatcher of one of the kinds, or the function itself where the JIT is switched off."""
    dispatcher = njit(nogil=True, **_OPTIONS[kind])(function)
    if isinstance(dispatcher, CPUDispatcher):
        dispatcher.__class__ = kind
        if Path(function.__code__.co_filename).exists():  # not typed at a prompt
            dispatcher._cache = _LazyCache(function, issubclass(kind, _InsideDispatcher))
    return dispatcher


def kernel(function: Callable[..., Any] | None = None, *, quiet: bool = False) -> Any:
    """Compile a function lazily, without the GIL, cached on disk under a key that sees every upgrade.

    Use it in place of ``numba.njit(cache=True)`` for functions that call into this package: the key
    holds the digests of this package and of the package that the function belongs to.

    Parameters
    ----------
    function : callable
        A module-level function in numba's language.
    quiet : bool
        For functions that return a status (:mod:`structures.status`) instead of raising. Compiled
        callers then call it without a branch for exceptions; what it raises all the same, as when there
        is no memory, makes them see the null value of its result type. Integers of every width are
        passed as int64, containers without counting references. The reason: an exception that passes
        through a compiled frame leaks what the frame owns, and the mere possibility keeps numba from
        removing the reference counting around a call, 20 ns for a method that takes 1 ns.

    Returns
    -------
    numba dispatcher
        Nothing is compiled, and no disk touched, before the first call.

    Warns
    -----
    RuntimeWarning
        Once a process, at the first use, where no folder for the cache can be written to.

    Complexity
    ----------
    O(1) at import; a call from Python costs what one of ``njit`` does, 0.3 us and up.

    Examples
    --------
    >>> from structures import kernel
    >>> @kernel
    ... def double(x):
    ...     return 2 * x
    >>> double(21)
    42
    """
    if function is None:
        return functools.partial(kernel, quiet=quiet)
    return _compiled(function, _QuietDispatcher if quiet else _KernelDispatcher)


def twin(python: Callable[..., Any]) -> Callable[[Any], Any]:
    """Put an intrinsic in the place of its twin in Python, unless the JIT is switched off.

    An overload would do the same, at 40 ms of compilation for every one that a kernel uses.
    """
    return lambda compiled: python if config.DISABLE_JIT else compiled


def quiet(function: Callable[..., Any]) -> Any:
    """Short for ``kernel(function, quiet=True)``.

    A function that allocates what it returns is a plain kernel, so that the exception gets as far as the
    quiet one that called it and can say so with a status: a null array must never be written to.
    """
    return kernel(function, quiet=True)


def inner(function: Callable[..., Any]) -> Any:
    """Make a function a quiet kernel for compiled callers: half the time of compiling it goes.

    What makes it callable from Python is left out, and it is optimised as a part of its callers only. Python
    may call it all the same, a few microseconds more slowly: for that it is compiled once more.
    """
    return _compiled(function, _InnerDispatcher)
