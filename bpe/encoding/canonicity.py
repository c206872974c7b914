"""Whether a text gives some ids: they are decoded and encoded again, stretch by stretch.

::

    ids          12 7 900 3 5 900          900 is a special token, which stays
    stretches    12 7     3 5              the ids between special ones: added tokens are among them
    text         low lo   wer
    canonical    12 7 900 8 900            "wer" has other ids: the first difference is at 3

Where a tokenizer changes texts, bytes at the end that are only a part of a character are set aside: no text
ends with them, but the ids of a model that has not finished do.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from bpe.encoding.decoding import checked_ids, list_or_array
from bpe.encoding.streams import Begins
from bpe.splitting.specials import Specials

if TYPE_CHECKING:
    from bpe.encoding.engine import Engine
    from bpe.encoding.next_tokens import Hypotheses

# Ids from the last to the first.
Linked: TypeAlias = "tuple[int, Linked] | None"

_SHORT = 64  # ids that are read one by one


def id_array(engine: Engine, ids: Iterable[int] | np.ndarray) -> np.ndarray:
    """Return ids as an array of integers, without checking that each has a token."""
    given = list_or_array(ids)  # an iterator is read once, and array() takes bytes for the memory of integers
    try:
        found = given if isinstance(given, np.ndarray) else np.array(array("I", given))
        if found.dtype.kind in "iu":
            return found
    except (TypeError, OverflowError):
        pass
    return np.array(checked_ids(engine.vocabulary, given), np.int64)


def canonical_ids(
    engine: Engine, ids: Iterable[int] | np.ndarray, allowed_special: Specials | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return ids as an array, and those that their text has instead."""
    given = id_array(engine, ids)
    if allowed_special is not None:
        rules, data = engine.rules_of(allowed_special, ()), engine.decode(given)
        return given, engine.encoder_for(data, rules).encode_to_numpy(data)
    places = _special_places(engine, given)
    if engine.is_lossless:
        ordinary = np.delete(given, places)
        data = _decoded(engine, ordinary, given)
        ends = np.append(0, np.cumsum(engine.table.lengths(ordinary)))
        stretch_ends = np.append(ends[places - np.arange(len(places))], ends[-1])
        encoder = engine.encoder_for(data, engine.ordinary_rules)
        new, offsets = encoder.encode_segments(data, stretch_ends)
        return given, np.insert(new, offsets[1:-1], given[places])
    parts, start = [], 0
    checked_ids(engine.vocabulary, given)
    for stop in [*places.tolist(), len(given)]:
        begins = Begins.SEGMENT if start else Begins.TEXT
        parts += [engine.encode_stretch(given[start:stop].tolist(), begins), given[stop : stop + 1]]
        start = stop + 1
    return given, np.concatenate(parts)


def first_noncanonical(
    engine: Engine, ids: Iterable[int] | np.ndarray, allowed_special: Specials | None = None
) -> int | None:
    """Return the first place where ids are not those of their text; None if there is none."""
    given = id_array(engine, ids)
    try:
        _, canonical = canonical_ids(engine, given, allowed_special)
    except ValueError:  # a stretch has bytes that no text can have
        checked_ids(engine.vocabulary, given)
        return 0 if allowed_special is not None else _first_without_text(engine, given)
    n = min(len(given), len(canonical))
    differ = np.flatnonzero(given[:n] != canonical[:n])
    if len(differ):
        return int(differ[0])
    return None if len(given) == len(canonical) else n


class Position(NamedTuple):
    """What has been read of ids, if some text has ids that begin with them."""

    hypotheses: Hypotheses  # in which ways; none if no text has
    ids: Linked  # since the last special one, or a place that no later text changes


def position_after(engine: Engine, ids: Iterable[int] | np.ndarray) -> Position:
    """Return the position after some ids."""
    given = checked_ids(engine.vocabulary, ids)
    place = _known_end(engine, given)
    first = engine.next_tokens.first
    if place and first_noncanonical(engine, given[:place]) is not None:
        first = frozenset()
    position = Position(first, None)
    for token_id in given[place:]:
        position = push(engine, position, token_id)
    return position


def push(engine: Engine, position: Position, token_id: int) -> Position:
    """Return the position after one more id."""
    is_end = token_id in engine.next_tokens.end_ids and may_end(engine, position)
    hypotheses = engine.next_tokens.after(position.hypotheses, token_id, is_end)
    return Position(hypotheses, None if is_end else (token_id, position.ids))


def may_end(engine: Engine, position: Position) -> bool:
    """Return whether the ids are those of their text, which may end inside a character."""
    if not engine.next_tokens.is_inside(position.hypotheses):
        return engine.next_tokens.may_end(position.hypotheses)
    if not engine.is_lossless:
        return True  # it is set aside
    size = 2 * _SHORT
    while True:
        ids, rest = listed(position.ids, size)
        place = _known_end(engine, ids)
        if place or rest is None:
            return first_noncanonical(engine, ids[place:]) is None
        size *= 4


def listed(ids: Linked, most: float = float("inf")) -> tuple[list[int], Linked]:
    """Return the last ids in their order, at most so many, and those before them."""
    last = list[int]()
    while ids is not None and len(last) < most:
        last.append(ids[0])
        ids = ids[1]
    return last[::-1], ids


def _known_end(engine: Engine, ids: list[int]) -> int:
    """Return how many first ids are those of a text by themselves if all ids begin those of a text."""
    if not engine.is_lossless or not engine.next_tokens.is_exact:
        return 0
    special = engine.special_id_set
    start = next((i + 1 for i in reversed(range(len(ids))) if ids[i] in special), 0)
    if len(ids) - start > _SHORT:
        data = engine.decode(ids[start:])
        ends = np.cumsum(engine.table.lengths(np.array(ids[start:])))
        cut = engine.cutter.last_cut(data)
        n = int(np.searchsorted(ends, cut, side="right"))
        if cut and ends[n - 1] == cut:
            return start + n
    return start


def _first_without_text(engine: Engine, given: np.ndarray) -> int:
    """Return the first place where ids are not those of their text, if a stretch has none."""
    start = 0
    for stop in [*_special_places(engine, given).tolist(), len(given)]:
        try:
            _, canonical = canonical_ids(engine, given[:stop])
        except ValueError:
            return start
        if not np.array_equal(given[:stop], canonical):
            return first_noncanonical(engine, given[:stop]) or 0
        start = stop + 1
    return start


def _decoded(engine: Engine, ids: np.ndarray, given: np.ndarray) -> bytes:
    """Return the bytes of some of the given ids; an error names the place among all."""
    try:
        return engine.decode(ids)
    except ValueError:
        checked_ids(engine.vocabulary, given)
        raise


def _special_places(engine: Engine, ids: np.ndarray) -> np.ndarray:
    return np.flatnonzero(np.isin(ids, [*engine.special_id_set]))
