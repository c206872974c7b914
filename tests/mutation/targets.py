"""What is mutated, and which tests are to notice. When modules move, this table is all there is to update."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple


class Target(NamedTuple):
    """A module and its tests, those that notice the soonest first.

    Attributes
    ----------
    area : str
        Every area has an equal share of the sample.
    module : str
        Path from the root of the project.
    focused : tuple of str
        Tests of the module itself, run for every mutant.
    plain : tuple of str
        Tests that need no compiler, run before: they take seconds.
    others : tuple of str
        More tests for what survives these.
    """

    area: str
    module: str
    focused: tuple[str, ...]
    plain: tuple[str, ...] = ()
    others: tuple[str, ...] = ()

    @property
    def wide(self) -> tuple[str, ...]:
        """The other tests, and the examples in the docstrings of the module.

        The module comes last: pytest would import a second copy of it if its package were not imported yet.
        """
        return (*self.others, self.module) if self.others else (*self.focused, self.module)


class QuickTarget(Target):
    """A module and the quick core: those of its tests that are in it, then all."""

    @property
    def wide(self) -> tuple[str, ...]:
        """The whole quick core."""
        return self.others


def quick_of(target: Target) -> QuickTarget:
    """Return a module with the quick core as its tests."""
    lines = (Path(__file__).parents[1] / "quick.txt").read_text("utf-8").splitlines()
    quick = tuple(line for line in lines if line.startswith("tests/"))
    named = {test.partition("::")[0] for test in (*target.plain, *target.focused, *target.others)}
    near = tuple(test for test in quick if test.partition("::")[0] in named)
    return QuickTarget(target.area, target.module, near, (), quick)


S, B = "tests/structures/", "tests/bpe/"
PLAIN = ("tests/without_jit/test_containers.py",)
PLAIN_ENCODING = ("tests/without_jit/test_encoding.py",)
PLAIN_TRAINING = ("tests/without_jit/test_training.py",)
PLAIN_SCANNING = ("tests/without_jit/test_scanning.py",)
CONTAINERS = (S + "test_contract.py", "tests/examples")
HEAPS = (S + "priority_queues/test_multiset_heap.py", S + "priority_queues/test_first_come.py")
TRAINING = (B + "training/test_learner.py", B + "training/test_resume.py")
TOKENIZER = (B + "test_tokenizer_methods.py", B + "encoding/test_streams.py", B + "test_tokenizer.py")
SPLITTING = (B + "splitting/test_pattern.py", *TOKENIZER)

TARGETS = [
    Target(
        "heaps",
        "structures/priority_queues/multiset_heap_kernels.py",
        HEAPS,
        (*PLAIN, S + "priority_queues/test_multiset_heap.py::test_kernels_against_a_list"),
        CONTAINERS,
    ),
    Target(
        "heaps",
        "structures/priority_queues/multiset_heap_blocks.py",
        HEAPS,
        (*PLAIN, S + "priority_queues/test_multiset_heap.py::test_kernels_against_a_list"),
        CONTAINERS,
    ),
    Target("heaps", "structures/priority_queues/multiset_heap_type.py", HEAPS, PLAIN, CONTAINERS),
    Target(
        "heaps",
        "structures/priority_queues/count_buckets_cells.py",
        (S + "priority_queues/test_count_buckets.py",),
        PLAIN,
        CONTAINERS,
    ),
    Target(
        "heaps",
        "structures/priority_queues/count_buckets_kernels.py",
        (S + "priority_queues/test_count_buckets.py",),
        PLAIN,
        CONTAINERS,
    ),
    Target(
        "heaps",
        "structures/base/queue.py",
        (S + "priority_queues/test_multiset_heap.py", S + "priority_queues/test_count_buckets.py"),
        PLAIN,
        CONTAINERS,
    ),
    Target(
        "maps",
        "structures/hash_tables/int_map_table.py",
        (S + "hash_tables/test_int_map.py",),
        (
            *PLAIN,
            S + "hash_tables/test_int_map.py::test_kernels_against_a_dict",
            S + "hash_tables/test_int_map.py::test_buckets",
        ),
        CONTAINERS,
    ),
    Target(
        "maps",
        "structures/hash_tables/int_map_kernels.py",
        (S + "hash_tables/test_int_map.py",),
        PLAIN,
        CONTAINERS,
    ),
    Target(
        "maps",
        "structures/sorted_maps/sorted_map_layout.py",
        (S + "sorted_maps/test_sorted_map.py",),
        (*PLAIN, S + "sorted_maps/test_sorted_map.py::test_kernels_against_a_list"),
        CONTAINERS,
    ),
    Target(
        "maps",
        "structures/sorted_maps/sorted_map_kernels.py",
        (S + "sorted_maps/test_sorted_map.py",),
        PLAIN,
        CONTAINERS,
    ),
    Target(
        "maps",
        "structures/hash_tables/byte_counter_kernels.py",
        (S + "hash_tables/test_byte_counter.py",),
        (S + "hash_tables/test_byte_counter.py::test_kernels_against_a_dict",),
    ),
    Target(
        "maps",
        "structures/base/mapping.py",
        (S + "hash_tables/test_int_map.py", S + "priority_queues/test_count_buckets.py"),
        PLAIN,
        CONTAINERS,
    ),
    Target(
        "lists",
        "structures/tokens/token_list_kernels.py",
        (S + "tokens/test_token_list.py",),
        (*PLAIN, S + "tokens/test_token_list.py::test_kernels_against_a_list"),
        (S + "tokens/test_pair_index.py", *CONTAINERS),
    ),
    Target(
        "index",
        "structures/tokens/pair_index_kernels.py",
        (S + "tokens/test_pair_index.py",),
        PLAIN,
        CONTAINERS,
    ),
    Target(
        "maps",
        "structures/hash_tables/int_set_kernels.py",
        (S + "hash_tables/test_int_set.py",),
        PLAIN,
        (S + "test_no_leaks.py",),
    ),
    Target(
        "dense",
        "structures/priority_queues/indexed_heap_tree.py",
        (S + "priority_queues/test_indexed_heap.py",),
        PLAIN,
        CONTAINERS,
    ),
    Target(
        "dense",
        "structures/priority_queues/indexed_heap_kernels.py",
        (S + "priority_queues/test_indexed_heap.py",),
        PLAIN,
        CONTAINERS,
    ),
    Target(
        "rows",
        "structures/neighbours/k_best_kernels.py",
        (S + "neighbours/test_k_best.py",),
        PLAIN,
        (S + "test_no_leaks.py",),
    ),
    Target(
        "rows",
        "structures/neighbours/k_best_layout.py",
        (S + "neighbours/test_k_best_layout.py", S + "neighbours/test_k_best.py"),
        PLAIN,
    ),
    Target("merging", "bpe/training/merging.py", TRAINING, PLAIN_TRAINING),
    Target("selection", "bpe/training/selection.py", TRAINING, PLAIN_TRAINING),
    Target("selection", "bpe/training/parity_turns.py", (B + "training/test_parity.py",), PLAIN_TRAINING),
    Target("merging", "bpe/training/state.py", TRAINING, PLAIN_TRAINING),
    *(
        Target("superwords", f"bpe/{module}.py", (B + "superwords/test_superwords.py",))
        for module in (
            "superwords/pair_sketch",
            "superwords/piece_ids",
            "superwords/run_counts",
            "vocabulary/supermerges",
            "superwords/boundless",
            "superwords/superbpe",
        )
    ),
    *(
        Target("superwords", f"bpe/superwords/{module}.py", (B + "superwords/test_counted_runs.py",))
        for module in ("counted_runs", "runs_file")
    ),
    *(
        Target(
            "superwords",
            f"bpe/encoding/{module}.py",
            (B + "encoding/kernels/test_joining.py", B + "superwords/test_superwords.py"),
        )
        for module in ("kernels/joining", "joining_encoders")
    ),
    *(
        Target("vocabularies", f"bpe/{module}.py", (B + "surgery/test_surgery.py",))
        for module in ("surgery/extend", "surgery/prune")
    ),
    *(
        Target("auditing", f"bpe/auditing/{module}.py", (B + "auditing/test_audit.py",))
        for module in ("proofs", "witnesses", "measures", "audit")
    ),
    Target("merging", "bpe/training/start.py", (B + "training/test_limited_alphabets.py",), PLAIN_TRAINING),
    Target(
        "rounds",
        "bpe/encoding/kernels/linked_pieces.py",
        (B + "encoding/test_encoder.py",),
        PLAIN_ENCODING,
        TOKENIZER,
    ),
    Target(
        "rounds",
        "bpe/encoding/kernels/merge_rounds.py",
        (B + "encoding/test_encoder.py",),
        PLAIN_ENCODING,
        TOKENIZER,
    ),
    Target(
        "rounds",
        "bpe/encoding/kernels/merge_rounds.py",
        (B + "encoding/kernels/test_merge_rounds.py",),
        (),
        TOKENIZER,
    ),
    Target(
        "rounds",
        "bpe/encoding/kernels/merge_heap.py",
        (B + "encoding/test_encoder.py", B + "encoding/test_dropout.py"),
        PLAIN_ENCODING,
        (*TOKENIZER, B + "formats/test_formats.py"),
    ),
    Target(
        "rounds",
        "bpe/encoding/kernels/memory.py",
        (B + "encoding/test_encoder.py", B + "encoding/kernels/test_memory.py"),
        (),
        TOKENIZER,
    ),
    Target(
        "rounds",
        "bpe/encoding/kernels/piece_table.py",
        (B + "encoding/kernels/test_piece_table.py",),
        (),
        (B + "encoding/test_encoder.py",),
    ),
    Target("streams", "bpe/encoding/streams.py", (B + "encoding/test_streams.py",), (), TOKENIZER),
    Target(
        "windows",
        "bpe/splitting/compiled/windows.py",
        (B + "splitting/compiled/test_scanner.py", B + "splitting/compiled/test_prefilter.py"),
        PLAIN_SCANNING,
        SPLITTING,
    ),
    Target(
        "windows",
        "bpe/splitting/compiled/cuts.py",
        (B + "splitting/test_pattern.py",),
        (),
        (B + "corpus/test_sources.py", *TOKENIZER),
    ),
    Target(
        "windows",
        "bpe/splitting/compiled/bulk.py",
        (B + "splitting/compiled/test_scanner.py",),
        PLAIN_SCANNING,
        SPLITTING,
    ),
    Target(
        "windows",
        "bpe/splitting/compiled/matching.py",
        (B + "splitting/compiled/test_scanner.py",),
        PLAIN_SCANNING,
        SPLITTING,
    ),
    Target(
        "windows",
        "bpe/splitting/compiled/cutting.py",
        (B + "splitting/compiled/test_scanner.py", B + "splitting/compiled/test_prefilter.py"),
        PLAIN_SCANNING,
        SPLITTING,
    ),
    Target(
        "specials",
        "bpe/splitting/special_search.py",
        (
            B + "splitting/test_special_search.py",
            B + "encoding/test_streams.py",
            B + "counting/test_word_counts.py",
        ),
        (
            B + "splitting/test_specials.py",
            B + "counting/test_word_counts.py::test_wrong_specials",
            B + "counting/test_word_counts.py::test_longest_special_first",
            B + "counting/test_word_counts.py::test_special_tokens_are_found_as_the_slow_search_finds_them",
        ),
        (
            *TOKENIZER,
            B + "corpus/test_sources.py",
            B + "training/test_learner.py",
            B + "splitting/test_pattern.py",
        ),
    ),
    Target(
        "specials",
        "bpe/splitting/specials.py",
        (
            B + "splitting/test_special_search.py",
            B + "encoding/test_streams.py",
            B + "counting/test_word_counts.py",
        ),
        (
            B + "splitting/test_specials.py",
            B + "counting/test_word_counts.py::test_wrong_specials",
            B + "counting/test_word_counts.py::test_longest_special_first",
            B + "counting/test_word_counts.py::test_special_tokens_are_found_as_the_slow_search_finds_them",
        ),
        (
            *TOKENIZER,
            B + "corpus/test_sources.py",
            B + "training/test_learner.py",
            B + "splitting/test_pattern.py",
        ),
    ),
    Target("specials", "bpe/splitting/special_trie.py", (B + "splitting/test_special_search.py",)),
    Target(
        "specials",
        "bpe/splitting/special_automaton.py",
        (B + "splitting/test_special_search.py",),
        ("tests/without_jit/test_special_automaton.py",),
    ),
    *(
        Target(
            "steps",
            f"bpe/pipeline/{name}.py",
            (B + f"pipeline/test_{name}.py", B + "pipeline/test_engine.py"),
        )
        for name in ("decoders", "normalizers", "post_processors", "pre_tokenizers")
    ),
    Target(
        "steps",
        "bpe/pipeline/decoder_steps.py",
        (B + "pipeline/test_decoders.py", B + "pipeline/test_engine.py"),
    ),
    Target(
        "steps",
        "bpe/pipeline/decoders.py",
        (B + "pipeline/test_decoder_streams.py", B + "pipeline/test_engine.py"),
    ),
    *(
        Target(
            "steps",
            f"bpe/pipeline/{name}.py",
            (B + "pipeline/test_normalizers.py",),
            (),
            (B + "pipeline/test_engine.py",),
        )
        for name in ("precompiled", "text_changes", "tracked", "unicode_forms")
    ),
    Target(
        "steps",
        "bpe/pipeline/splits.py",
        (B + "pipeline/test_pre_tokenizers.py",),
        (),
        (B + "pipeline/test_engine.py",),
    ),
    Target(
        "steps",
        "bpe/pipeline/entries.py",
        (B + "pipeline/test_normalizers.py", B + "pipeline/test_pre_tokenizers.py"),
    ),
    Target(
        "steps",
        "bpe/pipeline/added_tokens.py",
        (B + "pipeline/test_added_token_flags.py", B + "pipeline/test_engine.py"),
    ),
    *(
        Target(
            "prepared",
            f"bpe/{name}.py",
            (B + "pipeline/test_engine.py",),
            (),
            (B + "pipeline/test_streams.py",),
        )
        for name in ("encoding/symbols", "pipeline/engine", "pipeline/preparation")
    ),
    Target("prepared", "bpe/pipeline/cuts.py", (B + "pipeline/test_streams.py",)),
    Target(
        "counting",
        "bpe/counting/batching.py",
        (B + "counting/test_word_counts.py",),
        (B + "counting/test_batching.py",),
        (B + "counting/test_clusters.py",),
    ),
    Target(
        "counting",
        "bpe/counting/pieces.py",
        (B + "counting/test_word_counts.py",),
        (),
        (B + "counting/test_clusters.py",),
    ),
]
