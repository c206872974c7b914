"""BoundlessBPE in two phases: merges that join whole pieces compete with those inside of pieces.

::

    phase 1    merges inside pieces, each with its count         1000  800  500 | 300  200
    runs       of| course     one| of| the    of| the            pieces that are one token each
    phase 2    supermerges, each with its count                  (of, the) 600  (of, course) 400

The vocabulary has room for a number of merges. The next merge of phase 1 is taken, unless the best pair in
the runs counts more; then that one is. A pair counts no more than what made its parts, so these are there by
then. The merges that are left over are dropped. No supermerge makes the bytes of another token.

Schmidt and others, "Boundless Byte Pair Encoding" (2025) and "Faster Superword Tokenization" (2026); nothing
is deleted here. The slow twin is :mod:`bpe.reference.superwords`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bpe.counting.word_counts import WordCounts
from bpe.superwords.run_counts import PARTS, Runs, joins
from bpe.support.progress import Progress, progress_bar
from bpe.tokenizer import Tokenizer
from bpe.training.merging import discard, narrow
from bpe.training.selection import best_of_front, make_front, merge_with_front
from bpe.training.start import Start, tokenizer_of
from bpe.training.state import LENGTH, fill_queue, in_order, new_state, runs_of, spelled
from structures import ByteCounter, IntMap, MaxHeap, PairIndex, TokenList, kernel, unpack_pair

NOTHING_LEFT = (0, 0)


@kernel
def best_pair(state, front):
    """Return the pair that is merged next, packed, and its count; twice 0 if there is none."""
    if len(state.queue) == 0:
        return np.int64(0), np.int64(0)
    return best_of_front(state, front)


class Supermerges:
    """Learns merges that join the tokens of runs; of equal counts, the smallest (left bytes, right bytes)."""

    def __init__(
        self, runs: Runs, bytes_of: dict[int, bytes], next_id: int, most: int, least: int, longest: int
    ) -> None:
        order = np.argsort(-runs.counts, kind="stable")
        tokens, offsets = in_order(runs.tokens, runs.offsets, order)
        counts = runs.counts[order]
        self.pairs: list[tuple[int, int, int]] = []
        self._bytes_of, self._known = dict(bytes_of), {*bytes_of.values()}
        self._next_id = next_id
        self.queue = MaxHeap()
        fill_queue(tokens, offsets, counts, self.queue)
        self.tokens = TokenList(tokens, offsets)
        self.index = PairIndex.build(self.tokens)
        text, of_token = spelled(bytes_of, next_id + most)
        self.front = make_front(False, -1, IntMap(), text, True)
        log, numbers = np.zeros((1, 4), np.int64), np.array([1, longest, 0, len(tokens)])
        self.state = new_state(
            self.tokens, self.index, self.queue, runs_of(offsets, counts), of_token, log, numbers
        )
        pairs, pair_counts = self.queue.to_arrays()
        new_lengths = of_token[LENGTH, pairs >> 32] + of_token[LENGTH, pairs & 0xFFFFFFFF]
        narrow(self.state, pairs[(pair_counts < least) | (new_lengths > longest)], least, longest)

    def _best(self) -> tuple[int, int]:
        """Return the pair that may be merged next, and its count."""
        while True:
            pair, count = best_pair(self.state, self.front)
            if count == 0:
                return NOTHING_LEFT
            left, right = unpack_pair(pair)
            if self._bytes_of[left] + self._bytes_of[right] not in self._known:
                return pair, count
            discard(self.state, np.array([pair]))

    def best_count(self) -> int:
        """Return the count of the pair that is merged next; 0 if there is none."""
        return self._best()[1]

    def merge(self) -> bytes:
        """Merge the best pair, which must be there; return the bytes of the new token."""
        pair, count = self._best()
        left, right = unpack_pair(pair)
        token = self._bytes_of[left] + self._bytes_of[right]
        new_id = self._next_id + len(self.pairs)
        merge_with_front(self.state, self.front, left, right, new_id)
        self._bytes_of[new_id] = token
        self._known.add(token)
        self.pairs.append((left, right, count))
        return token


def single_tokens(tokenizer: Tokenizer, words: WordCounts, parts: str) -> ByteCounter:
    """Return the pieces that are one token and may be joined to others, each with its id for a count."""
    data, offsets, _ = words.to_arrays()
    ids, id_offsets = tokenizer.engine.encoder.encode_pieces(
        data.tobytes(), offsets.astype(np.int32), offsets[1:]
    )
    may_join = joins(parts)
    text, singles = data.tobytes(), {}
    for i in np.flatnonzero(np.diff(id_offsets) == 1).tolist():
        piece = text[offsets[i] : offsets[i + 1]]
        if may_join(piece):
            singles[piece] = int(ids[id_offsets[i]])
    return ByteCounter(singles)


def boundless_tokenizer(
    start: Start,
    log: np.ndarray,
    words: WordCounts,
    n_merges: int,
    find_runs: Callable[[ByteCounter, int], Runs],
    *,
    parts: str = PARTS,
    min_count: int = 1,
    longest: int,
    progress: Progress = False,
) -> Tokenizer:
    """Return the tokenizer that phase 2 makes of the merges of phase 1."""
    whole = tokenizer_of(start, log, words.pattern)
    is_full = 0 < len(log) == n_merges
    least = max(min_count, int(log[-1, 3]) + 1 if is_full else 1)
    runs = find_runs(single_tokens(whole, words, parts), least)
    bytes_of = {number: token for token, number in whole.engine.vocabulary.id_of.items()}
    found = Supermerges(runs, bytes_of, start.next_id + len(log), n_merges, least, longest)
    counts = log[:, 3].tolist()
    n_first = 0
    with progress_bar(progress, n_merges, "merges", "joining") as advance:
        while n_first + len(found.pairs) < n_merges:
            count = counts[n_first] if n_first < len(counts) else 0
            if found.best_count() > count:
                found.merge()
            elif count:
                n_first += 1
            else:
                break
            advance(1)
    rows = np.array(found.pairs, np.int64).reshape(-1, 3)
    n_dropped = len(log) - n_first
    pairs = rows[:, :2] - n_dropped * (rows[:, :2] >= start.next_id + len(log))
    made = start.next_id + n_first + np.arange(len(rows))
    rows = np.column_stack([pairs, made, rows[:, 2]])
    tokenizer = tokenizer_of(start, np.concatenate([log[:n_first], rows]), words.pattern)
    return Tokenizer._of(tokenizer.engine.vocabulary.replace(n_super=len(rows)), tokenizer.pattern)
