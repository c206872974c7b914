"""A limited alphabet, as in Hugging Face's BpeTrainer: the bytes of the pieces that a training uses.

Bytes outside of the alphabet are left out of the pieces before anything is counted, and the bytes around them
are joined: ``a?b`` becomes ``ab``.
"""

from collections import Counter
from collections.abc import Iterable


def alphabet_of(
    piece_counts: Iterable[tuple[bytes, int]], initial_alphabet: bytes, limit_alphabet: int | None = None
) -> list[int]:
    """Return the byte values of the alphabet, in ascending order.

    Parameters
    ----------
    piece_counts : iterable of (bytes, int)
    initial_alphabet : bytes
        Bytes that are in the alphabet even if no piece has them.
    limit_alphabet : int, optional
        How many bytes the alphabet has at most, not fewer than the initial ones. These stay, then those that
        occur most; of those that occur equally often, the smallest.

    Returns
    -------
    list of int

    Complexity
    ----------
    O(n) for n bytes in all pieces.

    Examples
    --------
    >>> bytes(alphabet_of([(b"banana", 1), (b"cab", 2)], b"z"))
    b'abcnz'
    >>> bytes(alphabet_of([(b"banana", 1), (b"cab", 2)], b"z", 3))
    b'abz'
    """
    occurrences: Counter[int] = Counter()
    for piece, count in piece_counts:
        for value in piece:
            occurrences[value] += count
    alphabet = {*occurrences, *initial_alphabet}
    in_order = sorted(alphabet, key=lambda value: (value not in initial_alphabet, -occurrences[value], value))
    return sorted(in_order[:limit_alphabet])


def leave_out(piece_counts: Iterable[tuple[bytes, int]], alphabet: Iterable[int]) -> list[tuple[bytes, int]]:
    """Return the pieces without the bytes outside of an alphabet.

    Parameters
    ----------
    piece_counts : iterable of (bytes, int)
    alphabet : iterable of int
        Byte values.

    Returns
    -------
    list of (bytes, int)
        In the same order. Some may be equal or empty.

    Complexity
    ----------
    O(n) for n bytes in all pieces.

    Examples
    --------
    >>> leave_out([(b"a?b", 1), (b"ab", 2)], b"ab")
    [(b'ab', 1), (b'ab', 2)]
    """
    allowed = {*alphabet}
    return [(bytes(value for value in piece if value in allowed), count) for piece, count in piece_counts]
