"""Five byte-level trainers that learn the same merges, each doing a little less work than the one before.

Ids 0 to 255 are the byte values; the merges make 256, 257, ... in the order of learning. One loop, `learn`,
serves all five: pick the best pair, write it down, merge it. The rungs differ in what they hold the text in:

- `RecountedPieces` counts all pairs anew each time it is asked;
- `IncrementalPieces` keeps the counts, and searches all pieces for the pair to merge;
- `IndexedPieces` knows which pieces hold which pair.

Kept counts stay exact by one habit: a piece that changes is taken out of the counts whole, and put back whole
in its new form. Nothing is reasoned out about neighbours, and so runs such as `aaaa` need no special care.

But: does not split text, know special tokens, or start from anything other than the 256 bytes.

The loop is that of Sennrich, Haddow and Birch, "Neural machine translation of rare words with subword units"
(2016), on bytes as in GPT-2; the compression method behind it is that of Gage, "A new algorithm for data
compression" (1994).

Invariants
----------
1. ``counts`` of incremental pieces equal `pair_statistics` of their sequences, and hold no zeros.
2. ``pieces_with[pair]`` of indexed pieces is the set of the indices of all sequences that hold the pair.
3. No two tokens have the same bytes: what a span of text is merged into depends on the span alone.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from typing import NamedTuple

from .pairs import Pair, Ties, count_pairs, merge_sequence, pair_statistics, pick_best


class Merge(NamedTuple):
    """One learned merge: the two ids, the id they became, and the pair's count when it was chosen.

    But: `count` is not the number of times the pair was merged; in runs of one token that is less.

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
        """The two ids, as the encoders take them."""
        return self.left, self.right


class RecountedPieces:
    """Pieces as sequences of token ids, with their counts; pairs are recounted whenever they are asked for.

    But: does not put equal pieces together; whoever wants that gives distinct pieces.

    Parameters
    ----------
    piece_counts : iterable of (bytes, int)
        The pieces in their order of first appearance, and how often each occurs, at least 1.

    Attributes
    ----------
    sequences : list of list of int
        What each piece has become so far.
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
        """Return the count of every pair of the text as it now stands. O(n) for n tokens."""
        return pair_statistics(self.sequences, self.piece_counts)

    def merge(self, pair: Pair, token: bytes) -> int:
        """Merge a pair into a new token, everywhere, and return the token's id. O(n) for n tokens."""
        new_id = len(self.token_bytes)
        self.token_bytes.append(token)
        for index in self.holders(pair):
            self.rewrite(index, merge_sequence(self.sequences[index], pair, new_id))
        return new_id

    def holders(self, pair: Pair) -> list[int]:
        """Return the indices of the pieces that hold the pair, in order. O(n) for n tokens."""
        return [index for index, sequence in enumerate(self.sequences) if pair in pairwise(sequence)]

    def rewrite(self, index: int, sequence: list[int]) -> None:
        """Put a new sequence in the place of a piece's present one. O(1)."""
        self.sequences[index] = sequence


class IncrementalPieces(RecountedPieces):
    """Pieces whose pair counts are kept: each piece that changes is counted out and counted in again.

    But: does not know where a pair is, so that every piece is searched for every merge.

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
        """Count of every pair of the text as it now stands, not a copy. O(1)."""
        return self.counts

    def rewrite(self, index: int, sequence: list[int]) -> None:
        """Put a new sequence in the place of a piece's present one, and correct the counts. O(piece)."""
        before, count = self.sequences[index], self.piece_counts[index]
        super().rewrite(index, sequence)
        count_pairs(before, -count, self.counts)
        count_pairs(sequence, count, self.counts)
        for pair in pairwise(before):
            if self.counts[pair] == 0:
                del self.counts[pair]


class IndexedPieces(IncrementalPieces):
    """Incremental pieces which also know, for every pair, the pieces that hold it.

    But: does not know where in the piece a pair is; a piece that holds it is re-read whole.

    Examples
    --------
    >>> pieces = IndexedPieces([(b"xab", 1), (b"xyz", 1), (b"abab", 1)])
    >>> pieces.holders((97, 98))
    [0, 2]
    >>> pieces.merge((97, 98), b"ab")
    256
    >>> pieces.holders((97, 98)), pieces.holders((120, 256))
    ([], [0])
    """

    def __init__(self, piece_counts: Iterable[tuple[bytes, int]]) -> None:
        super().__init__(piece_counts)
        self.pieces_with: defaultdict[Pair, set[int]] = defaultdict(set)
        for index, sequence in enumerate(self.sequences):
            self._post(index, sequence)

    def holders(self, pair: Pair) -> list[int]:
        """Return the indices of the pieces that hold the pair, in order. O(h log h) for h of them."""
        return sorted(self.pieces_with.get(pair, ()))

    def rewrite(self, index: int, sequence: list[int]) -> None:
        """Put a new sequence in the place of a piece's present one, in counts and index too. O(piece)."""
        for pair in set(pairwise(self.sequences[index])):
            self.pieces_with[pair].remove(index)
            if not self.pieces_with[pair]:
                del self.pieces_with[pair]
        super().rewrite(index, sequence)
        self._post(index, sequence)

    def _post(self, index: int, sequence: list[int]) -> None:
        for pair in pairwise(sequence):
            self.pieces_with[pair].add(index)


def learn(
    pieces: RecountedPieces,
    n_merges: int,
    *,
    ties: Ties = "smallest",
    min_count: int = 1,
    max_token_length: int | None = None,
    keep: Callable[[bytes, bytes], bool] | None = None,
) -> list[Merge]:
    """Learn up to `n_merges` merges from the pieces, which change: the training loop of all rungs.

    Called again on the same pieces it goes on where it stopped, so that ``learn(pieces, 1)`` is one step.

    But: does not fail when the pairs run out or become too rare; the list is then shorter.

    Parameters
    ----------
    pieces : RecountedPieces
        Or a subclass; afterwards its sequences are what the merges made of the text.
    n_merges : int
        How many merges to learn at most.
    ties : {"smallest", "lexicographic", "first"}
        Which of the pairs with the greatest count is merged; see `pick_best`.
    min_count : int
        Stop when the greatest count is below this.
    max_token_length : int, optional
        In bytes. A pair that would make a longer token is passed over, here and by `min_count`.
    keep : callable, optional
        Takes the bytes of both tokens. A pair for which it is false is passed over in the same way.

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
                if len(token_bytes[left] + token_bytes[right]) <= max_token_length
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


def train_vanilla(
    text: bytes,
    n_merges: int,
    *,
    ties: Ties = "smallest",
    min_count: int = 1,
    max_token_length: int | None = None,
) -> list[Merge]:
    """Rung 1: the text is one sequence, and its pairs are recounted for every merge.

    But: does not respect words; tokens come to span whatever is frequent, spaces and all.

    Parameters
    ----------
    text : bytes
        The training text.
    n_merges, ties, min_count, max_token_length
        See `learn`.

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
    pieces = RecountedPieces([(text, 1)])
    return learn(pieces, n_merges, ties=ties, min_count=min_count, max_token_length=max_token_length)


def train_chunked(
    pieces: Iterable[bytes],
    n_merges: int,
    *,
    ties: Ties = "smallest",
    min_count: int = 1,
    max_token_length: int | None = None,
) -> list[Merge]:
    """Rung 2: the text is cut into pieces, and no pair crosses from one piece into the next.

    But: does not cut the text itself.

    Parameters
    ----------
    pieces : iterable of bytes
        The pieces of the text, in order.
    n_merges, ties, min_count, max_token_length
        See `learn`.

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
    every_piece = RecountedPieces((piece, 1) for piece in pieces)
    return learn(every_piece, n_merges, ties=ties, min_count=min_count, max_token_length=max_token_length)


def train_deduplicated(
    piece_counts: Mapping[bytes, int],
    n_merges: int,
    *,
    ties: Ties = "smallest",
    min_count: int = 1,
    max_token_length: int | None = None,
) -> list[Merge]:
    """Rung 3: every distinct piece once, its pairs counted as often as it occurs.

    "First" keeps its meaning: a pair is first met in the first appearance of some piece.

    But: does not keep any count from one merge to the next.

    Parameters
    ----------
    piece_counts : mapping from bytes to int
        The distinct pieces in their order of first appearance (as ``Counter(pieces)`` has them), and how
        often each occurs.
    n_merges, ties, min_count, max_token_length
        See `learn`.

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
    pieces = RecountedPieces(piece_counts.items())
    return learn(pieces, n_merges, ties=ties, min_count=min_count, max_token_length=max_token_length)


def train_incremental(
    piece_counts: Mapping[bytes, int],
    n_merges: int,
    *,
    ties: Ties = "smallest",
    min_count: int = 1,
    max_token_length: int | None = None,
) -> list[Merge]:
    """Rung 4: the pair counts are kept, and corrected by what each changed piece lost and gained.

    But: does not know which pieces will change, and searches them all.

    Parameters
    ----------
    piece_counts : mapping from bytes to int
        As for `train_deduplicated`.
    n_merges, ties, min_count, max_token_length
        See `learn`.

    Returns
    -------
    list of Merge

    Complexity
    ----------
    O(D + K (D + P)) for K merges, P pairs and distinct pieces of D bytes in all; only changed pieces are
    counted.

    Examples
    --------
    >>> train_incremental({b"aaaa": 5}, 10)
    [Merge(left=97, right=97, new_id=256, count=15), Merge(left=256, right=256, new_id=257, count=5)]
    """
    pieces = IncrementalPieces(piece_counts.items())
    return learn(pieces, n_merges, ties=ties, min_count=min_count, max_token_length=max_token_length)


def train_indexed(
    piece_counts: Mapping[bytes, int],
    n_merges: int,
    *,
    ties: Ties = "smallest",
    min_count: int = 1,
    max_token_length: int | None = None,
) -> list[Merge]:
    """Rung 5: an index from pair to pieces, so that only the pieces that hold the pair are read.

    But: does not find the greatest count by anything better than a look at every pair.

    Parameters
    ----------
    piece_counts : mapping from bytes to int
        As for `train_deduplicated`.
    n_merges, ties, min_count, max_token_length
        See `learn`.

    Returns
    -------
    list of Merge

    Complexity
    ----------
    O(D + K P + R) for K merges, P pairs, distinct pieces of D bytes in all, and R tokens in pieces re-read.

    Examples
    --------
    >>> train_indexed({b"low": 5, b"lower": 2, b"newest": 6}, 2, ties="lexicographic")
    [Merge(left=119, right=101, new_id=256, count=8), Merge(left=108, right=111, new_id=257, count=7)]
    """
    pieces = IndexedPieces(piece_counts.items())
    return learn(pieces, n_merges, ties=ties, min_count=min_count, max_token_length=max_token_length)
