"""Segments of all texts in one array, against cutting and normalizing one segment after the other."""

import random
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import bpe
from bpe.pipeline import batches as segments
from bpe.pipeline.batches import segments_of
from bpe.pipeline.engine import PipelineEngine
from bpe.pipeline.normalizers import BOUNDARY, Normalizer
from bpe.splitting.special_search import SpecialSearch
from tests.bpe.pipeline.test_engine import SPACE, replace, sequence, some_tokenizer

MARK = BOUNDARY.encode()
NORMALIZERS = [
    None,
    replace(" ", SPACE),
    replace("ab", ""),
    sequence("normalizers", {"type": "NFKC"}, replace("b", "cc"), replace("é", "c ")),
]
parts = st.sampled_from(
    [b"a", b"b", b" ", b"<a>", b"<", "é".encode(), "ﬁ".encode(), b"e\xcc\x81", b"\n", b"\n\n"]
)
broken = st.sampled_from([MARK[:1], MARK[:2], MARK[1:], MARK[2:], b"\xff", "\ufffd".encode()])
texts = st.lists(st.lists(parts | parts | broken, max_size=12).map(b"".join), min_size=1, max_size=5)
token_sets = st.sets(st.sampled_from(["<a>", "<", "\n", "\n\n", "a", "é"]))


def one_by_one(texts, search, normalizer):
    """Return the slow twin: the segments, the tokens, the segments before each, and before each end."""
    found, tokens, n_before, text_ends = [], [], [], [0]
    for text in texts:
        for i, part in enumerate(search.split(text)):
            if i % 2:
                tokens.append(part)
                n_before.append(len(found))
            else:
                found.append(normalizer(part.decode(errors="replace")).encode())
        text_ends.append(len(found))
    return found, tokens, n_before, text_ends


def check(texts, tokens, normalizer):
    search = SpecialSearch(frozenset(tokens))
    found = segments_of(texts, search, normalizer)
    assert found is not None
    data, starts = bytes(found.data), [0, *found.ends.tolist()]
    assert starts[-1] == len(data)
    assert one_by_one(texts, search, normalizer) == (
        [data[start:end] for start, end in pairwise(starts)],
        [search.encoded[number] for number in found.numbers.tolist()],
        found.n_before.tolist(),
        found.text_ends.tolist(),
    )


@pytest.mark.parametrize("entry", NORMALIZERS)
def test_against_one_after_the_other(entry):
    normalizer = Normalizer.of(entry)
    assert normalizer.is_local

    @given(texts, token_sets)
    @example([b""], {"a"})
    @example([b"", b"a", b"", b"aa", b""], {"a"})
    @example([b"\xef\xbf", b"\xbf"], set())
    def run(some, tokens):
        if MARK not in b"\0".join(some):
            check(some, tokens, normalizer)

    run()


def test_many_tokens():
    chance = random.Random(1)
    tokens = ["\n" * n for n in range(1, 32)] + [f"<unused{i}>" for i in range(600)]
    pieces = [*tokens, *"abc<>", " ", "日本"]
    some = ["".join(chance.choices(pieces, k=400)).encode() for _ in range(3)]
    check(some, tokens, Normalizer.of(replace(" ", SPACE)))


@pytest.mark.parametrize(
    ("some", "tokens"),
    [
        ([MARK], set()),
        ([b"a", b"b" + MARK], set()),
        ([b"a" + MARK + b"<a>"], {"<a>"}),
        ([b"a", b"b"], {BOUNDARY}),
        ([b"a", b"b"], {f"a{BOUNDARY}b"}),
        ([b"a", b"b"], {f"a{BOUNDARY}"}),
        ([b"a", b"b"], {f"{BOUNDARY}b"}),
        ([b"a", b"b", b"c" + MARK + b"d"], {f"a{BOUNDARY}b"}),
    ],
)
def test_boundaries_that_were_given(some, tokens):
    assert segments_of(some, SpecialSearch(frozenset(tokens)), str) is None


@pytest.mark.parametrize(
    ("entry", "is_local"),
    [
        (replace("a", "b" * 100), True),
        (replace("a", "b" * 101), False),
        (replace("ab", "b" * 200), True),
        (sequence("normalizers", replace("a", "b" * 11), replace("b", "c" * 10)), False),
        (sequence("normalizers", {"type": "NFKD"}, replace("b", "c" * 5)), True),
        (sequence("normalizers", {"type": "NFKD"}, replace("b", "c" * 6)), False),
        (sequence("normalizers", replace("a", ""), replace("b", "c" * 100)), True),
        (replace(f"a{BOUNDARY}", "b"), False),
        (replace("a", BOUNDARY), False),
        (replace("", "b"), False),
        ({"type": "Replace", "pattern": {"Regex": "a"}, "content": "b"}, False),
        ({"type": "Prepend", "prepend": "a"}, False),
        ({"type": "Strip", "strip_left": True, "strip_right": False}, False),
    ],
)
def test_what_is_local(entry, is_local):
    assert Normalizer.of(entry).is_local is is_local


@pytest.mark.parametrize(
    "pre_tokenizer",
    [None, {"type": "Split", "pattern": {"String": " "}, "behavior": "Isolated", "invert": False}],
)
def test_every_batch_is_its_texts(pre_tokenizer, tmp_path, monkeypatch):
    """Batches are cut together; the slow way, the texts alone and tokenizers give the same ids."""
    tok, peer = some_tokenizer(tmp_path, normalizer=replace(" ", SPACE), pre_tokenizer=pre_tokenizer)
    some = ["", "<s>", "a b<s>", "<s>a  b<s><s>é", "", "ab 日本 x", "<s>", f"a{BOUNDARY}<s>b", " "]
    wanted = [peer.encode(text, add_special_tokens=False).ids for text in some]
    calls = []
    monkeypatch.setattr(segments, "segments_of", lambda *given: calls.append(given) or segments_of(*given))
    for batch in (some, some[:7], some[3:4], some[4:5]):
        n = some.index(batch[0], 0 if len(batch) > 1 else 3)
        calls.clear()
        ids, offsets = tok.encode_batch_to_numpy(batch, threads=1, allowed_special="all")
        assert len(calls) == 1
        rows = [ids[start:end].tolist() for start, end in pairwise(offsets.tolist())]
        assert rows == wanted[n : n + len(batch)]
    monkeypatch.setattr(PipelineEngine, "_cut_together", lambda self, texts, rules: None)
    assert tok.encode_batch(some, allowed_special="all") == wanted
    around = tok.encode_batch(some, allowed_special="all", add_special_tokens=True)
    monkeypatch.undo()
    assert tok.encode_batch(some, allowed_special="all", add_special_tokens=True) == around


def test_words_to_train_on(tmp_path):
    tok, _ = some_tokenizer(tmp_path, normalizer=replace(" ", SPACE), pre_tokenizer=None)
    assert isinstance(tok, bpe.Tokenizer)
    assert [*tok.engine.normalized(["<s>a b<s><s>c"])] == [f"a{SPACE}b".encode(), b"c"]
