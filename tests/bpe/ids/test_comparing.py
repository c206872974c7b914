"""Fingerprints and differences of tokenizers: they agree with ==."""

import json
import pickle
import random
import subprocess
import sys
import warnings

import pytest
from hypothesis import given, settings

import bpe
import bpe.ids
from tests.bpe.ids.cases import tokenizers
from tests.bpe.pipeline.test_engine import random_document

SAVES = {
    "native": (bpe.Tokenizer.save, bpe.Tokenizer.load),
    "huggingface": (bpe.Tokenizer.save_huggingface, bpe.Tokenizer.from_huggingface),
}


@settings(max_examples=60)
@given(tokenizers, tokenizers)
def test_as_equality(a, b):
    again = pickle.loads(pickle.dumps(a))
    assert bpe.ids.fingerprint(again) == bpe.ids.fingerprint(a)
    assert not bpe.ids.differences(a, again)
    assert (bpe.ids.fingerprint(a) == bpe.ids.fingerprint(b)) == (a == b)
    found = bpe.ids.differences(a, b)
    assert bool(found) == (a != b)
    if found.witness is not None:
        options = {"allowed_special": "all"}
        assert a.encode(found.witness, **options) != b.encode(found.witness, **options)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("format", SAVES)
def test_after_a_save(seed, format, tmp_path):
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(random_document(random.Random(seed))))
    tok = bpe.Tokenizer.from_huggingface(path)
    save, load = SAVES[format]
    save(tok, tmp_path / "again.json")
    again = load(tmp_path / "again.json")
    assert again == tok
    assert bpe.ids.fingerprint(again) == bpe.ids.fingerprint(tok)


def test_in_another_process(tokenizer, tmp_path):
    tokenizer.save(tmp_path / "tok.json")
    code = "import sys, bpe, bpe.ids; print(bpe.ids.fingerprint(bpe.Tokenizer.load(sys.argv[1])))"
    done = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "tok.json"], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == bpe.ids.fingerprint(tokenizer)


def test_what_differs(tokenizer):
    def changed(**parts):
        given = {
            "token_bytes": tokenizer.vocab,
            "merges": tokenizer.merges_bytes,
            "pattern": "gpt2",
            "special_tokens": tokenizer.special_tokens,
        }
        return bpe.Tokenizer(**{**given, **parts})

    found = bpe.ids.differences(tokenizer, changed(pattern="cl100k"))
    assert found.patterns == ("gpt2", "cl100k")
    assert tokenizer.encode(found.witness) != changed(pattern="cl100k").encode(found.witness)
    merges = tokenizer.merges_bytes
    swapped = [merges[1], merges[0], *merges[2:]]
    found = bpe.ids.differences(tokenizer, changed(merges=swapped))
    assert (found.first_merge, found.only_in_a, found.other_ids) == (0, [], [])
    found = bpe.ids.differences(tokenizer, tokenizer.with_special_tokens(["<new>"]))
    assert found.special_tokens == [("<new>", None, 603)]
    assert b"<new>" in found.witness
    found = bpe.ids.differences(tokenizer, tokenizer.with_allowed_special("all"))
    assert (found.others, found.witness) == (["allowed_special"], None)
    assert str(bpe.ids.differences(tokenizer, tokenizer)) == "no difference"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        other = bpe.train(["ab ab"], 258, progress=False)
    found = bpe.ids.differences(tokenizer, other)
    assert "only in the first: " in str(found)
    assert "more" in str(found)
    assert len(found.only_in_a) > 200
