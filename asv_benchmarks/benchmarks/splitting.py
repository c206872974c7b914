"""Cutting text into pieces, and counting them."""

from collections import Counter

import regex

import bpe

from ._common import CORPORA, PATH_OF, Comparison, text_of


class Splitting:
    """Cutting and counting a text by every pattern, on one thread.

    ``time_split`` makes the list of pieces, ``time_count`` no piece at all.
    """

    version = "1"
    params = (CORPORA, tuple(bpe.PATTERNS))
    param_names = ("corpus", "pattern")
    number = 1
    repeat = (3, 10, 5.0)
    warmup_time = 0
    timeout = 600

    def setup(self, corpus, pattern):
        self.text, self.pattern = text_of(corpus), bpe.Pattern.of(pattern)
        pieces = self.pattern.split(self.text)  # also loads the compiled code
        counts = bpe.count_words([self.text], self.pattern, threads=1)
        if dict(counts.items()) != Counter(piece.encode() for piece in pieces):
            raise AssertionError(
                f"{corpus}, {pattern}: the pieces that are counted are not those of the text"
            )

    def time_split(self, corpus, pattern):
        self.pattern.split(self.text)

    def time_count(self, corpus, pattern):
        bpe.count_words([self.text], self.pattern, threads=1)


class Counting(Comparison):
    """Cutting a text into pieces and counting them, against ``regex`` and a ``Counter``."""

    params = (CORPORA, ("gpt2", "cl100k"))
    param_names = ("corpus", "pattern")

    def prepare(self, corpus, pattern):
        self.text, self.pattern = text_of(corpus), pattern
        self.expression = regex.compile(bpe.PATTERNS[pattern])

    def ours(self):
        return bpe.count_words([self.text], self.pattern)

    def theirs(self):
        return Counter(match.group() for match in self.expression.finditer(self.text))

    def agree(self, our_result, their_result):
        return dict(our_result.items()) == {piece.encode(): n for piece, n in their_result.items()}


class CountingFiles:
    """Counting the pieces of a whole file, reading included."""

    version = "1"
    params = CORPORA
    param_names = ("corpus",)
    number = 1
    repeat = (2, 5, 5.0)
    warmup_time = 0
    timeout = 600

    def setup(self, corpus):
        bpe.count_words(["warm"])

    def time_count(self, corpus):
        bpe.count_words(PATH_OF[corpus])
