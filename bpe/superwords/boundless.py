"""BoundlessBPE in two phases: merges that join whole pieces compete with merges inside pieces.

::

    phase 1    merges inside pieces, each with its count         1000  800  500 | 300  200
    runs       of| course     one| of| the    of| the            pieces that are one token each
    phase 2    supermerges, each with its count                  (of, the) 600  (of, course) 400

The vocabulary has room for a certain number of merges. The next merge of phase 1 is taken unless the best
pair in the runs counts more; then this pair is taken. A pair counts no more than the merges that made its two
parts, so these have been taken by then. The remaining merges of phase 1 are dropped. No supermerge makes the
bytes of another token.

Schmidt and others, "Boundless Byte Pair Encoding" (2025) and "Faster Superword Tokenization" (2026); nothing
is deleted here. The reference implementation is :mod:`bpe.reference.superwords`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from bpe.counting.weights import factors_of, weigh
from bpe.counting.word_counts import WordCounts
from bpe.encoding.engine import Engine
from bpe.superwords.counted_runs import RunCounts, check_rules, joined_rows
from bpe.superwords.run_counts import PARTS, joins, runs_of_rows
from bpe.support.progress import Progress, progress_bar
from bpe.training.learner import Training
from bpe.training.merging import discard, narrow
from bpe.training.options import Options
from bpe.training.selection import best_tied_pair, make_tie_heap, merge_with_tie_heap
from bpe.training.start import Start, fresh_start
from bpe.training.state import LENGTH, Runs, State, fill_queue, in_order, spelled, stretches_of
from bpe.vocabulary.vocabulary import Vocabulary
from structures import ByteCounter, IntMap, MaxHeap, PairIndex, TokenList, kernel, unpack_pair

NOTHING_LEFT = (0, 0)  # a packed pair and its count


@dataclass(frozen=True)
class Boundless:
    r"""For :func:`bpe.train`: tokens that join words, by merges that compete with those inside words.

    Merges that join pieces of one token each compete with those inside pieces. The corpus is read twice,
    and cannot be WordCounts; it may be RunCounts.

    Parameters
    ----------
    parts : str, optional
        A regular expression; a piece is joined to others only if it has a match. By default, it must have a
        letter. RunCounts bring their own.

    Examples
    --------
    >>> import bpe
    >>> bpe.train(["of the sea, of the sea"], 266, superwords=Boundless()).token_bytes(265)
    b' of the sea'
    """

    __module__ = "bpe"  # as for all that is imported from there

    parts: str | None = None

    def __post_init__(self) -> None:
        if self.parts is not None:
            joins(self.parts)  # raises


__test__ = {"Boundless": Boundless}  # doctest skips a class whose __module__ is another module


@kernel
def best_pair(state, tie_heap):
    """Return the packed pair that is merged next, and its count; NOTHING_LEFT if there is no pair."""
    if len(state.queue) == 0:
        return np.int64(0), np.int64(0)
    return best_tied_pair(state, tie_heap)


class Supermerges:
    """Learns merges that join the tokens of runs; ties go to the smallest (left bytes, right bytes).

    At most `most` merges, of pairs that count at least `least`, to tokens of at most `longest` bytes.
    """

    def __init__(
        self, runs: Runs, bytes_of: dict[int, bytes], next_id: int, most: int, least: int, longest: int
    ) -> None:
        order = np.argsort(-runs.counts, kind="stable")
        tokens, offsets = in_order(runs.tokens, runs.offsets, order)
        counts = runs.counts[order]
        self.pairs: list[tuple[int, int, int]] = []  # left, right, count
        self._bytes_of, self._known = dict(bytes_of), {*bytes_of.values()}
        self._next_id = next_id
        self.queue = MaxHeap()
        fill_queue(tokens, offsets, counts, self.queue)
        self.tokens = TokenList(tokens, offsets)
        self.index = PairIndex.build(self.tokens)
        text, of_token = spelled(bytes_of, next_id + most)
        self.tie_heap = make_tie_heap(False, -1, IntMap(), text, True)
        log, numbers = np.zeros((1, 4), np.int64), np.array([1, longest, 0, len(tokens)])
        self.state = State(
            self.tokens, self.index, self.queue, stretches_of(offsets, counts), of_token, log, numbers
        )
        pairs, pair_counts = self.queue.to_arrays()
        new_lengths = of_token[LENGTH, pairs >> 32] + of_token[LENGTH, pairs & 0xFFFFFFFF]
        narrow(self.state, pairs[(pair_counts < least) | (new_lengths > longest)], least, longest)

    def _best(self) -> tuple[int, int]:
        """Return the best pair that makes a new token, and its count; NOTHING_LEFT if there is no pair."""
        while True:
            pair, count = best_pair(self.state, self.tie_heap)
            if count == 0:
                return NOTHING_LEFT
            left, right = unpack_pair(pair)
            if self._bytes_of[left] + self._bytes_of[right] not in self._known:
                return pair, count
            discard(self.state, np.array([pair]))

    def best_count(self) -> int:
        """Return the count of the pair that is merged next; 0 if there is no pair."""
        return self._best()[1]

    def merge(self) -> bytes:
        """Merge the best pair, which must exist; return the bytes of the new token."""
        pair, count = self._best()
        left, right = unpack_pair(pair)
        token = self._bytes_of[left] + self._bytes_of[right]
        new_id = self._next_id + len(self.pairs)
        merge_with_tie_heap(self.state, self.tie_heap, left, right, new_id)
        self._bytes_of[new_id] = token
        self._known.add(token)
        self.pairs.append((left, right, count))
        return token


def single_tokens(vocabulary: Vocabulary, words: WordCounts, parts: str) -> ByteCounter:
    """Return the pieces that are one token and may be joined to others, with ids in place of counts."""
    data, offsets, _ = words.to_arrays()
    ids, id_offsets = Engine(vocabulary, words.pattern).encoder.encode_pieces(
        data.tobytes(), offsets.astype(np.int32), offsets[1:]
    )
    may_join = joins(parts)
    text, singles = data.tobytes(), {}
    for i in np.flatnonzero(np.diff(id_offsets) == 1).tolist():
        piece = text[offsets[i] : offsets[i + 1]]
        if may_join(piece):
            singles[piece] = int(ids[id_offsets[i]])
    return ByteCounter(singles)


def learn_boundless(
    how: Boundless,
    words: WordCounts,
    rows_of: Callable[[ByteCounter], Runs],
    start: Start,
    n_merges: int,
    options: Options,
    unit: int = 1,
    progress: Progress = False,
) -> Vocabulary:
    """Learn merges in words, then supermerges in the runs that `rows_of(pieces of one token)` returns."""
    training = Training(words, start, options, unit)
    training.run(n_merges, progress)
    log = training.log
    del training  # to free its memory
    whole = start.vocabulary(log)
    is_full = 0 < len(log) == n_merges
    least = max(options.least(unit), int(log[-1, 3]) + 1 if is_full else 1)
    known = single_tokens(whole, words, PARTS if how.parts is None else how.parts)
    runs = runs_of_rows(rows_of(known), least)
    bytes_of = {token_id: token for token, token_id in whole.id_of.items()}
    found = Supermerges(runs, bytes_of, start.next_id + len(log), n_merges, least, options.longest)
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
    return start.vocabulary(np.concatenate([log[:n_first], rows])).replace(n_super=len(rows))


def learn_from_runs(
    how: Boundless,
    source: RunCounts | Mapping[str, RunCounts],
    weights: Mapping[str, float] | None,
    vocab_size: int,
    options: Options,
    progress: Progress,
) -> Vocabulary:
    """Learn merges and supermerges from counts of runs."""
    sources = source if isinstance(source, Mapping) else {"": source}
    check_rules(sources)
    parts = next(iter(sources.values())).parts
    if how.parts not in (None, parts):
        raise ValueError(f"the runs were counted with parts={parts!r}: omit the parts of superwords")
    start = fresh_start(next(iter(sources.values())).special_tokens, options)
    n_merges = start.n_new(vocab_size)
    all_words = {name: counts.words for name, counts in sources.items()}
    words, unit = weigh(all_words if isinstance(source, Mapping) else all_words[""], weights)
    factors = dict.fromkeys(sources, 1) if weights is None else factors_of(all_words, weights)
    rows_of = partial(joined_rows, sources, factors)
    return learn_boundless(Boundless(parts), words, rows_of, start, n_merges, options, unit, progress)
