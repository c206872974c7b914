"""More tokens and fewer, compared with plain algorithms, and the ids of texts before and after."""

import importlib
import json
import pickle
import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import bpe
from bpe.cli import main
from bpe.reference import learn_more, remove_least_used
from bpe.surgery.prune import least_used, without
from bpe.tokenizer import Tokenizer
from bpe.vocabulary.extras import ids_in, with_ids
from bpe.vocabulary.vocabulary import Vocabulary
from tests.optional import required

END, PAD = "<|end|>", "<|pad|>"
BYTES = [bytes([value]) for value in range(256)]
corpora = st.lists(
    st.tuples(st.text("aab cé", min_size=1, max_size=12), st.integers(1, 4)), min_size=1, max_size=12
)
texts = st.lists(st.text("aab cé", max_size=30) | st.binary(max_size=12), min_size=1, max_size=5)


def same_where_it_should(old, new, new_id_of, text):
    """Compare the ids of each piece; return how many have the same, through the map."""
    n_same = 0
    for piece in old.pattern.split_bytes(text if isinstance(text, bytes) else text.encode()):
        before, after = old.encode(piece), new.encode(piece)
        assert new.decode_bytes(after) == piece
        moved = new_id_of[before].tolist()
        if -1 not in moved:
            survivors = set(new_id_of.tolist())
            assert after == moved or not survivors.issuperset(after)
            n_same += after == moved
    return n_same


@st.composite
def vocabularies(draw):
    """Merges in any order, several pairs for a token, tokens that no merge makes, ids with holes."""
    tokens = [b"a", b"b", b"c"]
    pairs = []
    for _ in range(draw(st.integers(0, 10))):
        left, right = draw(st.sampled_from(tokens)), draw(st.sampled_from(tokens))
        if (left, right) not in pairs:
            pairs.append((left, right))
            tokens += [left + right] if left + right not in tokens else []
    others = draw(st.lists(st.sampled_from([b"xyz", b"abcabc", b"ccc"]), unique=True, max_size=2))
    others = [token for token in others if token not in tokens]
    all_tokens = draw(st.permutations([*BYTES[:97], *BYTES[100:], *tokens, *others, None, None]))
    pairs = draw(st.permutations(pairs))
    tok = Tokenizer(token_bytes=all_tokens, merges=pairs, pattern="gpt2", special_tokens={END: 300})
    whole = [tok.token_id(token) for token in others if draw(st.booleans())]
    return Tokenizer._of(tok.engine.vocabulary.replace(atomic_ids=whole), tok.pattern)


# ----------------------------------------------------------------------------------------------- prune
@given(vocabularies(), texts, st.integers(0, 12), st.lists(st.integers(0, 9), min_size=301, max_size=301))
@settings(max_examples=100)
def test_what_is_removed_is_what_the_plain_algorithm_removes(tok, some, n, uses):
    vocabulary = tok.engine.vocabulary
    removable = {*vocabulary.bytes_of} - {*vocabulary.byte_ids} - {300}
    merges = [(*pair, made) for pair, made in zip(vocabulary.merges, vocabulary.merged_ids, strict=True)]
    removed = least_used(vocabulary, [*uses], {*vocabulary.byte_ids, 300}, n, None)
    assert removed == remove_least_used(merges, dict(enumerate(uses)), removable, n)

    fewer, new_id_of = without(vocabulary, {*removed})
    new = Tokenizer._of(fewer, tok.pattern)
    kept = [number for number in sorted(vocabulary.bytes_of) if number not in removed]
    assert new_id_of[kept].tolist() == [*range(len(kept))] == sorted(fewer.bytes_of)
    assert (new_id_of == -1).sum() == vocabulary.size - len(kept)
    assert fewer.merges == [
        (new_id_of[left], new_id_of[right]) for left, right, made in merges if made not in removed
    ]
    assert [vocabulary.bytes_of[number] for number in kept] == [fewer.bytes_of[i] for i in range(len(kept))]
    for text in some:
        ids = new.encode(text)
        assert set(ids) <= set(fewer.bytes_of)
        assert new.decode_bytes(ids) == (text if isinstance(text, bytes) else text.encode())
        for piece in tok.pattern.split_bytes(text if isinstance(text, bytes) else text.encode()):
            moved = new_id_of[tok.encode(piece)].tolist()
            assert -1 in moved or new.encode(piece) == moved


@given(corpora, corpora, st.integers(0, 20), st.integers(0, 5))
@settings(max_examples=40)
def test_prune_by_least_count(learned_from, pruned_for, n_merges, min_count):
    tok = bpe.train(bpe.WordCounts(learned_from, pattern="none", special_tokens=[END]), 257 + n_merges)
    counts = bpe.WordCounts(pruned_for, pattern="none")
    fewer, new_id_of = tok.prune(counts, min_count=min_count)
    uses = {}
    for word, count in counts.items():
        for number in tok.encode(word):
            uses[number] = uses.get(number, 0) + count
    merges = [(*pair, 256 + rank) for rank, pair in enumerate(tok.merges)]
    order = remove_least_used(merges, uses, range(256, 256 + len(merges)), len(merges))
    kept = [token for number, token in tok.vocab.items() if new_id_of[number] != -1]
    assert [*fewer.vocab.values()] == kept
    if min_count == 0:
        assert fewer == tok
    n_removed = tok.vocab_size - fewer.vocab_size
    assert {*np.flatnonzero(new_id_of == -1).tolist()} == {*order[:n_removed]}
    assert fewer.special_tokens == {END: fewer.vocab_size - 1}


def test_prune_to_a_size(tokenizer, book):
    fewer, new_id_of = tokenizer.prune([book], vocab_size=400)
    assert fewer.vocab_size == 400 == len(fewer.vocab)
    assert [*fewer.special_tokens] == [*tokenizer.special_tokens]
    assert [new_id_of[i] for i in tokenizer.special_tokens.values()] == [397, 398, 399]
    assert same_where_it_should(tokenizer, fewer, new_id_of, book[:20_000]) > 1000
    ids = tokenizer.encode_to_numpy(book)
    assert set(np.flatnonzero(new_id_of == -1)) & {*ids.tolist()}
    by_counts = bpe.count_words([book])
    assert tokenizer.prune(by_counts, vocab_size=400)[0] == fewer
    assert tokenizer.prune([book], vocab_size=400, min_count=1)[0].vocab_size >= 400
    best = len(fewer.encode(book))
    assert best < len(tokenizer.prune([book[::-1]], vocab_size=400)[0].encode(book))


def test_prune_keeps_what_a_tokenizer_was_given(tokenizer, book):
    more = tokenizer.with_allowed_special("all")
    assert more.prune([book], vocab_size=400)[0].allowed_special == "all"
    assert more.extend([book], 1)[0].allowed_special == "all"


def test_a_pruned_tokenizer_is_saved_and_pickled(tokenizer, book, tmp_path):
    for fewer, _ in (tokenizer.prune([book], vocab_size=300), tokenizer.extend([book], 30)):
        fewer.save(tmp_path / "tok.json")
        assert Tokenizer.load(tmp_path / "tok.json") == fewer == pickle.loads(pickle.dumps(fewer))


# ---------------------------------------------------------------------------------------------- extend
@given(
    corpora, corpora, st.integers(0, 10), st.integers(0, 6), st.sampled_from(["smallest", "lexicographic"])
)
@settings(max_examples=40)
def test_extend_learns_what_the_plain_algorithm_learns(old, new, n_before, n, ties):
    tok = bpe.train(bpe.WordCounts(old), 256 + n_before)
    expected = learn_more(bpe.WordCounts(new).items(), tok.merges, n, ties=ties)
    if len(expected) < n:
        with pytest.raises(ValueError, match=rf"gives {len(expected)} more tokens, not {n}"):
            tok.extend(bpe.WordCounts(new), n, ties=ties)
        n = len(expected)
    more, new_id_of = tok.extend(bpe.WordCounts(new), n, ties=ties)
    assert more.merges == [*tok.merges, *(merge.pair for merge in expected)]
    assert new_id_of.tolist() == [*range(tok.vocab_size)]
    assert more.with_vocab_size(tok.vocab_size) == tok


def test_old_ids_stay(tokenizer, book):
    domain = "E = mc^2; \\frac{\\partial u}{\\partial t} = \\alpha \\nabla^2 u <|end|>\n" * 3
    more, new_id_of = tokenizer.extend([domain], 15)
    assert more.special_tokens == tokenizer.special_tokens
    assert more.vocab_size == tokenizer.vocab_size + 15
    assert len(more.encode(domain, allowed_special="all")) < len(
        tokenizer.encode(domain, allowed_special="all")
    )
    holes = [number for number in range(tokenizer.vocab_size) if number not in tokenizer.vocab]
    assert holes
    assert np.flatnonzero(new_id_of == -1).tolist() == holes
    assert same_where_it_should(tokenizer, more, new_id_of, domain + book[:20_000]) > 1000
    back, map_back = more.prune([book], vocab_size=len(tokenizer.vocab))
    assert len(back.vocab) == len(tokenizer.vocab)
    assert set(map_back[new_id_of[new_id_of >= 0]]) <= set(range(-1, back.vocab_size))


def test_tokens_that_are_taken_whole_stay_so(tokenizer):
    vocabulary = tokenizer.engine.vocabulary
    parts = {**{number: token for token, number in vocabulary.id_of.items()}, 700: b"zqzq", 701: b"never"}
    whole = Vocabulary(parts, vocabulary.merges, vocabulary.special_tokens).replace(atomic_ids=[700])
    tok = Tokenizer._of(whole.replace(idle_tokens={"": 702}), tokenizer.pattern)
    more, _ = tok.extend(["zqzq zqzq zqz zqz qz"], 2)
    assert more.encode("zqzq") == [700]
    assert more.token_bytes(702) == b""
    assert more.token_bytes(703) in (b"zq", b"qz")
    fewer, new_id_of = more.prune(["zqzq"], min_count=1)
    assert fewer.encode("zqzq") == [new_id_of[700]]
    assert new_id_of[701] == -1
    assert fewer.token_bytes(int(new_id_of[702])) == b""


# --------------------------------------------------------------------------------- what a file held besides
def with_steps(tokenizer, **document):
    kept = {"document": document}
    return Tokenizer._of(tokenizer.engine.vocabulary.replace(extras=json.dumps(kept)), tokenizer.pattern)


TEMPLATE = {
    "type": "Sequence",
    "processors": [
        {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": False, "use_regex": True},
        {
            "type": "TemplateProcessing",
            "single": [
                {"SpecialToken": {"id": "<|end|>", "type_id": 0}},
                {"Sequence": {"id": "A", "type_id": 0}},
            ],
            "pair": [],
            "special_tokens": {"<|end|>": {"id": "<|end|>", "ids": [600], "tokens": ["<|end|>"]}},
        },
    ],
}


def test_ids_in_a_file_follow(tokenizer, book):
    given = {"padding": {"pad_id": 300, "pad_token": "x"}, "post_processor": TEMPLATE}
    tok = with_steps(tokenizer, **given)
    fewer, new_id_of = tok.prune([book], vocab_size=270)
    assert new_id_of[300] != -1  # a token that is named is kept
    kept = json.loads(fewer.engine.vocabulary.extras)["document"]
    assert kept["padding"]["pad_id"] == new_id_of[300]
    assert fewer.encode("", add_special_tokens=True) == [new_id_of[600]] == [fewer.special_tokens["<|end|>"]]
    more, _ = tok.extend([book], 5)
    assert more.engine.vocabulary.extras == tok.engine.vocabulary.extras


def test_every_id_in_a_file_follows():
    roberta = {"type": "RobertaProcessing", "sep": ["</s>", 2], "cls": ["<s>", 1], "trim_offsets": True}
    config = {
        "added_tokens_decoder": {"1": {"content": "<s>"}, "2": {"content": "</s>"}},
        "model_max_length": 9,
    }
    kept = {"document": {"post_processor": roberta}, "files": {"tokenizer_config.json": config}}
    assert ids_in(json.dumps(kept)) == {1, 2}
    moved = json.loads(with_ids(json.dumps(kept), lambda number: number + 10))
    assert moved["document"]["post_processor"] == {**roberta, "sep": ["</s>", 12], "cls": ["<s>", 11]}
    assert [*moved["files"]["tokenizer_config.json"]["added_tokens_decoder"]] == ["11", "12"]
    assert moved["files"]["tokenizer_config.json"]["model_max_length"] == 9
    assert with_ids("", len) == ""


@pytest.mark.parametrize(
    "steps",
    [
        {"normalizer": {"type": "NFC"}},
        {"normalizer": {"type": "Lowercase"}},
        {
            "normalizer": {"type": "Lowercase"},
            "pre_tokenizer": {
                "type": "Sequence",
                "pretokenizers": [
                    {"type": "Punctuation", "behavior": "Isolated"},
                    {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": False},
                ],
            },
        },
    ],
)
def test_steps_are_applied_before_learning(tokenizer, book, steps):
    tok = with_steps(tokenizer, **steps)
    assert not tok.engine.is_lossless
    text = "ZEE\u0308GRAS zee\u0308gras ZEEGRAS! " * 4
    more, _ = tok.extend([text, "another<|end|>"], 4)
    assert not more.engine.is_lossless
    assert len(more.encode(text)) < len(tok.encode(text))
    assert set(range(tok.vocab_size, more.vocab_size)) & set(more.encode(text))
    fewer, new_id_of = more.prune([text], vocab_size=300)
    assert fewer.decode(fewer.encode(text)) == more.decode(more.encode(text))
    moved = new_id_of[more.encode(text)]
    assert (moved != -1).all()
    assert fewer.encode(text) == moved.tolist()
    with pytest.raises(ValueError, match="give text, not counts"):
        more.prune(bpe.WordCounts({"a": 1}), vocab_size=300)


def sentencepiece_like():
    """Return a tokenizer whose tokens are texts; several pairs make one of them."""
    vocab = [
        "<unk>",
        *(f"<0x{value:02X}>" for value in range(256)),
        *"▁abcé",
        "ab",
        "bc",
        "abc",
        "▁abc",
        "ca",
    ]
    model = {
        "type": "BPE",
        "unk_token": "<unk>",
        "fuse_unk": True,
        "byte_fallback": True,
        "vocab": {token: number for number, token in enumerate(vocab)},
        "merges": ["a b", "b c", "ab c", "a bc", "▁ abc", "c a"],
    }
    return {
        "normalizer": {
            "type": "Sequence",
            "normalizers": [
                {"type": "Prepend", "prepend": "▁"},
                {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
            ],
        },
        "added_tokens": [{"id": 0, "content": "<unk>", "special": True}],
        "decoder": {
            "type": "Sequence",
            "decoders": [
                {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
                {"type": "ByteFallback"},
                {"type": "Fuse"},
                {"type": "Strip", "content": " ", "start": 1, "stop": 0},
            ],
        },
        "model": model,
    }


def test_tokens_that_are_texts_can_be_pruned_but_not_extended(tmp_path):
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(sentencepiece_like()))
    tok = Tokenizer.load(path)
    text = "abc abc bc ééè"
    with pytest.raises(ValueError, match="are texts"):
        tok.extend([text], 1)
    fewer, new_id_of = tok.prune([text], min_count=1)
    assert tok.vocab_size - fewer.vocab_size == 1  # "ca"
    assert fewer.encode(text) == new_id_of[tok.encode(text)].tolist()
    least, _ = tok.prune([text], min_count=100)
    assert least.merges == []
    assert least.decode(least.encode(text)) == text
    fewer.save_huggingface(tmp_path / "fewer.json")
    tokenizers = required("tokenizers")
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "fewer.json"))
    assert theirs.encode(text, add_special_tokens=False).ids == fewer.encode(text)


# ------------------------------------------------------------------------------------------------ errors
def test_what_is_asked_for_must_make_sense(tokenizer, book):
    with pytest.raises(ValueError, match="n must be at least 0, not -1"):
        tokenizer.extend([book], -1)
    with pytest.raises(ValueError, match="gives 1 more tokens, not 50: ask for fewer"):
        tokenizer.extend(["zq"], 50)
    for change in (lambda: tokenizer.extend([""], 1), lambda: tokenizer.prune([""], min_count=1)):
        with pytest.raises(ValueError, match=r"empty|no text"):
            change()
    with pytest.raises(ValueError, match="vocab_size, min_count or both are required"):
        tokenizer.prune([book])
    with pytest.raises(ValueError, match="min_count must be at least 0, not -2"):
        tokenizer.prune([book], min_count=-2)
    with pytest.raises(ValueError, match="vocab_size must be at least 0, not -3"):
        tokenizer.prune([book], vocab_size=-3, min_count=1)
    with pytest.raises(ValueError, match="at most 559, the present number of tokens, not 560"):
        tokenizer.prune([book], vocab_size=560)
    with pytest.raises(ValueError, match="vocab_size must be at least 259, not 258"):
        tokenizer.prune([book], vocab_size=258)
    with pytest.raises(ValueError, match="count with the pattern"):
        tokenizer.prune(bpe.WordCounts({"a": 1}, pattern="o200k"), min_count=1)
    with pytest.raises(ValueError, match="no words"):
        tokenizer.prune(bpe.WordCounts(), min_count=1)
    far = tokenizer.with_special_tokens({"<far>": 2**31 - 1})
    for change in (lambda: far.extend([book], 1), lambda: far.prune([book], min_count=1)):
        with pytest.raises(ValueError, match="all ids must be below"):
            change()


# ------------------------------------------------------------------------------------ the large comparison
@pytest.fixture(scope="module")
def command():
    required("tokenizers")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(Path(__file__).parents[3] / "asv_benchmarks")
        yield importlib.import_module("same")


def test_a_small_cut_of_the_comparison(command, tokenizer, book, capsys):
    command.check_surgery("small", tokenizer, [book[:20_000].encode(), "Zwölf 中文 <|end|>".encode()])
    assert capsys.readouterr().out.count("as tokenizers") == 2


def test_the_comparison_notices(command, tokenizer, book):
    fewer, new_id_of = tokenizer.prune([book], vocab_size=400)
    one, other = np.flatnonzero(new_id_of >= 256)[:2]
    new_id_of[[one, other]] = new_id_of[[other, one]]
    with pytest.raises(command.Different):
        command.compare(tokenizer, fewer, new_id_of, book.encode())


# ------------------------------------------------------------------------------------------- the commands
def run(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.fixture
def folder(tokenizer, book, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tokenizer.save("tok.json")
    Path("book.txt").write_text(book[:20_000], "utf-8")
    Path("empty.txt").write_bytes(b"")
    return tmp_path


def test_commands(folder, tokenizer, book):
    assert run("extend", "tok.json", "book.txt", "-n", 5, "-o", "more.json", "--quiet").output == ""
    assert Tokenizer.load("more.json") == tokenizer.extend([book[:20_000]], 5)[0]
    result = run("prune", "tok.json", "book.txt", "--vocab-size", 400, "-o", "fewer.json", "--map", "ids.npy")
    assert result.stderr == "fewer.json: 400 tokens, of 559 before\n"
    fewer, new_id_of = tokenizer.prune([book[:20_000]], vocab_size=400)
    assert Tokenizer.load("fewer.json") == fewer
    assert np.array_equal(np.load("ids.npy"), new_id_of)


def test_commands_say_what_is_wrong(folder):
    for arguments, message in {
        ("extend", "tok.json", "book.txt", "-n", -1, "-o", "x.json"): "n must be at least 0",
        ("extend", "tok.json", "book.txt", "-n", 10**5, "-o", "x.json"): "more tokens, not 100000",
        ("extend", "tok.json", "empty.txt", "-n", 1, "-o", "x.json"): "empty",
        ("prune", "tok.json", "empty.txt", "--min-count", 1, "-o", "x.json"): "empty",
        (
            "prune",
            "tok.json",
            "book.txt",
            "-o",
            "x.json",
        ): "--vocab-size, --min-frequency or both are required",
        ("prune", "tok.json", "book.txt", "--vocab-size", 3, "-o", "x.json"): "at least 259, not 3",
        (
            "prune",
            "tok.json",
            "book.txt",
            "--min-count",
            3,
            "-o",
            "x.json",
            "--map",
            "x.csv",
        ): "must end in .npy",
        ("audit", "tok.json", "empty.txt"): "empty.txt has no text",
        ("audit", "tok.json", "missing.txt"): "no such file: missing.txt",
    }.items():
        result = run(*arguments)
        assert result.exit_code == 2, arguments
        assert message in result.stderr
        assert result.stderr.startswith("bpe: ")
        assert result.stderr.count("\n") == 1
    assert not Path("x.json").exists()


def test_audit_command(folder, tokenizer):
    found = json.loads(run("audit", "tok.json", "book.txt", "--json").output)
    assert found["tokens"] == found["statuses"]["live"] == 559
    assert found["texts"][0]["name"] == "book.txt"
    assert found["texts"][0]["n_bytes"] == Path("book.txt").stat().st_size
    assert found["witnesses"]["600"] == "<|end|>"
    printed = run("audit", "tok.json", "book.txt").output
    assert re.search(r"live: +559 tokens\n", printed)
    assert "tokens a word" in printed
    dead = Tokenizer(
        token_bytes=[*(bytes([i]) for i in range(256)), b"lo ", b"zz"], merges=[], pattern="gpt2"
    )
    dead.save("dead.json")
    assert re.search(r"rank-dead: +2 tokens\n +256  b'lo '\n +257  b'zz'\n", run("audit", "dead.json").output)
