"""What raises under ``boundscheck``, where compiled code otherwise returns a status or reads 0.

With ``NUMBA_BOUNDSCHECK=1``, or in a function with ``boundscheck=True``, a call of a verb raises what the
method of the Python class raises. Nothing else is compiled for it: the call itself is followed by a test of
the status that it returns, and preceded by a call of a kernel that tests the arguments, where there is one::

    @method(CountedType, "_before_pop")      # a method of the type, named after the verb
    @quiet
    def _before_pop(self):                   # it takes the first arguments of the verb, or none
        return status.OK if self.size > 0 else status.EMPTY

Functions that are compiled as quiet kernels are excepted, and all of this package: they read statuses. A verb
that gets a default reads it in silence.

Cost accepted: an exception leaks what the frames own that it passes, as every exception in numba does.
"""

from __future__ import annotations

import inspect
import operator
from typing import Any

from numba import types
from numba.core import cgutils

from structures.compiling.cache import PACKAGE
from structures.compiling.dispatchers import reads_statuses
from structures.compiling.numba_private import RETCODE_USEREXC
from structures.status import Failure

_STATUS_VERBS = {
    *("add", "add_many", "append", "appendleft", "change", "compact", "drop", "extend", "improve", "merge"),
    *("push", "remove", "reserve", "set", "set_many", "sub", "union_many", "update"),
}
"""The verbs whose result, or its first item, is a status if it is below 0."""


def call(context: Any, builder: Any, function: Any, types_of: Any, values: Any) -> tuple[Any, Any]:
    """Emit a call; return the type of its result, and the result."""
    signature = context.typing_context.resolve_function_type(function, types_of, {})
    compiled = context.get_function(function, signature)
    context.add_linking_libs(getattr(compiled, "libs", ()))
    return signature.return_type, compiled(builder, values)


def has_checks(owner: Any, verb: str) -> bool:
    """Return whether a verb can fail."""
    return verb in _STATUS_VERBS or owner.method(f"_before_{verb}") is not None


def is_checked(context: Any) -> bool:
    """Return whether failures raise in the function that a context compiles."""
    caller = context.fndesc
    is_ours = caller.modname.startswith(f"{PACKAGE}.")
    return bool(context.enable_boundscheck) and not is_ours and not reads_statuses(caller)


class Checks:
    """Emits what comes before and after the call of a verb; `names` are those of the arguments."""

    def __init__(self, owner: Any, verb: str, names: list[str]) -> None:
        self._owner = owner
        self._verb = verb
        self._names = names
        self._name = owner.facade.__name__ if owner.facade else owner.label

    def before(self, context: Any, builder: Any, types_of: Any, values: Any, loc: Any) -> None:
        """Raise if the kernel that tests the arguments returns a failed status."""
        this, *given = types_of
        kernel = self._owner.method(f"_before_{self._verb}")
        if kernel is None:
            return
        n = len(inspect.signature(kernel.py_func).parameters) - 1
        is_silent = "default" in self._names[n:] and not isinstance(
            given[self._names.index("default")], types.Omitted
        )
        if is_silent:
            return
        test = context.typing_context.resolve_getattr(this, f"_before_{self._verb}")
        signature = test.get_call_type(context.typing_context, given[:n], {})
        # The test takes what the verb takes: the values have the types of its signature already.
        compiled = context.get_function(test, signature)
        context.add_linking_libs(getattr(compiled, "libs", ()))
        failure = compiled(builder, values[: n + 1])
        self._raise(context, builder, failure, given[:n], values[1:], loc)

    def after(self, context: Any, builder: Any, signature: Any, values: Any, result: Any, loc: Any) -> None:
        """Raise if the result is a failed status."""
        if self._verb not in _STATUS_VERBS:
            return
        kind, index = signature.return_type, None
        if isinstance(kind, types.BaseTuple):  # with the index of the item that failed
            result, index = cgutils.unpack_tuple(builder, result)
            kind = kind.types[0]
        if kind == types.int64:
            self._raise(context, builder, result, signature.args[1:], values[1:], loc, index)

    def _raise(self, context, builder, failure, types_of, values, loc, index=None):
        """Emit the exception of a status, if it is below 0."""
        # Exceptions with values look for the environment of the function, which kernels that callers link in
        # do not have. Only lists need it.
        bare = context.subtarget(get_env_manager=lambda builder, return_pyobject=False: None)
        convention = type(context.call_conv)(bare)
        with cgutils.if_unlikely(builder, builder.icmp_signed("<", failure, failure.type(0))):
            if index is None:
                subject, typed = self._subject(context, builder, types_of, values)
            else:
                subject, typed = self._item(context, builder, types_of, values, index)
            kinds, values = [typ for typ, _ in typed], [value for _, value in typed]
            convention.set_dynamic_user_exc(
                builder,
                Failure,
                (failure, self._name, self._owner.subjects.get(self._verb, subject), *values),
                (types.int64, None, None, *kinds),
                loc,
                context.fndesc.qualname,
            )
            # Where a handler is in the same function, the call goes on, and the handler comes after it.
            is_handled = convention.check_try_status(builder).in_try
            with builder.if_then(builder.not_(is_handled)):
                convention._return_errcode_raw(builder, RETCODE_USEREXC)

    def _item(self, context: Any, builder: Any, types_of: Any, values: Any, index: Any) -> Any:
        """Return what a message about an item of arrays is about: the key, or the index of the word."""
        if self._names[0] != "keys":
            return "word {}", [(types.int64, index)]
        return "{}", [
            call(context, builder, operator.getitem, (types_of[0], types.int64), [values[0], index])
        ]

    def _subject(self, context: Any, builder: Any, types_of: Any, values: Any) -> Any:
        """Return what a message is about: a text with braces, and typed values."""
        typed = {
            name: (typ, value)
            for name, typ, value in zip(self._names, types_of, values, strict=False)
            if isinstance(typ, types.Number)
        }
        first = next(iter(typed), "")
        if first in ("key", "handle"):
            return "{}" if first == "key" else "handle {}", [typed[first]]
        if list(typed) == ["left", "right"]:
            pair = types.UniTuple(types.int64, 2)
            return "{}", [(pair, context.make_tuple(builder, pair, values[:2]))]
        if typed:
            return ", ".join(f"{name} {{}}" for name in typed), list(typed.values())
        arrays = [
            name for name, typ in zip(self._names, types_of, strict=False) if isinstance(typ, types.Array)
        ]
        return (f"an item of {' or '.join(arrays)}" if arrays else self._name), []
