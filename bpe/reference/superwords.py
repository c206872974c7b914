"""Superwords: tokens that join words. Two ways to learn them, with the text of all documents kept.

SuperBPE learns the first merges in the ordinary way. Then it takes wider pieces, such as whole lines, applies
the first merges to them, and continues. So the later merges may join words, or parts of them. The method is
that of Liu and others, "SuperBPE: Space Travel for Language Models" (2025).

BoundlessBPE lets merges that join whole pieces, *supermerges*, compete with the others.

Invariants
----------
1. No two tokens have the same bytes.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby, pairwise
from typing import Any, NamedTuple

from .encoders import encode_by_rank, rank_pairs, vocabulary
from .pairs import merge_sequence
from .trainers import Merge, RecountedPieces, learn, train_chunked


def train_superbpe(
    pieces: Iterable[bytes], wide_pieces: Iterable[bytes], n_merges: int, first_merges: int, **rules: Any
) -> list[Merge]:
    """Train with wider pieces after the first merges.

    Parameters
    ----------
    pieces : iterable of bytes
        The pieces of all documents, in order.
    wide_pieces : iterable of bytes
        The same text, cut by the wide pattern.
    n_merges : int
        Including the first ones.
    first_merges : int
    **rules
        The keyword arguments of `learn`.

    Returns
    -------
    list of Merge

    Complexity
    ----------
    O(K N) for K merges over N bytes.

    Examples
    --------
    >>> text = b"of course, of course"
    >>> merges = train_superbpe([b"of", b" course", b",", b" of", b" course"], [text], 8, 6)
    >>> [(merge.new_id, merge.count) for merge in merges[6:]]
    [(262, 2), (263, 2)]
    """
    merges = train_chunked(pieces, min(first_merges, n_merges), **rules)
    wide = RecountedPieces((piece, 1) for piece in wide_pieces)
    for merge in merges:
        left, right = merge.pair
        wide.merge(merge.pair, wide.token_bytes[left] + wide.token_bytes[right])
    return merges + learn(wide, n_merges - len(merges), **rules)


class SuperMerge(NamedTuple):
    """A learned supermerge: the bytes of its parts, and the count of the pair when it was chosen.

    Examples
    --------
    >>> SuperMerge(b"of", b" the", 5).token
    b'of the'
    """

    left: bytes
    right: bytes
    count: int  # type: ignore[assignment]  # tuples have a method of this name

    @property
    def token(self) -> bytes:
        """The bytes of the new token."""
        return self.left + self.right


def runs_of(pieces: Iterable[bytes], can_join: Callable[[bytes], bool]) -> list[list[bytes]]:
    """Return the maximal sequences of at least two pieces that can be joined. O(n) for n pieces.

    Examples
    --------
    >>> runs_of([b"of", b" the", b",", b"of"], lambda piece: piece != b",")
    [[b'of', b' the']]
    """
    return [
        run for joins, group in groupby(pieces, can_join) if joins for run in [list(group)] if len(run) > 1
    ]


def train_boundless(
    documents: Sequence[Sequence[bytes]],
    n_merges: int,
    may_join: Callable[[bytes], bool],
    document_counts: Sequence[int] | None = None,
    **rules: Any,
) -> tuple[list[Merge], list[SuperMerge]]:
    """Train with merges that join whole pieces, which compete with merges inside pieces.

    Phase 1 learns `n_merges` in the ordinary way. In phase 2, the next of these merges is taken, unless the
    best pair in the runs of pieces that are one token each counts more. Of pairs that count the same, the
    smallest (left bytes, right bytes) is merged. A pair that makes the bytes of another token is skipped.

    The method is that of Schmidt and others, "Boundless Byte Pair Encoding" (2025), in the two phases of
    "Faster Superword Tokenization" (2026), without deletions.

    Parameters
    ----------
    documents : sequence of sequence of bytes
        The pieces of each document, in order. No run crosses from one into the next.
    n_merges : int
        Of both kinds.
    may_join : callable
        Returns whether a piece may be joined to others.
    document_counts : sequence of int, optional
        How often each document counts; once by default.
    **rules
        The keyword arguments of `learn`, for phase 1. A `min_count` and a `max_token_length` hold for both.

    Returns
    -------
    merges : list of Merge
    supermerges : list of SuperMerge

    Complexity
    ----------
    O(K N) for K merges over N bytes.

    Examples
    --------
    >>> merges, supermerges = train_boundless([[b"ab", b"ab", b"ab", b"ab"]], 2, lambda piece: True)
    >>> merges
    [Merge(left=97, right=98, new_id=256, count=4)]
    >>> supermerges
    [SuperMerge(left=b'ab', right=b'ab', count=3)]
    """
    times = [1] * len(documents) if document_counts is None else document_counts
    pieces = [(piece, n) for document, n in zip(documents, times, strict=True) for piece in document]
    first = learn(RecountedPieces(pieces), n_merges, **rules)
    known = {*vocabulary(merge.pair for merge in first).values()}
    ranks = rank_pairs(merge.pair for merge in first)
    is_single = {piece: len(encode_by_rank(piece, ranks)) == 1 for piece, _ in pieces}
    runs: list[tuple[Sequence[bytes], int]] = []
    for document, n in zip(documents, times, strict=True):
        runs += [(run, n) for run in runs_of(document, lambda piece: is_single[piece] and may_join(piece))]
    least, longest = rules.get("min_count", 1), rules.get("max_token_length") or float("inf")
    n_first = 0
    supermerges: list[SuperMerge] = []
    while n_first + len(supermerges) < n_merges:
        counts: Counter[tuple[bytes, bytes]] = Counter()
        for run, n in runs:
            for pair in pairwise(run):
                counts[pair] += n
        counts = Counter(
            {
                (left, right): count
                for (left, right), count in counts.items()
                if count >= least and len(left + right) <= longest and left + right not in known
            }
        )
        best = min(counts, key=lambda pair: (-counts[pair], pair), default=None)
        if best is not None and (n_first == len(first) or counts[best] > first[n_first].count):
            supermerges.append(SuperMerge(*best, counts[best]))
            known.add(supermerges[-1].token)
            runs = [(merge_sequence(run, best, supermerges[-1].token), n) for run, n in runs]
        elif n_first < len(first):
            n_first += 1
        else:
            break
    return first[:n_first], supermerges


def encode_boundless(
    pieces: Sequence[bytes], merges: Sequence[Merge], supermerges: Sequence[SuperMerge]
) -> list[bytes]:
    """Encode the pieces of a text: by merges inside them, then by supermerges in runs of them.

    Parameters
    ----------
    pieces : sequence of bytes
    merges : sequence of Merge
    supermerges : sequence of SuperMerge

    Returns
    -------
    list of bytes
        The bytes of each token.

    Complexity
    ----------
    O(K n) for K merges and n bytes.

    Examples
    --------
    >>> merges, supermerges = [Merge(97, 98, 256, 4)], [SuperMerge(b"ab", b"ab", 3)]
    >>> encode_boundless([b"ab", b"ab", b"c", b"ab"], merges, supermerges)
    [b'abab', b'c', b'ab']
    """
    ranks, token_bytes = (
        rank_pairs(merge.pair for merge in merges),
        vocabulary(merge.pair for merge in merges),
    )
    parts = {part for merge in supermerges for part in merge[:2]}
    encoded = [[token_bytes[token] for token in encode_by_rank(piece, ranks)] for piece in pieces]
    tokens: list[bytes] = []
    for is_run, group in groupby(encoded, lambda ids: len(ids) == 1 and ids[0] in parts):
        run = [token for ids in group for token in ids]
        for merge in supermerges if is_run else ():
            run = merge_sequence(run, merge[:2], merge.token)
        tokens += run
    return tokens
