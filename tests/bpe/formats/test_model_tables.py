"""Tables of a tokenizer.json read at once and one by one: the same vocabulary, or the same error."""

import gc
import json
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bpe
from bpe.formats import merge_search, model_tables
from bpe.support.json_text import MAX_DIGITS, read_json
from bpe.support.threads import gc_paused
from bpe.vocabulary.byte_level import all_bytes_of, bytes_of

LETTERS = "aĠé\u0144\n 日\ud800\0"  # some stand for bytes, some do not; a surrogate has no UTF-8
texts = st.text(LETTERS, max_size=3)
numbers = st.one_of(st.integers(0, 30), st.sampled_from([-1, 2**31, 2**70, True, 1.0, None]))


@st.composite
def tables(draw):
    """Return ids, merges and special tokens that fit together, often, or nearly."""
    letters = draw(st.sampled_from(["aĠé", "ab\n", LETTERS]))
    tokens, merges = [*letters], []
    for _ in range(draw(st.integers(1, 6))):
        pair = draw(st.tuples(st.sampled_from(tokens), st.sampled_from(tokens)))
        if pair not in merges:
            merges.append(pair)
        tokens += {"".join(pair)} - {*tokens}
    ids = {token: number for number, token in enumerate(draw(st.permutations(tokens)))}
    special = {token: ids[token] for token in draw(st.sets(st.sampled_from(tokens), max_size=2))}
    special |= {
        token: 100 + i for i, token in enumerate(draw(st.sets(texts, max_size=2))) if token not in ids
    }
    ids |= {token: number for token, number in special.items() if draw(st.booleans())}
    are_strings = draw(st.booleans())
    entries = [" ".join(pair) if are_strings else [*pair] for pair in merges]
    for _ in range(draw(st.sampled_from([0, 0, 1, 2]))):  # damage
        match draw(st.integers(0, 4)):
            case 0:
                ids[draw(texts)] = draw(numbers)
            case 1:
                ids.pop(draw(st.sampled_from(tokens)), None)
            case 2:
                some = st.one_of(texts, st.lists(st.one_of(texts, st.just(3)), max_size=3), st.none())
                entries.insert(draw(st.integers(0, len(entries))), draw(some))
            case 3:
                entries.append(entries[0])
            case 4:
                ids[draw(st.sampled_from(tokens))] = draw(numbers)
    special = {token: ids.get(token, number) for token, number in special.items()}
    return ids, entries, special


def outcome(read, table, is_text):
    ids, merges, special = table
    try:
        words = read(dict(ids), merges, dict(special), is_text=is_text)
    except (ValueError, TypeError) as error:
        return type(error), str(error)
    if words is None:
        return None
    parts = (words.bytes_of, words.id_of, words.special_tokens, words.idle_tokens)
    orders = [[*part.items()] for part in parts]
    assert words.pairs.dtype == words.made.dtype == "int64"
    return orders, words.pairs.tolist(), words.made.tolist(), words.byte_ids, words.size


@settings(max_examples=500)
@given(tables(), st.booleans())
def test_at_once_is_one_by_one(table, is_text):
    at_once = outcome(model_tables.read_at_once, table, is_text)
    if at_once is not None:
        assert at_once == outcome(model_tables.read_one_by_one, table, is_text)


IDS = {"a": 0, "Ġ": 1, "aĠ": 2, "aĠa": 3, "<x>": 4}


@pytest.mark.parametrize("merges", [["a Ġ", "aĠ a"], [["a", "Ġ"], ["aĠ", "a"]]])
@pytest.mark.parametrize("is_text", [False, True])
@pytest.mark.parametrize("idle", [{}, {"日": 7, " ": 5}])
def test_ordinary_tables_are_read_at_once(merges, is_text, idle):
    table = (IDS | idle, merges, {"<x>": 4, "<y>": 9})
    at_once = outcome(model_tables.read_at_once, table, is_text)
    assert at_once is not None
    assert at_once == outcome(model_tables.read_one_by_one, table, is_text)


@pytest.mark.parametrize(
    ("changes", "merges"),
    [
        ({}, None),
        ({}, []),
        ({}, ["a Ġ", ["aĠ", "a"]]),
        ({}, ["a Ġ aĠ", "a"]),  # as many spaces as merges
        ({}, ["a", "Ġ aĠ a"]),
        ({}, ["a Ġ\naĠ a"]),
        ({}, ["a Ġ", "a Ġ"]),
        ({}, ["aĠ aĠ"]),
        ({}, ["a "]),
        ({}, [["a", 3]]),
        ({}, [["a", ""]]),
        ({"": 7}, ["a Ġ"]),
        ({"日": 7, "a日": 8}, ["a 日"]),
        ({"b": 2}, ["a Ġ"]),
        ({"b": -1}, ["a Ġ"]),
        ({"b": 2**31}, ["a Ġ"]),
        ({"b": True}, ["a Ġ"]),
        ({"b": 1.5}, ["a Ġ"]),
        ({"a" * (2**20 + 1): 7}, ["a Ġ"]),
    ],
)
def test_others_are_not(changes, merges):
    assert model_tables.read_at_once(IDS | changes, merges, {"<x>": 4}, is_text=False) is None


def test_equal_hashes_take_no_wrong_token(monkeypatch):
    """With the base 1, a hash is a sum: all orders of the same characters have one."""
    wanted = merge_search.find_merges(["a", "b", "ab", "ba"], ["a b", "b a"])
    assert [places.tolist() for places in wanted] == [[[0, 1], [1, 0]], [2, 3]]
    monkeypatch.setattr(merge_search, "_BASE", np.uint64(1))
    assert merge_search.find_merges(["a", "b", "ab", "ba"], ["a b", "b a"]) is None


def test_many_tokens():
    """More than one table, and more than one row of powers."""
    tokens = [chr(0x4E00 + i) + chr(0x4E00 + j) for i in range(90) for j in range(90)]
    parts = [chr(0x4E00 + i) for i in range(90)]
    merges = [[*token] for token in tokens]
    pairs, made = merge_search.find_merges([*parts, *tokens], merges)
    assert pairs.tolist() == [[i, j] for i in range(90) for j in range(90)]
    assert made.tolist() == [*range(90, 90 + len(tokens))]


def test_too_many_characters(monkeypatch):
    monkeypatch.setattr(merge_search, "MOST_CHARACTERS", 5)
    assert merge_search.find_merges(["a", "b", "ab"], ["a b"]) is None
    assert merge_search.find_merges(["a", "aa"], ["a a"])


@given(st.lists(st.text(LETTERS + "\u0100\u0143ÿ"), max_size=5))
def test_all_bytes(some):
    one_by_one = [*map(bytes_of, some)]
    assert all_bytes_of(some) == (None if None in one_by_one else one_by_one)


@pytest.mark.parametrize("before", range(40))
def test_long_numbers(before):
    """Wherever a number is, one of too many digits is found, and one of the most digits is read."""
    for sign in ("", "-"):
        longest = sign + "7" * (MAX_DIGITS - len(sign))
        assert read_json(b" " * before + longest.encode()) == int(longest)
        with pytest.raises(ValueError, match="a number of 401 digits"):
            read_json(b" " * before + longest.encode() + b"0")


@pytest.mark.parametrize("is_enabled", [True, False])
def test_collection_goes_on(is_enabled):
    was_enabled = gc.isenabled()
    try:
        (gc.enable if is_enabled else gc.disable)()
        with gc_paused():
            assert not gc.isenabled()
        assert gc.isenabled() == is_enabled
        with pytest.raises(ValueError, match="not JSON"):
            read_json(b"{")
        assert gc.isenabled() == is_enabled
    finally:
        (gc.enable if was_enabled else gc.disable)()


def test_files_are_read_at_once(tmp_path, monkeypatch):
    tok = bpe.train(["low lower lowest"] * 3, vocab_size=262, special_tokens=["<x>"], progress=False)
    path = tmp_path / "tokenizer.json"
    tok.save_huggingface(path)
    monkeypatch.setattr(model_tables, "read_one_by_one", None)
    assert bpe.Tokenizer.from_huggingface(path) == tok
    document = json.loads(path.read_text("utf-8"))
    document["model"]["merges"] = [*map(" ".join, document["model"]["merges"])]
    path.write_text(json.dumps(document))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert bpe.Tokenizer.from_huggingface(path) == tok
