"""Streams of tokens: the same text as at once, and as early as it can be."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bpe.pipeline.decoders import Decoder, DecoderStream

SPACE = {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}
FALLBACK, FUSE, BYTE_LEVEL = {"type": "ByteFallback"}, {"type": "Fuse"}, {"type": "ByteLevel"}
METASPACE = {"type": "Metaspace", "replacement": "▁"}
WORDS = {"type": "WordPiece", "prefix": "##", "cleanup": True}
SUFFIX = {"type": "BPEDecoder", "suffix": "</w>"}
CTC = {"type": "CTC", "pad_token": "", "word_delimiter_token": "|", "cleanup": False}


def strip(start, stop):
    return {"type": "Strip", "content": " ", "start": start, "stop": stop}


def sequence_of(*decoders):
    return {"type": "Sequence", "decoders": [*decoders]}


INCREMENTAL = [
    None,
    BYTE_LEVEL,
    METASPACE,
    WORDS,
    SUFFIX,
    sequence_of(),
    sequence_of(strip(1, 1)),
    sequence_of(SPACE, FALLBACK),
    sequence_of(SPACE, FALLBACK, FUSE, strip(2, 0)),
    sequence_of(METASPACE, SUFFIX, BYTE_LEVEL, strip(1, 0)),
    sequence_of(SUFFIX, FALLBACK),
]
OTHERS = [
    CTC,
    sequence_of(FUSE, SPACE),
    sequence_of(FUSE, strip(1, 1)),
    sequence_of(FUSE, strip(1, 0), strip(1, 0)),
    sequence_of(FALLBACK, SPACE),
]
words = [
    *["▁", "▁▁", "▁a", "##a", "a</w>", "</w>", "", "a", " ", "  ", "a "],
    *["<0xE2>", "<0x82>", "<0xAC>", "<0x41>", "<0x20>"],
    *["âĤ", "¬", "Ã", "Ġ", "日"],
]
blocks = st.lists(st.lists(st.sampled_from(words), max_size=4), max_size=8)


@settings(max_examples=500)
@given(st.sampled_from(INCREMENTAL + OTHERS), blocks, blocks)
def test_the_same_as_at_once(entry, blocks, others):
    decoder = Decoder.of(entry)
    stream = DecoderStream(decoder)
    for some in (blocks, others):  # after the end, another text begins
        text = "".join([*map(stream.feed, some), stream.finish()])
        assert text == decoder([token for block in some for token in block])


@pytest.mark.parametrize(
    ("entry", "tokens"),
    [
        (sequence_of(FUSE, strip(2, 0)), ["", " ", "", "  a", " "]),
        (sequence_of(FUSE, strip(2, 0)), [" ", "a", " "]),
        (sequence_of(FUSE, strip(2, 0)), ["  ", "", " "]),
        (sequence_of(FUSE, strip(2, 0)), ["a", "  "]),
        (sequence_of(SUFFIX, FALLBACK), ["a</w>", "<0xC3>", "<0xA9>"]),
        (sequence_of(FALLBACK, FUSE, strip(2, 0)), ["<0x20>", "<0x20>", "<0x20>", " ", "<0xC3>"]),
    ],
)
def test_one_by_one(entry, tokens):
    decoder = Decoder.of(entry)
    stream = DecoderStream(decoder)
    assert "".join([*(stream.feed([token]) for token in tokens), stream.finish()]) == decoder(tokens)


@pytest.mark.parametrize("entry", INCREMENTAL + OTHERS)
def test_which_are_incremental(entry):
    stream = DecoderStream(Decoder.of(entry))
    text = stream.feed(["a"] * 3)
    assert stream.is_incremental == (entry in INCREMENTAL) == bool(text)


@given(st.sampled_from(INCREMENTAL), blocks)
def test_all_comes_out_that_is_certain(entry, blocks):
    """The next token may begin with any character, or end: what all these have in common is certain."""
    decoder = Decoder.of(entry)
    tokens = [token for block in blocks for token in block]
    stream = DecoderStream(decoder)
    given_out = "".join(map(stream.feed, blocks))
    nexts = [
        [],
        ["a"],
        ["##"],
        ["▁"],
        ["日"],
        ["</w>"],
        ["<0xFF>"],
        ["<0x82>"],
        ["¬"],
        ["Ĥ"],
        ["Ġ"],
        [" "],
        [""],
    ]
    texts = [decoder(tokens + more) for more in nexts]
    certain = min(texts)
    while not all(text.startswith(certain) for text in texts):
        certain = certain[:-1]
    assert certain.startswith(given_out)
    # Of the last token of SUFFIX all is held, though only its end may change.
    assume(SUFFIX not in (entry, *(entry or {}).get("decoders", ())))
    assert certain.rstrip("\ufffd") == given_out.rstrip("\ufffd")


@pytest.mark.parametrize(
    ("entry", "token"),
    [(entry, "a") for entry in OTHERS] + [(sequence_of(FALLBACK, FUSE), "<0xE2>"), (BYTE_LEVEL, "\u0122")],
)
def test_a_token_takes_no_longer_after_many_others(entry, token):
    """Also where nothing is certain before the end: what is held is added to, and not copied."""
    stream = DecoderStream(Decoder.of(entry))
    stream.feed([token])
    held, run = stream._held, stream._run
    assert stream.feed([token] * 3) is not None
    if stream._held:
        assert stream._held is held
    assert stream._run is run
    assert len(stream._held) + len(stream._run) <= 4
