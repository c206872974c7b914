"""Ids of a text that goes on, and ids as they should be: the slow twins of :mod:`bpe.ids`.

A *stretch* is a maximal run of ids that are not special. Each stretch is encoded by itself. All functions
take the parts of a tokenizer, and read a stretch from its beginning.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import product
from typing import NamedTuple


class Parts(NamedTuple):
    """The parts of a tokenizer whose tokens are bytes."""

    token_bytes: Mapping[int, bytes]
    special_ids: Mapping[bytes, int]
    added_ids: Mapping[bytes, int]  # tokens that are found in every text
    split: Callable[[bytes], list[bytes]]
    merge: Callable[[bytes], list[int]]  # a piece, by merges alone
    whole_ids: Mapping[bytes, int] = {}  # pieces that are looked up before they are merged


def find_tokens(
    text: bytes, added: Collection[bytes], special: Collection[bytes], n_before: int = 0
) -> list[tuple[int, int]]:
    """Find added and special tokens from the left, the longest first; special ones end after `n_before`.

    Parameters
    ----------
    text : bytes
    added, special : collection of bytes
    n_before : int
        Special tokens that end within the first `n_before` bytes are ordinary text.

    Returns
    -------
    list of (int, int)
        Where each begins and ends.

    Complexity
    ----------
    O(n t) for n bytes and t tokens.

    Examples
    --------
    >>> find_tokens(b"<a><a>", [], [b"<a>"]), find_tokens(b"<a><a>", [], [b"<a>"], 4)
    ([(0, 3), (3, 6)], [(3, 6)])
    """
    found, place = [], 0
    while place < len(text):
        ends = [place + len(token) for token in added if text.startswith(token, place)]
        here = [token for token in special if text.startswith(token, place)]
        ends += [place + len(token) for token in here if place + len(token) > n_before]
        if ends:
            found.append((place, max(ends)))
        place = max(ends, default=place + 1)
    return found


def encode_piece(parts: Parts, piece: bytes) -> list[int]:
    """Encode a piece: look it up, else merge it.

    Examples
    --------
    >>> encode_piece(Parts({}, {}, {}, lambda text: [text], list, {b"ab": 300}), b"ab")
    [300]
    """
    return [parts.whole_ids[piece]] if piece in parts.whole_ids else parts.merge(piece)


def encode(parts: Parts, text: bytes, allowed: Collection[bytes] = (), n_before: int = 0) -> list[int]:
    """Encode a text in which some special tokens are allowed, those that end after `n_before`.

    Examples
    --------
    >>> parts = Parts({}, {b"<a>": 300}, {}, lambda text: [text], list)
    >>> encode(parts, b"b<a>", [b"<a>"])
    [98, 300]
    """
    ids, place = list[int](), 0
    for start, end in [*find_tokens(text, parts.added_ids, allowed, n_before), (len(text), len(text))]:
        for piece in parts.split(text[place:start]):
            ids += encode_piece(parts, piece)
        if start < end:
            ids.append({**parts.special_ids, **parts.added_ids}[text[start:end]])
        place = end
    return ids


def last_stretch(parts: Parts, ids: Sequence[int]) -> tuple[int, bytes]:
    """Return where the last stretch begins, and its bytes.

    Examples
    --------
    >>> last_stretch(Parts({97: b"a", 300: b"<a>"}, {b"<a>": 300}, {}, bytes.split, list), [97, 300, 97])
    (2, b'a')
    """
    special = {*parts.special_ids.values()}
    start = max((place + 1 for place, token in enumerate(ids) if token in special), default=0)
    return start, b"".join(parts.token_bytes[token] for token in ids[start:])


def append_ids(
    parts: Parts, ids: Sequence[int], text: bytes, allowed: Collection[bytes] = ()
) -> tuple[int, list[int]]:
    """Encode the last stretch and the text after it; return how many ids stay, and those that follow.

    Parameters
    ----------
    parts : Parts
    ids : sequence of int
        The ids of a text.
    text : bytes
    allowed : collection of bytes
        Special tokens that become their ids where they end in `text`.

    Returns
    -------
    n_keep : int
    new_ids : list of int

    Complexity
    ----------
    That of encoding the last stretch.

    Examples
    --------
    >>> parts = Parts({97: b"a"}, {}, {}, lambda text: [text], list, {b"ab": 300})
    >>> append_ids(parts, [97], b"b"), append_ids(parts, [97], b"c")
    ((0, [300]), (1, [99]))
    """
    start, before = last_stretch(parts, ids)
    whole = [*ids[:start], *encode(parts, before + text, allowed, len(before))]
    n_keep = next(
        (place for place, both in enumerate(zip(ids, whole, strict=False)) if both[0] != both[1]), None
    )
    n_keep = min(len(ids), len(whole)) if n_keep is None else n_keep
    return n_keep, whole[n_keep:]


def continue_ids(parts: Parts, ids: Sequence[int], text: bytes, allowed: Collection[bytes] = ()) -> list[int]:
    """Encode a text after ids that stay: the pattern sees both, and every token ends at the seam.

    A piece may lie across the seam. If its ids are those before the seam and others, these others are the
    ids of the rest. Else the rest is encoded as a piece.

    Parameters
    ----------
    parts : Parts
    ids : sequence of int
    text : bytes
    allowed : collection of bytes
        Special tokens that become their ids in `text`.

    Returns
    -------
    list of int

    Complexity
    ----------
    That of encoding the last stretch.

    Examples
    --------
    >>> parts = Parts({97: b"a"}, {}, {}, lambda text: [text], list, {b"ab": 300})
    >>> continue_ids(parts, [97], b"bc")
    [98, 99]
    """
    _, before = last_stretch(parts, ids)
    context = before[max((end for _, end in find_tokens(before, parts.added_ids, ())), default=0) :]
    stop = min((start for start, _ in find_tokens(text, parts.added_ids, allowed)), default=len(text))
    new, end = list[int](), 0
    for piece in parts.split(context + text[:stop]):
        start, end = end, end + len(piece)
        if end <= len(context):
            continue
        rest = piece[max(len(context) - start, 0) :]
        rest_ids = encode_piece(parts, rest)
        if len(rest) < len(piece):
            known = [token for place, token in _with_places(parts, ids) if place < end - start - len(rest)]
            known.reverse()
            whole = encode_piece(parts, piece)
            is_whole = b"".join(map(parts.token_bytes.__getitem__, known)) == piece[: -len(rest)]
            rest_ids = whole[len(known) :] if is_whole and whole[: len(known)] == known else rest_ids
        new += rest_ids
    return new + encode(parts, text[stop:], allowed)


def _with_places(parts: Parts, ids: Sequence[int]) -> list[tuple[int, int]]:
    """Return ids from the last to the first, each with the number of bytes after it."""
    place, found = 0, []
    for token in reversed(ids):
        found.append((place, token))
        place += len(parts.token_bytes[token])
    return found


def common_ids(parts: Parts, ids: Sequence[int], text: bytes, allowed: Collection[bytes] = ()) -> int:
    """Return the most first ids whose bytes begin a text; special ids only where the text has their tokens.

    Examples
    --------
    >>> common_ids(Parts({97: b"a", 98: b"b"}, {}, {}, bytes.split, list), [97, 98, 97], b"abba")
    2
    """
    special = {*parts.special_ids.values()}
    spans = find_tokens(text, parts.added_ids, allowed)
    in_text = [(start, end) for start, end in spans if text[start:end] not in parts.added_ids]
    for n in range(len(ids), -1, -1):
        place, in_ids = 0, []
        for token in ids[:n]:
            start, place = place, place + len(parts.token_bytes[token])
            if token in special:
                in_ids.append((start, place))
        begins_text = text.startswith(b"".join(parts.token_bytes[token] for token in ids[:n]))
        if begins_text and in_ids == [span for span in in_text if span[0] < place]:
            return n
    return 0


def canonical_ids(parts: Parts, ids: Sequence[int]) -> list[int]:
    """Encode the bytes of each stretch by itself; special ids stay.

    Examples
    --------
    >>> parts = Parts({97: b"a", 98: b"b"}, {}, {}, lambda text: [text], list, {b"ab": 300})
    >>> canonical_ids(parts, [97, 98])
    [300]
    """
    special = {*parts.special_ids.values()}
    found, stretch = list[int](), b""
    for token in ids:
        if token in special:
            found += [*encode(parts, stretch), token]
            stretch = b""
        else:
            stretch += parts.token_bytes[token]
    return found + encode(parts, stretch)


def labels_of(
    parts: Parts, ids: Sequence[int], segments: Sequence[tuple[bytes, object]]
) -> tuple[list[object], list[object]]:
    """Return the labels of the first and the last byte of each id, given the texts that all are of.

    Examples
    --------
    >>> parts = Parts({97: b"a", 300: b"ab"}, {}, {}, bytes.split, list)
    >>> labels_of(parts, [97, 300], [(b"aa", 0), (b"b", 1)])
    ([0, 0], [0, 1])
    """
    label_of_byte = [label for text, label in segments for _ in text]
    first, last, place = list[object](), list[object](), 0
    for token in ids:
        first.append(label_of_byte[place])
        place += len(parts.token_bytes[token])
        last.append(label_of_byte[place - 1])
    return first, last


def find_strings(data: bytes, strings: Collection[bytes]) -> tuple[list[tuple[int, int]], bytes]:
    """Find strings from the left: the first that ends, of those the longest, then on after it.

    Returns
    -------
    spans : list of (int, int)
    held : bytes
        The longest end of the rest that a string begins with.

    Examples
    --------
    >>> find_strings(b"abcabcda", [b"bc", b"abc", b"da!"])
    ([(0, 3), (3, 6)], b'da')
    """
    spans, start = list[tuple[int, int]](), 0
    for end in range(1, len(data) + 1):
        lengths = [len(string) for string in strings if data[start:end].endswith(string)]
        if lengths:
            spans.append((end - max(lengths), end))
            start = end
    rest = data[start:]
    ends = (rest[place:] for place in range(len(rest) + 1))
    return spans, next(end for end in ends if any(string.startswith(end) for string in strings))


def align_tokens(mine: Sequence[bytes], theirs: Sequence[bytes]) -> tuple[list[int], list[int], list[int]]:
    """Return the groups of two rows of tokens of the same bytes, and where these begin; some have no bytes.

    Examples
    --------
    >>> align_tokens([b"", b"low", b"er"], [b"lo", b"w", b"er"])
    ([0, 2, 3], [0, 2, 3], [0, 3, 5])
    """
    ends = [[len(b"".join(row[: n + 1])) for n in range(len(row))] for row in (mine, theirs)]
    length = len(b"".join(mine))
    places = sorted({*ends[0]} & {*ends[1]} - {0, length})
    cuts = [[sum(end <= place for end in some) for place in places] for some in ends]
    return [0, *cuts[0], len(mine)], [0, *cuts[1], len(theirs)], [0, *places, length]


def texts_over(characters: Iterable[str], most: int) -> list[bytes]:
    """Return all texts of at most so many of some characters.

    Examples
    --------
    >>> texts_over("ab", 2)
    [b'', b'a', b'b', b'aa', b'ab', b'ba', b'bb']
    """
    letters = [character.encode() for character in characters]
    return [b"".join(row) for n in range(most + 1) for row in product(letters, repeat=n)]


def next_ids(parts: Parts, ids: Sequence[int], encoded: Iterable[Sequence[int]]) -> set[int]:
    """Return which ids may follow some, so that a text still has ids that begin with all of them.

    The last stretch goes on as the ids of a text go on, or a special id ends it where it is that of its text.
    The stretches before it have to be those of their texts.

    Parameters
    ----------
    parts : Parts
    ids : sequence of int
    encoded : iterable of sequences of int
        The ids of all texts that the last stretch may become: those that are somewhat longer are enough.

    Returns
    -------
    set of int

    Complexity
    ----------
    That of encoding, and O(n) for n ids of `encoded`.

    Examples
    --------
    >>> parts = Parts({97: b"a", 98: b"b"}, {}, {}, lambda text: [text], list, {b"ab": 300})
    >>> next_ids(parts, [97], [encode(parts, text) for text in texts_over("ab", 3)])
    {97, 98}
    """
    start, _ = last_stretch(parts, ids)
    before, stretch = [*ids[:start]], [*ids[start:]]
    if canonical_ids(parts, before) != before:
        return set()
    n = len(stretch)
    found = {row[n] for row in encoded if len(row) > n and [*row[:n]] == stretch}
    if canonical_ids(parts, stretch) == stretch:
        found |= {*parts.special_ids.values()}
    return found


def covers(
    parts: Parts, prefix: bytes, texts: Iterable[bytes], specials: bool = False
) -> set[tuple[int, ...]]:
    """Return the shortest beginnings of the ids of texts that reach the end of a prefix.

    Parameters
    ----------
    parts : Parts
    prefix : bytes
    texts : iterable of bytes
        All texts that the prefix may become: those that are somewhat longer are enough.
    specials : bool
        Whether a special token may begin in the prefix and reach its end, too.

    Returns
    -------
    set of tuple of int

    Complexity
    ----------
    That of encoding all texts.

    Examples
    --------
    >>> parts = Parts({97: b"a", 98: b"b", 300: b"ab"}, {}, {}, lambda text: [text], list, {b"ab": 300})
    >>> sorted(covers(parts, b"a", texts_over("ab", 3)))
    [(97,), (300,)]
    """
    found = set()
    for text in texts:
        if text.startswith(prefix):
            ids, place = list[int](), 0
            for token in encode(parts, text):
                if place < len(prefix):
                    ids.append(token)
                    place += len(parts.token_bytes[token])
            found.add(tuple(ids))
    if specials:
        for special, number in parts.special_ids.items():
            for place in range(len(prefix)):
                if special.startswith(prefix[place:]):
                    found.add((*encode(parts, prefix[:place]), number))
    return found
