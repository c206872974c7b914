"""Re-Pair grammar compression: ``TokenList``, ``PairIndex`` and ``MaxHeap`` at work together.

Replace the most frequent pair of adjacent tokens by a new token, again and again, until no pair occurs twice.
What is left is a sequence and one rule for each new token; :func:`expand` undoes it.

What it shows: the three containers made in Python and handed to one ``@njit`` function. The list holds the
sequence, the index says where a pair stands, the heap says which pair is next. An occurrence that is
replaced changes at most four counts, those of the pairs around it; nothing is ever counted again.

Which count: occurrences that do not overlap. Inside a run of n equal tokens, such as ``aaaa``, the pair
``aa`` counts as n // 2, which is how often it is replaced, from left to right. Of pairs that occur
equally often, the one with the smallest (left, right) is next.

Complexity: O(n log n) for n bytes. The runs beside an occurrence are walked to tell whether their length is
even. A run of n tokens adds n // 2 to the count of its pair, which is at most the count of the pair
being replaced, so that all walks together cost O(1) an occurrence.

Source: N. J. Larsson, A. Moffat, Offline dictionary-based compression (1999).
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from structures import MaxHeap, PairIndex, TokenList, pack_pair, unpack_pair

FIRST_NEW = 256  # tokens below are bytes


class Grammar(NamedTuple):
    """The outcome: token ``FIRST_NEW + i`` stands for the two tokens of ``rules[i]``."""

    rules: np.ndarray  # (n_rules, 2) int64
    sequence: np.ndarray  # (n,) int64


# ---------------------------------------------------------------------------------------------- runs
@njit(cache=True)
def length_of_run_to(tokens, position):
    """Return how many equal tokens end at `position`."""
    token, n = tokens.token(position), 1
    position = tokens.prev(position)
    while position >= 0 and tokens.token(position) == token:
        n += 1
        position = tokens.prev(position)
    return n


@njit(cache=True)
def length_of_run_from(tokens, position):
    """Return how many equal tokens start at `position`."""
    token, n = tokens.token(position), 1
    position = tokens.next(position)
    while position >= 0 and tokens.token(position) == token:
        n += 1
        position = tokens.next(position)
    return n


# ------------------------------------------------------------------------------------------ counting
@njit(cache=True)
def count_from(tokens, queue, position):
    """Count the pair that starts at `position`; that of a run as a whole, where the run starts."""
    following = tokens.next(position)
    if following < 0:
        return
    token, before = tokens.token(position), tokens.prev(position)
    if token != tokens.token(following):
        queue.add(pack_pair(token, tokens.token(following)), 1)
    elif before < 0 or tokens.token(before) != token:
        queue.add(pack_pair(token, token), length_of_run_from(tokens, position) // 2)


@njit(cache=True)
def uncount_around(tokens, queue, position, new_token):
    """Take off the counts what they lose when the pair at `position` is replaced.

    A neighbour that is already `new_token` has taken off what the two shared.
    """
    following = tokens.next(position)
    left, right = tokens.token(position), tokens.token(following)
    before, behind = tokens.prev(position), tokens.next(following)
    if before >= 0 and tokens.token(before) != new_token:
        if tokens.token(before) != left:
            queue.sub(pack_pair(tokens.token(before), left), 1)
        elif left != right and length_of_run_to(tokens, position) % 2 == 0:
            queue.sub(pack_pair(left, left), 1)
    if behind >= 0:
        if tokens.token(behind) != right:
            queue.sub(pack_pair(right, tokens.token(behind)), 1)
        elif left != right and length_of_run_from(tokens, following) % 2 == 0:
            queue.sub(pack_pair(right, right), 1)


# ----------------------------------------------------------------------------------------- replacing
@njit(cache=True)
def replace(tokens, index, queue, left, right, new_token):
    """Replace every occurrence of a pair, whose count has left the queue."""
    postings = index.postings(left, right)
    for position in postings:
        following = tokens.next(position)
        # In a run, the occurrence before this one may have used up its left token.
        if tokens.token(position) == left and following >= 0 and tokens.token(following) == right:
            uncount_around(tokens, queue, position, new_token)
            tokens.merge(position, new_token)
    index.drop(left, right)
    for position in postings:
        if tokens.token(position) == new_token:
            before, following = tokens.prev(position), tokens.next(position)
            if before >= 0 and tokens.token(before) != new_token:
                count_from(tokens, queue, before)
                index.add(tokens.token(before), new_token, before)
            if following >= 0:
                count_from(tokens, queue, position)
                index.add(new_token, tokens.token(following), position)


@njit(cache=True)
def find_rules(tokens, index, queue, rules):
    """Replace pairs until none occurs twice; return the number of rules."""
    position = 0 if len(tokens) > 0 else -1
    while position >= 0:
        count_from(tokens, queue, position)
        position = tokens.next(position)
    n_rules = 0
    while queue.peek()[1] > 1:
        pair, _ = queue.pop()
        left, right = unpack_pair(pair)
        rules[n_rules, 0] = left
        rules[n_rules, 1] = right
        replace(tokens, index, queue, left, right, FIRST_NEW + n_rules)
        n_rules += 1
    return n_rules


def compress(text):
    """Return the grammar of a byte string.

    Examples
    --------
    >>> grammar = compress(b"abcabcabc")
    >>> grammar.rules  # 256 is ab, 257 is abc
    array([[ 97,  98],
           [256,  99]])
    >>> grammar.sequence
    array([257, 257, 257])
    """
    tokens = TokenList(np.frombuffer(text, np.uint8))
    rules = np.empty((len(tokens) // 2, 2), np.int64)  # a rule saves two tokens or more
    n_rules = find_rules(tokens, PairIndex.build(tokens), MaxHeap(), rules)
    return Grammar(rules[:n_rules].copy(), tokens.to_arrays()[0])


# ----------------------------------------------------------------------------------------- expanding
@njit(cache=True)
def measure(rules, length_of):
    """Set how many bytes each token stands for."""
    for i in range(rules.shape[0]):
        length_of[FIRST_NEW + i] = length_of[rules[i, 0]] + length_of[rules[i, 1]]


@njit(cache=True)
def write_bytes(rules, sequence, out):
    """Fill `out` with the bytes that the sequence stands for."""
    put_off = np.empty(rules.shape[0] + 1, np.int64)  # right halves, nested no deeper than there are rules
    n = 0
    for token in sequence:
        n_put_off = 0
        while True:
            if token >= FIRST_NEW:
                put_off[n_put_off] = rules[token - FIRST_NEW, 1]
                n_put_off += 1
                token = rules[token - FIRST_NEW, 0]
                continue
            out[n] = token
            n += 1
            if n_put_off == 0:
                break
            n_put_off -= 1
            token = put_off[n_put_off]


def expand(grammar):
    """Return the byte string that a grammar stands for, in O(its length).

    Examples
    --------
    >>> expand(compress(b"abcabcabc"))
    b'abcabcabc'
    """
    length_of = np.ones(FIRST_NEW + len(grammar.rules), np.int64)
    measure(grammar.rules, length_of)
    out = np.empty(length_of[grammar.sequence].sum(), np.uint8)
    write_bytes(grammar.rules, grammar.sequence, out)
    return out.tobytes()
