"""Models of SentencePiece: the same ids and texts as the package gives, or refused by name."""

import io
import random
import struct
import time

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import bpe
from bpe.formats import sentencepiece as ours
from bpe.formats.sentencepiece import fields_of
from tests.fuzz.damage import damaged
from tests.optional import optional, required

sentencepiece = optional("sentencepiece")

TREASURE = "tests/data/treasure_island.txt"
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)


# ----------------------------------------------------------------------------------- models, trained and made
OPTIONS = {
    "plain": {"normalization_rule_name": "identity"},
    "bytes": {
        "normalization_rule_name": "identity",
        "byte_fallback": True,
        "remove_extra_whitespaces": False,
        "allow_whitespace_only_pieces": True,
    },
    "symbols": {
        "normalization_rule_name": "nmt_nfkc",
        "user_defined_symbols": ["<sym>", "<sym>>", "ab", "(", "\\E", "d"],
    },
    "bytes and symbols": {
        "normalization_rule_name": "identity",
        "byte_fallback": True,
        "remove_extra_whitespaces": False,
        "user_defined_symbols": ["▁▁", "▁▁▁", "<sym>", "\n"],
        "control_symbols": ["[INST]"],
    },
    "no prefix": {
        "normalization_rule_name": "nfkc",
        "add_dummy_prefix": False,
        "user_defined_symbols": ["<sym>"],
        "split_by_whitespace": False,
    },
    "no prefix, as it is": {
        "normalization_rule_name": "identity",
        "add_dummy_prefix": False,
        "remove_extra_whitespaces": False,
        "byte_fallback": True,
        "split_digits": True,
        "unk_piece": "[unk]",
        "unk_id": 2,
        "bos_id": 0,
        "eos_id": -1,
    },
    "spaces as they are": {"normalization_rule_name": "nmt_nfkc", "remove_extra_whitespaces": False},
    "casefold": {"normalization_rule_name": "nmt_nfkc_cf", "unk_surface": "?"},
}


def trained(book, **options):
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([*book[:60_000].splitlines(), "x  = 12345;   return", "ab <sym> d ( \\E x y"]),
        model_writer=written,
        model_type="bpe",
        vocab_size=600,
        minloglevel=2,
        num_threads=1,
        **options,
    )
    return written.getvalue()


def read(data, tmp_path):
    path = tmp_path / "tokenizer.model"
    path.write_bytes(data)
    return bpe.Tokenizer.from_sentencepiece(path)


@pytest.fixture(scope="module")
def pairs(book, tmp_path_factory):
    made = {}
    for name, options in OPTIONS.items():
        data = trained(book, **options)
        tok = read(data, tmp_path_factory.mktemp("models"))
        made[name] = tok, sentencepiece.SentencePieceProcessor(model_proto=data)
    return made


def varint(value):
    found = bytearray()
    while value >= 0x80:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def piece(text, score=0.0, kind=NORMAL):
    return field(1, field(1, text) + field(2, score) + field(3, kind))


UNK = piece("<unk>", 0.0, UNKNOWN)


def model(*pieces, trainer=b"", normalizer=b""):
    """Make a model that does nothing to a text, unless something else is said."""
    as_it_is = field(3, 0) + field(4, 0)
    return b"".join([*pieces, field(2, field(3, 2) + trainer), field(3, as_it_is + normalizer)])


# ----------------------------------------------------------------------------------------- the same as there
WORDS = [
    *(
        "the",
        " ",
        "  ",
        "   ",
        " the",
        "ing",
        "a",
        "b",
        "ab",
        "d",
        "x",
        "x y",
        "y",
        "(",
        "\\E",
        "E",
        "12",
        "7",
    ),
    *(
        "<sym>",
        "<sym>>",
        "<sym",
        ">",
        "▁",
        "▁▁",
        "\n",
        "\t",
        "\r\n",
        "\x00",
        "日本",
        "😀",
        "é",
        "ﬁ",
        "ß",
        "İ",
    ),
    *(
        "<unk>",
        "<s>",
        "</s>",
        "[INST]",
        "<0x41>",
        "<0x0A>",
        "½",
        "\u3000",
        "\u00a0",
        "\u200b",
        "\ufffd",
        "\uff21",
        "e\u0302\u0301",
        "\u0301",
        "\u200d",
        "\u1100\u1161",
        "\u11a8",
        "\uff76\uff9e",
        "\r",
    ),
]
TEXTS = st.lists(st.sampled_from(WORDS), max_size=12).map("".join)


def agree(tok, theirs, text, name="bytes"):
    if theirs.normalize(text).removeprefix("▁") in tok.added_tokens:  # the docstring says so
        return
    ids = theirs.encode(text)
    assert tok.encode(text, disallowed_special=()) == ids
    assert tok.decode(ids) == theirs.decode(ids)
    assert tok.count(text, disallowed_special=()) == len(ids)


@pytest.mark.parametrize("name", OPTIONS)
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(text=TEXTS)
@example(text="")
@example(text=" ")
@example(text="   ▁ ")
@example(text="<sym>a<sym> <sym>")
def test_same_ids(pairs, name, text):
    tok, theirs = pairs[name]
    agree(tok, theirs, text, name)


@pytest.mark.parametrize("name", OPTIONS)
def test_long_texts(pairs, name, book):
    tok, theirs = pairs[name]
    agree(tok, theirs, book[100_000:200_000], name)
    for character in "a -=1":
        for n in (2, 3, 7, 64, 999):
            agree(tok, theirs, character * n, name)


@pytest.mark.parametrize("name", OPTIONS)
def test_vocabulary(pairs, name):
    tok, theirs = pairs[name]
    assert tok.vocab_size == theirs.get_piece_size()
    numbers = range(tok.vocab_size)
    controls = {theirs.id_to_piece(i): i for i in numbers if theirs.is_control(i) or theirs.is_unknown(i)}
    assert tok.special_tokens == controls
    assert tok.added_tokens.keys() == {*OPTIONS[name].get("user_defined_symbols", ())}
    assert [tok.token_bytes(i).decode() for i in numbers] == [theirs.id_to_piece(i) for i in numbers]


@pytest.mark.parametrize("name", ["symbols", "bytes and symbols"])
def test_saved(pairs, name, tmp_path, book):
    """As every tokenizer, it goes to other files and back."""
    tokenizers = required("tokenizers")
    tok, theirs = pairs[name]
    tok.save(tmp_path / "t.json")
    if name == "symbols":
        with pytest.warns(UserWarning, match="other ids with this file where a character has several marks"):
            tok.save_huggingface(tmp_path / "tokenizer.json")
    else:
        tok.save_huggingface(tmp_path / "tokenizer.json")
    other = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    for text in (book[:5000], "a  b <sym>c\n", " <sym><sym>>日"):
        ids = theirs.encode(text)
        assert bpe.Tokenizer.load(tmp_path / "t.json").encode(text) == ids
        assert bpe.Tokenizer.from_huggingface(tmp_path / "tokenizer.json").encode(text) == ids
        assert other.encode(text, add_special_tokens=False).ids == ids
    marks = "\uff45\u0301 e\u0302\u0301"
    for path in ("t.json", "tokenizer.json"):
        assert bpe.Tokenizer.load(tmp_path / path).encode(marks) == theirs.encode(marks)


def test_special_tokens_are_allowed(pairs):
    tok, _ = pairs["bytes and symbols"]
    number = tok.special_tokens["[INST]"]
    assert number in tok.encode("a[INST]b", allowed_special="all")
    with pytest.raises(ValueError, match="INST"):
        tok.encode("a[INST]b")


def test_a_text_of_one_symbol(pairs):
    """What the docstring says of it."""
    tok, theirs = pairs["bytes and symbols"]
    number = tok.added_tokens["<sym>"]
    assert tok.encode("<sym>") == [number]
    assert theirs.encode("<sym>") == [tok.token_id("▁"), number]


CASES = {
    "the left one of two that overlap": (["a", "b", "ab", "aba", "ba"], "ababa"),
    "the same, a longer one": (["a", "b", "ab", "aba", "ba", "ababa"], "abababaabaababab"),
    "runs": (["a", "aa", "aaa", "aaaaa"], "aaaaaaaaaaaaa"),
    "many ways to make one": (["a", "b", "c", "bc", "ab", "abc", "abcabc", "ca", "cab"], "abcabcabcab"),
}


@pytest.mark.parametrize("name", CASES)
def test_order_of_merges(name, tmp_path):
    """Every order of the scores, and all texts of the characters up to a length."""
    pieces, text = CASES[name]
    chance = random.Random(name)
    for _ in range(60):
        scores = chance.sample(range(len(pieces)), len(pieces))
        data = model(UNK, *(piece(one, -float(score)) for one, score in zip(pieces, scores, strict=True)))
        tok, theirs = read(data, tmp_path), sentencepiece.SentencePieceProcessor(model_proto=data)
        for _ in range(40):
            some = "".join(chance.choice(sorted({*text})) for _ in range(chance.randrange(30)))
            agree(tok, theirs, some)
        agree(tok, theirs, text)


def test_scores_that_are_the_same(tmp_path):
    data = model(UNK, *map(piece, "abc"), piece("ab", -1.0), piece("bc", -1.0))
    with pytest.warns(UserWarning, match=r"the pieces 'bc' and 'ab' have the same score"):
        tok = read(data, tmp_path)
    assert tok.encode("abc") == [4, 3]
    with_runs = model(UNK, *map(piece, "▁ab"), *(piece("▁" * n) for n in (2, 4, 8)), piece("ab"))
    tok, theirs = read(with_runs, tmp_path), sentencepiece.SentencePieceProcessor(model_proto=with_runs)
    for n in range(70):
        agree(tok, theirs, " " * n + "ab")


# The bytes of a space, a line end, é, an emoji and ▁, and some that begin no character.
SOME_BYTES = [piece(f"<0x{value:02X}>", 0.0, BYTE) for value in range(256)]
SOME_PIECES = ["▁", "a", "▁a", "▁▁", "b▁", "b"]
SPACES = [(prefix, shortened) for prefix in (0, 1) for shortened in (0, 1)]
IDS = st.lists(
    st.sampled_from([0, *(1 + byte for byte in b" \n\xc3\xa9\xf0\x9f\x98\x80\xe2\x96\x81\xed\xa0\xff")])
    | st.integers(257, 256 + len(SOME_PIECES)),
    max_size=9,
)


@pytest.fixture(scope="module", params=SPACES, ids=str)
def byte_models(request, tmp_path_factory):
    prefix, shortened = request.param
    pieces = [piece(text, -float(i)) for i, text in enumerate(SOME_PIECES)]
    spaces = field(3, prefix) + field(4, shortened)
    data = model(UNK, *SOME_BYTES, *pieces, trainer=field(35, 1), normalizer=spaces)
    folder = tmp_path_factory.mktemp("models")
    tok = read(data, folder)
    tok.save(folder / "native.json")
    return bpe.Tokenizer.load(folder / "native.json"), sentencepiece.SentencePieceProcessor(model_proto=data)


@settings(max_examples=300, deadline=None)
@given(ids=IDS)
@example(ids=[1 + 0xA, 1 + 0xF0])  # a line end, and the first byte of an emoji
@example(ids=[1 + 0x20, 257])  # a space that is no ▁
@example(ids=[0, 258])  # the surface of <unk> begins with a space
@example(ids=[257, 257, 259])
def test_any_ids_are_decoded(byte_models, ids):
    tok, theirs = byte_models
    assert tok.decode(ids) == theirs.decode(ids)
    stream = tok.stream_decoder()
    assert "".join(map(stream.feed, ids)) + stream.finish() == theirs.decode(ids)


def test_bytes_before_an_incomplete_character(pairs, tmp_path):
    """A tokenizer.json of the same model decodes as tokenizers does, which loses the line end."""
    tokenizers = pytest.importorskip("tokenizers")
    tok, theirs = pairs["bytes"]
    ids = [*theirs.encode("Hi"), *map(theirs.piece_to_id, ("<0x0A>", "<0xF0>"))]
    assert tok.decode(ids) == theirs.decode(ids) == "Hi\n\ufffd"
    tok.save_huggingface(tmp_path / "tokenizer.json")
    other = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    assert other.decode(ids) == "Hi\ufffd\ufffd"
    assert bpe.Tokenizer.load(tmp_path / "tokenizer.json").decode(ids) == "Hi\ufffd\ufffd"


def test_names_of_bytes_without_bytes(tmp_path):
    data = model(UNK, *map(piece, "a<0x41>"[:6]), piece("<0x41>", -1.0, NORMAL))
    tok, theirs = read(data, tmp_path), sentencepiece.SentencePieceProcessor(model_proto=data)
    assert tok.decode([1, len(theirs) - 1]) == theirs.decode([1, len(theirs) - 1]) == "a<0x41>"


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    pieces=st.lists(st.text("abc", min_size=1, max_size=3), min_size=1, max_size=8, unique=True),
    kinds=st.lists(st.sampled_from([NORMAL, NORMAL, NORMAL, USER_DEFINED]), min_size=8, max_size=8),
    texts=st.lists(st.text("abcd", max_size=8), min_size=5, max_size=5),
)
def test_any_pieces(tmp_path, pieces, kinds, texts):
    made = [
        piece(one, -float(i), kind if len(one) == 1 else NORMAL)
        for i, (one, kind) in enumerate(zip(pieces, kinds, strict=False))
    ]
    theirs = sentencepiece.SentencePieceProcessor(model_proto=model(UNK, *made))
    try:
        tok = read(model(UNK, *made), tmp_path)
    except ValueError as error:
        assert "which is not a piece: SentencePiece merges it" in str(error)  # noqa: PT017
        return
    for text in texts:
        agree(tok, theirs, text)


def test_pieces_that_are_never_made(tmp_path):
    """A character that is not a piece does no harm where SentencePiece does not merge it either."""
    data = model(UNK, A, piece("d", 0.0, USER_DEFINED), piece("xyz"), piece("ad", -1.0), piece("da", -2.0))
    tok, theirs = read(data, tmp_path), sentencepiece.SentencePieceProcessor(model_proto=data)
    for text in ("ad", "dada", "xyz", "axyzd"):
        agree(tok, theirs, text)


# --------------------------------------------------------------------------------------------------- refused
A = piece("a")
REFUSED = {
    "unigram": (UNK + A, "model_type is Unigram: only BPE"),
    "word": (UNK + A + field(2, field(3, 3)), "model_type is word: only BPE"),
    "character": (UNK + A + field(2, field(3, 4)), "model_type is character: only BPE"),
    "a type from the future": (UNK + A + field(2, field(3, 99)), "model_type is 99: only BPE"),
    "suffix": (model(UNK, A, trainer=field(24, 1)), "treat_whitespace_as_suffix is set"),
    "spaces as they are": (model(UNK, A, normalizer=field(5, 0)), "escape_whitespaces is not set"),
    "a denormalizer": (model(UNK, A) + field(5, field(2, b"xx")), "denormalizer_spec has a precompiled"),
    "a charsmap": (model(UNK, A, normalizer=field(2, b"xx")), "precompiled_charsmap is damaged"),
    "unused": (model(UNK, piece("a", 0.0, UNUSED)), r"pieces\[1\], 'a', is of type UNUSED"),
    "no kind": (model(UNK, piece("a", 0.0, 9)), r"pieces\[1\]\.type is 9"),
    "kind of text": (model(UNK, field(1, field(1, "a") + field(3, "x"))), r"pieces\[1\]\.type is b'x'"),
    "no unknown": (model(A), "0 pieces are of type UNKNOWN"),
    "two unknown": (model(UNK, piece("b", 0.0, UNKNOWN)), "2 pieces are of type UNKNOWN"),
    "twice": (model(UNK, A, A), r"pieces\[2\] is 'a', like pieces\[1\]"),
    "empty": (model(UNK, piece("")), r"pieces\[1\] has no text"),
    "no text": (model(UNK, field(1, b"")), r"pieces\[1\] has no text"),
    "an integer": (model(UNK, field(1, 5)), r"pieces\[1\] is an integer"),
    "a text that is one": (model(UNK, field(1, field(1, 5))), r"pieces\[1\]\.piece is an integer, not a"),
    "no UTF-8": (model(UNK, field(1, field(1, b"a\xff"))), r"pieces\[1\]\.piece is not UTF-8 at byte 1"),
    "a long piece": (model(UNK, piece("a" * 1025)), r"pieces\[1\] has 1025 characters; at most 1024"),
    "not a number": (model(UNK, piece("a", float("nan"))), r"pieces\[1\]\.score is not a number"),
    "a score of text": (model(UNK, field(1, field(1, "a") + field(2, "x"))), "score is not a number of 4"),
    "a flag of text": (model(UNK, A, trainer=field(35, "x")), "trainer_spec.byte_fallback is not an integer"),
    "a text of a number": (model(UNK, A, trainer=field(44, 1)), "trainer_spec.unk_surface is not a string"),
    "bytes missing": (model(UNK, A, trainer=field(35, 1)), "byte 0 has no piece '<0x00>'"),
    "a symbol that is changed": (
        model(UNK, A, piece("a▁", 0.0, USER_DEFINED), normalizer=field(4, 1)),
        "the normalizer changes the user-defined symbol 'a▁' to 'a'",
    ),
    "a character that is not a piece": (
        model(UNK, A, piece("xyz"), piece("ab", -1.0)),
        r"pieces\[3\], 'ab', has the character 'b', which is not a piece: SentencePiece merges it",
    ),
    "the first character": (model(UNK, A, piece("ba")), r"pieces\[2\], 'ba', has the character 'b'"),
    "both characters": (model(UNK, A, piece("bc")), r"pieces\[2\], 'bc', has the character 'b'"),
    "a control character": (
        model(UNK, A, piece("b", 0.0, CONTROL), piece("ab")),
        r"pieces\[3\], 'ab', has the character 'b'",
    ),
    "a symbol with a space": (
        model(UNK, A, piece("a b", 0.0, USER_DEFINED)),
        "the normalizer changes the user-defined symbol 'a b' to 'a▁b'",
    ),
    "nothing": (b"", "model_type is Unigram"),
    "cut off": (model(UNK, A)[:-3], "is cut off: field 3 has"),
    "a huge size": (b"\x0a" + b"\xff" * 8 + b"\x7f", "is cut off: field 1 has"),
    "an endless integer": (b"\x0a" + b"\xff" * 40, "the integer at byte 1 has no end"),
    "an integer that is cut off": (b"\x0a\xff", "is cut off: the integer at byte 1"),
    "a group": (b"\x0b\x0c", "no field begins at byte 0"),
    "number 0": (b"\x02\x00", "the field at byte 0 has the number 0"),
    "nothing known": (b"hello, world! " * 9, "the file is"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name, tmp_path):
    data, message = REFUSED[name]
    with pytest.raises(ValueError, match=rf"tokenizer\.model: .*{message}"):
        read(data, tmp_path)


def test_what_is_not_needed_is_passed_over(tmp_path):
    data = model(UNK, A, trainer=field(1, "input.txt") + varint(60 << 3 | 1) + bytes(8)) + field(4, b"\xff")
    assert read(data, tmp_path).encode("aa") == [1, 1]


@pytest.mark.parametrize("name", ["symbols", "bytes"])
def test_mutations(book, name, tmp_path):
    """Whatever happens to a file, it is read or refused by a ValueError, and soon."""
    whole, chance = trained(book, **OPTIONS[name])[:4000], random.Random(name)
    whole += trained(book, **OPTIONS[name])[-400:] if name == "bytes" else b""
    n_errors, started = 0, time.perf_counter()
    for _ in range(300):
        try:
            read(damaged(whole, chance), tmp_path)
        except ValueError as error:
            n_errors += 1
            assert str(error).startswith(str(tmp_path / "tokenizer.model"))  # noqa: PT017
            assert len(str(error)) < 1000  # noqa: PT017
    assert n_errors > 100
    assert time.perf_counter() - started < 120


def test_long_pieces_take_linear_time(tmp_path):
    """Pieces as long as they may be: each has a thousand places to be cut at."""
    pieces = [piece("a" * n, -float(n)) for n in (*range(1, 257), *range(769, 1025))]
    pieces += [piece(f"{i:04}" * 256, -2000.0 - i) for i in range(500)]
    started = time.process_time()
    tok = read(model(UNK, *pieces), tmp_path)
    assert time.process_time() - started < 60
    assert tok.vocab_size == 1013


# ---------------------------------------------------------------------------------------------- the messages
@given(st.lists(st.tuples(st.integers(1, 2**20), st.integers(0, 2**63) | st.binary(max_size=300))))
def test_fields(fields):
    assert fields_of(b"".join(field(*each) for each in fields), "a message") == fields


@given(st.binary(max_size=40))
def test_any_bytes(data):
    try:
        ours.parse(data)
    except ValueError:
        pass
    else:
        raise AssertionError("nothing so short is a model")
