"""What a tokenizer.json holds besides: read and written, it is an equal document, or refused by name."""

import json
import pickle
import warnings

import pytest
from click.testing import CliRunner

import bpe
from bpe.cli import main
from bpe.formats import huggingface
from bpe.vocabulary.vocabulary import Vocabulary
from tests.optional import optional

tokenizers = optional("tokenizers")

WORDS = Vocabulary([*(bytes([value]) for value in range(256)), b"ab"], [(97, 98)], {"<s>": 257, "</s>": 258})
TEMPLATE = {
    "type": "TemplateProcessing",
    "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
    "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
    "special_tokens": {"<s>": {"id": "<s>", "ids": [257], "tokens": ["<s>"]}},
}
ROBERTA = {
    "type": "RobertaProcessing",
    "sep": ["</s>", 258],
    "cls": ["<s>", 257],
    "trim_offsets": True,
    "add_prefix_space": False,
}
TRUNCATION = {"direction": "Right", "max_length": 2, "strategy": "LongestFirst", "stride": 0}
PADDING = {
    "strategy": {"Fixed": 9},
    "direction": "Left",
    "pad_to_multiple_of": None,
    "pad_id": 258,
    "pad_type_id": 0,
    "pad_token": "</s>",
}
BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": True}


def document(**changes):
    found = json.loads(huggingface.dump(WORDS, bpe.Pattern.of("gpt2")))
    for key, value in changes.items():
        *path, last = key.split("__")
        place = found
        for step in path:
            place = place[int(step) if step.isdigit() else step]
        place[last] = value
    return found


def outside(**changes):
    found = document(**changes)
    for token in ("<s>", "</s>"):
        del found["model"]["vocab"][token]
    return found


KEPT = {
    "nothing": document(),
    "a template": document(post_processor=TEMPLATE),
    "roberta": document(post_processor=ROBERTA),
    "offsets": document(post_processor=BYTE_LEVEL),
    "a sequence": document(post_processor={"type": "Sequence", "processors": [BYTE_LEVEL, TEMPLATE]}),
    "truncation and padding": document(truncation=TRUNCATION, padding=PADDING),
    "no decoder": document(decoder=None),
    "another decoder": document(decoder=BYTE_LEVEL),
    "a normalizer that does nothing": document(normalizer={"type": "Sequence", "normalizers": []}),
    "another pre-tokenizer": document(pre_tokenizer={"type": "Sequence", "pretokenizers": [BYTE_LEVEL]}),
    "a pre-tokenizer with a pattern": document(
        pre_tokenizer={
            "type": "Sequence",
            "pretokenizers": [
                {"type": "Digits", "individual_digits": True},
                {"type": "Split", "pattern": {"String": "x"}, "behavior": "Contiguous", "invert": False},
                BYTE_LEVEL,
            ],
        }
    ),
    "a pattern of Oniguruma": document(
        pre_tokenizer={
            "type": "Sequence",
            "pretokenizers": [
                {
                    "type": "Split",
                    "pattern": {"Regex": r"\h+|[\w&&[^a]]$"},
                    "behavior": "Isolated",
                    "invert": False,
                },
                BYTE_LEVEL | {"use_regex": False},
            ],
        }
    ),
    "an unknown token": document(model__unk_token="<s>", model__fuse_unk=True),
    "zero dropout": document(model__dropout=0.0),
    "empty affixes": document(model__continuing_subword_prefix="", model__end_of_word_suffix=""),
    "ignore_merges without effect": document(model__ignore_merges=True),
    "an unknown entry of the model": document(model__cache={"capacity": [1, 2.5, None, "é😀"]}),
    "an unknown entry of a token": document(added_tokens__0__comment={"a": [True, False, 0, 1]}),
    "a flag": document(added_tokens__1__normalized=True),
    "no special tokens": document(added_tokens__0__special=False, added_tokens__1__special=False),
    "tokens outside of the table": outside(),
    "an unknown entry": document(x_comment="of another program", version="1.0"),
}
NOT_FOR_TOKENIZERS = {"an unknown entry", "an unknown entry of a token"}


def load(path, document=None):
    if document is not None:
        path.write_text(json.dumps(document))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return bpe.Tokenizer.from_huggingface(path)


def is_equal(one, other):
    """As JSON, to which False and 0 are different."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


@pytest.mark.parametrize("name", KEPT)
def test_read_and_written(name, tmp_path):
    tok = load(tmp_path / "tokenizer.json", KEPT[name])
    tok.save(tmp_path / "native.json")
    native = bpe.Tokenizer.load(tmp_path / "native.json")
    for i, other in enumerate(
        (tok, native, pickle.loads(pickle.dumps(tok)), tok.with_vocab_size(tok.vocab_size))
    ):
        path = tmp_path / f"{i}.hf.json"
        other.save_huggingface(path)
        assert is_equal(json.loads(path.read_text("utf-8")), KEPT[name])
        assert other == load(path) == tok
    if name not in NOT_FOR_TOKENIZERS:
        for text in ("ab ab", "x12abxx<s>ffab$"):
            theirs = tokenizers.Tokenizer.from_str(json.dumps(KEPT[name]))
            wanted = theirs.encode(text).ids
            assert tok.to_huggingface().encode(text).ids == wanted
            theirs.no_truncation()
            theirs.no_padding()
            assert (
                tok.encode(text, allowed_special="all") == theirs.encode(text, add_special_tokens=False).ids
            )


def test_documented_exceptions(tmp_path):
    """Missing entries are written, steps as null; merges are pairs, tokens in the order of ids."""
    given = document()
    for key in ("truncation", "normalizer", "decoder", "version"):
        del given[key]
    del given["model"]["byte_fallback"]
    given["model"]["merges"] = ["a b"]
    given["added_tokens"].reverse()
    tok = load(tmp_path / "tokenizer.json", given)
    tok.save_huggingface(tmp_path / "again.json")
    assert is_equal(json.loads((tmp_path / "again.json").read_text()), document() | {"decoder": None})


def test_tokens_that_others_would_number_otherwise(tmp_path):
    """Tokens outside of the table are put into it, if their ids do not go on after it."""
    given = outside(added_tokens__0__id=300, added_tokens__1__id=301)
    tok = load(tmp_path / "tokenizer.json", given)
    again = tok.to_huggingface()
    assert [again.token_to_id(token) for token in ("<s>", "</s>")] == [300, 301]


def test_another_pattern_has_its_own_pre_tokenizer(tmp_path):
    tok = load(tmp_path / "tokenizer.json", KEPT["a pre-tokenizer with a pattern"])
    other = bpe.Tokenizer._of(tok.engine.vocabulary, bpe.Pattern.of("cl100k"))
    document = json.loads(huggingface.dump(other.engine.vocabulary, other.pattern))
    assert bpe.Tokenizer._of(*huggingface.of_document(document)) == other


def test_warnings(tmp_path):
    (tmp_path / "tokenizer.json").write_text(json.dumps(KEPT["a template"] | {"padding": PADDING}))
    with pytest.warns(UserWarning, match=r"padding of the tokenizer\.json: kept, but not applied"):
        tok = bpe.Tokenizer.from_huggingface(tmp_path / "tokenizer.json")
    with pytest.warns(UserWarning, match=r"a rank file does not hold all .* padding, post_processor"):
        tok.save_tiktoken(tmp_path / "a.tiktoken")
    with pytest.warns(UserWarning, match="minbpe does not hold all"):
        tok.save_minbpe(tmp_path / "a.model")
    with pytest.warns(UserWarning, match="tiktoken does not hold all"):
        tok.to_tiktoken()
    with pytest.warns(
        UserWarning, match="padding and post_processor .* left out: ids of special tokens .* change"
    ):
        assert tok.with_vocab_size(tok.vocab_size - 1).engine.vocabulary.extras == ""
    counts = bpe.count_words(["ab abab"], special_tokens=["<s>", "</s>"])
    with pytest.warns(
        UserWarning, match="padding and post_processor .* left out: ids of special tokens .* change"
    ):
        assert bpe.Trainer.resume(tok, counts).tokenizer().engine.vocabulary.extras == ""
    again = bpe.Trainer.resume(tok, counts, keep_ids=True).tokenizer()
    assert again.engine.vocabulary.extras == tok.engine.vocabulary.extras
    named = load(
        tmp_path / "tokenizer.json", document(model__unk_token="<s>", added_tokens__0__normalized=True)
    )
    with pytest.warns(UserWarning, match=r"vocab.json does not .*model.unk_token, normalized of '<s>'"):
        named.save_gpt2(tmp_path / "folder")


def test_the_command_line(tmp_path):
    (tmp_path / "tokenizer.json").write_text(json.dumps(KEPT["truncation and padding"]))
    run = CliRunner().invoke
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        for source, out in (("tokenizer.json", "tok.json"), ("tok.json", "again.hf.json")):
            done = run(main, ["convert", str(tmp_path / source), str(tmp_path / out)])
            assert done.exit_code == 0, done.output
    assert is_equal(json.loads((tmp_path / "again.hf.json").read_text()), KEPT["truncation and padding"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('"post_processor": {"a": ' + "[" * 200 + "]" * 200 + "}", "nested too deeply"),
        ('"post_processor": {"a": NaN}', "NaN is not a JSON number"),
        ('"post_processor": {"a": 1e999}', "a number that JSON does not have"),
        ('"post_processor": {"a": ' + "9" * 500 + "}", "a number of 500 digits: 99999999999999999999..."),
        ('"post_processor": {"a": "\\ud800"}', "half of a surrogate pair"),
        ('"padding": null, "padding": null', "duplicate entry 'padding'"),
    ],
)
def test_what_json_cannot_hold(text, message, tmp_path):
    whole = json.dumps(document()).replace('"post_processor": null', text)
    (tmp_path / "tokenizer.json").write_text(whole)
    with pytest.raises(ValueError, match=rf"tokenizer\.json: .*{message}"):
        load(tmp_path / "tokenizer.json")
