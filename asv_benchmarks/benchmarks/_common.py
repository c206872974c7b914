"""Sizes, corpora, and the form of a comparison."""

import gc
import os
from abc import ABC, abstractmethod
from contextlib import nullcontext
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter

import numpy as np

import bpe


def everything_compiled():
    """Return the context in which compiled code does what plain Python does at first, of any commit."""
    if hasattr(bpe, "everything_compiled"):
        return bpe.everything_compiled()
    if find_spec("bpe.plain_splitting"):  # where it was before
        return import_module("bpe.plain_splitting").everything_compiled()
    if find_spec("bpe.scanning"):  # before that, no plain Python did it
        return nullcontext()
    raise ImportError("bpe.everything_compiled is missing: plain Python would be measured in its place")


compiled = everything_compiled()
compiled.__enter__()  # for as long as the process lives

SMALL = os.environ.get("BENCHMARK_SMALL") == "1"
SIZES = (60,) if SMALL else (10_000, 200_000)
ROUNDS = 1 if SMALL else 7
TINY = {"low": 5, "lower": 2, "newest": 6, "widest": 3}  # words that load the compiled code
TEXT_BYTES = 20_000 if SMALL else 4_000_000  # of a corpus, where the text is in memory

_BUNDLED = Path(__file__).parents[2] / "tests" / "data" / "treasure_island.txt"
_FOLDER = os.environ.get("BPE_CORPORA")
PATH_OF = {"treasure_island": _BUNDLED} | {
    path.stem: path
    for name in ("gutenberg.txt", "code.txt", "multilingual.txt", "fra.txt")
    if _FOLDER and (path := Path(_FOLDER, name)).exists()
}
CORPORA = tuple(PATH_OF)


def vocab_size_of(corpus):
    """Return a vocabulary size that suits the size of a corpus."""
    if SMALL:
        return 300
    return 5_000 if corpus == "treasure_island" else 32_000


def text_of(corpus):
    """Return a corpus, or as much of its beginning as fits into ``TEXT_BYTES``."""
    with PATH_OF[corpus].open("rb") as file:
        return file.read(TEXT_BYTES).decode("utf-8", "ignore")


def zipfian(n_items, n_keys):
    """Return `n_items` keys, few of them often and many rarely, scattered over int64."""
    ranks = np.random.default_rng(1).zipf(1.2, n_items) % n_keys
    return ranks * np.int64(0x9E3779B97F4A7C1 % 2**50)


def best_time(function):
    """Return the time of one call, in seconds, without pauses of the garbage collector."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        start = perf_counter()
        function()
        return perf_counter() - start
    finally:
        if was_enabled:
            gc.enable()


# asv compares results of one version, by default a digest of a benchmark's code. It is written down in each,
# so that results go on when code moves; a benchmark whose work changes gets another one.
class Comparison(ABC):
    """The same work done by us and by a competitor, each from scratch every time.

    No figure comes out where the results differ: then the setup fails.

    * ``time_ours``: our seconds
    * ``track_ratio``: our time divided by the competitor's, the best of some rounds; below 1, we are faster
    """

    version = "1"
    number = 1
    repeat = (3, 20, 5.0)
    warmup_time = 0  # the setup has run everything
    timeout = 600

    @abstractmethod
    def prepare(self, *params):
        """Make the input."""

    def renew(self):  # noqa: B027  # most have nothing to renew
        """Make new containers, where the work changes them; not timed."""

    @abstractmethod
    def ours(self):
        """Do the work with this library; return the result."""

    @abstractmethod
    def theirs(self):
        """Do the work with the competitor; return the result."""

    def agree(self, our_result, their_result):
        """Say whether the results, by default tuples of arrays, are the same."""
        return len(our_result) == len(their_result) and all(map(np.array_equal, our_result, their_result))

    def setup(self, *params):
        self.prepare(*params)
        self.renew()
        if not self.agree(self.ours(), self.theirs()):
            raise AssertionError(f"{type(self).__name__}{params}: the results differ")
        self.renew()

    def time_ours(self, *params):
        self.ours()

    def track_ratio(self, *params):
        our_times, their_times = [], []
        for _ in range(ROUNDS):  # in turn, so that both see the machine in the same moods
            self.renew()
            our_times.append(best_time(self.ours))
            their_times.append(best_time(self.theirs))
        return min(our_times) / min(their_times)

    track_ratio.unit = "ratio"
