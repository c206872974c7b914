"""Expressions in the dialects of other engines cut every text as the original does."""

import random

import pytest
import regex

import bpe
from bpe.pipeline import patterns as expressions
from bpe.pipeline.patterns import DIALECTS, render
from bpe.splitting.pattern import translated
from tests.optional import optional

tokenizers = optional("tokenizers")
tiktoken = optional("tiktoken")

NAMED = [
    source
    for pattern in bpe.PATTERNS.values()
    for source in ([pattern] if isinstance(pattern, str) else pattern)
]
OWN = [
    r"\w+|[^\w\s]",
    r"(?i:strasse|K)|[a-z]++x|.",
    r"\bfoo\b|\d{2}?|\D+?$",
    r"[[:alpha:]_-]+|\W",
    r"(?<=a)b|(?<![\d])c|(?>ab|a)c|\p{Han}{2,}?|[^\p{Greek}a-f]",
    r"^a|a$|(?m:^b|b$)|\x41\u0042",
    r"(?s).+?x|\p{^L}",
    r"[\]\[&~^-]+|[^]a]",
    r"\S+|\n|[\S\n]+| {2,3}",
]
SEAMS = (
    "abcfoxyzABCKk\u017fSßs'ldtverm 019²½\n\r\t \u0085\u00a0\u200d\u3000ΑβΩж"  # noqa: RUF001
    "中文あ!?-_[]&~^/éé😀{}$"
)


def texts(n=1500):
    chance = random.Random(3)
    return ["".join(chance.choices(SEAMS, k=chance.randrange(1, 20))) for _ in range(n)]


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("rewritten", [True, False])
@pytest.mark.parametrize("source", [*NAMED, *OWN])
def test_dialects_cut_alike(source, rewritten, monkeypatch):
    if rewritten:
        monkeypatch.setattr(expressions, "READ_ALIKE", frozenset())
    pattern = bpe.Pattern((source,))
    hf = tokenizers.pre_tokenizers.Split(tokenizers.Regex(render(source, "oniguruma")), "isolated")
    python = regex.compile(render(source, "python"))
    assert python.groups == 0
    # Every two letters are a token, so that the ids show where matches end.
    ranks = [bytes([i]) for i in range(256)]
    ranks += [one + two for one in map(str.encode, "abcfox") for two in map(str.encode, "abcfox")]
    peer = tiktoken.Encoding(
        "",
        pat_str=render(source, "rust"),
        mergeable_ranks={t: i for i, t in enumerate(ranks)},
        special_tokens={},
    )
    pairs = {token: i for i, token in enumerate(ranks) if len(token) == 2}
    for text in texts():
        pieces = pattern._split_by_regex(text)
        assert [piece for piece, _ in hf.pre_tokenize_str(text)] == pieces, text
        matches = [match.group() for match in regex.finditer(source, text) if match.group()]
        assert [match.group() for match in python.finditer(text) if match.group()] == matches, text
        ids = peer.encode_ordinary(text)
        if not any(two.decode() in text for two in pairs):
            assert b"".join(ranks[i] for i in ids) == "".join(matches).encode(), text
        else:
            wanted = [
                i
                for piece in matches
                for i in bpe.reference.encode_by_ranks_of_bytes(
                    piece.encode(), {token: i for i, token in enumerate(ranks)}
                )
            ]
            assert ids == wanted, text


@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_cannot_be_written(dialect):
    with pytest.raises(ValueError, match=r"cannot be rewritten for this format: .* at character 3"):
        render(r"(a)\1", dialect)
    with pytest.raises(ValueError, match="cannot be rewritten for this format"):
        render(r"(?i:\X)", dialect)


@pytest.mark.parametrize("name", ["gpt2", "cl100k", "o200k", "llama3", "qwen2", "deepseek"])
def test_named_patterns_are_not_rewritten(name):
    sources = bpe.Pattern.of(name).sources
    for source in sources:
        assert translated(source, "oniguruma") == source
        assert render(source, "oniguruma") == render(source, "rust") == source


@pytest.mark.parametrize(
    "source",
    [
        r"\w+|[\w'-]",
        r"(?m:.+?)x",
        r"[\x{e9}-\x{ff}]|\x{1f600}|\x41",
        r"\p{^L}|[^\P{N}]",
        r"(?i)ab|(?-i:c)",
        r"a{2,}|\d++",
    ],
)
def test_reading_oniguruma(source):
    theirs = tokenizers.pre_tokenizers.Split(tokenizers.Regex(source), "isolated")
    ours = bpe.Pattern((translated(source, "oniguruma"),))
    for text in texts():
        assert ours._split_by_regex(text) == [piece for piece, _ in theirs.pre_tokenize_str(text)], text


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (r"\Ga", "at character 0 cannot be translated"),
        (r"(?s:a)", "at character 0 cannot be translated"),
        (r"a(?i)b", r"at character 1 cannot be translated: put it first"),
        (r"a{2}?", "cannot be translated"),
        (r"a{1,2}+", "cannot be translated"),
        (r"\x{d800}", r"U\+D800 at character 0 is not a character"),
        (r"[\x{110000}]", r"U\+110000 at character 1 is not a character"),
        (r"(a", "invalid: missing"),
        (r"a\p{Nothing}", r"the property '.*Nothing}' at character 1 cannot be translated"),
    ],
)
def test_what_cannot_be_read(source, message):
    with pytest.raises(ValueError, match=message):
        translated(source, "oniguruma")
