"""Long pieces, merged in windows: the ids are those of the whole piece."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bpe
from bpe.encoding import encoder as encoder_module
from bpe.encoding.kernels.linked_pieces import Ranks, new_pieces, put_piece
from bpe.encoding.kernels.merge_heap import merge_by_heap
from bpe.encoding.kernels.merge_rounds import WINDOW
from structures import kernel

BYTES = [bytes([value]) for value in range(256)]


@kernel
def merged(pieces, data, ids):
    """Merge a text as one piece, by the heap."""
    put_piece(pieces, data, 0, data.size, 0)
    merge_by_heap(pieces, 0, data.size)
    place, n = 0, 0
    while place >= 0:
        ids[n] = pieces.tokens[place]
        n += 1
        place = np.int64(pieces.next_of[place])
    return n


def by_heap(tok, text):
    """Return the ids of a text that is one piece."""
    pairs = np.array(tok.engine.vocabulary.pairs, np.int64).reshape(-1, 2)
    made = np.arange(256, 256 + len(pairs))
    ranks = Ranks.of(pairs, made, range(256))
    ids = np.empty(len(text), np.uint32)
    return ids[: merged(new_pieces(len(text), ranks), np.frombuffer(text, np.uint8), ids)].tolist()


def of_merges(pairs):
    tokens = list(BYTES)
    for left, right in pairs:
        tokens.append(tokens[left] + tokens[right])
    return bpe.Tokenizer(token_bytes=tokens, merges=pairs, pattern="none")


@pytest.fixture
def rooms(monkeypatch):
    """The bytes that encoders make room for."""
    asked = []
    original = encoder_module._Worker.make_room
    monkeypatch.setattr(
        encoder_module._Worker, "make_room", lambda self, n: (asked.append(n), original(self, n))
    )
    return asked


@given(st.integers(1, 4), st.integers(0, 2**32))
def test_random_letters(n_letters, seed):
    chance = random.Random(seed)
    text = bytes(chance.choices(b"abcd"[:n_letters], k=chance.randrange(WINDOW, 5 * WINDOW)))
    tok = bpe.train(
        [text[: 2 * WINDOW]], vocab_size=256 + chance.randrange(1, 60), pattern="none", progress=False
    )
    assert tok.encode(text) == by_heap(tok, text)
    assert tok.decode_bytes(tok.encode(text)) == text


def test_no_room_is_made_for_a_piece_that_settles(rooms):
    text = bytes(random.Random(1).choices(b"abcdefgh", k=1 << 17))
    tok = bpe.train([text[:20_000]], vocab_size=1000, pattern="none", progress=False)
    assert tok.encode(text) == by_heap(tok, text)
    assert not rooms


def links(letter_of_link, length):
    """Return a chain: each link may be joined with the next one, the last two first of all."""
    pairs, made = [], []
    for letter in range(letter_of_link):
        link, size = letter, 1
        while size < length:
            pairs.append((link, link))
            link, size = 255 + len(pairs), 2 * size
        made.append(link)
    pairs += [(made[i], made[i + 1]) for i in range(letter_of_link - 2, -1, -1)]
    return of_merges(pairs), [bytes([letter]) * length for letter in range(letter_of_link)]


@pytest.mark.parametrize("length", [1, 16, 64, 256])
def test_chains_are_decided_from_the_right(length, rooms):
    """Whether a link is joined with the next one depends on how many follow it, up to the chain's end."""
    tok, chain = links(200, length)
    chance = random.Random(length)
    for _ in range(6):
        parts = []
        while sum(map(len, parts)) < 6 * WINDOW:
            first = chance.randrange(200)
            parts += chain[first : first + chance.choice([3, 50, 200])]
        text = b"".join(parts)
        assert tok.encode(text) == by_heap(tok, text)
    assert bool(rooms) == (length >= 64)  # some windows had to grow beyond the room


def test_a_window_may_change_what_is_far_before_it(rooms):
    """The second window is right at first, and wrong when it is merged again, twice as large."""
    tok, chain = links(240, 128)
    for n_before in range(WINDOW - 600, WINDOW + 600, 97):
        text = b"\xff\xfe" * (n_before // 2) + b"".join(chain[:150]) + b"\xff" * 5000
        assert tok.encode(text) == by_heap(tok, text)
    assert rooms


def test_offsets_counts_and_segments():
    text = "ab" * 9000 + "é日" * 3000
    tok = bpe.train([text[:9000]], vocab_size=300, pattern="none", progress=False)
    ids, starts, ends = tok.encode_with_offsets(text)
    assert len(ids) == tok.count(text)
    assert "".join(text[start:end] for start, end in zip(starts, ends, strict=True) if end > start)
    short, long = tok.encode("abba"), tok.encode(text)
    assert tok.encode_batch(["abba", text, "", text, "abba"]) == [short, long, [], long, short]
