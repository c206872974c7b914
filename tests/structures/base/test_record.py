"""Records: made in Python and in compiled code, of any types, cached; the same with the JIT switched off."""

import pickle
import textwrap

import numpy as np
import pytest
from numba import njit, types
from numba.core.errors import TypingError

import structures as st
from structures import kernels
from structures.kernels import Record, int_map_type


class Table(Record, words=types.int64[::1], counts=int_map_type, n=types.int64):
    pass


class Sizes(Record, n_keys=types.int64, nbytes=types.int64[::1]):
    pass


@njit
def sizes(n):
    made = Sizes(n, np.arange(n))
    return made.n_keys + made.nbytes.sum(), made


def test_fields_named_as_properties():
    """Of an owned record, which numba reads by other code than a borrowed one."""
    total, made = sizes(4)
    assert total == 4 + 6
    assert njit(lambda made: made.nbytes)(made).tolist() == [0, 1, 2, 3]


class Pair(Record, table=Table.type(), other=None, scale=types.float64):
    pass


@njit
def read(table, i):
    table.n += 1
    table.counts.add(i)
    return table.words[i] + table.n


@njit
def made_inside(words, n):
    counts = st.IntMap()
    return Table(words, n=n, counts=counts)


def test_made_in_python():
    words, counts = np.arange(5), st.IntMap()
    for table in (Table(words, counts, 7), Table(n=7, words=words, counts=counts)):
        assert isinstance(table, Table)
        assert [read(table, 3), read(table, 4)] == [11, 13]
    assert dict(counts.items()) == {3: 2, 4: 2}


def test_made_in_compiled_code():
    table = made_inside(np.arange(5), 7)
    assert isinstance(table, Table)
    assert read(table, 2) == 10


@pytest.mark.parametrize("kind", ["none", "int", "float", "map", "array"])
def test_a_field_of_any_type(kind):
    other = {"none": None, "int": 5, "float": 2.5, "array": np.arange(3)}.get(kind)
    other = st.IntMap({1: 2}) if kind == "map" else other

    @njit
    def other_of(pair):
        return pair.other

    @njit
    def pair_of(table, other):
        return Pair(table, scale=0.5, other=other)

    table = made_inside(np.arange(5), 7)
    for pair in (Pair(table, other, 0.5), pair_of(table, other)):
        assert np.array_equal(other_of(pair), other)
        assert pair._numba_type_ == Pair.type(other=pair._numba_type_.field_dict["other"])


def test_mistakes():
    with pytest.raises(TypeError, match="missing a required argument: 'n'"):
        Table(np.arange(5), st.IntMap())
    with pytest.raises(TypingError, match=r"words of a Table is array\(float64, .* must be array\(int64"):
        Table(np.arange(5.0), st.IntMap(), 1)
    with pytest.raises(TypingError, match="n of a Table is none, but must be int64"):
        njit(lambda words: Table(words, st.IntMap(), None))(np.arange(5))
    with pytest.raises(TypingError):
        njit(lambda words: Table(words))(np.arange(5))


@pytest.mark.parametrize(
    ("made", "container"),
    [
        (kernels.deque_type("float32"), lambda: st.Deque(dtype="float32")),
        (kernels.disjoint_sets_type, lambda: st.DisjointSets(3)),
        (kernels.indexed_heap_type(False, "float32"), lambda: st.IndexedMinHeap(5, dtype="float32")),
        (kernels.indexed_heap_type(True), lambda: st.IndexedMaxHeap(5)),
        (kernels.int_set_type, st.IntSet),
        (kernels.plain_heap_type("int32"), lambda: st.Heap(dtype="int32")),
    ],
    ids=lambda each: getattr(each, "name", ""),
)
def test_types_for_fields_are_those_of_containers(made, container):
    assert made == container()._numba_type_


def test_types_are_pickled_by_name():
    for record_type in (Table.type(), Pair.type(other=types.int64)):
        assert pickle.loads(pickle.dumps(record_type)) is record_type
    assert Table.type() != Pair.type(other=types.int64)


USER = """
    import numpy as np
    import structures as st
    from numba import types
    from structures.kernels import Record, int_map_type

    class Table(Record, words=types.int64[::1], counts=int_map_type, n=types.int64):
        pass

    @st.kernel
    def doubled(table):
        other = Table(table.words, table.counts, 2 * table.n)
        return other.n + len(other.counts)

    table = Table(np.arange(5), st.IntMap({1: 2}), 20)
"""
RUN = """
    from user import Table, doubled, table
    print(doubled(table), *(sum(each.stats.cache_hits.values()) for each in (Table._make, doubled)))
"""


def test_cached_and_without_the_jit(python, tmp_path):
    (tmp_path / "user.py").write_text(textwrap.dedent(USER))
    path = f"{tmp_path}:{st.__path__[0]}/.."
    environment = {"PYTHONPATH": path, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    assert [python(textwrap.dedent(RUN), **environment) for _ in range(2)] == ["41 0 0\n", "41 1 1\n"]
    code = "from user import doubled, table; print(doubled(table))"
    assert python(code, NUMBA_DISABLE_JIT="1", **environment) == "41\n"
