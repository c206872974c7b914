"""Special tokens that are allowed by default: all methods that encode, equality, pickles, files."""

import inspect
import pickle

import numpy as np
import pytest

import bpe
from bpe.tokenizer import Tokenizer

TEXT = "the<|end|>sea<|fim|>"


def listed(ids):
    return ids[0].tolist() if isinstance(ids, tuple) else np.asarray(ids).tolist()


def in_a_file(tok, text, folder, **special):
    written = tok.encode_files([text], folder / f"{len(list(folder.iterdir()))}.npy", **special)
    return np.load(written.ids)


def in_a_shard(tok, text, folder, **special):
    (folder / "text").write_text(text, "utf-8")
    shards = tok.encode_shards([folder / "text"], folder / f"{len(list(folder.iterdir()))}", **special)
    return np.fromfile(shards.folder / "text.bin", shards.dtype)


def appended(tok, text, **special):
    growing = tok.appendable_encoder(**special)
    growing.append(text)
    return growing.ids()


def streamed(tok, text, **special):
    stream = tok.stream_encoder(**special)
    return [*stream.feed(text), *stream.finish()]


# Method -> the ids of a text, or what tells them apart.
METHODS = {
    "encode": lambda tok, text, folder, **special: tok.encode(text, **special),
    "encode_to_numpy": lambda tok, text, folder, **special: tok.encode_to_numpy(text, **special),
    "encode_with_offsets": lambda tok, text, folder, **special: tok.encode_with_offsets(text, **special),
    "encode_with_dropout": lambda tok, text, folder, **special: tok.encode_with_dropout(
        text, 0.0, seed=1, **special
    ),
    "encode_segments": lambda tok, text, folder, **special: tok.encode_segments([(text, 0)], **special)[0],
    "tokens": lambda tok, text, folder, **special: tok.tokens(text, **special),
    "encode_batch": lambda tok, text, folder, **special: tok.encode_batch([text], **special)[0],
    "encode_batch_to_numpy": lambda tok, text, folder, **special: tok.encode_batch_to_numpy(
        [text], **special
    ),
    "encode_files": in_a_file,
    "encode_shards": in_a_shard,
    "encode_iterable": lambda tok, text, folder, **special: list(tok.encode_iterable([text], **special)),
    "stream_encoder": lambda tok, text, folder, **special: streamed(tok, text, **special),
    "appendable_encoder": lambda tok, text, folder, **special: appended(tok, text, **special),
    "count": lambda tok, text, folder, **special: [0] * tok.count(text, **special),
    "truncate": lambda tok, text, folder, **special: [
        *tok.truncate(text, len(tok.encode_ordinary("the")) + 1, **special).encode()
    ],
}


def test_every_method_is_here():
    members = dict(inspect.getmembers(Tokenizer, inspect.isfunction))
    with_options = {
        name
        for name, each in members.items()
        if not name.startswith(("_", "with_")) and "allowed_special" in inspect.signature(each).parameters
    }
    assert with_options == METHODS.keys() | {"is_canonical"}  # which takes ids


@pytest.mark.parametrize("method", METHODS)
def test_every_method_allows_them(tokenizer, method, tmp_path):
    def ids(tok, **special):
        return listed(METHODS[method](tok, TEXT, tmp_path, **special))

    allowing = tokenizer.with_allowed_special("all")
    one = tokenizer.with_allowed_special({"<|end|>"})
    expected = ids(tokenizer, allowed_special="all")
    nothing = {"allowed_special": (), "disallowed_special": ()}
    ordinary = ids(tokenizer, disallowed_special=())
    of_one = ids(tokenizer, allowed_special={"<|end|>"}, disallowed_special=())
    assert expected != ordinary
    assert ids(allowing) == ids(allowing, disallowed_special=()) == expected
    assert ids(allowing, **nothing) == ids(tokenizer, **nothing) == ordinary
    assert ids(allowing, allowed_special={"<|end|>"}, disallowed_special=()) == of_one
    assert ids(one, disallowed_special=()) == of_one
    for tok, special in ((tokenizer, {}), (allowing, {"allowed_special": ()}), (one, {})):
        with pytest.raises(ValueError, match=r"special token '<\|(end|fim)"):
            ids(tok, **special)


def test_the_default_of_the_default_is_none(tokenizer):
    assert tokenizer.allowed_special == frozenset()
    assert tokenizer.encode_ordinary(TEXT) == tokenizer.with_allowed_special("all").encode_ordinary(TEXT)
    counter = tokenizer.with_allowed_special("all").interval_counter(TEXT)
    assert counter.count(0, len(TEXT)) == len(tokenizer.encode_ordinary(TEXT))
    assert tokenizer.encode("the", allowed_special=None) == tokenizer.encode("the")


def test_as_an_argument_of_the_constructor(tokenizer):
    parts = {
        "token_bytes": tokenizer.vocab,
        "merges": tokenizer.merges,
        "pattern": "gpt2",
        "special_tokens": tokenizer.special_tokens,
    }
    given = Tokenizer(**parts, allowed_special=["<|end|>"])
    assert given.allowed_special == frozenset(["<|end|>"])
    assert given == tokenizer.with_allowed_special(["<|end|>"])
    assert given.encode("<|end|>") == [600]
    assert given.with_allowed_special([]) == Tokenizer(**parts) == tokenizer


def test_equal_are_those_that_allow_the_same(tokenizer):
    """A result that is remembered by the tokenizer must not be that of one that refuses the text."""
    allowing = tokenizer.with_allowed_special("all")
    assert allowing != tokenizer
    assert allowing == tokenizer.with_allowed_special([*tokenizer.special_tokens])
    assert hash(allowing) == hash(tokenizer.with_allowed_special([*tokenizer.special_tokens]))
    assert allowing.with_allowed_special(()) == tokenizer


def test_others_made_of_it_allow_the_same(tokenizer):
    allowing, one = tokenizer.with_allowed_special("all"), tokenizer.with_allowed_special(["<|end|>"])
    for tok in (allowing, one):
        assert tok.with_vocab_size(400).allowed_special == tok.allowed_special
        assert tok.with_special_tokens(["<new>"]).allowed_special == tok.allowed_special
        assert pickle.loads(pickle.dumps(tok)) == tok
        assert pickle.loads(pickle.dumps(tok)).allowed_special == tok.allowed_special
        assert pickle.loads(pickle.dumps(tok.engine)) == tok.engine
    assert allowing.with_special_tokens(["<new>"]).encode("<new>") == [603]


@pytest.mark.parametrize("format", ["native", "huggingface"])
def test_files_do_not_hold_it(tokenizer, format, tmp_path):
    end = {"native": ("save", "load"), "huggingface": ("save_huggingface", "from_huggingface")}[format]
    for tok, name in ((tokenizer, "one.json"), (tokenizer.with_allowed_special("all"), "two.json")):
        getattr(tok, end[0])(tmp_path / name)
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()
    read = getattr(Tokenizer, end[1])(tmp_path / "two.json")
    assert read.allowed_special == frozenset()
    assert read.with_allowed_special("all") == tokenizer.with_allowed_special("all")


class Named(Tokenizer):
    def __init__(self, name, **parts):
        super().__init__(**parts)
        self.name = name


def test_what_is_made_is_shared_and_attributes_stay(tokenizer):
    named = Named("mine", token_bytes=[bytes([i]) for i in range(256)], merges=[], pattern="none")
    more = named.with_allowed_special("all")
    assert (type(more), more.name) == (Named, "mine")
    assert tokenizer.encode("the")
    assert tokenizer.with_allowed_special("all").engine.encoder is tokenizer.engine.encoder


def test_of_a_tokenizer_that_changes_text():
    kept = '{"document": {"normalizer": {"type": "Lowercase"}, "pre_tokenizer": null}}'
    vocabulary = bpe.train(["low lower"], 258, special_tokens=["<|end|>"], progress=False).engine.vocabulary
    tok = Tokenizer._of(vocabulary.replace(extras=kept), bpe.Pattern.of("gpt2"))
    assert not tok.is_lossless
    allowing = tok.with_allowed_special("all")
    assert allowing.encode("LOW<|end|>") == tok.encode("low<|end|>", allowed_special="all")
    assert pickle.loads(pickle.dumps(allowing)) == allowing != tok


@pytest.mark.parametrize(
    ("wrong", "kind", "message"),
    [
        (["<new>"], ValueError, "allowed_special holds '<new>', which is not a special token"),
        ("<|end|>", TypeError, "allowed_special must be 'all' or a collection of str"),
        (None, TypeError, "allowed_special must be 'all' or a collection of str"),
        ([1], TypeError, "allowed_special must be 'all' or a collection of str"),
    ],
)
def test_wrong_defaults(tokenizer, wrong, kind, message):
    with pytest.raises(kind, match=message):
        tokenizer.with_allowed_special(wrong)
