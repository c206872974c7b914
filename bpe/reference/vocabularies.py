"""Adding tokens to a vocabulary, and removing tokens from it, after training.

Merges are in the order of their ranks.
"""

from collections.abc import Collection, Iterable, Mapping

from .pairs import Ties, merge_sequence
from .trainers import IndexedPieces, Merge, learn


def learn_more(
    words: Iterable[tuple[bytes, int]], merges: Iterable[tuple[int, int]], n: int, *, ties: Ties = "smallest"
) -> list[Merge]:
    """Learn merges from words, after given merges are applied.

    Parameters
    ----------
    words : iterable of (bytes, int)
        Pieces and their counts.
    merges : iterable of (int, int)
        The given merges; they make the ids 256, 257, ...
    n : int
        How many to learn.
    ties : {"smallest", "lexicographic", "first", "gpt2"}

    Returns
    -------
    list of Merge
        The new ones; fewer if no pair is left.

    Complexity
    ----------
    O(K D) for K merges and D bytes of words.

    Examples
    --------
    >>> [merge.pair for merge in learn_more([(b"low", 2)], [(108, 111)], 1)]
    [(256, 119)]
    """
    pieces = IndexedPieces(words)
    for pair in merges:
        new_id = len(pieces.token_bytes)
        pieces.token_bytes.append(pieces.token_bytes[pair[0]] + pieces.token_bytes[pair[1]])
        for index, sequence in enumerate(pieces.sequences):
            pieces.rewrite(index, merge_sequence(sequence, pair, new_id))
    return learn(pieces, n, ties=ties)


def remove_least_used(
    merges: Iterable[tuple[int, int, int]], uses: Mapping[int, int], removable: Collection[int], n: int
) -> list[int]:
    """Return tokens to remove: repeatedly, the least used one that is not a part of a remaining merge.

    Parameters
    ----------
    merges : iterable of (int, int, int)
        The ids of two tokens, and that of the token they make.
    uses : mapping from int to int
        The uses of each token. When a token is removed, its uses are added to those of the parts of its first
        merge.
    removable : collection of int
        The tokens that may be removed. Of tokens that are used equally often, the greatest id is removed
        first.
    n : int
        How many to remove at most.

    Returns
    -------
    list of int
        In the order of removal.

    Complexity
    ----------
    O(n K) for K merges and tokens.

    Examples
    --------
    >>> remove_least_used([(108, 111, 256), (256, 119, 257), (110, 101, 258)], {256: 1, 257: 2, 258: 4},
    ...                   {256, 257, 258}, 2)
    [257, 256]
    """
    left, counts, may_go, removed = list(merges), dict(uses), {*removable}, []
    for _ in range(n):
        parts = {part for *pair, _ in left for part in pair}
        leaves = may_go - parts
        if not leaves:
            break
        least = min(leaves, key=lambda token: (counts.get(token, 0), -token))
        for *pair, made in left:
            if made == least:
                for part in pair:
                    counts[part] = counts.get(part, 0) + counts.get(least, 0)
                break
        left = [merge for merge in left if merge[2] != least]
        may_go.remove(least)
        removed.append(least)
    return removed
