"""A wrapped tokenizer of transformers: every result is that of the original, and most are ours."""

import copy
import json
import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bpe
import bpe.hf
from bpe.hf import wrapping
from tests.optional import required

transformers = required("transformers")
tokenizers = required("tokenizers")

TEMPLATE = (
    "{% for message in messages %}<|user|>{% generation %}{{ message['content'] }}{% endgeneration %}"
    "{{ eos_token }}{% endfor %}"
)
TEXTS = [
    "the captain said",
    "",
    " the\n\nsea 12345 <|end|> é",
    "<|user|>I'm<|end|>",
    "海 \U0001f44d\U0001f3fd",
]


@pytest.fixture(scope="module")
def tok(book):
    return bpe.train([book[:20_000]], 400, special_tokens=["<|end|>", "<|user|>", "<|pad|>"], progress=False)


def original_of(tok, around=True, **options):
    backend = tok.to_huggingface()
    if around:
        end = ("<|end|>", tok.special_tokens["<|end|>"])
        backend.post_processor = tokenizers.processors.TemplateProcessing(
            single="<|user|> $A <|end|>",
            pair="<|user|> $A $B <|end|>",
            special_tokens=[end, ("<|user|>", tok.special_tokens["<|user|>"])],
        )
    roles = {"eos_token": "<|end|>", "pad_token": "<|pad|>", "chat_template": TEMPLATE}
    return transformers.PreTrainedTokenizerFast(tokenizer_object=backend, **roles | options)


@pytest.fixture(scope="module")
def original(tok):
    return original_of(tok)


@pytest.fixture(scope="module")
def wrapped(original):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = bpe.hf.wrap(original)
    assert found is not original
    assert type(found) is not type(original)
    return found


@pytest.fixture
def by_us(monkeypatch):
    """Count the texts that the engine here encodes, and make the original's backend say if it is asked."""
    counted = []
    encode = wrapping._encode

    def counting(engine, texts, add_special_tokens):
        counted.extend(texts)
        return encode(engine, texts, add_special_tokens)

    monkeypatch.setattr(wrapping, "_encode", counting)
    return counted


def equal(mine, theirs):
    assert [*mine] == [*theirs]
    for name, values in theirs.items():
        assert type(mine[name]) is type(values)
        if isinstance(values, np.ndarray):
            assert mine[name].dtype == values.dtype
            assert np.array_equal(mine[name], values)
        else:
            assert mine[name] == values


# What TRL, axolotl, lm-eval, vLLM and the collators of transformers pass.
CALLS = [
    {},
    {"add_special_tokens": False},
    {"truncation": True, "max_length": 4, "padding": False, "return_tensors": None},
    {"truncation": True, "max_length": 2, "return_attention_mask": False},
    {"truncation": "only_first", "max_length": 3, "add_special_tokens": False},
    {"padding": True, "return_tensors": "np", "padding_side": "left", "add_special_tokens": False},
    {"padding": "longest", "truncation": True, "max_length": 6, "return_tensors": "np"},
    {"padding": "max_length", "max_length": 50, "pad_to_multiple_of": 8},
    {"padding": "max_length", "max_length": 8, "truncation": True, "return_token_type_ids": True},
    {"return_token_type_ids": False, "verbose": False, "split_special_tokens": False},
]


@pytest.mark.parametrize("options", CALLS)
def test_calls(wrapped, original, options, by_us):
    for text in [TEXTS, TEXTS[:1], *TEXTS]:
        equal(wrapped(text, **options), original(text, **options))
        if isinstance(text, str):
            mine, theirs = wrapped.encode(text, **options), original.encode(text, **options)
            assert np.array_equal(mine, theirs)
            assert type(mine) is type(theirs)
    assert len(by_us) == 3 * len(TEXTS) + 1  # every text was encoded here


@pytest.mark.parametrize(
    "options",
    [
        {"return_offsets_mapping": True},
        {"return_special_tokens_mask": True, "return_length": True},
        {"return_overflowing_tokens": True, "truncation": True, "max_length": 5, "stride": 1},
        {"split_special_tokens": True},
        {"text_pair": "a pair"},
        {"truncation": "only_second", "max_length": 40},
    ],
)
def test_calls_for_the_original(wrapped, original, options, by_us):
    equal(wrapped(TEXTS[2], **options), original(TEXTS[2], **options))
    assert by_us == []


def test_other_texts_are_for_the_original(wrapped, original, by_us):
    equal(wrapped([("a", "b")]), original([("a", "b")]))
    equal(
        wrapped(["the", "sea"], is_split_into_words=True), original(["the", "sea"], is_split_into_words=True)
    )
    for wrong in (None, 7, [7], ["a", 7], "\ud800", ["a", "\ud800"]):
        with pytest.raises((TypeError, ValueError)):
            wrapped(wrong)
    with pytest.raises(ValueError, match="not a multiple"):
        wrapped(TEXTS, padding="max_length", max_length=9, truncation=True, pad_to_multiple_of=8)
    assert by_us == []


@settings(max_examples=200)
@given(st.text() | st.text(" \n\té\u2019I'ms<|end|>12the ", max_size=30), st.booleans(), st.integers(0, 8))
def test_any_text(wrapped, original, text, adds, length):
    ids = original.encode(text, add_special_tokens=adds)
    assert wrapped.encode(text, add_special_tokens=adds) == ids
    assert wrapped.decode(ids) == original.decode(ids)
    part = ids[length:]  # may begin inside a character
    assert wrapped.decode(part, skip_special_tokens=True) == original.decode(part, skip_special_tokens=True)
    if length >= 2:
        options = {"truncation": True, "max_length": length, "add_special_tokens": adds}
        equal(wrapped(text, **options), original(text, **options))


def test_decoding(wrapped, original, monkeypatch):
    ids = original(TEXTS)["input_ids"]
    expected = (
        original.batch_decode(ids, skip_special_tokens=True),
        original.decode(ids[0]),
        original.decode(65),
    )
    missing = original.decode([65, 10**6])
    monkeypatch.setattr(type(original), "_decode", None)  # the original is not asked
    mine = wrapped.batch_decode(ids, skip_special_tokens=True), wrapped.decode(ids[0]), wrapped.decode(65)
    assert mine == expected
    assert wrapped.decode(np.array(ids[0])) == expected[1]
    assert wrapped.decode(np.int64(65), clean_up_tokenization_spaces=False) == expected[2]
    monkeypatch.undo()
    assert wrapped.decode([65, 10**6]) == missing
    assert wrapped.batch_decode([]) == []


def test_chats(wrapped, original, by_us):
    messages = [{"role": "user", "content": "the captain"}, {"role": "user", "content": "said"}]
    for options in ({"tokenize": False}, {}, {"return_dict": True, "return_assistant_tokens_mask": True}):
        mine, theirs = (each.apply_chat_template(messages, **options) for each in (wrapped, original))
        assert mine == theirs
        assert bool(by_us) == (options != {"tokenize": False})


def test_encodings_are_made_later(wrapped, original):
    mine, theirs = wrapped(TEXTS), original(TEXTS)
    assert callable(vars(mine)["_bpe_encodings"])
    assert mine.is_fast
    assert [*map(mine.tokens, range(5))] == [*map(theirs.tokens, range(5))]
    assert mine.char_to_token(0, 4) == theirs.char_to_token(0, 4)
    assert mine[2].offsets == theirs[2].offsets
    again = pickle.loads(pickle.dumps(wrapped(TEXTS)))
    assert type(again) is transformers.BatchEncoding
    assert again.data == theirs.data
    assert again[1].ids == theirs[1].ids


def test_an_object_of_its_own(tok, original, wrapped, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert isinstance(wrapped, type(original))
    assert type(wrapped).__name__ == type(original).__name__
    assert bpe.hf.wrap(wrapped) is wrapped
    assert type(original) is transformers.PreTrainedTokenizerFast
    for each in (wrapped, original):
        each.save_pretrained(tmp_path / str(each is wrapped))
    for name in ("tokenizer.json", "tokenizer_config.json"):
        mine, theirs = (json.loads((tmp_path / folder / name).read_text()) for folder in ("True", "False"))
        assert mine | {"padding": 0, "truncation": 0} == theirs | {"padding": 0, "truncation": 0}
    for again in (pickle.loads(pickle.dumps(wrapped)), copy.deepcopy(wrapped), copy.copy(wrapped)):
        assert isinstance(again, wrapping._Wrapped)
        assert again(TEXTS).data == original(TEXTS).data
        assert again.eos_token == "<|end|>"


def test_changes_later(tok):
    original = original_of(tok)
    wrapped = bpe.hf.wrap(original)
    before = wrapped.encode("the captain said")
    wrapped.add_tokens(["captain"])
    other = copy.deepcopy(wrapped._bpe_plain())
    assert wrapped.encode("the captain said") == other.encode("the captain said") != before
    assert original.encode("the captain said") == before
    wrapped.add_special_tokens({"additional_special_tokens": ["sea"]})
    assert wrapped.decode(wrapped.encode("a sea"), skip_special_tokens=True) == "a "
    wrapped.backend_tokenizer.post_processor = tokenizers.processors.ByteLevel()
    assert wrapped.encode("sea") == [wrapped.convert_tokens_to_ids("sea")]
    wrapped.split_special_tokens = True
    assert len(wrapped.encode("<|end|>")) > 3
    assert pickle.loads(pickle.dumps(wrapped))._bpe_engine is not None
    wrapped.split_special_tokens = False
    wrapped.padding_side = "left"
    wrapped.pad_token = wrapped.eos_token
    rows = wrapped(["sea", "the sea"], padding=True)["input_ids"]
    assert rows[0][0] == wrapped.eos_token_id
    assert wrapped._bpe_engine is not None


PIECES = ["<unk>", "<s>", *(f"<0x{value:02X}>" for value in range(256)), *"▁thecaé", "▁t", "th", "▁th", "he"]
MERGES = [("▁", "t"), ("t", "h"), ("▁t", "h"), ("h", "e")]


def of_sentencepiece(normalizer, pre_tokenizer):
    """A tokenizer in the manner of Llama 2 and Gemma."""
    vocab = {piece: token_id for token_id, piece in enumerate(PIECES)}
    model = tokenizers.models.BPE(vocab, MERGES, unk_token="<unk>", fuse_unk=True, byte_fallback=True)
    backend = tokenizers.Tokenizer(model)
    backend.add_special_tokens(["<unk>", "<s>"])
    if normalizer is not None:
        backend.normalizer = normalizer
    if pre_tokenizer is not None:
        backend.pre_tokenizer = pre_tokenizer
    replace, strip = tokenizers.decoders.Replace("▁", " "), tokenizers.decoders.Strip(" ", 1, 0)
    bytes_, fuse = tokenizers.decoders.ByteFallback(), tokenizers.decoders.Fuse()
    backend.decoder = tokenizers.decoders.Sequence([replace, bytes_, fuse, strip])
    return transformers.PreTrainedTokenizerFast(tokenizer_object=backend, unk_token="<unk>", bos_token="<s>")


def with_added_tokens(tok):
    """One with a normal form, as Qwen's, and tokens with flags."""
    backend = tok.to_huggingface()
    backend.normalizer = tokenizers.normalizers.NFC()
    flags = [{"lstrip": True}, {"rstrip": True, "single_word": True}, {"normalized": True}]
    backend.add_tokens([tokenizers.AddedToken(f"[{i}]", **some) for i, some in enumerate(flags)])
    return transformers.PreTrainedTokenizerFast(tokenizer_object=backend)


KINDS = {
    "added tokens": with_added_tokens,
    "Metaspace": lambda tok: of_sentencepiece(None, tokenizers.pre_tokenizers.Metaspace()),
    "normalizers": lambda tok: of_sentencepiece(
        tokenizers.normalizers.Sequence(
            [tokenizers.normalizers.Prepend("▁"), tokenizers.normalizers.Replace(" ", "▁")]
        ),
        None,
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_kinds(tok, kind):
    original = KINDS[kind](tok)
    wrapped = bpe.hf.wrap(original)  # a warning is an error
    assert isinstance(wrapped, wrapping._Wrapped)
    texts = [*TEXTS, "a [0] [1]b [2][0] e\u0301", " <s> the <unk> cat", "▁the", "x" * 40, "the\n " * 9]
    equal(wrapped(texts), original(texts))
    ids = original(texts)["input_ids"]
    for skips in (False, True):
        expected = original.batch_decode(ids, skip_special_tokens=skips)
        assert wrapped.batch_decode(ids, skip_special_tokens=skips) == expected
        for row in ids:
            assert [wrapped.decode([one], skips) for one in row] == [
                original.decode([one], skips) for one in row
            ]


@pytest.mark.parametrize("name", ["GPT2Tokenizer", "Qwen2Tokenizer", "PreTrainedTokenizerFast"])
def test_classes_of_models(tok, name, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    tok.save_huggingface(tmp_path)
    config = {"tokenizer_class": name, "eos_token": "<|end|>", "pad_token": "<|pad|>"}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    original = transformers.AutoTokenizer.from_pretrained(tmp_path)
    wrapped = bpe.hf.wrap(original)
    assert isinstance(wrapped, wrapping._Wrapped)
    equal(
        wrapped(TEXTS, padding=True, return_tensors="np"), original(TEXTS, padding=True, return_tensors="np")
    )
    wrapped.save_pretrained(tmp_path / "new")
    again = transformers.AutoTokenizer.from_pretrained(tmp_path / "new")
    assert type(again) is type(original)
    equal(again(TEXTS), original(TEXTS))


class Own(transformers.PreTrainedTokenizerFast):
    """Changes texts before they are encoded."""

    def _encode_plus(self, text, *args, **options):
        return super()._encode_plus(text.lower(), *args, **options)


def test_the_original_stays(tok, monkeypatch):
    """One warning, which says why."""
    unigram = tokenizers.Tokenizer(tokenizers.models.Unigram([("a", 0.0), ("b", -1.0)]))
    drops = original_of(tok)
    drops.backend_tokenizer.model.dropout = 0.5
    types = original_of(tok)
    types.backend_tokenizer.post_processor = tokenizers.processors.TemplateProcessing(single="$A:1")
    for other, message in [
        (transformers.PreTrainedTokenizerFast(tokenizer_object=unigram), "only BPE can be read"),
        (Own(tokenizer_object=tok.to_huggingface()), "its class has its own _encode_plus"),
        (drops, "drops merges at random"),
        (types, "other types than 0"),
    ]:
        with pytest.warns(UserWarning, match=message) as warned:
            assert bpe.hf.wrap(other) is other
        assert len(warned) == 1
    original = original_of(tok)
    monkeypatch.setattr(wrapping, "_encode", lambda engine, texts, adds: [[1]] * len(texts))
    with pytest.warns(UserWarning, match=r"bpe.hf.wrap returns this .* as it is: '' has ids \[\] there"):
        assert bpe.hf.wrap(original) is original


@pytest.mark.parametrize("other", [None, "gpt2", 7])
def test_what_is_not_a_tokenizer(other):
    with pytest.raises(TypeError, match="wrap takes a tokenizer of transformers"):
        bpe.hf.wrap(other)


def test_a_tokenizer_of_another_package(tok):
    for other in (tok, tok.to_huggingface()):
        with pytest.raises(TypeError, match=r"HuggingFaceTokenizer gives a bpe\.Tokenizer the methods"):
            bpe.hf.wrap(other)
