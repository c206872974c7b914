"""Under boundscheck compiled code raises what the Python classes raise; elsewhere it is silent."""

import sys
import textwrap

import numpy as np
import pytest
from numba import config, njit

import structures as st

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
SAME_MESSAGE = [
    (st.MinHeap, lambda h: h.pop()),
    (st.MinHeap, lambda h: h.peek()),
    (st.MinHeap, lambda h: h.replace(1, 2)),
    (ints, lambda h: h.add(1, 2**63 - 1)),
    (ints, lambda h: h.add_many(np.array([1, 7]), np.array([1, -1]))),
    (heap, lambda h: h[5]),
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
    (sorted_map, lambda m: m.select(1)),
    (st.Heap, lambda h: h.pop()),
    (st.Heap, lambda h: h.replace(1, 2)),
    (pairs, lambda h: h.remove(5)),
    (pairs, lambda h: h.change(5, 1.0)),
    (st.Deque, lambda d: d.popleft()),
    (deque, lambda d: d[2]),
    (deque, lambda d: d.append(2**31)),
    (sets, lambda s: s.find(3)),
    (k_best, lambda b: b.worst(2)),
    (tokens, lambda t: t.next(3)),
    (tokens, lambda t: t.segment(1)),
    (index, lambda i: i.drop(1, 2)),
]
SAME_CLASS = [
    (ints, lambda h: h.set_many(*PAIRS)),
    (heap, lambda h: h.set_many(np.array([1]), np.array([np.nan]))),
    (sorted_map, lambda m: m.floor_many(np.array([0.5]))),
    (sorted_map, lambda m: m.floor(np.nan)),
    (pairs, lambda h: h.push(np.nan, 2)),
    (pairs, lambda h: h.pushpop(np.nan, 2)),
    (pairs, lambda h: h.push(1.0, 2**63 - 1)),
    (deque, lambda d: d.extend(np.array([2**31]))),
    (sets, lambda s: s.union(0, -1)),
    (sets, lambda s: s.union_many(*PAIRS)),
    (sets, lambda s: s.union_many(np.array([0]), np.array([3]))),
    (k_best, lambda b: b.push(0, np.nan, 1)),
    (k_best, lambda b: b.push(0, 1.0, 2**31)),
    (k_best, lambda b: b.push_many(np.array([0]), np.array([1.0]), np.array([1, 2]))),
    (tokens, lambda t: t.merge(0, -1)),
    (tokens, lambda t: t.merge(2, 1)),
    (index, lambda i: i.add(1, 2, 3)),
    (index, lambda i: i.add(1, -2, 1)),
    (counter, lambda c: c.word(1)),
]
"""Their messages in Python have more to say: which item of an array, or what the limits are."""


def raised(function, container):
    with pytest.raises((KeyError, IndexError, ValueError, OverflowError)) as caught:
        function(container)
    return caught.type, str(caught.value)


@pytest.mark.parametrize(("make", "verb"), [pytest.param(*each, id=f"{i}") for i, each in enumerate(FEW)])
def test_what_raises(make, verb):
    assert raised(njit(boundscheck=True)(verb), make()) == raised(verb, make())
    if not config.BOUNDSCHECK:
        njit(verb)(make())


@pytest.mark.parametrize(("make", "verb"), SAME_MESSAGE)
def test_what_else_raises(make, verb):
    kind, message = raised(njit(boundscheck=True)(verb), make())
    in_python = raised(verb, make())
    assert kind is in_python[0]
    assert in_python[1].startswith(message)  # in Python with the size of the container, maybe


@pytest.mark.parametrize(("make", "verb"), SAME_CLASS)
def test_what_raises_with_another_message(make, verb):
    assert raised(njit(boundscheck=True)(verb), make())[0] is raised(verb, make())[0]


# ------------------------------------------------------------------------------------------ what does not
@njit(boundscheck=True)
def silent(m):
    return m.get(5), m.get(5, 7), m.pop(5, 8), m.setdefault(6, 9), 5 in m, m.add(5, 1), m[5], len(m)


@njit(boundscheck=True)
def unknown_word(c, data):
    return c.id_of(data, 0, 2)


def test_what_does_not_raise():
    assert unknown_word(counter(), np.zeros(2, np.uint8)) == -1
    assert silent(int_map()) == (0, 7, 8, 9, False, 0, 1, 3)


@njit(boundscheck=True)
def handled(m, key):
    try:
        return m[key]
    except Exception:
        return -1


@njit(boundscheck=True)
def handled_above(m, key):
    try:
        return read(m, key)
    except Exception:
        return -1


@njit(boundscheck=True)
def read(m, key=5):
    return m[key]


def test_handlers():
    m = int_map()
    assert [handled(m, 1), handled(m, 5), handled_above(m, 1), handled_above(m, 5)] == [2, -1, 2, -1]


def test_where_another_exception_is_handled_or_python_traces():
    """Python 3.11 makes the exception at once there."""
    try:
        {}["missing"]
    except KeyError:
        assert raised(read, int_map()) == (KeyError, "5")
    before = sys.gettrace()
    sys.settrace(lambda *_: None)
    try:
        kind, _ = raised(read, int_map())
    finally:
        sys.settrace(before)
    assert kind is KeyError


@st.kernel(quiet=True)
def status_of(m, key):
    return m.remove(key)


@st.kernel
def remove(m, key):
    return m.remove(key)


@njit
def remove_in_njit(m, key):
    return remove(m, key)


def test_quiet_kernels_read_statuses(python):
    """Under the switch, too, which a plain kernel obeys."""
    code = """
        import pytest
        from tests.structures.base.test_checks import int_map, remove, remove_in_njit, status_of
        assert status_of(int_map(), 5) < 0
        for function in (remove_in_njit, remove):
            with pytest.raises(KeyError, match="5"):
                function(int_map(), 5)
    """
    python(textwrap.dedent(code), NUMBA_BOUNDSCHECK="1")
    assert status_of(int_map(), 5) < 0
    assert config.BOUNDSCHECK or remove(int_map(), 5) < 0


def test_the_jit_switched_off(python):
    code = """
        import pytest
        from tests.structures.base.test_checks import FEW, raised
        for make, verb in FEW:
            raised(verb, make())
    """
    python(textwrap.dedent(code), NUMBA_DISABLE_JIT="1")


def test_an_exception_names_the_line():
    with pytest.raises(ValueError, match="below 0") as caught:
        njit(boundscheck=True)(FEW[1][1])(ints())
    assert caught.traceback[-1].path.name == "test_checks.py"
