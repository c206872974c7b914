"""A budget of tokens: how many a text has, up to a limit, and how much of a text fits.

Only the beginning of the text is read, some multiple of the budget.
"""

from __future__ import annotations

from operator import index
from typing import AnyStr

import numpy as np

from bpe.encoding.engine import Engine
from bpe.encoding.offsets import encode_with_offsets, length_in
from bpe.encoding.streams import StreamEncoder
from bpe.splitting.specials import Rules
from bpe.support.text import utf8_of

_FIRST_BLOCK = 4096


def count(engine: Engine, text: str | bytes, limit: int | None, rules: Rules) -> int:
    """Return the number of tokens of a text; ``limit + 1`` where it has more than `limit`."""
    if limit is not None:
        return min(len(_first_ids(engine, text, _not_negative(limit, "limit") + 1, rules)), limit + 1)
    data = utf8_of(text)
    if any(needle in data for needle in rules.needles):
        return len(engine.encode(data, text, rules))
    return engine.encoder.count(data)


def truncate(engine: Engine, text: AnyStr, max_tokens: int, rules: Rules) -> AnyStr:
    """Return the longest beginning of a text that ``Tokenizer.truncate`` promises."""
    before, after = rules.around
    most = max(_not_negative(max_tokens, "max_tokens") - len(before) - len(after), 0)
    rules = rules.alone()
    if engine.is_prepared:
        return _truncate_prepared(engine, text, most, rules)
    ids = _first_ids(engine, text, most + 1, rules)
    if len(ids) <= most:
        return text
    ids = ids[:most]
    ends = np.cumsum(engine.table.lengths(ids))
    # No text has fewer bytes than characters; some more are needed to see whether the last is complete.
    data = utf8_of(text[: int(ends[-1]) + 4 if most else 0])
    for k in range(most, 0, -1):
        end = int(ends[k - 1])
        if _is_between_characters(data, end):
            # A piece can change by what no longer follows it, but none before a place where texts can be cut.
            place = engine.cutter.last_cut(data, 0, end - 1)
            first = int(np.searchsorted(ends, place, side="right"))
            if place and ends[first - 1] != place:  # inside a special token
                place = first = 0
            again = engine.encode_special([data[place:end]], rules)[0]
            if np.array_equal(again, ids[first:k]):
                return text[: length_in(text, data[:end])]
    return text[:0]


def _truncate_prepared(engine: Engine, text: AnyStr, most: int, rules: Rules) -> AnyStr:
    """Return a beginning of a text whose ids are the first ones; where steps look far ahead, not the longest.

    Each try takes as long as encoding the text, so that the steps become larger after some.
    """
    ids, _, ends = encode_with_offsets(engine, text, rules)
    if len(ids) <= most:
        return text
    n, n_tries = most, 0
    while n > 0:
        part = text[: int(ends[n - 1])]
        again = engine.encode(utf8_of(part), part, rules)
        if len(again) <= most and np.array_equal(again, ids[: len(again)]):
            return part
        n, n_tries = n - (1 << (n_tries >> 3)), n_tries + 1
    return text[:0]


def _first_ids(engine: Engine, text: str | bytes, n: int, rules: Rules) -> np.ndarray:
    """Return the ids of a text: all of them, or the first `n` and some more."""
    size = max(_FIRST_BLOCK, 8 * n)
    if len(text) <= size:
        return engine.encode(utf8_of(text), text, rules)
    stream, place = StreamEncoder(engine, rules, "text"), 0
    ids: list[int] = []
    while len(ids) < n:
        block = text[place : place + size]
        if not block:
            ids += stream.finish()
            break
        ids += stream.feed(block)
        place, size = place + size, 2 * size
    return np.array(ids, np.uint32)


def _not_negative(number: int, name: str) -> int:
    if index(number) < 0:
        raise ValueError(f"{name} must be at least 0, not {number}")
    return index(number)


def _is_between_characters(data: bytes, place: int) -> bool:
    """Say whether a place cuts no character; bytes that are not valid UTF-8 are characters of their own."""
    for start in range(place - 1, max(place - 4, -1), -1):
        if data[start] & 0xC0 != 0x80:
            size = 1 if data[start] < 0xC0 else 2 if data[start] < 0xE0 else 3 if data[start] < 0xF0 else 4
            if start + size <= place:
                return True
            try:
                data[start : start + size].decode()
            except UnicodeDecodeError:
                return True
            return len(data) < start + size
    return True
