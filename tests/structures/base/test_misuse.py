"""What is written wrongly in compiled code, and the first line of the message: container, verb and remedy."""

import numpy as np
import pytest
from numba import njit
from numba.core.errors import TypingError
from numba.experimental import jitclass

import structures as st

KEYS = np.arange(3)

MISUSES = {
    # keys and numbers of another type
    "IntMap()[1.5]": "IntMap[key]: key is float64, but must be an integer",
    "IntMap()[1, 2]": "IntMap[key]: key is UniTuple(int64 x 2), but must be an integer: pack_pair(left, "
    "right) "
    "makes a key of two ids",
    "IntMap()['a']": "IntMap[key]: key is unicode_type, but must be an integer: number the texts first, as a "
    "ByteCounter does for bytes",
    "IntMap()[None]": "IntMap[key]: key is none, but must be an integer",
    "IntMap()[KEYS]": "IntMap[key]: key is readonly array(int64, 1d, C), but must be an integer: of many "
    "there is "
    "a verb such as add_many, get_many or set_many",
    "IntMap()[0:2]": "IntMap[key]: key is slice<a:b>, but must be an integer: loop over the range, or "
    "take a slice "
    "of the array",
    "Deque()[0:2]": "Deque(int64)[key]: index is slice<a:b>, but must be an integer: loop over the range, "
    "or take "
    "a slice of the array",
    "(1, 2) in IntMap()": "key in IntMap: key is UniTuple(int64 x 2), but must be an integer: "
    "pack_pair(left, "
    "right) makes a key of two ids",
    "IntMap().add(1.5)": "IntMap.add: key is float64, but must be an integer",
    "IntMap().add(1, 0.5)": "IntMap.add: delta is float64, but IntMap holds integers: make it with "
    "dtype=float to "
    "hold floats",
    "SortedMap().floor(1.5)": "SortedMap(int64, key_dtype=int64).floor: key is float64, but must be an "
    "integer: "
    "make it with key_dtype=float for float keys",
    "SortedMap().floor(1, (-1, 0.5))": "SortedMap(int64, key_dtype=int64).floor: default is Tuple(int64, "
    "float64), but its value must be an integer",
    "SortedMap().peek_min((0.5, 1))": "SortedMap(int64, key_dtype=int64).peek_min: default is Tuple(float64, "
    "int64), but its key must be an integer",
    "SortedMap().floor(1, -1)": "SortedMap(int64, key_dtype=int64).floor: default is int64, but must be a "
    "pair (key, value)",
    "SortedMap().irange(1, 2)": "SortedMap(int64, key_dtype=int64) has no irange in compiled code: do you "
    "mean keys?",
    "ByteCounter().add(KEYS, 0, 1)": "ByteCounter.add: data is readonly array(int64, 1d, C), but must be a "
    "C-contiguous array of uint8",
    "KBest(2, 2).push(0, 'a', 1)": "KBest(float32,int32).push: distance is unicode_type, but must be a "
    "number",
    "MinHeap().pop_many(1.5)": "MinHeap(int64).pop_many: k is float64, but must be an integer",
    # arrays
    "IntMap().add_many(KEYS.reshape(3, 1), KEYS)": "IntMap.add_many: keys is readonly array(int64, 2d, "
    "C), but "
    "must be an array with one dimension",
    "IntMap().add_many(KEYS / 2, KEYS)": "IntMap.add_many: keys are float64, but must be an integer",
    "IntMap().get_many(5)": "IntMap.get_many: keys is int64, but must be an array with one dimension",
    "Deque().extend([1])": "Deque(int64).extend: values is list(int64)<iv=None>, but must be an array "
    "with one "
    "dimension",
    "IntSet().update((1, 2))": "IntSet.update: keys is UniTuple(int64 x 2), but must be an array with one "
    "dimension",
    "ByteCounter().add(KEYS[0:2])": "ByteCounter.add takes (data, start, end, n=1): missing a required "
    "argument: "
    "'start'",
    "ByteCounter().add(b'abc', 0, 3)": "ByteCounter.add: data is readonly bytes(uint8, 1d, C), but must "
    "be an "
    "array with one dimension: np.frombuffer(data, np.uint8) makes one of bytes",
    # verbs
    "MinHeap().push(1, 2)": "MinHeap(int64) has no push in compiled code: write container[key] = value",
    "MinHeap().update(KEYS)": "MinHeap(int64) has no update in compiled code: do you mean add_many?",
    "IntMap().contain(1)": "IntMap has no contain in compiled code: do you mean contains?",
    "IntMap().add()": "IntMap.add takes (key, delta=1): missing a required argument: 'key'",
    "IntMap().add(1, 2, 3)": "IntMap.add takes (key, delta=1): too many positional arguments",
    "MinHeap().pop(1)": "MinHeap(int64).pop takes (): too many positional arguments",
    # operators
    "IntSet()[0]": "IntSet[key]: IntSet has no such operator; its methods are add, clear, contains, ",
    "5 in Deque()": "key in Deque(int64): Deque(int64) has no such operator; its methods are "
    "append, appendleft, clear, ",
    "IntMap() | IntMap()": "IntMap | other: IntMap has no such operator; its methods are add, "
    "add_many, assign, ",
    "IntSet() | KEYS": "IntSet | other: other is readonly array(int64, 1d, C), but must be a container "
    "like IntSet",
    "IntMap() == 5": "IntMap == other: other is int64, but must be a container like IntMap",
    "IntMap() == IntMap(float)": "IntMap == other: other must be of the same type, not IntMap(float64)",
    "ByteCounter()[0]": "ByteCounter[key] takes (data, start, end, default=0): missing a required argument: ",
    "[key for key in DisjointSets(3)]": "DisjointSets has no loop over its items, but add, connected, copy, ",
    # other containers, and classes
    "IntMap().update({1: 2})": "IntMap.update: other is DictType[int64,int64]<iv=None>, but must be a "
    "container like "
    "IntMap",
    "IntMap({1: 2})": "IntMap: in compiled code, use an empty IntMap(), or IntMap.from_arrays(keys, values)",
    "IntSet([1, 2])": "IntSet: keys must be an array of integers with one dimension, not ",
    "MinHeap(np.float32)": "MinHeap: dtype must be int64 or float64, not float32",
    "IndexedMinHeap()": "IndexedMinHeap: missing a required argument: 'n'",
    "MinHeap.from_arrays(KEYS)": "MinHeap.from_arrays: missing a required argument: 'priorities'",
    "MinHeap.heapify(KEYS)": "MinHeap.heapify: compiled code has from_arrays, type",
}
NAMES = {"np": np, "KEYS": KEYS, **{name: getattr(st, name) for name in st.__all__ if name[0].isupper()}}


def first_line(function):
    with pytest.raises(TypingError) as caught:
        njit(function)()
    pipeline, first, *_ = str(caught.value).splitlines()
    assert pipeline.startswith("Failed in nopython mode pipeline")
    return first


@pytest.mark.parametrize("misuse", MISUSES)
def test_misuse(misuse):
    message = first_line(eval(f"lambda: {misuse}", dict(NAMES)))
    assert message.startswith(MISUSES[misuse])
    assert message == MISUSES[misuse] or MISUSES[misuse][-1] == " "
    assert not any(riddle in message for riddle in ("borrowed", "@", "<lambda>"))


def test_statements():
    def set_float():
        st.IntMap()[1] = 1.5

    def remove():
        del st.Heap()[0]

    assert first_line(set_float) == (
        "IntMap[key] = value: value is float64, but IntMap holds integers: make it with dtype=float to "
        "hold floats"
    )
    assert first_line(remove).startswith(
        "del Heap(int64)[key]: Heap(int64) has no such operator; its methods are change, "
    )


def test_classes_and_constants():
    with pytest.raises(
        TypingError, match=r"^IntMap is a class, and no type of a field: write IntMap.type\(\)$"
    ):
        jitclass(type("Owner", (), {"__annotations__": {"m": st.IntMap}, "__init__": lambda self: None}))
    with pytest.raises(TypingError, match=r"^IntMap is a class: pass a container, such as IntMap\(\)$"):
        njit(lambda made: made)(st.IntMap)
    heap = st.MinHeap()
    assert "a MinHeap cannot be a constant of compiled code: pass it as an argument" in first_line(
        lambda: heap.peek()
    )


@njit
def all_loops(m):
    return list(m), sorted(m), set(m), list(enumerate(m)), list(zip(m, m)), min(m), max(m)  # noqa: B905


def test_functions_of_iterables():
    for m in (st.MinHeap({3: 1, 2: 5}), st.SortedMap({1.5: 2, 0.5: 3}), st.Deque.from_array([4, 3, 4])):
        assert all_loops(m) == all_loops.py_func(m)
