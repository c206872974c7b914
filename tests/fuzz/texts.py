"""Random texts: characters that patterns tell apart, words that recur, bytes that are not UTF-8."""

from __future__ import annotations

import random
from typing import TypeVar

_CHARACTERS = [
    *"abcstABCST019 .,'!?-_<|>()[]\n\r\t",
    *"\0\x0b\x1c\x7f\x85\xa0ßéÉ\u0131\u017f\u212aµ²½",
    *"\u0301\u0345\u03c3\u03c2\u0416\u05d0\u0663\u0e01\u1e9e\u2028\u200d\u2167\u3000\u4e2d\uac00\ufb01",
    *"\ufeff\ufffd",
    *"\U0001d400\U0001f600\U0001f1e9\U0010ffff",
]
_WORDS = ["the", " the", "aaaa", "abab", "  ", "\r\n", "'s", "'LL", "123456", " <|end|>", "e\u0301", "中文"]
_ODD = [*map(bytes.fromhex, ["ff", "c3", "a9", "e282", "f09f98", "eda0bd", "c080", "f4908080"])]
AnyText = TypeVar("AnyText", str, bytes)


def text(chance: random.Random, n_parts: int, alphabet: str = "") -> str:
    """Return a text of some parts, half of them of an alphabet if there is one."""
    few = chance.sample(_CHARACTERS, 4)
    choices = [few, few, _WORDS, _CHARACTERS] + ([alphabet] * 4 if alphabet else [])
    return "".join(chance.choice(chance.choice(choices)) for _ in range(chance.randrange(n_parts + 1)))


def data(chance: random.Random, n_parts: int, alphabet: str = "") -> bytes:
    """Return bytes, in one of two cases with some that are not UTF-8."""
    found = text(chance, n_parts, alphabet).encode()
    for _ in range(chance.randrange(4) * chance.randrange(2)):
        place = chance.randrange(len(found) + 1)
        found = found[:place] + chance.choice(_ODD) + found[place + chance.randrange(2) :]
    return found


def cut(chance: random.Random, whole: AnyText) -> list[AnyText]:
    """Cut a text in parts, anywhere."""
    places = sorted(chance.choices(range(len(whole) + 1), k=chance.randrange(6)))
    return [whole[start:stop] for start, stop in zip([0, *places], [*places, len(whole)], strict=True)]
