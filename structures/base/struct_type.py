"""The container types: their fields, how kernels get a container, and its methods in compiled code.

A container is a numba StructRef: a reference-counted pointer to its fields, some of which are arrays, which
are reference-counted themselves. Two facts determine what kernels get.

1. **Counting references is slow.** Every atomic increment or decrement takes 5 ns, a whole heap operation
   60 ns. So quiet kernels (:mod:`structures.compiling.jit`) get a container as a :class:`BorrowedType`, a
   bare pointer, and what they read from its fields is borrowed, too. The caller keeps the container alive
   during the call. The rule for kernels: an array that was read from a field is not used after the field is
   assigned, and is never stored or returned, only copied. An array that is an argument of a quiet kernel is
   not stored, either.
2. **Callers go stale.** A user's cached function that takes a container contains our code, inlined. The
   fields of every container type include the digest of this package (:func:`fields_of`). An upgrade makes a
   different type, so that the user's function is compiled again.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import contextmanager, suppress
from ctypes import c_void_p, sizeof
from functools import cached_property
from hashlib import sha256
from types import MappingProxyType, SimpleNamespace
from typing import Any

import numpy as np
from numba import config, typeof, types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.experimental import structref
from numba.extending import (
    NativeValue,
    box,
    intrinsic,
    lower_cast,
    lower_getattr,
    lower_getattr_generic,
    lower_setattr_generic,
    models,
    overload,
    register_model,
    unbox,
)

from structures.base.checks import call
from structures.base.in_njit import BoundKernel, check_verb, name_type, resolve_attributes
from structures.base.locks import (
    FIELDS,
    is_shared,
    lock_for_call,
    lock_in_region,
    store_region,
    unlock_after_call,
    unlock_in_region,
)
from structures.compiling.cache import DIGEST, PACKAGE
from structures.compiling.dispatchers import NO_GUARD
from structures.compiling.jit import entry_for
from structures.compiling.numba_private import MemInfoPointer, cpu_target, meminfo_struct_type
from structures.compiling.without_jit import PROPERTIES, PlainContainer, give_compiled_verbs

_CHANGING_VERBS = (
    *("add", "add_many", "assign", "clear", "compact", "discard", "drop", "improve", "merge", "pop"),
    *("pop_many", "pop_max", "pop_min", "push", "push_many", "rebuild", "remove", "remove_many"),
    *("remove_range", "replace", "reserve", "set", "set_many", "setdefault", "sub", "update"),
)


# -------------------------------------------------------------------------------------------- types
_CLASSES: dict[tuple[str, str], type[StructType]] = {}  # by module and name, for types that are unpickled


class StructType(types.StructRef, types.IterableType):
    """Base of the container types."""

    facade: Any = None  # the Python class, set by bind; calls lock containers that have one
    also_locked: Sequence[
        str
    ] = ()  # fields with containers that Python also reaches in other ways: calls lock these, too

    def __init_subclass__(cls) -> None:
        _CLASSES[cls.__module__, cls.__qualname__] = cls

    def __init__(self, fields: Any) -> None:
        super().__init__(fields)
        # Types that contain this one may differ only by its name, so the name must contain the digest.
        self.name = f"{self.label}@{sha256(repr(self._plain_fields).encode()).hexdigest()[:8]}"

    @property
    def key(self) -> Any:
        """What equality and hashes of these types depend on."""
        return type(self), self._plain_fields

    @property
    def label(self) -> str:
        """The name in messages: that of the class, with what distinguishes its types."""
        return type(self).__name__.removesuffix("Type")

    def preprocess_fields(self, fields: Any) -> tuple[tuple[str, Any], ...]:
        """Make literal field types plain ones, so that there is one type for all."""
        self._plain_fields = tuple((name, types.unliteral(typ)) for name, typ in fields)
        return self._plain_fields

    @property
    def field_dict(self) -> dict[str, Any]:
        """The types of the fields, by name."""
        return dict(self._plain_fields)

    float_key_hint = ""  # what to do where a key is a float
    number_parameters: Collection[str] = ()  # the parameters of methods that are counts or values
    changing_verbs: Collection[str] = _CHANGING_VERBS  # no other method changes what a container holds
    mutating_reads: Collection[str] = ()  # verbs that read, but move entries on the way
    subjects: Mapping[str, str] = MappingProxyType({})  # of the messages of verbs, if not their arguments
    is_of_rows = False  # whether threads may change it at the same time, each in its own rows

    @property
    def float_parameters(self) -> Collection[str]:
        """The parameters of methods that may be floats; elsewhere a float is a typing error."""
        return ()

    def method(self, name: str) -> Any:
        """Return the kernel that is the method of that name, or None."""
        return _find_method(type(self), name)

    @property
    def passed_as(self) -> BorrowedType:
        """The type that quiet kernels get."""
        return BorrowedType(self)

    @property
    def iterator_type(self) -> Any:
        """The type of a loop over a container: one over the array that ``__iter__`` returns."""
        keys = self.method("__iter__")
        if keys is None:
            raise TypingError(f"{self.label} has no loop over its items, but {', '.join(verbs_of(self))}")
        called = typeof(keys).get_call_type(cpu_target.typing_context, (self,), {})
        return called.return_type.iterator_type

    @cached_property
    def entries(self) -> Entries:
        """The methods for calls from Python with integers and floats."""
        return Entries(self.facade._kernels)

    def __reduce__(self) -> Any:
        return _type_of, (type(self).__module__, type(self).__qualname__, self._plain_fields)


class Entries:
    """The methods of a type for calls with integers and floats, of which Python has checked which is which.

    numba finds the code for the types of arguments at every call, which takes most of the time of a call.
    """

    def __init__(self, kernels: SimpleNamespace) -> None:
        self._kernels = kernels

    def __getattr__(self, name: str) -> Callable[..., Any]:
        kernel = getattr(self._kernels, name)

        def call(container: Any, *numbers: Any) -> Any:
            plain = (number if isinstance(number, float) else int(number) for number in numbers)
            entry = entry_for(kernel, container, *plain)
            setattr(self, name, entry)
            return entry(container, *numbers)

        return call


class NumbersType(StructType):
    """Base of the types of containers of numbers, one concrete type for each dtype: that of ``zero``."""

    @cached_property
    def dtype(self) -> np.dtype:
        """The dtype of the numbers."""
        return np.dtype(str(self.field_dict["zero"]))

    @property
    def start(self) -> Any:
        """What a new container has as its ``zero``."""
        return self.dtype.type(0)

    @property
    def float_parameters(self) -> Collection[str]:
        """The parameters that are numbers, if those are floats."""
        return self.number_parameters if self.dtype.kind == "f" else ()


class GoneType(StructType):
    """A type of another release, or of the other setting of ``NUMBA_BOUNDSCHECK``; it has no values.

    Its class may no longer exist, or have other fields. It is pickled as it was read: numba writes the index
    of a cache with all keys that it has read, for processes where the type is not gone.
    """

    def __init__(self, module: str, class_name: str, fields: Any) -> None:
        self._made_by = module, class_name
        super().__init__(fields)

    @property
    def key(self) -> Any:
        """What equality and hashes of these types depend on."""
        return self._made_by, super().key

    def __reduce__(self) -> Any:
        return _type_of, (*self._made_by, self._plain_fields)


_DIGEST_FIELD = f"digest_{DIGEST}"


def _type_of(module: str, name: str, fields: Any) -> StructType:
    """Return a type that was pickled, maybe by another release."""
    if any(each.startswith("digest_") and each != _DIGEST_FIELD for each, _ in fields):
        return GoneType(module, name, fields)
    if (module, name) not in _CLASSES:
        with suppress(ImportError):
            importlib.import_module(module)
    found = _CLASSES.get((module, name))
    return GoneType(module, name, fields) if found is None else found(fields)


def fields_of(**fields: Any) -> list[tuple[str, Any]]:
    """Return the field list of a container type, with the locks and an unused field named by our digest.

    A changed digest makes a different type, and so another signature for every cached function with one.
    """
    return [*fields.items(), *FIELDS.items(), (_DIGEST_FIELD, types.int8)]


class BorrowedType(types.Type):
    """numba type of a pointer to the fields of a container that the caller keeps alive."""

    def __init__(self, owner: StructType) -> None:
        self.owner = owner
        super().__init__(name=f"borrowed({owner.name})")

    @property
    def key(self) -> Any:
        """What equality and hashes of these types depend on."""
        return self.owner


register_model(BorrowedType)(models.OpaqueModel)


def payload_of(context: Any, builder: Any, typ: BorrowedType, pointer: Any) -> Any:
    """Return a proxy for the fields behind a borrowed pointer."""
    data_type = typ.owner.get_data_type()
    value_type = context.data_model_manager[data_type].get_value_type()
    return cgutils.create_struct_proxy(data_type)(
        context, builder, ref=builder.bitcast(pointer, value_type.as_pointer())
    )


_DATA = 3  # the index of the address of the data in numba's memory block


def borrow(context: Any, builder: Any, owner: StructType, value: Any) -> Any:
    """Return the borrowed pointer to the fields of an owned container."""
    meminfo = cgutils.create_struct_proxy(owner)(context, builder, value=value).meminfo
    meminfo = builder.bitcast(meminfo, meminfo_struct_type.as_pointer())
    address = builder.load(cgutils.gep(builder, meminfo, 0, _DATA))
    address.set_metadata("invariant.load", builder.module.add_metadata([]))  # read once before a loop
    return builder.bitcast(address, cgutils.voidptr_t)


@lower_cast(StructType, BorrowedType)
def _cast_to_borrowed(context, builder, from_type, to_type, value):
    return borrow(context, builder, from_type, value)


def _offset_of(name: str) -> int:
    """Return at which byte of a container object Python keeps an attribute.

    To read it there takes a nanosecond; by its name it takes 100, as a str of the name is made and hashed.
    """
    sample, mark = object.__new__(structref.StructRefProxy), object()
    setattr(sample, name, mark)
    n_words = structref.StructRefProxy.__basicsize__ // sizeof(c_void_p)
    words = (c_void_p * n_words).from_address(id(sample))
    return list(words).index(id(mark)) * sizeof(c_void_p)


_MEMINFO_OFFSET = _offset_of("_meminfo")


def _unbox(owner: StructType, obj: Any, c: Any) -> tuple[Any, Any]:
    """Read a container object: return the container, as a new reference, and its borrowed pointer."""
    place = cgutils.pointer_add(c.builder, obj, _MEMINFO_OFFSET, c.pyapi.pyobj.as_pointer())
    struct = cgutils.create_struct_proxy(owner)(c.context, c.builder)
    struct.meminfo = c.unbox(MemInfoPointer(types.voidptr), c.builder.load(place)).value
    value = struct._getvalue()
    return value, borrow(c.context, c.builder, owner, value)


def _locked(owner: StructType, value: Any, pointer: Any, c: Any) -> NativeValue:
    """Return `value` for a call that locks the container, and the containers reached through it."""
    if owner.facade is None:
        return NativeValue(value)
    typed = [(owner, pointer)]
    for name in owner.also_locked:
        field = _get_borrowed_field(c.context, c.builder, owner.passed_as, pointer, name)
        typed.append((owner.field_dict[name], field))
    payloads = [payload_of(c.context, c.builder, each.passed_as, at) for each, at in typed]
    return NativeValue(
        value, is_error=lock_for_call(c, payloads), cleanup=lambda: unlock_after_call(c, payloads)
    )


@unbox(BorrowedType)
def _unbox_borrowed(typ, obj, c):
    value, pointer = _unbox(typ.owner, obj, c)
    # Drop the reference that reading the object has counted: the object itself outlives the call.
    c.context.nrt.decref(c.builder, typ.owner, value)
    return _locked(typ.owner, pointer, pointer, c)


def _box(typ, val, c):
    """Make a Python object from a container; null if there is an exception, from a signal for instance."""
    meminfo = cgutils.create_struct_proxy(typ)(c.context, c.builder, value=val).meminfo
    # Constants of the function: to unpickle them, as numba does, runs Python, which a signal may interrupt.
    make, of_type = (
        c.env_manager.read_const(c.env_manager.add_const(each)) for each in (typ.facade._numba_box_, typ)
    )
    made = cgutils.alloca_once_value(c.builder, c.pyapi.get_null_object())
    # Numba goes on with the other items of a tuple where one raised.
    with cgutils.if_likely(c.builder, cgutils.is_null(c.builder, c.pyapi.err_occurred())):
        memory = c.box(MemInfoPointer(types.voidptr), meminfo)
        c.builder.store(c.pyapi.call_function_objargs(make, (of_type, memory)), made)
        c.pyapi.decref(memory)
    return c.builder.load(made)


def _unbox_owned(typ, obj, c):
    value, pointer = _unbox(typ, obj, c)
    native = _locked(typ, value, pointer, c)
    with c.builder.if_then(native.is_error):
        c.context.nrt.decref(c.builder, typ, value)
    return native


@lower_getattr_generic(BorrowedType)
def _get_borrowed_field(context, builder, typ, value, attr):
    if attr in PROPERTIES and attr not in typ.owner.field_dict:
        return _read_property(attr, context, builder, typ, value)
    field_type = typ.owner.field_dict[attr]
    field = getattr(payload_of(context, builder, typ, value), attr)
    if isinstance(field_type, StructType):
        return borrow(context, builder, field_type, field)
    if isinstance(field_type, types.Array):
        # An array without an owner: numba counts nothing for it.
        array = cgutils.create_struct_proxy(field_type)(context, builder, value=field)
        array.meminfo = cgutils.get_null_value(array.meminfo.type)
        array.parent = cgutils.get_null_value(array.parent.type)
        return array._getvalue()
    return field


@lower_setattr_generic(BorrowedType)
def _set_borrowed_field(context, builder, signature, arguments, attr):
    typ, value_type = signature.args
    payload = payload_of(context, builder, typ, arguments[0])
    field_type = typ.owner.field_dict[attr]
    value = context.cast(builder, arguments[1], value_type, field_type)
    old = getattr(payload, attr)
    context.nrt.incref(builder, field_type, value)
    context.nrt.decref(builder, field_type, old)
    setattr(payload, attr, value)


@intrinsic
def _new(typingctx, struct_type):
    """Allocate a container of a type with all fields null; for kernels."""
    make = typingctx.resolve_value_type(structref.new)
    signature = make.get_call_type(typingctx, (struct_type,), {})
    made_type = signature.return_type

    def codegen(context, builder, signature, arguments):
        made = context.get_function(make, signature)(builder, arguments)
        pointer = borrow(context, builder, made_type, made)
        store_region(builder, payload_of(context, builder, made_type.passed_as, pointer))
        return made

    return signature, codegen


new = PlainContainer if config.DISABLE_JIT else _new
"""``new(struct_type)`` allocates a container with all fields null; for kernels."""


def new_like(container: Any) -> Any:
    """Allocate a container of the same type with all fields null; for kernels."""
    return PlainContainer(container.struct_type)  # without the JIT


@overload(new_like)
def _new_like(container):
    struct_type = getattr(container, "owner", container)
    return lambda container: _new(struct_type)


# ------------------------------------------------------------------------------------------ methods
_METHODS: dict[tuple[type, str], Any] = {}


def method(struct_class: type, name: str) -> Callable[[Any], Any]:
    """Make a kernel a method of a container type inside compiled code: ``heap.add(key, 1)``.

    The kernel's first parameter is the container, owned or borrowed.
    """

    def register(function: Any) -> Any:
        _METHODS[struct_class, name] = function
        return function

    return register


def _find_method(struct_class: type, name: str) -> Any:
    """Return the kernel that is the method of a container type, or None."""
    found = (_METHODS.get((base, name)) for base in struct_class.__mro__)
    return next((function for function in found if function is not None), None)


def _read_property(name: str, context: Any, builder: Any, typ: Any, value: Any) -> Any:
    """Emit the call of a method that is a property in Python, or the read of a field of that name."""
    owner = getattr(typ, "owner", typ)
    if name in owner.field_dict:  # of an owned container: numba would look here first
        pointer = borrow(context, builder, owner, value)
        field = getattr(payload_of(context, builder, owner.passed_as, pointer), name)
        context.nrt.incref(builder, owner.field_dict[name], field)
        return field
    kernel = BoundKernel(_find_method(type(owner), name), typ, _guard_of(typ, name), name)
    return call(context, builder, kernel, (), [value])[1]


for _name in PROPERTIES:
    lower_getattr(StructType, _name)(functools.partial(_read_property, _name))


def bind(struct_class: type[StructType], facade: Any) -> None:
    """Make `facade` the Python class of a container type, and the type's methods its ``_kernels``.

    The Python class calls the same kernels as compiled code: no further layer is compiled.
    """
    names = {name for base, name in _METHODS if issubclass(struct_class, base)}
    facade._kernels = SimpleNamespace(**{name: _find_method(struct_class, name) for name in names})
    name_type(facade)
    struct_class.facade = facade
    if config.DISABLE_JIT:
        give_compiled_verbs(facade)
    box(struct_class)(_box)
    unbox(struct_class)(_unbox_owned)


def _method_of(owner: StructType, name: str) -> Any:
    """Return the kernel that is a method of a type, None for a field; raise for any other name."""
    found = _find_method(type(owner), name)
    if found is None and name not in owner.field_dict and owner.facade is not None:
        check_verb(owner, name, verbs_of(owner))
    return found


def verbs_of(owner: StructType) -> list[str]:
    """Return the names of the methods that a type has in compiled code."""
    return sorted(verb for verb in vars(owner.facade._kernels) if verb[0] != "_")


def _borrowed_field(typ: BorrowedType, name: str) -> Any:
    """Return the type of a field of a borrowed container, or None."""
    field = typ.owner.field_dict.get(name)
    return field.passed_as if isinstance(field, StructType) else field


class _RegionLock:
    """The guard of calls of a method from outside this package: it locks the first argument."""

    def __init__(self, owner: StructType, only_reads: bool) -> None:
        self._owner = owner
        self.only_reads = only_reads

    def of_callers_in(self, context: Any) -> Any:
        caller = context.fndesc.modname
        is_inside = caller.startswith(f"{PACKAGE}.") and not caller.endswith(".container")  # operators
        return NO_GUARD if is_inside else self

    def _payload(self, context: Any, builder: Any, argument_types: Any, arguments: Any) -> Any:
        pointer = arguments[0]
        if isinstance(argument_types[0], StructType):
            pointer = borrow(context, builder, self._owner, pointer)
        return payload_of(context, builder, self._owner.passed_as, pointer)

    def is_needed(self, context, builder, argument_types, arguments):
        return is_shared(builder, self._payload(context, builder, argument_types, arguments))

    @contextmanager
    def block(self, context, builder, argument_types, arguments):
        payload = self._payload(context, builder, argument_types, arguments)
        is_held = lock_in_region(builder, payload, not self.only_reads)
        yield
        unlock_in_region(builder, payload, is_held)


_region_lock = functools.cache(_RegionLock)


def _guard_of(typ: Any, name: str) -> Any:
    """Return the guard of the calls of a method."""
    owner = getattr(typ, "owner", typ)
    if owner.is_of_rows:
        return NO_GUARD
    return _region_lock(owner, name not in owner.changing_verbs and name not in owner.mutating_reads)


resolve_attributes(
    StructType,
    lambda typ, name: None,  # structref finds the fields
    _method_of,
    _guard_of,
)
resolve_attributes(
    BorrowedType,
    _borrowed_field,
    lambda typ, name: _method_of(typ.owner, name),
    _guard_of,
)
