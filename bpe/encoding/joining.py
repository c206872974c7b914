"""Tokens joined by further merges: in each *segment* of a row of tokens, and never across two of them.

::

    ids        17 | 5 9 2 7 | 8 | 5 9        segments end at 1, 5, 6, 8
    chunks     17 | 5 9 2, 7 | 8 | 5 9       no merge joins 2 to 7
    joined     17 | 31 2 7  | 8 | 31         5, 9 -> 31

A segment is cut into chunks at all pairs where no merge can join anything (:mod:`bpe.encoding.joints`). Most
chunks have a token or two. Pairs are looked up some hundreds at a time, so that the processor need not wait
for one before it begins with the next.

Where a token can be made in several ways, or a merge comes before one that makes its parts, a segment is one
chunk.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from bpe.encoding.heap_merge import merge_by_heap
from bpe.encoding.joints import Joints, ranks_of
from bpe.encoding.linked_pieces import (
    NO_RANK,
    LinkedPieces,
    Ranks,
    arrays_for,
    new_pieces,
    rank_at,
    set_arrays,
    view_of,
)
from bpe.threads import n_threads
from bpe.vocabulary import Vocabulary
from structures import kernel, pack_pair
from structures.kernels import inner, local_words, quiet, smaller

FEW = 12  # tokens of a chunk that are merged without links
_NOWHERE = -1
_ROOM = 1 << 12  # tokens of a chunk, if none is longer
AT_ONCE = 512  # pairs


@inner
def merge_few(self, tokens, ranks, n):
    """Merge a chunk of at most FEW tokens, with the ranks of its pairs; return how many are left."""
    while n > 1:
        best, at = np.int64(NO_RANK), -1
        for i in range(n - 1):
            if ranks[i] < best:
                best, at = ranks[i], i
        if at < 0:
            break
        tokens[at] = self.id_of_rank[best]
        n -= 1
        for i in range(at + 1, n):
            tokens[i] = tokens[i + 1]
        for i in range(at + 1, n - 1):
            ranks[i] = ranks[i + 1]
        if at > 0:
            ranks[at - 1] = self.rank_of_pair.get(pack_pair(tokens[at - 1], tokens[at]), NO_RANK)
        if at < n - 1:
            ranks[at] = self.rank_of_pair.get(pack_pair(tokens[at], tokens[at + 1]), NO_RANK)
    return n


@inner
def merge_many(self, ids, start, end, out, n):
    """Merge a chunk of many tokens; there must be room. Write what it becomes, and return the new `n`."""
    view, last = view_of(self), end - start - 1
    for place in range(last + 1):
        view.tokens[place] = ids[start + place]
        view.next_of[place] = place + 1
        view.prev_of[place] = place - 1
    view.prev_of[0] = view.next_of[last] = _NOWHERE
    for place in range(last):
        view.ranks[place] = rank_at(self, view, place, place + 1)
    view.ranks[last] = NO_RANK
    merge_by_heap(self, 0, last + 1)
    place = np.int64(0)
    while place >= 0:
        out[n] = view.tokens[place]
        n += 1
        place = np.int64(view.next_of[place])
    return n


@quiet
def join_segments(self, joints, ids, ends, done, out, out_ends):
    """Merge the tokens of segments; return `done` anew. It stops before a chunk that there is no room for.

    Parameters
    ----------
    self : LinkedPieces
        Its ranks are those of the further merges.
    joints : Joints
    ids : (n,) uint32
    ends : (segments,) int64
        No segment is empty.
    done : (int, int, int)
        How many segments, ids and joined ids are done.
    out : (n,) uint32
        Out: the joined ids.
    out_ends : (segments,) int64
        Out: where those of each segment end.
    """
    tokens, ranks, room = local_words(FEW), local_words(FEW), self.tokens.size
    segment, start, n = done
    joint_ranks, first, after_last = local_words(AT_ONCE), start, start  # of the pairs that are looked up
    while segment < ends.size:
        end = ends[segment]
        while start < end:
            after = start + 1
            while after < end:
                if after > after_last and not joints.is_loose:
                    first, after_last = after - 1, smaller(after - 1 + AT_ONCE, ids.size - 1)
                    ranks_of(joints, ids, first, after_last - first, joint_ranks)
                rank = NO_RANK if joints.is_loose else joint_ranks[after - 1 - first]
                if rank < 0:
                    break
                if after - start < FEW:
                    ranks[after - start - 1] = rank
                after += 1
            length = after - start
            if length == 1:
                out[n] = ids[start]
                n += 1
            elif length <= FEW and not joints.is_loose:
                for i in range(length):
                    tokens[i] = ids[start + i]
                length = merge_few(self, tokens, ranks, length)
                for i in range(length):
                    out[n + i] = tokens[i]
                n += length
            elif length > room:
                return segment, start, n
            else:
                n = merge_many(self, ids, start, after, out, n)
            start = after
        out_ends[segment] = n
        segment += 1
    return segment, start, n


@kernel(quiet=True)
def ends_of_runs(ids, piece_ends, id_ends, text_ends, is_part, ends):
    """Write where each segment of a row of pieces ends; return how many there are.

    A run is one segment; every other token is one by itself.

    Parameters
    ----------
    ids : (n,) uint32
    piece_ends : (pieces,) int32
        The byte where each piece ends.
    id_ends : (pieces,) int64
        Where its ids end.
    text_ends : int32 array
        The byte where each text ends: a run does, too. Every one is the end of a piece.
    is_part : bool array
        By id, whether a supermerge has it as a part.
    ends : (n,) int64
        Out.
    """
    n = begin = text = 0
    in_run = False
    for i in range(piece_ends.size):
        end = id_ends[i]
        if end - begin == 1 and is_part[ids[begin]]:
            in_run = True
        else:
            if in_run:
                ends[n] = begin
                n += 1
            in_run = False
            for k in range(begin + 1, end + 1):
                ends[n] = k
                n += 1
        while text < text_ends.size and text_ends[text] == piece_ends[i]:
            text += 1
            if in_run:
                ends[n] = end
                n += 1
            in_run = False
        begin = end
    if in_run:
        ends[n] = begin
        n += 1
    return n


class Joiner:
    """Joins tokens by further merges. Any number of threads may use one.

    Parameters
    ----------
    vocabulary : Vocabulary
    n : int
        How many of its last merges are the further ones.

    Complexity
    ----------
    O(merges). Joining takes O(n) for n tokens in short chunks, O(n log n) in long ones.

    Examples
    --------
    >>> tokens = [*(bytes([value]) for value in range(256)), b"ab", b"abc"]
    >>> joiner = Joiner(Vocabulary(tokens, [(97, 98), (256, 99)], {}), 1)
    >>> joiner.joined(np.array([256, 99, 256, 99, 256], np.uint32), np.array([2, 3, 5]))
    (array([257, 256,  99, 256], dtype=uint32), array([1, 2, 4]))
    """

    def __init__(self, vocabulary: Vocabulary, n: int) -> None:
        first = len(vocabulary.pairs) - n
        pairs, made = vocabulary.pairs[first:], vocabulary.made[first:]
        self._ranks = Ranks.of(pairs, made, vocabulary.byte_ids)
        all_made = np.concatenate([vocabulary.made, vocabulary.byte_ids])
        is_loose = not self._ranks.in_order or len(np.unique(all_made)) < len(all_made)
        self._joints = Joints.of(pairs, made, vocabulary.size, is_loose=is_loose)
        self._rooms: deque[LinkedPieces] = deque(maxlen=n_threads(None))

    def joined(self, ids: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the ids that the merges make of segments, and where those of each segment end.

        Parameters
        ----------
        ids : (n,) uint32
        ends : (segments,) int64
            Where each segment ends; none is empty.

        Returns
        -------
        joined : (m,) uint32
        joined_ends : (segments,) int64
        """
        try:
            room = self._rooms.pop()
        except IndexError:
            room = new_pieces(_ROOM, self._ranks._replace(in_order=False))
        joined, joined_ends = np.empty(len(ids), np.uint32), np.empty(len(ends), np.int64)
        done, is_large = (0, 0, 0), False
        while done[0] < len(ends):
            done = join_segments(room, self._joints, ids, ends, done, joined, joined_ends)
            if done[0] < len(ends):
                set_arrays(room, arrays_for(int(ends[done[0]]) - done[1]))
                is_large = True
        if is_large:
            set_arrays(room, arrays_for(_ROOM))
        self._rooms.append(room)  # not after an interrupt
        joined.resize(done[2], refcheck=False)
        return joined, joined_ends
