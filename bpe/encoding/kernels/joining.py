"""Tokens joined by further merges: in each *segment* of an array of tokens, and never across two of them.

::

    ids        17 | 5 9 2 7 | 8 | 5 9        segments end at 1, 5, 6, 8
    phrases    17 | 5 9 2, 7 | 8 | 5 9       no merge joins 2 to 7
    joined     17 | 31 2 7  | 8 | 31         5, 9 -> 31

A segment is cut into *phrases* at all pairs where no merge can join anything. Most phrases have a few tokens,
and nearly all have been met before. So they are remembered, in the same kind of memory as the pieces of a
text: a phrase is a piece of the text that has its ids as characters, three bytes each. Only a phrase that is
new, or too long to be remembered, is merged.

Where something can be joined, a filter of pairs says (:class:`PairFilter`). What merges are made of at the
beginning are *first tokens*. Merge (left, right) joins the last first token of `left` to the first one of
`right`: only where such a pair stands can anything be joined. Each of these pairs has a bit::

    bits       ... 0 0 1 0 0 0 0 1 0 ...      one of 32 is set at most
    bit of     the top bits of the product of the pair and two random numbers, the seed

Another pair may have the same bit by chance. Then a place is not cut where it could be, and nothing is wrong.
A hash of the pair by itself would be less work. But whoever writes a text could choose such pairs.

Where a token can be made in several ways, or a merge comes before one that makes its parts, phrases end only
at tokens that no merge has as a part.
"""

from __future__ import annotations

import secrets
from collections import deque
from typing import NamedTuple

import numpy as np

from bpe.encoding.kernels.linked_pieces import Ranks, arrays_for, new_pieces, rank_at, view_of
from bpe.encoding.kernels.memory import (
    BATCH,
    KNOWN_BYTES,
    MISSING,
    MOST_PROBES,
    SPARE_IDS,
    Memory,
    forget,
    forget_if_full,
    make_room,
    new_memory,
    place_in_pool,
    put_ids,
    remember,
)
from bpe.encoding.kernels.merge_heap import merge_by_heap
from bpe.encoding.kernels.pair_ranks import NO_RANK
from bpe.encoding.kernels.piece_table import (
    LENGTH_SHIFT,
    SHORT,
    find,
    first_slot,
)
from bpe.support.threads import n_threads
from bpe.vocabulary.vocabulary import Vocabulary
from structures.kernels import inner, larger, local_words, multiply_fold, pointer_to, prefetch, quiet, smaller

TIED = 1 << 31
"""Added to an id, it keeps this one as it is: it is not joined to others."""

ID_BYTES = 3
SHORT_IDS = SHORT // ID_BYTES
MOST_IDS = 1 << 8 * ID_BYTES
"""Ids that may be joined are below it; greater ones are left as they are."""

KNOWN_PHRASES = 1 << 18
"""How many phrases a thread remembers at most."""

_BITS_A_PAIR = 32
_FEWEST_BITS = 10
_POOL_IDS = 16 * KNOWN_PHRASES
_UNTIED = TIED - 1
_ONE = 1 << 32  # of a phrase that is one id: how many ids it has, as `more` of the memory has it
_NOWHERE = -1
_ROOM = BATCH + 1
_PHRASE = 1 << 12  # tokens of a phrase, if none is longer


# ------------------------------------------------------------------------------------------------ pairs
class PairFilter(NamedTuple):
    """Where tokens can be joined, as kernels read it."""

    words: np.ndarray
    shift: int
    seed: tuple[int, int]
    is_part: np.ndarray

    @classmethod
    def of(cls, pairs: np.ndarray, made: np.ndarray, n_ids: int, *, is_loose: bool) -> PairFilter:
        """Return the filter of the pairs that merges join."""
        is_part = np.zeros(n_ids if is_loose else 0, bool)
        if is_loose:
            is_part[pairs] = True
        n_bits = _FEWEST_BITS if is_loose else max(_FEWEST_BITS, (_BITS_A_PAIR * len(made)).bit_length())
        seed = secrets.randbits(63), secrets.randbits(63) | 1
        pair_filter = cls(np.zeros(1 << n_bits - 6, np.int64), 64 - n_bits, seed, is_part)
        if not is_loose:
            set_bits(pairs, made, np.stack([np.arange(n_ids)] * 2), pair_filter)
        return pair_filter


@inner
def bit_of(pair_filter, left, right):
    """Return which bit a pair has."""
    pair = np.int64(left) << np.int64(32) | np.int64(right)  # any numbers: what is tied is not an id
    folded = multiply_fold(pair ^ pair_filter.seed[0], pair_filter.seed[1])
    return np.int64(np.uint64(folded) >> np.uint64(pair_filter.shift))


@quiet
def set_bits(pairs, made, edges, pair_filter):
    """Set the bits of the pairs that merges join."""
    for rank in range(made.size):
        left, right = pairs[rank, 0], pairs[rank, 1]
        bit = bit_of(pair_filter, edges[1, left], edges[0, right])
        pair_filter.words[bit >> 6] |= np.int64(1) << (bit & 63)
        edges[0, made[rank]] = edges[0, left]
        edges[1, made[rank]] = edges[1, right]
    return True


@inner
def may_join(pair_filter, left, right):
    """Return 1 if something may be joined where two ids stand side by side, 0 if nothing can be."""
    n = pair_filter.is_part.size
    if n > 0:
        return np.int64(left < n and right < n and pair_filter.is_part[left] and pair_filter.is_part[right])
    bit = bit_of(pair_filter, left, right)
    return pair_filter.words[bit >> 6] >> (bit & 63) & 1


@inner
def may_join_at(pair_filter, ids, i):
    """Return 1 if ``ids[i]`` and the next id may be joined."""
    left, right = np.int64(ids[i]), np.int64(ids[i + 1])
    return may_join(pair_filter, left, right) & np.int64((left | right) < MOST_IDS)


# ---------------------------------------------------------------------------------------------- phrases
@inner
def cut_phrases(pair_filter, ids, start, ends, segment, first_of, last_of):
    """Cut at most :data:`BATCH` ids into phrases.

    Phrase i begins at id ``first_of[i]``; ``last_of[k]`` is how many phrases have ended with segment k.
    """
    stop, id_at = start + smaller(BATCH, ends[ends.size - 1] - start), pointer_to(ids, 0)
    n = n_ended = 0
    first_of[0] = i = start
    while i < stop:
        end = ends[segment + n_ended]
        for k in range(i, smaller(end - 1, stop)):  # no branch that is hard to predict
            first_of[n + 1] = k + 1
            n += 1 - may_join_at(pair_filter, id_at, k)
        i = smaller(end, stop)
        if i == end:
            n += 1
            first_of[n] = i
            last_of[n_ended] = n
            n_ended += 1
    last_of[n_ended] = n
    return n, n_ended


@inner
def words_of_phrase(id_at, first, n):
    """Do as :func:`bpe.encoding.kernels.piece_table.words_of`, for a phrase of 2 to :data:`SHORT_IDS` ids."""
    second = np.int64(id_at[first + 1])
    third = np.int64(id_at[first + smaller(2, n - 1)]) & -np.int64(n > 2)
    fourth = np.int64(id_at[first + smaller(3, n - 1)]) & -np.int64(n > 3)
    fifth = np.int64(id_at[first + smaller(4, n - 1)]) & -np.int64(n > 4)
    word = np.int64(id_at[first]) | second << 24 | third << 48
    return word, third >> 16 | fourth << 8 | fifth << 32 | (ID_BYTES * n) << LENGTH_SHIFT


@inner
def pack_phrase(self, ids, first, n, byte):
    """Write the ids of a phrase to ``self.data``, as text, from a byte on; return where it ends."""
    for i in range(first, first + n):
        number = np.int64(ids[i])
        self.data[byte], self.data[byte + 1], self.data[byte + 2] = (
            number & 0xFF,
            number >> 8 & 0xFF,
            number >> 16 & 0xFF,
        )
        byte += ID_BYTES
    return byte


@inner
def look_up(self, ids, first_of, n, known):
    """Write what is known of `n` phrases to `known`, two arrays: the words of their ids.

    A phrase of one id is known.
    """
    slots, id_at = pointer_to(self.short_slots, 0), pointer_to(ids, 0)
    some, slot_of = local_words(BATCH), local_words(BATCH)
    firsts, seconds = local_words(BATCH), local_words(BATCH)
    longer, found = local_words(BATCH), local_words(BATCH)
    starts, after = local_words(BATCH), local_words(BATCH)
    n_some = n_longer = byte = 0
    for i in range(n):  # no branch that is hard to predict
        known[0][i], known[1][i] = np.int64(id_at[first_of[i]]) & _UNTIED, _ONE
        some[n_some] = i
        n_some += first_of[i + 1] - first_of[i] > 1
    for k in range(n_some):
        first, length = first_of[some[k]], first_of[some[k] + 1] - first_of[some[k]]
        firsts[k], seconds[k] = words_of_phrase(id_at, first, length)
        slot_of[k] = first_slot(firsts[k], seconds[k], self.short_seed, self.short_shift)
        prefetch(self.short_slots, slot_of[k])
        longer[n_longer] = some[k]
        n_longer += length > SHORT_IDS
    for k in range(n_some):
        at = slot_of[k]
        if (slots[at] != firsts[k]) | (slots[at + 1] != seconds[k]):
            at = find(self.short_slots, firsts[k], seconds[k], at)
        known[0][some[k]], known[1][some[k]] = slots[at + 2], slots[at + 3]
    for m in range(n_longer):
        i, starts[m] = longer[m], byte
        after[m] = byte = pack_phrase(self, ids, first_of[i], first_of[i + 1] - first_of[i], byte)
    furthest = self.known.get_into(self.data, starts, after, n_longer, MISSING, found)
    for m in range(n_longer):
        known[0][longer[m]], known[1][longer[m]] = place_in_pool(found[m])
    return furthest


@inner
def merge_phrase(self, ids, start, n, out, k):
    """Merge the phrase of `n` ids from `start` on; write what it becomes to `out`, from `k` on.

    Return the new `k`. There must be room.
    """
    view = view_of(self)
    for place in range(n):
        view.tokens[place] = ids[start + place]
        view.next_of[place] = place + 1
        view.prev_of[place] = place - 1
    view.prev_of[0] = view.next_of[n - 1] = _NOWHERE
    for place in range(n - 1):
        view.ranks[place] = rank_at(self, view, place, place + 1)
    view.ranks[n - 1] = NO_RANK
    merge_by_heap(self, 0, n)
    place = np.int64(0)
    while place >= 0:
        out[k] = view.tokens[place]
        k += 1
        place = np.int64(view.next_of[place])
    return k


@inner
def write_phrases(self, ids, first_of, known, ended, out, out_ends, done):
    """Write what the phrases of a batch become to `out`.

    `ended` is how many segments have, and how many phrases at the end of each; `done` how many segments and
    joined ids are done. What is not known is merged, and remembered.
    """
    (n_ended, last_of), (segment, k), out_at = ended, done, pointer_to(out, 0)
    i = furthest = 0
    for e in range(n_ended + 1):
        while i < last_of[e]:
            if known[1][i] != 0:
                k = put_ids(self, known[0][i], known[1][i], out_at, k)
            else:
                n, before = first_of[i + 1] - first_of[i], k
                k = merge_phrase(self.unknown, ids, first_of[i], n, out, k)
                if ID_BYTES * n <= KNOWN_BYTES:
                    n_bytes = pack_phrase(self, ids, first_of[i], n, 0)
                    furthest = larger(
                        furthest, remember(self, self.data, 0, n_bytes, 0, out, before, k - before)
                    )
            i += 1
        if e < n_ended:
            out_ends[segment + e] = k
    return k, furthest


@quiet
def join_segments(self, pair_filter, ids, ends, done, out, out_ends):
    """Merge the tokens of segments; return the new `done`. It stops before a phrase that has no room."""
    first_of, last_of = local_words(_ROOM), local_words(_ROOM)
    known = local_words(_ROOM), local_words(_ROOM)
    segment, start, k = done
    while segment < ends.size:
        forget_if_full(self)
        n, n_ended = cut_phrases(pair_filter, ids, start, ends, segment, first_of, last_of)
        if n > 0:
            furthest = look_up(self, ids, first_of, n, known)
            ended = n_ended, last_of
            k, also = write_phrases(self, ids, first_of, known, ended, out, out_ends, (segment, k))
            if larger(furthest, also) > MOST_PROBES:
                forget(self)
            segment += n_ended
            start = first_of[n]
            continue
        after = start + BATCH  # a phrase that is too long for a batch
        while after < ends[segment] and may_join_at(pair_filter, ids, after - 1) != 0:
            after += 1
        if after - start > self.unknown.tokens.size:
            break
        k = merge_phrase(self.unknown, ids, start, after - start, out, k)
        start = after
        if start == ends[segment]:
            out_ends[segment] = k
            segment += 1
    return segment, start, k


# ----------------------------------------------------------------------------------------------- Python
class Joiner:
    """Joins tokens by further merges. Any number of threads may use one."""

    def __init__(self, vocabulary: Vocabulary, n: int) -> None:
        first = len(vocabulary.pairs) - n
        pairs, made = vocabulary.pairs[first:], vocabulary.made[first:]
        self._ranks = Ranks.of(pairs, made, vocabulary.byte_ids)
        all_made = np.concatenate([vocabulary.made, vocabulary.byte_ids])
        is_loose = not self._ranks.in_order or len(np.unique(all_made)) < len(all_made)
        self._pair_filter = PairFilter.of(pairs, made, vocabulary.size, is_loose=is_loose)
        self._idle: deque[Memory] = deque(maxlen=n_threads(None))

    def _new_memory(self) -> Memory:
        return new_memory(
            KNOWN_PHRASES,
            np.empty(_POOL_IDS, np.uint32),  # takes memory only as it fills
            0,
            new_pieces(_PHRASE, self._ranks._replace(in_order=False)),
            data=np.empty(ID_BYTES * BATCH, np.uint8),
            offsets=np.empty(0, np.int32),
            ids=np.empty(0, np.uint32),
            ends=np.empty(0, np.int32),
            no_marks=np.empty(0, np.int32),
            no_offsets=np.empty(0, np.int64),
        )

    def joined(self, ids: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the ids that the merges make of segments, and where those of each segment end."""
        try:
            memory = self._idle.pop()
        except IndexError:
            memory = self._new_memory()
        joined, joined_ends = np.empty(len(ids) + SPARE_IDS, np.uint32), np.empty(len(ends), np.int64)
        done, is_large = (0, 0, 0), False
        while done[0] < len(ends):
            done = join_segments(memory, self._pair_filter, ids, ends, done, joined, joined_ends)
            if done[0] < len(ends):
                make_room(memory, arrays_for(int(ends[done[0]]) - done[1]))
                is_large = True
        if is_large:
            make_room(memory, arrays_for(_PHRASE))
        self._idle.append(memory)  # not after an interrupt
        joined.resize(done[2], refcheck=False)
        return joined, joined_ends
