import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit, prange

import structures
from structures import KBest
from structures.kernels import k_best_type
from structures.testing import LANGUAGES, KBestMachine, KBestModel, check_program, random_program

TestMachine = KBestMachine.TestCase
DTYPES = [(distance, id) for distance in ("float32", "float64") for id in ("int32", "int64")]
KS = [1, 2, 5, 15, 16, 17, 33, 50, 200]
# Each two of dtype, dtype of ids and flags: each kind is compiled again.
kinds = pytest.mark.parametrize(
    ("dtype", "id_dtype", "flags"),
    [(*dtypes, flags) for dtypes, flags in zip(DTYPES, (False, True, True, False), strict=True)],
)


# -------------------------------------------------------------------------------------------- programs
@kinds
@pytest.mark.parametrize("k", [1, 3, 16, 40])
def test_programs(rng, dtype, id_dtype, flags, k):
    for n_ids, numbers in [
        (6, [0.5, 1.0, 1.5]),  # the same ids again and again, and ties
        (300, [*np.linspace(0, 10, 97), -1.0, np.inf, -np.inf, np.nan]),
        (300, [0.1, 0.1 + 1e-12, 0.2, np.nextafter(0.2, 1)]),  # equal in float32
    ]:
        shape = 3, k, dtype, id_dtype, flags
        language = LANGUAGES[KBest]
        program = random_program(language, rng, 1500, range(3 * n_ids), numbers, 0.3, "float64")
        check_program(language, KBest(*shape), KBestModel(*shape), program)


# ------------------------------------------------------------------------------------ the k best of many
def best(distances, ids, k):
    """Return the k best by (distance, id)."""
    order = np.lexsort((ids, distances), axis=-1)[:, :k]
    return np.take_along_axis(distances, order, axis=1), np.take_along_axis(ids, order, axis=1)


@njit
def push_all(q, distances, ids):
    n = 0
    for row in range(ids.shape[0]):
        for i in range(ids.shape[1]):
            n += q.push(row, distances[row, i], ids[row, i])
    return n


@pytest.mark.parametrize(("dtype", "id_dtype"), DTYPES)
@pytest.mark.parametrize("k", KS)
def test_the_k_best_of_many(rng, k, dtype, id_dtype):
    distances = rng.integers(0, 80, (4, 300)).astype(dtype) / 8
    ids = np.array([rng.permutation(1000)[:300] for _ in range(4)]).astype(id_dtype)
    q, other = KBest(4, k, dtype, id_dtype), KBest(4, k, dtype, id_dtype)
    n = push_all(q, distances, ids)
    q._check()
    assert 4 * min(k, 300) <= n <= 1200
    for got, expected in zip(q.to_arrays(), best(distances, ids, k), strict=True):
        assert got.dtype == expected.dtype
        assert np.array_equal(got, expected)
    order = rng.permutation(300)
    push_all(other, distances[:, order], ids[:, order])
    assert other == q  # whatever the order of the pushes
    assert q.worst(0) == q.row(0)[0][-1]


@given(st.lists(st.integers(0, 6), max_size=40), st.integers(1, 20), st.randoms())
def test_the_order_of_pushes_does_not_matter(distances, k, random):
    """Whatever ties there are."""
    entries = [(0, distance / 2, id) for id, distance in enumerate(distances)]
    one, other = KBest(1, k), KBest(1, k)
    for entry in entries:
        one.push(*entry)
    random.shuffle(entries)
    for entry in entries:
        other.push(*entry)
    assert one == other


def test_rows_of_a_full_width_and_their_neighbors():
    """What a row loses does not go to the next one."""
    for k in (15, 16, 17):
        q = KBest(3, k, flags=True)
        for id in range(100):
            q.push(1, 100 - id, id, flag=True)
            q._check()
        assert [q.size(row) for row in range(3)] == [0, k, 0]
        assert q.row(1)[1].tolist() == list(range(99, 99 - k, -1))


# -------------------------------------------------------------------------------------------- one by one
def test_pushes():
    q = KBest(2, 3)
    assert [q.push(0, 0.5, 7), q.push(0, 0.5, 7), q.push(0, 0.25, 7)] == [True, False, False]
    assert [q.push(0, 0.5, 3), q.push(0, 0.25, 9), q.worst(0)] == [True, True, 0.5]
    assert [q.push(0, 0.5, 8), q.push(0, 0.5, 6)] == [False, True]  # ties by id
    assert [array.tolist() for array in q.row(0)] == [[0.25, 0.5, 0.5], [9, 3, 6]]
    assert (q.size(0), q.size(1), q.worst(1), len(q), bool(q)) == (3, 0, np.inf, 2, True)
    assert [q.push_unchecked(1, 0.5, 7), q.push_unchecked(1, 0.5, 7), q.push_unchecked(1, 0.25, 7)] == [
        True
    ] * 3
    assert q.row(1)[1].tolist() == [7, 7, 7]
    assert type(q.push(0, 0.75, 1)) is type(q.push_unchecked(1, 9, 1)) is bool
    assert type(q.worst(0)) is float
    q._check()


def test_infinite_distances():
    q = KBest(1, 2)
    assert [q.push(0, np.inf, id) for id in (7, 5, 6, 9)] == [True, True, True, False]
    assert [array.tolist() for array in q.row(0)] == [[np.inf, np.inf], [5, 6]]
    assert q.push(0, -np.inf, 1)
    assert q.row(0)[0].tolist() == [-np.inf, np.inf]
    q._check()


def test_distances_are_rounded_before_they_are_compared():
    q = KBest(1, 1)
    assert q.push(0, 0.1, 5)
    assert not q.push(0, np.nextafter(0.1, 0), 6)
    assert q.push(0, np.nextafter(0.1, 1), 4)
    assert q.row(0)[0][0] == np.float32(0.1)
    assert q.push(0, -1e300, 9)
    assert q.worst(0) == -np.inf


@pytest.mark.parametrize(("id_dtype", "greatest"), [("int32", 2**31 - 1), ("int64", 2**63 - 1)])
def test_ids_at_the_ends(id_dtype, greatest):
    q = KBest(1, 2, id_dtype=id_dtype)
    assert q.push(0, 1.0, greatest)
    assert q.push(0, 1.0, 0)
    assert q.row(0)[1].tolist() == [0, greatest]
    for id in (-1, greatest + 1, -(2**40)):
        for push in (q.push, q.push_unchecked):
            with pytest.raises((ValueError, OverflowError), match=r"id must be 0 or more|does not fit"):
                push(0, 0.5, id)

    @njit
    def push_inside(q, distance, id):
        return q.push(0, distance, id), q.push_unchecked(0, distance, id)

    assert push_inside(q, 0.5, -1) == push_inside(q, np.nan, 5) == (False, False)
    if id_dtype == "int32":
        assert push_inside(q, 0.5, 2**32 + 5) == push_inside(q, 0.5, 2**31) == (False, False)
    assert push_inside(q, 0.5, np.int8(5)) == (True, False) or q.size(0) == 2
    q._check()


def test_flags():
    q = KBest(2, 3, flags=True)
    assert q.push(0, 0.5, 7, flag=True)
    assert q.push(0, 0.25, 8)
    assert q.push_unchecked(0, 0.75, 9, flag=True)
    assert q.push_many([0, 1], [0.125, 0.5], [1, 1], flag=True) == 2
    _, ids, flags = q.row(0)
    assert (ids.tolist(), flags.tolist(), flags.dtype) == ([1, 8, 7], [True, False, True], np.bool_)
    assert [array.shape for array in q.to_arrays()] == [(2, 3)] * 3
    assert q.to_arrays()[2].tolist() == [[True, False, True], [True, False, False]]

    @njit
    def mark_as_old(q):
        """Return how many were new, as NN-descent does."""
        n = 0
        for row in range(q.n_rows):
            for place in range(q.size(row)):
                n += q.flag(row, place)
                q.set_flag(row, place, False)
        return n

    assert (mark_as_old(q), mark_as_old(q)) == (3, 0)
    q._check()
    plain = KBest(1, 2)
    plain.push(0, 0.5, 1)
    assert mark_as_old(plain) == 0
    with pytest.raises(ValueError, match="flags=True"):
        plain.push(0, 0.5, 1, flag=True)
    with pytest.raises(ValueError, match="flags=True"):
        plain.push_many([0], [0.5], [1], flag=True)
    assert (q.has_flags, plain.has_flags, len(plain.row(0)), len(plain.to_arrays())) == (True, False, 2, 2)


def test_merge():
    one, other = KBest(2, 3, flags=True), KBest(2, 5, "float64", flags=True)
    one.push_many([0, 0, 1], [0.5, 1.5, 0.5], [7, 8, 9])
    other.push_many([0, 0, 0, 0], [0.25, 0.5, 2.5, 1.5], [1, 7, 3, 2], flag=True)
    assert one.merge(other) == 2
    assert [array.tolist() for array in one.row(0)] == [[0.25, 0.5, 1.5], [1, 7, 2], [True, False, True]]
    before = one.copy()
    assert one.merge(one) == 0
    assert one == before
    with pytest.raises(ValueError, match="1 rows cannot be merged into 2"):
        one.merge(KBest(1, 3))
    with pytest.raises(TypeError, match="int64"):
        one.merge(KBest(2, 3, id_dtype=np.int64))
    with pytest.raises(TypeError, match="KBest, not list"):
        one.merge([])
    one._check()


# ------------------------------------------------------------------------------------------- bad input
def test_bad_shapes():
    for shape, error in [
        ((-1, 3), ValueError),
        ((3, 0), ValueError),
        ((3, -1), ValueError),
        ((3.0, 1), TypeError),
        ((3, "1"), TypeError),
        ((2**47, 2**47), MemoryError),
        ((2**42, 1), MemoryError),
        ((3, 1, np.int64), TypeError),
        ((3, 1, np.float16), TypeError),
        ((3, 1, np.float32, np.uint32), TypeError),
        ((3, 1, np.float32, np.int16), TypeError),
    ]:
        with pytest.raises(error):
            KBest(*shape)
    assert (KBest(2, 3, float, int).dtype, KBest(2, 3, float, int).id_dtype) == (np.float64, np.int64)


def test_no_rows():
    q = KBest(0, 3)
    assert (len(q), bool(q), q.nbytes, q.push_many([], [], [])) == (0, False, 0, 0)
    assert [array.shape for array in q.to_arrays()] == [(0, 3)] * 2
    assert q == pickle.loads(pickle.dumps(q)) == q.copy() == KBest(0, 3)
    assert [array.shape for array in KBest(0, 3, flags=True).to_arrays()] == [(0, 3)] * 3
    q.clear()
    q._check()


def test_bad_pushes_change_nothing():
    q = KBest(2, 3)
    q.push(0, 0.5, 7)
    before = q.copy()
    for arguments, error in [
        ((2, 0.5, 1), IndexError),
        ((-1, 0.5, 1), IndexError),
        ((0.0, 0.5, 1), TypeError),
        ((0, "1", 1), TypeError),
        ((0, np.nan, 1), ValueError),
        ((0, 0.5, 1.0), TypeError),
        ((0, 0.5, 2**64), OverflowError),
    ]:
        for push in (q.push, q.push_unchecked):
            with pytest.raises(error):
                push(*arguments)
        with pytest.raises((error, TypeError)):
            q.push_many(*([good, bad] for good, bad in zip((0, 0.25, 3), arguments, strict=True)))
    for row in (-1, 2):
        for verb in (q.worst, q.size, q.row):
            with pytest.raises(IndexError, match="out of range for 2 rows"):
                verb(row)
    with pytest.raises(ValueError, match="2 rows, 1 distances and 1 ids"):
        q.push_many([0, 1], [0.5], [1])
    with pytest.raises(IndexError, match=r"rows\[1\] is 5"):
        q.push_many([0, 5], [0.5, 0.5], [1, 2])
    with pytest.raises(ValueError, match="nan at index 1"):
        q.push_many([0, 1], [0.5, np.nan], [1, 2])
    with pytest.raises(ValueError, match="2147483648 at index 0"):
        q.push_many([0, 1], [0.5, 0.5], [2**31, 2])
    assert q == before


@pytest.mark.parametrize(
    ("distances", "ids", "flags", "error"),
    [
        ([[1.0, 2.0]], [[1]], None, ValueError),
        ([1.0], [1], None, ValueError),
        ([[]], [[]], None, ValueError),
        ([[1.0]], [[1]], [[True, False]], ValueError),
        ([[np.nan]], [[1]], None, ValueError),
        ([[1.0]], [[-2]], None, ValueError),
        ([[1.0]], [[1.5]], None, TypeError),
        ([["a"]], [[1]], None, TypeError),
        ([[1.0]], [[2**63]], None, OverflowError),
    ],
)
def test_bad_arrays(distances, ids, flags, error):
    with pytest.raises(error):
        KBest.from_arrays(distances, ids, flags)


# --------------------------------------------------------------------------------- arrays, copies, pickles
@kinds
@pytest.mark.parametrize("k", [1, 15, 16, 17])
def test_round_trips(rng, dtype, id_dtype, flags, k):
    q = KBest(5, k, dtype, id_dtype, flags)
    n = 5 * k
    q.push_many(rng.integers(0, 4, n), rng.random(n), rng.integers(0, 99, n), flags)
    q.push_unchecked(0, 0.0, 3)
    q.push_unchecked(0, 0.5, 3)
    ways = [copy.copy, copy.deepcopy, KBest.copy, lambda q: KBest.from_arrays(*q.to_arrays())]
    ways += [lambda q, n=n: pickle.loads(pickle.dumps(q, n)) for n in range(2, pickle.HIGHEST_PROTOCOL + 1)]
    for way in ways:
        other = way(q)
        other._check()
        assert other == q
        assert (other.dtype, other.id_dtype, other.has_flags) == (np.dtype(dtype), np.dtype(id_dtype), flags)
        assert (other.n_rows, other.k, other.nbytes) == (5, k, q.nbytes)
        other.push(1, -1.0, 99)
        assert other != q
        other.clear()
        other._check()
        assert other == KBest(5, k, dtype, id_dtype, flags)
    assert q._numba_type_ == k_best_type(dtype, id_dtype)


def test_from_arrays_sorts():
    q = KBest.from_arrays([[3, 1, 2], [0, 9, 1]], [[7, 8, 9], [-1, 5, -1]], [[1, 0, 0], [1, 0, 0]])
    assert [array.tolist() for array in q.row(0)] == [[1.0, 2.0, 3.0], [8, 9, 7], [False, False, True]]
    assert [array.tolist() for array in q.row(1)] == [[9.0], [5], [False]]
    assert (q.dtype, q.id_dtype) == (np.float64, np.int64)
    q._check()


def test_equal_entries_keep_their_flags():
    q = KBest(1, 3, flags=True)
    for flag in (True, False, False):
        q.push_unchecked(0, 0.5, 7, flag)
    assert KBest.from_arrays(*q.to_arrays()).to_arrays()[2].tolist() == q.to_arrays()[2].tolist()


def test_equality():
    q = KBest(2, 3)
    assert q == KBest(2, 3) == KBest(2, 3, "float64", "int64")
    assert q != KBest(2, 4)
    assert q != KBest(3, 3)
    assert q != KBest(2, 3, flags=True)
    assert q != 5
    with pytest.raises(TypeError, match="unhashable"):
        hash(q)
    assert repr(q) == "<KBest of 2 rows of 3>"


class MyRows(KBest):
    pass


def test_subclasses():
    q = MyRows(2, 3, flags=True)
    q.label = "mine"
    q.push(0, 0.5, 7)
    for other in (q, q.copy(), copy.deepcopy(q), pickle.loads(pickle.dumps(q))):
        assert (type(other), other.label, other) == (MyRows, "mine", q)
    assert type(MyRows.from_arrays(*q.to_arrays())) is MyRows


@kinds
def test_memory_and_its_alignment(dtype, id_dtype, flags):
    q = KBest(10, 17, dtype, id_dtype, flags)
    n_bytes = np.dtype(dtype).itemsize + np.dtype(id_dtype).itemsize + flags
    assert q.nbytes == 10 * 32 * n_bytes

    @njit
    def places(q):
        return q.distances.ctypes.data, q.ids.ctypes.data

    for address in (*places(q), *places(q.copy())):
        assert address % 64 == 0


# -------------------------------------------------------------------------------------------- inside njit
def test_made_inside_njit():
    @njit
    def make(n):
        return KBest(n, 3), KBest(n, 2, np.float64, np.int64, True), KBest(n, k=1, id_dtype=np.int64)

    for q, (dtype, id_dtype, flags) in zip(
        make(4),
        [("float32", "int32", False), ("float64", "int64", True), ("float32", "int64", False)],
        strict=True,
    ):
        assert (q.n_rows, q.dtype, q.id_dtype, q.has_flags) == (4, dtype, id_dtype, flags)
        q.push(3, 0.5, 7)
        q._check()


def test_verbs_inside_njit():
    @njit
    def use(q):
        came = q.push(0, 0.5, 7), q.push(0, np.float32(0.25), np.int32(8)), q.push(row=0, distance=1, id=7)
        n = q.push_many(np.array([1, 1]), np.array([0.5, 0.25]), np.array([1, 2], np.int32))
        first, second = q.entry(0, 0), q.entry(0, 1)
        q.sort(0)
        _, ids = q.row(1)
        worst = q.worst(0), q.worst(1)
        other = q.copy()
        q.clear()
        sizes = len(q), q.n_rows, q.k, q.size(0), q.merge(other), q.nbytes
        return came, n, first, second, ids, worst, sizes

    q = KBest(2, 2)
    came, n, first, second, ids, worst, sizes = use(q)
    assert (came, n, first, second) == ((True, True, False), 2, (0.25, 8), (0.5, 7))
    assert (ids.tolist(), worst, sizes) == ([2, 1], (0.5, 0.5), (2, 2, 2, 0, 4, q.nbytes))
    q._check()


def test_a_float_for_an_integer_is_a_typing_error():
    @njit
    def wrong(q):
        return q.push(0, 0.5, 7.0)

    with pytest.raises(Exception, match="id is float64, but must be an integer"):
        wrong(KBest(1, 1))


@njit(parallel=True)
def push_in_parallel(q, distances, ids):
    n = 0
    for row in prange(ids.shape[0]):
        for i in range(ids.shape[1]):
            if distances[row, i] <= q.worst(row):
                n += q.push(row, distances[row, i], ids[row, i])
    return n


@pytest.mark.parametrize("flags", [False, True])
def test_threads_of_a_prange_own_rows(rng, flags):
    distances = rng.integers(0, 50, (500, 200)).astype(np.float32)
    ids = np.array([rng.permutation(1000)[:200] for _ in range(500)])
    one, other = KBest(500, 15, flags=flags), KBest(500, 15, flags=flags)
    assert push_in_parallel(one, distances, ids) == push_all(other, distances, ids)
    one._check()
    assert one == other
    assert np.array_equal(one.to_arrays()[1], best(distances, ids, 15)[1])


def test_the_index_of_a_prange_may_be_an_id():
    @njit(parallel=True)
    def offer_each_to_all(n):
        q = KBest(n, 2)
        for i in prange(n):
            for j in range(n):
                q.push(j, abs(i - j), i) if j == i else q.push(i, abs(i - j), j)
        return q

    q = offer_each_to_all(50)
    q._check()
    assert q.to_arrays()[1].tolist() == [[0, 1], *([i, i - 1] for i in range(1, 50))]

    @njit
    def push(q, id):
        return q.push(0, -1.0, id)

    with pytest.raises(OverflowError, match="past int64"):
        push(q, np.uint64(2**64 - 5))


def test_a_container_is_a_field_and_an_element():
    from numba import typed

    queues = typed.List([KBest(1, 2)])
    queues[0].push(0, 0.5, 7)
    assert queues[0].row(0)[1].tolist() == [7]
    assert structures.KBest is KBest
