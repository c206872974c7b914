"""Training: counting pieces, learning merges, and the memory that it takes."""

from collections import Counter
from itertools import product

import regex

import bpe
from bpe import reference

from ._common import CORPORA, PATH_OF, Comparison, text_of, vocab_size_of

SELECTIONS = ("heap", "buckets")
TIES = ("smallest", "lexicographic")
TINY = {"low": 5, "lower": 2, "newest": 6, "widest": 3}
N_CHECKED = 20  # merges compared with those of the reference


class Counting(Comparison):
    """Cutting a text into pieces and counting them, against ``regex`` and a ``Counter``."""

    params = (CORPORA, ("gpt2", "cl100k"))
    param_names = ("corpus", "pattern")

    def prepare(self, corpus, pattern):
        self.text, self.pattern = text_of(corpus), pattern
        self.expression = regex.compile(bpe.PATTERNS[pattern])

    def ours(self):
        return bpe.WordCounts.from_corpus([self.text], self.pattern)

    def theirs(self):
        return Counter(match.group() for match in self.expression.finditer(self.text))

    def agree(self, our_result, their_result):
        return dict(our_result.items()) == {piece.encode(): n for piece, n in their_result.items()}

    def time_split(self, corpus, pattern):
        bpe.split(pattern, self.text)


class CountingFiles:
    """Counting the pieces of a whole file, reading included."""

    params = CORPORA
    param_names = ("corpus",)
    number = 1
    repeat = (2, 5, 5.0)
    warmup_time = 0
    timeout = 600

    def setup(self, corpus):
        bpe.WordCounts.from_corpus(["warm"])

    def time_count(self, corpus):
        bpe.WordCounts.from_corpus(PATH_OF[corpus])


def trained(counts, ties, selection, vocab_size):
    trainer = bpe.Trainer(counts, ties=ties, selection=selection)
    trainer.run(vocab_size=vocab_size)
    return trainer


class Merging:
    """Learning merges from counted pieces."""

    params = (CORPORA, SELECTIONS, TIES)
    param_names = ("corpus", "selection", "ties")
    number = 1
    repeat = (3, 10, 10.0)
    warmup_time = 0
    timeout = 600

    def setup_cache(self):
        """Count; compare both selections with each other, and with the reference on some text."""
        counts_of = {corpus: bpe.WordCounts.from_corpus([text_of(corpus)]) for corpus in CORPORA}
        for corpus, ties in product(CORPORA, TIES):
            counts = counts_of[corpus]
            heap, buckets = (trained(counts, ties, name, vocab_size_of(corpus)).merges for name in SELECTIONS)
            if heap != buckets:
                raise AssertionError(f"{corpus}, ties {ties}: the selections learn different merges")
            if heap[:N_CHECKED] != reference.train_indexed(dict(counts.items()), N_CHECKED, ties=ties):
                raise AssertionError(f"{corpus}, ties {ties}: not what the reference learns")
        return counts_of

    setup_cache.timeout = 600

    def setup(self, counts_of, corpus, selection, ties):
        trained(bpe.WordCounts(TINY), ties, selection, 260)  # loads the compiled code
        self.trainer = bpe.Trainer(counts_of[corpus], ties=ties, selection=selection)

    def time_merges(self, counts_of, corpus, selection, ties):
        self.trainer.run(vocab_size=vocab_size_of(corpus))

    def time_preparation(self, counts_of, corpus, selection, ties):
        bpe.Trainer(counts_of[corpus], ties=ties, selection=selection)


class Memory:
    """Peak memory of a process that trains from a file, and of one that has next to nothing to learn.

    The latter, ``nothing``, has loaded the same modules and compiled code: what the others have more is what
    training takes. Compiling, which takes more than either, is done in a process before.
    """

    params = ("nothing", *CORPORA)
    param_names = ("corpus",)
    timeout = 600

    def setup_cache(self):
        self.peakmem_training("nothing")

    def peakmem_training(self, corpus):
        if corpus == "nothing":
            bpe.train(bpe.WordCounts(TINY), vocab_size=260)
        else:
            bpe.train(PATH_OF[corpus], vocab_size=vocab_size_of(corpus))
