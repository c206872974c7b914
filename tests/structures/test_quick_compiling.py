"""Compiling in less time: what is remembered of operators, and when Python looks for garbage."""

import gc
import operator

import pytest
from numba import types
from numba.core.registry import cpu_target

from structures import kernel
from structures.compiling.quick_compiling import NEW_OBJECTS, KnownOperators, fewer_collections

CONTEXT = cpu_target.typing_context
CONTEXT.refresh()  # learns what numba has registered


class Counting:
    """A typing context that counts what it is asked."""

    def __init__(self):
        self.n = 0

    def resolve_function_type(self, *call):
        self.n += 1
        return CONTEXT.resolve_function_type(*call)


@pytest.mark.parametrize("operation", [operator.add, operator.truediv, operator.lt, operator.lshift])
@pytest.mark.parametrize("numbers", [(types.int32, types.uint64), (types.int8, types.boolean)])
def test_operators_of_numbers_are_asked_for_once(operation, numbers):
    context = Counting()
    known = KnownOperators(context)
    function = CONTEXT.resolve_value_type(operation)
    signatures = [known.resolve_function_type(function, numbers, {}) for _ in range(3)]
    assert context.n <= 1  # 0: a kernel has the same operator
    assert set(signatures) == {CONTEXT.resolve_function_type(function, numbers, {})}


def test_all_else_is_asked_for_each_time():
    context = Counting()
    known = KnownOperators(context)
    array = types.Array(types.int64, 1, "C")
    for _ in range(2):
        known.resolve_function_type(CONTEXT.resolve_value_type(operator.add), (array, array), {})
        known.resolve_function_type(CONTEXT.resolve_value_type(abs), (types.int64,), {})
    assert context.n == 4


def test_kernels_compute_as_numba_does():
    @kernel
    def all_operators(a, b):
        return a + b, a - b, a * b, a / b, a // b, a % b, a < b, a == b

    for a, b in ((7, 2), (7.5, 2), (True, 3), (-7, 2)):
        expected = all_operators.py_func(a, b)
        assert all_operators(a, b) == expected
        assert [type(each) for each in all_operators(a, b)] == [type(each) for each in expected]


# ------------------------------------------------------------------------------------ fewer collections
@pytest.mark.parametrize(("before", "meanwhile"), [(700, NEW_OBJECTS), (0, 0), (90_000, 90_000)])
def test_fewer_collections(before, meanwhile):
    own = gc.get_threshold()
    gc.set_threshold(before, *own[1:])
    try:
        with fewer_collections(), fewer_collections():
            assert gc.get_threshold()[0] == meanwhile
        assert gc.get_threshold()[0] == before
    finally:
        gc.set_threshold(*own)
