r"""SuperBPE: after the first merges, training continues in longer pieces, so that tokens may join words.

::

    pieces              of| course|,| of| course       the first merges are learned in these
    of the wide pattern of course, of course           all other merges in these

The wide pattern cuts a text at numbers, runs of punctuation and white space before white space. Its pieces
are cut into the tokens of the first merges by plain encoding. So the tokenizer is an ordinary one with the
wide pattern: every format can hold it. Most wide pieces are distinct, but most of the runs between their rare
pairs of tokens are not: these are counted and learned from.

Liu and others, "SuperBPE: Space Travel for Language Models" (2025). The reference implementation is
:mod:`bpe.reference.superwords`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import cast

import numpy as np

from bpe.counting.word_counts import WordCounts
from bpe.encoding.joining_encoders import encoder_by_piece
from bpe.splitting.pattern import Pattern
from bpe.superwords.pair_sketch import PairSketch
from bpe.superwords.piece_ids import token_ids
from bpe.superwords.run_counts import runs_in
from bpe.support.integers import as_integer
from bpe.support.progress import Progress
from bpe.support.threads import in_background
from bpe.training.learner import Learner, Training
from bpe.training.options import INT64_MAX, Options
from bpe.training.start import Start
from bpe.training.state import MAX_LENGTH
from bpe.vocabulary.vocabulary import Vocabulary

WIDE_PATTERN = r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]{2,}[\r\n/]*| +(?!\S)"
"""The pattern that the authors of SuperBPE have published."""

PAIRS_FOR_A_MERGE = 3  # pairs at which runs are not cut, for each wanted merge
DIVISOR = 4  # the minimum count is divided by it when the text is read again


@dataclass(frozen=True)
class SuperBPE:
    r"""For :func:`bpe.train`: tokens that join words, learned in longer pieces after the first merges.

    The first merges are learned inside the pieces of the pattern, all others inside those of another one,
    which becomes the pattern of the tokenizer. The corpus is read twice, and cannot be counts.

    Parameters
    ----------
    first_merges : int
        How many merges are learned inside words; a ValueError if the text gives fewer.
    pattern : str, iterable of str or Pattern, optional
        By default the one that the authors of SuperBPE have published. The text between its matches is
        also a piece.

    Examples
    --------
    >>> import bpe
    >>> bpe.train(["of the sea of the sea"] * 9, 266, superwords=SuperBPE(first_merges=4)).token_bytes(265)
    b' of the sea'
    """

    __module__ = "bpe"  # as for all that is imported from there

    first_merges: int
    pattern: str | Iterable[str] | Pattern | None = None

    def __post_init__(self) -> None:
        as_integer(self.first_merges, "first_merges")
        wide = WIDE_PATTERN if self.pattern is None else self.pattern
        object.__setattr__(self, "pattern", Pattern.of(wide))


__test__ = {"SuperBPE": SuperBPE}  # doctest skips a class whose __module__ is another module


def check_first_merges(how: SuperBPE, n_merges: int) -> None:
    """Raise a ValueError if `first_merges` is not from 0 to the number of all merges."""
    if not 0 <= how.first_merges <= n_merges:
        raise ValueError(
            f"first_merges must be from 0 to {n_merges}, the merges of the vocabulary, not {how.first_merges}"
        )


class WideTraining(Training):
    """Continues a training in the runs between rare pairs of tokens in wide pieces.

    A merge across a pair of tokens counts no more than this pair. So wide pieces are cut at pairs that are
    probably too rare to be among the wanted merges. No such pair is merged: the merges are those of the whole
    pieces. When all other pairs are used up, the text is read again, encoded with the merges learned so far,
    and cut at fewer pairs.
    """

    def __init__(
        self, first: Training, read: Callable[[Vocabulary], np.ndarray], n_merges: int, threads: int | None
    ) -> None:
        vars(self).update(vars(first))
        self._read, self._threads = read, threads
        self._floor = self.learner.min_count
        self._longest = int(self.learner.numbers[MAX_LENGTH])
        self.least = INT64_MAX
        del first.learner  # to free its memory
        self._read_again(n_merges)

    def _include_rarer(self, wanted: int) -> bool:
        if super()._include_rarer(wanted):
            return True
        if self.least == self._floor:
            return False
        self._read_again(wanted)
        return True

    def _read_again(self, wanted: int) -> None:
        """Cut the text at fewer pairs than before, so that there are enough for `wanted` merges in all."""
        vocabulary, log, before = self.vocabulary(), self.log, self.learner
        rules = before._ties, before._selection
        del self.learner, before
        ids = self._read(vocabulary)
        sketch = PairSketch.of(ids, self._threads)
        least = sketch.count_at_rank(PAIRS_FOR_A_MERGE * max(1, wanted - len(log)))
        self.least = max(self._floor, min(least, self.least // DIVISOR))
        runs = runs_in(ids, sketch, self.least, self._threads)
        del ids, sketch
        next_id = self.start.next_id
        tokens = vocabulary.bytes_of.items()
        bytes_of = {token_id: token for token_id, token in tokens if token_id < next_id + len(log)}
        self.learner = in_background(Learner.in_runs, runs, bytes_of, next_id, log, *rules)
        self.n_positions = len(runs.tokens)
        self.learner.min_count = self.least
        self.learner.narrow(self.least, self._longest)
        self.learner.discard([pair for pair in self._refused if pair in self.learner.queue])


def superbpe_training(
    how: SuperBPE,
    words: WordCounts,
    documents: Callable[[], Iterable[Iterable[bytes]]],
    start: Start,
    n_merges: int,
    options: Options,
    threads: int | None = 1,
    progress: Progress = False,
) -> WideTraining:
    """Return a training that has learned the first merges and continues in wide pieces."""
    wide = cast("Pattern", how.pattern)

    def read(vocabulary: Vocabulary) -> np.ndarray:
        encode = encoder_by_piece(vocabulary, wide)
        return token_ids(documents(), wide, words.special_tokens, encode, threads)

    first = Training(words, start, options)
    first.run(how.first_merges, progress)
    if first.n_done < how.first_merges:
        raise ValueError(
            f"the text gives {first.n_done} merges inside words, not {how.first_merges}: "
            "make first_merges smaller, or give more text"
        )
    return WideTraining(first, read, n_merges, threads)
