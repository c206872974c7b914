"""What the parts of the toolbox share: texts to bytes, special tokens cut out, bytes to ids."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, TypeVar, overload

import numpy as np

from bpe.encoding.decoding import TokenTable
from bpe.pattern import Pattern
from bpe.specials import Rules, Specials, SpecialSearch, rules_of
from bpe.vocabulary import Vocabulary

if TYPE_CHECKING:
    from bpe.encoding.encoder import Encoder

__all__ = ["NO_TOKENS", "Base", "Ordinary"]

Ordinary: TypeAlias = Literal["ordinary"] | None
NO_TOKENS: frozenset[str] = frozenset()

Value = TypeVar("Value")


class made_once(Generic[Value]):  # used as a decorator
    """A property that is computed at its first use, and an ordinary attribute from then on.

    Without a lock, which a process that forks meanwhile would never see opened: two threads may both
    compute it, and either value will do.
    """

    def __init__(self, function: Callable[[Any], Value]) -> None:
        self._function = function
        self.__doc__ = function.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> made_once[Value]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> Value: ...
    def __get__(self, instance: object | None, owner: type) -> made_once[Value] | Value:
        if instance is None:
            return self
        return instance.__dict__.setdefault(self._name, self._function(instance))


class Base:
    """Parts of a tokenizer, and what is derived from them at first use."""

    _vocabulary: Vocabulary
    _pattern: Pattern

    @made_once
    def _encoder(self) -> Encoder:
        from bpe.encoding.encoder import Encoder  # loads the compiler, which decoding does not need

        return Encoder(self._vocabulary, self._pattern)

    @made_once
    def _table(self) -> TokenTable:
        return TokenTable(self._vocabulary)

    @made_once
    def _specials(self) -> frozenset[str]:
        return frozenset(self._vocabulary.special_tokens)

    @made_once
    def _special_ids(self) -> dict[bytes, int]:
        return {token.encode(): number for token, number in self._vocabulary.special_tokens.items()}

    @made_once
    def _knows_cuts(self) -> bool:
        """Whether no piece goes across the place before a space that follows something else."""
        return self._pattern.last_cut("a a") == 1

    @made_once
    def _default_rules(self) -> Rules:
        return rules_of(self._specials, NO_TOKENS, "all")

    def _rules_of(self, allowed: Specials, disallowed: Specials, specials: Ordinary) -> Rules:
        # The defaults are told by identity and by a short str, to be quick.
        if allowed is NO_TOKENS and specials is None and disallowed == "all":
            return self._default_rules
        return rules_of(self._specials, allowed, disallowed, specials)

    def _encode_bytes(self, data: bytes, given: str | bytes, rules: Rules, what: str = "text") -> np.ndarray:
        """Encode a text by some rules; `given`: as the caller gave it."""
        for needle in rules.needles:
            if needle in data:
                rules.refuse(given, what)
                return self._encode_special([data], rules.allowed)[0]
        return self._encoder.encode_to_numpy(data)

    def _encode_special(self, texts: Sequence[bytes], search: SpecialSearch) -> tuple[np.ndarray, np.ndarray]:
        """Encode texts in which special tokens are; return ids, and where those of each text end, after a 0.

        The texts between special tokens are encoded in one call, and the ids of the tokens put in.
        """
        split = list(map(search.split, texts))
        segments = [segment for parts in split for segment in parts[::2]]
        last_segment = np.cumsum([len(parts) // 2 + 1 for parts in split]) - 1
        ids, offsets = self._encoder.encode_segments(bytearray().join(segments), ends_of(segments))
        followed = np.ones(len(segments), bool)  # by a special token
        followed[last_segment] = False
        special_ids = [self._special_ids[token] for token in chain.from_iterable(p[1::2] for p in split)]
        ids = np.insert(ids, offsets[1:][followed], np.array(special_ids, np.uint32))
        text_offsets = np.zeros(len(texts) + 1, np.int64)
        text_offsets[1:] = offsets[last_segment + 1] + np.cumsum(followed)[last_segment]
        return ids, text_offsets


def ends_of(texts: Sequence[str | bytes]) -> np.ndarray:
    """Return where each text ends when they stand in a row."""
    return np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)))
