"""Damaged, cut off and hostile files of every format are a ValueError that names file and place."""

import json
import random
import time
import warnings

import pytest

import bpe
from bpe.formats.conversion import read, write
from bpe.formats.recognition import find
from bpe.tokenizer import Tokenizer
from bpe.vocabulary.vocabulary import Vocabulary
from tests.fuzz.damage import damaged

GIVEN = {"tiktoken": {"pattern": "gpt2", "special_tokens": {}}}
NAMES = {"native": "t.json", "huggingface": "t.hf.json", "tiktoken": "t.tiktoken", "minbpe": "t.model"}


@pytest.fixture(scope="module")
def small(tokenizer):
    merges = tokenizer.merges[:60]
    return Tokenizer(
        token_bytes=Vocabulary.assemble(merges),
        merges=merges,
        pattern="o200k",
        special_tokens={"<|end|>": 400},
    )


def load(path, format):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return Tokenizer._read(path, format, **GIVEN.get(format, {}))


@pytest.mark.parametrize("format", NAMES)
@pytest.mark.parametrize("seed", range(2))
def test_mutations(small, format, seed, tmp_path):
    path = tmp_path / NAMES[format]
    write(small.engine.vocabulary, small.pattern, path, format)
    whole = path.read_bytes()
    if format == "native":  # its checksum would find every mutation
        document = json.loads(whole)
        del document["crc32"]
        whole = json.dumps(document).encode()
    chance = random.Random(f"{format}{seed}")
    n_errors, started = 0, time.perf_counter()
    for _ in range(600):
        path.write_bytes(damaged(whole, chance))
        try:
            tok = load(path, format)
        except ValueError as error:
            n_errors += 1
            message = str(error)
            assert message.startswith(f"{path}: "), message
            assert len(message) < 1000, message
        else:
            if tok.pattern == small.pattern:  # another pattern would have to be compiled
                text = "the cat and the hat, 123 <|end|>"
                assert tok.decode(tok.encode(text, allowed_special="all")) == text
    assert n_errors > 300
    assert time.perf_counter() - started < 120


def test_mutations_of_two_files(small, tmp_path):
    plain = Tokenizer(token_bytes=Vocabulary.assemble(small.merges), merges=small.merges, pattern="gpt2")
    plain.save_gpt2(tmp_path)
    chance = random.Random(1)
    n_errors = 0
    for name in ("vocab.json", "merges.txt"):
        whole = (tmp_path / name).read_bytes()
        for _ in range(500):
            (tmp_path / name).write_bytes(damaged(whole, chance))
            try:
                tok = load(tmp_path, "gpt2")
            except ValueError as error:
                n_errors += 1
                assert str(error).startswith(f"{tmp_path}: ")  # noqa: PT017
            else:
                assert tok.decode(tok.encode("the cat", disallowed_special=())) == "the cat"
        (tmp_path / name).write_bytes(whole)
    assert n_errors > 400


@pytest.mark.parametrize("format", NAMES)
def test_cut_off(small, format, tmp_path):
    path = tmp_path / NAMES[format]
    write(small.engine.vocabulary, small.pattern, path, format)
    whole = path.read_bytes()
    for size in range(0, len(whole) - 2, 41):
        path.write_bytes(whole[:size])
        try:
            load(path, format)
        except ValueError as error:
            assert str(error).startswith(f"{path}: ")  # noqa: PT017
        else:
            assert format in ("minbpe", "tiktoken"), "lines from a shorter training"


HOSTILE = {
    "deep": b"[" * 1_000_000,
    "deep objects": b'{"a":' * 200_000,
    "a long number": b'{"version": ' + b"9" * 1_000_000 + b"}",
    "no JSON numbers": b'{"model": NaN, "x": Infinity}',
    "many of one name": b"{" + b", ".join([b'"%d": 1' % (i % 50_000) for i in range(100_000)]) + b"}",
    "a half surrogate": b'{"model": {"vocab": {"\\ud800": 1}}, "pre_tokenizer": "\\udfff"}',
    "a half surrogate in a token": b'{"model": {"vocab": {"\\ud800": 1}, "merges": ["\\udfff a"]}, '
    b'"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false}}',
    "a pickle": b"cos\nsystem\n(S'false'\ntR.",
    "zeros": bytes(1_000_000),
}


@pytest.mark.parametrize("format", NAMES)
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files(format, name, tmp_path):
    path = tmp_path / NAMES[format]
    path.write_bytes(HOSTILE[name])
    started = time.perf_counter()
    with pytest.raises(ValueError, match=r"t\."):
        load(path, format)
    assert time.perf_counter() - started < 20


def test_a_token_of_a_megabyte(tmp_path):
    import base64

    path = tmp_path / "t.tiktoken"
    lines = [base64.b64encode(bytes([i])) + b" %d" % i for i in range(256)]
    runs = [base64.b64encode(b"a" * 2**i) + b" %d" % (255 + i) for i in range(1, 21)]
    path.write_bytes(b"\n".join([*lines, *runs]))
    started = time.perf_counter()
    tok = load(path, "tiktoken")
    assert time.perf_counter() - started < 60
    assert len(tok.token_bytes(275)) == 2**20


EXPRESSIONS = {
    "open": "(" * 100_000,
    "deep": "(?:" * 5000 + "a" + ")" * 5000,
    "sets": "[" * 5000,
    "often": "a{1,999999999}",
    "often in often": "(?:(?:a{1000}){1000}){1000}|.",
    "half an escape": "\\",
    "half a group": "(?",
    "wide": "a|" * 50_000,
}


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_hostile_expressions(small, name, tmp_path):
    """A minbpe file and a tokenizer.json can hold any expression."""
    expression = EXPRESSIONS[name]
    (tmp_path / "t.model").write_bytes(b"minbpe v1\n" + expression.encode() + b"\n0\n")
    small.save_huggingface(tmp_path / "t.hf.json")
    document = json.loads((tmp_path / "t.hf.json").read_bytes())
    document["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"] = expression
    (tmp_path / "t.hf.json").write_text(json.dumps(document))
    for name, format in (("t.model", "minbpe"), ("t.hf.json", "huggingface")):
        started = time.perf_counter()
        try:
            load(tmp_path / name, format)
        except ValueError as error:
            assert name in str(error)  # noqa: PT017
            assert len(str(error)) < 2000  # noqa: PT017
        assert time.perf_counter() - started < 20


def test_nothing_is_run(tmp_path):
    """A pickle is never unpickled."""
    path = tmp_path / "t.json"
    path.write_bytes(b"cos\nsystem\n(S'touch hacked'\ntR.")
    with pytest.raises(ValueError, match=r"not a tokenizer: it begins with b.cos"):
        find(path)
    with pytest.raises(ValueError, match="JSON"):
        read(path, "native")
    assert [file.name for file in tmp_path.iterdir()] == ["t.json"]
    assert bpe.__name__ == "bpe"
