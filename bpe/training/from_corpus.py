"""``train``: from a corpus to a tokenizer in one call.

Nothing compiled is loaded for a small corpus.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from operator import index as as_index
from typing import TYPE_CHECKING, Any, cast

from bpe.corpus import Corpus, CorpusLike
from bpe.splitting.pattern import Pattern
from bpe.superwords.training import SuperwordOptions, Superwords
from bpe.support.progress import Progress
from bpe.tokenizer import Tokenizer
from bpe.training.plain_trainer import train_on_small
from bpe.training.start import fresh_start
from bpe.vocabulary.vocabulary import Alphabet, check_specials

if TYPE_CHECKING:
    from bpe.counting.word_counts import WordCounts
    from bpe.superwords.counted_runs import RunCounts
    from bpe.trainer import Keep, Selection, Ties
    from bpe.training.learner import LengthRule


def train(
    corpus: CorpusLike | WordCounts | RunCounts | Mapping[str, WordCounts] | Mapping[str, RunCounts],
    vocab_size: int,
    *,
    weights: Mapping[str, float] | None = None,
    pattern: str | Iterable[str] | Pattern = "gpt2",
    special_tokens: Iterable[str] = (),
    ties: Ties = "smallest",
    selection: Selection = "heap",
    min_count: int = 1,
    max_token_length: int | None = None,
    length_rule: LengthRule = "at_most",
    alphabet: Alphabet = "bytes",
    initial_alphabet: bytes | None = None,
    limit_alphabet: int | None = None,
    special_first: bool = False,
    keep: Keep | None = None,
    superwords: Superwords | None = None,
    first_merges: int | None = None,
    superwords_pattern: str | Iterable[str] | Pattern | None = None,
    superword_parts: str | None = None,
    max_phrase: int | None = None,
    min_phrase_count: int | None = None,
    threads: int | None = None,
    progress: Progress = False,
) -> Tokenizer:
    """Train a tokenizer.

    Ctrl-C ends it with a KeyboardInterrupt. To keep what is learned by then, count and merge in two steps,
    with ``WordCounts.from_corpus`` and a :class:`Trainer`.

    Parameters
    ----------
    corpus : path, iterable of path, str or bytes, WordCounts, RunCounts, or mapping from str to these
        A path is a file of UTF-8 text, ``Path("-")`` standard input; a str or bytes in an iterable is a
        document. Counts bring their own pattern and special tokens; several, by name, are added up.
    vocab_size : int
        Bytes, merges and special tokens together. There will be fewer if no pair is left to merge; bytes
        that are left out of the alphabet come on top.
    weights : mapping from str to float, optional
        How much each of several WordCounts or RunCounts counts, as :class:`Trainer` takes it.
        :func:`bpe.temperature_weights` makes weights of sizes.
    pattern : str, iterable of str or Pattern
        A name of :data:`bpe.PATTERNS` or a regular expression, as :meth:`bpe.Pattern.of` takes it.
    special_tokens : iterable of str
        Never counted, never merged across; their ids come after those of the merges.
    ties, selection, min_count, max_token_length, length_rule
        As :class:`Trainer` takes them.
    alphabet, initial_alphabet, limit_alphabet, special_first, keep
        As :class:`Trainer` takes them.
    superwords : {"superbpe", "boundless"}, optional
        Learn tokens that join words, too, such as " of the". With "superbpe", the first merges are learned
        inside the pieces of `pattern`, all others inside those of `superwords_pattern`, which becomes the
        pattern of the tokenizer. With "boundless", merges that join pieces of one token each compete with
        those inside of pieces. The corpus is read twice, and cannot be WordCounts; "boundless" also learns
        from RunCounts.
    first_merges : int, optional
        For "superbpe": how many merges are learned inside words; a ValueError if the text gives fewer.
    superwords_pattern : str, iterable of str or Pattern, optional
        For "superbpe"; by default the one that its authors have published. What lies between its matches is a
        piece, too.
    superword_parts : str, optional
        For "boundless": an expression; a piece is joined to others only if it is found there. By default, it
        must have a letter.
    max_phrase, min_phrase_count : int, optional
        For "boundless", an approximation that needs less memory: join pieces only inside rows of at most
        `max_phrase` pieces that occur at least `min_phrase_count` times, 15 by default. Its authors take 30
        and 15.
    threads : int, optional
        The most to use. The result is the same for any number.
    progress : bool or callable
        Bars on stderr, nothing (the default), or ``progress(done, total)``, for counting (bytes), then
        merging (merges).

    Returns
    -------
    Tokenizer

    Raises
    ------
    ValueError
        The corpus is empty, or an argument is out of range.
    TypeError
        The corpus is a bare str, or of another wrong type.
    OSError
        A file cannot be read.

    Complexity
    ----------
    One pass over the corpus, then the merges; memory for the distinct words only.

    Examples
    --------
    >>> tok = train(["low low low lower lowest"], vocab_size=260, special_tokens=["<|endoftext|>"])
    >>> tok.encode("lower")
    [257, 101, 114]
    """
    if threads is not None and as_index(threads) < 1:
        raise ValueError(f"threads must be at least 1, not {threads}")
    options: dict[str, Any] = {"ties": ties, "selection": selection, "min_count": min_count}
    options |= {"max_token_length": max_token_length, "length_rule": length_rule, "keep": keep}
    options |= {"alphabet": alphabet, "special_first": special_first}
    options |= {"initial_alphabet": initial_alphabet, "limit_alphabet": limit_alphabet}
    given = SuperwordOptions(
        superwords, first_merges, superwords_pattern, superword_parts, max_phrase, min_phrase_count
    )
    special_tokens = check_specials(special_tokens)
    may_be_small = isinstance(corpus, (list, tuple, os.PathLike, Corpus)) and weights is None
    if may_be_small and given == SuperwordOptions() and not callable(progress):
        source, split_by = Corpus.of(cast("CorpusLike", corpus)), Pattern.of(pattern)
        small = train_on_small(source, vocab_size, split_by, special_tokens, options)
        if small is not None:
            return small.tokenizer
    if isinstance(corpus, Mapping) or _are_counts(corpus):
        if special_tokens or Pattern.of(pattern) not in (Pattern.of("gpt2"), _pattern_of(corpus)):
            raise ValueError("WordCounts bring their own pattern and special tokens: give them to WordCounts")
        return _train_on_counts(corpus, vocab_size, given, weights, options, progress)
    if weights is not None:
        raise ValueError("weights are for WordCounts with names: count each text by itself")
    text = cast("CorpusLike", corpus), pattern, special_tokens
    return _train_on_text(*text, vocab_size, given, options, threads, progress)


def _train_on_text(
    corpus: CorpusLike,
    pattern: str | Iterable[str] | Pattern,
    special_tokens: tuple[str, ...],
    vocab_size: int,
    given: SuperwordOptions,
    options: dict[str, Any],
    threads: int | None,
    progress: Progress,
) -> Tokenizer:
    from bpe.counting.word_counts import WordCounts
    from bpe.superwords.training import train_superwords
    from bpe.trainer import Trainer
    from bpe.training.start import ALL_BYTES, initial_bytes

    unsure = frozenset(ALL_BYTES) - {*initial_bytes(options["initial_alphabet"], options["limit_alphabet"])}
    start = fresh_start(special_tokens, options["alphabet"], options["special_first"], unsure)
    n_merges, source = start.n_new(vocab_size), Corpus.of(corpus)

    def count() -> WordCounts:
        rules = pattern, special_tokens
        return WordCounts.from_corpus(source, *rules, threads=threads, progress=progress)

    if given.checked(n_merges).superwords:  # before the long work, too
        return train_superwords(source, vocab_size, n_merges, given, count, options, threads, progress)
    trainer = Trainer(count(), **options)
    trainer.run(vocab_size, progress=progress)
    return trainer.tokenizer()


def _train_on_counts(
    corpus: Any,
    vocab_size: int,
    given: SuperwordOptions,
    weights: Mapping[str, float] | None,
    options: dict[str, Any],
    progress: Progress,
) -> Tokenizer:
    from bpe.superwords.counted_runs import RunCounts
    from bpe.superwords.training import train_on_runs
    from bpe.trainer import Trainer

    if isinstance(_first_of(corpus), RunCounts):
        return train_on_runs(corpus, vocab_size, given, weights, options, progress)
    if given.checked(given.first_merges or 0).superwords:
        raise ValueError(
            "superwords are learned from the text itself, not from WordCounts; 'boundless' also from "
            "RunCounts, which bpe.count_runs makes"
        )
    trainer = Trainer(corpus, weights=weights, **options)  # which looks closer
    trainer.run(vocab_size, progress=progress)
    return trainer.tokenizer()


def _are_counts(corpus: object) -> bool:
    from bpe.counting.word_counts import WordCounts
    from bpe.superwords.counted_runs import RunCounts

    return isinstance(corpus, (WordCounts, RunCounts))


def _first_of(corpus: Any) -> Any:
    return next(iter(corpus.values()), None) if isinstance(corpus, Mapping) else corpus


def _pattern_of(corpus: Any) -> Pattern | None:
    """Return the pattern of counts, None of what is none; the trainer looks closer."""
    counts = _first_of(corpus)
    return counts.pattern if _are_counts(counts) else None
