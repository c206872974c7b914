"""Batches, however little of a batch is known: they hold the segments of the documents."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe.counting.batching import Batcher
from bpe.splitting.special_search import SpecialSearch

blocks = st.lists(st.text("ab<>", max_size=8), max_size=4)
specials = st.frozensets(st.sampled_from(["<a>", "<a>b", "b", "<<"]))


@given(st.lists(blocks, max_size=4), specials, st.integers(1, 12), st.data())
def test_batches(documents, specials, batch_bytes, draw):
    search = SpecialSearch(specials)
    texts = ["".join(document).encode() for document in documents]
    expected = [part for text in texts for part in search.split(text)[::2] if part]
    batcher = Batcher(
        [[block.encode() for block in document] for document in documents], specials, batch_bytes
    )
    segments, known = [], b""  # `known` is the beginning of the open segment, of the pieces that are known
    batch = batcher.next()
    while batch:
        data, ends = bytes(batch.data), batch.ends.tolist()
        assert known.endswith(data[: batch.start])
        if not batch.start and known:  # it has ended where it was known
            segments.append(known)
            known = b""
        begins = [batch.start, *ends[:-1]]
        assert ends[-1] == len(data)
        assert all(begin < end for begin, end in zip(begins, ends, strict=True))
        found = [data[begin:end] for begin, end in zip(begins, ends, strict=True)]
        found[0] = known + found[0]
        done, known = 0, b""
        if batch.is_open:
            done = draw.draw(st.integers(begins[-1], ends[-1]))
            open_segment = found.pop()
            known = open_segment[: len(open_segment) - (ends[-1] - done)]
        segments += found
        batch = batcher.next(batch, done)
    assert [*segments, known] == expected if known else segments == expected


@pytest.mark.parametrize("place", range(7))
def test_the_longest_token_is_cut_out_wherever_the_blocks_part(place):
    text = b"x<a>bx"
    batch = Batcher([[text[:place], text[place:]]], ["<a>", "<a>b"]).next()
    assert (batch.data, batch.ends.tolist(), batch.is_open) == (b"xx", [1, 2], False)
