"""``train_parity``: from the counts of several languages to a tokenizer that treats them alike."""

from __future__ import annotations

import math
from collections.abc import Mapping
from operator import index as as_index
from time import perf_counter

from bpe.counting.weights import check_sources
from bpe.counting.word_counts import WordCounts
from bpe.support.progress import Progress, progress_bar
from bpe.tokenizer import Tokenizer
from bpe.trainer import PATIENCE, Trainer
from bpe.training.learner import Ties, longest_token
from bpe.training.parity import Languages
from bpe.training.start import choice, fresh_start, start_from, tokenizer_of
from bpe.vocabulary.vocabulary import Alphabet

PARITY_TIES: tuple[Ties, ...] = ("smallest", "lexicographic", "gpt2")


def train_parity(
    languages: Mapping[str, WordCounts],
    vocab_size: int,
    *,
    dev: Mapping[str, WordCounts] | None = None,
    ratios: Mapping[str, float] | None = None,
    window: int | None = None,
    alpha: float = 2.0,
    n_global: int = 0,
    ties: Ties = "smallest",
    min_count: int = 1,
    max_token_length: int | None = None,
    alphabet: Alphabet = "bytes",
    special_first: bool = False,
    progress: Progress = False,
) -> Tokenizer:
    """Train a tokenizer that treats several languages alike, whatever the sizes of their texts.

    Each merge serves one language, the one that is encoded worst so far: the most frequent pair of its words
    is merged, in all languages. The worst one is that with the most tokens in its development text. So these
    texts should say the same in every language; translations of some hundred sentences will do. Without them,
    `ratios` say how many bytes a language takes for the same content; without either, it is the language with
    the most tokens in its training text, which is close to ordinary training.

    Parameters
    ----------
    languages : mapping from str to WordCounts
        The name of each language, and the counts of its training text; all with the same pattern and special
        tokens. Of languages that are equally bad, the first one here is served.
    vocab_size : int
        Bytes, merges and special tokens together. There will be fewer if no pair is left to merge.
    dev : mapping from str to WordCounts, optional
        The counts of a development text for each language.
    ratios : mapping from str to float, optional
        For each language. The one with the lowest (bytes / tokens) / ratio is served.
    window : int, optional
        No language is served too often: at most `alpha` / languages of the last `window` merges, unless this
        holds of no language; then the best one of all is served. By default, there is no such limit.
    alpha : float
    n_global : int
        How many merges are learned at first in the ordinary way, from all training texts together.
    ties : {"smallest", "lexicographic", "gpt2"}
        As :class:`Trainer` takes them.
    min_count : int
        A pair that counts less in the language that is served is not merged. A language that has no other
        pairs is passed over from then on.
    max_token_length, alphabet, special_first
        As :class:`Trainer` takes them.
    progress : bool or callable
        A bar on stderr, nothing (the default), or ``progress(merges done, merges in all)``.

    Returns
    -------
    Tokenizer

    Raises
    ------
    ValueError
        There are no languages, a text is empty, the names of the languages differ, patterns or special tokens
        differ, or an argument is out of range.
    TypeError
        A text is not WordCounts.
    OverflowError
        The count of a pair passes ``2**63 - 1``, or the bytes of a text ``2**62``.

    Complexity
    ----------
    As training on each language alone, and O(languages) for each merge; memory for the words of each language
    and text, and 64 bytes a merge for each.

    Source: Foroutan and others, "Parity-Aware Byte-Pair Encoding: Improving Cross-lingual Fairness in
    Tokenization" (2025).

    Examples
    --------
    >>> from bpe import WordCounts
    >>> much = WordCounts({"the": 90, "then": 80, "there": 70})
    >>> little = WordCounts({"der": 3, "den": 2})
    >>> dev = {"en": WordCounts({"the": 1}), "de": WordCounts({"der": 1})}
    >>> tok = train_parity({"en": much, "de": little}, vocab_size=260, dev=dev)
    >>> [tok.token_bytes(number) for number in range(256, 260)]
    [b'he', b'de', b'the', b'der']
    """
    texts, dev_texts = _checked(languages, dev)
    goals = _ratios(languages, dev, ratios)
    if window is not None and as_index(window) < 1:
        raise ValueError(f"window must be at least 1, not {window}")
    if not (math.isfinite(alpha) and alpha > 0):
        raise ValueError(f"alpha must be a finite number above 0, not {alpha}")
    if as_index(n_global) < 0:
        raise ValueError(f"n_global must be at least 0, not {n_global}")
    choice(ties, "ties", PARITY_TIES)
    start = fresh_start(texts[0].special_tokens, alphabet, special_first)
    wanted = start.n_new(vocab_size)
    if n_global:
        trainer = Trainer(
            languages,
            ties=ties,
            min_count=min_count,
            max_token_length=max_token_length,
            alphabet=alphabet,
            special_first=special_first,
        )
        trainer.run(vocab_size - wanted + min(n_global, wanted), progress=progress)
        start = start_from(trainer.tokenizer(), texts[0], keep_ids=False)
    learned = Languages(
        texts,
        start,
        dev_texts,
        ratios=goals,
        window=window or 0,
        alpha=alpha,
        ties=ties,
        min_count=max(1, as_index(min_count)),
        longest=longest_token(max_token_length, "at_most"),
    )
    _run(learned, wanted, progress)
    return tokenizer_of(start, learned.log, texts[0].pattern)


def _run(learned: Languages, wanted: int, progress: Progress) -> None:
    """Learn `wanted` merges; between two batches there is time for the bar and for Ctrl-C."""
    learned.make_room(wanted)
    batch = 1
    with progress_bar(progress, wanted - learned.n_done, "merges", "merging") as advance:
        while learned.n_done < wanted:
            before, began = learned.n_done, perf_counter()
            learned.run(min(wanted, before + batch))
            if learned.n_done == before:
                break
            batch = 2 * batch if perf_counter() - began < PATIENCE else max(1, batch // 2)
            advance(learned.n_done - before)


def _checked(
    languages: Mapping[str, WordCounts], dev: Mapping[str, WordCounts] | None
) -> tuple[list[WordCounts], list[WordCounts]]:
    """Return the texts of the languages, and the development texts in the same order."""
    if dev is None:
        check_sources(languages, "language")
        return [*languages.values()], []
    if languages.keys() != dev.keys():
        raise ValueError(f"dev must have the languages {[*languages]}, not {[*dev]}")
    check_sources({**languages, **{f"{name} (dev)": counts for name, counts in dev.items()}}, "language")
    return [*languages.values()], [dev[name] for name in languages]


def _ratios(
    languages: Mapping[str, WordCounts],
    dev: Mapping[str, WordCounts] | None,
    ratios: Mapping[str, float] | None,
) -> list[float]:
    """Return the ratios in the order of the languages."""
    if ratios is None:
        return []
    if dev is not None:
        raise ValueError("give dev texts or ratios, not both: with dev texts, ratios would do nothing")
    if languages.keys() != ratios.keys():
        raise ValueError(f"ratios must have the languages {[*languages]}, not {[*ratios]}")
    for name, ratio in ratios.items():
        if not (math.isfinite(ratio) and ratio > 0):
            raise ValueError(f"the ratio of {name!r} must be a finite number above 0, not {ratio}")
    return [float(ratios[name]) for name in languages]
