"""Under boundscheck compiled code raises what the Python classes raise; elsewhere it is silent."""

import numpy as np
import pytest
from numba import njit

import structures as st

BYTES = np.frombuffer(b"low lower", np.uint8)
ZERO_SIX = np.array([0, 6])
PAIRS = (np.array([1, 2]), np.array([1]))


def heap():
    return st.MinHeap({1: 2.5, 2: 3.5})


def ints():
    return st.MaxHeap({1: 2})


def indexed():
    return st.IndexedMinHeap.from_arrays([1], [2], 4)


def buckets():
    return st.CountBuckets({1: 2})


def int_map():
    return st.IntMap({1: 2})


def sorted_map():
    return st.SortedMap({1.5: 2})


def pairs():
    return st.Heap.heapify([1.0], [2])


def deque():
    return st.Deque.from_array(np.array([1, 2], np.int32))


def sets():
    return st.DisjointSets(3)


def k_best():
    return st.KBest(2, 3)


def tokens():
    return st.TokenList([1, 2, 3])


def index():
    return st.PairIndex(tokens())


def counter():
    return st.ByteCounter([(b"low", 1)])


FEW = [
    (ints, lambda h: h[5]),
    (ints, lambda h: h.sub(1, 3)),
    (int_map, lambda m: m.pop(5)),
]
"""Of one container each kind of check: of the arguments, of the status, and where there is a default."""

ALL = [
    (st.MinHeap, lambda h: h.pop()),
    (st.MinHeap, lambda h: h.peek()),
    (st.MinHeap, lambda h: h.replace(1, 2)),
    (ints, lambda h: h.add(1, 2**63 - 1)),
    (ints, lambda h: h.add_many(np.array([1, 7]), np.array([1, -1]))),
    (ints, lambda h: h.set_many(*PAIRS)),
    (heap, lambda h: h[5]),
    (heap, lambda h: h.set_many(np.array([1]), np.array([np.nan]))),
    (heap, lambda h: h.setdefault(9, np.nan)),
    (indexed, lambda h: h[9]),
    (indexed, lambda h: h[3]),
    (indexed, lambda h: h.add(9, 1)),
    (indexed, lambda h: h.replace(9, 1)),
    (indexed, lambda h: h.improve(9, 1)),
    (indexed, lambda h: h.setdefault(9, 1)),
    (buckets, lambda b: b[5]),
    (st.CountBuckets, lambda b: b.pop_min()),
    (st.CountBuckets, lambda b: b.max_count()),
    (buckets, lambda b: b.floor_count(1)),
    (buckets, lambda b: b.ceiling_count(3)),
    (int_map, lambda m: m[5]),
    (int_map, lambda m: m.add(1, 2**63 - 1)),
    (lambda: st.IntSet([1]), lambda s: s.remove(5)),
    (sorted_map, lambda m: m[5.5]),
    (sorted_map, lambda m: m.pop(5.5)),
    (st.SortedMap, lambda m: m.pop_min()),
    (sorted_map, lambda m: m.floor(0.5)),
    (sorted_map, lambda m: m.lower(1.5)),
    (sorted_map, lambda m: m.ceiling(2.5)),
    (sorted_map, lambda m: m.higher(1.5)),
    (sorted_map, lambda m: m.floor_many(np.array([0.5]))),
    (sorted_map, lambda m: m.select(1)),
    (st.Heap, lambda h: h.pop()),
    (st.Heap, lambda h: h.replace(1, 2)),
    (pairs, lambda h: h.push(np.nan, 2)),
    (pairs, lambda h: h.pushpop(np.nan, 2)),
    (pairs, lambda h: h.push(1.0, 2**63 - 1)),
    (pairs, lambda h: h.remove(5)),
    (pairs, lambda h: h.change(5, 1.0)),
    (st.Deque, lambda d: d.popleft()),
    (deque, lambda d: d[2]),
    (deque, lambda d: d.append(2**31)),
    (deque, lambda d: d.extend(np.array([2**31]))),
    (sets, lambda s: s.find(3)),
    (sets, lambda s: s.union(0, -1)),
    (sets, lambda s: s.union_many(*PAIRS)),
    (sets, lambda s: s.union_many(np.array([0]), np.array([3]))),
    (k_best, lambda b: b.worst(2)),
    (k_best, lambda b: b.push(0, np.nan, 1)),
    (k_best, lambda b: b.push(0, 1.0, 2**31)),
    (tokens, lambda t: t.next(3)),
    (tokens, lambda t: t.merge(0, -1)),
    (tokens, lambda t: t.merge(2, 1)),
    (tokens, lambda t: t.segment(1)),
    (index, lambda i: i.drop(1, 2)),
    (index, lambda i: i.add(1, 2, 3)),
    (index, lambda i: i.add(1, -2, 1)),
    (counter, lambda c: c.word(1)),
]


def raised(function, container):
    with pytest.raises((KeyError, IndexError, ValueError, OverflowError)) as caught:
        function(container)
    return caught.type, str(caught.value)


def shown(row):
    return getattr(row, "__name__", "").replace("<lambda>", "")

if __name__ == "__main__":
    for make, verb in ALL[-11:]:
        a=raised(verb, make())
        try: b=raised(njit(boundscheck=True)(verb), make())
        except BaseException as e: b=e
        ok = not isinstance(b,BaseException) and a[0]==b[0] and (a[1]==b[1] or a[1].startswith(b[1]))
        print("ok " if ok else "NO ", make.__name__, verb.__code__.co_firstlineno, a[0].__name__, a[1], "" if ok else str(b)[:300])
