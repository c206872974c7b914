"""Post-processors, against ``tokenizers`` with and without ``add_special_tokens``."""

import json
import pickle
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bpe
from bpe.pipeline.post_processors import PostProcessor
from bpe.vocabulary.extras import to_text
from tests.optional import Missing, optional

tokenizers = optional("tokenizers")

TEXT = {"Sequence": {"id": "A", "type_id": 0}}
NAMES = ["<s>", "</s>", "<x>"]


def template_of(before, after, ids_of):
    names = [{"SpecialToken": {"id": name, "type_id": 1}} for name in before + after]
    return {
        "type": "TemplateProcessing",
        "single": [*names[: len(before)], TEXT, *names[len(before) :]],
        "pair": [TEXT, {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": {
            name: {"id": name, "ids": ids, "tokens": [name] * len(ids)} for name, ids in ids_of.items()
        },
    }


def sequence_of(*processors):
    return {"type": "Sequence", "processors": [*processors]}


names = st.lists(st.sampled_from(NAMES), max_size=4)
ids = st.integers(0, 2**32 - 1)
templates = st.builds(
    template_of, names, names, st.fixed_dictionaries({name: st.lists(ids, max_size=3) for name in NAMES})
)
pairs = st.tuples(st.sampled_from(NAMES), ids).map(list)
flags = {"add_prefix_space": st.booleans(), "trim_offsets": st.booleans()}
byte_levels = st.fixed_dictionaries(flags, optional={"use_regex": st.booleans()}).map(
    lambda entry: {"type": "ByteLevel", **entry}
)
around = st.one_of(
    st.builds(lambda cls, sep: {"type": "BertProcessing", "sep": sep, "cls": cls}, pairs, pairs),
    st.fixed_dictionaries({"type": st.just("RobertaProcessing"), "sep": pairs, "cls": pairs, **flags}),
    byte_levels,
)
# A template may be followed by what puts no ids.
sequences = st.builds(
    lambda first, template, last: sequence_of(*first, *template, sequence_of(*last)),
    st.lists(around, max_size=3),
    st.lists(templates, max_size=1),
    st.lists(byte_levels, max_size=2),
)


def oracle_of(entry):
    return tokenizers.Tokenizer.from_str(
        json.dumps(
            {
                "version": "1.0",
                "truncation": None,
                "padding": None,
                "added_tokens": [],
                "normalizer": None,
                "pre_tokenizer": None,
                "post_processor": entry,
                "decoder": None,
                "model": {"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": []},
            }
        )
    )


@given(st.one_of(st.none(), templates, around, sequences), st.text("ab", max_size=4))
def test_against_tokenizers(entry, text):
    processor, oracle = PostProcessor.of(entry), oracle_of(entry)
    of_text = oracle.encode(text, add_special_tokens=False).ids
    assert [*processor.before, *of_text, *processor.after] == oracle.encode(text).ids
    assert processor.is_nothing == (processor.before == processor.after == ())
    assert processor.entry == entry
    assert pickle.loads(pickle.dumps(processor)) == processor


def test_later_ones_are_outside():
    inner = {"type": "BertProcessing", "cls": ["a", 1], "sep": ["b", 2]}
    processor = PostProcessor.of(
        sequence_of(inner, template_of(["<s>"], ["<x>", "<s>"], {"<s>": [5, 6], "<x>": []}))
    )
    assert (processor.before, processor.after) == ((5, 6, 1), (2, 5, 6))


BERT = {"type": "BertProcessing", "cls": ["a", 1], "sep": ["b", 2]}
SIMPLE = template_of(["<s>"], [], {"<s>": [1]})


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("BertProcessing", "post_processor is not an object with a type"),
        ({"type": "Bert"}, "post_processor is of the unknown type 'Bert'. Known are TemplateProcessing, "),
        (sequence_of(BERT, {"type": "X"}), r"post_processor.processors\[1\] is of the unknown type"),
        ({**BERT, "cls": ["a"]}, "post_processor.cls must be a token and its id"),
        ({**BERT, "cls": [1, "a"]}, "post_processor.cls must be a token and its id"),
        ({**BERT, "sep": ["a", True]}, r"post_processor.sep\[1\] must be an id, not True"),
        ({**BERT, "sep": ["a", -1]}, r"post_processor.sep\[1\] must be an id, not -1"),
        ({**BERT, "sep": ["a", 2**32]}, r"post_processor.sep\[1\] must be an id"),
        ({"type": "RobertaProcessing", "cls": ["a", 1]}, "post_processor has no 'sep'"),
        ({**SIMPLE, "single": []}, "single has the text 0 times; it must have it once"),
        ({**SIMPLE, "single": [TEXT, TEXT]}, "single has the text 2 times"),
        ({**SIMPLE, "single": [{"Sequence": {"id": "B"}}]}, r"single\[0\] is the sequence 'B'"),
        ({**SIMPLE, "single": ["$A"]}, r"single\[0\] must be an object with either"),
        ({**SIMPLE, "single": [{"Sequence": TEXT, "SpecialToken": TEXT}]}, r"single\[0\] must be an object"),
        ({**SIMPLE, "single": [{"Sequence": "A"}]}, r"single\[0\].Sequence must be an object"),
        ({**SIMPLE, "special_tokens": {}}, r"single\[0\] is the token '<s>', which .*special_tokens has not"),
        ({**SIMPLE, "special_tokens": {"<s>": 1}}, r"special_tokens\['<s>'\] must be an object, not 1"),
        (
            {**SIMPLE, "special_tokens": {"<s>": {"ids": [1], "tokens": []}}},
            "special_tokens\\['<s>'\\] has 1 ids for 0 tokens",
        ),
        (
            {**SIMPLE, "special_tokens": {"<s>": {"ids": [1.0], "tokens": ["a"]}}},
            "special_tokens\\['<s>'\\].ids\\[0\\] must be an id, not 1.0",
        ),
        (sequence_of(SIMPLE, BERT), r"processors\[1\], BertProcessing, stands after .*processors\[0\]"),
        (
            sequence_of(SIMPLE, {"type": "ByteLevel"}, SIMPLE),
            r"processors\[2\], TemplateProcessing, stands after",
        ),
        (template_of(["<s>"] * 11, [], {"<s>": [0] * 10_000}), "more than 100000 ids around a text"),
        (
            template_of(["<s>"] * 6, ["<s>"] * 6, {"<s>": [0] * 10_000}),
            "more than 100000 ids around a text",
        ),
    ],
)
def test_what_is_refused(entry, message):
    with pytest.raises(ValueError, match=message):
        PostProcessor.of(entry)


@pytest.mark.parametrize(
    "old", [None, BERT, {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}]
)
@given(names, names)
def test_set_by_the_user(old, before, after):
    """As ``tokenizers`` does for a text and for a pair; a ``ByteLevel`` that was there stays."""
    tok = bpe.train(["low"], 259, special_tokens=NAMES, progress=False)
    extras = to_text({"document": {"post_processor": old}})
    tok = tok._with(tok.engine.vocabulary.replace(extras=extras)).with_post_processor(before, iter(after))
    first, last = ([tok.special_tokens[name] for name in side] for side in (before, after))
    one, other = tok.encode("low lo"), tok.encode("w")
    assert tok.encode("low lo", add_special_tokens=True) == [*first, *one, *last]
    extras = tok.with_post_processor().engine.vocabulary.extras
    assert (extras == "") == (not old or old["type"] != "ByteLevel")
    if isinstance(tokenizers, Missing):
        return
    theirs = tok.to_huggingface()
    assert theirs.encode("low lo").ids == [*first, *one, *last]
    assert theirs.encode("low lo", "w").ids == [*first, *one, *last, *first, *other, *last]
    kept = json.loads(theirs.to_str())["post_processor"]
    assert ("ByteLevel" in json.dumps(kept)) == bool(old and old["type"] == "ByteLevel")


def test_not_a_special_token():
    tok = bpe.train(["low"], 259, special_tokens=NAMES, progress=False)
    with pytest.raises(ValueError, match="'low' of after is not a special token"):
        tok.with_post_processor(["<s>"], ["low"])
    with pytest.raises(TypeError, match=r"before is a list of special tokens: write \['<s>'\]"):
        tok.with_post_processor("<s>")


def test_too_many_ids_are_not_put_together():
    entry = template_of(["<s>"] * 2000, [], {"<s>": [0] * 10_000})
    tracemalloc.start()
    with pytest.raises(ValueError, match="more than 100000 ids"):
        PostProcessor.of(entry)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20_000_000  # all of them would take eight times as much
