"""Five byte-level trainers that learn the same merges. Each does less work than the one before it.

Ids 0 to 255 are the byte values; the merges make 256, 257, ... in the order of learning. All five use one
loop, `learn`: pick the best pair, record it, merge it. There are three ways to store the text:

- `RecountedPieces` counts all pairs again for each merge;
- `IncrementalPieces` keeps the counts, and searches all pieces for the pair to merge;
- `IndexedPieces` knows which pieces contain which pair.

The kept counts stay exact by a simple rule: when a piece changes, all its old pairs are subtracted and all
its new pairs are added. So `aaaa`, where occurrences overlap, needs no special case.

The trainers do not split text, have no special tokens, and always start from the 256 bytes.

The loop is from Sennrich, Haddow and Birch, "Neural machine translation of rare words with subword units"
(2016), applied to bytes as in GPT-2; the compression method is from Gage, "A new algorithm for data
compression" (1994).

Invariants
----------
1. ``counts`` of incremental pieces equal `pair_statistics` of their sequences, and contain no zeros.
2. ``pieces_with[pair]`` of indexed pieces is the set of the indices of all sequences that contain the pair.
3. No two tokens have the same bytes: the bytes of a token are always built by the same merges.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from .pairs import LengthRule, Pair, Ties, count_pairs, merge_sequence, pair_statistics, pick_best

if TYPE_CHECKING:
    from .linked import LinkedPieces


class Merge(NamedTuple):
    """One learned merge: the two ids, the new id, and the count of the pair when it was chosen.

    Where occurrences overlap, as in `aaa`, fewer than `count` are merged.

    Examples
    --------
    >>> Merge(left=97, right=98, new_id=256, count=3).pair
    (97, 98)
    """

    left: int
    right: int
    new_id: int
    count: int  # type: ignore[assignment]  # tuples have a method of this name

    @property
    def pair(self) -> Pair:
        """The two ids."""
        return self.left, self.right


class RecountedPieces:
    """Pieces as sequences of token ids, with their counts. Pairs are counted again each time.

    Equal pieces are not added up: the caller may do so.

    Parameters
    ----------
    piece_counts : iterable of (bytes, int)
        The pieces in the order of first occurrence, and how often each occurs, at least 1.

    Attributes
    ----------
    sequences : list of list of int
        The current tokens of each piece.
    piece_counts : list of int
        How often each piece occurs.
    token_bytes : list of bytes
        The bytes of each token id.

    Raises
    ------
    ValueError
        If a count is below 1.

    Examples
    --------
    >>> pieces = RecountedPieces([(b"aaa", 2), (b"ab", 1)])
    >>> pieces.pair_counts()
    Counter({(97, 97): 4, (97, 98): 1})
    >>> pieces.merge((97, 97), b"aa")
    256
    >>> pieces.sequences
    [[256, 97], [97, 98]]
    """

    def __init__(self, piece_counts: Iterable[tuple[bytes, int]]) -> None:
        self.sequences: list[list[int]] = []
        self.piece_counts: list[int] = []
        self.token_bytes: list[bytes] = [bytes([value]) for value in range(256)]
        for piece, count in piece_counts:
            if count < 1:
                raise ValueError(f"piece {piece!r} has the count {count}; a count is at least 1")
            self.sequences.append(list(piece))
            self.piece_counts.append(count)

    def pair_counts(self) -> Counter[Pair]:
        """Return the current count of every pair. O(n) for n tokens."""
        return pair_statistics(self.sequences, self.piece_counts)

    def merge(self, pair: Pair, token: bytes) -> int:
        """Merge a pair into a new token, everywhere, and return the token's id. O(n) for n tokens."""
        new_id = len(self.token_bytes)
        self.token_bytes.append(token)
        for index in self.pieces_holding(pair):
            self.rewrite(index, merge_sequence(self.sequences[index], pair, new_id))
        return new_id

    def pieces_holding(self, pair: Pair) -> list[int]:
        """Return the indices of the pieces that contain the pair, in order. O(n) for n tokens."""
        return [index for index, sequence in enumerate(self.sequences) if pair in pairwise(sequence)]

    def rewrite(self, index: int, sequence: list[int]) -> None:
        """Replace the sequence of a piece. O(1)."""
        self.sequences[index] = sequence


class IncrementalPieces(RecountedPieces):
    """Pieces whose pair counts are kept: the pairs of a changed piece are subtracted, then added again.

    The places of a pair are not known, so every piece is searched for every merge.

    Examples
    --------
    >>> pieces = IncrementalPieces([(b"aaaa", 2), (b"ab", 1)])
    >>> pieces.merge((97, 97), b"aa")
    256
    >>> pieces.pair_counts()
    Counter({(256, 256): 2, (97, 98): 1})
    """

    def __init__(self, piece_counts: Iterable[tuple[bytes, int]]) -> None:
        super().__init__(piece_counts)
        self.counts = super().pair_counts()

    def pair_counts(self) -> Counter[Pair]:
        """Return the mapping of all pairs to their counts itself, not a copy. O(1)."""
        return self.counts

    def rewrite(self, index: int, sequence: list[int]) -> None:
        """Replace the sequence of a piece, and correct the counts. O(piece)."""
        before, count = self.sequences[index], self.piece_counts[index]
        super().rewrite(index, sequence)
        count_pairs(before, -count, self.counts)
        count_pairs(sequence, count, self.counts)
        for pair in pairwise(before):
            if self.counts[pair] == 0:
                del self.counts[pair]


class IndexedPieces(IncrementalPieces):
    """Incremental pieces with an index: for every pair, the pieces that contain it.

    The place of the pair in the piece is not known: the whole piece is read again.

    Examples
    --------
    >>> pieces = IndexedPieces([(b"xab", 1), (b"xyz", 1), (b"abab", 1)])
    >>> pieces.pieces_holding((97, 98))
    [0, 2]
    >>> pieces.merge((97, 98), b"ab")
    256
    >>> pieces.pieces_holding((97, 98)), pieces.pieces_holding((120, 256))
    ([], [0])
    """

    def __init__(self, piece_counts: Iterable[tuple[bytes, int]]) -> None:
        super().__init__(piece_counts)
        self.pieces_with: defaultdict[Pair, set[int]] = defaultdict(set)
        for index, sequence in enumerate(self.sequences):
            self._post(index, sequence)

    def pieces_holding(self, pair: Pair) -> list[int]:
        """Return the indices of the pieces that contain the pair, in order. O(h log h) for h pieces."""
        return sorted(self.pieces_with.get(pair, ()))

    def rewrite(self, index: int, sequence: list[int]) -> None:
        """Replace the sequence of a piece, and correct the counts and the index. O(piece)."""
        for pair in set(pairwise(self.sequences[index])):
            self.pieces_with[pair].remove(index)
            if not self.pieces_with[pair]:
                del self.pieces_with[pair]
        super().rewrite(index, sequence)
        self._post(index, sequence)

    def _post(self, index: int, sequence: list[int]) -> None:
        for pair in pairwise(sequence):
            self.pieces_with[pair].add(index)


def is_short(left: bytes, right: bytes, max_token_length: int, length_rule: LengthRule) -> bool:
    """Return whether two tokens may be merged, by their lengths.

    Parameters
    ----------
    left, right : bytes
    max_token_length : int
    length_rule : {"at_most", "huggingface"}
        "huggingface" is the rule of its BpeTrainer: the new token must be shorter than `max_token_length`,
        but two single bytes may always be merged.

    Returns
    -------
    bool

    Raises
    ------
    ValueError
        If the rule is unknown.

    Complexity
    ----------
    O(1).

    Examples
    --------
    >>> is_short(b"ab", b"c", 3, "at_most"), is_short(b"ab", b"c", 3, "huggingface")
    (True, False)
    """
    if length_rule == "at_most":
        return len(left) + len(right) <= max_token_length
    if length_rule == "huggingface":
        return len(left) == len(right) == 1 or len(left) + len(right) < max_token_length
    raise ValueError(f"length_rule must be 'at_most' or 'huggingface', not {length_rule!r}")


def learn(
    pieces: "RecountedPieces | LinkedPieces",
    n_merges: int,
    *,
    ties: Ties = "smallest",
    min_count: int = 1,
    max_token_length: int | None = None,
    length_rule: LengthRule = "at_most",
    keep: Callable[[bytes, bytes], bool] | None = None,
) -> list[Merge]:
    """Learn up to `n_merges` merges, and apply them to the pieces: the training loop of all rungs.

    A second call with the same pieces continues the training, so that ``learn(pieces, 1)`` is one step. The
    list is shorter than `n_merges` if the pairs run out or become too rare.

    Parameters
    ----------
    pieces : RecountedPieces or LinkedPieces
        Or a subclass. Its sequences are changed by the merges.
    n_merges : int
        How many merges to learn at most.
    ties : {"smallest", "lexicographic", "first", "gpt2"}
        Which of the pairs with the greatest count is merged; see `pick_best`.
    min_count : int
        Stop when the greatest count is below this.
    max_token_length : int, optional
        In bytes. A pair that would make a longer token is ignored: `min_count` is compared with the best of
        the others.
    length_rule : {"at_most", "huggingface"}
        Whether a token may have `max_token_length` bytes, or must be shorter; see `is_short`.
    keep : callable, optional
        Takes the bytes of both tokens. A pair for which it returns False is ignored in the same way.

    Returns
    -------
    list of Merge

    Complexity
    ----------
    For each merge O(P) for P pairs, ``pieces.pair_counts()`` and ``pieces.merge()``.

    Examples
    --------
    >>> pieces = RecountedPieces([(b"aaabdaaabac", 1)])
    >>> learn(pieces, 1)
    [Merge(left=97, right=97, new_id=256, count=4)]
    >>> learn(pieces, 10, min_count=2)
    [Merge(left=97, right=98, new_id=257, count=2), Merge(left=256, right=257, new_id=258, count=2)]
    >>> pieces.sequences
    [[258, 100, 258, 97, 99]]
    """
    merges: list[Merge] = []
    token_bytes = pieces.token_bytes
    while len(merges) < n_merges:
        counts: Mapping[Pair, int] = pieces.pair_counts()
        if max_token_length is not None:
            counts = {
                (left, right): count
                for (left, right), count in counts.items()
                if is_short(token_bytes[left], token_bytes[right], max_token_length, length_rule)
            }
        if keep is not None:
            counts = {
                (left, right): count
                for (left, right), count in counts.items()
                if keep(token_bytes[left], token_bytes[right])
            }
        if not counts:
            break
        left, right = pick_best(counts, ties, token_bytes, pieces.sequences)
        count = counts[left, right]
        if count < min_count:
            break
        new_id = pieces.merge((left, right), token_bytes[left] + token_bytes[right])
        merges.append(Merge(left, right, new_id, count))
    return merges


def train_vanilla(text: bytes, n_merges: int, **rules: Any) -> list[Merge]:
    """Rung 1: the text is one sequence, and its pairs are counted again for every merge.

    Tokens may contain any frequent bytes, also spaces between words.

    Parameters
    ----------
    text : bytes
        The training text.
    n_merges : int
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
    >>> [merge.pair for merge in train_vanilla(b"aaabdaaabac", 3)]
    [(97, 97), (97, 98), (256, 257)]
    """
    return learn(RecountedPieces([(text, 1)]), n_merges, **rules)


def train_chunked(pieces: Iterable[bytes], n_merges: int, **rules: Any) -> list[Merge]:
    """Rung 2: the text has been cut into pieces, and no pair crosses from one piece into the next.

    Parameters
    ----------
    pieces : iterable of bytes
        The pieces of the text, in order.
    n_merges : int
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
    >>> [merge.pair for merge in train_chunked([b"ab", b"ab", b"cab"], 10)]
    [(97, 98), (99, 256)]
    """
    return learn(RecountedPieces((piece, 1) for piece in pieces), n_merges, **rules)


def train_deduplicated(piece_counts: Mapping[bytes, int], n_merges: int, **rules: Any) -> list[Merge]:
    """Rung 3: every distinct piece is stored once, with its count. Pairs are counted again for every merge.

    The order of first occurrence is kept, for the tie rule "first": a pair is first where some piece is.

    Parameters
    ----------
    piece_counts : mapping from bytes to int
        The distinct pieces in the order of first occurrence (as in ``Counter(pieces)``), and how often each
        occurs.
    n_merges : int
    **rules
        The keyword arguments of `learn`.

    Returns
    -------
    list of Merge

    Complexity
    ----------
    O(K D) for K merges over distinct pieces of D bytes in all.

    Examples
    --------
    >>> train_deduplicated({b"ab": 2, b"cab": 1}, 1)
    [Merge(left=97, right=98, new_id=256, count=3)]
    """
    return learn(RecountedPieces(piece_counts.items()), n_merges, **rules)


def train_incremental(piece_counts: Mapping[bytes, int], n_merges: int, **rules: Any) -> list[Merge]:
    """Rung 4: the pair counts are kept, and corrected for each changed piece. All pieces are searched.

    Parameters
    ----------
    piece_counts : mapping from bytes to int
        As for `train_deduplicated`.
    n_merges : int
    **rules
        The keyword arguments of `learn`.

    Returns
    -------
    list of Merge

    Complexity
    ----------
    O(D + K (D + P)) for K merges, P pairs and distinct pieces of D bytes in all; only changed pieces are
    counted again.

    Examples
    --------
    >>> train_incremental({b"aaaa": 5}, 10)
    [Merge(left=97, right=97, new_id=256, count=15), Merge(left=256, right=256, new_id=257, count=5)]
    """
    return learn(IncrementalPieces(piece_counts.items()), n_merges, **rules)


def train_indexed(piece_counts: Mapping[bytes, int], n_merges: int, **rules: Any) -> list[Merge]:
    """Rung 5: an index from pair to pieces, so that only the pieces that contain the pair are read.

    The greatest count is still found by a search through all pairs.

    Parameters
    ----------
    piece_counts : mapping from bytes to int
        As for `train_deduplicated`.
    n_merges : int
    **rules
        The keyword arguments of `learn`.

    Returns
    -------
    list of Merge

    Complexity
    ----------
    O(D + K P + R) for K merges, P pairs, distinct pieces of D bytes in all, and R tokens read again.

    Examples
    --------
    >>> train_indexed({b"low": 5, b"lower": 2, b"newest": 6}, 2, ties="lexicographic")
    [Merge(left=119, right=101, new_id=256, count=8), Merge(left=108, right=111, new_id=257, count=7)]
    """
    return learn(IndexedPieces(piece_counts.items()), n_merges, **rules)
