r"""SuperBPE: after the first merges, training goes on with longer pieces, so that tokens may join words.

::

    pieces              of| course|,| of| course       the first merges join what is in these
    of the wide pattern of course, of course           all further ones what is in these

The wide pattern cuts a text at numbers, runs of punctuation and white space before white space. Its pieces
are cut into the tokens of the first merges by plain encoding. So the tokenizer is an ordinary one with the
wide pattern: every format can hold it. Most wide pieces are distinct, but what lies between rare pairs of
tokens is not: that is counted, and learned from.

Liu and others, "SuperBPE: Space Travel for Language Models" (2025). The slow twin is
:mod:`bpe.reference.superwords`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any

import numpy as np

from bpe.counting.word_counts import WordCounts
from bpe.encoding.joining_encoders import encoder_by_piece
from bpe.splitting.pattern import Pattern
from bpe.superwords.pair_sketch import PairSketch
from bpe.superwords.piece_ids import token_ids
from bpe.superwords.run_counts import runs_in
from bpe.support.threads import in_background
from bpe.tokenizer import Tokenizer
from bpe.trainer import Trainer
from bpe.training.learner import Learner
from bpe.training.state import INT64_MAX, MAX_LENGTH

WIDE_PATTERN = r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]{2,}[\r\n/]*| +(?!\S)"
"""The pattern that the authors of SuperBPE have published."""

PAIRS_FOR_A_MERGE = 3  # pairs that runs are not cut at, for each merge that is wanted
LESS = 4  # the least count is divided by it when the text is read again


class WideTrainer(Trainer):
    """Goes on where a trainer has ended, in what lies between rare pairs of tokens in wide pieces.

    Whatever is merged across a pair of tokens counts no more than this pair. So wide pieces are cut at pairs
    that are too rare to be among the wanted merges, as far as one can guess. No such pair is merged: the
    merges are those of the whole pieces. When all others are used up, the text is read again, encoded by
    the merges learned so far, and cut at fewer pairs.
    """

    def __init__(
        self,
        first: Trainer,
        read: Callable[[Tokenizer], np.ndarray],
        pattern: Pattern,
        n_merges: int,
        threads: int | None,
    ) -> None:
        vars(self).update(vars(first))
        self._read, self._pattern, self._threads = read, pattern, threads
        self._floor = self._learner.min_count
        self._longest = int(self._learner.numbers[MAX_LENGTH])
        self.least = INT64_MAX
        del first._learner  # its memory is needed
        self._read_again(n_merges)

    def _fetch(self, wanted: int) -> bool:
        if super()._fetch(wanted):
            return True
        if self.least == self._floor:
            return False
        self._read_again(wanted)
        return True

    def _read_again(self, wanted: int) -> None:
        """Cut the text at fewer pairs than before, so that there are enough for `wanted` merges in all."""
        tokenizer, log, before = self.tokenizer(), self.log, self._learner
        rules = before._ties, before._selection
        del self._learner, before
        ids = self._read(tokenizer)
        sketch = PairSketch.of(ids, self._threads)
        least = sketch.count_at_rank(PAIRS_FOR_A_MERGE * max(1, wanted - len(log)))
        self.least = max(self._floor, min(least, self.least // LESS))
        runs = runs_in(ids, sketch, self.least, self._threads)
        del ids, sketch
        next_id = self._start.next_id
        tokens = tokenizer.engine.vocabulary.bytes_of.items()
        bytes_of = {number: token for number, token in tokens if number < next_id + len(log)}
        self._learner = in_background(Learner.in_runs, runs, bytes_of, next_id, log, *rules)
        self.n_positions = len(runs.tokens)
        self._learner.min_count = self.least
        self._learner.narrow(self.least, self._longest)
        self._learner.discard([pair for pair in self._refused if pair in self._learner.queue])


def reader(
    documents: Callable[[], Iterable[Iterable[bytes]]],
    pattern: Pattern,
    special_tokens: Collection[str],
    threads: int | None = None,
) -> Callable[[Tokenizer], np.ndarray]:
    """Return a function that reads documents as tokens of wide pieces, as :class:`WideTrainer` needs them."""

    def read(tokenizer: Tokenizer) -> np.ndarray:
        words = tokenizer.engine.vocabulary
        encoder = encoder_by_piece(words, pattern)
        return token_ids(documents(), pattern, special_tokens, encoder, threads)

    return read


def superbpe_trainer(
    words: WordCounts,
    read: Callable[[Tokenizer], np.ndarray],
    pattern: Pattern,
    first_merges: int,
    n_merges: int,
    options: dict[str, Any],
    run: Callable[[Trainer, int], None],
    threads: int | None = 1,
) -> WideTrainer:
    """Return a trainer that has done the first merges, and goes on with wide pieces."""
    first = Trainer(words, **options)
    run(first, first_merges)
    n_learned = len(first.log)
    if n_learned < first_merges:
        raise ValueError(
            f"the text gives {n_learned} merges inside words, not {first_merges}: "
            "make first_merges smaller, or give more text"
        )
    return WideTrainer(first, read, pattern, n_merges, threads)


def wide_pattern_of(pattern: str | Iterable[str] | Pattern | None) -> Pattern:
    """Return the pattern of superwords, by default that of the authors."""
    return Pattern.of(WIDE_PATTERN if pattern is None else pattern)
