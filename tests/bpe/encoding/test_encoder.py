import time
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

import bpe
from bpe import reference
from bpe.encoding import encoder as encoding
from bpe.encoding.encoder import Encoder
from bpe.encoding.kernels import linked_pieces as linked
from bpe.encoding.kernels.memory import BATCH, KNOWN_BYTES
from bpe.encoding.kernels.merge_heap import merge_by_heap
from bpe.encoding.kernels.merge_rounds import merge_in_rounds
from bpe.encoding.kernels.merge_short import AT_ONCE, MOST_BYTES, merge_interleaved
from bpe.encoding.kernels.pair_ranks import LINE, NO_RANK
from bpe.vocabulary.vocabulary import Vocabulary
from structures import kernel
from structures.kernels import pointer_to

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


def merge_all(room, data, offsets, way):
    """Merge pieces: all by rounds, all interleaved, or each by a heap."""
    if way == "interleaved":
        pieces = np.flatnonzero(np.diff(offsets))
        merge_them_interleaved(room, data, offsets.astype(np.int32), pieces, offsets[pieces])
    else:
        merge_by_ranks(room, data, offsets, way == "heap")


@njit
def merge_them_interleaved(room, data, offsets, pieces, places):
    merge_interleaved(room, data, offsets, pointer_to(pieces, 0), pointer_to(places, 0), pieces.size)


@njit
def merge_by_ranks(room, data, offsets, by_heap):
    for i in range(offsets.size - 1):
        if offsets[i + 1] > offsets[i]:
            linked.put_piece(room, data, offsets[i], offsets[i + 1], offsets[i])
            if by_heap:
                merge_by_heap(room, offsets[i], offsets[i + 1])
    if not by_heap:
        merge_in_rounds(room, offsets[-1])


def run(pieces, merges, made, way):
    """Merge pieces; return the ids of each, after a check of the invariants."""
    offsets = np.cumsum([0, *map(len, pieces)])
    pairs = np.array(merges, np.int64).reshape(-1, 2)
    ranks = linked.Ranks.of(pairs, np.array(made, np.int64), range(256))
    assert way != "rounds" or ranks.in_order
    room = linked.new_pieces(int(offsets[-1]), ranks)
    merge_all(room, np.frombuffer(b"".join(pieces), np.uint8), offsets, way)
    all_tokens, next_of, prev_of, ranks, marked, first_of, waiting, somewhere = linked.state(room)
    assert (first_of == -1).all()
    assert not waiting.any()
    assert not somewhere.any()
    assert not marked.any()
    assert way == "interleaved" or (ranks == NO_RANK).all()
    found = []
    for piece, first in zip(pieces, offsets.tolist(), strict=False):
        found.append([])
        place, prev_place = first if piece else -1, -1
        while place >= 0:
            assert way == "interleaved" or prev_of[place] == prev_place
            found[-1].append(int(all_tokens[place]))
            prev_place, place = place, int(next_of[place])
    return found


# ------------------------------------------------------------------------------------------- kernels
def by_reference(piece, merges, made):
    return reference.encode_by_rank(piece, reference.rank_pairs(merges), new_ids=made)


@thorough
@given(batch=st.lists(pieces, min_size=1, max_size=6), vocabulary=vocabularies())
def test_any_merges(batch, vocabulary):
    merges, made = vocabulary
    expected = [by_reference(piece, merges, made) for piece in batch]
    assert run(batch, merges, made, "heap") == expected
    pairs = np.array(merges, np.int64).reshape(-1, 2)
    if linked.are_in_order(pairs, np.array(made, np.int64)):
        assert run(batch, merges, made, "rounds") == expected
    short = [piece[:MOST_BYTES] for piece in batch]
    assert run(short, merges, made, "interleaved") == [by_reference(piece, merges, made) for piece in short]


@pytest.mark.parametrize("n", [1, AT_ONCE, AT_ONCE + 1, 3 * AT_ONCE])
def test_many_interleaved_pieces(n, merges, book):
    words, made = (
        [word.encode()[:MOST_BYTES] for word in book.split(" ") if word][:n],
        range(256, 256 + len(merges)),
    )
    words[0] = book[:MOST_BYTES].encode()  # the longest there is
    assert run(words, merges, made, "interleaved") == [by_reference(word, merges, made) for word in words]


@pytest.mark.parametrize("way", ["heap", "rounds"])
class TestKernels:
    @thorough
    @given(batch=st.lists(pieces, min_size=1, max_size=4), corpus=st.lists(pieces, max_size=4))
    def test_learned_merges(self, way, batch, corpus):
        merges = [merge.pair for merge in reference.train_chunked(corpus, 12)]
        made = list(range(256, 256 + len(merges)))
        expected = [reference.encode_by_replay(piece, merges) for piece in batch]
        assert run(batch, merges, made, way) == expected

    def test_text(self, way, book, merges):
        piece, made = book[20_000:22_000].encode(), range(256, 256 + len(merges))
        assert run([piece], merges, made, way) == [by_reference(piece, merges, made)]

    def test_runs(self, way):
        merges, made = [(97, 97), (256, 256), (257, 97)], [256, 257, 258]
        batch = [b"a" * n for n in range(40)]
        assert run(batch, merges, made, way) == [by_reference(piece, merges, made) for piece in batch]

    def test_a_long_piece_takes_no_quadratic_time(self, way, merges):
        made = range(256, 256 + len(merges))
        run([b"warm up"], merges, made, way)
        text = b"the end of the sea and the ship " * 10_000
        start = time.perf_counter()
        [ids] = run([text], merges, made, way)
        assert time.perf_counter() - start < 10, "quadratic time would be minutes"
        assert reference.decode(ids, reference.vocabulary(merges)) == text


# ------------------------------------------------------------------------------------------- Encoder
# One expression with windows and one without, several in turn, one that no table can express.
PATTERNS = ["gpt2", "o200k", "none", "deepseek", r"(?s:.{3})|(?s:.)", r"(\w)\1|\w"]
odd = pytest.mark.filterwarnings("ignore:the split pattern cannot be compiled")


def encoder_of(merges, pattern="gpt2", new=None):
    """Return an encoder; `new` gives ids another number."""
    new = new or {number: number for number in range(256 + len(merges))}
    token_of = {new[number]: token for number, token in reference.vocabulary(merges).items()}
    pairs = [(new[left], new[right]) for left, right in merges]
    return Encoder(Vocabulary(token_of, pairs, {}), bpe.Pattern.of(pattern))


@pytest.fixture
def slowly(merges):
    ranks = reference.rank_pairs(merges)

    def encode(data, pattern="gpt2"):
        pieces = bpe.Pattern.of(pattern).split_bytes(data)
        return [number for piece in pieces for number in reference.encode_by_rank(piece, ranks)]

    return encode


def documents():
    text = st.text("the sea and 1'sé\n\u3042  ", max_size=60) | st.text(max_size=20)
    long = st.sampled_from([KNOWN_BYTES, KNOWN_BYTES + 1, 500]).map(lambda n: "a" * n)
    return (text | long).map(str.encode) | st.binary(max_size=20)


@odd
@pytest.mark.parametrize("pattern", PATTERNS)
class TestEncoder:
    @pytest.fixture
    def encoder(self, pattern, merges):
        return encoder_of(merges, pattern)

    def test_against_reference(self, encoder, pattern, slowly):
        @settings(deadline=None, max_examples=100)
        @given(documents())
        def check(data):
            expected = slowly(data, pattern)
            assert encoder.encode(data) == expected
            assert encoder.encode_to_numpy(data).tolist() == expected
            assert encoder.count(data) == len(expected)

        check()

    def test_segments_and_pieces(self, encoder, pattern, slowly):
        @settings(deadline=None, max_examples=100)
        @given(st.lists(documents(), max_size=6))
        def check(batch):
            data, ends = b"".join(batch), np.cumsum(list(map(len, batch)), dtype=np.int64)
            ids, offsets = encoder.encode_segments(data, ends)
            assert ids.dtype == np.uint32
            edges = offsets.tolist()
            found = [ids[start:end].tolist() for start, end in pairwise(edges)]
            assert found == [slowly(part, pattern) for part in batch]
            places, id_places = (array.tolist() for array in encoder.pieces(data))
            pieces = [data[start:end] for start, end in pairwise(places)]
            assert pieces == bpe.Pattern.of(pattern).split_bytes(data)
            assert id_places == [0, *accumulate(len(slowly(piece, "none")) for piece in pieces)]

        check()

    @pytest.mark.parametrize(
        ("ends", "message"),
        [
            ([], "the last text ends at byte 0, but the data has 5 bytes"),
            ([2, 3], "the last text ends at byte 3, but the data has 5 bytes"),
            ([2, 6], "the last text ends at byte 6, but the data has 5 bytes"),
            ([3, 2, 5], r"ends\[1\] is 2, before the text begins"),
            ([-1, 5], r"ends\[0\] is -1, before the text begins"),
        ],
    )
    def test_ends_that_do_not_fit(self, encoder, ends, message):
        given = np.array(ends, np.int64)
        with pytest.raises(ValueError, match=message):
            encoder.encode_segments(b"the s", given)
        offsets = np.array([0, 2, 3, 5], np.int32)
        with pytest.raises(ValueError, match=message):
            encoder.encode_pieces(b"the s", offsets, given)
        with pytest.raises(ValueError, match=message):
            encoder.encode_with_lengths(b"the s", offsets, given)

    def test_blocks(self, encoder, pattern, slowly, book, monkeypatch):
        data = (book[:5_000] + "a" * 1_000 + "'s" * 300 + "文" * 200).encode() + b"\xff\xfe"
        expected = slowly(data, pattern)
        for size in (1, 7, 64, 1_000, 4_096):
            monkeypatch.setattr(encoding, "BLOCK_BYTES", size)
            assert encoder.encode_to_numpy(data).tolist() == expected


@kernel
def links_back(memory):
    """Return the links that only rounds and heaps write."""
    return memory.unknown.prev_of


def test_short_pieces_are_interleaved(merges, slowly, book, monkeypatch):
    words = " ".join(word for word in book[:20_000].split() if len(word) < MOST_BYTES).encode()
    for is_packed in (True, False):
        encoder = encoder_of(merges)
        encoder.encode(b"")
        links = links_back(encoder._idle[0].memory)
        links[:] = -7
        assert encoder.encode_to_numpy(words).tolist() == slowly(words)
        assert (links == -7).all() == is_packed
        assert encoder.encode(b"x" * (MOST_BYTES + 1)) == slowly(b"x" * (MOST_BYTES + 1))
        assert (links != -7).any()
        # As for ids that do not fit.
        monkeypatch.setattr(linked, "pack_ranks", lambda pairs: np.full(LINE, -1))


def test_the_table_grows_in_the_middle_of_a_batch(merges, slowly):
    rng = np.random.default_rng(1)
    lengths = rng.choice(
        [1, 3, 8, 15, 16, 40, 127, 128, 300], 6_000, p=[0.1, 0.2, 0.3, 0.2, 0.1, 0.05, 0.02, 0.02, 0.01]
    )
    words = ["".join(rng.choice(list("etaoin"), n)) for n in lengths.tolist()]
    data = " ".join(words + words[::-1]).encode()
    encoder = encoder_of(merges)
    assert encoder.encode_to_numpy(data).tolist() == slowly(data)


def test_every_way_is_taken(merges, slowly, book, monkeypatch):
    encoder_of(merges).encode(b"compiled before its parts are replaced")
    encoder = encoder_of(merges)
    calls = []
    small, pieces = encoding.encode_small, encoding.encode_pieces
    monkeypatch.setattr(encoding, "encode_pieces", lambda *a: calls.append("encode_pieces") or pieces(*a))
    monkeypatch.setattr(
        encoding, "entry_for", lambda *given: lambda *a: calls.append("encode_small") or small(*a)
    )
    short, long = book[:1_000].encode(), b"x" * (encoding.SMALL + 1)
    assert encoder.encode(short) == slowly(short)
    assert calls == ["encode_small"]
    assert encoder.encode(short + long) == slowly(short + long)
    assert calls == ["encode_small", "encode_pieces"], "room is made in kernels/test_merge_rounds.py"
    known = encoder._idle[0].memory
    n_known = counted(known)
    assert n_known > 100
    encoder.encode(short)
    assert counted(known) == n_known, "all pieces were known"


@kernel
def counted(memory):
    """Return how many pieces are known."""
    return len(memory.known) + memory.n_short


def test_bytes_of_any_id(merges):
    """The ids of bytes and merges in another order give the same tokens."""
    new = {old: 999 - old for old in range(256 + len(merges))}
    encoder, plain = encoder_of(merges, new=new), encoder_of(merges)
    for data in [b"the sea", b"x", b"the sea and the ship " * 20]:
        assert encoder.encode(data) == [new[number] for number in plain.encode(data)]


def test_too_long_for_one_call(merges, monkeypatch):
    monkeypatch.setattr(encoding, "_MOST_BYTES", 5_000)
    with pytest.raises(ValueError, match="5001 bytes is too long for one call: encode it as a stream"):
        encoder_of(merges).encode(b"x" * 5_001)


def test_a_piece_that_is_too_long():
    with pytest.raises(MemoryError, match="a piece of 1073741824 bytes is too long: cut the text"):
        linked.arrays_for(2**30)


def test_merges_in_order_and_not():
    chance = np.random.default_rng(1)
    n_in_order = 0
    for _ in range(2000):
        n, factor = int(chance.integers(6)), int(chance.choice([1, 10**8]))  # ids side by side, and far apart
        pairs, made = chance.integers(0, 12, (n, 2)) * factor, chance.integers(0, 12, n) * factor
        slow = all(number not in pairs[: rank + 1] for rank, number in enumerate(made))
        assert linked.are_in_order(pairs, made) == slow
        n_in_order += slow
    assert 500 < n_in_order < 1500


def test_the_greatest_ids():
    top = 2**31 - 1
    tokens = {top - 1 - value: bytes([value]) for value in range(256)} | {top: b"ab", top - 300: b"abc"}
    merges = [(top - 1 - 97, top - 1 - 98), (top, top - 1 - 99)]
    encoder = Encoder(Vocabulary(tokens, merges, {}), bpe.Pattern.of("whitespace"))
    for _ in range(2):
        assert encoder.encode(b"ab abc abab ") == [
            top, top - 33, top - 300, top - 33, top, top, top - 33,
        ]  # fmt: skip


def test_memory_is_bounded(merges, slowly, book, monkeypatch):
    monkeypatch.setattr(encoding, "KNOWN_PIECES", 300)
    encoder = encoder_of(merges)
    data = book[:50_000].encode()
    expected = slowly(data)
    for _ in range(2):
        assert encoder.encode(data) == expected
        assert 0 < counted(encoder._idle[0].memory) <= 300
    for size in (100, 1_000, 3_000):
        ids = [number for i in range(0, len(data), size) for number in encoder.encode(data[i : i + size])]
        assert ids == [number for i in range(0, len(data), size) for number in slowly(data[i : i + size])]


@kernel
def set_pool(memory, pool):
    memory.pool = pool


@kernel
def pool_size(memory):
    return memory.pool_size


def test_the_pool_is_bounded(monkeypatch):
    """The pool has room for two batches of the longest pieces; the numbers after it must stay."""
    monkeypatch.setattr(encoding, "POOL_IDS", 2 * BATCH * KNOWN_BYTES)
    chance = np.random.default_rng(3)
    encoder = encoder_of([], "whitespace")
    words = [bytes(word) for word in chance.integers(97, 123, (5_000, 100), np.uint8)]
    encoder.encode(b"to make a worker")
    memory = encoder._idle[0].memory
    guarded = np.full(2 * len(words) * 100, 2**32 - 1, np.uint32)
    set_pool(memory, guarded[: encoding.POOL_IDS])
    sizes = []
    for i in range(0, len(words), 500):
        data = b" ".join(words[i : i + 500])
        for _ in range(2):
            assert encoder.encode_to_numpy(data).tolist() == list(data)
            sizes.append(pool_size(memory))
    assert 0 < max(sizes) <= encoding.POOL_IDS
    assert sorted(sizes) != sizes, "the pool was never cleared"
    assert (guarded[encoding.POOL_IDS :] == 2**32 - 1).all(), "ids were written past the end of the pool"


def test_merges_not_in_order(slowly):
    """More than 4,096 of them, with the last ranks first: what is merged makes pairs of far lower ranks."""
    chance = np.random.default_rng(5)
    tokens, merges = [bytes([value]) for value in range(256)], {}
    known = set(tokens)
    while len(merges) < 6_000:
        low = 97 if len(merges) < 600 else 256
        left, right = chance.integers(low, 123 if low == 97 else len(tokens), 2).tolist()
        token = tokens[left] + tokens[right]
        if token not in known and len(token) < 20:
            merges[left, right] = len(tokens)
            tokens.append(token)
            known.add(token)
    pairs = list(merges)[::-1]
    ranks, made = reference.rank_pairs(pairs), [merges[pair] for pair in pairs]
    for pattern in ("none", "whitespace"):
        encoder = Encoder(Vocabulary(tokens, pairs, {}), bpe.Pattern.of(pattern))
        for _ in range(20):
            data = b" ".join(tokens[i] for i in chance.integers(256, len(tokens), 30))
            pieces = bpe.Pattern.of(pattern).split_bytes(data)
            found = encoder.encode(data)
            expected = [reference.encode_by_rank(piece, ranks, new_ids=made) for piece in pieces]
            assert found == [number for ids in expected for number in ids]
            assert max(made.index(number) for number in found if number > 255) > 4_096


def test_merges_not_in_order_take_no_quadratic_time():
    tokens = [*(bytes([value]) for value in range(256)), b"ab", b"abc"]
    encoder = Encoder(Vocabulary(tokens, [(256, 99), (97, 98)], {}), bpe.Pattern.of("none"))
    assert encoder.encode(b"abcab") == [257, 256]
    start = time.perf_counter()
    assert encoder.encode(b"abc" * 300_000) == [257] * 300_000
    assert time.perf_counter() - start < 10, "quadratic time would be minutes"


def test_threads_share_an_encoder(merges, slowly, book, monkeypatch):
    monkeypatch.setattr(encoding, "KNOWN_PIECES", 500)
    encoder = encoder_of(merges)
    texts = [book[i : i + 700].encode() for i in range(0, 70_000, 700)] + [book[:60_000].encode()]
    expected = [slowly(text) for text in texts]
    with ThreadPoolExecutor(6) as pool:
        results = [pool.submit(lambda: [encoder.encode(text) for text in texts]) for _ in range(12)]
        assert all(result.result() == expected for result in results)
    assert len(encoder._idle) <= 6
