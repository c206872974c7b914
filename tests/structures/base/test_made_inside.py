"""Containers that compiled code makes: wherever it keeps them, they work, and they are released."""

import textwrap

import numpy as np
import pytest
from numba import njit, prange, types
from numba.core.errors import TypingError
from numba.experimental import jitclass, structref
from numba.typed import Dict, List

import structures as st

TOKENS = np.array([1, 2, 1, 2, 3])
OFFSETS = np.array([0, 2, 5])
WORD = np.frombuffer(b"low", np.uint8)


# Of each container: a function that makes one in compiled code, one that uses it there and returns a number,
# and the type.
def _use_counts(container):
    container.add(7, 2)
    container.add(8, 5)
    container.sub(8)
    return container.pop()[0]


def _use_map(container):
    container.add(7, 2)
    return container[7] + len(container)


def _use_words(container):
    container.add(WORD, 0, 3, 2)
    return container.add(WORD, 0, 3, 2) + len(container)


MAKERS = {
    "max": (lambda: st.MaxHeap(), _use_counts, st.MaxHeap.type()),
    "min of floats": (lambda: st.MinHeap(np.float64), _use_counts, st.MinHeap.type(np.float64)),
    "indexed": (lambda: st.IndexedMaxHeap(9), _use_counts, st.IndexedMaxHeap.type()),
    "indexed by age": (
        lambda: st.IndexedMinHeap(9, np.float32, ties="fifo"),
        _use_counts,
        st.IndexedMinHeap.type(np.float32),
    ),
    "map": (lambda: st.IntMap(), _use_map, st.IntMap.type()),
    "map to floats": (lambda: st.IntMap(dtype=np.float64), _use_map, st.IntMap.type(float)),
    "set": (lambda: st.IntSet(), lambda s: s.add(5) + s.add(5) + len(s) + (5 in s), st.IntSet.type()),
    "sorted": (lambda: st.SortedMap(), _use_map, st.SortedMap.type()),
    "sorted floats": (
        lambda: st.SortedMap(np.float64, key_dtype=np.float64),
        _use_map,
        st.SortedMap.type(float, float),
    ),
    "heap by age": (lambda: st.MinHeap(ties="fifo"), _use_counts, st.MinHeap.type(int, ties="fifo")),
    "floats by age": (
        lambda: st.MaxHeap(dtype=float, ties="fifo"),
        _use_counts,
        st.MaxHeap.type(dtype="float64", ties="fifo"),
    ),
    "buckets": (lambda: st.CountBuckets(), _use_counts, st.CountBuckets.type()),
    "words": (lambda: st.ByteCounter(), _use_words, st.ByteCounter.type()),
    "tokens": (lambda: st.TokenList(TOKENS, OFFSETS), lambda t: t.merge(0, 9) + len(t), st.TokenList.type()),
    "one segment": (lambda: st.TokenList(TOKENS), lambda t: t.merge(0, 9) + len(t), st.TokenList.type()),
    "pairs": (
        lambda: st.PairIndex.build(st.TokenList(TOKENS)),
        lambda p: p.add(1, 2, 0) + p.count(1, 2),
        st.PairIndex.type(),
    ),
    "rows": (lambda: st.KBest(3, 2), lambda q: q.push(0, 0.5, 7) + q.size(0), st.KBest.type()),
    "rows with flags": (
        lambda: st.KBest(3, 2, np.float64, np.int64, True),
        lambda q: q.push(0, 0.5, 7, 1) + q.flag(0, 0),
        st.KBest.type(np.float64, np.int64),
    ),
    "pairs by priority": (
        lambda: st.Heap(np.int32),
        lambda h: h.push(5, 7) + h.push(3, 9) + h.pop()[1],
        st.Heap.type(np.int32),
    ),
    "ring": (lambda: st.Deque(), lambda d: d.append(5) + d.appendleft(6) + d[0] + d.pop(), st.Deque.type()),
    "disjoint sets": (
        lambda: st.DisjointSets(5),
        lambda s: s.union(0, 1) + s.add() + s.n_sets,
        st.DisjointSets.type(),
    ),
    "no pairs": (lambda: st.PairIndex(st.TokenList(TOKENS)), lambda p: p.add(1, 2, 0), st.PairIndex.type()),
}


@structref.register
class HolderType(types.StructRef):
    def preprocess_fields(self, fields):
        return tuple((name, types.unliteral(typ)) for name, typ in fields)


class Holder(structref.StructRefProxy):
    pass


structref.define_boxing(HolderType, Holder)


def makers(*names):
    """Some classes for each way to hold a container, which sees a reference; each class is held somewhere."""
    return pytest.mark.parametrize("maker", names, indirect=True, scope="module")


@pytest.fixture(params=MAKERS, scope="module")
def maker(request):
    """Compiled functions that make and use a container, its type, and the number that its use gives."""
    make, use, container_type = MAKERS[request.param]
    make, use = njit(make), njit(use)
    return make, use, container_type, use(make())


def test_local_and_returned(maker):
    make, use, container_type, number = maker
    assert njit(lambda: use(make()))() == number
    assert make()._numba_type_ == container_type
    made = make()
    made._check()
    assert use(made) == number
    assert njit(lambda container: container.nbytes)(made) == made.nbytes > 0


@makers("max", "set", "tokens", "pairs", "rows")
def test_in_typed_containers_and_tuples(maker):
    make, use, container_type, number = maker

    @njit
    def in_each():
        listed = List.empty_list(container_type)
        listed.append(make())
        named = Dict.empty(types.int64, container_type)
        named[3] = make()
        pair = (make(), 5)
        return use(listed[0]), use(named[3]), use(pair[0]), (listed, named, pair)

    *numbers, (listed, named, pair) = in_each()
    assert numbers == [number] * 3
    for container in (listed[0], named[3], pair[0]):
        container._check()


@makers("indexed", "map", "sorted", "buckets", "words")
def test_as_a_field(maker):
    make, use, container_type, number = maker
    holder_type = HolderType([("held", container_type), ("n", types.int64)])

    @njit
    def in_a_struct():
        holder = structref.new(holder_type)
        holder.held = make()
        holder.held = make()  # the first is released
        return use(holder.held)

    @jitclass([("held", container_type)])
    class InAClass:
        def __init__(self):
            self.held = make()

        def use(self):
            return use(self.held)

    assert in_a_struct() == InAClass().use() == number


@makers("max", "map", "words", "pairs")
def test_one_for_each_iteration_of_prange(maker):
    make, use, _, number = maker

    @njit(parallel=True)
    def in_parallel(n):
        numbers = np.zeros(n, np.int64)
        for i in prange(n):
            numbers[i] = use(make())
        return numbers

    assert in_parallel(200).tolist() == [number] * 200


def test_the_type_is_named_in_compiled_code():
    @njit
    def named():
        listed = List.empty_list(st.MinHeap.type(np.float64))
        listed.append(st.MinHeap(np.float64))
        listed[0].add(3, 0.5)
        other = List.empty_list(st.IntMap.type())
        other.append(st.IntMap())
        rows = List.empty_list(st.KBest.type(np.float64))
        rows.append(st.KBest(3, 2, np.float64))
        return listed[0].peek(), len(other), len(rows)

    assert named() == ((3, 0.5), 1, 1)
    assert st.MinHeap(float)._numba_type_ == st.MinHeap.type(float) != st.MinHeap.type()


def test_the_first_argument_may_be_the_dtype():
    for dtype in (float, np.float64, np.dtype("float64")):
        assert st.MinHeap(dtype).dtype == st.MinHeap(dtype=dtype).dtype == np.float64
    assert st.MinHeap(int).dtype == np.int64


def test_names_of_types_are_short_and_tell_types_apart():
    container_types = {container_type for *_, container_type in MAKERS.values()}
    names = {str(each) for each in container_types}
    assert len(names) == len(container_types)
    assert all(len(name) < 50 for name in names)
    assert str(st.MaxHeap.type()).startswith("MaxHeap(int64)@")


MISTAKES = {
    "st.MinHeap(np.float32)": "dtype must be int64 or float64, not float32",
    "st.MinHeap('word')": "dtype must be int64 or float64, not word",
    "st.MaxHeap({1: 2})": r"use an empty MaxHeap\(\), or MaxHeap.from_arrays\(keys, priorities\)",
    "st.IntMap(TOKENS)": r"use an empty IntMap\(\), or IntMap.from_arrays\(keys, values\)",
    "st.SortedMap(TOKENS)": r"use an empty SortedMap\(\), or SortedMap.from_arrays\(keys, values\)",
    "st.CountBuckets({1: 2})": r"an empty CountBuckets\(\), or CountBuckets.from_arrays\(keys, counts\)",
    "st.ByteCounter({b'a': 1})": r"or ByteCounter.from_arrays\(data, offsets, counts\)",
    "st.IntSet(TOKENS / 2)": r"keys must be an array of integers .* not array\(float64",
    "st.MinHeap.from_arrays(5, TOKENS)": "keys must be an array of numbers with one dimension, not 5",
    "st.MinHeap.from_arrays(TOKENS / 2, TOKENS)": "keys are float64, but must be an integer",
    "st.MinHeap.from_arrays(TOKENS.astype(np.uint64), TOKENS)": r"pass keys.astype\(np.int64\)",
    "st.MinHeap.from_arrays(TOKENS, TOKENS, 'age')": 'ties must be "key" or "fifo"',
    "st.IntMap.from_arrays(TOKENS, TOKENS / 2)": "values are float64, but IntMap holds integers",
    "st.CountBuckets.from_arrays(TOKENS, TOKENS / 2)": "counts are float64, but CountBuckets holds integers",
    "st.IndexedMinHeap.from_arrays(TOKENS, TOKENS > 1)": "priorities must be an array of numbers",
    "st.IndexedMinHeap(2.5)": "n must be an integer, not float64",
    "st.KBest(2.5, 1)": "n_rows must be an integer, not float64",
    "st.KBest(2, 'word')": "k must be an integer, not word",
    "st.TokenList(5)": "tokens must be an array of integers with one dimension, not 5",
    "st.TokenList([1, 2])": r"tokens must be an array .* not list\(int64\)",
    "st.TokenList(TOKENS / 2)": r"tokens must be an array .* not array\(float64",
    "st.TokenList(TOKENS > 1)": r"tokens must be an array .* not array\(bool",
    "st.TokenList(TOKENS.reshape(5, 1))": r"tokens must be an array .* not readonly array\(int64, 2d",
    "st.TokenList(TOKENS, 2)": "segment_offsets must be an array of integers with one dimension, not 2",
    "st.TokenList(TOKENS, OFFSETS / 2)": r"segment_offsets must be an array .* not array\(float64",
    "st.PairIndex(TOKENS)": r"tokens must be a TokenList, not readonly array\(int64",
    "st.PairIndex.build(5)": "tokens must be a TokenList, not 5",
    "st.PairIndex.build(st.IntMap())": "tokens must be a TokenList, not IntMap",
}


# The calls that make a container of arrays: keys, numbers, the same as floats.
OF_ARRAYS = {
    "max": lambda k, n, x: st.MaxHeap.from_arrays(k, n),
    "min of floats, by age": lambda k, n, x: st.MinHeap.from_arrays(k, x, ties="fifo"),
    "indexed": lambda k, n, x: st.IndexedMinHeap.from_arrays(k, n),
    "indexed, with room": lambda k, n, x: st.IndexedMaxHeap.from_arrays(k, x, 99, "fifo"),
    "buckets": lambda k, n, x: st.CountBuckets.from_arrays(k, n),
    "map": lambda k, n, x: st.IntMap.from_arrays(k, n),
    "map to floats": lambda k, n, x: st.IntMap.from_arrays(k, x, np.float64),
    "sorted": lambda k, n, x: st.SortedMap.from_arrays(k, n),
    "sorted floats": lambda k, n, x: st.SortedMap.from_arrays(x, x),
    "set": lambda k, n, x: st.IntSet(k),
    "set of an array": lambda k, n, x: st.IntSet.from_array(k),
    "words": lambda k, n, x: st.ByteCounter.from_arrays(WORD, OFFSETS[:2], n[:1]),
}


@pytest.mark.parametrize("name", OF_ARRAYS)
def test_made_of_arrays(name):
    make = OF_ARRAYS[name]
    compiled = njit(make)
    for n in (40, 0) if name != "words" else (40,):
        keys, counts = np.arange(n)[::-1] * 2, np.arange(n) % 7
        made = compiled(keys, counts, counts / 2)
        made._check()
        assert made == make(keys, counts, counts / 2)
        assert made._numba_type_ == make(keys, counts, counts / 2)._numba_type_


def test_arrays_that_make_no_container_are_refused():
    make = njit(lambda keys, counts: len(st.MaxHeap.from_arrays(keys, counts)))
    assert make(np.array([3, 1]), np.array([0.5, 2.5])) == 2
    with pytest.raises(ValueError, match="a key is a duplicate"):
        make(np.array([3, 3]), np.array([0.5, 2.5]))
    with pytest.raises(ValueError, match="a priority is not a number"):
        make(np.array([3, 1]), np.array([0.5, np.nan]))
    with pytest.raises(ValueError, match="differ in length"):
        make(np.array([3, 1]), np.array([0.5]))
    dense = njit(lambda keys, counts: len(st.IndexedMaxHeap.from_arrays(keys, counts, 3)))
    with pytest.raises(IndexError, match="a key is out of range"):
        dense(np.array([1, 3]), np.array([1, 2]))


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes(mistake):
    with pytest.raises(TypingError, match=MISTAKES[mistake]):
        njit(eval(f"lambda: {mistake}"))()


@njit
def _rows(n_rows, k):
    return st.KBest(n_rows, k).n_rows


@pytest.mark.parametrize("integer", [np.int64, np.int8, np.uint64])
def test_rows_that_cannot_be_are_refused(integer):
    assert (_rows(integer(3), integer(1)), _rows(integer(0), integer(127))) == (3, 0)
    with pytest.raises(ValueError, match=r"k must be in \[1, 2\*\*48\)"):
        _rows(integer(3), integer(0))
    if integer is not np.uint64:
        with pytest.raises(ValueError, match=r"k must be in \[1, 2\*\*48\)"):
            _rows(integer(3), integer(-1))
        with pytest.raises(ValueError, match=r"n_rows must be in \[0, 2\*\*48\)"):
            _rows(integer(-1), integer(1))
    if integer is not np.int8:
        for n_rows, k, expected in [
            (2**48, 1, ValueError),
            (2**63 - 1, 1, ValueError),
            (1, 2**48, ValueError),
            (1, 2**63 - 1, ValueError),
            (2**47, 2**47, MemoryError),  # 2**94 entries are none in 64 bits
            (2**40, 16, MemoryError),
        ]:
            with pytest.raises(expected):
                _rows(integer(n_rows), integer(k))
            with pytest.raises(expected):
                st.KBest(n_rows, k)
    if integer is np.uint64:
        with pytest.raises(ValueError, match="n_rows must be"):
            _rows(integer(2**64 - 1), integer(1))


def test_rows_whose_shape_is_written_in_the_call_are_refused():
    with pytest.raises(ValueError, match="k must be"):
        njit(lambda: st.KBest(3, 0).n_rows)()
    with pytest.raises(ValueError, match="n_rows must be"):
        njit(lambda: st.KBest(n_rows=-1, k=1).n_rows)()


@njit
def _one_segment(tokens):
    return st.TokenList(tokens)


@njit
def _segments(tokens, offsets):
    return st.TokenList(tokens, offsets)


@pytest.mark.parametrize("dtype", ["int64", "int32", "int8", "uint8", "uint16", "uint32", "uint64"])
def test_tokens_that_cannot_be_are_refused(dtype):
    info, all_there = np.iinfo(dtype), np.array([0, 2])
    for extreme in {int(info.min), int(info.max), min(int(info.max), 2**31 - 1), min(int(info.max), 2**31)}:
        tokens = np.array([5, extreme], dtype)
        if 0 <= extreme < 2**31:
            for made in (_one_segment(tokens), _segments(tokens, all_there)):
                made._check()
                assert sorted(made) == sorted(tokens.tolist())
        else:
            for make in (_one_segment, lambda tokens: _segments(tokens, all_there), st.TokenList):
                with pytest.raises((ValueError, OverflowError), match="tokens"):
                    make(tokens)
    for n in range(3):
        made = _one_segment(np.ones(n, dtype))
        made._check()
        assert made == st.TokenList(np.ones(n, dtype))


def test_tokens_that_are_not_contiguous():
    tokens = np.array([5, 7, 6], np.int32)[::-1]
    made = _one_segment(tokens)
    made._check()
    assert list(made) == [6, 7, 5]


@pytest.mark.parametrize(
    "offsets",
    [
        [],
        [0],
        [5],
        [0, 4],
        [0, 6],
        [1, 5],
        [-1, 5],
        [0, 0, 5],
        [0, 5, 5],
        [0, 3, 2, 5],
        [0, 7, 5],
        [0, -1, 5],
    ],
    ids=repr,
)
@pytest.mark.parametrize("dtype", ["int64", "uint64", "int8"])
def test_offsets_that_cannot_be_are_refused(offsets, dtype):
    offsets = np.array(offsets, np.int64).astype(dtype)
    for make in (_segments, st.TokenList):
        with pytest.raises((ValueError, OverflowError), match="segment_offsets"):
            make(TOKENS, offsets)
    assert _segments(TOKENS, np.array([0, 1, 5], dtype)) == st.TokenList(TOKENS, [0, 1, 5])
    assert len(_segments(TOKENS[:0], np.array([0], dtype))) == 0


def test_a_class_or_a_constant_is_no_container():
    heap = st.MaxHeap()
    with pytest.raises(TypingError, match=r"a MaxHeap cannot be a constant .* pass it as an argument"):
        njit(lambda: len(heap))()
    with pytest.raises(TypingError, match=r"MaxHeap is a class: pass a container, such as MaxHeap"):
        njit(lambda container: len(container))(st.MaxHeap)


# ---------------------------------------------------------------------------------------- leaks and the cache
def test_nothing_leaks(python):
    code = """
        import gc
        import numpy as np
        from numba import njit, prange, types
        from numba.core.runtime import rtsys
        from numba.typed import Dict, List
        import structures as st

        heaps = st.MinHeap.type(float)

        @njit
        def make(n):
            kept = List.empty_list(heaps)
            named = Dict.empty(types.int64, st.IntMap.type())
            for i in range(n):
                heap = st.MinHeap(np.float64)
                heap.add(i, 1.0)
                if i % 3 == 0:
                    continue
                kept.append(heap)
                named[i % 5] = st.IntMap()
                if i > 50:
                    break
            tokens = st.TokenList(np.arange(n))
            index = st.PairIndex.build(tokens)
            counter, buckets = st.ByteCounter(), st.CountBuckets()
            rows, keys, ordered = st.KBest(n, 2), st.IntSet(), st.SortedMap(float)
            rows.push(1, 0.5, 3), keys.add(5), ordered.add(5, 0.5)
            by_age, dense = st.MaxHeap(ties="fifo"), st.IndexedMinHeap(n, np.float32, "fifo")
            by_age.add(5), dense.add(5, 0.5)
            return kept, named, (index, counter), (buckets, rows, keys, ordered, by_age, dense)

        @njit
        def fail(n):
            if n > 3:
                return st.MaxHeap().remove(n)
            return 0

        @njit(parallel=True)
        def many(n):
            total = 0
            for i in prange(n):
                heap = st.MaxHeap()
                heap.add(i, i + 1)
                total += heap.pop()[1]
            return total

        @njit
        def refused(n_rows, k):
            return st.KBest(n_rows, k).n_rows

        @njit
        def of_arrays(keys):
            return len(st.MaxHeap.from_arrays(keys, keys)) + len(st.IntSet(keys))

        def everything():
            make(100), make(10), fail(5), many(100), of_arrays(np.arange(9))
            for n_rows, k in [(-1, 1), (1, 0), (2**45, 1)]:
                try:
                    refused(n_rows, k)
                except (ValueError, MemoryError):
                    continue
                raise AssertionError((n_rows, k))

        everything()
        gc.collect()
        stats = rtsys.get_allocation_stats()
        assert stats.mi_alloc > 300
        assert (stats.alloc, stats.mi_alloc) == (stats.free, stats.mi_free), stats
        for n in (2, 500):
            try:
                of_arrays(np.zeros(n, np.int64))
            except ValueError:
                continue
            raise AssertionError(n)
        stats = rtsys.get_allocation_stats()
        assert stats.mi_alloc - stats.mi_free == 2, stats  # the arguments: numba never releases them
    """
    python(textwrap.dedent(code), NUMBA_NRT_STATS="1")
