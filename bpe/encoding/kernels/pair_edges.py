r"""Which tokens may stand side by side in a piece, and what the characters of tokens lead to.

Each of two neighbors has been merged by itself, until a merge joins the last token of the left one, so far,
with the first token of the right one, so far. If this happens, the two are not ids of a piece. Here a token
that merges make of its bytes has a *split*, the last of these merges, and two *edges*::

    token    lower                      rank of the split: 9
    split    low  er                    4 and 2
    left     lower  low(9)  lo(4)  l(1)            in brackets: the rank of the merge that replaces it
    right    lower  er(9)   r(2)

If merges come after those that make their parts, a token by itself makes its merges in the order of their
ranks. So a merge of rank r joins the tokens a of the right edge of x and b of the left edge of y exactly if a
is replaced after r, and b at r or after: among merges of one rank, the one further to the left comes first.

The left edges of all tokens are a tree, in which the parent of a token is the left part of its split. Tokens
are numbered so that those below any token are neighbors, and its children are in the order of their ranks::

    l           the tokens that do not fit after x because of b and r are b, and all from the first child of
      lo(1)     b with a rank of at least r on to the last token below b
        low(4)
          lower(9)

The merges of the left part a are ``merges_of[a]`` to ``merges_of[a + 1]``, in the order of the right part.
"""

import numpy as np
from numba import types

from bpe.splitting.compiled.matching import decode
from structures.kernels import Record, inner, quiet

LATER = np.int64(1) << 40  # than every rank: nothing replaces the whole token
NONE = -1
NOWHERE, AT_END, IN_PIECE, IN_CHARACTER = 0, 1, 2, 3
"""Where a token ends: no text has it; the piece may end; only the character does; not even this."""


class PairEdges(
    Record,
    merges_of=types.int64[::1],  # (ids + 1,)
    right_part=types.int32[::1],  # by merge
    rank=types.int32[::1],  # by merge
    is_made=types.boolean[::1],  # by id: whether merges make the token of its bytes
    left=types.int32[::1],  # by id: the left part of its split; NONE of a byte
    right=types.int32[::1],
    split_rank=types.int32[::1],  # by id
    place_of=types.int32[::1],  # by id: its place in the tree of left edges
    id_at=types.int32[::1],  # by place
    stop_of=types.int32[::1],  # by id: the place after the last token below it
):
    """The edges of tokens, for kernels."""


@inner
def rank_of(self, left, right):
    """Return the rank of a merge; NONE for a pair that is not merged."""
    low, high = self.merges_of[left], self.merges_of[left + 1]
    while low < high:
        middle = (low + high) >> 1
        if self.right_part[middle] < right:
            low = middle + 1
        else:
            high = middle
    found = low < self.merges_of[left + 1] and self.right_part[low] == right
    return np.int64(self.rank[low]) if found else np.int64(NONE)


@inner
def is_joined(self, x, y, except_whole):
    """Return whether a merge joins the edges of two tokens; perhaps except one of the tokens themselves."""
    a, a_end = np.int64(x), LATER
    while a != NONE:
        b, b_end = np.int64(y), LATER
        while b != NONE:
            if not (except_whole and a == x and b == y):
                rank = rank_of(self, a, b)
                if rank != NONE and a_end > rank and b_end >= rank:
                    return True
            b_end = np.int64(self.split_rank[b])
            b = np.int64(self.left[b])
        a_end = np.int64(self.split_rank[a])
        a = np.int64(self.right[a])
    return False


@quiet
def fits(self, x, y):
    """Return whether `y` may stand after `x` in a piece."""
    return not is_joined(self, x, y, False)


@quiet
def fits_each(self, lefts, rights, out):
    """Write of each of `rights` whether it may stand after that of `lefts` in a piece."""
    for i in range(rights.size):
        out[i] = not is_joined(self, lefts[i], rights[i], False)


@quiet
def find_splits(self, pairs, made):
    """Find the splits of all tokens, given merges in the order of their ranks; bytes are whole already."""
    for merge in range(made.size):
        left, right, token = pairs[merge, 0], pairs[merge, 1], made[merge]
        if self.is_made[token] or not (self.is_made[left] and self.is_made[right]):
            continue
        if rank_of(self, left, right) == merge and not is_joined(self, left, right, True):
            self.is_made[token] = True
            self.left[token], self.right[token], self.split_rank[token] = left, right, merge


@quiet
def number_left_edges(self, by_rank, next_place):
    """Write the places of tokens in the tree of left edges.

    `by_rank` are all whole tokens, each after its parts.
    """
    size = self.stop_of  # until places are known
    for i in range(by_rank.size):
        size[by_rank[i]] = 1
    for i in range(by_rank.size - 1, -1, -1):
        token = by_rank[i]
        if self.left[token] != NONE:
            size[self.left[token]] += size[token]
    n = 0
    for i in range(by_rank.size):
        token = by_rank[i]
        if self.left[token] == NONE:
            place = n
            n += size[token]
        else:
            place = next_place[self.left[token]]
            next_place[self.left[token]] += size[token]
        next_place[token] = place + 1
        self.place_of[token] = place
        self.id_at[place] = token
        self.stop_of[token] = place + size[token]


@quiet
def remove_joined(self, x, mask):
    """Set to False what does not fit after `x`."""
    a, a_end = np.int64(x), LATER
    while a != NONE:
        for merge in range(self.merges_of[a], self.merges_of[a + 1]):
            rank, b = np.int64(self.rank[merge]), np.int64(self.right_part[merge])
            if a_end <= rank or not self.is_made[b]:
                continue
            mask[b] = False
            place, stop = np.int64(self.place_of[b]) + 1, np.int64(self.stop_of[b])
            while place < stop and np.int64(self.split_rank[self.id_at[place]]) < rank:
                place = np.int64(self.stop_of[self.id_at[place]])
            for i in range(place, stop):
                mask[self.id_at[i]] = False
        a_end = np.int64(self.split_rank[a])
        a = np.int64(self.right[a])


# ------------------------------------------------------------------------------------------- characters
@quiet
def read_characters(data, offsets, symbol_of, symbols, symbol_offsets, n_begun):
    """Write the symbols of the characters of each token, and how many bytes of a begun one are at its end.

    This number is NONE for a token that begins inside a character, or is not UTF-8.
    """
    n = 0
    for token in range(n_begun.size):
        i, stop = offsets[token], offsets[token + 1]
        n_begun[token] = 0
        while i < stop:
            code, width = decode(data, i, stop)
            if width == 0:
                n_begun[token] = stop - i
                break
            symbol = symbol_of[code]
            if symbol < 0:
                n_begun[token] = NONE
                break
            symbols[n] = symbol
            n += 1
            i += width
        symbol_offsets[token + 1] = n
    return n


@quiet
def configurations_after(next_of, first, parents, symbols, out):
    """Write the configuration after each node of a trie of symbols, the root first; NONE if it has none."""
    out[0] = first
    for node in range(1, parents.size):
        here = np.int64(out[parents[node]])
        out[node] = next_of[here, symbols[node]] if here >= 0 else NONE


@quiet
def look_after(after, node_of, n_begun, may_cut, tokens, out):
    """Write of each of `tokens` where it ends, given the configurations after the nodes of a trie."""
    for i in range(tokens.size):
        token = tokens[i]
        here = np.int64(after[node_of[token]])
        if here < 0:
            out[i] = NOWHERE
        elif n_begun[token] > 0:
            out[i] = IN_CHARACTER
        else:
            out[i] = AT_END if may_cut[here] else IN_PIECE
