r"""SuperBPE: after the first merges, training goes on with longer pieces, so that tokens may join words.

::

    pieces              of| course|,| of| course       the first merges join what is in these
    of the wide pattern of course, of course           all further ones what is in these

The wide pattern cuts a text at numbers, runs of punctuation and white space before white space. Its pieces
are cut into the tokens of the first merges by plain encoding. So the tokenizer is an ordinary one with the
wide pattern: every format can hold it.

Liu and others, "SuperBPE: Space Travel for Language Models" (2025). The slow twin is
:mod:`bpe.reference.superwords`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import index as as_index
from typing import Any

from bpe.counting.word_counts import WordCounts
from bpe.pattern import Pattern
from bpe.tokenizer import Tokenizer
from bpe.training.trainer import Trainer

WIDE_PATTERN = r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]{2,}[\r\n/]*| +(?!\S)"
"""The pattern that the authors of SuperBPE have published."""

_OF_START = ("alphabet", "special_first")  # options of a beginning only


def check_first_merges(first_merges: int | None, n_merges: int) -> int:
    """Return how many merges are learned in words, out of `n_merges`; a ValueError where it is out of range.

    Examples
    --------
    >>> check_first_merges(800, 1000)
    800
    """
    if first_merges is None:
        raise ValueError("superwords='superbpe' needs first_merges: how many merges stay inside words")
    if not 0 <= as_index(first_merges) <= n_merges:
        raise ValueError(
            f"first_merges must be from 0 to {n_merges}, the merges of the vocabulary, not {first_merges}"
        )
    return first_merges


def superbpe_trainer(
    words: WordCounts,
    count_wide: Callable[[], WordCounts],
    first_merges: int,
    options: dict[str, Any],
    run: Callable[[Trainer, int], None],
) -> Trainer:
    """Return a trainer that has done the first merges, and goes on with wide pieces.

    Parameters
    ----------
    words : WordCounts
    count_wide : callable
        Counts the same text by the wide pattern; called when the first merges are learned.
    first_merges : int
    options : dict
        For :class:`Trainer`.
    run : callable
        Called with a trainer and a number of merges, to learn so many.

    Returns
    -------
    Trainer

    Raises
    ------
    ValueError
        The text gives fewer merges; or as :class:`Trainer`.

    Complexity
    ----------
    As two trainings. Most wide pieces are distinct, so that memory grows with the text: some 50 bytes a byte.

    Examples
    --------
    >>> words = WordCounts({"of": 3, " course": 3}, pattern="gpt2")
    >>> wide = WordCounts({"of course": 3}, pattern=WIDE_PATTERN)
    >>> trainer = superbpe_trainer(words, lambda: wide, 6, {}, lambda trainer, n: trainer.run(256 + n))
    >>> trainer.step().count, trainer.tokenizer().token_bytes(262)
    (3, b'of cou')
    """
    first = Trainer(words, **options)
    run(first, first_merges)
    n_learned = len(first.log)
    if n_learned < first_merges:
        raise ValueError(
            f"the text gives {n_learned} merges inside words, not {first_merges}: "
            "make first_merges smaller, or give more text"
        )
    start = first.tokenizer()
    del first
    wide = count_wide()
    others = {name: value for name, value in options.items() if name not in _OF_START}
    return Trainer.resume(Tokenizer._of(start.engine.vocabulary, wide.pattern), wide, **others)


def wide_pattern_of(pattern: str | Iterable[str] | Pattern | None) -> Pattern:
    """Return the pattern of superwords, by default that of the authors.

    Examples
    --------
    >>> wide_pattern_of(None).split("one two  1234")
    ['one two', ' ', ' ', '123', '4']
    """
    return Pattern.of(WIDE_PATTERN if pattern is None else pattern)
