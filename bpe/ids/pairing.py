"""Two tokenizers over one text: which ids stand for the same bytes.

::

    bytes      l o w e r _ l o w
    a          low  |e |r  |_low          ends 3 4 5 9
    b          lo|w |er    |_  |low       ends 2 3 5 6 9
    places     0    3       5       9     ends of both
    groups     low  e r     _low          of a: a_ids[a_cuts[k]:a_cuts[k + 1]]
               lo w er      _ low         of b
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from bpe.encoding.batches import encode_batch_to_numpy
from bpe.encoding.canonicity import id_array
from bpe.encoding.decoding import checked_ids
from bpe.splitting.pattern import is_plain_allowed
from bpe.splitting.specials import SpecialOptions, check_names, takes_special_options
from bpe.support.text import utf8_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bpe.encoding.engine import Engine
    from bpe.tokenizer import Tokenizer

_FEW = 2000  # ids of both rows; for so few, no kernel is loaded
_Cuts = tuple[np.ndarray, np.ndarray, np.ndarray]


def align(
    a: Tokenizer, a_ids: Iterable[int] | np.ndarray, b: Tokenizer, b_ids: Iterable[int] | np.ndarray
) -> _Cuts:
    """Return the smallest groups of ids of two tokenizers that stand for the same bytes.

    Special ids stand for no bytes, as their names differ from tokenizer to tokenizer. They belong to the
    group before them, and at the start to the first. Tokens may cut characters.

    Parameters
    ----------
    a, b : Tokenizer
    a_ids, b_ids : iterable of int, or (n,) array of integers
        Ids of the same text, such as those that a student has sampled, and its teacher's.

    Returns
    -------
    a_cuts, b_cuts : (m + 1,) int64
        Group k is ``a_ids[a_cuts[k]:a_cuts[k + 1]]`` and ``b_ids[b_cuts[k]:b_cuts[k + 1]]``.
    places : (m + 1,) int64
        The bytes where groups begin, without those of special tokens; the last one is the length.

    Raises
    ------
    ValueError
        The texts differ; the message names the byte. Or an id has no token.
    TypeError
        An id is not an integer.

    Complexity
    ----------
    O(n) for n bytes.

    Examples
    --------
    >>> import bpe, bpe.ids
    >>> a = bpe.train(["low low"], vocab_size=258, progress=False)
    >>> b = bpe.train(["er er"], vocab_size=257, progress=False)
    >>> bpe.ids.align(a, a.encode("lower"), b, b.encode("lower"))
    (array([0, 1, 3]), array([0, 3, 4]), array([0, 3, 5]))
    """
    (a_data, a_lengths), (b_data, b_lengths) = _decoded(a.engine, a_ids), _decoded(b.engine, b_ids)
    if a_data != b_data:
        n = min(len(a_data), len(b_data))
        differ = np.frombuffer(a_data, np.uint8, n) != np.frombuffer(b_data, np.uint8, n)
        place = int(differ.argmax()) if differ.any() else n
        around = slice(max(place - 10, 0), place + 10)
        raise ValueError(
            f"the ids are of different texts, from byte {place} on: {a_data[around]!r} and {b_data[around]!r}"
        )
    cuts = np.empty((3, min(len(a_lengths), len(b_lengths)) + 2), np.int64)
    cuts[:, 0] = 0
    if len(a_lengths) + len(b_lengths) <= _FEW and is_plain_allowed():
        n = 1 + _find_common_ends(a_lengths.tolist(), b_lengths.tolist(), *cuts[:, 1:])
    else:
        n = 1 + _compiled()(a_lengths, b_lengths, *cuts[:, 1:])
    cuts[:, n] = len(a_lengths), len(b_lengths), len(a_data)
    a_cuts, b_cuts, places = cuts[:, : n + 1]
    return a_cuts, b_cuts, places


@takes_special_options
def align_text(a: Tokenizer, b: Tokenizer, text: str | bytes, **special: Unpack[SpecialOptions]) -> _Cuts:
    """Encode a text with two tokenizers; return the smallest groups of ids that stand for the same bytes.

    Special tokens in the text stand for their bytes here. A tokenizer may change the text: then an id stands
    for the bytes that it came from.

    Parameters
    ----------
    a, b : Tokenizer
    text : str or bytes
    **special
        As for :meth:`bpe.Tokenizer.encode`; nothing can be put around the ids.

    Returns
    -------
    a_cuts, b_cuts, places
        As :func:`align`, for ``a.encode(text)`` and ``b.encode(text)``; places are bytes of the UTF-8.

    Raises
    ------
    ValueError, TypeError
        As :meth:`bpe.Tokenizer.encode`.

    Complexity
    ----------
    That of encoding, and O(n) for n bytes.

    Examples
    --------
    >>> import bpe, bpe.ids
    >>> a = bpe.train(["low low"], vocab_size=258, progress=False)
    >>> b = bpe.train(["er er"], vocab_size=257, progress=False)
    >>> bpe.ids.align_text(a, b, "lower")
    (array([0, 1, 3]), array([0, 3, 4]), array([0, 3, 5]))
    """
    check_names(special, align_text)
    spans = []
    for tok in (a, b):
        _, starts, ends = tok.engine.encode_with_origins(text, tok.engine.rules_of(**special))
        spans.append((starts, ends))
    n_bytes = len(utf8_of(text))
    spanning = np.zeros(n_bytes + 2, np.int64)  # how many tokens begin before each byte and end after it
    for starts, ends in spans:
        wide = ends > starts
        spanning += np.bincount(starts[wide] + 1, minlength=n_bytes + 2)
        spanning -= np.bincount(ends[wide], minlength=n_bytes + 2)
    ends = np.unique(np.concatenate([ends for _, ends in spans]))
    inner = ends[(ends > 0) & (ends < n_bytes) & (np.cumsum(spanning)[ends] <= 0)]
    a_cuts, b_cuts = (_around(np.searchsorted(ends, inner, side="right"), len(ends)) for _, ends in spans)
    return a_cuts, b_cuts, _around(inner, n_bytes)


def shared_tokens(a: Tokenizer, b: Tokenizer) -> np.ndarray:
    r"""Return the ids of the tokens that two tokenizers share: with the same bytes, and of the same kind.

    Special tokens are shared with special ones, added with added ones, others with others.

    Parameters
    ----------
    a, b : Tokenizer

    Returns
    -------
    (n, 2) int64
        The id in `a` and that in `b`, in the order of those in `a`.

    Complexity
    ----------
    O(v log v) for v tokens.

    Examples
    --------
    >>> import bpe, bpe.ids
    >>> a = bpe.train(["low low"], vocab_size=258, progress=False)
    >>> b = bpe.train(["low", "xx"], vocab_size=259, progress=False)
    >>> [(a.token_bytes(i), j) for i, j in bpe.ids.shared_tokens(a, b).tolist() if i > 255]
    [(b'lo', 256), (b'low', 258)]
    """
    pairs = []
    for mine, theirs in zip(_by_kind(a), _by_kind(b), strict=True):
        pairs += [(mine[token], theirs[token]) for token in mine.keys() & theirs.keys()]
    return np.array(sorted(pairs), np.int64).reshape(-1, 2)


def map_to(a: Tokenizer, b: Tokenizer) -> tuple[np.ndarray, np.ndarray]:
    """Return for each id of a tokenizer the ids of another one that stand for the same bytes.

    For a token that both share, it is this one. Else its bytes are encoded, in which special tokens are text.

    Parameters
    ----------
    a, b : Tokenizer

    Returns
    -------
    offsets : (a.vocab_size + 1,) int64
    ids : (n,) uint32
        Those for id i are ``ids[offsets[i]:offsets[i + 1]]``. There are none for a special token that `b`
        does not have, and for an id that no text is encoded to.

    Raises
    ------
    ValueError
        `b` has no token for a byte.

    Complexity
    ----------
    O(n) for n bytes in all tokens.

    Examples
    --------
    >>> import bpe, bpe.ids
    >>> a = bpe.train(["low low"], vocab_size=258, progress=False)
    >>> b = bpe.train(["lo lo"], vocab_size=257, progress=False)
    >>> offsets, ids = bpe.ids.map_to(a, b)
    >>> a.token_bytes(257), ids[offsets[257] : offsets[258]].tolist()
    (b'low', [256, 119])
    """
    vocabulary, theirs = a.engine.vocabulary, b.engine
    vocabulary.refuse_far_ids("a map of ids")
    rows: list[bytes] = [b""] * vocabulary.size
    for token, token_id in vocabulary.id_of.items():
        rows[token_id] = token
    for text, token_id in vocabulary.added_tokens.items():
        rows[token_id] = text.encode()
    shared = dict(shared_tokens(a, b).tolist())
    for token_id in [*shared, *vocabulary.special_tokens.values()]:
        rows[token_id] = b""
    ids, offsets = encode_batch_to_numpy(theirs, rows, None, theirs.ordinary_rules)
    places = np.sort(np.fromiter(shared, np.int64, len(shared)))
    ids = np.insert(ids, offsets[places], np.array([shared[i] for i in places.tolist()], np.uint32))
    n_shared = np.zeros(len(offsets), np.int64)
    n_shared[places + 1] = 1
    return offsets + np.cumsum(n_shared), ids


# ------------------------------------------------------------------------------------------------- parts
def _decoded(engine: Engine, ids: Iterable[int] | np.ndarray) -> tuple[bytes, np.ndarray]:
    """Return the bytes of ids, and how many each has; special ids have none."""
    given = id_array(engine, ids)
    places = np.flatnonzero(np.isin(given, [*engine.special_id_set]))
    ordinary = np.delete(given, places) if len(places) else given
    try:
        data = engine.decode(ordinary)
    except ValueError:
        checked_ids(engine.vocabulary, given)  # the error names the place among all
        raise
    if engine.joins_bytes:
        lengths = engine.table.lengths(given)
    else:  # what a decoder makes of an id depends on those before it
        decoder, special = engine.part_decoder("replace"), engine.special_id_set
        parts = ("" if i in special else decoder.decode([i], False) for i in given.tolist())
        lengths = np.fromiter((len(part.encode()) for part in parts), np.int64, len(given))
        if len(ordinary):  # what was held back to the end is of the last one
            lengths[np.flatnonzero(~np.isin(given, [*special]))[-1]] += len(data) - lengths.sum()
    lengths[places] = 0
    return data, lengths


def _find_common_ends(a_lengths, b_lengths, a_cuts, b_cuts, places):  # type: ignore[no-untyped-def]
    """Write the places where tokens of two rows end together, and how many of each end up to there.

    The rows are of the same text. Tokens without bytes end where the one before them does. Neither the start
    of the text nor its end is written. Returns how many places there are.
    """
    n_a, n_b = len(a_lengths), len(b_lengths)
    n = i = j = a_end = b_end = 0
    while i < n_a and j < n_b:
        if a_end == b_end:
            if a_lengths[i] == 0 or b_lengths[j] == 0:
                i += a_lengths[i] == 0
                j += b_lengths[j] == 0
                continue
            if a_end > 0:
                a_cuts[n], b_cuts[n], places[n] = i, j, a_end
                n += 1
        a_is_next, b_is_next = a_end <= b_end, b_end <= a_end
        if a_is_next:
            a_end += a_lengths[i]
            i += 1
        if b_is_next:
            b_end += b_lengths[j]
            j += 1
    return n


@functools.cache
def _compiled() -> Any:
    from structures.kernels import quiet  # loads the compiler

    return quiet(_find_common_ends)


def _around(cuts: np.ndarray, n: int) -> np.ndarray:
    return np.concatenate([[0], cuts, [n]])


def _by_kind(tok: Tokenizer) -> tuple[dict[Any, int], ...]:
    """Return tokens and their ids: ordinary, special, added ones."""
    vocabulary = tok.engine.vocabulary
    special = {*vocabulary.special_tokens.values()}
    ordinary = {token: token_id for token, token_id in vocabulary.id_of.items() if token_id not in special}
    return ordinary, vocabulary.special_tokens, vocabulary.added_tokens
