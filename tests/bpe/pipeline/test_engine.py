"""Tokenizers that do something to a text around their merges, against the package tokenizers."""

import json
import pickle
import random
import time
from itertools import chain

import numpy as np
import pytest

import bpe
from bpe.encoding.symbols import ModelOptions, Symbols
from bpe.pipeline.cuts import CrossedPairs
from bpe.pipeline.normalizers import Normalizer
from bpe.splitting import regex_engine as regular_expressions
from bpe.vocabulary.byte_level import text_of
from bpe.vocabulary.vocabulary import Vocabulary
from tests.optional import optional

tokenizers = optional("tokenizers")

BYTE_TOKENS = [f"<0x{value:02X}>" for value in range(256)]
SPACE = "▁"
LETTERS = [*"abcx.12,\n", SPACE, "é", "日", "本", "e", "\u0301", "A", "😀"]
TEXTS = [
    "",
    " ",
    "a b  c",
    "ab ab\nx 12, é日本 e\u0301 A😀q Ω\x00",
    f"{SPACE}a{SPACE}{SPACE}b <s>a</s> <x> ab<x>  <x>b",
    "日本日本 aAaA e\u0301\u0301 \u00c9",
    "  <x> <s>",
    "qqq q Ωq a",
]


def sequence(key, *steps):
    return {"type": "Sequence", key: [*steps]} if len(steps) != 1 else steps[0]


def replace(old, new):
    return {"type": "Replace", "pattern": {"String": old}, "content": new}


BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
METASPACE = {"type": "Metaspace", "replacement": SPACE, "prepend_scheme": "always", "split": True}
NORMALIZERS = [
    None,
    {"type": "NFC"},
    {"type": "NFKD"},
    {"type": "Lowercase"},
    sequence("normalizers", {"type": "Prepend", "prepend": SPACE}, replace(" ", SPACE)),
    replace(" ", SPACE),
    sequence("normalizers", {"type": "NFC"}, {"type": "Strip", "strip_left": True, "strip_right": True}),
]
OF_TEXT = [
    None,
    METASPACE,
    METASPACE | {"prepend_scheme": "first"},
    METASPACE | {"prepend_scheme": "never", "split": False},
    {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithPrevious", "invert": False},
    {"type": "WhitespaceSplit"},
    sequence("pretokenizers", {"type": "Digits", "individual_digits": True}, {"type": "Whitespace"}),
]
OF_BYTES = [
    BYTE_LEVEL,
    BYTE_LEVEL | {"add_prefix_space": True},
    sequence("pretokenizers", {"type": "Digits", "individual_digits": True}, BYTE_LEVEL),
    sequence("pretokenizers", {"type": "WhitespaceSplit"}, BYTE_LEVEL | {"use_regex": False}),
]
LLAMA_DECODER = sequence(
    "decoders",
    replace(SPACE, " "),
    {"type": "ByteFallback"},
    {"type": "Fuse"},
    {"type": "Strip", "content": " ", "start": 1, "stop": 0},
)
BYTE_DECODERS = [
    BYTE_LEVEL,
    BYTE_LEVEL,
    None,
    {"type": "Fuse"},
    replace("Ġ", " "),
    sequence("decoders", replace("a", "bb"), BYTE_LEVEL),
    sequence("decoders", BYTE_LEVEL, {"type": "Strip", "content": " ", "start": 1, "stop": 0}),
]
AROUND = {
    "type": "TemplateProcessing",
    "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
    "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
    "special_tokens": {"<s>": {"id": "<s>", "ids": [0], "tokens": ["<s>"]}},
}


FLAGS = ("single_word", "lstrip", "rstrip", "normalized")


def flags(chance, number, content, special):
    return {"id": number, "content": content, "special": special} | {
        name: chance.random() < 0.2 for name in FLAGS
    }


def random_document(chance):
    """Return a tokenizer.json with steps, flags, vocabulary and merges by chance."""
    is_text = chance.random() < 0.6
    suffix = "</w>" if chance.random() < 0.2 else ""
    has_bytes = is_text and not suffix and chance.random() < 0.6
    tokens = ["<s>", "</s>", "<x>"]
    tokens += BYTE_TOKENS if has_bytes else []
    letters = chance.sample(LETTERS, chance.randint(3, len(LETTERS))) if is_text else map(chr, range(256))
    letters = [letter if is_text else text_of(letter.encode("latin-1")) for letter in letters]
    if not is_text and chance.random() < 0.3:
        letters.remove("q")
    tokens += letters + [letter + suffix for letter in letters if suffix]
    usual = letters if is_text else [*"abAx12", "Ġ", *map(text_of, (b"\xc3", b"\xa9", b"\xe6"))]
    parts = [part for part in usual if part in letters]
    merges: list[list[str]] = []
    for _ in range(chance.randint(0, 30)):
        left = chance.choice(parts)
        right = chance.choice(parts) + (suffix if chance.random() < 0.5 else "")
        if [left, right] in merges or (suffix and (left.endswith(suffix) or right not in tokens)):
            continue
        merges.append([left, right])
        if left + right not in tokens:
            tokens.append(left + right)
        if not (left + right).endswith(suffix or "\0"):
            parts.append(left + right)
    model = {
        "type": "BPE",
        "vocab": {token: number for number, token in enumerate(tokens)},
        "merges": merges,
        "unk_token": chance.choice(["<x>", *tokens[-2:]]) if chance.random() < 0.7 or not is_text else None,
        "fuse_unk": chance.random() < 0.5,
        "byte_fallback": has_bytes,
        "end_of_word_suffix": suffix or None,
    }
    added = [flags(chance, 0, "<s>", True), flags(chance, 1, "</s>", True), flags(chance, 2, "<x>", False)]
    return {
        "version": "1.0",
        "added_tokens": added,
        "normalizer": chance.choice(NORMALIZERS),
        "pre_tokenizer": chance.choice(OF_TEXT if is_text else OF_BYTES),
        "post_processor": chance.choice([None, AROUND]),
        "decoder": chance.choice([LLAMA_DECODER, METASPACE, None] if is_text else BYTE_DECODERS),
        "model": model,
    }


def loaded(document, path):
    path.write_text(json.dumps(document))
    return bpe.Tokenizer.from_huggingface(path), tokenizers.Tokenizer.from_file(str(path))


def random_texts(chance):
    pieces = [*LETTERS, " ", " ", "<s>", "<x>", "</s>", "q", "ab"]
    return TEXTS + ["".join(chance.choices(pieces, k=chance.randint(1, 25))) for _ in range(25)]


@pytest.mark.parametrize("seed", range(120))
def test_as_tokenizers_does(seed, tmp_path):
    chance = random.Random(seed)
    document = random_document(chance)
    tok, peer = loaded(document, tmp_path / "tokenizer.json")
    tok.save(tmp_path / "tok.json")
    tok.save_huggingface(tmp_path / "again.hf.json")
    again = bpe.Tokenizer.from_huggingface(tmp_path / "again.hf.json")
    assert again == bpe.Tokenizer.load(tmp_path / "tok.json") == pickle.loads(pickle.dumps(tok)) == tok
    without = loaded(document | {"post_processor": None}, tmp_path / "without.json")[0]
    assert (without == tok) == (document["post_processor"] is None)
    written = tokenizers.Tokenizer.from_file(str(tmp_path / "again.hf.json"))
    assert json.loads(written.to_str()) == json.loads(peer.to_str())
    n_alike = 0
    for text in random_texts(chance):
        wanted = peer.encode(text, add_special_tokens=False)
        try:
            ids, starts, ends = tok.encode_with_offsets(text, allowed_special="all")
        except ValueError as error:
            assert "no token of the vocabulary stands for" in str(error)  # noqa: PT017
            continue
        n_alike += 1
        assert ids.tolist() == wanted.ids, (text, peer.encode(text).tokens)
        assert tok.encode(text, allowed_special="all") == wanted.ids
        if not (document["pre_tokenizer"] or {}).get("trim_offsets"):  # which leaves out white space
            assert list(zip(starts.tolist(), ends.tolist(), strict=True)) == wanted.offsets, text
        assert tok.encode(text, allowed_special="all", add_special_tokens=True) == peer.encode(text).ids
        assert tok.decode(wanted.ids) == peer.decode(wanted.ids, skip_special_tokens=False)
        assert tok.decode(wanted.ids, skip_special_tokens=True) == peer.decode(wanted.ids)
        stream = tok.stream_decoder()
        assert "".join([*map(stream.feed, wanted.ids), stream.finish()]) == tok.decode(wanted.ids)
    assert n_alike or document["model"]["unk_token"] is None


def some_tokenizer(tmp_path, **changes):
    """Return a tokenizer like Llama 2's."""
    vocab = {token: number for number, token in enumerate(["<x>", "<s>", *BYTE_TOKENS, *LETTERS[:-1], "ab"])}
    model = {"type": "BPE", "vocab": vocab, "merges": [["a", "b"]], "unk_token": "<x>", "fuse_unk": True}
    document = {
        "added_tokens": [flags(random.Random(0), 1, "<s>", True) | dict.fromkeys(FLAGS, False)],
        "normalizer": NORMALIZERS[4],
        "pre_tokenizer": None,
        "post_processor": AROUND | {"special_tokens": {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}}},
        "decoder": LLAMA_DECODER,
        "model": model | {"byte_fallback": True},
    }
    return loaded(document | changes, tmp_path / "tokenizer.json")


SLOW = {"Regex": "(?:a|aa)+$|q"}


@pytest.mark.parametrize(
    "steps",
    [
        {"normalizer": {"type": "Replace", "pattern": SLOW, "content": "c"}},
        {
            "normalizer": None,
            "pre_tokenizer": {"type": "Split", "pattern": SLOW, "behavior": "Isolated", "invert": False},
        },
    ],
)
def test_all_segments_have_the_time_of_one_text(steps, tmp_path, monkeypatch):
    monkeypatch.setattr(regular_expressions, "SECONDS", 0.3)
    tok, _ = some_tokenizer(tmp_path, **steps)
    text = ("a" * 24 + "c<s>") * 300
    for call in (tok.encode, tok.encode_with_offsets):
        start = time.thread_time()
        with pytest.raises(TimeoutError, match=f"a text of {len(text)} characters"):
            call(text, allowed_special="all")
        assert time.thread_time() - start < 3, "without this, many times as long"


@pytest.mark.parametrize("flag", [None, "lstrip", "normalized"])
@pytest.mark.parametrize("is_local", [True, False])
def test_all_segments_have_the_room_of_one_text(flag, is_local, tmp_path):
    steps = [
        replace("a", "b" * 9000),
        *[{"type": "Strip", "strip_left": True, "strip_right": True}] * (not is_local),
    ]
    token = flags(random.Random(0), 1, "<s>", True) | {name: name == flag for name in FLAGS}
    tok, _ = some_tokenizer(tmp_path, normalizer=sequence("normalizers", *steps), added_tokens=[token])
    assert len(tok.encode("a<s>", allowed_special="all")) == 9001
    for call in (tok.encode, tok.encode_with_offsets):
        with pytest.raises(ValueError, match=r"the normalizer makes a text of .* characters, and at most"):
            call("a<s>" * 100, allowed_special="all")


def test_signs_before_what_came_from_the_first_character(tmp_path):
    """As tokenizers: that may be several pieces, where a normalizer or a step before puts something in."""
    pre_tokenizer = sequence(
        "pretokenizers", {"type": "FixedLength", "length": 1}, METASPACE | {"prepend_scheme": "first"}
    )
    for first in ("b", "ab", SPACE + "c"):
        normalizer = {"type": "Prepend", "prepend": first}
        tok, peer = some_tokenizer(tmp_path, normalizer=normalizer, pre_tokenizer=pre_tokenizer)
        for text in ("a", "ab", "bca", " a", "<s>a", ""):
            wanted = peer.encode(text, add_special_tokens=False)
            assert tok.encode(text, allowed_special="all") == wanted.ids
            ids, starts, ends = tok.encode_with_offsets(text, allowed_special="all")
            assert ids.tolist() == wanted.ids
            assert [*zip(starts.tolist(), ends.tolist(), strict=True)] == wanted.offsets


@pytest.mark.parametrize("left_out", ["pre_tokenizer", "decoder", "normalizer", "post_processor"])
def test_steps_that_a_file_leaves_out(tmp_path, left_out):
    """A step that is not in the file is none, as null is."""
    some_tokenizer(tmp_path)
    document = json.loads((tmp_path / "tokenizer.json").read_text())
    del document[left_out]
    other, peer = loaded(document, tmp_path / "tokenizer.json")
    assert other == loaded(document | {left_out: None}, tmp_path / "null.json")[0]
    other.save_huggingface(tmp_path / "again.hf.json")
    written = tokenizers.Tokenizer.from_file(str(tmp_path / "again.hf.json"))
    assert json.loads(written.to_str()) == json.loads(peer.to_str())
    ids = peer.encode("ab abé 日😀").ids
    assert other.encode("ab abé 日😀", add_special_tokens=True) == ids
    assert other.decode(ids) == peer.decode(ids, skip_special_tokens=False)


@pytest.mark.parametrize("pre_tokenizer", [None, BYTE_LEVEL, OF_TEXT[4]])
def test_a_normalizer_that_writes_bytes(tmp_path, pre_tokenizer):
    """The merges are of the characters that it writes, which a pre-tokenizer may write as bytes again."""
    vocab = {text_of(bytes([value])): value for value in range(256)} | {"Ġa": 256, "Ã©": 257}
    document = {
        "added_tokens": [flags(random.Random(0), 258, "<s>", True) | dict.fromkeys(FLAGS, False)],
        "normalizer": {"type": "ByteLevel"},
        "pre_tokenizer": pre_tokenizer,
        "decoder": BYTE_LEVEL,
        "model": {"type": "BPE", "vocab": vocab, "merges": [["Ġ", "a"], ["Ã", "©"]]},
    }
    tok, peer = loaded(document, tmp_path / "tokenizer.json")
    tok.save(tmp_path / "tok.json")
    tok.save_huggingface(tmp_path / "again.hf.json")
    written = tokenizers.Tokenizer.from_file(str(tmp_path / "again.hf.json"))
    assert json.loads(written.to_str()) == json.loads(peer.to_str())
    assert bpe.Tokenizer.load(tmp_path / "tok.json") == tok
    for text in (*TEXTS, "a ab é\n 日<s> aéa"):
        wanted = peer.encode(text)
        ids, starts, ends = tok.encode_with_offsets(text, allowed_special="all")
        assert ids.tolist() == wanted.ids
        assert list(zip(starts.tolist(), ends.tolist(), strict=True)) == wanted.offsets
        assert tok.decode(wanted.ids) == peer.decode(wanted.ids, skip_special_tokens=False)
        stream = tok.stream_decoder()
        assert "".join([*map(stream.feed, wanted.ids), stream.finish()]) == tok.decode(wanted.ids)


def of_bytes(tmp_path, without="", **changes):
    """Return a tokenizer like GPT-2's."""
    vocab = {text_of(bytes([value])): value for value in range(256)} | {"ab": 256, "<x>": 257}
    vocab = {token: number for token, number in vocab.items() if token not in without}
    model = {"type": "BPE", "vocab": vocab, "merges": [["a", "b"]], **changes.pop("model", {})}
    document = {"added_tokens": [], "pre_tokenizer": BYTE_LEVEL, "decoder": BYTE_LEVEL, "model": model}
    return loaded(document | changes, tmp_path / "tokenizer.json")


@pytest.mark.parametrize("decoder", BYTE_DECODERS[1:])
def test_decoders_of_bytes(decoder, tmp_path):
    """Where it is not ByteLevel alone, the decoder is applied, and text may come back changed."""
    tok, peer = of_bytes(tmp_path, decoder=decoder)
    ids = peer.encode(" ab a bé日").ids
    assert tok.encode(" ab a bé日") == ids
    assert tok.decode(ids) == peer.decode(ids)
    assert tok.is_lossless == (decoder == BYTE_LEVEL)
    tok.save_huggingface(tmp_path / "again.hf.json")
    written = tokenizers.Tokenizer.from_file(str(tmp_path / "again.hf.json"))
    assert json.loads(written.to_str()) == json.loads(peer.to_str())
    if not tok.is_lossless:
        with pytest.raises(ValueError, match="cannot hold what this tokenizer does to a text"):
            tok.save_tiktoken(tmp_path / "ranks.tiktoken")


@pytest.mark.parametrize("unk", ["?", "ab"])
@pytest.mark.parametrize("text", ["é?é", "?é?é", "éé?ß", "éabßéab", "ab ab é?ééab?"])
def test_text_that_is_the_unknown_token(text, unk, tmp_path):
    """It has the id of what is unknown, and is not joined to that."""
    vocab = {token: number for number, token in enumerate(["<s>", "?", "a", "b", "ab", " "])}
    model = {"type": "BPE", "vocab": vocab, "merges": [["a", "b"]], "unk_token": unk, "fuse_unk": True}
    token = flags(random.Random(0), 0, "<s>", True) | dict.fromkeys(FLAGS, False)
    changes = {"normalizer": None, "post_processor": None, "decoder": None, "added_tokens": [token]}
    tok, peer = some_tokenizer(tmp_path, **changes, model=model)
    wanted = peer.encode(text)
    ids, starts, ends = tok.encode_with_offsets(text)
    assert tok.encode(text) == ids.tolist() == wanted.ids
    assert list(zip(starts.tolist(), ends.tolist(), strict=True)) == wanted.offsets
    stream = tok.stream_encoder()
    assert [*chain.from_iterable(map(stream.feed, text)), *stream.finish()] == wanted.ids


def test_tokens_for_some_bytes(tmp_path):
    """They stand for ASCII characters; a longer character is unknown as a whole, or known as a whole."""
    vocab = {"<x>": 0, "a": 1, "<0x5F>": 2, "<0x0A>": 3}
    model = {"type": "BPE", "vocab": vocab, "merges": [], "unk_token": "<x>", "byte_fallback": True}
    changes = {"normalizer": None, "post_processor": None, "added_tokens": []}
    tok, peer = some_tokenizer(tmp_path, **changes, model=model)
    for text in ("a_\n", "é", "é€b", "_€a\n€"):
        assert tok.encode(text) == peer.encode(text).ids
    assert tok.encode("é_") == [0, 2]  # tokenizers has [2, 0] here
    with pytest.raises(ValueError, match="requires all tokens from <0x80> to <0xFF>, or none"):
        some_tokenizer(tmp_path, **changes, model=model | {"vocab": vocab | {"<0xC3>": 4}})


@pytest.mark.parametrize("fuse_unk", [False, True])
@pytest.mark.parametrize("use_regex", [False, True])
def test_bytes_that_are_unknown(fuse_unk, use_regex, tmp_path):
    """They become the token for what is unknown; several of one word become one, if that is fused."""
    tok, peer = of_bytes(
        tmp_path,
        without=("q", "Ã"),
        pre_tokenizer=BYTE_LEVEL | {"use_regex": use_regex, "trim_offsets": False},
        model={"unk_token": "<x>", "fuse_unk": fuse_unk},
    )
    assert not tok.is_lossless
    tok.save(tmp_path / "tok.json")
    assert bpe.Tokenizer.load(tmp_path / "tok.json") == tok
    for text in ("", "q", "qqq qq aqq", "abqé ééq q", "qq" * 50 + "ab"):
        wanted = peer.encode(text)
        ids, starts, ends = tok.encode_with_offsets(text)
        assert ids.tolist() == tok.encode(text) == wanted.ids
        assert list(zip(starts.tolist(), ends.tolist(), strict=True)) == wanted.offsets
        assert tok.decode(wanted.ids) == peer.decode(wanted.ids)


def test_equal_tokenizers_put_the_same_around(tmp_path):
    tok, _ = some_tokenizer(tmp_path)
    same, _ = some_tokenizer(tmp_path, padding=None)
    other, _ = some_tokenizer(tmp_path, post_processor=None)
    assert tok == same
    assert tok != other
    assert tok.encode("a", add_special_tokens=True) != other.encode("a", add_special_tokens=True)


def test_every_way_of_encoding(tmp_path):
    tok, peer = some_tokenizer(tmp_path)
    text = "ab abé 日😀\nΩ a <s>b  ab"
    options = {"allowed_special": "all"}
    wanted = peer.encode(text, add_special_tokens=False).ids
    assert not tok.is_lossless
    assert tok.encode(text.encode(), **options) == tok.encode_to_numpy(text, **options).tolist() == wanted
    assert tok.encode_batch([text, "", "ab"], **options)[::2] == [wanted, tok.encode("ab")]
    ids, offsets = tok.encode_batch_to_numpy([text] * 3, threads=2, add_special_tokens=True, **options)
    assert ids.tolist() == [1, *wanted] * 3
    assert np.diff(offsets).tolist() == [len(wanted) + 1] * 3
    assert tok.count(text, **options) == len(wanted)
    assert tok.count(text, 3, **options) == 4
    with pytest.raises(ValueError, match="holds the special token '<s>' at character"):
        tok.encode(text)
    with pytest.raises(ValueError, match="dropout is only for tokenizers that do nothing to a text"):
        tok.encode_with_dropout(text, 0.1, seed=1, **options)
    for size in (1, 3):
        stream = tok.stream_encoder(add_special_tokens=True, **options)
        growing, found = tok.appendable_encoder(**options), []
        for start in range(0, len(text), size):
            found += stream.feed(text[start : start + size])
            growing.append(text[start : start + size])
        assert found + stream.finish() == [1, *wanted]
        assert growing.ids() == wanted
    for most in range(len(wanted) + 2):
        part = tok.truncate(text, most, **options)
        ids = tok.encode(part, **options)
        assert text.startswith(part)
        assert len(ids) <= most
        assert ids == wanted[: len(ids)]
    counter = tok.interval_counter("ab abé 日😀")
    for i, j in ((0, 9), (1, 4), (3, 8), (4, 4)):
        assert counter.count(i, j) == len(tok.encode_ordinary("ab abé 日😀"[i:j]))
    done = tok.encode_files([text, "ab"], tmp_path / "ids.bin", add_special_tokens=True, **options)
    ids = np.fromfile(done.ids, done.dtype).tolist()
    assert ids == [1, *wanted, 1, *tok.encode("ab")]
    assert np.load(done.offsets).tolist() == [0, len(wanted) + 1, len(ids)]


@pytest.mark.parametrize("n_tokens", [0, 1, 5])
def test_segments_are_normalized_together(n_tokens, tmp_path, monkeypatch):
    """The fast way of cutting is taken, and gives what the slow ways give."""
    split = {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithPrevious", "invert": False}
    tok, peer = some_tokenizer(tmp_path, normalizer=replace(" ", SPACE), pre_tokenizer=split)
    text = "<s>".join(["ab b", *["", "a  b", "é", " "][: max(n_tokens - 1, 0)], "b a"][: n_tokens + 1])
    calls, normalize = [], Normalizer.__call__

    def counted(self, given):
        calls.append(given)
        return normalize(self, given)

    monkeypatch.setattr(Normalizer, "__call__", counted)
    fast = tok.encode(text, allowed_special="all")
    assert len(calls) == 1
    vars(tok.engine.preparation.normalizer)["is_local"] = False  # one segment after the other
    assert tok.encode(text, allowed_special="all") == fast
    assert len(calls) == 1 + text.count("<s>") + 1
    slow = bpe.Tokenizer.from_huggingface(tmp_path / "tokenizer.json")
    for search in slow.engine._searches(frozenset(["<s>"])):
        search.has_flags = True  # so that both searches are made
    assert slow.encode(text, allowed_special="all") == fast == peer.encode(text, add_special_tokens=False).ids


def test_long_words_are_cut(tmp_path):
    tok, peer = some_tokenizer(tmp_path)
    text = "ab a b abé " * 50
    wanted = peer.encode(text, add_special_tokens=False).ids
    data = text.encode()
    assert len(tok.engine._crossed_pairs.cut(data, np.array([len(data)]))) > 100
    assert tok.encode(text) == wanted
    whole = bpe.Tokenizer.from_huggingface(tmp_path / "tokenizer.json")
    vars(whole.engine)["_crossed_pairs"] = None
    assert whole.encode(text) == wanted


def test_bytes_that_are_not_utf_8(tmp_path):
    tok, _ = some_tokenizer(tmp_path)
    assert tok.encode(b"a\xffb\xe6\x97") == tok.encode("a\ufffdb\ufffd")
    with pytest.raises(ValueError, match="not UTF-8 at byte 1, and this tokenizer changes characters"):
        tok.encode_with_offsets(b"a\xff")
    _, starts, ends = tok.encode_with_offsets("aé日".encode())
    assert list(zip(starts.tolist(), ends.tolist(), strict=True)) == [(0, 1), (0, 1), (1, 3), (3, 6)]


def test_formats_without_a_place_for_steps(tmp_path):
    tok, _ = some_tokenizer(tmp_path)
    for save in (tok.save_tiktoken, tok.save_gpt2, tok.save_minbpe):
        with pytest.raises(ValueError, match="cannot hold what this tokenizer does to a text"):
            save(tmp_path / "other")
    tok.save(tmp_path / "tok.json")
    assert json.loads((tmp_path / "tok.json").read_text())["version"] == 3


def test_training_does_not_go_on(tmp_path):
    tok, _ = some_tokenizer(tmp_path)
    counts = bpe.count_words(["ab"], pattern="none", special_tokens=["<s>"])
    with pytest.raises(ValueError, match="a token for every byte and do nothing to a text"):
        bpe.Trainer.resume(tok, counts)


def test_a_byte_without_a_token(tmp_path):
    tok = bpe.Tokenizer(token_bytes=[bytes([value]) for value in range(255)], merges=[], pattern="none")
    assert tok.encode("é") == [0xC3, 0xA9]
    for text in (b"a\xff", b"a" * 5000 + b"\xff"):
        with pytest.raises(ValueError, match="the text has the byte 0xFF, which no token"):
            tok.encode(text)
    tok.save(tmp_path / "tok.json")
    assert bpe.Tokenizer.load(tmp_path / "tok.json") == tok
    assert json.loads((tmp_path / "tok.json").read_text())["version"] == 3


def test_idle_tokens(tmp_path):
    """An empty token, and one that is not spelled in bytes: ids that can only be decoded."""
    vocab = {text_of(bytes([value])): value for value in range(256)} | {"": 256, "\u200d": 257, "ab": 258}
    vocab |= {text_of("\u200d".encode()): 259}
    document = {
        "added_tokens": [],
        "pre_tokenizer": BYTE_LEVEL,
        "decoder": BYTE_LEVEL,
        "model": {"type": "BPE", "vocab": vocab, "merges": [["a", "b"]], "ignore_merges": True},
    }
    tok, peer = loaded(document, tmp_path / "tokenizer.json")
    assert tok.encode("ab\u200d") == peer.encode("ab\u200d").ids
    assert tok.decode([256, 257, 258, 259]) == peer.decode([256, 257, 258, 259]) == "\u200dab\u200d"
    tok.save(tmp_path / "tok.json")
    tok.save_huggingface(tmp_path / "again.hf.json")
    assert json.loads((tmp_path / "again.hf.json").read_text())["model"]["vocab"] == vocab
    for other in (bpe.Tokenizer.load(tmp_path / "tok.json"), pickle.loads(pickle.dumps(tok))):
        assert other == tok
        assert other.decode([256, 257]) == "\u200d"
    words = Vocabulary([bytes([value]) for value in range(256)], [], {}).replace(idle_tokens={"": 300})
    other = bpe.Tokenizer._of(words, bpe.Pattern.of("gpt2"))
    with pytest.raises(ValueError, match="cannot hold id 300"):
        other.save_minbpe(tmp_path / "a.model")
    with pytest.raises(ValueError, match="id 97, the id of token b'a'"):
        tok.engine.vocabulary.replace(idle_tokens={"x": 97})


# ------------------------------------------------------------------------- pairs that tokens cross
@pytest.mark.parametrize("seed", range(20))
def test_no_token_crosses_a_cut(seed):
    """The slow twin looks for every token at every place."""
    chance = random.Random(seed)
    alphabet = "abcé日😀" + SPACE
    tokens = ["".join(chance.choices(alphabet, k=chance.randint(1, 4))) for _ in range(chance.randint(0, 40))]
    crossed = CrossedPairs(tokens)
    texts = ["".join(chance.choices(alphabet, k=chance.randint(0, 30))) for _ in range(5)]
    data = "".join(texts).encode()
    ends = np.cumsum([len(text.encode()) for text in texts])
    cuts = crossed.cut(data, ends).tolist()
    assert cuts[0] == 0
    assert {*ends.tolist()} <= {*cuts}
    assert cuts == sorted({*cuts})
    start, n_missed = 0, 0
    for text, end in zip(texts, ends.tolist(), strict=True):
        places = [start + len(text[:i].encode()) for i in range(len(text) + 1)]
        inside = {text[i - 1 : i + 1] for i in range(1, len(text))}
        crossed = {pair for pair in inside if any(pair in token for token in tokens)}
        assert {cut for cut in cuts if start < cut < end} <= {*places}
        for i in range(1, len(text)):
            if places[i] in cuts:
                assert text[i - 1 : i + 1] not in crossed
            else:
                n_missed += text[i - 1 : i + 1] not in crossed
        start = end
    assert n_missed <= 3  # by pairs that share a bit


def test_symbols():
    tokens = {0: "é".encode(), 1: b"a", 2: "日".encode(), 3: "日本".encode(), 4: b"<0xE6>"}
    words = Vocabulary(tokens, [], {})
    symbols = Symbols.of(words, ModelOptions(unk_id=9, is_text=True))
    assert {symbols.spelled[number - symbols.first] for number in symbols.pairs.ravel() if number > 4} == {
        b"\xc3",
        b"\xa9",
        b"\xe6",
        b"\xe6\x97",
        b"\x97",
        b"\xa5",
    }
    assert symbols.made[-1] == 2
    assert not symbols.are_tokens
    lead, rest = symbols.byte_ids[0xE6], symbols.byte_ids[0x97]
    ids, offsets = symbols.ids(np.array([1, lead, rest, 1], np.uint32), np.array([0, 3, 4]))
    assert (ids.tolist(), offsets.tolist()) == ([1, 9, 1], [0, 2, 3])
