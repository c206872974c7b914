"""Superwords: tokens that join words, or parts of them. Two ways to learn them, and what each is told."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from operator import index as as_index
from typing import Any, Literal, NamedTuple, TypeAlias

from bpe.corpus import Corpus
from bpe.counting.pair_sketch import PairSketch
from bpe.counting.piece_ids import piece_ids
from bpe.counting.run_counts import RunCounts, phrases_in, runs_in
from bpe.counting.word_counts import WordCounts
from bpe.pattern import Pattern
from bpe.progress import Progress, progress_bar
from bpe.regular_expressions import compiled
from bpe.tokenizer import Tokenizer
from bpe.training.boundless import PARTS, boundless_tokenizer
from bpe.training.learner import longest_token
from bpe.training.start import choice, fresh_start
from bpe.training.superbpe import check_first_merges, reader, superbpe_trainer, wide_pattern_of
from bpe.training.trainer import Trainer
from structures import ByteCounter

Superwords: TypeAlias = Literal["superbpe", "boundless"]

SUPERWORDS: tuple[Superwords, ...] = ("superbpe", "boundless")
_OF_START = {"alphabet", "special_first"}
PHRASE_COUNT = 15  # as the authors have it
_METHOD_OF: dict[str, Superwords] = {
    "first_merges": "superbpe",
    "superwords_pattern": "superbpe",
    "superword_parts": "boundless",
    "max_phrase": "boundless",
    "min_phrase_count": "boundless",
}


class SuperwordOptions(NamedTuple):
    """How superwords are learned, as :func:`bpe.train` takes it.

    Attributes
    ----------
    superwords : {"superbpe", "boundless"} or None
    first_merges : int or None
    superwords_pattern : str, iterable of str, Pattern or None
    superword_parts : str or None
    max_phrase, min_phrase_count : int or None

    Examples
    --------
    >>> SuperwordOptions("superbpe", 800).checked(1000).first_merges
    800
    """

    superwords: Superwords | None = None
    first_merges: int | None = None
    superwords_pattern: str | Iterable[str] | Pattern | None = None
    superword_parts: str | None = None
    max_phrase: int | None = None
    min_phrase_count: int | None = None

    def checked(self, n_merges: int) -> SuperwordOptions:
        """Return these options; a ValueError where they do not fit together, or do not fit `n_merges`."""
        if self.superwords is not None:
            choice(self.superwords, "superwords", SUPERWORDS)
        for name, method in _METHOD_OF.items():
            if getattr(self, name) is not None and self.superwords != method:
                raise ValueError(
                    f"{name} is for superwords={method!r}, not for superwords={self.superwords!r}"
                )
        if self.superwords == "superbpe":
            check_first_merges(self.first_merges, n_merges)
        if self.max_phrase is not None and as_index(self.max_phrase) < 2:
            raise ValueError(f"max_phrase must be at least 2, not {self.max_phrase}")
        if self.min_phrase_count is not None:
            if self.max_phrase is None:
                raise ValueError("min_phrase_count is for max_phrase: give that, too")
            if as_index(self.min_phrase_count) < 1:
                raise ValueError(f"min_phrase_count must be at least 1, not {self.min_phrase_count}")
        if self.superword_parts is not None:
            try:
                compiled(self.superword_parts)
            except ValueError as error:
                raise ValueError(f"superword_parts: {error}") from None
        return self


def train_superwords(
    source: Corpus,
    vocab_size: int,
    n_merges: int,
    given: SuperwordOptions,
    count: Callable[[], WordCounts],
    options: dict[str, Any],
    threads: int | None,
    progress: Progress,
) -> Tokenizer:
    """Train a tokenizer with superwords.

    Parameters
    ----------
    source : Corpus
        Read twice.
    vocab_size : int
    n_merges : int
        How many of the vocabulary are made by merges.
    given : SuperwordOptions
        Checked.
    count : callable
        Counts the words of `source`.
    options : dict
        For :class:`bpe.Trainer`.
    threads : int, optional
    progress : bool or callable

    Returns
    -------
    Tokenizer

    Raises
    ------
    ValueError
        The corpus can be read only once, or the text gives too few merges; or as :class:`bpe.Trainer`.

    Complexity
    ----------
    Two passes over the corpus, and two trainings.

    Examples
    --------
    >>> corpus, given = Corpus(["of course, of course"]), SuperwordOptions("superbpe", 6)
    >>> def count():
    ...     return WordCounts.from_corpus(corpus)
    >>> train_superwords(corpus, 263, 7, given, count, {}, 1, False).token_bytes(262)
    b'of cou'
    """
    is_boundless = given.superwords == "boundless"
    for name in ("initial_alphabet", "limit_alphabet"):
        if options.get(name) is not None:
            raise ValueError(f"superwords are learned from all bytes: leave out {name}")
    if is_boundless and options.get("keep") is not None:
        raise ValueError("keep is not for superwords='boundless'")
    if not source.is_lasting:
        raise ValueError(
            f"superwords read the text twice, and {source} can be read only once: put it in a file"
        )

    def run(trainer: Trainer, wanted: int) -> None:
        trainer.run(vocab_size - n_merges + wanted, progress=progress)

    def documents() -> Iterator[Iterable[bytes]]:
        with progress_bar(progress, source.n_bytes, "B", "reading") as advance:
            yield from source.documents(advance)

    words = count()
    if not is_boundless:
        wide = wide_pattern_of(given.superwords_pattern)
        first_merges = check_first_merges(given.first_merges, n_merges)
        read = reader(documents, wide, words.special_tokens, threads)
        wide_trainer = superbpe_trainer(words, read, wide, first_merges, n_merges, options, run, threads)
        run(wide_trainer, n_merges)
        return wide_trainer.tokenizer()

    def find_runs(known: ByteCounter, least: int) -> RunCounts:
        ids = piece_ids(documents(), words.pattern, words.special_tokens, known, threads)
        if given.max_phrase is not None:
            least = max(least, PHRASE_COUNT if given.min_phrase_count is None else given.min_phrase_count)
        runs = runs_in(ids, PairSketch.of(ids, threads), least, threads)
        return runs if given.max_phrase is None else phrases_in(runs, least, given.max_phrase)

    trainer = Trainer(words, **options)
    run(trainer, n_merges)
    log = trainer.log
    del trainer  # its memory is needed
    return boundless_tokenizer(
        fresh_start(words.special_tokens, **{name: options[name] for name in _OF_START & options.keys()}),
        log,
        words,
        n_merges,
        find_runs,
        parts=PARTS if given.superword_parts is None else given.superword_parts,
        min_count=max(1, as_index(options.get("min_count", 1))),
        longest=longest_token(options.get("max_token_length"), options.get("length_rule", "at_most")),
        progress=progress,
    )
