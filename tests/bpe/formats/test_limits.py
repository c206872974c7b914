"""Small files of strangers take little memory, whatever they say."""

import base64
import json
import tracemalloc

import numpy as np
import pytest

import bpe
import bpe.report.figures
from bpe.formats import huggingface
from bpe.formats.limits import MAX_TOKEN, check_lengths, check_longest
from bpe.formats.native import _text_of
from bpe.vocabulary.vocabulary import Vocabulary

BYTES = [bytes([value]) for value in range(256)]


def doubling(n):
    return [(97, 97), *((256 + i, 256 + i) for i in range(n - 1))]


def model_file(merges):
    lines = "".join(f"{left} {right}\n" for left, right in merges)
    return f"minbpe v1\n\n0\n{lines}".encode()


def native_file(merges, **more):
    document = {
        "format": "bpe-structures",
        "version": 1,
        "pattern": "gpt2",
        "unicode": "1",
        "special_tokens": {},
    }
    return json.dumps(document | {"merges": _text_of(np.array(merges).reshape(-1, 2))} | more).encode()


def hf_file(tokens=(), specials=()):
    words = Vocabulary([*BYTES, *tokens], [], {token: 5000 + i for i, token in enumerate(specials)})
    return huggingface.dump(words, bpe.Pattern.of("gpt2"))


def rank_file(tokens=()):
    return b"".join(base64.b64encode(token) + b" %d\n" % i for i, token in enumerate([*BYTES, *tokens]))


READERS = {
    "model": bpe.Tokenizer.from_minbpe,
    "json": bpe.Tokenizer.load,
    "hf.json": bpe.Tokenizer.from_huggingface,
    "tiktoken": lambda path: bpe.Tokenizer.from_tiktoken(path, pattern="gpt2", special_tokens={}),
}


def read(tmp_path, suffix, data):
    path = tmp_path / f"a.{suffix}"
    path.write_bytes(data)
    return READERS[suffix](path)


@pytest.mark.parametrize("n", [21, 24, 26])
@pytest.mark.parametrize(("suffix", "write"), [("model", model_file), ("json", native_file)])
def test_tokens_that_double(suffix, write, n, tmp_path):
    """Of a file of a kilobyte, an id could stand for 64 MiB: it is refused before any token is made."""
    data = write(doubling(n))
    assert len(data) < 1000
    tracemalloc.start()
    with pytest.raises(
        ValueError, match=r"merge 20, \(275, 275\), makes a token of 2097152 bytes; .* at most 1048576"
    ):
        read(tmp_path, suffix, data)
    assert tracemalloc.get_traced_memory()[1] < 4 << 20
    tracemalloc.stop()
    tok = read(tmp_path, suffix, write(doubling(20)))
    assert len(tok.decode([275] * 20)) == 20 * MAX_TOKEN


LONG = b"a" * (MAX_TOKEN + 1)


@pytest.mark.parametrize(
    ("suffix", "data"),
    [
        ("tiktoken", rank_file([LONG])),
        ("hf.json", hf_file([LONG])),
        ("hf.json", hf_file(specials=[LONG.decode()])),
        ("json", native_file([], other_tokens={"300": base64.b64encode(LONG).decode()})),
        ("json", native_file([], special_tokens={LONG.decode(): 300})),
        ("json", native_file([(300, 97)], other_tokens={"300": base64.b64encode(LONG[1:]).decode()})),
        ("model", b"minbpe v1\n\n1\n" + LONG + b" 300\n"),
    ],
)
def test_long_tokens(suffix, data, tmp_path):
    with pytest.raises(ValueError, match=r"1048577 bytes.* at most 1048576") as error:
        read(tmp_path, suffix, data)
    assert len(str(error.value)) < 300


def test_training_is_not_bounded(tmp_path):
    """But what no reader would take is not written, either."""
    words = Vocabulary.of_merges(np.array(doubling(21)), {})
    tok = bpe.Tokenizer._of(words, bpe.Pattern.of("none"))
    assert tok.encode("a" * 2**21) == [276]
    assert len(tok.decode([276])) == 2**21
    with pytest.raises(ValueError, match="a token has 2097152 bytes"):
        tok.save(tmp_path / "tok.json")
    assert not [*tmp_path.iterdir()]
    with pytest.raises(ValueError, match=r"merge 27, .* have more than 268435456 bytes"):
        check_lengths(doubling(40))
    check_longest(["\u00e9" * (MAX_TOKEN // 2)])
    with pytest.raises(ValueError, match="1048578 bytes"):
        check_longest(["\u00e9" * (MAX_TOKEN // 2 + 1)])


LAST = 2**31 - 1


@pytest.mark.parametrize(
    ("suffix", "data"),
    [
        ("tiktoken", rank_file() + base64.b64encode(b"hi") + b" %d\n" % LAST),
        ("json", native_file([(104, 105)], merged_ids=_text_of(np.array([LAST])))),
        ("json", native_file([], special_tokens={"<a>": LAST})),
        ("model", b"minbpe v1\n\n1\n<a> %d\n104 105\n" % LAST),
    ],
)
def test_ids_far_apart(suffix, data, tmp_path):
    """No table has an entry for every id up to the greatest."""
    tracemalloc.start()
    tok = read(tmp_path, suffix, data)
    assert tok.vocab_size == 2**31
    text = "hi there<a>" if tok.special_tokens else "hi there"
    ids = tok.encode(text, allowed_special="all")
    assert tok.decode(ids * 100) == text * 100
    assert tok.encode_with_offsets(text, allowed_special="all")[0].tolist() == ids
    assert tok.interval_counter("hi").count(0, 2) == len(tok.encode("hi"))
    tok.save(tmp_path / "again.json")
    assert bpe.Tokenizer.load(tmp_path / "again.json") == tok
    with pytest.raises(
        ValueError, match="the greatest id is 2147483647: to train, all ids must be below 134217728"
    ):
        bpe.Trainer.resume(
            tok, bpe.count_words(["hi"], "gpt2" if suffix != "model" else "none", [*tok.special_tokens])
        )
    with pytest.raises(ValueError, match="the greatest id is 2147483647: a report has ids below 16777216"):
        bpe.report.figures.figures_of(tok, b"hi")
    assert tracemalloc.get_traced_memory()[1] < 1 << 29, "2**31 entries take gibibytes"
    tracemalloc.stop()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('"version": ' + "9" * 5000, "a number of 5000 digits: 99999999999999999999..."),
        ('"version": 1e999', '"version" is inf, not a version number'),
        ('"version": Infinity', "Infinity is not a JSON number"),
        ('"version": 1, "kept": {"document": {"a": ' + "[" * 150 + "]" * 150 + "}}", "nested too deeply"),
        (
            '"version": 1, "kept": {"document": {"a": ' + "[" * 50_000 + "]" * 50_000 + "}}",
            "nested too deeply",
        ),
        ('"version": 1, "version": 1', "duplicate entry 'version'"),
    ],
)
def test_odd_json(text, message, tmp_path):
    with pytest.raises(ValueError, match=message) as error:
        read(tmp_path, "json", native_file([]).replace(b'"version": 1', text.encode()))
    assert len(str(error.value)) < 400
