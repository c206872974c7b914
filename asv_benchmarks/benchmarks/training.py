"""Training: learning merges from counted pieces."""

from itertools import product

import bpe
from bpe import reference

from ._common import CORPORA, SMALL, TINY, text_of

SELECTIONS = ("heap", "buckets")
TIES = ("smallest", "lexicographic", "first")
VOCAB_SIZES = (280, 300) if SMALL else (1_000, 8_000, 32_000)
N_CHECKED = 20  # merges compared with those of the reference


def trained(counts, ties, selection, vocab_size):
    trainer = bpe.Trainer(counts, ties=ties, selection=selection)
    trainer.run(vocab_size=vocab_size)
    return trainer


class Merging:
    """Learning merges from counted pieces."""

    version = "1"
    params = (CORPORA, SELECTIONS, TIES, VOCAB_SIZES)
    param_names = ("corpus", "selection", "ties", "vocab_size")
    number = 1
    repeat = (3, 10, 10.0)
    warmup_time = 0
    timeout = 600

    def setup_cache(self):
        """Count; compare both selections with each other, and with the reference on some text."""
        counts_of = {corpus: bpe.count_words([text_of(corpus)]) for corpus in CORPORA}
        for corpus, ties in product(CORPORA, TIES):
            counts = counts_of[corpus]
            heap, buckets = (trained(counts, ties, name, VOCAB_SIZES[-1]).merges for name in SELECTIONS)
            if heap != buckets:
                raise AssertionError(f"{corpus}, ties {ties}: the selections learn different merges")
            if heap[:N_CHECKED] != reference.train_indexed(dict(counts.items()), N_CHECKED, ties=ties):
                raise AssertionError(f"{corpus}, ties {ties}: not what the reference learns")
        return counts_of

    setup_cache.timeout = 600

    def setup(self, counts_of, corpus, selection, ties, vocab_size):
        trained(bpe.WordCounts(TINY), ties, selection, 260)  # loads the compiled code
        self.trainer = bpe.Trainer(counts_of[corpus], ties=ties, selection=selection)

    def time_merges(self, counts_of, corpus, selection, ties, vocab_size):
        self.trainer.run(vocab_size)


class Preparation:
    """From counted pieces to a trainer: their pairs counted and located."""

    version = "1"
    params = (CORPORA, SELECTIONS)
    param_names = ("corpus", "selection")
    number = 1
    repeat = (3, 10, 10.0)
    warmup_time = 0
    timeout = 600

    def setup(self, corpus, selection):
        self.counts = bpe.count_words([text_of(corpus)])
        bpe.Trainer(bpe.WordCounts(TINY), selection=selection)  # loads the compiled code

    def time_trainer(self, corpus, selection):
        bpe.Trainer(self.counts, selection=selection)
