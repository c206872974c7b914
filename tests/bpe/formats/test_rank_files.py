"""Rank files: published ones bring their pattern and special tokens, others need them."""

import hashlib
import warnings

import pytest
from click.testing import CliRunner

import bpe
from bpe.cli import main
from bpe.formats import tiktoken
from bpe.formats.conversion import PROBE
from bpe.formats.tiktoken import PUBLISHED, Published

OPENERS = {"load": bpe.Tokenizer.load, "from_tiktoken": bpe.Tokenizer.from_tiktoken}
SPECIALS = {"<|endoftext|>": 280, "<|fim|>": 290}


@pytest.fixture
def path(tmp_path):
    bpe.train(["low lower lowest"], 260, pattern="cl100k", progress=False).save_tiktoken(
        tmp_path / "a.tiktoken"
    )
    return tmp_path / "a.tiktoken"


@pytest.fixture
def published(path, monkeypatch):
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    monkeypatch.setitem(PUBLISHED, digest, Published("mine", "cl100k", SPECIALS))
    return path


@pytest.mark.parametrize("opened", OPENERS.values(), ids=OPENERS)
def test_a_published_file(published, opened):
    tok = opened(published)
    assert (tok.pattern.name, tok.special_tokens, tok.vocab_size) == ("cl100k", SPECIALS, 291)
    with pytest.raises(ValueError, match=r"text holds the special token '<\|endoftext\|>'"):
        tok.encode("low<|endoftext|>")
    assert opened(published, pattern="cl100k_base") == tok
    assert opened(published, special_tokens={}).special_tokens == {}
    assert opened(published, pattern="cl100k", special_tokens={"<a>": 300}).special_tokens == {"<a>": 300}
    with pytest.raises(
        ValueError, match=r"a\.tiktoken: this is the rank file of mine, .* 'cl100k', not 'gpt2'"
    ):
        opened(published, pattern="gpt2", special_tokens=SPECIALS)


def test_a_published_file_under_another_name(published):
    published.rename(published.with_name("tokenizer.model"))
    assert bpe.Tokenizer.load(published.parent).special_tokens == SPECIALS


def test_commands(published, monkeypatch):
    monkeypatch.chdir(published.parent)

    def convert(*options):
        result = CliRunner().invoke(main, ["convert", "a.tiktoken", "tok.json", *options])
        assert result.exit_code == 0, result.output
        return bpe.Tokenizer.load("tok.json")

    assert convert() == convert("--from", "tiktoken") == bpe.Tokenizer.load(published)
    assert convert("--special-token", "<a>=300").special_tokens == {"<a>": 300}
    shown = CliRunner().invoke(main, ["inspect", "a.tiktoken"])
    assert "special token 290: '<|fim|>'" in shown.output


@pytest.fixture
def fresh():
    """The warning is given once in a process: forget that it was."""
    tiktoken._warn_without_special_tokens.cache_clear()
    yield
    tiktoken._warn_without_special_tokens.cache_clear()


@pytest.mark.parametrize("opened", OPENERS.values(), ids=OPENERS)
def test_one_warning_without_special_tokens(path, opened, fresh):
    tok = opened(path, pattern="cl100k", special_tokens={})
    with pytest.warns(
        UserWarning, match=r"a rank file holds no special tokens, and none were given"
    ) as given:
        assert opened(path, pattern="cl100k") == tok
    assert len(given) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert bpe.Tokenizer.load(path, pattern="cl100k") == tok
    with pytest.raises(ValueError, match="a rank file has no split pattern"):
        opened(path)


def test_published_tokens_are_sound():
    sizes = {}
    for digest, known in PUBLISHED.items():
        assert len(bytes.fromhex(digest)) == 32
        assert bpe.Pattern.of(known.pattern).name == known.pattern
        ids = [*known.special_tokens.values()]
        assert ids == sorted({*ids})
        sizes[known.name] = len(ids), ids[-1]
    assert sizes["Llama 3"] == (256, 128255)
    assert sizes["Llama 4"] == (2048, 202047)
    assert sizes["Qwen"] == (208, 151850)


def test_what_is_published_is_what_tiktoken_says(monkeypatch):
    peer = pytest.importorskip("tiktoken_ext.openai_public")
    digests = []
    monkeypatch.setattr(
        peer, "load_tiktoken_bpe", lambda url, expected_hash: digests.append(expected_hash) or {}
    )
    for name in ("r50k_base", "p50k_base", "cl100k_base", "o200k_base"):
        theirs = peer.ENCODING_CONSTRUCTORS[name]()
        known = PUBLISHED[digests[-1]]
        assert (known.name, known.special_tokens) == (name, theirs["special_tokens"])
        pattern = bpe.Pattern(theirs["pat_str"], dialect="rust")
        assert pattern.split(PROBE) == bpe.split(known.pattern, PROBE)
