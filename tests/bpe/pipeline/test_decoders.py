"""Decoders: the slow way against ``tokenizers``, the table against the slow way."""

import json
import pickle

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bpe.pipeline import decoder_steps
from bpe.pipeline.decoders import Decoder
from bpe.vocabulary.byte_level import text_of
from tests.optional import required

tokenizers = required("tokenizers")


# ------------------------------------------------------------------------------------------------ strategies
def entries_of(kind, **values):
    return st.fixed_dictionaries({"type": st.just(kind), **values})


short = st.sampled_from(["", "a", " ", "▁", "##", "</w>", "ab", "<0xC3>", "é", "\ufffd"])
characters = st.sampled_from(["a", " ", "▁", "é", "\U0001f600"])
patterns = st.one_of(
    st.builds(lambda text: {"String": text}, short),
    st.builds(
        lambda source: {"Regex": source},
        st.sampled_from(["a+", "[ab]", "▁+", "^ ", r"\s", ".(?=a)", ".$", "(?i)A|B"]),
    ),
)
BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
each = st.one_of(
    entries_of("Replace", pattern=patterns, content=short),
    entries_of("Strip", content=characters, start=st.integers(0, 3), stop=st.integers(0, 3)),
    entries_of(
        "Metaspace",
        replacement=characters,
        prepend_scheme=st.sampled_from(["always", "first", "never"]),
        split=st.booleans(),
    ),
    entries_of("BPEDecoder", suffix=short),
    entries_of("WordPiece", prefix=short, cleanup=st.booleans()),
)
joining = st.sampled_from([{"type": "Fuse"}, {"type": "ByteFallback"}, BYTE_LEVEL])
others = entries_of("CTC", pad_token=short, word_delimiter_token=short, cleanup=st.booleans())


def sequence_of(*decoders):
    return {"type": "Sequence", "decoders": [*decoders]}


steps = st.one_of(each, joining, others)
entries = st.one_of(
    steps,
    st.lists(steps, max_size=4).map(lambda some: sequence_of(*some)),
    st.builds(
        lambda head, join, tail: sequence_of(*head, sequence_of(*join), *tail),
        st.lists(each, max_size=2),
        st.sampled_from(
            [[{"type": "ByteFallback"}], [{"type": "ByteFallback"}, {"type": "Fuse"}], [BYTE_LEVEL]]
        ),
        st.lists(each, max_size=2),
    ),
)
LLAMA2 = sequence_of(
    {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
    {"type": "ByteFallback"},
    {"type": "Fuse"},
    {"type": "Strip", "content": " ", "start": 1, "stop": 0},
)
byte_tokens = st.one_of(
    st.integers(0, 255).map("<0x{:02X}>".format),
    st.sampled_from(["<0xE2>", "<0x82>", "<0xAC>", "<0xac>", "<0xC3>", "<0xA9>", "<0xF0>", "<0x9F>"]),
    st.sampled_from(["<0x+1>", "<0x-1>", "<0x 1>", "<0x1_>", "<0xé>", "<0x٣1>", "<0x1>", "<0x>", "<0x111>"]),
)
byte_levels = st.text("aĠâĤ¬ÃĊðŁĺĢĿ", max_size=4)
words = st.sampled_from(
    ["▁the", "▁", "▁▁", "##ing", "the</w>", "</w>", " ", "  a ", "", ".", " .", " n't", " do not", "n't"]
)
tokens = st.lists(st.one_of(byte_tokens, byte_levels, words, short, st.text(max_size=3)), max_size=8)


def oracle_of(entry):
    return tokenizers.Tokenizer.from_str(
        json.dumps(
            {
                "version": "1.0",
                "truncation": None,
                "padding": None,
                "added_tokens": [],
                "normalizer": None,
                "pre_tokenizer": None,
                "post_processor": None,
                "decoder": entry,
                "model": {"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": []},
            }
        )
    )


def decoded(entry, texts):
    """Return what `tokenizers` makes of tokens; a Strip that fails is left out."""
    try:
        return oracle_of(entry).decoder.decode(texts)
    except BaseException as error:  # its panics are no Exception
        assume("index out of bounds" not in str(error) and "slice index" not in str(error))
        raise


def decoder_of(entry):
    try:
        return Decoder.of(entry)
    except ValueError as error:
        assume("times as long" not in str(error))
        raise


# ----------------------------------------------------------------------------------------------------- tests
@given(entries, tokens)
def test_against_tokenizers(entry, texts):
    decoder = decoder_of(entry)
    assert decoder(texts) == decoded(entry, texts)
    assert decoder.entry == entry
    assert pickle.loads(pickle.dumps(decoder)) == decoder


@given(st.sampled_from([LLAMA2, BYTE_LEVEL, {"type": "ByteFallback"}]), tokens)
def test_usual_decoders_against_tokenizers(entry, texts):
    assert Decoder.of(entry)(texts) == decoded(entry, texts)


@given(st.lists(st.sampled_from([0, 1]), max_size=4))
def test_no_decoder(ids):
    assert Decoder.of(None)(["ab"[number] for number in ids]) == oracle_of(None).decode(ids)


@given(st.binary(max_size=12))
def test_bytes_that_are_no_utf8(data):
    """Where a character is broken off, it becomes one U+FFFD in ByteLevel, and several in ByteFallback."""
    visible = [text_of(bytes([byte])) for byte in data]
    assert Decoder.of(BYTE_LEVEL)(visible) == decoded(BYTE_LEVEL, visible) == data.decode(errors="replace")
    fallback = {"type": "ByteFallback"}
    texts = [f"<0x{byte:02X}>" for byte in data]
    assert Decoder.of(fallback)(texts) == decoded(fallback, texts)


@given(st.one_of(entries, st.just(LLAMA2), st.none()), tokens, st.data())
def test_tables_against_the_slow_way(entry, texts, data):
    decoder = decoder_of(entry)
    table = decoder.table(texts)
    numbers = data.draw(st.lists(st.sampled_from(range(len(texts))), max_size=10)) if texts else []
    if table is not None:
        assert table(numbers) == decoder([texts[number] for number in numbers])
        for number in numbers:
            assert table.piece(number, False, False) == table.pieces[number]


FALLBACK, FUSE = {"type": "ByteFallback"}, {"type": "Fuse"}
CTC = {"type": "CTC", "pad_token": "", "word_delimiter_token": "|", "cleanup": False}
WORDS = {"type": "WordPiece", "prefix": "##", "cleanup": True}
SUFFIX = {"type": "BPEDecoder", "suffix": "</w>"}
METASPACE = {"type": "Metaspace", "replacement": "▁"}


@pytest.mark.parametrize(
    ("entry", "has_table"),
    [
        (None, True),
        (LLAMA2, True),
        (BYTE_LEVEL, True),
        (FALLBACK, True),
        (WORDS, True),
        (sequence_of(), True),
        (sequence_of(WORDS, FALLBACK, FUSE, CTC), True),
        (CTC, False),
        (sequence_of(FALLBACK, WORDS, FUSE), False),
        (sequence_of(FALLBACK, BYTE_LEVEL), False),
        (sequence_of(FALLBACK, FALLBACK), False),
    ],
)
def test_which_have_tables(entry, has_table):
    decoder = Decoder.of(entry)
    assert decoder.has_table == (decoder.table(["a"]) is not None) == has_table


def test_a_table_does_not_take_the_slow_way(monkeypatch):
    decoder = Decoder.of(LLAMA2)
    table = decoder.table(["▁a", "<0xC3>", "<0xA9>"])
    monkeypatch.setattr(Decoder, "__call__", None)
    assert table([0, 1, 2, 0]) == "aé a"


@given(st.lists(st.sampled_from([0x41, 0xC3, 0xA9, 0xE2, 0x82, 0xAC, 256]), max_size=8))
def test_tables_of_byte_tokens(numbers):
    texts = [*map("<0x{:02X}>".format, range(256)), "é"]
    for entry in (FALLBACK, LLAMA2):
        decoder = Decoder.of(entry)
        assert decoder.table(texts)(numbers) == decoder([texts[number] for number in numbers])


@pytest.mark.parametrize(
    ("entry", "texts"),
    [
        ({**WORDS, "cleanup": True}, ["a", ". ? ! , '", " ' n't 'm do not 's", "'ve", "'re", " 've 're '"]),
        (sequence_of(CTC, {**WORDS, "cleanup": False}), ["a", "", "b", "b", "", "", "##c", "c"]),
        (sequence_of(WORDS, WORDS, CTC), ["a", "b", "##b", "##b"]),
        ({"type": "Replace", "pattern": {"String": ""}, "content": "x"}, ["ab", "", "c"]),
        (sequence_of(SUFFIX, METASPACE), ["▁a</w>"]),
        (sequence_of(METASPACE, SUFFIX, WORDS), ["▁a</w>", "▁</w>", "##c</w>"]),
    ],
)
def test_cases_against_tokenizers(entry, texts):
    decoder = Decoder.of(entry)
    expected = decoded(entry, texts)
    assert decoder(texts) == expected
    if decoder.has_table:
        assert decoder.table(texts)(range(len(texts))) == expected


def test_many_steps_that_make_no_text_longer_are_read():
    assert Decoder.of(sequence_of(*[FUSE] * 20))(["a", "b"]) == "ab"


def test_decoders_that_may_make_texts_much_longer_are_read():
    assert Decoder.of(sequence_of(*[{"type": "BPEDecoder", "suffix": ""}] * 6)) is not None


def test_attributes():
    assert Decoder.of(sequence_of()).is_nothing
    assert not Decoder.of(None).is_nothing
    assert Decoder.of(BYTE_LEVEL).is_byte_level
    assert Decoder.of(sequence_of(BYTE_LEVEL)).is_byte_level
    assert not Decoder.of(sequence_of(BYTE_LEVEL, FUSE)).is_byte_level


def test_strip_stops_where_nothing_is_left():
    """There tokenizers fails."""
    for start, stop in [(0, 1), (2, 2), (1, 5)]:
        decoder = Decoder.of({"type": "Strip", "content": " ", "start": start, "stop": stop})
        assert decoder(["", "  ", "a"]) == ("a" if stop > 1 else " a")


def test_metaspace_of_older_files():
    old = {"type": "Metaspace", "replacement": "▁", "add_prefix_space": True}
    assert Decoder.of(old)(["▁a", "▁b"]) == decoded(old, ["▁a", "▁b"]) == "a b"


def test_slow_expressions_stop(monkeypatch):
    monkeypatch.setattr(decoder_steps, "SECONDS", 0)
    monkeypatch.setattr(decoder_steps, "SECONDS_PER_MEGABYTE", 0)
    entry = {"type": "Replace", "pattern": {"Regex": "a+b"}, "content": "x"}
    with pytest.raises(TimeoutError, match=r"takes more than 0 seconds for 30000 tokens\. Use a simpler one"):
        Decoder.of(entry).table(["aaab"] * 30_000)


REPLACE = {"type": "Replace", "pattern": {"String": "a"}, "content": "b"}
STRIP = {"type": "Strip", "content": " ", "start": 1, "stop": 0}


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("Fuse", "decoder is not an object with a type"),
        ({"type": "Fusee"}, "decoder is of the unknown type 'Fusee'. Known are BPEDecoder, .*, Sequence"),
        (
            sequence_of(FUSE, sequence_of({"type": 1})),
            r"decoder.decoders\[1\].decoders\[0\] is not an object",
        ),
        ({**REPLACE, "pattern": "a"}, "decoder.pattern must be an object"),
        ({**REPLACE, "content": None}, "decoder.content must be a text"),
        ({**STRIP, "content": "ab"}, "decoder.content must be one character, not 'ab'"),
        ({**STRIP, "content": ""}, "decoder.content must be one character"),
        ({**STRIP, "start": -1}, "decoder.start must not be negative, but is -1"),
        ({**STRIP, "stop": True}, "decoder.stop must be an integer"),
        ({**METASPACE, "replacement": ""}, "decoder.replacement must be one character"),
        ({**METASPACE, "prepend_scheme": "last"}, "decoder.prepend_scheme must be always, first or never"),
        ({**METASPACE, "add_prefix_space": False}, "add_prefix_space is false, but prepend_scheme is always"),
        ({"type": "BPEDecoder"}, "decoder has no 'suffix'"),
        ({"type": "WordPiece", "prefix": "##"}, "decoder has no 'cleanup'"),
        ({"type": "CTC", "pad_token": "", "cleanup": True}, "decoder has no 'word_delimiter_token'"),
        ({**REPLACE, "content": "b" * 1001}, "decoder may make a text more than 1000 times as long"),
        (sequence_of(*[{**REPLACE, "pattern": {"Regex": "a"}, "content": "a"}] * 7), "1000 times as long"),
        (sequence_of(*[{"type": "BPEDecoder", "suffix": ""}] * 7), "1000 times as long"),
        (sequence_of(*[{**CTC, "word_delimiter_token": ""}] * 7), "1000 times as long"),
        (sequence_of(*[WORDS] * 10), "1000 times as long"),
    ],
)
def test_what_is_refused(entry, message):
    with pytest.raises(ValueError, match=message):
        Decoder.of(entry)
