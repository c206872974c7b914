"""Pieces that are merged at once, against the slow encoder."""

import numpy as np
import pytest

from bpe import reference
from bpe.encoding import heap_merge, rounds
from structures import pack_pair
from structures.int_map_kernels import new_int_map
from structures.multiset_heap_kernels import heap_type, new_heap
from structures.token_list_kernels import new_token_list


def map_of(merges):
    ranks = new_int_map()
    pairs = np.array([pack_pair(*pair) for pair in merges], np.int64)
    assert rounds.rank_pairs(ranks, pairs) == 0
    return ranks


def run_short(piece, merges, made):
    ids = np.frombuffer(piece, np.uint8).astype(np.int64)
    n = heap_merge.merge_short(ids, ids.size, np.empty(ids.size, np.int64), map_of(merges), made)
    return ids[:n].tolist()


def run_long(piece, merges, made):
    tokens = new_token_list(np.frombuffer(piece, np.uint8), np.array([0, len(piece)]))
    heap = new_heap(heap_type(False), 0, 0)
    assert heap_merge.merge_long(tokens, heap, map_of(merges), made) == 0
    assert len(heap) == 0
    return tokens.to_arrays()[0].tolist()


def run_rounds(pieces, merges, made):
    ranks = rounds.Ranks.of(np.array(merges, np.int64).reshape(-1, 2), made, range(256))
    offsets = np.cumsum([0, *map(len, pieces)])
    room = rounds.new_rounds(int(offsets[-1]), ranks)
    data = np.frombuffer(b"".join(pieces), np.uint8)
    for start, end in zip(offsets, offsets[1:], strict=False):  # noqa: RUF007
        rounds.put_piece(room, data, start, end, start)
    rounds.merge_pieces(room)
    tokens, behind, before, of_places, first_of, *bits = rounds.state(room)
    assert (first_of == -1).all()
    assert not any(each.any() for each in bits)
    found = []
    for first in offsets[:-1].tolist():
        ids, place, place_before = [], first, -1
        while place >= 0:
            assert (of_places[place], before[place]) == (rounds.NO_RANK, place_before)
            ids.append(int(tokens[place]))
            place_before, place = place, int(behind[place])
        found.append(ids)
    return found


def vocabularies():
    """Merges that are learned, and others in an order in which none would be."""
    rng = np.random.default_rng(1)
    for n in range(40):
        pieces = ["".join(rng.choice(list("aab "), rng.integers(1, 40))).encode() for _ in range(3)]
        merges = [merge.pair for merge in reference.train_chunked(pieces, 30)]
        made = np.arange(256, 256 + len(merges))
        if n % 2:
            order = rng.permutation(len(merges))
            merges, made = [merges[i] for i in order], made[order]
        yield pieces, merges, made


def test_encoders(monkeypatch):
    monkeypatch.setattr(rounds, "IntMap", new_int_map)
    for pieces, merges, made in vocabularies():
        ranks = reference.rank_pairs(merges)
        expected = [reference.encode_by_rank(piece, ranks, new_ids=made.tolist()) for piece in pieces]
        assert [run_short(piece, merges, made) for piece in pieces] == expected
        assert [run_long(piece, merges, made) for piece in pieces] == expected
        assert run_rounds(pieces, merges, made) == expected


@pytest.mark.parametrize("n", [1, 2, 3, 64, 65, 200])
def test_runs(n, monkeypatch):
    monkeypatch.setattr(rounds, "IntMap", new_int_map)
    merges, made = [(97, 97), (256, 256), (257, 97)], np.array([256, 257, 258])
    expected = reference.encode_by_rank(b"a" * n, reference.rank_pairs(merges), new_ids=made.tolist())
    assert run_rounds([b"a" * n], merges, made) == [expected]
