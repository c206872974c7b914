"""What loading a tokenizer.json does not do: load the compiler, read the steps twice."""

import json
import random
import subprocess
import sys
import time

import pytest

import bpe
from bpe.pipeline.added_tokens import AddedToken, overlap
from bpe.pipeline.preparation import Preparation
from bpe.vocabulary.byte_level import text_of

BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
BYTES = {text_of(bytes([value])): value for value in range(256)}


def split(pattern, behavior, invert=False):
    return {"type": "Split", "pattern": pattern, "behavior": behavior, "invert": invert}


def sequence(*steps):
    return {"type": "Sequence", "pretokenizers": [*steps, BYTE_LEVEL]}


def added(number, content, normalized):
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip"), False)
    return {"id": number, "content": content, "special": True, "normalized": normalized} | flags


def document(**changes):
    model = {"type": "BPE", "vocab": BYTES | {"ab": 256, "abc": 257, "xyz": 258}}
    model |= {"merges": [["a", "b"], ["ab", "c"]], "ignore_merges": changes.pop("ignore_merges", False)}
    steps = {"pre_tokenizer": BYTE_LEVEL, "decoder": BYTE_LEVEL}
    return {"added_tokens": [], "model": model} | steps | changes


MANY = [added(300 + i, f"{'<>[]{}'[i % 6]}{i}", i % 2 == 0) for i in range(900)]
KINDS = {
    "Llama 3": document(ignore_merges=True),
    "matches that cover every text": document(
        pre_tokenizer=sequence(split({"Regex": r"\d+|\D"}, "Removed", invert=True))
    ),
    "matches of one character": document(
        pre_tokenizer=sequence(split({"String": " "}, "MergedWithPrevious"))
    ),
    "an expression of Oniguruma": document(
        pre_tokenizer=sequence(split({"Regex": r"\h+|\p{^L}"}, "Isolated"))
    ),
    "many added tokens": document(added_tokens=MANY),
    "NFC": document(normalizer={"type": "NFC"}),
}


def test_no_compiler(tmp_path):
    for i, kind in enumerate(KINDS):
        (tmp_path / f"{i}.json").write_text(json.dumps(KINDS[kind]))
    code = """if True:
        import bpe, sys
        all_of_them = [bpe.Tokenizer.load(path) for path in sys.argv[1:]]
        for tok in all_of_them:
            assert tok.decode([256, 257, 258]) == "ababcxyz"
        assert not {"numba", "llvmlite"} & sys.modules.keys()
        for tok in all_of_them:
            assert tok.encode("xyz") in ([258], [120, 121, 122])
    """
    subprocess.run([sys.executable, "-c", code, *tmp_path.iterdir()], check=True)


def test_tokens_taken_whole_are_found_at_first_use(tmp_path):
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(KINDS["Llama 3"]))
    tok = bpe.Tokenizer.load(path)
    vocabulary = tok.engine.vocabulary
    assert "atomic_ids" not in vars(vocabulary)
    assert tok.encode("xyz") == [258]
    assert vocabulary.atomic_ids == vars(vocabulary)["atomic_ids"] == (258,)
    assert (
        vocabulary.replace(extras="").atomic_ids
        == bpe.Tokenizer.load(path).engine.vocabulary.atomic_ids
        == (258,)
    )


@pytest.mark.parametrize("kind", KINDS)
def test_steps_are_read_once(kind, tmp_path, monkeypatch):
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(KINDS[kind]))
    calls, of = [], Preparation.of

    def counted(vocabulary):
        calls.append(vocabulary)
        return of(vocabulary)

    monkeypatch.setattr(Preparation, "of", counted)
    bpe.Tokenizer.load(path)
    assert len(calls) <= 1


def slow_overlap(first, second):
    """Return whether one of the first tokens can begin inside one of the second."""
    return any(
        token[start:].startswith(other) or (start > 0 and other.startswith(token[start:]))
        for token in second
        for start in range(len(token))
        for other in first
    )


def test_overlaps():
    chance, found = random.Random(2), []
    for _ in range(500):
        tokens = {
            "".join(chance.choices("abcde", k=chance.randint(1, 5))) for _ in range(chance.randint(0, 4))
        }
        flags = {token: chance.random() < 0.5 for token in tokens}
        second = [token for token in tokens if flags[token]]
        wanted = slow_overlap([*tokens - {*second}], second)
        assert overlap(AddedToken(token, normalized=flags[token]) for token in tokens) == wanted
        found.append(wanted)
    assert 50 < sum(found) < 450


def test_overlaps_of_long_tokens():
    """They are not compared: it would take too long."""
    start = time.process_time()
    assert overlap([AddedToken("a" * 1_000_000 + "b"), AddedToken("c" + "a" * 1_000_000, normalized=True)])
    assert time.process_time() - start < 10


def test_equal_with_a_post_processor_that_cannot_be_read(tmp_path):
    def opened(name):
        (tmp_path / "tokenizer.json").write_text(json.dumps(document(post_processor={"type": name})))
        return bpe.Tokenizer.load(tmp_path / "tokenizer.json")

    assert opened("Later") == opened("Later")
    assert opened("Later") != opened("Other")


def test_an_added_token_that_is_normalized_to_nothing(tmp_path):
    (tmp_path / "tokenizer.json").write_text(
        json.dumps(document(normalizer={"type": "StripAccents"}, added_tokens=[added(300, "\u0301", True)]))
    )
    with pytest.raises(ValueError, match="the normalizer leaves nothing of the added token"):
        bpe.Tokenizer.load(tmp_path / "tokenizer.json")
