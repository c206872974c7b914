"""The adapter without transformers, as far as possible against transformers itself."""

import json

import numpy as np
import pytest

import bpe
import bpe.hf
from bpe.tokenizer import Tokenizer
from tests.optional import optional

transformers = optional("transformers")
TEXTS = [
    "the captain said",
    "",
    " the\n\nsea 12345<|end|> é",
    "<|user|>I'm<|end|>",
    "海 \U0001f44d\U0001f3fd",
]


@pytest.fixture(scope="module")
def folder(book, tmp_path_factory):
    """A model's folder whose post-processor puts two tokens around a text."""
    tok = bpe.train([book[:20_000]], 400, special_tokens=["<|end|>", "<|user|>", "<|pad|>"], progress=False)
    path = tmp_path_factory.mktemp("model")
    tok.save_huggingface(path)
    ids = tok.special_tokens
    document = json.loads((path / "tokenizer.json").read_text())
    document["post_processor"] = {
        "type": "TemplateProcessing",
        "single": [
            {"SpecialToken": {"id": "<|user|>", "type_id": 0}},
            {"Sequence": {"id": "A", "type_id": 0}},
            {"SpecialToken": {"id": "<|end|>", "type_id": 0}},
        ],
        "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}],
        "special_tokens": {
            name: {"id": name, "ids": [ids[name]], "tokens": [name]} for name in ("<|user|>", "<|end|>")
        },
    }
    (path / "tokenizer.json").write_text(json.dumps(document))
    config = {"eos_token": "<|end|>", "pad_token": "<|pad|>", "tokenizer_class": "PreTrainedTokenizerFast"}
    (path / "tokenizer_config.json").write_text(json.dumps(config))
    return path


@pytest.fixture(scope="module")
def hf(folder):
    return bpe.hf.HuggingFaceTokenizer(Tokenizer.load(folder))


@pytest.fixture
def theirs(folder, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    return transformers.PreTrainedTokenizerFast.from_pretrained(folder)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"add_special_tokens": False},
        {"return_offsets_mapping": True, "return_attention_mask": False},
        {"truncation": True, "max_length": 4, "return_offsets_mapping": True},
        {"truncation": True, "max_length": 2},
        {"padding": True, "return_tensors": "np", "return_offsets_mapping": True},
        {"padding": "longest", "truncation": True, "max_length": 6, "return_tensors": "np"},
        {"padding": "max_length", "max_length": 9},
        {"padding": "max_length", "max_length": 9, "truncation": True, "return_tensors": "np"},
        {"padding": "do_not_pad", "split_special_tokens": True, "add_special_tokens": False},
    ],
)
@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.filterwarnings("ignore::UserWarning:transformers")
def test_calls(hf, theirs, options, side, monkeypatch):
    for each in (hf, theirs):
        monkeypatch.setattr(each, "padding_side", side)
        monkeypatch.setattr(each, "truncation_side", side)
    for text in [TEXTS, TEXTS[:1], *TEXTS]:
        mine, other = hf(text, **options), theirs(text, **options)
        assert {*mine} == {*other} - {"token_type_ids"}
        for name, values in mine.items():
            assert type(values) is type(other[name])
            assert (
                np.array_equal(values, other[name]) if "return_tensors" in options else values == other[name]
            )
    assert hf.encode(TEXTS[2], add_special_tokens=False) == theirs.encode(TEXTS[2], add_special_tokens=False)


def test_decoding_and_tokens(hf, theirs):
    ids = hf(TEXTS)["input_ids"]
    for skips in (False, True):
        assert hf.batch_decode(ids, skips) == theirs.batch_decode(ids, skip_special_tokens=skips)
        assert hf.decode(np.array(ids[2]), skips) == theirs.decode(ids[2], skip_special_tokens=skips)
    tokens = hf.convert_ids_to_tokens(ids[2])
    assert tokens == theirs.convert_ids_to_tokens(ids[2])
    assert hf.convert_tokens_to_ids(tokens) == theirs.convert_tokens_to_ids(tokens) == ids[2]
    assert hf.convert_ids_to_tokens(ids[3], True) == ["I", "'", "m"]
    assert hf.decode(65) == theirs.decode(65)
    assert hf.convert_ids_to_tokens(65) == theirs.convert_ids_to_tokens(65)
    assert hf.get_vocab() == theirs.get_vocab()
    assert len(hf) == len(theirs) == hf.vocab_size
    assert hf.all_special_tokens == ["<|end|>", "<|user|>", "<|pad|>"]
    assert hf.all_special_ids == hf.convert_tokens_to_ids(hf.all_special_tokens)


def test_roles(hf, theirs, folder):
    for role in ("bos", "eos", "unk", "pad"):
        assert getattr(hf, f"{role}_token_id") == getattr(theirs, f"{role}_token_id")
        assert getattr(hf, f"{role}_token") == getattr(theirs, f"{role}_token")
    mine = bpe.hf.HuggingFaceTokenizer(Tokenizer.load(folder), bos_token="<|user|>", unk_token="<|pad|>")
    assert (mine.bos_token_id, mine.eos_token) == (hf.convert_tokens_to_ids("<|user|>"), "<|end|>")
    assert mine.convert_tokens_to_ids("no token") == mine.unk_token_id
    mine.pad_token = mine.eos_token
    assert mine.pad_token_id == mine.eos_token_id
    mine.pad_token_id = mine.bos_token_id
    assert mine.pad_token == "<|user|>"
    mine.pad_token_id = None
    with pytest.raises(ValueError, match="there is no pad_token"):
        mine("a", padding=True)


def test_texts_as_tokens():
    """Of SentencePiece, whose tokens are texts."""
    pieces = ["<unk>", "▁", "a", "▁a"]
    document = {
        "model": {
            "type": "BPE",
            "unk_token": "<unk>",
            "vocab": {piece: token_id for token_id, piece in enumerate(pieces)},
            "merges": [["▁", "a"]],
        },
        "added_tokens": [{"id": 0, "content": "<unk>", "special": True}],
        "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True},
        "decoder": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True},
    }
    from bpe.formats.huggingface import of_document

    hf = bpe.hf.HuggingFaceTokenizer(Tokenizer._of(*of_document(document)))
    assert hf.convert_ids_to_tokens(hf.encode("a a")) == ["▁a", "▁a"]
    assert hf.convert_tokens_to_ids(pieces) == [0, 1, 2, 3]


def test_errors(hf, folder):
    for wrong, message in [
        ({"return_tensors": "pt"}, "torch.from_numpy"),
        ({"padding": "left"}, "padding must be True, False, 'longest' or 'max_length', not 'left'"),
        ({"truncation": True}, "max_length is missing"),
        ({"padding": "max_length"}, "max_length is missing"),
        ({"truncation": True, "max_length": 1}, "max_length is 1, but add_special_tokens adds 2 ids"),
        ({"return_tensors": "np"}, "pass padding=True"),
    ]:
        with pytest.raises(ValueError, match=message):
            hf(["the", "sea shore"], **wrong)
    for length in (-1, 2**32):
        with pytest.raises(ValueError, match="max_length must be in"):
            hf("the", padding="max_length", max_length=length)
    unknown_side = bpe.hf.HuggingFaceTokenizer(hf.tokenizer, pad_token="<|pad|>", padding_side="top")
    with pytest.raises(ValueError, match="padding_side must be 'right' or 'left', not 'top'"):
        unknown_side(["the", "sea shore"], padding=True)
    with pytest.raises(AttributeError, match="labels"):
        _ = hf("a").labels
    with pytest.raises(TypeError, match=r"takes a bpe\.Tokenizer, not str"):
        bpe.hf.HuggingFaceTokenizer("gpt2")
    with pytest.raises(TypeError, match="no option 'end_token'"):
        bpe.hf.HuggingFaceTokenizer(hf.tokenizer, end_token="<|end|>")
    with pytest.raises(ValueError, match="eos_token is '<s>', which is not a token"):
        bpe.hf.HuggingFaceTokenizer(hf.tokenizer, eos_token="<s>")
    assert bpe.hf.HuggingFaceTokenizer(hf.tokenizer, model_max_length=4)("the sea", truncation=True).input_ids
    assert repr(hf).startswith("<HuggingFaceTokenizer of <Tokenizer of ")
