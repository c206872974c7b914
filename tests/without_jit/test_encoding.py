"""Pieces that are merged in rounds, and by a heap, against the slow encoder."""

from itertools import pairwise

import numpy as np
import pytest

from bpe import reference
from bpe.encoding.kernels import linked_pieces as linked
from bpe.encoding.kernels.merge_heap import merge_by_heap
from bpe.encoding.kernels.merge_rounds import merge_in_rounds
from bpe.encoding.kernels.merge_short import MOST_BYTES, merge_interleaved
from bpe.encoding.kernels.pair_ranks import NO_RANK, pack_ranks, ranks_of_all
from structures import pack_pair
from structures.hash_tables.byte_counter_kernels import new_byte_counter
from structures.hash_tables.int_map_kernels import int_map_type, new_map

NO_LINES = pack_ranks(np.empty((0, 2), np.int64))


def packed_ranks_of(merges, made):
    """Return the ranks of merges, where all pairs are packed."""
    ranks = ranks_of(merges, made)
    tables = ranks.tables
    rest = tables.rank_of_bytes, tables.id_of_rank, tables.id_of_byte, tables.atomic
    lines = pack_ranks(np.array(merges, np.int64).reshape(-1, 2))
    return ranks._replace(tables=linked.RankTables(lines, new_map(int_map_type, 0), *rest))


def ranks_of(merges, made):
    """Do as ``Ranks.of`` for pairs that cannot be packed, without a look at every pair of bytes."""
    rank_of_pair, rank_of_bytes = new_map(int_map_type, 0), np.full(1 << 16, NO_RANK, np.int64)
    for rank, (left, right) in enumerate(merges):
        rank_of_pair.set(np.int64(pack_pair(left, right)), rank)
        if max(left, right) < 256:
            rank_of_bytes[left << 8 | right] = rank
    pairs = np.array(merges, np.int64).reshape(-1, 2)
    in_order = linked.are_in_order(pairs, made)
    tables = linked.RankTables(
        NO_LINES, rank_of_pair, rank_of_bytes, made, np.arange(256), new_byte_counter()
    )
    return linked.Ranks(tables, len(made), in_order)


def run(pieces, ranks, by_heap):
    offsets = np.cumsum([0, *map(len, pieces)])
    room = linked.new_pieces(int(offsets[-1]), ranks)
    data = np.frombuffer(b"".join(pieces), np.uint8)
    for start, end in pairwise(offsets):
        linked.put_piece(room, data, start, end, start)
        if by_heap:
            merge_by_heap(room, start, end)
    if not by_heap:
        merge_in_rounds(room, offsets[-1])
    tokens, next_of, prev_of, of_places, marked, first_of, waiting, somewhere = linked.state(room)
    assert (first_of == -1).all()
    assert not any(bits.any() for bits in (marked, waiting, somewhere))
    assert (of_places == NO_RANK).all()
    found = []
    for first in offsets[:-1].tolist():
        ids, place, place_before = [], first, -1
        while place >= 0:
            assert prev_of[place] == place_before
            ids.append(int(tokens[place]))
            place_before, place = place, int(next_of[place])
        found.append(ids)
    return found


def vocabularies():
    """Merges that are learned, and others in an order in which none would be."""
    rng = np.random.default_rng(1)
    for n in range(40):
        pieces = ["".join(rng.choice(list("aab "), rng.integers(1, 80))).encode() for _ in range(3)]
        merges = [merge.pair for merge in reference.train_chunked(pieces, 30)]
        made = np.arange(256, 256 + len(merges))
        if n % 2:
            order = rng.permutation(len(merges))
            merges, made = [merges[i] for i in order], made[order]
        yield pieces, merges, made


def test_encoders():
    for pieces, merges, made in vocabularies():
        slow_ranks = reference.rank_pairs(merges)
        expected = [reference.encode_by_rank(piece, slow_ranks, new_ids=made.tolist()) for piece in pieces]
        ranks = ranks_of(merges, made)
        assert run(pieces, ranks, by_heap=True) == expected
        if ranks.in_order:
            assert run(pieces, ranks, by_heap=False) == expected


def test_turns():
    for pieces, merges, made in vocabularies():
        room = linked.new_pieces(len(pieces) * MOST_BYTES, packed_ranks_of(merges, made))
        short = [piece[:MOST_BYTES] for piece in pieces]
        offsets = np.cumsum([0, *map(len, short)], dtype=np.int32)
        numbers, data = np.arange(len(short)), np.frombuffer(b"".join(short), np.uint8)
        merge_interleaved(room, data, offsets, numbers, MOST_BYTES * numbers, len(short))
        tokens, next_of, *_ = linked.state(room)
        ranks = reference.rank_pairs(merges)
        for number, piece in enumerate(short):
            ids, place = [], MOST_BYTES * number
            while place >= 0:
                ids.append(int(tokens[place]))
                place = int(next_of[place])
            assert ids == reference.encode_by_rank(piece, ranks, new_ids=made.tolist())


@pytest.mark.parametrize("by_heap", [True, False])
@pytest.mark.parametrize("n", [1, 2, 3, 64, 65, 200])
def test_runs(n, by_heap):
    merges, made = [(97, 97), (256, 256), (257, 97)], np.array([256, 257, 258])
    expected = reference.encode_by_rank(b"a" * n, reference.rank_pairs(merges), new_ids=made.tolist())
    assert run([b"a" * n], ranks_of(merges, made), by_heap) == [expected]


def test_the_ranks_of_bytes(monkeypatch):
    monkeypatch.setattr(linked, "IntMap", lambda: new_map(int_map_type, 0))
    monkeypatch.setattr(linked, "ByteCounter", lambda _: new_byte_counter())
    merges, made = [(97, 97), (256, 97), (3, 255)], np.array([256, 257, 258])
    ranks, expected = linked.Ranks.of(np.array(merges), made, range(256)), ranks_of(merges, made)
    assert np.array_equal(ranks.tables.rank_of_bytes, expected.tables.rank_of_bytes)
    assert len(ranks.tables.rank_of_pair) == 0
    found = ranks_of_all(ranks.tables.packed_ranks, np.array([*merges, (97, 256)]))
    assert found.tolist() == [0, 1, 2, NO_RANK]
