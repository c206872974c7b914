"""What a process needs in memory, and what the containers do."""

import numpy as np

import bpe
from structures import ByteCounter, CountBuckets, IntMap, MaxHeap, PairIndex, TokenList

from ._common import CORPORA, PATH_OF, SIZES, TINY, text_of, vocab_size_of

KEYED = {"IntMap": IntMap, "MaxHeap": MaxHeap, "CountBuckets": CountBuckets}


class Training:
    """Peak memory of a process that trains from a file, and of one that has next to nothing to learn.

    The latter, ``nothing``, has loaded the same modules and compiled code: what the others have more is what
    training takes. Compiling, which takes more than either, is done in a process before.
    """

    version = "1"
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


class BytesPerKey:
    """What a container that was filled at once holds, divided by its keys."""

    version = "1"
    params = (tuple(KEYED), SIZES)
    param_names = ("container", "keys")

    def setup(self, container, n):
        keys = np.random.default_rng(2).permutation(n) * np.int64(7919)
        self.container = KEYED[container].from_arrays(keys, np.arange(1, n + 1) % 1000 + 1)

    def track_bytes_per_key(self, container, n):
        return self.container.nbytes / len(self.container)

    track_bytes_per_key.unit = "bytes/key"


class BytesOfWords:
    """What the distinct words of a text take: as words, as linked tokens, and as an index of their pairs."""

    version = "1"
    params = CORPORA
    param_names = ("corpus",)
    timeout = 600

    def setup(self, corpus):
        self.words = bpe.count_words([text_of(corpus)])
        self.tokens = TokenList(*self.words.to_arrays()[:2])

    def track_bytes_per_word(self, corpus):
        return ByteCounter(self.words.items()).nbytes / len(self.words)

    def track_bytes_per_token(self, corpus):
        return self.tokens.nbytes / self.tokens.n_positions

    def track_bytes_per_posting(self, corpus):
        index = PairIndex.build(self.tokens)
        return index.nbytes / index.n_postings

    track_bytes_per_word.unit = "bytes/word"
    track_bytes_per_token.unit = "bytes/token"
    track_bytes_per_posting.unit = "bytes/posting"
