"""``Record``: a struct for kernels, from the names of its fields and their types."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable
from typing import Any, ClassVar

from numba import config, typeof, types
from numba.core.errors import TypingError
from numba.experimental import structref
from numba.extending import overload

from structures.base.in_njit import ContainerClass, class_type
from structures.base.struct_type import StructType, fields_of, new
from structures.compiling.jit import kernel
from structures.compiling.numba_private import cpu_target


class Record(structref.StructRefProxy, metaclass=ContainerClass):
    """Base of classes of records, which kernels get as one argument.

    The fields are given as class arguments, with their numba types. The class is called with all of them, by
    position or by name, in Python and in compiled code. In compiled code, fields are read and assigned;
    arrays and containers are shared, not copied. Python can only hold a record and pass it on. Records have
    no locks.

    A field that is declared as None has the type of its argument. Kernels are compiled for each such type.

    Complexity
    ----------
    A call from Python takes some 30 us more than a call of a kernel. It is compiled once, and cached on disk
    with the code of the module that defines the class.

    Examples
    --------
    >>> import numpy as np
    >>> from numba import njit, types
    >>> class Window(Record, words=types.int64[::1], start=types.int64):
    ...     pass
    >>> @njit
    ... def shift(window, n):
    ...     window.start += n
    ...     return window.words[window.start]
    >>> window = Window(np.arange(5) ** 2, start=1)
    >>> shift(window, 1), shift(window, 2)
    (4, 16)
    """

    __slots__ = ()
    _numba_type_ = structref.StructRefProxy._type  # numba has a property in Python there, which takes longer

    fields: ClassVar[dict[str, Any]]
    struct_type: ClassVar[type[StructType]]
    _signature: ClassVar[inspect.Signature]
    _make: ClassVar[Any]

    def __init_subclass__(cls, **fields: Any) -> None:
        if not fields:  # a copy that numba makes of a class defined in a script
            return
        cls.fields = fields
        names = {"__module__": cls.__module__, "__qualname__": f"{cls.__qualname__}.struct_type"}
        cls.struct_type = structref.register(type(cls.__name__, (StructType,), names))
        structref.define_boxing(cls.struct_type, cls)
        kinds = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in fields]
        cls._signature = inspect.Signature(kinds)
        cls._make = staticmethod(kernel(_maker(cls)))
        if not config.DISABLE_JIT:
            _let_compiled_code_call(cls)

    def __new__(cls, *values: Any, **named: Any) -> Any:
        values = cls._signature.bind(*values, **named).args
        return cls._make(cls._type_for(map(typeof, values)), *values)

    @classmethod
    def type(cls, **types_of_others: Any) -> Any:
        """Return the numba type of these records; `types_of_others` are those of fields declared as None."""
        return cls.struct_type(fields_of(**{**cls.fields, **types_of_others}))

    @classmethod
    def _type_for(cls, given: Iterable[Any]) -> Any:
        """Return the type of a record for arguments of these types, or raise."""
        of_others = {}
        for (name, declared), typ in zip(cls.fields.items(), given, strict=True):
            if declared is None:
                of_others[name] = typ
            elif cpu_target.typing_context.can_convert(typ, declared) is None:
                raise TypingError(f"{name} of a {cls.__name__} is {typ}, but must be {declared}")
        return cls.type(**of_others)


def _maker(cls: type[Record]) -> Any:
    """Return the function that makes a record of a type; it is cached with the module of the class."""
    lines = [f"def make(kind, {', '.join(cls.fields)}):", "    self = new(kind)"]
    lines += [f"    self.{name} = {name}" for name in cls.fields]
    source = "\n".join([*lines, "    return self"])
    variables = {"new": new, "__name__": cls.__module__}
    file = getattr(sys.modules.get(cls.__module__), "__file__", None) or "<record>"
    exec(compile(source, file, "exec"), variables)
    make: Any = variables["make"]
    make.__qualname__ = f"{cls.__qualname__}.make"
    return make


def _let_compiled_code_call(cls: type[Record]) -> None:
    names = ", ".join(cls.fields)

    def overloaded(*given, **named):
        bound = cls._signature.bind(*given, **named)
        variables = {"make": cls._make, "kind": cls._type_for(map(types.unliteral, bound.args))}
        exec(f"def code({names}): return make(kind, {names})", variables)
        return variables["code"]

    overloaded.__signature__ = cls._signature  # type: ignore[attr-defined]
    class_type(cls).overloaded = overloaded
    overload(class_type(cls).constructor, strict=False)(overloaded)
