"""Methods of containers in compiled code: ``heap.add`` is a kernel with its first argument bound.

A call of a method is the call of the kernel. Nothing else has to be compiled, as it would for an overload.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from numba import typeof, types
from numba.extending import infer_getattr, register_model

from structures.compiling.dispatchers import QuietType, widened
from structures.compiling.numba_private import AttributeTemplate, BoundFunction


class BoundKernel(BoundFunction):
    """numba type of ``heap.add``; ``check(this, names, types)`` refuses wrong types of arguments.

    `around` is the context manager that emits what is around a call, or None.
    """

    def __init__(self, function: Any, this: Any, check: Callable[..., None], around: Any) -> None:
        self.function = function
        self.this = this
        self.check = check
        self.around = around
        types.Type.__init__(self, name=f"kernel({function.py_func.__name__} for {this})")

    @property
    def key(self) -> Any:
        """What makes two of them equal."""
        return self.function, self.this

    def get_call_type(self, context: Any, args: Any, kws: Any) -> Any:
        """Return the signature of a call, with the container as its receiver."""
        names = list(inspect.signature(self.function.py_func).parameters)[1:]
        self.check(self.this, (*names[: len(args)], *dict(kws)), (*args, *dict(kws).values()))
        function = typeof(self.function).get_call_type(context, (self.this, *args), kws)
        parameters = list(function.pysig.parameters.values())[1:]
        # A quiet kernel takes int64. A uint64, as the index of a prange is, is cast by the lowering of the
        # call, which checks it.
        given = {**dict(zip(names, args, strict=False)), **dict(kws)}
        passed = (
            types.uint64 if given.get(name) == types.uint64 else typ
            for name, typ in zip(names, function.args[1:], strict=True)
        )
        return function.replace(
            args=tuple(passed), recvr=self.this, pysig=function.pysig.replace(parameters=parameters)
        )

    def get_call_signatures(self) -> Any:
        """Return the signatures known before a call: none."""
        return [], True

    def get_impl_key(self, sig: Any) -> Any:
        """Return the key of the compiled kernel."""
        kernel_type = typeof(self.function)
        this = self.this
        if isinstance(kernel_type, QuietType):
            this = getattr(this, "passed_as", None) or this
            sig = sig.replace(args=tuple(map(widened, sig.args)))
        sig = sig.replace(args=(this, *sig.args[1:]))
        key = kernel_type.get_impl_key(sig)
        if self.around is None:
            return key
        context, locked_key = kernel_type.dispatcher.targetctx, (self.around, key)
        if locked_key not in context._defns:
            lowering = kernel_type.call_within(self.around, sig)
            context.insert_func_defn([(lowering, locked_key, (types.Any,) * len(sig.args))])
        return locked_key


@register_model(BoundKernel)
def _model_of_bound_kernel(manager, typ):
    return manager[typ.this]  # a bound kernel is represented by its container


def resolve_attributes(
    type_class: type,
    field_of: Callable[..., Any],
    method_of: Callable[..., Any],
    check: Callable[..., None],
    around: Callable[..., Any],
) -> None:
    """Let compiled code find the fields and the methods of the types of a class.

    ``field_of(type, name)`` is the type of a field, ``method_of(type, name)`` the kernel of a method,
    ``around(type, name)`` a context manager that emits what is around its calls. All may be None.
    """

    class Attributes(AttributeTemplate):
        key = type_class

        def generic_resolve(self, typ, attr):
            field = field_of(typ, attr)
            if field is not None:
                return field
            function = method_of(typ, attr)
            return function and BoundKernel(function, typ, check, around(typ, attr))

    infer_getattr(Attributes)
