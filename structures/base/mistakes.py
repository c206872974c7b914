"""The usual mistakes in compiled code, each with a line that says what to do.

numba would cut a float to an integer, wrap an integer around, or refuse an argument far from the call. So the
arguments of a method are looked at when its caller is compiled.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable
from typing import Any

from numba import types
from numba.core.errors import TypingError

from structures.status import DTYPE_HINT, PAIR_HINT, TEXT_HINT


def check_arguments(this: Any, names: Iterable[str], arguments: Iterable[Any]) -> None:
    """Raise ``TypingError`` for the first argument of a method of `this` that is no integer of int64.

    Where the container holds floats, its counts or values may be floats.
    """
    owner = getattr(this, "owner", this)
    for name, typ in zip(names, map(types.unliteral, arguments), strict=False):
        scalar = typ.dtype if isinstance(typ, types.Array) else typ
        problem = _problem_of(scalar, name, owner)
        if problem:
            raise TypingError(f"{name} {'is' if scalar is typ else 'are'} {scalar}{problem}")
        is_converted = name == "keys" or name in owner.number_parameters
        if is_converted and typ is not scalar and scalar == types.uint64:
            raise TypingError(f"{name} may be past int64, being {typ}: pass {name}.astype(np.int64)")


def _problem_of(scalar: Any, name: str, owner: Any) -> str:
    """Return what is wrong with an argument, and what to do; the empty string if nothing is."""
    if isinstance(scalar, types.Float):
        if name in owner.float_parameters:
            return ""
        if name in owner.number_parameters:
            return f", but {owner.label} holds integers: {DTYPE_HINT}"
        return ", but must be an integer"
    if isinstance(scalar, types.BaseTuple) and name == "key":
        return f", but must be an integer: {PAIR_HINT}"
    if isinstance(scalar, (types.UnicodeType, types.Bytes)):
        return f", but must be an integer: {TEXT_HINT}"
    if isinstance(scalar, (types.Complex, types.NoneType)):
        return ", but must be an integer"
    return ""


def check_verb(owner: Any, name: str, verbs: Collection[str]) -> None:
    """Raise ``TypingError`` for a method that a container does not have in compiled code."""
    if not name.startswith("_"):
        close = difflib.get_close_matches(name, verbs, 1)
        hint = f"do you mean {close[0]}?" if close else f"it has {', '.join(sorted(verbs))}"
        raise TypingError(f"{owner.label} has no {name} in compiled code: {hint}")
