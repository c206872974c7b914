"""The floor under the containers, for people who write containers and kernels of their own.

* :func:`kernel`, :func:`quiet`, :func:`inner`: the three kinds of compiled functions
* :class:`StructType`, :func:`fields_of`, :func:`method`, :func:`bind`, :func:`new_like`: container types
* :class:`Facade`: the Python class of a container
* :data:`int_map_type`, :data:`byte_counter_type`: types of fields that are containers
* :func:`pointer_to`, :func:`load_word`, :func:`local_bytes`, :func:`local_words`, :func:`lowest_lane`,
  :func:`byte_lanes_with`, :func:`byte_lanes_in_products`, :func:`translate_byte_lanes`: intrinsics
"""

from structures.byte_counter_kernels import byte_counter_type
from structures.facade import Facade
from structures.int_map_kernels import int_map_type
from structures.jit import inner, kernel, quiet
from structures.simd import (
    BYTE_LANES,
    byte_lanes_in_products,
    byte_lanes_with,
    load_word,
    local_bytes,
    local_words,
    lowest_lane,
    pointer_to,
    translate_byte_lanes,
)
from structures.struct_type import BorrowedType, StructType, bind, fields_of, method, new_like

__all__ = [
    "BYTE_LANES",
    "BorrowedType",
    "Facade",
    "StructType",
    "bind",
    "byte_counter_type",
    "byte_lanes_in_products",
    "byte_lanes_with",
    "fields_of",
    "inner",
    "int_map_type",
    "kernel",
    "load_word",
    "local_bytes",
    "local_words",
    "lowest_lane",
    "method",
    "new_like",
    "pointer_to",
    "quiet",
    "translate_byte_lanes",
]
