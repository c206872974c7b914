"""Files of ranks and merges in unusual forms: those of npm packages, of Whisper, of OpenAI, of CLIP."""

import base64
import json
import random
import unicodedata

import pytest

import bpe
from bpe.tokenizer import Tokenizer
from bpe.vocabulary.byte_level import text_of
from tests.fuzz.damage import damaged
from tests.optional import optional

tiktoken = optional("tiktoken")

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
TOKENS = [*(bytes([value]) for value in range(256)), b"th", b"the", b" the", b"zq"]


def document(first=1, **changes):
    """Return ranks in two runs, with a gap of ten between them, and one special token before."""
    texts = [base64.b64encode(token).decode() for token in TOKENS]
    ranks = f"! {first} {' '.join(texts[:250])}\n! {first + 260} {' '.join(texts[250:])}"
    return {
        "explicit_n_vocab": 271,
        "pat_str": GPT2,
        "special_tokens": {"<a>": 0},
        "bpe_ranks": ranks,
    } | changes


def written(content, path):
    path.write_text(json.dumps(content))
    return path


def test_as_tiktoken_does(tmp_path):
    tok = Tokenizer.load(written(document(), tmp_path / "claude.json"))
    ranks = {token: 1 + i + 10 * (i >= 250) for i, token in enumerate(TOKENS)}
    peer = tiktoken.Encoding("claude", pat_str=GPT2, mergeable_ranks=ranks, special_tokens={"<a>": 0})
    for text in ("", "the thezq zq theses", "it's 12, \n\n é日😀", "<a>the<a>"):
        ids = peer.encode(text, allowed_special="all")
        assert tok.encode(text, allowed_special="all") == ids
        assert tok.decode(ids) == text
    assert (tok.pattern.name, tok.special_tokens) == ("gpt2", {"<a>": 0})


def test_the_normalizer_of_claude(tmp_path):
    """The package @anthropic-ai/tokenizer applies NFKC to a text, which its file does not say."""
    special_tokens = {"<EOT>": 0, "<META>": 1, "<META_START>": 2, "<META_END>": 3, "<SOS>": 4}
    given = document(5, special_tokens=special_tokens)
    tok = Tokenizer.load(written(given, tmp_path / "claude.json"))
    ranks = {token: 5 + i + 10 * (i >= 250) for i, token in enumerate(TOKENS)}
    peer = tiktoken.Encoding("c", pat_str=GPT2, mergeable_ranks=ranks, special_tokens=special_tokens)
    tok.save(tmp_path / "tok.json")
    tok.save_huggingface(tmp_path / "tokenizer.json")
    found = [tok, Tokenizer.load(tmp_path / "tok.json"), Tokenizer.load(tmp_path / "tokenizer.json")]
    for text in ("\u2122", "\uff54he \ufb01 e\u0301\u00bd", "the<EOT>\uff1cMETA_END\uff1e<SOS", ""):
        ids = peer.encode(unicodedata.normalize("NFKC", text), allowed_special="all")
        assert [each.encode(text, allowed_special="all") for each in found] == [ids] * 3
    with pytest.raises(ValueError, match="the format tiktoken cannot hold"):
        tok.save_tiktoken(tmp_path / "r.tiktoken")
    other = Tokenizer.load(written(document(5, special_tokens={"<EOT>": 0}), tmp_path / "other.json"))
    assert other.count("\u2122") == 3


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"pat_str": 3}, "pat_str is not a string: 3"),
        ({"pat_str": "("}, "pat_str: "),
        ({"bpe_ranks": ["a"]}, "bpe_ranks is not a string"),
        ({"bpe_ranks": "1 IQ=="}, "bpe_ranks: line 1 does not begin with '!' and a rank"),
        ({"bpe_ranks": "! 0 IQ==\n! ٣ IQ=="}, "bpe_ranks: line 2 does not begin"),
        ({"bpe_ranks": "! 0 IQ== IQ=="}, "bpe_ranks: line 2 gives the token of line 1 again"),
        ({"bpe_ranks": "! 0 é"}, "bpe_ranks: line 1 is not a token in base64"),
        ({"bpe_ranks": "! 0 \ud800"}, "bpe_ranks: line 1 is not a token in base64"),
        ({"bpe_ranks": ""}, "bpe_ranks: no line gives a token"),
        ({"special_tokens": []}, "special_tokens is not an object"),
        ({"special_tokens": {"<a>": True}}, "special_tokens is not an object"),
        ({"special_tokens": {"<a>": 5}}, "5"),
    ],
)
def test_refused(changes, message, tmp_path):
    path = written(document(**changes), tmp_path / "o200k_base.json")
    with pytest.raises(ValueError, match=rf"o200k_base\.json: .*{message}"):
        Tokenizer.load(path)


def test_damaged(tmp_path):
    whole, chance = written(document(), tmp_path / "e.json").read_bytes(), random.Random("encoder")
    for _ in range(40):
        (tmp_path / "e.json").write_bytes(damaged(whole, chance))
        try:
            tok = Tokenizer.load(tmp_path / "e.json")
        except ValueError:
            continue
        assert tok.encode("the") == tok.encode("the")


def test_a_token_without_bytes(tmp_path):
    """Whisper's rank file has one, which nothing is encoded to."""
    lines = [base64.b64encode(token).decode() + f" {i}" for i, token in enumerate(TOKENS)]
    path = tmp_path / "multilingual.tiktoken"
    path.write_text("\n".join([*lines, "= 260"]) + "\n")
    tok = Tokenizer.load(path, pattern="gpt2", special_tokens={"<a>": 261})
    ranks = {**{token: i for i, token in enumerate(TOKENS)}, b"": 260}
    peer = tiktoken.Encoding("multilingual", pat_str=GPT2, mergeable_ranks=ranks, special_tokens={"<a>": 261})
    ids = peer.encode("the zq<a>", allowed_special="all")
    assert tok.encode("the zq<a>", allowed_special="all") == ids
    assert tok.decode([260, *ids]) == peer.decode([260, *ids]) == "the zq<a>"
    tok.save_tiktoken(tmp_path / "again.tiktoken")
    assert (tmp_path / "again.tiktoken").read_bytes() == path.read_bytes()
    assert tok.to_tiktoken().decode([260]) == ""
    tok.save(tmp_path / "tok.json")
    tok.save_huggingface(tmp_path / "tokenizer.json")
    for name in ("tok.json", "tokenizer.json"):
        assert Tokenizer.load(tmp_path / name) == tok
    for refused in ("== 260", "= 5"):
        path.write_text("\n".join([*lines, refused]) + "\n")
        with pytest.raises(ValueError, match="line 261"):
            Tokenizer.load(path, pattern="gpt2")


def test_the_files_of_openai(tmp_path):
    tok = bpe.Tokenizer(
        token_bytes=[bytes([value]) for value in range(256)] + [b"th"], merges=[(116, 104)], pattern="gpt2"
    )
    tok.save_gpt2(tmp_path)
    (tmp_path / "vocab.json").rename(tmp_path / "encoder.json")
    (tmp_path / "merges.txt").rename(tmp_path / "vocab.bpe")
    for found in (
        Tokenizer.load(tmp_path),
        Tokenizer.load(tmp_path / "encoder.json"),
        Tokenizer.from_gpt2(tmp_path),
    ):
        assert found == tok


def test_ends_of_words_are_refused(tmp_path):
    """CLIP's tokens are in the two files of GPT-2; read like those, they would give other ids."""
    letters = [text_of(bytes([value])) for value in range(256)]
    tokens = [*letters, *(f"{letter}</w>" for letter in letters), "in</w>"]
    written({token: number for number, token in enumerate(tokens)}, tmp_path / "vocab.json")
    (tmp_path / "merges.txt").write_text("#version: 0.2\ni n</w>\n")
    with pytest.raises(ValueError, match=r"vocab\.json: tokens such as 'n</w>' mark the end of a word"):
        Tokenizer.load(tmp_path)
