"""The slow, obvious algorithms of byte-pair encoding: an executable specification and a test oracle.

The fast engine is right if its results equal the results of these modules. They are plain Python with lists,
dicts and Counters, import nothing else of this project, and are written to be read: start with ``pairs``,
then ``trainers``, ``parity``, ``superwords``, ``alphabets``, ``linked``, ``encoders``, ``ids`` and
``vocabularies``.
Only ``ladder`` uses the engine, to compare and measure all of them (``python -m bpe.reference.ladder TEXT``).

The package does not split text into pieces, has no special tokens, does not read or write files, and is far
too slow for a real corpus (1,000 merges of 10 kB take the last trainer 0.1 s).

The trainers are a ladder. Each rung avoids some work of the rung before it, and all learn the same merges
(the first has no pieces; it learns the merges of the second when the text is one piece). N is the length of
the text, D the total length of its distinct pieces, P the number of distinct pairs, and K the number of
merges:

======================  =========================================================  ==========================
rung                    what it adds                                               time
======================  =========================================================  ==========================
`train_vanilla`         one sequence; every pair is recounted for every merge      O(K N)
`train_chunked`         pieces, which no pair crosses                              O(K N)
`train_deduplicated`    each distinct piece once, with its count                   O(N + K (D + P))
`train_incremental`     pair counts change by difference; pieces are searched      the same, without recounts
`train_indexed`         pair -> pieces that contain it; only those are read        O(N + K P) and the re-read
======================  =========================================================  ==========================

Two costs remain: the O(P) search for the greatest count and the re-reading of whole pieces. ``linked``
removes them in plain Python, the containers in ``structures`` do so for the engine. The tie rule "first" also
reads the text up to the pair: O(D) more for each merge.

The encoders take one piece of n bytes:

==========================  ===================================================================  =========
encoder                     rule                                                                 time
==========================  ===================================================================  =========
`encode_by_replay`          apply every merge, in the order of learning, to the whole piece      O(K n)
`encode_by_rank`            repeat: merge the leftmost adjacent pair of the lowest rank          O(n^2)
`encode_by_ranks_of_bytes`  the same, with the rank of the concatenated bytes of the pair        O(n^3)
==========================  ===================================================================  =========
"""

from .alphabets import alphabet_of, leave_out
from .encoders import (
    decode,
    encode_by_rank,
    encode_by_ranks_of_bytes,
    encode_by_replay,
    rank_pairs,
    vocabulary,
)
from .pairs import LengthRule, Pair, Ties, count_pairs, merge_sequence, pair_statistics, pick_best
from .parity import Turns, learn_parity, tokens_in, train_parity
from .superwords import SuperMerge, encode_boundless, runs_of, train_boundless, train_superbpe
from .trainers import (
    IncrementalPieces,
    IndexedPieces,
    Merge,
    RecountedPieces,
    is_short,
    learn,
    train_chunked,
    train_deduplicated,
    train_incremental,
    train_indexed,
    train_vanilla,
)
from .vocabularies import learn_more, remove_least_used

__all__ = [
    "IncrementalPieces",
    "IndexedPieces",
    "LengthRule",
    "Merge",
    "Pair",
    "RecountedPieces",
    "SuperMerge",
    "Ties",
    "Turns",
    "alphabet_of",
    "count_pairs",
    "decode",
    "encode_boundless",
    "encode_by_rank",
    "encode_by_ranks_of_bytes",
    "encode_by_replay",
    "is_short",
    "learn",
    "learn_more",
    "learn_parity",
    "leave_out",
    "merge_sequence",
    "pair_statistics",
    "pick_best",
    "rank_pairs",
    "remove_least_used",
    "runs_of",
    "tokens_in",
    "train_boundless",
    "train_chunked",
    "train_deduplicated",
    "train_incremental",
    "train_indexed",
    "train_parity",
    "train_superbpe",
    "train_vanilla",
    "vocabulary",
]
