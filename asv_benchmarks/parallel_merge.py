"""Does the merge loop gain by threads? Two of them, on a corpus of many distinct words.

    python asv_benchmarks/parallel_merge.py [N_WORDS] [N_MERGES]

What threads could share is the walk over the postings of one pair: those of the first half of the words to
one thread, the others to the other; then one of them brings queue and index up to date. Starting threads
has its price, so that only pairs with many postings are shared, and how many is tried out. The words are
made up, some syllables each, their counts by Zipf's law. Both ways must learn the same merges.
"""

import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from bpe.training.merging import FOUND_COLUMNS, join_all, merge_pair, update_pairs
from bpe.training.state import LENGTH, TOKEN_ROWS, State, count_pairs, runs_of
from structures import MaxHeap, PairIndex, TokenList, kernel, unpack_pair

N_SYLLABLES, LONGEST = 4096, 5  # 12 bits a syllable: a word is one number


def made_up_words(n_words):
    """Return data, offsets and counts of distinct words."""
    generator = np.random.default_rng(1)
    letters = np.frombuffer(b"etaoinshrdlcumwfgypbvkjxqz", np.uint8)
    lengths = generator.integers(1, 5, N_SYLLABLES)
    lengths[0] = 0  # none: words are of different lengths
    starts = np.concatenate(([0], np.cumsum(lengths)))
    syllables = letters[np.minimum(generator.geometric(0.12, starts[-1]) - 1, 25)]
    by_zipf = 1 / np.arange(1, N_SYLLABLES)
    words = np.empty(0, np.int64)
    while words.size < n_words:
        parts = 1 + generator.choice(N_SYLLABLES - 1, (n_words, LONGEST), p=by_zipf / by_zipf.sum())
        parts[np.arange(LONGEST) >= generator.integers(2, LONGEST + 1, n_words)[:, None]] = 0
        words = np.union1d(words, parts @ (1 << 12 * np.arange(LONGEST)))
    words = generator.permutation(words)[:n_words]
    parts = words[:, None] >> 12 * np.arange(LONGEST) & 0xFFF
    sizes = lengths[parts]
    ends = np.cumsum(sizes.ravel())
    within = np.arange(ends[-1]) - np.repeat(ends - sizes.ravel(), sizes.ravel())
    data = syllables[np.repeat(starts[parts.ravel()], sizes.ravel()) + within]
    offsets = np.concatenate(([0], np.cumsum(sizes.sum(1))))
    return data, offsets, 1 + 10 * n_words // np.arange(1, n_words + 1)


@kernel(quiet=True)
def cut(tokens, index, start, end):
    """Return where to cut postings in two halves, between two words."""
    middle = (start + end) // 2
    while middle < end and tokens.segment_at(index.posting(middle)) == tokens.segment_at(
        index.posting(middle - 1)
    ):
        middle += 1
    return middle


@kernel(quiet=True)
def close_gap(found, gap, start, n):
    """Move the `n` rows at `start` up to `gap`."""
    for i in range(n):
        for column in range(found.shape[1]):
            found[gap + i, column] = found[start + i, column]


class Training:
    def __init__(self, words, n_merges):
        data, offsets, weight_of = words
        self.tokens = TokenList(data, offsets)
        self.index = PairIndex.build(self.tokens)
        self.queue = MaxHeap()
        count_pairs(data, offsets, weight_of, np.arange(256), np.zeros(1 << 16, np.int64), self.queue)
        of_token = np.zeros((TOKEN_ROWS, 256 + n_merges), np.int64)
        of_token[LENGTH] = 1
        log, numbers = np.empty((0, 4), np.int64), np.array([1, 2**30, 0])
        self.state = State(
            self.tokens, self.index, self.queue, runs_of(offsets, weight_of), of_token, log, numbers
        )


def span(index, left, right):
    return index._kernels.span(index, left, right)


def walk(training, pool, merge, start, end):
    """Join all occurrences of a pair, with a pool in two threads; return what was found, and `adjacent`."""
    state = training.state
    found = np.empty((end - start, FOUND_COLUMNS), np.int64)
    if pool is None:
        n, adjacent = join_all(state, merge, start, end, found)
        return found[:n], adjacent
    middle = cut(training.tokens, training.index, start, end)
    other = pool.submit(join_all, state, merge, middle, end, found[middle - start :])
    n, adjacent = join_all(state, merge, start, middle, found[: middle - start])
    n_other, adjacent_other = other.result()
    close_gap(found, n, middle - start, n_other)
    return found[: n + n_other], adjacent + adjacent_other


def learn(words, n_merges, pool, threshold):
    """Learn; return the merges, and seconds: of the walks over `threshold` postings and more, of all."""
    training = Training(words, n_merges)
    merges, walks = [], []
    began = time.perf_counter()
    for new_token in range(256, 256 + n_merges):
        if not len(training.queue):
            break
        pair, count = training.queue.peek()
        merge = *unpack_pair(pair), new_token
        start, end = span(training.index, *merge[:2])
        if end - start < threshold:
            merge_pair(training.state, *merge)
        else:
            walk_began = time.perf_counter()
            joined = walk(training, pool, merge, start, end)
            walks.append(time.perf_counter() - walk_began)
            update_pairs(training.state, merge, *joined)
        merges.append((*merge[:2], count))
    return merges, walks, time.perf_counter() - began


def main(n_words, n_merges):
    for threshold in (0, 10**9):  # compiles
        learn(made_up_words(1000), 100, ThreadPoolExecutor(1), threshold)
    words = made_up_words(n_words)
    print(f"{n_words} words of {words[1][-1] / n_words:.1f} bytes, {n_merges} merges; best of three, seconds")
    print("| postings to share | merges | walk, 1 thread | walk, 2 threads | all, 1 | all, 2 |")
    print("|---|---|---|---|---|---|")
    expected = None
    for threshold in (100_000, 10_000, 1_000):
        row = {}
        for pool in (None, ThreadPoolExecutor(1)) * 3:
            merges, walks, seconds = learn(words, n_merges, pool, threshold)
            best = row.get(pool is None, (np.inf, np.inf))
            row[pool is None] = min(best[0], sum(walks)), min(best[1], seconds)
            expected = expected or merges
            if merges != expected:
                sys.exit("threads learned other merges")
        columns = threshold, len(walks), *(f"{row[one][i]:.2f}" for i in (0, 1) for one in (True, False))
        print(f"| {' | '.join(map(str, columns))} |", flush=True)


if __name__ == "__main__":
    arguments = [int(argument) for argument in sys.argv[1:]]
    main(*arguments, *(5_000_000, 31_744)[len(arguments) :])
