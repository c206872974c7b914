"""``Options``: how merges are learned, checked in one place.

A *preset* describes another trainer whose merges are wanted: the order of its bytes, the place of its special
tokens, and the meaning of its ``max_token_length``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from bpe.support.integers import as_integer
from bpe.vocabulary.vocabulary import Alphabet

Ties: TypeAlias = Literal["smallest", "lexicographic", "first", "gpt2"]
Selection: TypeAlias = Literal["heap", "buckets"]
Like: TypeAlias = Literal["huggingface", "gigatoken"]
Keep: TypeAlias = Callable[[bytes, bytes], object]

TIES: tuple[Ties, ...] = ("smallest", "lexicographic", "first", "gpt2")
SELECTIONS: tuple[Selection, ...] = ("heap", "buckets")
ALL_BYTES = bytes(range(256))
INT64_MAX = 2**63 - 1
LONGEST = 2**30 - 1  # bytes of a token: the limit of TokenList


class _Preset(NamedTuple):
    alphabet: Alphabet = "bytes"
    special_first: bool = False
    is_shorter: bool = False  # than `max_token_length`; but two bytes may always be merged


_PRESETS: dict[str | None, _Preset] = {
    None: _Preset(),
    "huggingface": _Preset("gpt2", special_first=True, is_shorter=True),
    "gigatoken": _Preset("gpt2"),
}


def choice(value: str, name: str, choices: Sequence[str]) -> str:
    """Return `value`, which must be one of the choices; else raise a ValueError that names them."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, not {value!r}")
    return value


@dataclass(frozen=True, kw_only=True)
class Options:
    """How merges are learned: the keyword arguments of :class:`bpe.Trainer`."""

    ties: Ties = "smallest"
    selection: Selection = "heap"
    min_count: int = 1
    max_token_length: int | None = None
    initial_alphabet: bytes | None = None
    limit_alphabet: int | None = None
    like: Like | None = None
    keep: Keep | None = None

    def __post_init__(self) -> None:
        choice(self.ties, "ties", TIES)
        choice(self.selection, "selection", SELECTIONS)
        as_integer(self.min_count, "min_count")
        if self.max_token_length is not None and as_integer(self.max_token_length, "max_token_length") < 1:
            raise ValueError(f"max_token_length must be at least 1, not {self.max_token_length}")
        if self.like is not None:
            choice(self.like, "like", [name for name in _PRESETS if name])
        if self.keep is not None and not callable(self.keep):
            raise TypeError(f"keep must be callable, not {type(self.keep).__name__}")
        if self.initial_alphabet is not None and not isinstance(self.initial_alphabet, bytes):
            raise TypeError(f"initial_alphabet must be bytes, not {type(self.initial_alphabet).__name__}")
        if self.limit_alphabet is not None:
            limit, n_initial = as_integer(self.limit_alphabet, "limit_alphabet"), len(self.initial_bytes)
            if limit < 1:
                raise ValueError(f"limit_alphabet must be at least 1, not {limit}")
            if limit < n_initial:
                raise ValueError(
                    f"limit_alphabet {limit} is less than the {n_initial} bytes of initial_alphabet: "
                    "give a smaller one, such as initial_alphabet=b''"
                )

    @property
    def alphabet(self) -> Alphabet:
        """The order of the ids of single bytes."""
        return _PRESETS[self.like].alphabet

    @property
    def special_first(self) -> bool:
        """Whether the special tokens take the first ids, or those after the merges."""
        return _PRESETS[self.like].special_first

    @property
    def initial_bytes(self) -> bytes:
        """The initial alphabet, each byte once."""
        return ALL_BYTES if self.initial_alphabet is None else bytes(sorted({*self.initial_alphabet}))

    @property
    def longest(self) -> int:
        """The maximum length of a new token, in bytes."""
        if self.max_token_length is None:
            return LONGEST
        length = int(self.max_token_length)
        return min(LONGEST, max(2, length - 1) if _PRESETS[self.like].is_shorter else length)

    def least(self, unit: int = 1) -> int:
        """Return the minimum count of a pair that is merged, if `unit` stands for a count of 1."""
        min_count = int(self.min_count)
        return min(min_count * unit, INT64_MAX) if min_count > 1 else 1
