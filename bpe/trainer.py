"""``Trainer``: learns merges from counted words. ``train``: from a corpus to a tokenizer in one call.

``train_parity``: from the counts of several languages to a tokenizer that treats them alike.

Everything that trains a new tokenizer is here; ``Tokenizer.extend`` adds to an old one. For a small corpus,
no compiled code is loaded.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, cast

import numpy as np

from bpe.corpus import Corpus, CorpusLike
from bpe.splitting.pattern import Pattern
from bpe.support.integers import as_integer
from bpe.support.progress import Progress, progress_bar
from bpe.support.threads import n_threads
from bpe.tokenizer import Tokenizer
from bpe.training.options import ALL_BYTES, Keep, Like, Options, Selection, Ties, choice
from bpe.training.plain_trainer import learn_small
from bpe.training.start import Start, fresh_start, start_from
from bpe.vocabulary.supermerges import refuse_supermerges
from bpe.vocabulary.vocabulary import check_specials

if TYPE_CHECKING:
    from bpe.counting.word_counts import WordCounts
    from bpe.superwords.boundless import Boundless
    from bpe.superwords.counted_runs import RunCounts
    from bpe.superwords.superbpe import SuperBPE
    from bpe.training.learner import Training
    from structures import ByteCounter

PARITY_TIES: tuple[Ties, ...] = ("smallest", "lexicographic", "gpt2")


class Merge(NamedTuple):
    """A learned merge.

    Attributes
    ----------
    left, right : int
        The merged pair.
    new_id : int
        What it became.
    count : int
        How often the pair was in the corpus at that moment.

    Examples
    --------
    >>> Merge(104, 101, 256, 12).new_id
    256
    """

    left: int
    right: int
    new_id: int
    count: int  # type: ignore[assignment]  # the field hides tuple.count


class Trainer:
    """Learns merges from counted words, one by one or in a run.

    Every merge updates the counts of the pairs that it changes; the words are not counted again. Except with
    ``ties="first"``, the result depends only on the counts, not on the order of the words.

    An exception in `keep` or in a progress callable, and Ctrl-C, end a run between two merges. The merges
    learned so far are kept: :meth:`tokenizer` returns them, and another :meth:`run` resumes.

    * :meth:`step`, :meth:`run`
    * :attr:`merges`, :attr:`log`, :meth:`tokenizer`
    * :meth:`resume`
    * :meth:`check`

    Parameters
    ----------
    counts : WordCounts, or mapping from str to WordCounts
        Its pattern and special tokens become those of the tokenizer. Several sources, by name, are added up.
    weights : mapping from str to float, optional
        How much each source counts, at least 0. A weight is rounded to a multiple of 1 / 2**20, and the
        counts of the merges are in this unit.
    ties : {"smallest", "lexicographic", "first", "gpt2"}
        Which of the pairs with the greatest count is merged: the one with the smallest (left id, right
        id), the one with the greatest (left bytes, right bytes), or the first one in the words, read in the
        order of `counts` with all merges done so far. ``"gpt2"`` is as ``"lexicographic"``, with the
        characters that stand for the bytes in GPT-2's alphabet.
    selection : {"heap", "buckets"}
        The container that finds this pair, ``MaxHeap`` or ``CountBuckets``. The merges are the same.
    min_count : int
        Pairs that count less are not merged. 1 or less sets no limit: with weights, even a pair that counts
        less than 1 is merged then.
    max_token_length : int, optional
        In bytes. Pairs that would make a longer token are skipped.
    initial_alphabet : bytes, optional
        The bytes that merges start from, whether the words have them or not; all 256 by default. Further
        bytes are added if the words have them.
    limit_alphabet : int, optional
        The maximal number of bytes in the alphabet: those of `initial_alphabet`, and the most frequent
        others. All other bytes are left out of the words, and what is around them is joined. In the
        tokenizer, they have the last ids, on top of the vocabulary size.
    like : {"huggingface", "gigatoken"}, optional
        Another trainer whose merges and order of ids are wanted. ``"huggingface"`` is BpeTrainer: special
        tokens get the first ids, not those after the merges; the single bytes that follow are in the order
        of GPT-2, printable ones first; and a token must be shorter than `max_token_length`, but two single
        bytes may always be merged. ``"gigatoken"`` changes only the order of the bytes.
    keep : callable, optional
        ``keep(left bytes, right bytes)``: a pair for which it is false is skipped. Called once for each pair
        that is about to be merged.

    Raises
    ------
    ValueError
        There are no words, or an option is out of range or not one of its choices.
    TypeError
        `counts` are not WordCounts, or `keep` is not callable.
    OverflowError
        The count of a pair passes ``2**63 - 1``.

    Examples
    --------
    >>> from bpe import WordCounts
    >>> trainer = Trainer(WordCounts({"low": 5, "lower": 2, "newest": 6, "widest": 3}))
    >>> trainer.step()
    Merge(left=101, right=115, new_id=256, count=9)
    >>> trainer.run(vocab_size=260)
    >>> trainer.tokenizer().encode("lowest")
    [259, 257]
    """

    __module__ = "bpe"  # the name in documentation: users import it from there

    def __init__(
        self,
        counts: WordCounts | Mapping[str, WordCounts],
        *,
        weights: Mapping[str, float] | None = None,
        ties: Ties = "smallest",
        selection: Selection = "heap",
        min_count: int = 1,
        max_token_length: int | None = None,
        initial_alphabet: bytes | None = None,
        limit_alphabet: int | None = None,
        like: Like | None = None,
        keep: Keep | None = None,
    ) -> None:
        options = Options(
            ties=ties,
            selection=selection,
            min_count=min_count,
            max_token_length=max_token_length,
            initial_alphabet=initial_alphabet,
            limit_alphabet=limit_alphabet,
            like=like,
            keep=keep,
        )
        self._training = _training_of(counts, weights, options)

    @classmethod
    def resume(
        cls,
        tokenizer: Tokenizer,
        counts: WordCounts | Mapping[str, WordCounts],
        *,
        weights: Mapping[str, float] | None = None,
        keep_ids: bool = False,
        ties: Ties = "smallest",
        selection: Selection = "heap",
        min_count: int = 1,
        max_token_length: int | None = None,
        initial_alphabet: bytes | None = None,
        limit_alphabet: int | None = None,
        like: Like | None = None,
        keep: Keep | None = None,
    ) -> Trainer:
        """Resume from a tokenizer, on the words it was trained on or on those of a new domain.

        Its merges are applied to the words, then training continues as if it had never stopped: with the same
        words and options, it learns what one longer run learns. :attr:`merges` has the old merges, too, with
        their counts in these words, which may be 0.

        Parameters
        ----------
        tokenizer : Tokenizer
        counts : WordCounts, or mapping from str to WordCounts
            With the pattern and the special tokens of the tokenizer.
        weights
            As for :class:`Trainer`.
        keep_ids : bool
            Keep every id: new tokens come after all others. If false, special tokens and left-out bytes that
            come last move behind the new tokens.
        ties, selection, min_count, max_token_length, like, keep
            As for :class:`Trainer`; for the new merges only.
        initial_alphabet, limit_alphabet
            As for :class:`Trainer`, applied to these words. All bytes of the old merges must be included.

        Returns
        -------
        Trainer

        Raises
        ------
        ValueError
            The counts have another pattern or other special tokens, the tokenizer's merges are in an order
            that training does not produce, or the alphabet leaves out one of their bytes.
        TypeError
            The arguments are not a Tokenizer and WordCounts.

        Complexity
        ----------
        That of learning these merges.

        Examples
        --------
        >>> import bpe
        >>> counts = bpe.WordCounts({"low": 5, "lower": 2, "newest": 6, "widest": 3})
        >>> trainer = bpe.Trainer.resume(bpe.train(counts, vocab_size=258), counts)
        >>> trainer.run(vocab_size=260)
        >>> trainer.tokenizer() == bpe.train(counts, vocab_size=260)
        True
        """
        if not isinstance(tokenizer, Tokenizer):
            raise TypeError(f"tokenizer must be a Tokenizer, not {type(tokenizer).__name__}")
        refuse_supermerges(tokenizer.engine.vocabulary, "resume")
        options = Options(
            ties=ties,
            selection=selection,
            min_count=min_count,
            max_token_length=max_token_length,
            initial_alphabet=initial_alphabet,
            limit_alphabet=limit_alphabet,
            like=like,
            keep=keep,
        )
        self = cls.__new__(cls)
        self._training = _training_of(counts, weights, options, tokenizer, keep_ids)
        return self

    # ----------------------------------------------------------------------------------------- learning
    def step(self) -> Merge | None:
        """Learn one merge.

        Returns
        -------
        Merge or None
            None if no pair is left that may be merged.

        Complexity
        ----------
        O(occurrences of the pair + distinct neighbors * log(pairs)).

        Examples
        --------
        >>> from bpe import WordCounts
        >>> trainer = Trainer(WordCounts({"ab": 1}))
        >>> trainer.step(), trainer.step()
        (Merge(left=97, right=98, new_id=256, count=1), None)
        """
        before = self._training.n_done
        self._training.learn(before + 1)
        if self._training.n_done == before:
            return None
        return Merge(*self._training.learner.log[before].tolist())  # `self.log` is a copy of all

    def run(self, vocab_size: int, *, progress: Progress = False) -> None:
        """Learn merges until the tokenizer has `vocab_size` tokens, or no pair is left to merge.

        May be called again with a larger size.

        Parameters
        ----------
        vocab_size : int
            Bytes, merges and special tokens together, without the bytes that are left out of the alphabet.
        progress : bool or callable
            A bar on stderr, nothing (the default), or ``progress(merges done, merges in all)``.

        Raises
        ------
        ValueError
            `vocab_size` is smaller than the number of bytes and special tokens, or of the tokens so far.

        Complexity
        ----------
        O(n log n) for n bytes of distinct words, usually much less. The first run keeps only the pairs that
        are likely to be merged; if they are used up, all pairs are counted again.

        Examples
        --------
        >>> from bpe import WordCounts
        >>> trainer = Trainer(WordCounts({"abab": 1}))
        >>> trainer.run(vocab_size=1000)
        >>> len(trainer.merges)
        2
        """
        start, n_done = self._training.start, self._training.n_done
        wanted = len(start.merges) + start.n_new(vocab_size)
        if wanted < n_done:
            raise ValueError(
                f"vocab_size {vocab_size} means {wanted} merges, but {n_done} have already been learned"
            )
        self._training.run(wanted, progress)

    # ------------------------------------------------------------------------------------------ results
    @property
    def merges(self) -> list[Merge]:
        """The merges learned so far, in order.

        Examples
        --------
        >>> import bpe
        >>> trainer = bpe.Trainer(bpe.WordCounts({"low": 2}))
        >>> trainer.run(vocab_size=257)
        >>> trainer.merges
        [Merge(left=108, right=111, new_id=256, count=2)]
        """
        return [Merge(*row) for row in self.log.tolist()]

    @property
    def log(self) -> np.ndarray:
        """The merges learned so far as an array, ``(n, 4) int64``: left, right, new id, count; a copy.

        For example, ``pyplot.loglog(trainer.log[:, 3])`` plots count against rank.

        Examples
        --------
        >>> import bpe
        >>> trainer = bpe.Trainer(bpe.WordCounts({"low": 5, "lower": 2}))
        >>> trainer.run(vocab_size=258)
        >>> trainer.log
        array([[108, 111, 256,   7],
               [256, 119, 257,   7]])
        """
        return self._training.log

    def tokenizer(self) -> Tokenizer:
        """Return a tokenizer with the merges learned so far.

        Returns
        -------
        Tokenizer

        Complexity
        ----------
        As :meth:`bpe.vocabulary.vocabulary.Vocabulary.of_merges`.

        Examples
        --------
        >>> from bpe import WordCounts
        >>> trainer = Trainer(WordCounts({"ab": 1}, special_tokens=["<|endoftext|>"]))
        >>> trainer.run(vocab_size=258)
        >>> trainer.tokenizer().special_tokens
        {'<|endoftext|>': 257}
        """
        return Tokenizer._of(self._training.vocabulary(), self._training.pattern)

    def __repr__(self) -> str:
        return f"<Trainer: {self._training.n_done} merges>"

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a Trainer cannot be copied or pickled: pickle trainer.tokenizer(), and use Trainer.resume"
        )

    def check(self) -> None:
        """Check counts, postings and links against a recount from scratch.

        Raises
        ------
        AssertionError
            They differ, which is a bug in this library.

        Complexity
        ----------
        O(bytes of the distinct words), in Python: for tests.

        Examples
        --------
        >>> from bpe import WordCounts
        >>> trainer = Trainer(WordCounts({"aaaa": 1}))
        >>> trainer.step().count
        3
        >>> trainer.check()
        """
        self._training.check()


def _training_of(
    counts: WordCounts | Mapping[str, WordCounts],
    weights: Mapping[str, float] | None,
    options: Options,
    resumed: Tokenizer | None = None,
    keep_ids: bool = False,
) -> Training:
    from bpe.counting.weights import weigh  # loads the compiler, as the next ones do
    from bpe.counting.word_counts import WordCounts
    from bpe.training.learner import Training
    from bpe.training.state import bytes_left_out

    counts, unit = weigh(counts, weights)
    if not isinstance(counts, WordCounts):
        raise TypeError(f"counts must be WordCounts, not {type(counts).__name__}: bpe.count_words makes them")
    left_out = bytes_left_out(counts, options)
    if resumed is None:
        start = fresh_start(counts.special_tokens, options, left_out)
    else:
        start = start_from(resumed.engine.vocabulary, resumed.pattern, counts, keep_ids, left_out)
    return Training(counts, start, options, unit)


def train(
    corpus: CorpusLike | WordCounts | RunCounts | Mapping[str, WordCounts] | Mapping[str, RunCounts],
    vocab_size: int,
    *,
    weights: Mapping[str, float] | None = None,
    pattern: str | Iterable[str] | Pattern = "gpt2",
    special_tokens: Iterable[str] = (),
    ties: Ties = "smallest",
    min_count: int = 1,
    max_token_length: int | None = None,
    initial_alphabet: bytes | None = None,
    limit_alphabet: int | None = None,
    like: Like | None = None,
    keep: Keep | None = None,
    superwords: SuperBPE | Boundless | None = None,
    threads: int | None = None,
    progress: Progress = False,
) -> Tokenizer:
    """Train a tokenizer.

    Ctrl-C ends it with a KeyboardInterrupt. To keep the merges learned by then, count and merge in two steps,
    with :func:`bpe.count_words` and a :class:`Trainer`.

    Parameters
    ----------
    corpus : path, iterable of path, str or bytes, WordCounts, RunCounts, or mapping from str to these
        A path is a file of UTF-8 text, ``Path("-")`` standard input; a str or bytes in an iterable is a
        document. Counts have their own pattern and special tokens; several, by name, are added up.
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
    ties, min_count, max_token_length, initial_alphabet, limit_alphabet, like, keep
        As :class:`Trainer` takes them.
    superwords : SuperBPE or Boundless, optional
        Learn tokens that join words, too, such as " of the". The corpus is read twice, and cannot be
        WordCounts; :class:`Boundless` also learns from RunCounts.
    threads : int, optional
        The maximal number. The result is the same for any number.
    progress : bool or callable
        Bars on stderr if it is a terminal, nothing (the default), or ``progress(done, total)``, for counting
        (bytes), then merging (merges); the total is None where it is not known before.

    Returns
    -------
    Tokenizer

    Raises
    ------
    ValueError
        The corpus is empty, or an argument is out of range.
    TypeError
        The corpus is a bare str, or an argument of another wrong type.
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
    n_threads(threads)  # raises here, not after the counting
    if isinstance(special_tokens, Mapping):
        raise TypeError(
            "special_tokens must be a list: they get the ids after the merges. Tokenizer.with_special_tokens "
            "adds tokens with ids of your own"
        )
    options = Options(
        ties=ties,
        min_count=min_count,
        max_token_length=max_token_length,
        initial_alphabet=initial_alphabet,
        limit_alphabet=limit_alphabet,
        like=like,
        keep=keep,
    )
    special_tokens, split_by = check_specials(special_tokens), Pattern.of(pattern)
    is_text = isinstance(corpus, (list, tuple, os.PathLike, Corpus))  # others may be counts
    if not is_text and (isinstance(corpus, Mapping) or _are_counts(corpus)):
        # "gpt2" is the default, so perhaps nobody has asked for it.
        if special_tokens or split_by not in (Pattern.of("gpt2"), _pattern_of(corpus)):
            raise ValueError("WordCounts have their own pattern and special tokens: give them to WordCounts")
        source: Any = corpus
    elif weights is not None:
        raise ValueError("weights are for WordCounts with names: count each text by itself")
    else:
        source = Corpus.of(cast("CorpusLike", corpus))
    return Job(
        source,
        vocab_size,
        split_by,
        special_tokens,
        options,
        superwords,
        weights=weights,
        threads=threads,
        bar=lambda work, unit: progress,
        may_be_small=not callable(progress),  # plain Python would not call it
    ).run()


@dataclass
class Job:
    """One training on a Corpus or on counts, as :func:`train` and the command line run it.

    After an interrupt, `trainer` has the merges learned so far. It is None before merging begins, in plain
    Python, and with superwords.
    """

    source: Any
    vocab_size: int
    pattern: Pattern  # for a Corpus, as the special tokens are; counts have their own
    special_tokens: tuple[str, ...]
    options: Options
    superwords: SuperBPE | Boundless | None
    _: KW_ONLY
    weights: Mapping[str, float] | None = None
    threads: int | None = None
    scheduler: Any = None
    bar: Callable[[str, str], Progress]  # bar(name of the work, unit) returns how progress is shown
    may_be_small: bool = True
    trainer: Trainer | None = None
    size: tuple[int, int, int] | None = None  # of a Corpus, once counted: distinct pieces, pieces, bytes

    def run(self) -> Tokenizer:
        """Train in plain Python, with compiled code, or with superwords."""
        if self.superwords is not None:
            _check_superwords(self.superwords, self.options)
        if not isinstance(self.source, Corpus):
            return self._train_counts()
        may_be_left_out = frozenset(ALL_BYTES) - {*self.options.initial_bytes}
        start = fresh_start(self.special_tokens, self.options, may_be_left_out)
        n_merges = start.n_new(self.vocab_size)  # raises before the long work
        text = self.source, self.pattern, self.special_tokens
        if self.superwords is not None:
            _check_text(self.superwords, self.source, n_merges)
        elif self.may_be_small and self.scheduler is None:
            small = learn_small(*text, n_merges, self.options)
            if small is not None:
                self.size = small.size
                return Tokenizer._of(small.vocabulary, self.pattern)
        from bpe.counting.clusters import count_words

        shown = self.bar("counting", "B")
        words = count_words(*text, scheduler=self.scheduler, threads=self.threads, progress=shown)
        self.size = len(words), words.total, words.n_text_bytes
        if self.superwords is None:
            return self._train_words(words)
        return self._train_superwords(words, start, n_merges)

    def _train_words(self, counts: Any) -> Tokenizer:
        self.trainer = Trainer(counts, weights=self.weights, **vars(self.options))  # of the same names
        self.trainer.run(self.vocab_size, progress=self.bar("merging", "merges"))
        return self.trainer.tokenizer()

    def _train_counts(self) -> Tokenizer:
        from bpe.superwords.boundless import Boundless, learn_from_runs
        from bpe.superwords.counted_runs import RunCounts

        source, how = self.source, self.superwords
        if isinstance(_first_of(source), RunCounts):
            if not isinstance(how, Boundless):
                raise ValueError(
                    f"counts of runs are for superwords=bpe.Boundless(), not for superwords={how!r}: "
                    "their words are counts.words"
                )
            shown = self.bar("training", "steps")
            learned = learn_from_runs(how, source, self.weights, self.vocab_size, self.options, shown)
            return Tokenizer._of(learned, _first_of(source).pattern)
        if how is not None:
            raise ValueError(
                "superwords are learned from the text itself, not from WordCounts; bpe.Boundless() also from "
                "RunCounts, which bpe.count_runs makes"
            )
        return self._train_words(source)  # which checks the type

    def _train_superwords(self, words: WordCounts, start: Start, n_merges: int) -> Tokenizer:
        """Train with superwords on a text whose words are counted."""
        from bpe.superwords.boundless import learn_boundless
        from bpe.superwords.piece_ids import piece_ids
        from bpe.superwords.superbpe import SuperBPE, superbpe_training
        from bpe.training.state import Runs

        how, options, threads = cast("SuperBPE | Boundless", self.superwords), self.options, self.threads
        progress = self.bar("training", "steps")

        def documents() -> Iterator[Iterable[bytes]]:
            with progress_bar(progress, self.source.n_bytes, "B", "reading") as advance:
                yield from self.source.documents(advance)

        if isinstance(how, SuperBPE):
            training = superbpe_training(how, words, documents, start, n_merges, options, threads, progress)
            training.run(n_merges, progress)
            return Tokenizer._of(training.vocabulary(), cast("Pattern", how.pattern))

        def rows_of(known: ByteCounter) -> Runs:
            return Runs.of_row(piece_ids(documents(), words.pattern, words.special_tokens, known, threads))

        learned = learn_boundless(how, words, rows_of, start, n_merges, options, progress=progress)
        return Tokenizer._of(learned, words.pattern)


def _check_superwords(superwords: object, options: Options) -> None:
    from bpe.superwords.boundless import Boundless
    from bpe.superwords.superbpe import SuperBPE

    if not isinstance(superwords, (SuperBPE, Boundless)):
        raise TypeError(
            f"superwords must be bpe.SuperBPE(first_merges=...) or bpe.Boundless(), not {superwords!r}"
        )
    for name in ("initial_alphabet", "limit_alphabet"):
        if getattr(options, name) is not None:
            raise ValueError(f"superwords are learned from all bytes: omit {name}")
    if isinstance(superwords, Boundless) and options.keep is not None:
        raise ValueError("bpe.Boundless does not support keep")


def _check_text(superwords: object, source: Corpus, n_merges: int) -> None:
    from bpe.superwords.superbpe import SuperBPE, check_first_merges

    if isinstance(superwords, SuperBPE):
        check_first_merges(superwords, n_merges)
    if not source.is_lasting:
        raise ValueError(
            f"superwords read the text twice, and {source} can be read only once: put it in a file"
        )


def _are_counts(corpus: object) -> bool:
    from bpe.counting.word_counts import WordCounts
    from bpe.superwords.counted_runs import RunCounts

    return isinstance(corpus, (WordCounts, RunCounts))


def _first_of(corpus: Any) -> Any:
    return next(iter(corpus.values()), None) if isinstance(corpus, Mapping) else corpus


def _pattern_of(corpus: Any) -> Pattern | None:
    """Return the pattern of counts; None if they are not counts, which :class:`Trainer` will refuse."""
    counts = _first_of(corpus)
    return counts.pattern if _are_counts(counts) else None


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
    like: Like | None = None,
    progress: Progress = False,
) -> Tokenizer:
    """Train a tokenizer that treats several languages alike, whatever the sizes of their texts.

    Each merge is chosen for one language, the one that is encoded worst so far: the most frequent pair of its
    words is merged, in all languages. The worst language is the one with the most tokens in its development
    text. So these texts should say the same in every language; translations of some hundred sentences are
    enough. Without them, `ratios` say how many bytes a language takes for the same content; without either,
    the worst language is the one with the most tokens in its training text, which is close to ordinary
    training.

    Parameters
    ----------
    languages : mapping from str to WordCounts
        The name of each language, and the counts of its training text; all with the same pattern and special
        tokens. Of languages that are encoded equally badly, the first one here is chosen.
    vocab_size : int
        Bytes, merges and special tokens together. There will be fewer if no pair is left to merge.
    dev : mapping from str to WordCounts, optional
        The counts of a development text for each language.
    ratios : mapping from str to float, optional
        For each language. The one with the lowest (bytes / tokens) / ratio is chosen.
    window : int, optional
        No language is chosen too often: at most `alpha` / languages of the last `window` merges. If all
        languages have reached this limit, the best one is chosen. By default, there is no limit.
    alpha : float
        See `window`.
    n_global : int
        How many merges are first learned in the ordinary way, from all training texts together.
    ties : {"smallest", "lexicographic", "gpt2"}
        As :class:`Trainer` takes them.
    min_count : int
        A pair that counts less in the chosen language is not merged. A language that has no other pairs is
        skipped from then on.
    max_token_length, like
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
    >>> [tok.token_bytes(token_id) for token_id in range(256, 260)]
    [b'he', b'de', b'the', b'der']
    """
    from bpe.counting.weights import weigh  # loads the compiler, as the next ones do
    from bpe.training.learner import Training, in_batches
    from bpe.training.parity import Languages

    texts, dev_texts = _checked(languages, dev)
    goals = _ratios(languages, dev, ratios)
    if window is not None and as_integer(window, "window") < 1:
        raise ValueError(f"window must be at least 1, not {window}")
    if not isinstance(alpha, (float, Real)):
        raise TypeError(f"alpha must be a number, not {type(alpha).__name__}")
    if not (math.isfinite(alpha) and alpha > 0):
        raise ValueError(f"alpha must be a finite number above 0, not {alpha}")
    if as_integer(n_global, "n_global") < 0:
        raise ValueError(f"n_global must be at least 0, not {n_global}")
    choice(ties, "ties", PARITY_TIES)
    options = Options(ties=ties, min_count=min_count, max_token_length=max_token_length, like=like)
    start = fresh_start(texts[0].special_tokens, options)
    wanted = start.n_new(vocab_size)
    if n_global:
        training = Training(weigh(languages, None)[0], start, options)
        training.run(min(n_global, wanted), progress)
        start = start_from(training.vocabulary(), texts[0].pattern, texts[0], keep_ids=False)
    learned = Languages(
        texts, start, dev_texts, ratios=goals, window=window or 0, alpha=alpha, options=options
    )
    learned.make_room(wanted)
    in_batches(learned, learned.run, wanted, progress)
    return Tokenizer._of(start.vocabulary(learned.log), texts[0].pattern)


def _checked(
    languages: Mapping[str, WordCounts], dev: Mapping[str, WordCounts] | None
) -> tuple[list[WordCounts], list[WordCounts]]:
    """Return the texts of the languages, and the development texts in the same order."""
    from bpe.counting.weights import check_sources

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
        if not isinstance(ratio, (float, Real)):
            raise TypeError(f"the ratio of {name!r} must be a number, not {type(ratio).__name__}")
        if not (math.isfinite(ratio) and ratio > 0):
            raise ValueError(f"the ratio of {name!r} must be a finite number above 0, not {ratio}")
    return [float(ratios[name]) for name in languages]


__test__ = {"Trainer": Trainer}  # doctest skips a class whose __module__ is another module
