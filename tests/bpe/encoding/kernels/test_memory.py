"""What an encoder keeps: idle workers, their arrays, and pieces that are made to collide."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import bpe
from bpe.encoding import encoder as encoding
from bpe.encoding.encoder import Encoder
from bpe.encoding.kernels import linked_pieces as linked
from bpe.encoding.kernels.memory import BATCH, MOST_PROBES, forget
from bpe.encoding.kernels.piece_table import LAST_ROWS, LAST_WORDS, ROW, SHORT, first_slot
from bpe.support.threads import n_threads
from bpe.vocabulary.vocabulary import Vocabulary
from structures import ByteCounter, kernel
from structures.hash_tables.byte_counter_kernels import look_up
from structures.kernels import pointer_to

SIXTEEN = r"(?s:.{16})|(?s:.)"  # longer than what is short
BYTES = [bytes([value]) for value in range(256)]


def new_encoder(pattern="whitespace", merges=()):
    token_bytes = [*BYTES, *(BYTES[left] + BYTES[right] for left, right in merges)]
    return Encoder(Vocabulary(token_bytes, merges, {}), bpe.Pattern.of(pattern))


@kernel
def nbytes_of(memory):
    """Return how many bytes the arrays of a worker have."""
    u = memory.unknown
    by_place = u.tokens.nbytes + u.next_of.nbytes + u.prev_of.nbytes + u.ranks.nbytes
    by_place += u.entries.nbytes + u.marked.nbytes
    by_rank = u.n_entries.nbytes + u.first_of.nbytes + u.waiting.nbytes + u.somewhere.nbytes
    scratch = memory.data.nbytes + memory.offsets.nbytes + memory.ids.nbytes
    known = memory.known.nbytes + memory.short_slots.nbytes + memory.pool.nbytes
    return known + by_place + by_rank + scratch


@kernel
def copy_of_known(memory):
    return memory.known.copy()


@kernel
def furthest_of(counter, data, offsets):
    """Return how far from its home the longest search for these words ends."""
    starts, ends, n = pointer_to(offsets, 0), pointer_to(offsets, 1), offsets.size - 1
    return counter.get_into(data, starts, ends, n, -1, np.empty(n, np.int64))


@kernel
def slots_of(counter):
    slots = np.empty(len(counter), np.int64)
    for word_id in range(slots.size):
        slots[word_id] = look_up(counter, word_id)[2]
    return slots


def nbytes_of_worker(worker):
    return nbytes_of(worker.memory) + worker.offsets.nbytes


def words_of(n, size=16, seed=1):
    letters = np.random.default_rng(seed).integers(97, 123, (n, size), np.uint8)
    return [row.tobytes() for row in np.unique(letters, axis=0)]


# --------------------------------------------------------------------------------------------- workers
def test_idle_workers_are_as_few_as_processors(monkeypatch):
    encoder, n = new_encoder(), 200
    text = b"one two " * 1_000
    expected = encoder.encode(text)
    together = threading.Barrier(n)
    encode_pieces = encoding.encode_pieces

    def encode_together(*arguments):
        together.wait(60)
        return encode_pieces(*arguments)

    monkeypatch.setattr(encoding, "encode_pieces", encode_together)
    with ThreadPoolExecutor(n) as pool:
        assert all(ids == expected for ids in pool.map(encoder.encode, [text] * n))
    assert 1 <= len(encoder._idle) <= n_threads(None)
    assert sum(map(nbytes_of_worker, encoder._idle)) <= n_threads(None) * 265_000_000


@pytest.mark.parametrize("bits", [14, 15, 16])
def test_the_bound_of_a_worker(bits, monkeypatch):
    """144 bytes a piece and 6 an id of the pool, whatever the pieces are, and what the blocks take."""
    monkeypatch.setattr(encoding, "KNOWN_PIECES", 1 << bits)
    monkeypatch.setattr(encoding, "POOL_IDS", 16 << bits)
    encoder = new_encoder()
    for size in (4, 7, 15, 17, 100):
        data = b" ".join(words_of(3 << bits, size))
        assert encoder.encode_to_numpy(data).tolist() == list(data)
    [worker] = encoder._idle
    counted = copy_of_known(worker.memory)
    row = 32  # of the secret
    assert counted.nbytes <= ((80 + 16) << bits) + row, "slots and offsets, and the bytes of the pieces"
    fixed = 4 * encoding.BLOCK_BYTES + 41 * encoding._ROOM + 9 * encoding.SMALL + 32 * LAST_ROWS + 1_000
    assert nbytes_of_worker(worker) <= 144 * (1 << bits) + 6 * (16 << bits) + fixed
    assert 144 * (1 << 20) + 6 * (16 << 20) + fixed < 265_000_000, "what is stated"


def test_the_stated_sizes():
    assert (encoding.KNOWN_PIECES, encoding.POOL_IDS) == (1 << 20, 16 << 20)
    merges = [(left, right) for left in range(256) for right in range(256)]
    few, many = (nbytes_of_worker(new_encoder(merges=merges[:n])._take()) for n in (0, len(merges)))
    assert few < many <= few + 5 * len(merges)


def test_what_a_long_text_takes_is_released():
    encoder = new_encoder("none")
    encoder.encode(b"x" * (encoding.SMALL + 1))
    [worker] = encoder._idle
    for n in (200_000, 4_000_000):  # one piece, longer than a block, too
        assert encoder.count(b"x" * n) == n
        assert len(worker.offsets) <= encoding.BLOCK_BYTES + 1
        assert nbytes_of_worker(worker) < 4 * encoding.POOL_IDS + 4 * encoding.BLOCK_BYTES + 2_000_000
    assert [*encoder._idle] == [worker]


def test_what_a_long_piece_takes_is_released_after_an_error(monkeypatch):
    monkeypatch.setattr(linked, "are_in_order", lambda *_: False)  # then a piece is merged as a whole
    encoder = new_encoder()
    encoder.encode(b"x y" * encoding.SMALL)
    [worker] = encoder._idle
    before = nbytes_of_worker(worker)
    monkeypatch.setattr(linked, "_MOST_PLACES", 300_000)
    text = b"x" * 250_000 + b" " + b"y" * 400_000
    with pytest.raises(MemoryError, match="a piece of 400001 bytes is too long"):
        encoder.encode(text)
    kept = sum(map(nbytes_of_worker, encoder._idle))
    assert kept <= before + 4 * len(text), "offsets of a block at most"
    assert encoder.count(text[:250_000]) == 250_000


# ---------------------------------------------------------------------------------- pieces that collide
def colliding(encoder, n):
    """Return words whose homes are side by side, in the first part in 128 of any table of the encoder.

    A copy of a table has the same hash.
    """
    sample = copy_of_known(encoder._idle[0].memory)
    sample.clear()
    sample.add_many(words_of(160 * n))
    words, slots = np.array(list(sample)), slots_of(sample)
    found = words[slots < np.sort(slots)[len(slots) // 128]].tolist()
    assert len(found) >= n
    return found[:n]


def furthest_in(counter, words):
    offsets = np.arange(0, 16 * len(words) + 1, 16)
    return furthest_of(counter, np.frombuffer(bytearray().join(words), np.uint8), offsets)


def known_of(encoder):
    [worker] = encoder._idle
    return copy_of_known(worker.memory)


@pytest.mark.parametrize("n", [1_500, 3_000, 6_000])
def test_pieces_that_collide_are_forgotten(n):
    encoder = new_encoder(SIXTEEN)
    encoder.encode(b"to make a worker")
    words = colliding(encoder, n)
    plain = known_of(encoder)
    plain.add_many(words)
    assert furthest_in(plain, words) > n // 2, "they do collide"
    for _ in range(2):
        for i in range(0, n, 100):
            data = b"".join(words[i : i + 100])
            assert encoder.encode(data) == list(data)
            assert furthest_in(known_of(encoder), words) <= MOST_PROBES + 200
    data = b"".join(words)
    assert encoder.encode_to_numpy(data).tolist() == list(data)
    assert furthest_in(known_of(encoder), words) <= MOST_PROBES + 2 * BATCH
    others = words_of(400, seed=2)
    for _ in range(2):
        assert encoder.encode(b"".join(others)) == list(b"".join(others))
    assert furthest_in(known_of(encoder), others) <= MOST_PROBES


@kernel
def sizes(memory):
    """Return how many pieces the table of short ones has, and the other one."""
    return memory.n_short, len(memory.known)


@kernel
def weaken(memory):
    """Make the secret known: pieces of seven bytes that end with "end" share a home."""
    forget(memory)  # what has a home by the secret
    memory.short_seed = (-(0x646E65 << 32), 0, 1)  # the upper half of the first word becomes 0


@kernel
def longest_way(memory):
    """Return how far from its home the key of a short piece is at most."""
    slots, shift, most = memory.short_slots, memory.short_shift, 0
    for i in range(0, slots.size - LAST_WORDS, ROW):
        if slots[i + 1] != 0:
            way = (i - first_slot(slots[i], slots[i + 1], memory.short_seed, shift)) // ROW
            most = max(most, way & ((1 << (64 - shift)) - 1))
    return most


def test_which_table_has_a_piece():
    """Pieces of up to 15 bytes, also with zeros, are in the table of short ones; no more are merged."""
    encoder = new_encoder()
    words = [b"a" * n + bytes([97 + n]) for n in range(20)]
    words += [b"\0" * n for n in (1, 2, 7, 8, 9, 14, 15, 16)]
    texts = [b" ".join(words), b" ".join(words * 1000)]  # in one call, and in blocks
    expected = [list(text) for text in texts]
    for _ in range(2):
        assert [encoder.encode(text) for text in texts] == expected
        [worker] = encoder._idle
        # The first word has no space before it; later, it has.
        pieces = {b" " + word for word in words} | {words[0]}
        n_short = sum(len(piece) <= SHORT for piece in pieces)
        assert sizes(worker.memory) == (n_short, len(pieces) - n_short)


@pytest.mark.parametrize("n", [2_000, 6_000])
def test_short_pieces_that_collide_are_forgotten(n):
    encoder = new_encoder(r"(?s:.{7})|(?s:.)")
    encoder.encode(b"to make a worker")
    [worker] = encoder._idle
    weaken(worker.memory)
    words = [i.to_bytes(4, "big") + b"end" for i in range(n)]
    for _ in range(2):
        for i in range(0, n, 100):
            data = b"".join(words[i : i + 100])
            assert encoder.encode(data) == list(data)
            assert longest_way(worker.memory) <= MOST_PROBES + 100
    data = b"".join(words)
    assert encoder.encode_to_numpy(data).tolist() == list(data)
    assert longest_way(worker.memory) <= MOST_PROBES + 2 * BATCH
    assert sizes(worker.memory)[0] < n, "they were forgotten"


def test_other_pieces_are_not_forgotten():
    encoder = new_encoder(SIXTEEN)
    words = words_of(300_000)
    data = b"".join(words)
    assert len(encoder.encode_to_numpy(data)) == len(data)
    assert len(known_of(encoder)) == len(words)
    assert furthest_in(known_of(encoder), words) < MOST_PROBES // 2


def test_a_full_table_comes_nowhere_near_the_limit():
    counter = ByteCounter()
    words = words_of(1 << 20)[: 1 << 19]
    counter.add_many(words)
    assert 2 * len(counter) == 1 << 20
    assert furthest_in(counter, words) < MOST_PROBES // 2


def test_short_texts_are_encoded_in_one_call_as_in_blocks(monkeypatch):
    encoder = new_encoder()
    texts = [b"", b"one two", bytes(range(256)), b"x " * (encoding.SMALL // 2), "日本 é".encode() * 50]
    expected = [encoder._encode(text, np.array([len(text)]))[0] for text in texts]
    with monkeypatch.context() as patch:
        patch.setattr(encoder, "_encode", None)  # what would be called for a longer text
        found = [encoder.encode_to_numpy(text) for text in texts]
    assert list(map(np.ndarray.tolist, found)) == list(map(np.ndarray.tolist, expected))
    assert all(ids.dtype == np.uint32 for ids in found)
    assert len(encoder.encode_to_numpy(b"x " * encoding.SMALL)) == 2 * encoding.SMALL
