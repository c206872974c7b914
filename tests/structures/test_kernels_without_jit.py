"""The kernels on plain arrays are Python: their tests also pass with the JIT switched off."""

from pathlib import Path

HERE = Path(__file__).parent
TESTS = [
    "hash_tables/test_byte_counter.py::test_kernels_against_a_dict",
    "primitives/test_hashing.py::test_pairs_round_trip",
    "primitives/test_hashing.py::test_homes_are_in_the_table",
    "primitives/test_hashing.py::test_mixing_is_a_folded_product_times_a_factor",
    "primitives/test_hashing.py::test_mixing_of_two_words",
    "priority_queues/test_indexed_heap.py::test_kernels_against_a_list",
    "hash_tables/test_int_map.py::test_kernels_against_a_dict",
    "hash_tables/test_int_map.py::test_buckets",
    "primitives/test_lines.py",
    "primitives/test_priorities.py",
    "primitives/test_simd.py",
    "neighbors/test_k_best_layout.py",
    "sorted_maps/test_sorted_map.py::test_kernels_against_a_list",
    "primitives/test_sorting.py",
    "tokens/test_token_list.py::test_kernels_against_a_list",
    "tokens/test_token_list.py::test_a_run_has_a_greatest_length",
]


def test_kernels_without_jit(python):
    arguments = [str(HERE / test) for test in TESTS]
    # Products of hashes overflow, and numpy's scalars say so.
    arguments += ["-q", "-p", "no:cacheprovider", "-W", "ignore:overflow encountered:RuntimeWarning"]
    code = f"import sys, pytest, numba; assert numba.config.DISABLE_JIT; sys.exit(pytest.main({arguments!r}))"
    output = python(code, NUMBA_DISABLE_JIT="1")
    assert " passed" in output
    assert "skipped" not in output
