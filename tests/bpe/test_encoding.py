import threading
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe import encoding, reference
from structures import IntMap, MinHeap, TokenList, pack_pair

thorough = settings(deadline=None, max_examples=300)
letters = st.text("abc", max_size=60) | st.text("a", max_size=60) | st.text("aab ", max_size=60)
pieces = letters.map(str.encode)


@st.composite
def vocabularies(draw):
    """Draw any merges at all, useless and contradictory ones too: (merges, the id that each makes)."""
    token_of = {value: bytes([value]) for value in b"abc"}
    merges, made = [], []
    for rank in range(draw(st.integers(0, 12))):
        pair = (draw(st.sampled_from(sorted(token_of))), draw(st.sampled_from(sorted(token_of))))
        if pair in merges:
            continue
        token = token_of[pair[0]] + token_of[pair[1]]
        number = next((number for number, known in token_of.items() if known == token), 256 + rank)
        token_of[number] = token
        merges.append(pair)
        made.append(number)
    order = draw(st.permutations(range(len(merges))))
    return [merges[i] for i in order], [made[i] for i in order]


def tables(merges, made):
    ranks = {pack_pair(*pair): rank for rank, pair in enumerate(merges)}
    return IntMap(ranks), np.array(made, np.int64)


def run_short(piece, merges, made):
    ids = np.frombuffer(piece, np.uint8).astype(np.int64)
    n = encoding.merge_short(ids, ids.size, np.empty(ids.size, np.int64), *tables(merges, made))
    return ids[:n].tolist()


def run_long(piece, merges, made):
    if not piece:
        return []
    tokens, heap = TokenList(list(piece)), MinHeap()
    assert encoding.merge_long(tokens, heap, *tables(merges, made)) == 0
    assert len(heap) == 0
    return tokens.to_arrays()[0].tolist()


# ------------------------------------------------------------------------------------------- kernels
@pytest.mark.parametrize("run", [run_short, run_long])
class TestKernels:
    @thorough
    @given(piece=pieces, vocabulary=vocabularies())
    def test_against_reference(self, run, piece, vocabulary):
        merges, made = vocabulary
        expected = reference.encode_by_rank(piece, reference.rank_pairs(merges), new_ids=made)
        assert run(piece, merges, made) == expected

    @thorough
    @given(piece=pieces, corpus=st.lists(pieces, max_size=4))
    def test_learned_merges(self, run, piece, corpus):
        merges = [merge.pair for merge in reference.train_chunked(corpus, 12)]
        made = list(range(256, 256 + len(merges)))
        assert run(piece, merges, made) == reference.encode_by_replay(piece, merges)

    def test_text(self, run, book, merges):
        piece = book[20_000:22_000].encode()
        expected = reference.encode_by_rank(piece, reference.rank_pairs(merges))
        assert run(piece, merges, range(256, 256 + len(merges))) == expected

    @pytest.mark.parametrize("n", range(40))
    def test_runs(self, run, n):
        merges, made = [(97, 97), (256, 256), (257, 97)], [256, 257, 258]
        expected = reference.encode_by_rank(b"a" * n, reference.rank_pairs(merges), new_ids=made)
        assert run(b"a" * n, merges, made) == expected


@settings(deadline=None)
@given(st.lists(pieces.filter(len), min_size=1, max_size=6), vocabularies())
def test_segments_do_not_meet(batch, vocabulary):
    merges, made = vocabulary
    offsets = np.cumsum([0, *map(len, batch)])
    tokens = TokenList(list(b"".join(batch)), offsets)
    assert encoding.merge_long(tokens, MinHeap(), *tables(merges, made)) == 0
    assert [list(tokens.segment(i)) for i in range(len(batch))] == [
        run_short(piece, merges, made) for piece in batch
    ]


def test_a_long_piece_takes_no_quadratic_time(merges):
    made = range(256, 256 + len(merges))
    run_long(b"warm up", merges, made)
    text = b"the end of the sea and the ship " * 10_000
    start = time.perf_counter()
    ids = run_long(text, merges, made)
    assert time.perf_counter() - start < 10, "a quadratic one would take minutes"
    assert reference.decode(ids, reference.vocabulary(merges)) == text


# -------------------------------------------------------------------------------------- PieceEncoder
@pytest.fixture
def encoder(merges):
    return encoding.PieceEncoder(range(256), merges, range(256, 256 + len(merges)))


@pytest.fixture
def slowly(merges):
    ranks = reference.rank_pairs(merges)
    return lambda piece: reference.encode_by_rank(piece.encode("utf-8", "surrogateescape"), ranks)


def test_both_kernels_run(encoder, slowly, book, monkeypatch):
    calls = []
    for name in ("encode_short", "merge_long"):
        kernel = getattr(encoding, name)
        monkeypatch.setattr(encoding, name, lambda *a, k=kernel, n=name: calls.append(n) or k(*a))
    batch = [book[:n] for n in (1, 5, 64, 65, encoding.LONG - 1, encoding.LONG, encoding.LONG + 1, 2000)]
    batch += ["é" * (encoding.LONG // 2), "\udcff", "the", "the"]
    expected = [number for piece in batch for number in slowly(piece)]
    assert encoder.encode(batch) == expected
    assert calls == ["encode_short", "merge_long"]
    assert encoder.encode(batch) == expected
    assert calls == ["encode_short", "merge_long"] * 2, "long pieces are not remembered"
    assert encoder.encode(["the", "\udcff", "the"]) == [*slowly("the"), 255, *slowly("the")]
    assert len(calls) == 4, "short ones are"
    assert encoder.encode([]) == []


def test_bytes_of_any_id(merges):
    """The ids of bytes and merges in another order give the same tokens."""
    new = {old: 999 - old for old in range(256 + len(merges))}
    encoder = encoding.PieceEncoder(
        [new[value] for value in range(256)],
        [(new[left], new[right]) for left, right in merges],
        [new[256 + rank] for rank in range(len(merges))],
    )
    plain = encoding.PieceEncoder(range(256), merges, range(256, 256 + len(merges)))
    for piece in ["the sea", "x", "the sea and the ship " * 20]:
        assert encoder.encode([piece]) == [new[number] for number in plain.encode([piece])]


def test_no_merges():
    encoder = encoding.PieceEncoder(range(256), [], [])
    assert encoder.encode(["ab", "a" * 1000]) == [97, 98] + [97] * 1000


def test_the_cache_is_bounded(encoder, slowly, book, monkeypatch):
    monkeypatch.setattr(encoding, "CACHE_ENTRIES", 50)
    words = book.split(" ")[:1000]
    words = [word for word in words if word]
    for start in range(0, len(words), 7):
        batch = words[start : start + 7]
        assert encoder.encode(batch) == [number for word in batch for number in slowly(word)]
        assert 0 < len(encoder._known) <= 50
    assert encoder.encode(words) == [number for word in words for number in slowly(word)]
    long = "x" * (encoding.CACHE_BYTES + 1), "é" * (encoding.CACHE_BYTES // 2 + 1)
    encoder.encode(long)
    assert not set(long) & set(encoder._known)


def test_threads_share_an_encoder(encoder, slowly, book, monkeypatch):
    monkeypatch.setattr(encoding, "CACHE_ENTRIES", 100)
    words = [word for word in book.split(" ")[:3000] if word]
    expected = [number for word in words for number in slowly(word)]
    results = []

    def work():
        for size in (1, 10, len(words)):
            ids = []
            for start in range(0, len(words), size):
                ids += encoder.encode(words[start : start + size])
            results.append(ids == expected)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 18
