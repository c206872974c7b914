"""Bytes as visible characters: how the files of GPT-2 and Hugging Face write tokens.

A byte that is a visible character in Latin-1 is written as this character. The n-th of the other bytes is
written as the character U+0100 + n: a space is "Ġ", a line end is "Ċ".
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import accumulate, pairwise

import numpy as np

from bpe.support.text import code_points
from bpe.vocabulary.vocabulary import ALPHABETS

N_PRINTABLE = 188  # in GPT-2's alphabet they come first
_CHARACTER_OF = {
    value: chr(value) if i < N_PRINTABLE else chr(0x100 + i - N_PRINTABLE)
    for i, value in enumerate(ALPHABETS["gpt2"])
}
_TABLE = str.maketrans({chr(value): character for value, character in _CHARACTER_OF.items()})
_BACK = str.maketrans({character: chr(value) for value, character in _CHARACTER_OF.items()})
_KNOWN = frozenset(_CHARACTER_OF.values())
_BYTE_OF = np.full(max(map(ord, _KNOWN)) + 1, -1, np.int16)  # by code point; -1: no byte
_BYTE_OF[[ord(character) for character in _CHARACTER_OF.values()]] = [*_CHARACTER_OF]


def text_of(token: bytes) -> str:
    """Return the characters that stand for bytes."""
    return token.decode("latin-1").translate(_TABLE)


def bytes_of(text: str) -> bytes | None:
    """Return the bytes that characters stand for; None if a character does not stand for a byte."""
    return text.translate(_BACK).encode("latin-1") if is_spelled(text) else None


def is_spelled(text: str) -> bool:
    """Return whether all characters stand for bytes."""
    return _KNOWN.issuperset(text)


def all_bytes_of(texts: Collection[str]) -> list[bytes] | None:
    """Return :func:`bytes_of` of many texts; None if any character does not stand for a byte."""
    codes = code_points("".join(texts))
    if codes.max(initial=0) >= len(_BYTE_OF):
        return None
    values = _BYTE_OF[codes]
    if values.min(initial=0) < 0:
        return None
    data = values.astype(np.uint8).tobytes()
    ends = [0, *accumulate(map(len, texts))]
    return [data[start:end] for start, end in pairwise(ends)]
