"""The slow, obvious algorithms of byte-pair encoding: an executable specification and a test oracle.

The fast engine is right when it gives what these pages give. They are plain Python over lists, dicts and
Counters, import nothing else of this project, and are written to be read: start with ``pairs``, then
``training``, ``linked`` and ``encoding``. Only ``ladder``, a command that measures them beside the engine
(``python -m bpe.reference.ladder TEXT``), knows the engine.

But: does not split text (pieces come in already split), does not know special tokens, does not read or write
files, and is far too slow for a real corpus (1,000 merges of 10 kB: 0.1 s by the last trainer).

The trainers are a ladder: each rung is spared something the rung before it had to do, and all learn the same
merges (the first, having no pieces, the same as the second given the text as one piece). With N the length of
the text, D the total length of its distinct pieces, P the distinct pairs and K the number of merges:

======================  =========================================================  ==========================
rung                    what it adds                                               time
======================  =========================================================  ==========================
`train_vanilla`         one sequence, every pair recounted for every merge         O(K N)
`train_chunked`         pieces, which no pair crosses                              O(K N)
`train_deduplicated`    each distinct piece once, with its count                   O(N + K (D + P))
`train_incremental`     pair counts change by difference; pieces are searched      the same, without recounts
`train_indexed`         pair -> pieces that hold it; only those are read           O(N + K P) and the re-read
======================  =========================================================  ==========================

What is left, the O(P) search for the greatest count and the re-reading of whole pieces, is the business of
``linked``, in plain Python, and of the containers in ``structures``. The tie rule "first" also reads the text
up to the pair: O(D) more a merge.

The encoders take one piece of n bytes:

==========================  ===================================================================  =========
encoder                     rule                                                                 time
==========================  ===================================================================  =========
`encode_by_replay`          every merge, in the order of learning, over the whole piece          O(K n)
`encode_by_rank`            again and again the adjacent pair of lowest rank, leftmost first     O(n^2)
`encode_by_ranks_of_bytes`  the same, where a pair's rank is that of its concatenated bytes      O(n^3)
==========================  ===================================================================  =========
"""

from .encoders import (
    decode,
    encode_by_rank,
    encode_by_ranks_of_bytes,
    encode_by_replay,
    rank_pairs,
    vocabulary,
)
from .pairs import Pair, Ties, count_pairs, merge_sequence, pair_statistics, pick_best
from .trainers import (
    IncrementalPieces,
    IndexedPieces,
    Merge,
    RecountedPieces,
    learn,
    train_chunked,
    train_deduplicated,
    train_incremental,
    train_indexed,
    train_vanilla,
)

__all__ = [
    "IncrementalPieces",
    "IndexedPieces",
    "Merge",
    "Pair",
    "RecountedPieces",
    "Ties",
    "count_pairs",
    "decode",
    "encode_by_rank",
    "encode_by_ranks_of_bytes",
    "encode_by_replay",
    "learn",
    "merge_sequence",
    "pair_statistics",
    "pick_best",
    "rank_pairs",
    "train_chunked",
    "train_deduplicated",
    "train_incremental",
    "train_indexed",
    "train_vanilla",
    "vocabulary",
]
