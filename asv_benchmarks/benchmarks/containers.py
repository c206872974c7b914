"""The containers, inside compiled functions and from Python, against what one would use without them."""

import heapq

import numba
import numpy as np

from bpe import count_words
from structures import CountBuckets, IntMap, MaxHeap, PairIndex, TokenList, kernel

from ._common import CORPORA, SIZES, Comparison, text_of, zipfian

QUEUES = {"MaxHeap": MaxHeap, "CountBuckets": CountBuckets}


def distinct_entries(n):
    """Return `n` distinct keys with counts, many of them tied."""
    rng = np.random.default_rng(2)
    return rng.permutation(n) * np.int64(7919), rng.integers(1, n, n)


# ------------------------------------------------------------------------------------- push all, pop all
@kernel
def push_pop(queue, keys, counts):
    """Push everything, pop everything; return it in the order of popping."""
    out_keys, out_counts = np.empty(keys.size, np.int64), np.empty(keys.size, np.int64)
    for i in range(keys.size):
        queue.set(keys[i], counts[i])
    n = 0
    while len(queue) > 0:
        out_keys[n], out_counts[n] = queue.pop()
        n += 1
    return out_keys[:n], out_counts[:n]


@numba.njit(cache=True, nogil=True)
def push_pop_heapq(keys, counts):
    """Do the same with tuples (-count, key) in a ``heapq``, which cannot find a key again."""
    out_keys, out_counts = np.empty(keys.size, np.int64), np.empty(keys.size, np.int64)
    queue = [(np.int64(0), np.int64(0)) for _ in range(0)]
    for i in range(keys.size):
        heapq.heappush(queue, (-counts[i], keys[i]))
    n = 0
    while len(queue) > 0:
        count, out_keys[n] = heapq.heappop(queue)
        out_counts[n] = -count
        n += 1
    return out_keys[:n], out_counts[:n]


class PushPop(Comparison):
    """``MaxHeap`` against numba's ``heapq`` at what a plain heap does best."""

    params = SIZES
    param_names = ("keys",)

    def prepare(self, n):
        self.keys, self.counts = distinct_entries(n)

    def renew(self):
        self.heap = MaxHeap()

    def ours(self):
        return push_pop(self.heap, self.keys, self.counts)

    def theirs(self):
        return push_pop_heapq(self.keys, self.counts)


# ----------------------------------------------------------------------------------------- mixed updates
ADD, SUB, POP = 0, 1, 2


@kernel
def mixed_updates(queue, verbs, keys, amounts):
    """Add, subtract and pop; return what was popped."""
    out_keys, out_counts = np.empty(keys.size, np.int64), np.empty(keys.size, np.int64)
    n = 0
    for i in range(keys.size):
        if verbs[i] == ADD:
            queue.add(keys[i], amounts[i])
        elif verbs[i] == SUB:
            queue.sub(keys[i], min(amounts[i], queue.get(keys[i])))
        elif len(queue) > 0:
            out_keys[n], out_counts[n] = queue.pop()
            n += 1
    return out_keys[:n], out_counts[:n]


@numba.njit(cache=True, nogil=True)
def mixed_updates_heapq(count_of, verbs, keys, amounts):
    """Do the same with a dict of the counts and a ``heapq`` that passes over entries out of date."""
    out_keys, out_counts = np.empty(keys.size, np.int64), np.empty(keys.size, np.int64)
    queue = [(np.int64(0), np.int64(0)) for _ in range(0)]
    n = 0
    for i in range(keys.size):
        key = keys[i]
        if verbs[i] == ADD:
            count = count_of.get(key, 0) + amounts[i]
            count_of[key] = count
            heapq.heappush(queue, (-count, key))
        elif verbs[i] == SUB:
            count = count_of.get(key, 0)
            if count > amounts[i]:
                count_of[key] = count - amounts[i]
                heapq.heappush(queue, (amounts[i] - count, key))
            elif count > 0:
                del count_of[key]
        else:
            while len(queue) > 0:
                count, key = heapq.heappop(queue)
                if count_of.get(key, 0) == -count:
                    del count_of[key]
                    out_keys[n], out_counts[n] = key, -count
                    n += 1
                    break
    return out_keys[:n], out_counts[:n]


def empty_dict():
    return numba.typed.Dict.empty(numba.int64, numba.int64)


class MixedUpdates(Comparison):
    """An addressable queue against ``heapq`` with a dict: 5 additions to 3 subtractions and 2 pops."""

    params = (SIZES, tuple(QUEUES))
    param_names = ("updates", "container")

    def prepare(self, n, container):
        rng = np.random.default_rng(3)
        verbs = rng.choice([ADD, SUB, POP], n, p=[0.5, 0.3, 0.2])
        self.input = verbs, zipfian(n, n // 4), rng.integers(1, 100, n)
        self.new = QUEUES[container]

    def renew(self):
        self.queue, self.dict = self.new(), empty_dict()

    def ours(self):
        return mixed_updates(self.queue, *self.input)

    def theirs(self):
        return mixed_updates_heapq(self.dict, *self.input)


# -------------------------------------------------------------------------------------- a stream of keys
@kernel
def stream(queue, keys):
    """Count keys one by one; return the top as it was at every sixteenth."""
    tops = np.empty(keys.size // 16 + 1, np.int64)
    for i in range(keys.size):
        queue.add(keys[i], 1)
        if i % 16 == 0:
            tops[i // 16] = queue.peek()[0]
    return (tops,)


@numba.njit(cache=True, nogil=True)
def stream_heapq(count_of, keys):
    """Do the same with a dict and a ``heapq``, where counts that only rise leave no stale top."""
    tops = np.empty(keys.size // 16 + 1, np.int64)
    queue = [(np.int64(0), np.int64(0)) for _ in range(0)]
    for i in range(keys.size):
        count = count_of.get(keys[i], 0) + 1
        count_of[keys[i]] = count
        heapq.heappush(queue, (-count, keys[i]))
        if i % 16 == 0:
            tops[i // 16] = queue[0][1]
    return (tops,)


class Stream(Comparison):
    """Counting a stream with its most frequent key at hand: ``CountBuckets``' own field."""

    params = (SIZES, tuple(QUEUES))
    param_names = ("items", "container")

    def prepare(self, n, container):
        self.keys = zipfian(n - n % 16, n)
        self.new = QUEUES[container]

    def renew(self):
        self.queue, self.dict = self.new(), empty_dict()

    def ours(self):
        return stream(self.queue, self.keys)

    def theirs(self):
        return stream_heapq(self.dict, self.keys)

    def agree(self, our_result, their_result):
        return np.array_equal(our_result[0][:-1], their_result[0][:-1])  # the last place is for a remainder


# ---------------------------------------------------------------------------------------------- hash table
@kernel
def count_keys(counts, keys, distinct):
    """Count keys; return the counts of the distinct ones."""
    for i in range(keys.size):
        counts.add(keys[i], 1)
    out = np.empty(distinct.size, np.int64)
    for i in range(distinct.size):
        out[i] = counts.get(distinct[i], 0)
    return (out,)


@numba.njit(cache=True, nogil=True)
def count_keys_dict(counts, keys, distinct):
    """Do the same with numba's typed dict."""
    for i in range(keys.size):
        counts[keys[i]] = counts.get(keys[i], 0) + 1
    out = np.empty(distinct.size, np.int64)
    for i in range(distinct.size):
        out[i] = counts.get(distinct[i], 0)
    return (out,)


class MapAdd(Comparison):
    """``IntMap`` against ``numba.typed.Dict``."""

    params = (SIZES, ("zipfian", "distinct"))
    param_names = ("items", "keys")

    def prepare(self, n, kind):
        self.keys = zipfian(n, n) if kind == "zipfian" else distinct_entries(n)[0]
        self.distinct = np.unique(self.keys)

    def renew(self):
        self.map, self.dict = IntMap(), empty_dict()

    def ours(self):
        return count_keys(self.map, self.keys, self.distinct)

    def theirs(self):
        return count_keys_dict(self.dict, self.keys, self.distinct)


# ------------------------------------------------------------------------------------------- from Python
class UpdateManyFromPython(Comparison):
    """One bulk call, then the hundred greatest, against a dict and ``heapq.nsmallest``."""

    params = SIZES
    param_names = ("items",)

    def prepare(self, n):
        self.keys, self.amounts = zipfian(n, n), np.random.default_rng(4).integers(1, 100, n)
        self.key_list, self.amount_list = self.keys.tolist(), self.amounts.tolist()

    def ours(self):
        heap = MaxHeap()
        add_many = getattr(heap, "add_many", None) or heap.update_many  # what it was called before
        add_many(self.keys, self.amounts)
        return heap.nlargest(100)

    def theirs(self):
        count_of = {}
        for key, amount in zip(self.key_list, self.amount_list, strict=True):
            count_of[key] = count_of.get(key, 0) + amount
        top = heapq.nsmallest(100, ((-count, key) for key, count in count_of.items()))
        return [key for _, key in top], [-count for count, _ in top]


class SingleCallsFromPython(Comparison):
    """One call an item from the interpreter: what the containers are not for; ``heapq`` is faster."""

    params = SIZES[:1]
    param_names = ("keys",)

    def prepare(self, n):
        keys, counts = distinct_entries(n)
        self.entries = list(zip(keys.tolist(), counts.tolist(), strict=True))

    def ours(self):
        heap = MaxHeap()
        for key, count in self.entries:
            heap[key] = count
        return [heap.pop() for _ in self.entries]

    def theirs(self):
        heap = []
        for key, count in self.entries:
            heapq.heappush(heap, (-count, key))
        popped = [heapq.heappop(heap) for _ in self.entries]
        return [(key, -count) for count, key in popped]


# ---------------------------------------------------------------------------- token list and pair index
class PairIndexBuild(Comparison):
    """The index over the distinct words of a text, against sorting the pairs with numpy."""

    params = CORPORA
    param_names = ("corpus",)

    def prepare(self, corpus):
        self.tokens, self.offsets, _ = count_words([text_of(corpus)]).to_arrays()
        self.list = TokenList(self.tokens, self.offsets)

    def ours(self):
        return PairIndex.build(self.list)

    def theirs(self):
        """Return packed pairs, where their postings start, and the postings."""
        is_left = np.ones(self.tokens.size, np.bool_)
        is_left[self.offsets[1:] - 1] = False
        (positions,) = np.nonzero(is_left)
        pairs = (self.tokens[positions].astype(np.int64) << 32) | self.tokens[positions + 1]
        order = np.argsort(pairs, kind="stable")
        distinct, starts = np.unique(pairs[order], return_index=True)
        return distinct, np.append(starts, pairs.size), positions[order]

    def agree(self, our_result, their_result):
        return super().agree(our_result.to_arrays()[1:], their_result)

    def time_token_list(self, corpus):
        TokenList(self.tokens, self.offsets)
