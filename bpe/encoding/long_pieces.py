"""Long pieces: merged in windows that fit into the processor's cache, with the ids of the whole piece.

Merging a piece of a mebibyte at once takes five times as long a byte as one of some kilobytes: its lists do
not fit into the cache. So a window is merged by itself, and the next one begins at a token near its end::

    piece      a b c d e f g h i j k l m n o p q ...
    window     ab cde fg hi jk l                      all but the last tokens are right, probably
    next                    jk lm nop q               begins at `jk`; its first token is `jk`, too: certainly

Why that is certain. Let merges be in order, as in :mod:`bpe.encoding.kernels.merge_rounds`. What happens inside a token,
before it is made, depends on its bytes alone, as no merge crosses its ends. In the first window ``hi`` and
``jk`` stand side by side, and no merge has joined a part of one with a part of the other. If ``jk`` is a
token of the next window, too, the parts at the join are the same at every rank in both, and in the whole
piece. So no merge crosses the join there, either.

If the next window begins with another token, the window before it is merged again, twice as large. If that
one does not begin with the token that it has to, the end of a window has changed what is far before it; then
the piece is merged as a whole.
"""

import numpy as np

from bpe.encoding.kernels.linked_pieces import put_piece, view_of
from bpe.encoding.kernels.merge_rounds import merge_in_rounds
from structures.kernels import inner, pointer_to, smaller

WINDOW = 4096
"""Bytes of a window; a shorter piece is merged as a whole."""

BYTES_A_TOKEN_BACK = 512
"""A window of so many bytes goes back by one token; a larger one by more."""

NO_ROOM = -1
_ANY = -1


@inner
def write_window(self, ids, n):
    """Write the ids of the piece at the first places; return the last place, and the new `n`."""
    tokens, next_of, id_at = pointer_to(self.tokens, 0), pointer_to(self.next_of, 0), pointer_to(ids, 0)
    place = last = 0
    while place >= 0:
        id_at[n] = tokens[place]
        n += 1
        last, place = place, np.int64(next_of[place])
    return last, n


@inner
def merge_windows(self, data, start, end, ids, n):
    """Merge ``data[start:end]``, and write its ids from index `n` on.

    O(bytes), if windows settle; as :func:`bpe.encoding.kernels.merge_rounds.merge_in_rounds` where they do not.
    """
    view, whole = view_of(self), (start, n, _ANY)
    size, wanted = WINDOW, _ANY  # the first token that the window has to have
    before, size_before = whole, WINDOW  # where the window before this one begins, and its size
    while True:
        stop = smaller(start + size, end)
        if stop - start > self.tokens.size:
            return NO_ROOM
        put_piece(self, data, start, stop, 0)
        merge_in_rounds(self, stop - start)
        if wanted != _ANY and view.tokens[0] != wanted:
            size = 2 * size_before if start != before[0] else end - whole[0]
            start, n, wanted = before if start != before[0] else whole
            continue
        last, n_after = write_window(self, ids, n)
        if stop == end:
            return n_after
        back = size // BYTES_A_TOKEN_BACK
        if n_after - n < back + 2:  # the next window has to begin later than this one
            size *= 2
            continue
        for _ in range(back):
            last = np.int64(view.prev_of[last])
        before, size_before = (start, n, wanted), size
        start, n, wanted = start + last, n_after - back - 1, np.int64(view.tokens[last])
        size = WINDOW
