"""Every pair of formats: converted there and back, the ids are the same, or the error says why not.

The comparison is in ``asv_benchmarks/same.py``, which does it for large corpora, too.
"""

import importlib
import os
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

import bpe
from bpe.formats import FORMATS
from bpe.formats.conversion import PROBE
from bpe.tokenizer import Tokenizer
from tests.optional import required

required("tiktoken")
required("tokenizers")

FOLDER = Path(__file__).parents[3] / "asv_benchmarks"
BYTES = [bytes([value]) for value in range(256)]
OWN = r" ?[^\W\d]+|\d(?:\d\d)?|[^\w\s]+|\s+"

pytestmark = pytest.mark.filterwarnings("ignore")  # of transformers, of odd patterns and vocabularies


@pytest.fixture(scope="module")
def command():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(FOLDER)
        yield importlib.import_module("same")


# -------------------------------------------------------------- tokenizers, and the formats that refuse them
def trained(book, pattern, specials=()):
    """Train a tokenizer that also has tokens of invalid UTF-8, of spaces and of line ends."""
    texts = [
        *book[:20_000].split("\n\n"),
        " \n \n\t" * 9,
        PROBE,
        *[b"\xff\xfe \xe2\x82 "] * 999,
        "日本語" * 50,
    ]
    return bpe.train(texts, 450, pattern=pattern, special_tokens=specials)


def made(tokens=(), merges=(), pattern="gpt2", specials=None, ids=None):
    """Make a tokenizer of the bytes and a few tokens; merges are given as bytes."""
    every = [*BYTES, *tokens]
    ids = dict(zip(every, range(len(every)) if ids is None else ids, strict=True))
    return Tokenizer(
        token_bytes={number: token for token, number in ids.items()},
        merges=[(ids[left], ids[right]) for left, right in merges],
        pattern=pattern,
        special_tokens=specials or {},
    )


def whole(*ids):
    tok = made([b" abc", b"bc abc"], pattern="gpt2")
    return Tokenizer._of(tok.engine.vocabulary.replace(atomic_ids=ids), tok.pattern)


NO_NAME = {
    "tiktoken": "holds no split pattern, and this pattern has no name .* A tokenizer.json holds any pattern"
}
NOT_GPT2 = {
    "gpt2": "hold no split pattern; programs that read them use GPT-2's, .* A tokenizer.json holds any"
}
SEVERAL = {"minbpe": "minbpe splits by one expression, not by 3. A tokenizer.json can hold it"}
UNWRITABLE = (
    r"the expression .* cannot be rewritten for this format: '\\1' .* The native format holds any expression"
)
THE, WORDS = [(b"t", b"h"), (b"th", b"e")], [b"th", b"the"]

# name: (function from the text of the book to a tokenizer, {format that refuses it: why})
SUBJECTS = {
    **{
        pattern: (
            lambda book, pattern=pattern: trained(book, pattern),
            {**({} if pattern == "gpt2" else NOT_GPT2), **(SEVERAL if pattern == "deepseek" else {})},
        )
        for pattern in bpe.PATTERNS
    },
    "a pattern of one's own": (lambda book: trained(book, OWN), NO_NAME | NOT_GPT2),
    "gaps between matches": (lambda book: made(WORDS, THE, r"\w+$| \p{L}"), NO_NAME | NOT_GPT2),
    "a pattern that ends in a space": (lambda book: made(WORDS, THE, r"(\p{L})+| "), NO_NAME | NOT_GPT2),
    "a pattern of two lines": (lambda book: made(WORDS, THE, "\n|the\u2028?"), NO_NAME | NOT_GPT2),
    "a pattern with a backreference": (
        lambda book: made(WORDS, THE, r"(\w)\1|\w+"),
        NO_NAME | NOT_GPT2 | {"huggingface": UNWRITABLE, "minbpe": UNWRITABLE},
    ),
    "special tokens": (lambda book: trained(book, "gpt2", ["<|end|>", "é😀", "\x00", "€"]), {}),
    "special tokens and cl100k": (lambda book: trained(book, "cl100k", ["<|end|>", "Ģ!"]), NOT_GPT2),
    "white space in special tokens": (
        lambda book: trained(book, "gpt2", ["  <x> ", "<|\n|>", "<|end|>"]),
        {"minbpe": "minbpe cannot hold white space in a special token: '  <x> '. A tokenizer.json can"},
    ),
    "bytes of other ids": (
        lambda book: made(WORDS, THE, ids=[*range(255, -1, -1), 256, 257]),
        {"minbpe": "in minbpe the id of a byte is its value; .* A tokenizer.json can"},
    ),
    "ids with holes": (
        lambda book: made(
            WORDS, THE, specials={"<|end|>": 9000, "<|fim|>": 400}, ids=[*range(256), 300, 500]
        ),
        {"minbpe": "in minbpe, merge 0 makes id 256 from lower ids, not 300. A tokenizer.json can"},
    ),
    "ids that are not ranks": (
        lambda book: made(WORDS, THE, ids=[*range(256), 257, 256]),
        {
            "tiktoken": r"would turn merge 0, \(116, 104\), into \(257, 101\). A tokenizer.json holds merges",
            "minbpe": "in minbpe, merge 0 makes id 256 from lower ids, not 257",
        },
    ),
    "merges that make the same": (
        lambda book: made([b"ab", b"bc", b"abc"], [(b"a", b"b"), (b"b", b"c"), (b"ab", b"c"), (b"a", b"bc")]),
        {
            "tiktoken": "4 merges would become 3. A tokenizer.json holds merges",
            "minbpe": "in minbpe, merge 3 makes id 259 .*, not 258",
        },
    ),
    "a token that no merge makes": (
        lambda book: made([b" \xff\xfe"]),
        {
            "tiktoken": r"would encode a piece with the bytes of id 256, b' \\xff\\xfe', to this id. A token",
            "minbpe": r"only tokens that are bytes or that merges make: id 256, b' \\xff\\xfe', is neither",
        },
    ),
    "a token that looks like a special one": (
        lambda book: made([b"abc"]),
        {
            "tiktoken": "would encode a piece with the bytes of id 256, b'abc', to this id. A tokenizer",
            "gpt2": "special: id 256, b'abc', which no merge makes, would be read as a special token",
            "minbpe": "minbpe has only tokens that are bytes or that merges make",
        },
    ),
    "tokens that are taken whole": (
        lambda book: whole(256, 257),
        {"gpt2": "no merges lead to id 256", "minbpe": "no merges lead to id 256"},
    ),
    "some tokens that are taken whole": (
        lambda book: whole(257),
        {
            "huggingface": "either all tokens .* are looked up whole, or none: .* not id 256",
            "tiktoken": "would encode a piece with the bytes of id 256, b' abc', to this id. A tokenizer",
            "gpt2": "no merges lead to id 257",
            "minbpe": "no merges lead to id 257",
        },
    ),
    "a special token that looks like a token": (
        lambda book: made(WORDS, THE, specials={"Ġsea": 300}),
        {"gpt2": "the special token 'Ġsea', would be read as the bytes b' sea'. A tokenizer.json says it"},
    ),
    "a special token of the text of another": (
        lambda book: made(WORDS, THE, specials={"th": 300}),
        dict.fromkeys(
            ["huggingface", "gpt2"],
            r"special token 'th' \(id 300\) and token b'th' \(id 256\) would be the same entry. The native",
        ),
    ),
    "a merge that looks like a comment": (
        lambda book: made(
            [b"#v", b"er", b"si", b"on", b"#ver", b"sion", b"#version", b"#version1"],
            [
                *((b"#", b"v"), (b"e", b"r"), (b"s", b"i"), (b"o", b"n"), (b"#v", b"er"), (b"si", b"on")),
                *((b"#ver", b"sion"), (b"#version", b"1")),
            ],
            pattern="whitespace",
        ),
        NOT_GPT2,
    ),
}


@pytest.fixture(scope="module")
def texts(book):
    lines = [
        "",
        " ",
        "a<|end|>b<|fim|>",
        "<|end|>",
        "#version 110 #version1",
        "the Ġsea abc bc  <x> é😀\n\n\x00",
    ]
    return [*lines, book[:3000], f"{PROBE}<|end|>{PROBE}", "naïve 日本語 \t\n \n€Ģ<|\n|>"]


@pytest.mark.parametrize("name", SUBJECTS)
def test_every_pair(command, book, texts, name, tmp_path):
    """A pair of formats holds a tokenizer if both of its formats do."""
    make, refusing = SUBJECTS[name]
    tok = make(book)
    reasons = command.refusals(tok, texts, tmp_path)
    assert set(reasons) == {(one, other) for one in FORMATS for other in FORMATS}
    for (one, other), reason in reasons.items():
        expected = refusing.get(one) or refusing.get(other)
        assert re.search(expected, reason) if expected else reason == "", f"{one} -> {other}: {reason}"
        assert len(reason) < 600
    for format in refusing:
        with pytest.raises(ValueError, match=refusing[format]):
            command.through(tok, format, tmp_path / "none")
        assert os.listdir(tmp_path / "none") == []


def test_trained_tokens_are_odd_enough(book):
    tok = trained(book, "whitespace")
    tokens = [tok.token_bytes(number) for number in range(256, tok.vocab_size)]
    assert any(b"\xff\xfe" in token for token in tokens)
    assert any(b"\n " in token for token in tokens)


def test_differences_are_seen(command, texts, monkeypatch, tmp_path):
    tok, other = made(WORDS, THE), made([b"th", b"he"], [(b"t", b"h"), (b"h", b"e")])
    original = command.through

    def through(tokenizer, format, folder):
        return (other, folder) if format == "minbpe" else original(tokenizer, format, folder)

    monkeypatch.setattr(command, "through", through)
    with pytest.raises(command.Different, match=r"native -> minbpe, and back: ids of '.*': \[\d+:\] is"):
        command.refusals(tok, texts, tmp_path)


def test_the_command(command, monkeypatch, tmp_path):
    tok = made(WORDS, THE, r"(\w)\1|\w+", {"<|end|>": 300})
    monkeypatch.setattr(command, "to_convert", lambda texts, folder: [("one", tok)])
    (tmp_path / "text.txt").write_text("the sea\n" * 50)
    result = CliRunner().invoke(command.main, ["formats", str(tmp_path / "text.txt")])
    assert result.exit_code == 0, result.output
    monkeypatch.setattr(command, "parts_of", lambda tokenizer: object())
    result = CliRunner().invoke(command.main, ["formats", str(tmp_path / "text.txt")])
    assert (result.exit_code, result.stderr) == (
        1,
        "Error: native -> native and back: other tokens or merges\n",
    )


@pytest.mark.skipif("VOCABS" not in os.environ, reason="VOCABS names no folder of real vocabularies")
@pytest.mark.parametrize("number", range(3))
def test_real_vocabularies(command, texts, number, tmp_path):
    folder = Path(os.environ["VOCABS"])
    name = [*command.PATTERNS][number]
    tok = command.vocabulary(folder, name)
    mixed = command.with_specials(texts, tok.special_tokens)
    for (one, other), reason in command.refusals(tok, mixed, tmp_path).items():
        is_refused = "minbpe" in (one, other) or ("gpt2" in (one, other) and name != "gpt2")
        assert bool(reason) == is_refused, reason
    tok.save_tiktoken(tmp_path / "again.tiktoken")
    assert (tmp_path / "again.tiktoken").read_bytes() == (folder / f"{name}.tiktoken").read_bytes()
