"""Superwords: tokens that join words, or parts of them. Two ways to learn them, and what each is told."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import index as as_index
from typing import Any

from bpe.corpus import Corpus
from bpe.counting.run_edges import PARTS
from bpe.counting.weights import factors_of, weigh
from bpe.counting.word_counts import WordCounts
from bpe.superwords.boundless import boundless_tokenizer
from bpe.superwords.counted_runs import RunCounts, check_rules, joined_rows
from bpe.superwords.piece_ids import piece_ids
from bpe.superwords.run_counts import Runs, phrases_in, runs_of_rows
from bpe.superwords.superbpe import reader, superbpe_trainer, wide_pattern_of
from bpe.support.progress import Progress, progress_bar
from bpe.tokenizer import Tokenizer
from bpe.trainer import Trainer, least
from bpe.training.learner import longest_token
from bpe.training.start import fresh_start
from bpe.training.superword_options import SuperwordOptions, check_first_merges
from structures import ByteCounter

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
