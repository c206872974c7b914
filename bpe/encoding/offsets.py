"""Where tokens lie in a text: in bytes, and in the characters of a ``str`` as the caller wrote it.

::

    text        c a f é !         characters 0 to 4; a surrogate pair is two characters of the str
    UTF-8       c a f C3 A9 !     bytes 0 to 5
    tokens      caf|C3|A9 !       the bytes of "é" are cut: both tokens lie at character 3

Where a step changes the text before it is merged, each character of the result knows where it came from
(:mod:`bpe.pipeline.tracked`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from bpe.encoding.decoding import checked_ids
from bpe.splitting.specials import Rules
from bpe.support.text import begins_character, ends_of, utf8_of

if TYPE_CHECKING:
    from bpe.encoding.engine import Engine


def encode_with_offsets(
    engine: Engine, text: str | bytes, rules: Rules
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the ids of a text, and where each token begins and ends, in characters or bytes."""
    ids, starts, ends = engine.encode_with_origins(text, rules)
    if isinstance(text, str) and not text.isascii():
        # Before each byte, how many characters begin; an empty token may be at the end.
        n_begun = np.cumsum(np.concatenate([[0], begins_character(utf8_of(text)), [1]]))
        position_of = _positions(text, int(n_begun[-2]))
        starts, ends = position_of[n_begun[starts + 1] - 1], position_of[n_begun[ends]]
    before, after = rules.around
    return (
        np.concatenate([np.array(before, np.uint32), ids, np.array(after, np.uint32)]),
        np.concatenate([np.zeros(len(before), np.int64), starts, np.full(len(after), len(text))]),
        np.concatenate([np.zeros(len(before), np.int64), ends, np.full(len(after), len(text))]),
    )


_KINDS = {bool: "b", int: "i", float: "f", str: "U"}  # of labels that an array has as they are


def encode_segments(
    engine: Engine, segments: Iterable[tuple[str | bytes, Any]], rules: Rules
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the ids of texts that are joined, and the labels of the first and the last byte of each."""
    texts, labels = _checked_segments(segments)
    text = texts[0][:0].join(texts) if texts else ""
    ids, starts, ends = encode_with_offsets(engine, text, rules)
    if not labels and len(ids):
        raise ValueError("segments is empty, so that what add_special_tokens puts around it has no label")
    text_ends = ends_of(texts)
    last = max(len(text) - 1, 0)  # an id of no text has the label of the next character, or of the last one
    places = np.minimum(starts, last), np.minimum(np.maximum(ends - 1, starts), last)
    label_of = np.empty(len(labels), object)
    label_of[:] = labels
    if len({*map(type, labels)}) == 1 and type(labels[0]) in _KINDS:
        array = np.array(labels)
        # Not past int64; and no NUL at the end of a str, which numpy leaves out.
        is_cut = isinstance(labels[0], str) and any(label.endswith("\0") for label in labels)
        if array.dtype.kind == _KINDS[type(labels[0])] and not is_cut:
            label_of = array
    first_label, last_label = (
        label_of[np.minimum(np.searchsorted(text_ends, place, side="right"), len(labels) - 1)]
        for place in places
    )
    return ids, first_label, last_label


def _checked_segments(
    segments: Iterable[Any],
) -> tuple[list[Any], list[Any]]:
    """Return texts and labels; an error names the segment that is wrong."""
    texts, labels = list[Any](), []
    for i, segment in enumerate(segments):
        if not isinstance(segment, (tuple, list)) or len(segment) != 2:
            raise TypeError(f"segments[{i}] must be a pair of a text and its label, not {segment!r:.80}")
        text, label = segment
        if not isinstance(text, (str, bytes)) or (
            texts and isinstance(text, str) != isinstance(texts[0], str)
        ):
            expected = "str or bytes" if not texts else f"{type(texts[0]).__name__} as the first one"
            raise TypeError(f"the text of segments[{i}] must be {expected}, not {type(text).__name__}")
        texts.append(text)
        labels.append(label)
    return texts, labels


def decode_with_offsets(engine: Engine, ids: Iterable[int] | np.ndarray) -> tuple[str, list[int]]:
    """Return the text of ids, and the character in which each token begins."""
    if not engine.joins_bytes:
        raise ValueError(
            "the decoder of this tokenizer changes the texts of tokens, so that they have no places in the "
            "decoded text: decode the ids without offsets, or encode a text with encode_with_offsets"
        )
    token_ids = checked_ids(engine.vocabulary, ids)
    data = engine.decode(token_ids)
    text = data.decode()
    lengths = engine.table.lengths(np.array(token_ids, np.int64))
    starts = np.cumsum(lengths) - lengths
    n_begun = np.append(np.cumsum(begins_character(data)) - 1, len(text))  # an empty token begins at the end
    return text, n_begun[starts].tolist()


def length_in(text: str | bytes, data: bytes) -> int:
    """Return how many characters, or bytes, of a text as it was given have `data` as their UTF-8."""
    if not isinstance(text, str):
        return len(data)
    n_characters = int(np.count_nonzero(begins_character(data)))
    if text[:n_characters].encode("utf-8", "replace") == data:
        return n_characters
    given = text[: 2 * n_characters]
    return int(_positions(given, -1)[n_characters])


def _positions(text: str, n_characters: int) -> np.ndarray:
    """Return where each of the characters of the UTF-8 begins in a str, and where the last ends.

    A surrogate pair is two characters of the str, and one of its UTF-8.
    """
    if n_characters == len(text):
        return np.arange(len(text) + 1)
    kind = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4") >> 10
    is_second = np.zeros(len(text) + 1, bool)
    is_second[1:-1] = (kind[:-1] == 0xD800 >> 10) & (kind[1:] == 0xDC00 >> 10)
    return np.flatnonzero(~is_second)
