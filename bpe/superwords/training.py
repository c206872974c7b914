"""Superwords: tokens that join words, or parts of them. Two ways to learn them, and what each is told.

``SuperwordOptions``: how superwords are learned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import index as as_index
from typing import Any, Literal, NamedTuple, TypeAlias

from bpe.corpus import Corpus
from bpe.counting.weights import factors_of, weigh
from bpe.counting.word_counts import WordCounts
from bpe.splitting.pattern import Pattern
from bpe.superwords.boundless import boundless_tokenizer
from bpe.superwords.counted_runs import RunCounts, check_rules, joined_rows
from bpe.superwords.piece_ids import piece_ids
from bpe.superwords.run_counts import PARTS, Runs, phrases_in, runs_of_rows
from bpe.superwords.superbpe import reader, superbpe_trainer, wide_pattern_of
from bpe.support.progress import Progress, progress_bar
from bpe.tokenizer import Tokenizer
from bpe.trainer import Trainer, least
from bpe.training.learner import longest_token
from bpe.training.start import choice, fresh_start
from structures import ByteCounter

Superwords: TypeAlias = Literal["superbpe", "boundless"]

SUPERWORDS: tuple[Superwords, ...] = ("superbpe", "boundless")
_METHOD_OF: dict[str, Superwords] = {
    "first_merges": "superbpe",
    "superwords_pattern": "superbpe",
    "superword_parts": "boundless",
    "max_phrase": "boundless",
    "min_phrase_count": "boundless",
}


def check_first_merges(first_merges: int | None, n_merges: int) -> int:
    """Return how many of `n_merges` merges are learned in words; raise ValueError if it is out of range."""
    if first_merges is None:
        raise ValueError("superwords='superbpe' needs first_merges: how many merges stay inside words")
    if not 0 <= as_index(first_merges) <= n_merges:
        raise ValueError(
            f"first_merges must be from 0 to {n_merges}, the merges of the vocabulary, not {first_merges}"
        )
    return first_merges


class SuperwordOptions(NamedTuple):
    """How superwords are learned, as :func:`bpe.train` takes it."""

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
            from bpe.superwords.run_counts import joins

            joins(self.superword_parts)  # raises
        return self


PHRASE_COUNT = 15  # as the authors have it


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
    """Train a tokenizer with superwords."""
    is_boundless = given.superwords == "boundless"
    _check_options(options, is_boundless)
    if not source.is_lasting:
        raise ValueError(
            f"superwords read the text twice, and {source} can be read only once: put it in a file"
        )

    def documents() -> Iterator[Iterable[bytes]]:
        with progress_bar(progress, source.n_bytes, "B", "reading") as advance:
            yield from source.documents(advance)

    words = count()
    if not is_boundless:

        def run(trainer: Trainer, wanted: int) -> None:
            trainer.run(vocab_size - n_merges + wanted, progress=progress)

        wide = wide_pattern_of(given.superwords_pattern)
        first_merges = check_first_merges(given.first_merges, n_merges)
        read = reader(documents, wide, words.special_tokens, threads)
        trainer = superbpe_trainer(words, read, wide, first_merges, n_merges, options, run, threads)
        run(trainer, n_merges)
        return trainer.tokenizer()

    def find_rows(known: ByteCounter) -> Runs:
        return Runs.of_row(piece_ids(documents(), words.pattern, words.special_tokens, known, threads))

    return learn_boundless(words, find_rows, vocab_size, given, options, progress)


def _check_options(options: dict[str, Any], is_boundless: bool) -> None:
    """Raise where superwords are not learned with these options of a trainer."""
    for name in ("initial_alphabet", "limit_alphabet"):
        if options.get(name) is not None:
            raise ValueError(f"superwords are learned from all bytes: leave out {name}")
    if is_boundless and options.get("keep") is not None:
        raise ValueError("keep is not for superwords='boundless'")


def learn_boundless(
    words: WordCounts,
    find_rows: Callable[[ByteCounter], Runs],
    vocab_size: int,
    given: SuperwordOptions,
    options: dict[str, Any],
    progress: Progress,
    unit: int = 1,
) -> Tokenizer:
    """Learn merges in words, then supermerges in the runs of them."""

    def find_runs(known: ByteCounter, fewest: int) -> Runs:
        rows = find_rows(known)
        if given.max_phrase is None:
            return runs_of_rows(rows, fewest)
        phrase_count = PHRASE_COUNT if given.min_phrase_count is None else given.min_phrase_count
        fewest = max(fewest, least(phrase_count, unit))
        return phrases_in(runs_of_rows(rows, fewest), fewest, given.max_phrase)

    start = fresh_start(
        words.special_tokens, options.get("alphabet", "bytes"), options.get("special_first", False)
    )
    min_count = max(1, least(as_index(options.get("min_count", 1)), unit))
    trainer = Trainer(words, **(options | {"min_count": min_count}))
    trainer.run(vocab_size, progress=progress)
    log = trainer.log
    del trainer  # its memory is needed
    return boundless_tokenizer(
        start,
        log,
        words,
        start.n_new(vocab_size),
        find_runs,
        parts=PARTS if given.superword_parts is None else given.superword_parts,
        min_count=min_count,
        longest=longest_token(options.get("max_token_length"), options.get("length_rule", "at_most")),
        progress=progress,
    )


def train_on_runs(
    source: RunCounts | Mapping[str, RunCounts],
    vocab_size: int,
    given: SuperwordOptions,
    weights: Mapping[str, float] | None,
    options: dict[str, Any],
    progress: Progress,
) -> Tokenizer:
    """Train a tokenizer with superwords on counts of runs."""
    if given.superwords != "boundless":
        raise ValueError(
            f"counts of runs are for superwords='boundless', not for superwords={given.superwords!r}: "
            "their words are counts.words"
        )
    sources = source if isinstance(source, Mapping) else {"": source}
    check_rules(sources)
    parts = next(iter(sources.values())).parts
    if given.superword_parts not in (None, parts):
        raise ValueError(f"the runs were counted with parts={parts!r}: leave out superword_parts")
    start = fresh_start(next(iter(sources.values())).special_tokens)
    given.checked(start.n_new(vocab_size))
    _check_options(options, is_boundless=True)
    all_words = {name: counts.words for name, counts in sources.items()}
    words, unit = weigh(all_words if isinstance(source, Mapping) else all_words[""], weights)
    factors = dict.fromkeys(sources, 1) if weights is None else factors_of(all_words, weights)

    def find_rows(known: ByteCounter) -> Runs:
        return joined_rows(sources, factors, known)

    return learn_boundless(
        words, find_rows, vocab_size, given._replace(superword_parts=parts), options, progress, unit
    )
