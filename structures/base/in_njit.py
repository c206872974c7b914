"""Containers in compiled code, written as in Python: ``heap = MinHeap(np.float64)``, ``heap.add(key, 1)``.

**Methods.** ``heap.add`` is a kernel with its first argument bound. A call of a method is a call of the
kernel. Nothing else has to be compiled, unlike for an overload.

**Classes.** A container class is a constant of compiled code, of a :class:`ClassType`. Its constructor and
its class methods are overloads: functions that get the arguments when a caller is compiled, and return the
code of the call. They get the value of an argument that the compiler knows (a dtype, a literal number or
string, a default), and the numba type of any other. For ``MinHeap(np.float64)`` that is the dtype float64.
What a caller has compiled in does not go stale: see :mod:`structures.compiling.cache`.

**Arguments.** numba would truncate a float to an integer, wrap an integer around, or report an error far from
the call. So the arguments of a method are checked when its caller is compiled, and a one-line message says
what to do.
"""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable, Collection, Iterable
from typing import Any

import numpy as np
from numba import config, typeof, types
from numba.core.errors import TypingError
from numba.extending import (
    as_numba_type,
    infer_getattr,
    models,
    overload,
    register_model,
    typeof_impl,
)

from structures.base.checks import Checks, has_checks, is_checked
from structures.compiling.cache import PACKAGE
from structures.compiling.dispatchers import QuietType, widened
from structures.compiling.numba_private import AttributeTemplate, BoundFunction, cpu_target
from structures.compiling.without_jit import PROPERTIES
from structures.status import DATA_HINT, DTYPE_HINT, PAIR_HINT, TEXT_HINT

# --------------------------------------------------------------------------------------------- arguments
_ARRAYS = frozenset(
    (
        *("keys", "values", "counts", "deltas", "numbers", "priorities", "payloads", "positions", "tokens"),
        *("rows", "distances", "ids", "ones", "others", "offsets", "data", "segment_offsets"),
    )
)
"""The parameters of methods that are arrays with one dimension."""

_NEVER_NUMBERS = (types.UnicodeType, types.Bytes, types.Complex, types.NoneType)
_NO_NUMBERS = (
    *(*_NEVER_NUMBERS, types.Array, types.BaseTuple, types.StructRef),
    *(types.List, types.ListType, types.Set, types.DictType, types.SliceType),
)
_NO_ARRAYS = (
    *(*_NEVER_NUMBERS, types.BaseTuple, types.Number, types.Boolean),
    *(types.List, types.ListType, types.Set, types.DictType, types.SliceType),
)


def check_arguments(
    this: Any, names: Iterable[str], arguments: Iterable[Any], pairs: Collection[str] = ()
) -> None:
    """Raise ``TypingError`` for the first argument of a method of `this` that is not what its name says.

    That is an array or a number; an integer, or a float where the container holds floats. Those of `pairs`
    are a key and a number.
    """
    owner, names = getattr(this, "owner", this), tuple(names)
    for name, typ in zip(names, map(types.unliteral, arguments), strict=False):
        if name in ("low", "high") and isinstance(typ, types.NoneType):
            continue
        if name == "other" and names[0] == "other":
            is_wrong = isinstance(typ, (*_NO_ARRAYS, types.Array)) and not isinstance(typ, types.StructRef)
            problem = f"must be a container like {owner.label}" if is_wrong else ""
        elif name in pairs:
            problem = _problem_of_pair(typ, owner)
        else:
            problem = _problem_of(typ, name, owner)
        if problem:
            is_array = isinstance(typ, types.Array) and typ.ndim == 1 and name in _ARRAYS and name != "data"
            shown = f"are {typ.dtype}" if is_array else f"is {label_of(typ)}"
            raise TypingError(f"{name} {shown}, but {problem}")
        is_converted = name == "keys" or name in owner.number_parameters
        if is_converted and isinstance(typ, types.Array) and typ.dtype == types.uint64:
            raise TypingError(f"{name} may not fit int64, being {typ}: pass {name}.astype(np.int64)")


def label_of(typ: Any) -> Any:
    """Return what messages call a type."""
    return getattr(getattr(typ, "owner", typ), "label", typ)


def _problem_of(typ: Any, name: str, owner: Any) -> str:
    """Return what is wrong with an argument, and what to do; the empty string if it is valid."""
    is_ours = type(owner).__module__.startswith(f"{PACKAGE}.")
    if is_ours and name in _ARRAYS:
        if isinstance(typ, _NO_ARRAYS) or (isinstance(typ, types.Array) and typ.ndim != 1):
            hint = DATA_HINT if name == "data" and isinstance(typ, (types.UnicodeType, types.Bytes)) else ""
            return "must be an array with one dimension" + (f": {hint}" if hint else "")
        if (
            name == "data"
            and isinstance(typ, types.Array)
            and (typ.dtype != types.uint8 or typ.layout != "C")
        ):
            return "must be a C-contiguous array of uint8"
    elif name == "pair" and isinstance(typ, types.BaseTuple):
        return ""
    elif isinstance(typ, _NO_NUMBERS if is_ours else _NEVER_NUMBERS):
        number = "a number" if name in owner.float_parameters else "an integer"
        return f"must be {number}{_hint(typ, name, owner)}"
    return _problem_of_number(typ.dtype if isinstance(typ, types.Array) else typ, name, owner)


def _problem_of_pair(typ: Any, owner: Any) -> str:
    if not isinstance(typ, types.BaseTuple) or len(typ) != 2:
        return "must be a pair (key, value)"
    for name, part in zip(("key", "value"), typ, strict=True):
        if _problem_of(part, name, owner):
            return f"its {name} must be {'a number' if name in owner.float_parameters else 'an integer'}"
    return ""


def _problem_of_number(scalar: Any, name: str, owner: Any) -> str:
    if not isinstance(scalar, types.Float) or name in owner.float_parameters:
        return ""
    if name in owner.number_parameters:
        return f"{owner.label} holds integers: {DTYPE_HINT}"
    return "must be an integer" + _hint(scalar, name, owner)


def _hint(typ: Any, name: str, owner: Any) -> str:
    """Return what to do about an argument that is not a number that the container holds."""
    is_key = name in ("key", "keys")
    hint = ""
    if isinstance(typ, types.Float):
        hint = owner.float_key_hint if is_key else ""
    elif isinstance(typ, types.SliceType):
        hint = "loop over the range, or take a slice of the array"
    elif is_key and isinstance(typ, types.BaseTuple):
        hint = PAIR_HINT
    elif is_key and isinstance(typ, (types.UnicodeType, types.Bytes)):
        hint = TEXT_HINT
    elif name != "default" and isinstance(typ, types.Array):
        hint = "of many there is a verb such as add_many, get_many or set_many"
    return f": {hint}" if hint else ""


RENAMED = {"update": "add_many", "update_many": "add_many"}
"""Methods of 0.1.0, and their new names in the containers that no longer have them."""

_ELSEWHERE = {"irange": "keys", "peekitem": "select", "popitem": "pop_min"}  # names of other packages

_ENTERS = ("push", "heappush", "insert", "put", "append")  # in others' containers


def check_verb(owner: Any, name: str, verbs: Collection[str]) -> None:
    """Raise ``TypingError`` for a method that a container does not have in compiled code."""
    if not name.startswith("_"):
        renamed = RENAMED.get(name) or _ELSEWHERE.get(name)
        close = [renamed] if renamed in verbs else difflib.get_close_matches(name, verbs, 1)
        hint = f"do you mean {close[0]}?" if close else f"it has {', '.join(sorted(verbs))}"
        if name in _ENTERS and {"set", "contains"} <= set(verbs):
            hint = "write container[key] = value"
        raise TypingError(f"{owner.label} has no {name} in compiled code: {hint}")


# ----------------------------------------------------------------------------------------------- methods
class BoundKernel(BoundFunction):
    """numba type of ``heap.add``; `guard` emits code before and after a call.

    Messages call it `text`, which is that of an operator if it is the method of one.
    """

    def __init__(self, function: Any, this: Any, guard: Any, verb: str, text: str = "") -> None:
        self.function = function
        self.this = this
        self.guard = guard
        self.verb = verb
        self.text = text
        types.Type.__init__(self, name=f"{verb} of {this}")

    @property
    def key(self) -> Any:
        """What equality and hashes of these types depend on."""
        return self.function, self.this, self.verb, self.text

    def get_call_type(self, context: Any, args: Any, kws: Any) -> Any:
        """Return the signature of a call, with the container as its receiver."""
        names = self._names()
        pairs = [
            each.name for each in self._parameters().parameters.values() if isinstance(each.default, tuple)
        ]
        text = self.text or f"{label_of(self.this)}.{self.verb}"
        try:
            self._parameters().bind(*args, **dict(kws))
        except TypeError as error:
            raise TypingError(f"{text} takes {self._parameters()}: {error}") from None
        try:
            named = (*names[: len(args)], *dict(kws))
            check_arguments(self.this, named, (*args, *dict(kws).values()), pairs)
        except TypingError as error:
            raise TypingError(f"{text}: {error}") from None
        function = typeof(self.function).get_call_type(context, (self.this, *args), kws)
        parameters = list(function.pysig.parameters.values())[1:]
        # A quiet kernel takes int64. A uint64, such as the index of a prange, is cast when the call is
        # lowered, with a check.
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
        key = kernel_type.get_impl_key(sig.replace(args=(this, *sig.args[1:])), self.guard)
        return self._with_checks(kernel_type.dispatcher.targetctx, key, len(sig.args))

    def _parameters(self) -> inspect.Signature:
        signature = inspect.signature(self.function.py_func)
        return signature.replace(parameters=list(signature.parameters.values())[1:])

    def _names(self) -> list[str]:
        return list(self._parameters().parameters)

    def _with_checks(self, context: Any, key: Any, n: int) -> Any:
        """Return the key of the call of a kernel and of its checks, if the verb can fail."""
        owner = getattr(self.this, "owner", self.this)
        if not has_checks(owner, self.verb):
            return key
        checked_key = (BoundKernel, self, key)
        if checked_key not in context._defns:
            arguments = (types.Any,) * n
            plain = context._defns[key].find(arguments)
            checks = Checks(owner, self.verb, self._names())

            def lower(context, builder, signature, arguments, loc):
                if not is_checked(context):
                    return plain(context, builder, signature, arguments)
                checks.before(context, builder, signature.args, arguments, loc)
                result = plain(context, builder, signature, arguments)
                checks.after(context, builder, signature, arguments, result, loc)
                return result

            lower.libs = getattr(plain, "libs", ())  # type: ignore[attr-defined]
            lower.signature = getattr(plain, "signature", None)  # type: ignore[attr-defined]
            context.insert_func_defn([(lower, checked_key, arguments)])
        return checked_key


@register_model(BoundKernel)
def _model_of_bound_kernel(manager, typ):
    return manager[typ.this]  # a bound kernel is represented by its container


def resolve_attributes(
    type_class: type,
    field_of: Callable[..., Any],
    method_of: Callable[..., Any],
    guard: Callable[..., Any],
) -> None:
    """Let compiled code find the fields and the methods of the types of a class.

    ``field_of(type, name)`` is the type of a field, and ``method_of(type, name)`` the kernel of a method;
    both may be None. ``guard(type, name)`` is the guard of the calls of a method.
    """

    class Attributes(AttributeTemplate):
        key = type_class

        def generic_resolve(self, typ, attr):
            field = field_of(typ, attr)
            if field is not None:
                return field
            function = method_of(typ, attr)
            bound = function and BoundKernel(function, typ, guard(typ, attr), attr)
            is_property = bound and attr in PROPERTIES
            return bound.get_call_type(self.context, (), {}).return_type if is_property else bound

    infer_getattr(Attributes)


# ----------------------------------------------------------------------------------------------- classes
class ContainerClass(type):
    """The metaclass of the container classes."""

    @property
    def _numba_type_(cls) -> Any:
        raise AttributeError  # or numba would use the property of the instances as the type of the class


class _Overloaded(types.Callable):
    """Base of the types of what compiled code calls of a class: the class, or one of its methods.

    The code of a call is an overload of a function that nobody sees. What is wrong with a call is said here:
    numba would show the message as one of many.
    """

    text: str
    overloaded: Any = None  # the function that returns the code of a call

    def find_problem(self, args: Any, kws: Any) -> None:
        """Raise ``TypingError`` if there is no code for arguments of these types."""
        named = dict(kws)
        signature = inspect.signature(self.overloaded)
        try:
            signature.bind(*args, **named)
        except TypeError as error:
            raise TypingError(f"{self.text}: {error}") from None
        try:
            self.overloaded(*args, **named)
        except TypingError as error:
            raise TypingError(f"{self.text}: {error}") from None

    def get_call_signatures(self) -> Any:
        """Return the signatures known before a call: none."""
        return [], True


class ClassType(_Overloaded, types.Opaque):
    """numba type of a container class."""

    def __init__(self, facade: Any) -> None:
        self.facade = facade
        self.text = facade.__name__
        self.constructor = lambda: None  # the key of the overloads of the constructor
        self.constructor.__name__ = facade.__name__
        self.methods: dict[str, Any] = {}
        super().__init__(name=f"class {facade.__name__}")

    def get_call_type(self, context: Any, args: Any, kws: Any) -> Any:
        """Return the signature of a call of the class."""
        self.find_problem(args, kws)
        self._called = context.resolve_value_type(self.constructor)
        return self._called.get_call_type(context, args, kws)

    def get_impl_key(self, sig: Any) -> Any:
        """Return the key of the compiled constructor."""
        return self._called.get_impl_key(sig)


class _ClassMethod(_Overloaded, BoundFunction):
    """numba type of a class method."""

    def __init__(self, this: ClassType, name: str) -> None:
        self.this = this
        self.text = f"{this.text}.{name}"
        self.function = lambda: None  # the key of the overloads
        types.Type.__init__(self, name=self.text)

    @property
    def key(self) -> Any:
        """What equality and hashes of these types depend on."""
        return self.name

    def get_call_type(self, context: Any, args: Any, kws: Any) -> Any:
        """Return the signature of a call, with the class as its receiver."""
        self.find_problem((self.this, *args), kws)
        self._called = context.resolve_value_type(self.function)
        found = self._called.get_call_type(context, (self.this, *args), kws)
        parameters = list(found.pysig.parameters.values())[1:]
        return found.replace(
            args=found.args[1:], recvr=self.this, pysig=found.pysig.replace(parameters=parameters)
        )

    def get_impl_key(self, sig: Any) -> Any:
        """Return the key of the compiled method."""
        return self._called.get_impl_key(sig)


register_model(_ClassMethod)(models.OpaqueModel)


class _ClassAttributes(AttributeTemplate):
    key = ClassType

    def generic_resolve(self, typ, attr):
        if attr not in typ.methods and not attr.startswith("_"):
            raise TypingError(f"{typ.text}.{attr}: compiled code has {', '.join(sorted(typ.methods))}")
        return typ.methods.get(attr)


infer_getattr(_ClassAttributes)
register_model(ClassType)(models.OpaqueModel)


@functools.cache
def class_type(facade: Any) -> ClassType:
    """Return the numba type of a class."""
    return ClassType(facade)


@typeof_impl.register(ContainerClass)
def _typeof_class(facade: Any, context: Any) -> ClassType:
    if context.purpose.name == "argument":
        name = facade.__name__
        raise TypingError(f"{name} is a class: pass a container, such as {name}()")
    # The compiler may have just imported the class, and does not know its overloads yet.
    cpu_target.typing_context.refresh()
    cpu_target.target_context.refresh()
    return class_type(facade)


@as_numba_type.register
def _refuse_as_annotation(annotation: Any) -> None:
    """Raise for a class that is the type of a field of a jitclass."""
    if isinstance(annotation, ContainerClass):
        name = annotation.__name__
        raise TypingError(f"{name} is a class, and no type of a field: write {name}.type()")


def _value_or_type(argument: Any) -> Any:
    """Return the value of an argument if the compiler knows it, else its numba type."""
    if isinstance(argument, types.Omitted):
        return argument.value
    if isinstance(argument, types.Literal):
        return argument.literal_value
    if isinstance(argument, (types.NumberClass, types.DType)):
        return np.dtype(argument.dtype.name)
    if isinstance(argument, types.NoneType):
        return None
    if isinstance(argument, types.Function) and argument.typing_key in (int, float):
        return np.dtype(argument.typing_key)
    return argument


def _with_values(overload_function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(overload_function)
    def overloaded(*arguments: Any, **named: Any) -> Any:
        named = {name: _value_or_type(each) for name, each in named.items()}
        try:
            return overload_function(*map(_value_or_type, arguments), **named)
        except (TypeError, ValueError) as error:
            raise TypingError(str(error)) from None

    return overloaded


def constructor(facade: Any) -> Callable[[Any], Any]:
    """Let compiled code call a container class."""
    called = class_type(facade)
    return _overload(called, called.constructor)


def class_method(facade: Any, name: str) -> Callable[[Any], Any]:
    """Let compiled code call a class method, like :func:`constructor`; the class is the first argument."""
    this = class_type(facade)
    method = this.methods[name] = _ClassMethod(this, name)
    return _overload(method, method.function)


def must_be_integer(argument: Any, name: str) -> None:
    """Raise for an argument of a constructor that is not an integer."""
    if not isinstance(argument, (int, types.Integer)):
        raise TypeError(f"{name} must be an integer, not {argument}")


def must_be_integers(argument: Any, name: str) -> None:
    """Raise for an argument of a constructor that is not an array of integers."""
    is_array = isinstance(argument, types.Array) and argument.ndim == 1
    if not (is_array and isinstance(argument.dtype, types.Integer)):
        raise TypeError(f"{name} must be an array of integers with one dimension, not {argument}")


def dtype_of_numbers(argument: Any, name: str) -> np.dtype:
    """Return the dtype of numbers for a container: float32, float64 or int64; raise if it is not an array."""
    is_array = isinstance(argument, types.Array) and argument.ndim == 1
    if not (is_array and isinstance(argument.dtype, (types.Integer, types.Float))):
        raise TypeError(f"{name} must be an array of numbers with one dimension, not {argument}")
    if isinstance(argument.dtype, types.Integer):
        return np.dtype(np.int64)
    return np.dtype(np.float32 if argument.dtype == types.float32 else np.float64)


def must_be_entries(container_type: Any, keys: Any, name: str, numbers: Any) -> None:
    """Raise for keys and numbers that are not arrays of the dtypes that the container holds."""
    dtype_of_numbers(keys, "keys")
    dtype_of_numbers(numbers, name)
    check_arguments(container_type, ("keys", name), (keys, numbers))


def only_empty(facade: Any, arguments: str) -> TypeError:
    """Return the exception for initial items, which constructors in compiled code do not take."""
    name = facade.__name__
    return TypeError(f"in compiled code, use an empty {name}(), or {name}.from_arrays({arguments})")


def makes_empty(facade: Any, new: Any, arguments: str) -> None:
    """Let compiled code call a class without arguments; the kernel `new` makes the container.

    `arguments` are the arguments of ``from_arrays``, for the error message.
    """

    def overloaded(items=None):
        if items is not None:
            raise only_empty(facade, arguments)
        return lambda items=None: new()

    constructor(facade)(overloaded)


def _overload(called: Any, key: Any) -> Callable[[Any], Any]:
    def register(function: Any) -> Any:
        called.overloaded = _with_values(function)
        if not config.DISABLE_JIT:
            overload(key, prefer_literal=True, strict=False)(called.overloaded)
        return function

    return register


def name_type(facade: Any) -> None:
    """Let compiled code use the numba type of a container: ``List.empty_list(MinHeap.type(np.float64))``."""
    signature = inspect.signature(facade.type.__func__)
    names = [each.replace(annotation=each.empty) for each in signature.parameters.values()]
    signature = signature.replace(parameters=names, return_annotation=signature.empty)
    bare = signature.replace(parameters=[each.replace(default=each.empty) for each in names])

    def overloaded(cls, *arguments, **parameters):
        variables = {"container_type": facade.type(*arguments, **parameters)}
        exec(f"def code{bare}: return container_type", variables)
        variables["code"].__defaults__ = facade.type.__func__.__defaults__
        return variables["code"]

    overloaded.__signature__ = signature  # type: ignore[attr-defined]
    class_method(facade, "type")(overloaded)
