"""A search for texts that are encoded to a given token.

The token is tried alone, and then between characters of a few kinds. If it has only a part of a character,
characters with these bytes are tried. A witness that is UTF-8 is preferred to one that is not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice, product
from typing import TYPE_CHECKING

import numpy as np

from bpe.encoding.batches import encode_batch_to_numpy
from bpe.support.text import codes_beginning_with, text_or_none

if TYPE_CHECKING:
    from bpe.encoding.engine import Engine

AROUND = ("", " ", "a", "A", "1", "#", "¿", "\n", "'", ".", "é", "中", "\t", "/", "\r\n")
"""Texts that are tried before and after a token."""

_AT_ONCE = 64  # texts of each token that are tried at a time
_MOST = 1024  # texts of each token
_MOST_TEXTS = 1 << 16  # in a batch
_LONGEST = 1024  # bytes of a token that is tried in contexts
_MOST_BYTES = 1 << 28  # of all texts that are tried in contexts
_BLOCK = "▁"  # a space in texts of SentencePiece


def gives(engine: Engine, text: bytes, token_id: int) -> bool:
    """Return whether the ids of a text contain `token_id`; special tokens are encoded as such."""
    return token_id in engine.encoder_for(text, engine.rules_of("all"), text).encode(text)


def find_witnesses(
    engine: Engine, token_ids: Iterable[int], *, in_contexts: bool = False
) -> dict[int, bytes]:
    r"""Return a witness for each of these ids for which one is found."""
    bytes_of = engine.vocabulary.bytes_of
    tokens = {token_id: _as_written(bytes_of[token_id], engine.options.is_text) for token_id in token_ids}
    if not in_contexts:
        return _search(engine, {token_id: alone(token) for token_id, token in tokens.items()})
    tokens = {token_id: token for token_id, token in tokens.items() if len(token) <= _LONGEST}
    n_each = _MOST_BYTES // max(1, sum(len(token) for token in tokens.values()))
    found: dict[int, bytes] = {}
    for candidates in (between, completed, as_bytes):
        left = {token_id: candidates(token) for token_id, token in tokens.items() if token_id not in found}
        found |= _search(engine, left, min(_MOST, n_each))
    return found


def _as_written(token: bytes, is_text: bool) -> bytes:
    """Return a token as it is written in a text."""
    if not is_text:
        return token
    if len(token) == 6 and token.startswith(b"<0x"):
        try:
            return bytes([int(token[3:5], 16)])
        except ValueError:
            pass
    return token.replace(_BLOCK.encode(), b" ")


def _search(engine: Engine, left: dict[int, Iterator[bytes]], most: int = _MOST) -> dict[int, bytes]:
    """Try the candidates `left` of each id, a few at a time; return the first witness of each id."""
    found: dict[int, bytes] = {}
    n_tried, at_once = 0, 1
    while left and n_tried < most:
        waiting, left = list(left.items()), {}
        for first in range(0, len(waiting), per := max(1, _MOST_TEXTS // at_once)):
            some = [
                (token_id, list(islice(texts, at_once))) for token_id, texts in waiting[first : first + per]
            ]
            found |= _tried(engine, some)
            left |= {
                token_id: texts
                for (token_id, texts), (_, candidates) in zip(waiting[first : first + per], some, strict=True)
                if token_id not in found and len(candidates) == at_once
            }
        n_tried, at_once = n_tried + at_once, _AT_ONCE
    return found


def _tried(engine: Engine, some: list[tuple[int, list[bytes]]]) -> dict[int, bytes]:
    """Encode the candidates of some ids, and return the first witness of each id."""
    texts = [text for _, candidates in some for text in candidates]
    token_of = np.repeat([token_id for token_id, _ in some], [len(candidates) for _, candidates in some])
    ids, offsets = _encoded(engine, texts)
    lengths = np.diff(offsets)
    hits = np.flatnonzero(ids == np.repeat(token_of, lengths))
    found: dict[int, bytes] = {}
    for place in np.searchsorted(offsets, hits, side="right") - 1:
        token_id = int(token_of[place])
        found.setdefault(token_id, texts[place])
    return found


def _encoded(engine: Engine, texts: list[bytes]) -> tuple[np.ndarray, np.ndarray]:
    """Encode texts; a text with a byte that has no token gets no ids."""
    try:
        return encode_batch_to_numpy(engine, texts, 1, engine.rules_of("all"))
    except ValueError:
        if len(texts) == 1:
            return np.empty(0, np.uint32), np.zeros(2, np.int64)
        middle = len(texts) // 2
        (one, ends), (other, more) = _encoded(engine, texts[:middle]), _encoded(engine, texts[middle:])
        return np.concatenate([one, other]), np.concatenate([ends, ends[-1] + more[1:]])


# ------------------------------------------------------------------------------------------ candidates
def alone(token: bytes) -> Iterator[bytes]:
    """Yield the token, if it is UTF-8."""
    if _is_utf8(token):
        yield token


def between(token: bytes) -> Iterator[bytes]:
    """Yield the token between other characters, if it is UTF-8."""
    if _is_utf8(token):
        for before, after in sorted(
            product(AROUND, AROUND), key=lambda pair: (pair[0] != "") + (pair[1] != "")
        ):
            if before or after:
                yield before.encode() + token + after.encode()


def completed(token: bytes) -> Iterator[bytes]:
    r"""Yield the token with the characters at its ends completed, if it has only a part of them."""
    if _is_utf8(token):
        return
    n_continuation = len(token) - len(token.lstrip(bytes(range(0x80, 0xC0))))
    heads = list(_heads(token[:n_continuation])) if 0 < n_continuation < 4 else [b""]
    tails = [b""]
    for start in range(max(0, len(token) - 3), len(token)):
        codes = codes_beginning_with(token[start:])
        if codes is not None:
            step = max(1, len(codes) // _AT_ONCE)
            characters = [chr(code) for code in codes[::step] if not 0xD800 <= code < 0xE000]
            tails = [character.encode()[len(token) - start :] for character in characters]
    for head, tail in product(heads, tails):
        text = head + token + tail
        if _is_utf8(text):
            yield text
            yield b" " + text
            yield b"a" + text


def as_bytes(token: bytes) -> Iterator[bytes]:
    """Yield the token alone, and between other bytes, if it is not UTF-8."""
    if not _is_utf8(token):
        yield token
        for before, after in product(AROUND, AROUND):
            yield before.encode() + token + after.encode()


def _heads(last: bytes) -> Iterator[bytes]:
    """Yield bytes that may precede the last bytes of a character."""
    if len(last) == 1:
        yield from (bytes([first]) for first in range(0xC2, 0xE0))
        yield from (bytes(pair) for pair in product(range(0xE0, 0xF0), range(0x80, 0xC0, 5)))
        yield from (b"\xf0\x9f" + bytes([third]) for third in range(0x80, 0xC0, 5))
    elif len(last) == 2:
        yield from (bytes([first]) for first in range(0xE0, 0xF0))
        yield from (b"\xf0" + bytes([second]) for second in range(0x90, 0xC0))
    else:
        yield from (bytes([first]) for first in range(0xF0, 0xF5))


def _is_utf8(token: bytes) -> bool:
    return text_or_none(token) is not None


# --------------------------------------------------------------------------------------------- a corpus
def witness_among(engine: Engine, ids: np.ndarray, place: int) -> bytes | None:
    """Return a part of an encoded text that gives the id at a position; None if those tried do not."""
    for reach in (4, 64):
        text = engine.decode(ids[max(0, place - reach) : place + reach + 1])
        if gives(engine, text, int(ids[place])):
            return text
    return None
