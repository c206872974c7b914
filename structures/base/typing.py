"""Types of keys and numbers, for type checkers: ``MaxHeap[float]`` is a heap of float64 priorities.

Without brackets, and where a checker cannot tell, keys and numbers are ints.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from typing import Never

    from typing_extensions import TypeVar

    Key = TypeVar("Key", bound=float, default=int)
    Number = TypeVar("Number", bound=float, default=int)
    Default = TypeVar("Default", default=Never)  # nothing, if the argument is left out
else:  # TypeVar has defaults from Python 3.13 on
    from typing import TypeVar

    Key, Number, Default = TypeVar("Key"), TypeVar("Number"), TypeVar("Default")

Pairs: TypeAlias = Mapping[Key, Number] | Iterable[tuple[Key, Number]]

__all__ = ["Default", "Key", "Number", "Pairs"]
