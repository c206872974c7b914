"""What is mutated, and which tests are to notice.

Those of ``structures/tokens/pair_index_kernels.py`` are ``tests/structures/tokens/test_pair_index.py``: they
have the name of the module, or one that it begins with. Where there are none, the tables below name them, or
they have the name of the room.
"""

from __future__ import annotations

from itertools import chain
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from tests.conftest import quick_core
from tests.structures.test_kernels_without_jit import TESTS

ROOT = Path(__file__).parents[2]
NO_NAMES = ("--rootdir=.",)
"""Where nothing is named, the quick core is run."""

# Every room has an equal share of the sample.
MODULES = {
    "structures/base": "mapping queue",
    "structures/hash_tables": "int_map_table int_map_kernels int_set_kernels byte_counter_kernels",
    "structures/priority_queues": """
        tournament_layout tournament_kernels heap_kernels multiset_heap_kernels indexed_heap_kernels
        count_buckets_cells count_buckets_kernels""",
    "structures/sorted_maps": "sorted_map_layout sorted_map_kernels",
    "structures/neighbors": "k_best_layout k_best_kernels",
    "structures/deques": "deque_kernels",
    "structures/disjoint_sets": "disjoint_sets_kernels",
    "structures/tokens": "token_list_kernels pair_index_kernels",
    "bpe/splitting": "specials special_search special_trie special_automaton",
    "bpe/splitting/compiled": "windows cuts bulk matching cutting",
    "bpe/vocabulary": "supermerges",
    "bpe/encoding": "streams symbols joining_encoders",
    "bpe/encoding/kernels": "linked_pieces merge_rounds merge_heap memory piece_table joining",
    "bpe/counting": "batching pieces",
    "bpe/pipeline": """
        added_tokens charsmap cuts decoder_steps decoders engine entries normalizers post_processors
        pre_tokenizers preparation splits text_changes tracked""",
    "bpe/training": "start state merging selection parity_selection",
    "bpe/auditing": "audit measures proofs witnesses",
    "bpe/superwords": "superbpe boundless run_counts counted_runs runs_file piece_ids pair_sketch",
    "bpe/surgery": "extend prune",
}
# For modules without tests of their name.
FOCUSED = {
    "structures/base": """
        structures/hash_tables/test_int_map.py structures/priority_queues/test_multiset_heap.py
        structures/priority_queues/test_count_buckets.py""",
    "structures/priority_queues": """
        structures/priority_queues/test_indexed_heap.py structures/priority_queues/test_multiset_heap.py""",
    "bpe/splitting": """
        bpe/splitting/test_special_search.py bpe/encoding/test_streams.py bpe/counting/test_word_counts.py""",
    "bpe/splitting/compiled": """
        bpe/splitting/compiled/test_scanner.py bpe/splitting/compiled/test_prefilter.py""",
    "bpe/vocabulary": "bpe/superwords/test_superwords.py",
    "bpe/encoding": "bpe/pipeline/test_engine.py bpe/superwords/test_superwords.py",
    "bpe/encoding/kernels": "bpe/encoding/test_encoder.py bpe/encoding/test_dropout.py",
    "bpe/counting": "bpe/counting/test_word_counts.py",
    "bpe/pipeline": """
        bpe/pipeline/test_normalizers.py bpe/pipeline/test_pre_tokenizers.py bpe/pipeline/test_decoders.py
        bpe/pipeline/test_engine.py""",
    "bpe/training": """
        bpe/training/test_learner.py bpe/training/test_resume.py bpe/training/test_limited_alphabets.py""",
    "bpe/auditing": "bpe/auditing/test_audit.py",
    "bpe/superwords": "bpe/superwords/test_superwords.py bpe/superwords/test_counted_runs.py",
}
# These need no compiler, and are run first: they take seconds.
PLAIN = {
    "structures": "without_jit/test_containers.py",
    "bpe/splitting": "bpe/splitting/test_specials.py without_jit/test_special_automaton.py",
    "bpe/splitting/compiled": "without_jit/test_scanning.py",
    "bpe/encoding/kernels": "without_jit/test_encoding.py",
    "bpe/counting": "bpe/counting/test_batching.py",
    "bpe/training": "without_jit/test_training.py",
}
# For what survives, in a room and the rooms in it.
OTHERS = {
    "structures": """
        structures/base/test_checks.py structures/test_contract.py structures/test_no_leaks.py examples""",
    "structures/priority_queues": "structures/priority_queues/test_first_come.py",
    "bpe/splitting": """
        bpe/splitting/test_pattern.py bpe/encoding/test_streams.py bpe/test_tokenizer.py
        bpe/counting/test_word_counts.py bpe/corpus/test_sources.py""",
    "bpe/encoding": """
        bpe/encoding/test_encoder.py bpe/test_tokenizer_methods.py bpe/encoding/test_streams.py
        bpe/test_tokenizer.py bpe/superwords/test_superwords.py""",
    "bpe/encoding/kernels": "bpe/encoding/test_dropout.py bpe/formats/test_formats.py",
    "bpe/counting": "bpe/counting/test_word_counts.py bpe/counting/test_clusters.py",
    "bpe/pipeline": "bpe/pipeline/test_engine.py bpe/pipeline/test_streams.py",
}


class Target(NamedTuple):
    """A module and its tests, those that notice the soonest first.

    Attributes
    ----------
    room : str
        Every room has an equal share of the sample.
    module : str
        Path from the root of the project.
    focused : tuple of str
        Tests of the module itself, run for every mutant.
    plain : tuple of str
        Tests that need no compiler, run before.
    wide : tuple of str
        Run for what survives these: the other tests, and the examples in the docstrings of the module. It
        comes last: pytest would import a second copy of it if its package were not imported yet.
    """

    room: str
    module: str
    focused: tuple[str, ...]
    plain: tuple[str, ...]
    wide: tuple[str, ...]


def target_of(room: str, name: str) -> Target:
    """Return a module with its tests."""
    parts = name.split("_")
    names = ["_".join(parts[:n]) for n in range(len(parts), 0, -1)]
    focused = [test for each in names if (ROOT / (test := f"tests/{room}/test_{each}.py")).exists()]
    focused = focused or in_tests(FOCUSED.get(room, f"{room}/test_{PurePosixPath(room).name}.py"))
    plain = in_tests(PLAIN.get(room) or PLAIN.get(room.partition("/")[0], ""))
    listed = [f"tests/structures/{test}" for test in TESTS]
    plain += [test for test in listed if test.startswith(tuple(focused))]
    around = [str(folder) for folder in (PurePosixPath(room), *PurePosixPath(room).parents)]
    others = [*chain.from_iterable(in_tests(OTHERS.get(folder, "")) for folder in around)]
    module = f"{room}/{name}.py"
    return Target(room, module, tuple(focused), tuple(plain), (*(others or focused), module))


def in_tests(names: str) -> list[str]:
    return [f"tests/{name}" for name in names.split()]


def quick_of(target: Target) -> Target:
    """Return a module with the quick core as its tests: those of its own that are in it, then all."""
    paths, left_out = quick_core()
    named = {test.partition("::")[0] for test in (*target.plain, *target.focused, *target.wide)}
    near = [path for path in paths if path.partition("::")[0] in named]
    far = [f"--deselect={test}" for test in sorted(left_out) if test.partition("::")[0] in near]
    return target._replace(focused=(*near, *far) if near else (), plain=(), wide=NO_NAMES)


TARGETS = [target_of(room, name) for room, names in MODULES.items() for name in names.split()]
