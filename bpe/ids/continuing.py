"""More text after ids: exactly as if all were encoded, or with the ids as they are.

::

    ids        The| quick| bro           the last stretch: ids after the last special token
    safe cut             ^               the pattern ends a piece here, whatever follows; no token across
    append     The| quick| brown| fox    what lies before the cut stays; the rest is encoded with the text
    continue   The| quick| bro|wn| fox   all ids stay; the pattern sees " brown fox"

Both read the ids from their end to the last safe cut, a piece or two. A pattern that looks behind or is not
compiled has no safe cuts, and steps of a ``tokenizer.json`` may look far: then the last stretch is read.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate, zip_longest
from operator import index
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Unpack

import numpy as np

from bpe.encoding.canonicity import id_array
from bpe.encoding.decoding import checked_ids
from bpe.encoding.streams import Begins
from bpe.splitting.boundaries import cut_inside
from bpe.splitting.specials import (
    NOTHING_AROUND,
    Rules,
    SpecialOptions,
    check_names,
    refusal,
    takes_special_options,
)
from bpe.support.text import utf8_of

if TYPE_CHECKING:
    from bpe.encoding.engine import Engine
    from bpe.splitting.pattern import Pattern
    from bpe.tokenizer import Tokenizer

_WINDOW = 32  # ids from the end that are looked at first
_NEAR = 36  # bytes after the seam in which a safe cut is looked for
_WIDEST = 4  # bytes of a character
Ids = Sequence[int] | np.ndarray


@takes_special_options
def append(
    tok: Tokenizer, ids: Ids, text: str | bytes, **special: Unpack[SpecialOptions]
) -> tuple[int, list[int]]:
    """Return the ids of a text that goes on: how many stay, and those that follow.

    If `ids` are those that a text gives, ``ids[:n_keep] + new_ids`` are those of the longer text, and as many
    stay as can. Special ids stay where they are: what follows the last one is a text by itself. A special
    token that begins before `text` and ends in it is found; one that the ids spell is ordinary text.

    Other ids than those of a text, such as those a model has sampled, become ids of the same bytes, and
    nothing changes before the last safe cut. If they have to stay: :func:`continue_ids`.

    Parameters
    ----------
    tok : Tokenizer
    ids : sequence of int, or (n,) array of integers
    text : str or bytes
    **special
        `allowed_special` and `disallowed_special` as for :meth:`bpe.Tokenizer.encode`, for tokens that end in
        `text`.

    Returns
    -------
    n_keep : int
    new_ids : list of int

    Raises
    ------
    ValueError
        The text holds a disallowed special token, or completes one. Or one of the ids that are looked at has
        no token.
    TypeError
        The text is neither str nor bytes, or such an id is not an integer.

    Complexity
    ----------
    O(t + p) for t bytes of text and p in the last pieces, whatever the number of ids. Where the pattern looks
    behind or is not compiled, or the tokenizer changes texts, p are the bytes after the last special id.

    Examples
    --------
    >>> import bpe, bpe.ids
    >>> tok = bpe.train(["low lower"], vocab_size=258, progress=False)
    >>> ids = tok.encode("low lo")
    >>> n_keep, new_ids = bpe.ids.append(tok, ids, "wer")
    >>> n_keep, new_ids, ids[:n_keep] + new_ids == tok.encode("low lower")
    (2, [257, 101, 114], True)
    """
    return _append(tok.engine, ids, len(ids), text, _rules_of(tok, special, append))


def _append(engine: Engine, ids: Ids, n_ids: int, text: str | bytes, rules: Rules) -> tuple[int, list[int]]:
    """Append to the first `n_ids` ids; a copy of many would take longer than all the rest."""
    more, end = utf8_of(text), _end_of(engine, ids, n_ids, rules)
    _refuse(rules, end.data, more, text)
    row, n = end.data[end.start :] + more, len(end.data) - end.start
    new: list[int] = []
    if stop := _end_of_ordinary(row, n, engine, rules):
        new = engine.encoder_for(row[:stop], engine.ordinary_rules, begins=end.begins).encode(row[:stop])
        row = row[stop:]
        begins = Begins.TEXT
    else:
        begins = end.begins
    new += engine.encoder_for(row, rules, begins=begins).encode(row)
    n_same = _n_equal(_listed(ids[end.first : n_ids]), new)
    return end.first + n_same, new[n_same:]


@takes_special_options
def continue_ids(tok: Tokenizer, ids: Ids, text: str | bytes, **special: Unpack[SpecialOptions]) -> list[int]:
    """Return the ids of a text that follows other ids, which stay, whatever they are.

    The pattern sees what the ids stand for, and cuts the text accordingly; no token is across the seam. So
    the new ids decode to `text`. If the whole text has ids that begin with `ids`, they are the rest of these.

    A normalizer sees `text` alone. Where a tokenizer does not cut by a pattern, `text` is encoded as a rest:
    nothing is put before it.

    Parameters
    ----------
    tok : Tokenizer
    ids : sequence of int, or (n,) array of integers
    text : str or bytes
    **special
        `allowed_special` and `disallowed_special` as for :meth:`bpe.Tokenizer.encode`. A disallowed token
        may also not lie across the seam.

    Returns
    -------
    list of int

    Raises
    ------
    ValueError, TypeError
        As :func:`append`.

    Complexity
    ----------
    As :func:`append`.

    Examples
    --------
    >>> import bpe, bpe.ids
    >>> tok = bpe.train(["low lower"], vocab_size=258, progress=False)
    >>> tok.decode([108, 111]), bpe.ids.continue_ids(tok, [108, 111], "w low")
    ('lo', [119, 32, 257])
    """
    return _continue(tok.engine, ids, len(ids), text, _rules_of(tok, special, continue_ids))


def _continue(engine: Engine, ids: Ids, n_ids: int, text: str | bytes, rules: Rules) -> list[int]:
    """Continue the first `n_ids` ids."""
    more, end = utf8_of(text), _end_of(engine, ids, n_ids, rules)
    _refuse(rules, end.data, more, text)
    if not (engine.is_lossless or (engine.splits_by_pattern and engine.joins_bytes)):
        begins = Begins.INSIDE if end.data else end.begins
        return engine.encoder_for(more, rules, begins=begins).encode(more)
    stop = next((start for start, _ in rules.allowed.find_all(more)), len(more))
    context = end.data[end.cut :]
    context = context[max((stop for _, stop in engine.ordinary_rules.allowed.find_all(context)), default=0) :]
    if not context:
        return engine.encoder_for(more, rules, begins=end.begins).encode(more)
    if engine.is_lossless:  # a safe cut near the seam: the rest is encoded as any text
        near = (context + more[:stop])[: len(context) + _NEAR]
        cut = engine.cutter.last_cut(near, len(context), len(near) - _WIDEST) - len(context)
        stop = cut if cut > 0 else stop
    head = engine.normalized_rest(more[:stop])
    row, n = context + head, len(context)
    offsets = _offsets(engine.pattern, row)
    after = bisect_right(offsets, n)
    edges = [n, *offsets[after:]] if head else [n]
    if engine.is_lossless and [n + place for place in _offsets(engine.pattern, head)] == edges:
        new = engine.encoder_for(more, rules).encode(more)  # the same pieces, and faster
    else:
        pieces = np.array(edges, np.int32) - np.int32(n)
        new = engine.encoder.encode_pieces(bytearray(head), pieces, pieces[-1:])[0].tolist()
        new += engine.encoder_for(more[stop:], rules).encode(more[stop:])
    start, atomic = offsets[after - 1], engine.vocabulary.atomic_ids
    if head and start < n and new[0] in atomic[(place := bisect_left(atomic, new[0])) : place + 1]:
        # The rest of a piece was looked up as a piece.
        last = ids[max(n_ids - n, 0) : n_ids]
        new = (_ids_of_rest(engine, last, row[start : offsets[after]], n - start) or new[:1]) + new[1:]
    return new


@takes_special_options
def reuse(
    tok: Tokenizer,
    ids: Ids,
    text: str | bytes,
    *,
    keep: Literal["canonical", "ids"] = "canonical",
    old_text: str | bytes | None = None,
    **special: Unpack[SpecialOptions],
) -> tuple[int, list[int]]:
    """Return the ids of a text, given those of one that begins alike: how many stay, and those that follow.

    The first ids whose bytes begin the text are used again, special ids where the text has their tokens. The
    rest is encoded after them.

    Parameters
    ----------
    tok : Tokenizer
    ids : sequence of int, or (n,) array of integers
    text : str or bytes
        All of it.
    keep : {"canonical", "ids"}
        How the rest is encoded: as :func:`append` does, so that all are the ids of `text` if `ids` are those
        of a text; or as :func:`continue_ids`, so that as many stay as can.
    old_text : str or bytes, optional
        What `ids` stand for, if you still have it, encoded with the same options. Then ids are only read near
        the place where the texts begin to differ. What is the same is not searched for special tokens. A
        tokenizer that changes texts encodes all of `text`.
    **special
        As for :func:`append`.

    Returns
    -------
    n_keep : int
    new_ids : list of int

    Raises
    ------
    ValueError, TypeError
        As :func:`append`; or `keep` is none of these.

    Complexity
    ----------
    O(n) for n bytes of text: with `old_text`, one comparison of bytes, and :func:`append`.

    Examples
    --------
    >>> import bpe, bpe.ids
    >>> tok = bpe.train(["low lower"], vocab_size=258, progress=False)
    >>> bpe.ids.reuse(tok, tok.encode("low low"), "low lower")
    (3, [101, 114])
    >>> bpe.ids.reuse(tok, [257, 32, 108, 111], "low low"), bpe.ids.reuse(
    ...     tok, [257, 32, 108, 111], "low low", keep="ids"
    ... )
    ((2, [257]), (4, [119]))
    """
    if keep not in ("canonical", "ids"):
        raise ValueError(f"keep must be 'canonical' or 'ids', not {keep!r}")
    engine, rules = tok.engine, _rules_of(tok, special, reuse)
    if not engine.is_lossless:
        return _reuse_by_encoding(engine, ids, text, rules, keep)
    if old_text is None:
        n_keep, rest = _rest_after_common(engine, ids, text, rules)
    else:
        n_keep, rest = _rest_after_old(engine, ids, text, old_text, rules)
    if keep == "ids":
        return n_keep, _continue(engine, ids, n_keep, rest, rules)
    return _append(engine, ids, n_keep, rest, rules)


# ------------------------------------------------------------------------------------------ the end of ids
class _End(NamedTuple):
    """The end of the last stretch of some ids."""

    first: int  # of the ids: those before it stay
    data: bytes  # the last bytes of the stretch, enough for any token across the seam
    start: int  # where the first id that may change begins in them
    cut: int  # the safe cut, not before it
    begins: Begins  # what the stretch begins with


def _end_of(engine: Engine, ids: Ids, n: int, rules: Rules) -> _End:
    """Return the end of the last stretch of the first `n` ids, from the last safe cut on."""
    special, bytes_of = engine.special_id_set, engine.vocabulary.bytes_of
    size, reach = _WINDOW, max(rules.allowed.reach, rules.disallowed.reach)
    while True:
        some = _listed(ids[max(n - size, 0) : n])
        n_stretch = len(some)
        if not special.isdisjoint(some):
            n_stretch = next(i for i, token_id in enumerate(reversed(some)) if token_id in special)
        is_whole = n_stretch < len(some) or size >= n
        stretch, first = some[len(some) - n_stretch :], n - n_stretch
        begins = Begins.SEGMENT if first and is_whole else Begins.TEXT
        try:
            tokens = [bytes_of[index(token_id)] for token_id in stretch]
        except (KeyError, TypeError):
            checked_ids(engine.vocabulary, ids)  # the error names the place among all
            raise
        if engine.is_lossless:
            data = b"".join(tokens)
            if cut := cut_inside(data, engine.cutter, rules.allowed) if len(data) >= reach else 0:
                ends = [0, *accumulate(map(len, tokens))]
                n_before = bisect_right(ends, cut) - 1
                return _End(first + n_before, data, ends[n_before], cut, begins)
        elif is_whole:
            data = engine.decode_stretch(stretch, begins)
        if is_whole:
            return _End(first, data, 0, 0, begins)
        size *= 4


def _listed(ids: Ids) -> list[int]:
    return ids.tolist() if isinstance(ids, np.ndarray) else list(ids)


def _rules_of(tok: Tokenizer, special: SpecialOptions, function: Callable[..., Any]) -> Rules:
    """Return the rules of a call of a function; nothing can be put around a text that goes on."""
    check_names(special, function)
    rules = tok.engine.rules_of(**special)
    if special.get("add_special_tokens") or rules.around != NOTHING_AROUND:
        raise ValueError(
            "add_special_tokens=True puts ids around a whole text, but this text continues others: leave it "
            "out, and add the ids yourself"
        )
    return rules


def _refuse(rules: Rules, before: bytes, more: bytes, text: str | bytes) -> None:
    """Raise if a text holds a disallowed token, or completes one that begins before it."""
    search = rules.disallowed
    if not search.tokens or not more:
        return
    rules.refuse(text)
    left = before[max(len(before) - search.reach + 1, 0) :]
    row = left + more[: search.reach]
    if search.may_find(row) and search.crossed(row)[len(left)]:
        token = next(
            token
            for start in range(len(left))
            for token in search.encoded
            if row.startswith(token, start) and start + len(token) > len(left)
        )
        what = "the text, with the ids before it,"
        raise refusal(token.decode("utf-8", "surrogatepass"), "the end of the ids", what)


# ------------------------------------------------------------------------------------------------ encoding
def _end_of_ordinary(row: bytes, n: int, engine: Engine, rules: Rules) -> int:
    """Return where the first special token begins that ends after `n` bytes; 0 if no other is before it.

    Special tokens that ids spell are ordinary text. So up to there, a text must be encoded without any.
    """
    always = engine.ordinary_rules.allowed
    if all(row[start:end] in always.encoded for start, end in rules.allowed.find_all(row[:n])):
        return 0
    place = 0
    while place < len(row):
        found = next(rules.allowed.find_all(row[place:]), None)
        if found is None:
            break
        start, end = place + found[0], place + found[1]
        if row[start:end] in always.encoded:
            place = end
        elif end > n:
            return start
        else:
            # A shorter token may begin there; one that is found in every text, or one that ends after `n`.
            added = next(always.find_all(row[start : start + always.reach]), None)
            place = start + added[1] if added and added[0] == 0 else start + 1
    return len(row)


def _offsets(pattern: Pattern, data: bytes) -> list[int]:
    """Return where the pieces of a text begin, and where the last one ends."""
    if (scanner := pattern.scanner) is None:
        return [0, *accumulate(map(len, pattern.split_bytes(data)))]
    return scanner.split(data)


def _ids_of_rest(engine: Engine, ids: Ids, piece: bytes, n: int) -> list[int]:
    """Return the ids of a piece after the last of `ids`, which are of its first `n` bytes, if it has them."""
    edges = np.array([0, len(piece)], np.int32)
    whole = engine.encoder.encode_pieces(piece, edges, edges[1:])[0].tolist()
    ends = [*accumulate(len(engine.vocabulary.bytes_of[token_id]) for token_id in whole)]
    n_before = bisect_right(ends, n)
    is_same = n in ends and _listed(ids[len(ids) - n_before :]) == whole[:n_before]
    return whole[n_before:] if is_same else []


# -------------------------------------------------------------------------------------- ids of an older text
def _rest_after_common(engine: Engine, ids: Ids, text: str | bytes, rules: Rules) -> tuple[int, bytes]:
    """Return how many first ids begin a text, special ids where it has their tokens; and its rest."""
    rules.refuse(text)
    data, token_ids = utf8_of(text), id_array(engine, ids)
    old = engine.decode(token_ids)
    ends = np.cumsum(engine.table.lengths(token_ids))
    n_alike = _n_equal(old, data)
    special = np.flatnonzero(np.isin(token_ids, [*engine.special_id_set]))
    in_ids = zip(np.append(0, ends)[special].tolist(), ends[special].tolist(), strict=True)
    added = engine.ordinary_rules.allowed.encoded
    in_text = (span for span in rules.allowed.find_all(data) if data[slice(*span)] not in added)
    for one, other in zip_longest(in_ids, in_text, fillvalue=(len(data), len(data))):
        if one != other or one[1] > n_alike:
            n_alike = min(n_alike, one[0], other[0])
            break
    n_keep = int(np.searchsorted(ends, n_alike, side="right"))
    return n_keep, data[int(ends[n_keep - 1]) if n_keep else 0 :]


def _reuse_by_encoding(
    engine: Engine, ids: Ids, text: str | bytes, rules: Rules, keep: str
) -> tuple[int, list[int]]:
    """Encode all of a text, as the bytes of ids are not those of a text: its first ids may be reused."""
    old, data = _listed(ids), utf8_of(text)
    new = engine.encoder_for(data, rules, text).encode(data)
    n_keep = _n_equal(old, new)
    if keep == "canonical":
        return n_keep, new[n_keep:]
    ends = engine.encode_with_origins(data, rules)[2]
    return n_keep, _continue(engine, ids, n_keep, data[int(ends[n_keep - 1]) if n_keep else 0 :], rules)


def _rest_after_old(
    engine: Engine, ids: Ids, text: str | bytes, old: str | bytes, rules: Rules
) -> tuple[int, bytes]:
    """Return how many first ids begin a text, given the one that they are of; and the rest of the text."""
    if type(text) is not type(old):
        text, old = utf8_of(text), utf8_of(old)
    n_alike = _n_equal(text, old)
    if isinstance(text, str) and "\ud800" <= text[n_alike - 1 : n_alike] < "\udc00":
        n_alike -= 1  # the halves of a character are not cut
    n_bytes = len(utf8_of(old[n_alike:]))
    n_keep = len(ids) - engine.n_ids_of_tail(ids, n_bytes)
    tail = engine.decode(ids[n_keep:])
    rest = tail[: len(tail) - n_bytes] + utf8_of(text[n_alike:])
    # A longer token than a special one of the ids may begin at the same place now.
    bytes_of, search = engine.vocabulary.bytes_of, rules.allowed
    while n_keep and (token_id := int(ids[n_keep - 1])) in engine.special_id_set:
        token = bytes_of[token_id]
        if next(search.find_all((token + rest)[: search.reach]), None) == (0, len(token)):
            break
        n_keep, rest = n_keep - 1, token + rest
    end = _end_of(engine, ids, n_keep, rules)
    row, n = end.data[end.start :] + rest[: search.reach], len(end.data) - end.start
    added = engine.ordinary_rules.allowed.encoded
    for start, stop in search.find_all(row):
        if start < n < stop and row[start:stop] not in added:
            while n > start:
                n_keep -= 1
                token = bytes_of[int(ids[n_keep])]
                n, rest = n - len(token), token + rest
            break
    return n_keep, rest


def _n_equal(one: Any, other: Any) -> int:
    """Return how many first items of two sequences of one type are equal."""
    low, high = 0, min(len(one), len(other))
    if one[:high] == other[:high]:
        return high
    while high - low > 1:  # the first `low` are equal, the first `high` are not
        middle = (low + high) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle
    return low
