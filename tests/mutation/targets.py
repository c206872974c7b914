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
HEAPS = (S + "test_multiset_heap.py", S + "test_first_come.py")
TRAINING = (B + "test_training.py", B + "test_resume.py")
TOKENIZER = (B + "test_tokenizer_methods.py", B + "test_streams.py", B + "test_tokenizer.py")
SPLITTING = (B + "test_pattern.py", *TOKENIZER)

TARGETS = [
    Target(
        "heaps",
        "structures/priority_queues/tournament_layout.py",
        (S + "test_indexed_heap.py",),
        (*PLAIN, S + "test_indexed_heap.py::test_kernels_against_a_list"),
        CONTAINERS,
    ),
    Target(
        "heaps",
        "structures/priority_queues/tournament_kernels.py",
        (S + "test_indexed_heap.py", *HEAPS),
        PLAIN,
        CONTAINERS,
    ),
    Target("heaps", "structures/priority_queues/multiset_heap_kernels.py", HEAPS, PLAIN, CONTAINERS),
    Target(
        "heaps",
        "structures/priority_queues/count_buckets_cells.py",
        (S + "test_count_buckets.py",),
        PLAIN,
        CONTAINERS,
    ),
    Target(
        "heaps",
        "structures/priority_queues/count_buckets_kernels.py",
        (S + "test_count_buckets.py",),
        PLAIN,
        CONTAINERS,
    ),
    Target(
        "heaps",
        "structures/base/queue.py",
        (S + "test_multiset_heap.py", S + "test_count_buckets.py"),
        PLAIN,
        CONTAINERS,
    ),
    Target(
        "maps",
        "structures/hash_tables/int_map_table.py",
        (S + "test_int_map.py",),
        (*PLAIN, S + "test_int_map.py::test_kernels_against_a_dict", S + "test_int_map.py::test_buckets"),
        CONTAINERS,
    ),
    Target("maps", "structures/hash_tables/int_map_kernels.py", (S + "test_int_map.py",), PLAIN, CONTAINERS),
    Target(
        "maps",
        "structures/sorted_maps/sorted_map_layout.py",
        (S + "test_sorted_map.py",),
        (*PLAIN, S + "test_sorted_map.py::test_kernels_against_a_list"),
        CONTAINERS,
    ),
    Target(
        "maps", "structures/sorted_maps/sorted_map_kernels.py", (S + "test_sorted_map.py",), PLAIN, CONTAINERS
    ),
    Target(
        "maps",
        "structures/hash_tables/byte_counter_kernels.py",
        (S + "test_byte_counter.py",),
        (S + "test_byte_counter.py::test_kernels_against_a_dict",),
    ),
    Target(
        "maps",
        "structures/base/mapping.py",
        (S + "test_int_map.py", S + "test_count_buckets.py"),
        PLAIN,
        CONTAINERS,
    ),
    Target(
        "lists",
        "structures/tokens/token_list_kernels.py",
        (S + "test_token_list.py",),
        (*PLAIN, S + "test_token_list.py::test_kernels_against_a_list"),
        (S + "test_pair_index.py", *CONTAINERS),
    ),
    Target(
        "index", "structures/tokens/pair_index_kernels.py", (S + "test_pair_index.py",), PLAIN, CONTAINERS
    ),
    Target(
        "maps",
        "structures/hash_tables/int_set_kernels.py",
        (S + "test_int_set.py",),
        PLAIN,
        (S + "test_no_leaks.py",),
    ),
    Target(
        "dense",
        "structures/priority_queues/indexed_heap_kernels.py",
        (S + "test_indexed_heap.py",),
        PLAIN,
        CONTAINERS,
    ),
    Target(
        "rows",
        "structures/neighbours/k_best_kernels.py",
        (S + "test_k_best.py",),
        PLAIN,
        (S + "test_no_leaks.py",),
    ),
    Target(
        "rows",
        "structures/neighbours/k_best_layout.py",
        (S + "test_k_best_layout.py", S + "test_k_best.py"),
        PLAIN,
    ),
    Target("merging", "bpe/training/merging.py", TRAINING, PLAIN_TRAINING),
    Target("selection", "bpe/training/selection.py", TRAINING, PLAIN_TRAINING),
    Target("selection", "bpe/training/selection.py", TRAINING, PLAIN_TRAINING),
    Target("selection", "bpe/training/parity_turns.py", (B + "test_parity.py",), PLAIN_TRAINING),
    Target("merging", "bpe/training/state.py", TRAINING, PLAIN_TRAINING),
    *(
        Target("superwords", f"bpe/{module}.py", (B + "test_superwords.py",))
        for module in (
            "counting/pair_sketch",
            "counting/piece_ids",
            "counting/run_counts",
            "supermerges",
            "training/boundless",
            "training/superbpe",
        )
    ),
    *(
        Target("superwords", f"bpe/counting/{module}.py", (B + "test_run_counts.py",))
        for module in ("counted_runs", "run_edges", "runs_file")
    ),
    *(
        Target("superwords", f"bpe/encoding/{module}.py", (B + "test_joints.py", B + "test_superwords.py"))
        for module in ("joining", "joints", "wide_encoder")
    ),
    *(
        Target("vocabularies", f"bpe/{module}.py", (B + "test_surgery.py",))
        for module in ("surgery/extend", "surgery/prune", "surgery/id_maps", "encoding/uses")
    ),
    *(
        Target("auditing", f"bpe/auditing/{module}.py", (B + "test_audit.py",))
        for module in ("proofs", "witnesses", "measures", "audit")
    ),
    Target("merging", "bpe/training/start.py", (B + "test_limited_alphabets.py",), PLAIN_TRAINING),
    Target(
        "rounds",
        "bpe/encoding/kernels/linked_pieces.py",
        (B + "test_encoding.py",),
        PLAIN_ENCODING,
        TOKENIZER,
    ),
    Target(
        "rounds", "bpe/encoding/kernels/merge_rounds.py", (B + "test_encoding.py",), PLAIN_ENCODING, TOKENIZER
    ),
    Target("rounds", "bpe/encoding/kernels/merge_rounds.py", (B + "test_long_pieces.py",), (), TOKENIZER),
    Target(
        "rounds",
        "bpe/encoding/kernels/merge_heap.py",
        (B + "test_encoding.py", B + "test_dropout.py"),
        PLAIN_ENCODING,
        (*TOKENIZER, B + "test_formats.py"),
    ),
    Target(
        "rounds",
        "bpe/encoding/kernels/memory.py",
        (B + "test_encoding.py", B + "test_encoder_memory.py"),
        (),
        TOKENIZER,
    ),
    Target(
        "rounds",
        "bpe/encoding/kernels/piece_table.py",
        (B + "test_short_pieces.py",),
        (),
        (B + "test_encoding.py",),
    ),
    Target("streams", "bpe/encoding/streams.py", (B + "test_streams.py",), (), TOKENIZER),
    Target(
        "windows", "bpe/splitting/compiled/windows.py", (B + "test_scanning.py",), PLAIN_SCANNING, SPLITTING
    ),
    Target(
        "windows",
        "bpe/splitting/compiled/cuts.py",
        (B + "test_pattern.py",),
        (),
        (B + "test_corpus.py", *TOKENIZER),
    ),
    Target("windows", "bpe/splitting/compiled/bulk.py", (B + "test_scanning.py",), PLAIN_SCANNING, SPLITTING),
    Target(
        "windows", "bpe/splitting/compiled/matching.py", (B + "test_scanning.py",), PLAIN_SCANNING, SPLITTING
    ),
    Target("windows", "bpe/splitting/compiled/windows.py", (B + "test_prefilter.py",)),
    Target(
        "windows",
        "bpe/splitting/compiled/cutting.py",
        (B + "test_scanning.py", B + "test_prefilter.py"),
        PLAIN_SCANNING,
        SPLITTING,
    ),
    Target(
        "specials",
        "bpe/splitting/special_search.py",
        (B + "test_special_search.py", B + "test_streams.py", B + "test_counts.py"),
        (
            B + "test_specials.py",
            B + "test_counts.py::test_wrong_specials",
            B + "test_counts.py::test_longest_special_first",
            B + "test_counts.py::test_special_tokens_are_found_as_the_slow_search_finds_them",
        ),
        (*TOKENIZER, B + "test_corpus.py", B + "test_training.py", B + "test_pattern.py"),
    ),
    Target(
        "specials",
        "bpe/splitting/specials.py",
        (B + "test_special_search.py", B + "test_streams.py", B + "test_counts.py"),
        (
            B + "test_specials.py",
            B + "test_counts.py::test_wrong_specials",
            B + "test_counts.py::test_longest_special_first",
            B + "test_counts.py::test_special_tokens_are_found_as_the_slow_search_finds_them",
        ),
        (*TOKENIZER, B + "test_corpus.py", B + "test_training.py", B + "test_pattern.py"),
    ),
    Target("specials", "bpe/splitting/special_trie.py", (B + "test_special_search.py",)),
    Target(
        "specials",
        "bpe/splitting/special_automaton.py",
        (B + "test_special_search.py",),
        ("tests/without_jit/test_special_automaton.py",),
    ),
    *(
        Target("steps", f"bpe/pipeline/{name}.py", (B + f"test_{name}.py", B + "test_prepared.py"))
        for name in ("decoders", "normalizers", "post_processors", "pre_tokenizers")
    ),
    Target("steps", "bpe/pipeline/decoder_steps.py", (B + "test_decoders.py", B + "test_prepared.py")),
    Target("steps", "bpe/pipeline/decoders.py", (B + "test_decoder_streams.py", B + "test_prepared.py")),
    *(
        Target(
            "steps", f"bpe/pipeline/{name}.py", (B + "test_normalizers.py",), (), (B + "test_prepared.py",)
        )
        for name in ("precompiled", "text_changes", "tracked", "unicode_forms")
    ),
    Target("steps", "bpe/pipeline/splits.py", (B + "test_pre_tokenizers.py",), (), (B + "test_prepared.py",)),
    Target("steps", "bpe/pipeline/entries.py", (B + "test_normalizers.py", B + "test_pre_tokenizers.py")),
    Target(
        "steps", "bpe/pipeline/added_tokens.py", (B + "test_added_token_flags.py", B + "test_prepared.py")
    ),
    *(
        Target("prepared", f"bpe/{name}.py", (B + "test_prepared.py",), (), (B + "test_prepared_streams.py",))
        for name in ("encoding/symbols", "encoding/crossings", "encoding/prepared", "encoding/preparation")
    ),
    *(
        Target("prepared", f"bpe/{name}.py", (B + "test_prepared_streams.py",))
        for name in ("encoding/prepared_cuts", "pipeline/token_cuts")
    ),
    Target(
        "counting",
        "bpe/counting/batching.py",
        (B + "test_counts.py",),
        (B + "test_batching.py",),
        (B + "test_clusters.py",),
    ),
    Target("counting", "bpe/counting/pieces.py", (B + "test_counts.py",), (), (B + "test_clusters.py",)),
]
