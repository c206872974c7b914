"""For your own containers and kernels: what ours are made of.

A *kernel* is a function that numba compiles. There are four kinds:

* :func:`kernel`: may raise; for functions that return new arrays or containers
* :func:`quiet`: never raises; returns a number, a tuple of numbers or a status (:mod:`~structures.status`).
  Compiled callers call it without a branch for exceptions and without counting references
* :func:`inner`: a quiet kernel that only compiled code calls; it takes half the time to compile
* :func:`inlined`: a quiet kernel that becomes a part of each compiled caller

All of them compile at the first call and keep the result on disk, under a key that changes with every change
of their package and of this one.

A container has three layers, in this order:

1. Kernels on plain arrays: the algorithm. With the JIT switched off they are Python, easy to test.
2. The numba type, a :class:`StructType` with the fields of :func:`fields_of`, and its methods: kernels that
   take a container first, registered with :func:`method`. ``c.add(1)`` inside ``@njit`` calls them.
3. The class in Python, a :class:`Facade`: checks arguments, calls the same kernels, raises exceptions.
   :func:`bind` connects it with the type; :func:`named_by_package` names it for pickles.
   :func:`constructor` and :func:`class_method` let compiled code make one.

A field may be one of our containers; its type is ``int_map_type``, ``map_type(dtype)``,
``heap_type(greatest_first, dtype, ties)`` and so on. A struct without methods and checks, only to
pass fields to kernels together, is a :class:`Record`.

A container is *owned* or *borrowed*. Python and plain kernels own the containers and arrays that they use:
references are counted. Quiet kernels borrow: they get a bare pointer, and what they read from its fields
is borrowed too, for as long as the call takes. This leads to rules.

Rules
-----
1. What was read from an array field is not used after the field is assigned: the old array may be gone.
2. A borrowed array or container is never stored and never returned; a copy may be.
3. A quiet kernel that allocates an array stores it in a field. What returns an array is a plain kernel.
4. Memory may run out. An inner kernel that allocates ends with ``return True``; a quiet caller sees null
   instead and returns :data:`status.NO_MEMORY`. It allocates before it changes anything. What callers ask
   room for is compared with :data:`MOST_ITEMS` before it is multiplied.
5. Kernels check no arguments; the class in Python checks all of them.
6. Numbers are int64 or float64, and narrower only in arrays. Unsigned and signed integers do not meet in
   one expression.

The page "A container of your own" of the documentation shows a complete one.
"""

from structures import status
from structures.base.container import Facade, named_by_package
from structures.base.in_njit import class_method, constructor, must_be_integer, must_be_integers
from structures.base.record import Record
from structures.base.struct_type import StructType, bind, fields_of, method, new, new_like
from structures.compiling.jit import entry_for, inlined, inner, kernel, quiet
from structures.deques.deque_kernels import deque_type
from structures.disjoint_sets.disjoint_sets_kernels import disjoint_sets_type
from structures.hash_tables.byte_counter_kernels import byte_counter_type
from structures.hash_tables.int_map_kernels import int_map_type, map_type
from structures.hash_tables.int_set_kernels import int_set_type
from structures.neighbors.k_best_kernels import k_best_type
from structures.primitives.byte_lanes import (
    BYTE_LANES,
    byte_lanes_in_products,
    byte_lanes_with,
    count_lanes,
    translate_byte_lanes,
)
from structures.primitives.constants import Constant, part_or
from structures.primitives.hashing import mix_words
from structures.primitives.memory import MOST_ITEMS, copy_prefix, new_words
from structures.primitives.simd import (
    SIXTEEN,
    after,
    fill_sixteen,
    highest_lane,
    lanes_with_top,
    larger,
    least_of_sixteen,
    load_word,
    local_bytes,
    local_numbers,
    local_words,
    lowest_lane,
    multiply_fold,
    pointer_to,
    prefetch,
    put_in_sixteen,
    smaller,
    store_word,
)
from structures.priority_queues.count_buckets_kernels import count_buckets_type
from structures.priority_queues.heap_kernels import plain_heap_type
from structures.priority_queues.indexed_heap_kernels import indexed_heap_type
from structures.priority_queues.multiset_heap_kernels import heap_type
from structures.sorted_maps.sorted_map_kernels import sorted_map_type
from structures.status import int64, int64_array
from structures.tokens.pair_index_kernels import pair_index_type
from structures.tokens.token_list_kernels import token_list_type

__all__ = [
    "BYTE_LANES",
    "MOST_ITEMS",
    "SIXTEEN",
    "Constant",
    "Facade",
    "Record",
    "StructType",
    "after",
    "bind",
    "byte_counter_type",
    "byte_lanes_in_products",
    "byte_lanes_with",
    "class_method",
    "constructor",
    "copy_prefix",
    "count_buckets_type",
    "count_lanes",
    "deque_type",
    "disjoint_sets_type",
    "entry_for",
    "fields_of",
    "fill_sixteen",
    "heap_type",
    "highest_lane",
    "indexed_heap_type",
    "inlined",
    "inner",
    "int64",
    "int64_array",
    "int_map_type",
    "int_set_type",
    "k_best_type",
    "kernel",
    "lanes_with_top",
    "larger",
    "least_of_sixteen",
    "load_word",
    "local_bytes",
    "local_numbers",
    "local_words",
    "lowest_lane",
    "map_type",
    "method",
    "mix_words",
    "multiply_fold",
    "must_be_integer",
    "must_be_integers",
    "named_by_package",
    "new",
    "new_like",
    "new_words",
    "pair_index_type",
    "part_or",
    "plain_heap_type",
    "pointer_to",
    "prefetch",
    "put_in_sixteen",
    "quiet",
    "smaller",
    "sorted_map_type",
    "status",
    "store_word",
    "token_list_type",
    "translate_byte_lanes",
]
