"""The base class of all containers, and their operators and loops in compiled code.

One overload of each operator serves all containers, and calls their methods. A loop iterates over a copy of
what the container held when the loop began. So the container may change during a loop, or be released.
"""

from __future__ import annotations

import operator
from copy import deepcopy
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numba import config, types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.experimental import structref
from numba.extending import (
    intrinsic,
    lower_builtin,
    overload,
    register_model,
    type_callable,
    typeof_impl,
)

from structures.base.checks import call
from structures.base.in_njit import RENAMED, BoundKernel, ContainerClass, label_of
from structures.base.struct_type import BorrowedType, StructType, method, verbs_of
from structures.compiling.jit import quiet, twin
from structures.compiling.numba_private import Signature
from structures.compiling.without_jit import PlainContainer
from structures.primitives.memory import MOST_ITEMS
from structures.status import INT64_MAX, INT64_MIN, OK, dtype_name, error, int64


# ------------------------------------------------------------------------------------- the Python class
def named_by_package(*classes: type) -> dict[str, type]:
    """Give classes the name that users import them by: ``structures.MaxHeap``.

    Pickles contain this name, so that a class may move to another module of its package. doctest skips a
    class whose ``__module__`` is another module, but reads the dictionary ``__test__`` of a module.

    Parameters
    ----------
    *classes : type
        Classes that the package itself also exports.

    Returns
    -------
    dict from str to type
        The classes by name, for ``__test__``.

    Complexity
    ----------
    O(1) per class.

    Examples
    --------
    At the end of the module that defines the classes::

        __test__ = named_by_package(MaxHeap, MinHeap)

    >>> from structures import MaxHeap
    >>> MaxHeap.__module__
    'structures'
    """
    for cls in classes:
        cls.__module__ = cls.__module__.partition(".")[0]
    return {cls.__name__: cls for cls in classes}


_SHOWN, _FEW = 3, 10_000  # entries in a repr, in a container of how many at most


class _NotGiven:
    def __repr__(self) -> str:
        return "<not given>"


NOT_GIVEN: Any = _NotGiven()  # instead of a default


@method(StructType, "_size")
@quiet
def _size(self):
    return self.size


# For Python: the status of a verb that may find nothing, and what it finds, in one call, during which the
# container is locked. Between two calls, another thread might empty it.
@method(StructType, "_checked_get")
@quiet
def _checked_get(self, key):
    return self._before_getitem(key), self.get(key)


@method(StructType, "_checked_select")
@quiet
def _checked_select(self, i):
    return self._before_select(i), self.select(i)


@method(StructType, "_checked_peek")
@quiet
def _checked_peek(self):
    return self._before_peek(), self.peek()


@method(StructType, "_checked_peek_min")
@quiet
def _checked_peek_min(self):
    return self._before_peek_min(), self.peek_min()


@method(StructType, "_checked_peek_max")
@quiet
def _checked_peek_max(self):
    return self._before_peek_max(), self.peek_max()


@method(StructType, "_checked_pop")
@quiet
def _checked_pop(self):
    return self._before_pop(), self.pop()


@method(StructType, "_checked_pop_key")
@quiet
def _checked_pop_key(self, key):
    return self._before_pop(key), self.pop(key)


@method(StructType, "_checked_pop_min")
@quiet
def _checked_pop_min(self):
    return self._before_pop_min(), self.pop_min()


@method(StructType, "_checked_pop_max")
@quiet
def _checked_pop_max(self):
    return self._before_pop_max(), self.pop_max()


@method(StructType, "_checked_popleft")
@quiet
def _checked_popleft(self):
    return self._before_popleft(), self.popleft()


@method(StructType, "_checked_replace")
@quiet
def _checked_replace(self, one, other):
    failure = self._before_replace(one, other)
    if failure < 0:
        return failure, self.peek()
    return failure, self.replace(one, other)


@method(StructType, "_checked_max_count")
@quiet
def _checked_max_count(self):
    return self._before_max_count(), self.max_count()


@method(StructType, "_checked_min_count")
@quiet
def _checked_min_count(self):
    return self._before_min_count(), self.min_count()


if TYPE_CHECKING:
    _Proxy = object  # numba has no types: of a class that is Any, type checkers would accept every name
else:
    _Proxy = structref.StructRefProxy


class Facade(_Proxy, metaclass=ContainerClass):
    """Base of the container classes.

    A subclass defines ``__new__``, which returns ``cls._like(kernel_that_makes_one())``, and two methods that
    are inverse to each other and handle the whole content: ``to_arrays()``, which returns a tuple, and the
    class method ``from_arrays(*arrays)``. Its numba type has the field ``size`` and the methods ``copy`` and
    ``nbytes``. :func:`~structures.kernels.bind` connects the type and the class.

    A subclass inherits:

    * ``_kernels.name(self, ...)``: the methods of its type
    * ``_type.entries.name(self, ...)``: the same, where other arguments are checked integers and floats
    * ``_like(made)``: what a kernel has made, as an instance of this class
    * ``_done(status, what)``: raises the exception of a status below 0
    * ``_checked("_checked_pop", ...)``: what a verb finds, a default, or an exception, in one call
    * ``_room(n, name)``: a checked number of items
    * ``_content()``: the arrays that ``==`` compares; a subclass may replace it

    Users may derive a class from a container class, for instance to add methods. Constructors, copies and
    pickles are then of the derived class and keep its attributes. What compiled code returns is of the
    container class itself.

    Examples
    --------
    >>> from structures import IntMap
    >>> issubclass(IntMap, Facade)
    True
    """

    __slots__ = ()
    _numba_type_: Any = (
        structref.StructRefProxy._type
    )  # numba has a property in Python there, which takes longer
    __hash__ = None  # type: ignore[assignment]  # containers change
    __reversed__ = None  # c[key] exists, but not c[0], c[1], ...

    _kernels: Any  # the methods of the numba type, set by bind
    _type: Any
    _meminfo: Any
    _numba_box_: Any
    _only_type: Any  # the numba type of a class that has one
    from_arrays: Any
    to_arrays: Any

    if not TYPE_CHECKING:  # otherwise type checkers would accept every name

        def __getattr__(self, name: str) -> Any:
            cls, new = type(self), RENAMED.get(name)
            message = f"{cls.__name__!r} object has no attribute {name!r}"
            if new and hasattr(cls, new):
                message = f"{cls.__name__}.{name} is now {new}"
                if hasattr(cls, "set_many"):
                    message += "; set_many sets, as the update of a dict does"
            raise AttributeError(message, name=name, obj=self)

    def __len__(self) -> int:
        return self._type.entries._size(self)

    def __repr__(self) -> str:
        n = len(self)
        shown = f"<{type(self).__name__} of {n}"
        if not 0 < n <= _FEW:  # the first entries of many would take too long, for a debugger
            return f"{shown}>"
        entries: Any = self
        if hasattr(self, "items"):
            first, ends = [f"{key!r}: {value!r}" for key, value in islice(entries.items(), _SHOWN)], "{}"
        else:
            first, ends = list(map(repr, islice(entries, _SHOWN))), "[]"
        more = ["..."] * (n > _SHOWN)
        return f"{shown}: {ends[0]}{', '.join([*first, *more])}{ends[1]}>"

    def __eq__(self, other: object) -> bool:
        if getattr(other, "_kernels", None) is not self._kernels:
            return NotImplemented
        return self._equals(other)

    def __copy__(self) -> Self:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        other = self.copy()
        other._attributes().update(deepcopy(self._attributes(), memo))
        return other

    def __reduce__(self) -> Any:
        return type(self).from_arrays, self.to_arrays(), self._attributes() or None

    @classmethod
    def type(cls) -> Any:
        """Return the numba type of these containers, for ``List.empty_list`` and field specifications."""
        return cls._only_type

    def copy(self) -> Self:
        """Return an independent copy, of the same class."""
        other = self._like(self._kernels.copy(self))
        other._attributes().update(self._attributes())
        return other

    @classmethod
    def _like(cls, made: Any) -> Self:
        """Return what a kernel has made as an instance of this class; kernels do not know subclasses."""
        if isinstance(made, PlainContainer):
            return cls._numba_box_(made.struct_type, made)
        return made if type(made) is cls else cls._numba_box_(made._type, made._meminfo)

    def _attributes(self) -> dict[str, Any]:
        """Return the attributes that a user's subclass has stored in this object."""
        return getattr(self, "__dict__", {})

    @property
    def nbytes(self) -> int:
        """Size of the arrays, in bytes."""
        return self._kernels.nbytes(self)

    def _equals(self, other: Any) -> bool:
        """Return whether another container of the same type has the same content."""
        return all(map(np.array_equal, self._content(), other._content()))

    def _content(self) -> tuple[np.ndarray, ...]:
        """Return arrays that are equal if and only if the containers are: the items sorted by key."""
        arrays = self.to_arrays()
        order = np.argsort(arrays[0], kind="stable")
        return tuple(array[order] for array in arrays)

    @staticmethod
    def _done(status: int, what: object) -> None:
        """Raise the exception of a failed status; `what` is the subject of its message."""
        if status < 0:
            raise error(status, what)

    def _checked(self, verb: str, *numbers: Any, what: object = None, default: Any = NOT_GIVEN) -> Any:
        """Return what a verb finds; if it finds nothing, the default, or raise with `what` as the subject."""
        failure, found = getattr(self._type.entries, verb)(self, *numbers)
        if failure == OK:
            return found
        if default is NOT_GIVEN:
            raise error(failure, type(self).__name__ if what is None else what)
        return default

    @staticmethod
    def _is_int64(key: Any) -> bool:
        return isinstance(key, (int, np.integer)) and bool(INT64_MIN <= key <= INT64_MAX)

    @staticmethod
    def _room(n: int, name: str) -> int:
        """Return `n` as the number of items of an array, or raise an error that contains `name`."""
        n = int64(n, name)
        if not 0 <= n < MOST_ITEMS:
            raise ValueError(f"{name} must be in [0, 2**48), not {n}")
        return n


class OfNumbers(Facade):
    """Base of the classes of numbers, which have a numba type for each dtype."""

    __slots__ = ()
    _types: Any  # the numba types, by the name of the dtype

    @classmethod
    def type(cls, dtype: Any = None) -> Any:
        """Return the numba type of a container, for ``List.empty_list``, field specifications and signatures.

        Parameters
        ----------
        dtype : {int64, int32, float64, float32}, optional
            Type of the numbers, int64 by default. Not every container has all of them.

        Returns
        -------
        numba type

        Raises
        ------
        TypeError
            Another dtype.

        Complexity
        ----------
        O(1).

        Examples
        --------
        >>> from structures import Deque
        >>> Deque.type(float) == Deque(float)._numba_type_
        True
        """
        return cls._types[dtype_name(np.int64 if dtype is None else dtype, tuple(cls._types))]

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the numbers."""
        return self._type.dtype


@typeof_impl.register(Facade)
def _typeof(container: Any, context: Any) -> Any:
    if context.purpose.name == "constant":
        name = type(container).__name__
        raise TypingError(f"a {name} cannot be a constant of compiled code: pass it as an argument")
    return container._numba_type_


# ----------------------------------------------------------------------------- operators in compiled code
def _is_container(typ: Any) -> bool:
    return isinstance(typ, (StructType, BorrowedType))


def _are_alike(typ: Any, other: Any) -> bool:
    return _is_container(typ) and getattr(typ, "owner", typ) == getattr(other, "owner", other)


@overload(len)
def _len(self):
    if not _is_container(self):
        return None
    fields = getattr(self, "owner", self).field_dict
    return (lambda self: self.size) if "size" in fields else (lambda self: self.len())


@overload(bool)
def _bool(self):
    return (lambda self: len(self) > 0) if _is_container(self) else None


@overload(operator.not_)
def _not(self):
    return (lambda self: len(self) == 0) if _is_container(self) else None


class _Operator(NamedTuple):
    """An operator that calls a method; it is typed as the method is, so that both give the same messages."""

    operator: Any
    text: str  # the operator in messages
    special: str  # its method in Python
    method: str

    def bound(self, context: Any, container: Any) -> Any:
        """Return the method of a container, or raise."""
        owner = getattr(container, "owner", container)
        text = self.text.format(owner.label)
        if owner.method(self.method) is None or not hasattr(owner.facade or StructType, self.special):
            raise TypingError(
                f"{text}: {owner.label} has no such operator; its methods are {', '.join(verbs_of(owner))}"
            )
        method = context.resolve_getattr(container, self.method)
        verb = "getitem" if self.method == "get" else self.method
        return BoundKernel(method.function, container, method.guard, verb, text)

    def call_type(self, context: Any, container: Any, arguments: Any) -> Any:
        """Return the method of a container and the signature of its call, or raise."""
        bound = self.bound(context, container)
        signature = bound.get_call_type(context, arguments, {})
        if "other" in self.text and not _are_alike(container, arguments[0]):
            raise TypingError(f"{bound.text}: other must be of the same type, not {label_of(arguments[0])}")
        return bound, signature

    def typer(self, context: Any) -> Any:
        """Return what gives the operator its type."""

        def typed(container, *arguments):
            if not _is_container(container):
                return None
            try:
                _, called = self.call_type(context, container, arguments)
            except TypingError:
                # numba would show the message as one of many, far below. Lowering raises it again, alone.
                return Signature(types.boolean, (container, *arguments), None)
            if "other" not in self.text:  # which numba would not convert to a borrowed one
                arguments = called.args[: len(arguments)]
            return Signature(called.return_type, (container, *arguments), None)

        return typed

    def lower(self, context: Any, builder: Any, signature: Any, values: Any) -> Any:
        """Emit a call of the method."""
        container, *arguments = signature.args
        bound, called = self.call_type(context.typing_context, container, arguments)
        omitted = [context.get_dummy_value()] * (len(called.args) - len(arguments))
        compiled = context.get_function(bound, called)
        context.add_linking_libs(getattr(compiled, "libs", ()))
        converted = zip(values[1:], arguments, called.args, strict=False)
        others = [context.cast(builder, *each) for each in converted]
        result = compiled(builder, [values[0], *others, *omitted])
        return builder.not_(result) if self.operator is operator.ne else result


_OPERATORS = (
    _Operator(operator.contains, "key in {}", "__contains__", "contains"),
    _Operator(operator.getitem, "{}[key]", "__getitem__", "get"),
    _Operator(operator.setitem, "{}[key] = value", "__setitem__", "set"),
    _Operator(operator.delitem, "del {}[key]", "__delitem__", "remove"),
    _Operator(operator.eq, "{} == other", "__eq__", "equals"),
    _Operator(operator.ne, "{} != other", "__ne__", "equals"),
    _Operator(operator.le, "{} <= other", "__le__", "_le"),
    _Operator(operator.and_, "{} & other", "__and__", "_and"),
    _Operator(operator.or_, "{} | other", "__or__", "_or"),
    _Operator(operator.sub, "{} - other", "__sub__", "_sub"),
    _Operator(operator.xor, "{} ^ other", "__xor__", "_xor"),
)


# ------------------------------------------------------------------------- loops in compiled code
class PairsType(types.IterableType):
    """numba type of two arrays of the same length, over which a loop iterates in pairs."""

    def __init__(self, arrays: types.BaseTuple) -> None:
        self.arrays = arrays
        super().__init__(name=f"pairs of {arrays}")

    @property
    def iterator_type(self) -> Any:
        """The type of the loop."""
        return types.ZipType(self.arrays)


@register_model(PairsType)
def _model_of_pairs(manager, typ):
    return manager[typ.arrays]


@twin(lambda arrays: zip(*arrays, strict=True))
@intrinsic
def pairs_of(typingctx, arrays):
    """Return two arrays of the same length, for loops over ``(array[i], other[i])``."""

    def codegen(context, builder, signature, values):
        context.nrt.incref(builder, arrays, values[0])  # the result owns references
        return values[0]

    return PairsType(arrays)(arrays), codegen


def _loop_over_pairs(context, builder, signature, values):
    (typ,) = signature.args
    arrays = cgutils.unpack_tuple(builder, values[0])
    return call(context, builder, zip, typ.arrays.types, arrays)[1]


def _method_of_loop(context: Any, container: Any) -> Any:
    return context.resolve_getattr(container, "__iter__") if _is_container(container) else None


def _type_of_loop(context):
    def typer(container):
        keys = _method_of_loop(context, container)
        return keys and context.resolve_function_type(keys, (), {}).return_type.iterator_type

    return typer


def _loop_over_keys(context, builder, signature, values):
    keys = _method_of_loop(context.typing_context, signature.args[0])
    array_type, array = call(context, builder, keys, (), values)
    _, loop = call(context, builder, "getiter", (array_type,), [array])
    context.nrt.decref(builder, array_type, array)  # the loop has its own reference
    return loop


if not config.DISABLE_JIT:
    for _each in _OPERATORS:
        type_callable(_each.operator)(_each.typer)
        for _kind in (StructType, BorrowedType):
            lower_builtin(_each.operator, _kind, *[types.Any] * (1 + (_each.method == "set")))(_each.lower)
            if "other" in _each.text:  # else numba would take its own code for arrays as well
                lower_builtin(_each.operator, _kind, types.Array)(_each.lower)
    lower_builtin("getiter", PairsType)(_loop_over_pairs)
    type_callable("getiter")(_type_of_loop)
    lower_builtin("getiter", StructType)(_loop_over_keys)
    lower_builtin("getiter", BorrowedType)(_loop_over_keys)
