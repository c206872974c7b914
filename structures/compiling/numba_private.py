"""Every private name of numba that this package uses, and what for.

Private names are those that numba does not document. It documents ``numba.types``, ``numba.extending``,
``numba.experimental.structref``, ``numba.core.cgutils`` and ``TypingError``. No private name of llvmlite is
used. The other modules import private names from this one. The attributes that they use are in :data:`NAMES`.

The import of this package looks for all of them. If one is missing, that is an ``ImportError``. If all are
there, but the release of numba is not in the range :data:`TESTED`, there is one warning.
"""

from __future__ import annotations

import pkgutil
import re
import warnings
from typing import Any

import numba

TESTED = ("0.62", "0.68")
"""The oldest and the newest numba release that the tests have run with."""

NAMES: dict[str, str] = {
    # The cache on disk.
    "numba.core.caching:FunctionCache": "the cache of a kernel, made at the first use instead of at import",
    "numba.core.caching:FunctionCache._impl_class": "how code for compiled callers is written and read",
    "numba.core.caching:CompileResultCacheImpl.reduce": "writes code for compiled callers",
    "numba.core.caching:CompileResultCacheImpl.rebuild": "reads it without translating it",
    "numba.core.caching:FunctionCache._cache_file": "the files, which are given their keys",
    "numba.core.caching:FunctionCache.cache_path": "the folder, which others must not be able to write to",
    "numba.core.caching:FunctionCache.save_overload": "goes on where the disk is full",
    "numba.core.caching:CompileResultCacheImpl._locator_classes": "where to look for a folder",
    "numba.core.caching:UserProvidedCacheLocator.get_cache_path": "that of NUMBA_CACHE_DIR, if read-only",
    "numba.core.caching:InTreeCacheLocator.get_cache_path": "__pycache__, if read-only",
    "numba.core.caching:UserProvidedCacheLocator.ensure_cache_path": "whether there is one",
    "numba.core.caching:NullCache": "the cache where no folder can be written to",
    # Code for compiled callers.
    "numba.core.codegen:JITCodeLibrary": "base of the code that callers link in",
    "numba.core.codegen:JITCodeLibrary._optimize_final_module": "left out for inner kernels",
    "numba.core.codegen:JITCodeLibrary._finalize_final_module": "replaced, so that no machine code is made",
    "numba.core.codegen:JITCodeLibrary._finalize_dynamic_globals": "the part of it that is still needed",
    "numba.core.codegen:JITCodeLibrary._finalized": "marks the code as complete",
    "numba.core.codegen:JITCodeLibrary._final_module": "the code, when it is read from the cache",
    "numba.core.codegen:JITCodeLibrary.serialize_using_bitcode": "writes code that is not translated",
    "numba.core.codegen:JITCodeLibrary.serialize_using_object_code": "replaced by the former",
    "numba.core.codegen:JITCodeLibrary.enable_object_caching": "keeps the machine code of late kernels",
    "numba.core.codegen:JITCodeLibrary.get_pointer_to_function": "where this machine code is",
    "numba.core.codegen:JITCPUCodegen.unserialize_library": "reads it from the cache",
    "numba.core.cpu:CPUContext.call_conv": "a call of it by its address",
    "numba.core.base:BaseContext.get_python_api": "asks Python for the address",
    "numba.core.compiler:Compiler": "base of the compilers that use these libraries",
    "numba.core.compiler:Compiler.define_pipelines": "the passes, some of which inner kernels leave out",
    "numba.core.compiler:Flags.no_compile": "makes no machine code",
    "numba.core.compiler:CompileResult._reduce": "the parts of a compiled kernel that go to the cache",
    "numba.core.compiler:compile_result": "makes a compiled kernel of what the cache holds",
    "numba.core.types:Function.typing_key": "which function it is: a dtype, or prange",
    # Kernels that Python calls.
    "numba.core.registry:CPUDispatcher": "base of the kernels",
    "numba.core.registry:CPUDispatcher._cache": "where the cache is put",
    "numba.core.registry:CPUDispatcher._compilation_chain_init_hook": "loads extensions, on one thread",
    "numba.core.registry:CPUDispatcher._compile_for_args": "where Python's call of an inner kernel arrives",
    "numba.core.registry:CPUDispatcher._insert": "lets calls with narrow integers find the code at once",
    "numba.core.registry:CPUDispatcher._numba_type_": "the type that compiled callers see",
    "numba.core.registry:CPUDispatcher._memo": "kernels that are unpickled where they were pickled",
    "numba.core.registry:CPUDispatcher._rebuild": "unpickles a kernel with its kind",
    "numba.core.registry:CPUDispatcher._reduce_states": "pickles it",
    "numba.core.registry:CPUDispatcher._set_uuid": "by what the memo knows it",
    "numba.core.registry:CPUDispatcher._uuid": "the same",
    "numba.core.registry:CPUDispatcher.add_overload": "remembers the code for some argument types",
    "numba.core.registry:CPUDispatcher.compile": "compiles for wide integers in place of narrow ones",
    "numba.core.registry:CPUDispatcher.overloads": "the code for each of the argument types",
    "numba.core.registry:CPUDispatcher.targetctx": "where calls of kernels are registered",
    "numba.core.registry:CPUDispatcher.typeof_pyval": "the type of an argument, once extensions are loaded",
    "numba.core.compiler_lock:global_compiler_lock": "held while code is registered",
    "numba.core.registry:cpu_target": "what the compiler knows, refreshed after an import while it compiles",
    "numba.core.types:int64._code": "a type as numba's quick look at arguments knows it",
    # Kernels that compiled code calls.
    "numba.core.types:Dispatcher.dispatcher": "the kernel of which this is the type",
    "numba.core.types:Dispatcher.get_call_type": "compiles for wide integers in place of narrow ones",
    "numba.core.types:Dispatcher.get_impl_key": "what a call of a kernel is registered under",
    "numba.core.base:BaseContext._defns": "which calls are registered",
    "numba.core.base:BaseContext.insert_func_defn": "registers one",
    "numba.core.base:BaseContext.call_internal": "a call that passes exceptions on",
    "numba.core.base:BaseContext.call_internal_no_propagate": "a call that does not",
    "numba.core.callconv:CPUCallConv.return_status_propagate": "passes an exception on",
    "numba.core.base:BaseContext.enable_boundscheck": "whether failures raise in a caller",
    "numba.core.base:BaseContext.subtarget": "a context without the environment of the function",
    "numba.core.cpu:CPUContext.get_env_manager": "this environment",
    "numba.core.callconv:CPUCallConv.set_dynamic_user_exc": "an exception with values",
    "numba.core.callconv:CPUCallConv.check_try_status": "whether its handler is in the same function",
    "numba.core.callconv:CPUCallConv._return_errcode_raw": "leaves the function, if not",
    "numba.core.callconv:RETCODE_USEREXC": "with this code",
    "numba.core.imputils:fix_returning_optional": "the result of a call that may be None",
    "numba.core.base:BaseContext.cast": "widens the arguments of a call",
    "numba.core.base:BaseContext.environment": "what is kept with the caller, for its digests",
    "numba.core.lowering:Environment.consts": "where the digests are put",
    # Methods and borrowed containers.
    "numba.core.types:BoundFunction": "base of the type of container.method",
    "numba.core.typing.templates:AttributeTemplate": "finds a method, or a field of a borrowed container",
    "numba.core.typing.templates:Signature": "what an operator of a container takes",
    "numba.core.types:MemInfoPointer": "the type of the pointer that a container object holds",
    "numba.core.types:StructRef.get_data_type": "the type of the fields of a container",
    "numba.core.base:BaseContext.data_model_manager": "how these fields are laid out",
    "numba.core.base:BaseContext.nrt": "memory that is counted: the names below",
    "numba.core.runtime.context:NRTContext.incref": "counts the array that a field is assigned",
    "numba.core.runtime.context:NRTContext.decref": "releases the one that it held",
    "numba.core.runtime.context:NRTContext.meminfo_data": "the address of an array",
    "numba.core.runtime.nrtdynmod:_meminfo_struct_type": "the address of the fields, read once before a loop",
    "numba.core.runtime.context:NRTContext.meminfo_alloc_aligned": "arrays that start with a cache line",
    "numba.core.cgutils:_StructProxy._get_ptr_by_name": "the address of a field, for locks",
    "numba.core.typing.context:BaseContext.can_convert": "whether a field can hold what a record is made of",
    # Loops of prange.
    "numba.core.rewrites:Rewrite": "sees a function when its types are known",
    "numba.core.rewrites:register_rewrite": "has it called",
    "numba.core.analysis:compute_cfg_from_blocks": "finds the loops",
    "numba.core.ir:Expr": "what their statements compute",
    "numba.core.ir:Assign": "calls are put before and behind them",
    "numba.core.base:BaseContext.fndesc": "whether the caller of a method is of this package",
    # The Python objects.
    "numba.experimental.structref:StructRefProxy._meminfo": "the pointer that a container object holds",
    "numba.experimental.structref:StructRefProxy._type": "the numba type of a container object",
    "numba.experimental.structref:StructRefProxy._numba_box_": "makes an object of a derived class",
}
"""The private names, as ``module:name`` or ``module:class.attribute``, and what each is used for."""


def _is_there(name: str) -> bool:
    """Return whether numba has a name; ``__init__`` may set an attribute that is not in the class."""
    owner_name, _, attribute = name.replace(":", ".").rpartition(".")
    try:
        owner = pkgutil.resolve_name(owner_name)
    except (ImportError, AttributeError):
        return False
    makers = [vars(base).get("__init__") for base in getattr(owner, "__mro__", ())]
    return hasattr(owner, attribute) or any(
        attribute in maker.__code__.co_names for maker in makers if hasattr(maker, "__code__")
    )


def check_release() -> None:
    """Raise ``ImportError`` where a private name is missing; warn where the release was not tested."""
    tested = f"structures was tested with numba {' to '.join(TESTED)}"
    missing = [name for name in NAMES if not _is_there(name)]
    if missing:
        raise ImportError(f"numba {numba.__version__} lacks {', '.join(missing)}: {tested}")
    release, oldest, newest = (
        tuple(map(int, re.findall(r"\d+", version)[:2])) for version in (numba.__version__, *TESTED)
    )
    if not oldest <= release <= newest:
        warnings.warn(f"{tested}, not with {numba.__version__}", stacklevel=2)


check_release()

from numba.core import ir  # noqa: E402, F401
from numba.core.analysis import compute_cfg_from_blocks  # noqa: E402, F401
from numba.core.caching import (  # noqa: E402, F401
    CompileResultCacheImpl,
    FunctionCache,
    InTreeCacheLocator,
    NullCache,
    UserProvidedCacheLocator,
)
from numba.core.callconv import RETCODE_USEREXC  # noqa: E402, F401
from numba.core.codegen import JITCodeLibrary  # noqa: E402, F401
from numba.core.compiler import Compiler, compile_result  # noqa: E402, F401
from numba.core.compiler_lock import global_compiler_lock  # noqa: E402, F401
from numba.core.imputils import fix_returning_optional  # noqa: E402, F401
from numba.core.registry import CPUDispatcher, cpu_target  # noqa: E402, F401
from numba.core.rewrites import Rewrite, register_rewrite  # noqa: E402, F401
from numba.core.runtime.nrtdynmod import _meminfo_struct_type as meminfo_struct_type  # noqa: E402, F401
from numba.core.typing.templates import AttributeTemplate, Signature  # noqa: E402, F401

types: Any = numba.types  # whose stubs do not have these
BoundFunction, DispatcherType = types.BoundFunction, types.Dispatcher
MemInfoPointer = types.MemInfoPointer
