"""Constants: a kernel for each value, cached on disk, the same without the compiler."""

import os
import pickle
from pathlib import Path

import numpy as np
import pytest
from numba.core.errors import TypingError

from structures import kernel
from structures.kernels import pointer_to
from structures.primitives.byte_lanes import byte_lanes_in_products
from structures.primitives.constants import Constant, ConstantType, _py_part_or, part_or


@kernel
def lanes(data, products):
    return byte_lanes_in_products(pointer_to(data, 0), 0, products, 1)


@kernel
def second(data, parts, otherwise):
    return byte_lanes_in_products(pointer_to(data, 0), 0, part_or(parts, 1, otherwise), 1)


@kernel
def part_of_number(n):
    return part_or(n, 0, 1)


DATA = np.arange(64).astype(np.uint8)


def test_each_value_has_code_of_its_own():
    before = len(lanes.signatures)
    fifth_bit, sixth_bit = -0x0000FFFF00010000, -0x0000000100000000
    # Bits that no other test has: another may run first.
    assert [lanes(DATA, Constant(((bit,),))) for bit in (16, 32, 16)] == [fifth_bit, sixth_bit, fifth_bit]
    assert len(lanes.signatures) == before + 2


def test_parts():
    one, other = ((1,),), ((2,),)
    both = Constant((one, other))
    assert second(DATA, both, None) == lanes(DATA, Constant(other))
    assert second(DATA, None, Constant(one)) == lanes(DATA, Constant(one))
    assert _py_part_or(both, 1, None).value == other
    assert _py_part_or(None, 1, 7) == 7


def test_only_constants_have_parts():
    with pytest.raises(TypingError, match="a part must be of a constant"):
        part_of_number(3)


def test_types_are_equal_by_value_also_after_pickling():
    one, same, other = (ConstantType(value) for value in (((1, None),), ((1, None),), ((1, 2),)))
    assert one == same == pickle.loads(pickle.dumps(one))
    assert one != other
    assert pickle.loads(pickle.dumps(one)).value == ((1, None),)


PROGRAM = """
import numpy as np
from structures.primitives.byte_lanes import byte_lanes_in_products
from structures.primitives.constants import Constant
from lanes_of import lanes
print(int(lanes(np.arange(64).astype(np.uint8), Constant(((4,),)))), sum(lanes.stats.cache_hits.values()))
"""
MODULE = """
from structures import kernel
from structures.primitives.byte_lanes import byte_lanes_in_products
from structures.kernels import pointer_to

@kernel
def lanes(data, products):
    return byte_lanes_in_products(pointer_to(data, 0), 0, products, 1)
"""


def test_the_code_of_a_constant_is_cached_on_disk(python, tmp_path):
    (tmp_path / "lanes_of.py").write_text(MODULE)
    path = f"{tmp_path}{os.pathsep}{Path(__file__).parents[3]}"
    expected = sum(1 << lane for lane in range(64) if lane & 4) - 2**64
    found = [python(PROGRAM, PYTHONPATH=path, NUMBA_CACHE_DIR=str(tmp_path / "cache")) for _ in range(2)]
    assert found == [f"{expected} 0\n", f"{expected} 1\n"]
