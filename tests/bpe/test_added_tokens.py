"""Added tokens that are not special: one id in every text, in every way of encoding."""

import json
import pickle
import random
from itertools import chain

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import bpe
from bpe.cli import main
from bpe.encoding import plain_encoder
from bpe.formats import huggingface
from bpe.formats.conversion import differences, write
from bpe.vocabulary.byte_level import text_of
from bpe.vocabulary.vocabulary import Vocabulary
from tests.optional import optional

tokenizers = optional("tokenizers")
transformers = optional("transformers")

WORDS = Vocabulary(
    [*(bytes([value]) for value in range(256)), b"ab", b"abc", b" a"], [(97, 98), (256, 99), (32, 97)], {}
)


def entry(number, content, special=False, **flags):
    usual = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    return {"id": number, "content": content, **usual, **flags, "special": special}


def document(*entries, **changes):
    found = json.loads(huggingface.dump(WORDS, bpe.Pattern.of("gpt2")))
    return {**found, "added_tokens": list(entries), **changes}


def loaded(path, *entries, **changes):
    path.write_text(json.dumps(document(*entries, **changes)))
    return bpe.Tokenizer.from_huggingface(path), tokenizers.Tokenizer.from_file(str(path))


@pytest.fixture
def both(tmp_path):
    entries = entry(259, "<|end|>", True), entry(260, "</think>"), entry(261, "  "), entry(262, "<tool>")
    return loaded(tmp_path / "tokenizer.json", *entries)


TEXT = "ab</think> abc  <tool>é\n   <|end|>a </thin"


def test_every_way_of_encoding(both, tmp_path):
    tok, peer = both
    assert tok.special_tokens == {"<|end|>": 259}
    assert tok.added_tokens == {"</think>": 260, "  ": 261, "<tool>": 262}
    assert [tok.token_id(token) for token in ("</think>", "<|end|>")] == [260, 259]
    assert tok.token_bytes(260) == b"</think>"
    wanted = peer.encode(TEXT).ids
    assert tok.encode(TEXT, allowed_special="all") == wanted
    with pytest.raises(ValueError, match=r"special token '<\|end\|>' at character"):
        tok.encode(TEXT)
    peer.encode_special_tokens = True
    wanted = peer.encode(TEXT).ids
    assert {260, 261, 262} <= {*wanted}
    assert 259 not in wanted
    options = {"disallowed_special": ()}
    assert tok.encode_ordinary(TEXT) == tok.encode(TEXT, **options) == wanted
    assert tok.encode(TEXT, disallowed_special=()) == tok.encode_ordinary(TEXT.encode()) == wanted
    assert tok.encode_to_numpy(TEXT, **options).tolist() == wanted
    ids, starts, ends = tok.encode_with_offsets(TEXT, **options)
    assert ids.tolist() == wanted
    assert [TEXT[starts[i] : ends[i]] for i, number in enumerate(wanted) if number == 260] == ["</think>"]
    assert tok.encode_batch([TEXT, "ab"], **options) == [wanted, [256]]
    assert tok.encode_batch_to_numpy([TEXT], threads=2, **options)[0].tolist() == wanted
    assert tok.count(TEXT, **options) == len(wanted)
    assert tok.count(TEXT, 3, **options) == 4
    assert tok.encode_with_dropout(TEXT, 0, seed=1, **options) == wanted
    assert tok.encode_with_dropout("</think>", 1, seed=1) == [260]
    for size in (1, 2, 5):
        stream, growing, ids = tok.stream_encoder(**options), tok.appendable_encoder(**options), []
        for start in range(0, len(TEXT), size):
            ids += stream.feed(TEXT[start : start + size])
            growing.append(TEXT[start : start + size])
        assert ids + stream.finish() == growing.ids() == wanted
    for most in range(len(wanted) + 1):
        part = tok.truncate(TEXT, most, **options)
        assert tok.encode_ordinary(part) == wanted[: len(tok.encode_ordinary(part))]
        assert len(tok.encode_ordinary(part)) <= most
    written = tok.encode_files([TEXT, TEXT], tmp_path / "ids.bin", **options)
    assert np.fromfile(written.ids, written.dtype).tolist() == wanted * 2
    assert tok.decode_bytes(wanted) == TEXT.encode()
    assert tok.encode("no </think> error") == tok.encode_ordinary("no </think> error")


@pytest.mark.parametrize("text", [TEXT, "a    b </think></think> é  </thin<tool>  ", "   " * 5])
def test_intervals(both, text):
    tok, _ = both
    for whole in (text, text.encode()):
        counter = tok.interval_counter(whole)
        parts = [(i, j) for i in range(len(whole) + 1) for j in range(i, len(whole) + 1)]
        wanted = [len(tok.encode_ordinary(whole[i:j])) for i, j in parts]
        assert counter.count_many(*zip(*parts, strict=True)).tolist() == wanted


@pytest.mark.parametrize("seed", range(3))
def test_tokens_that_overlap(seed, tmp_path):
    """Both kinds are found in one search, or in two where tokenizers makes two of it."""
    chance = random.Random(seed)
    n_prepared = 0
    for _ in range(40):
        tokens = list(
            {"".join(chance.choices("abx<>", k=chance.randint(1, 4))) for _ in range(chance.randint(2, 6))}
        )
        tokens = [token for token in tokens if len(token) > 1 and token not in ("ab", "abc")]
        entries = [
            entry(259 + i, token, chance.random() < 0.5, normalized=chance.random() < 0.3)
            for i, token in enumerate(tokens)
        ]
        tok, peer = loaded(tmp_path / "tokenizer.json", *entries)
        for _ in range(60):
            text = "".join(chance.choices("abx<> ", k=chance.randint(1, 15)))
            assert tok.encode(text, allowed_special="all") == peer.encode(text).ids, (text, entries)
        n_prepared += not tok.is_lossless
    assert 5 < n_prepared < 35


def test_a_special_token_that_is_text_hides_an_added_one(tmp_path):
    """Here and in tokenizers; and what follows from it: files, pickles, other tokens."""
    entries = entry(259, "<ax>", True), entry(260, "ax"), entry(261, "x><")
    tok, peer = loaded(tmp_path / "tokenizer.json", *entries)
    peer.encode_special_tokens = True
    tok.save(tmp_path / "tok.json")
    more, _ = tok.extend(["xyz xyz"], 1)
    assert (more.special_tokens, more.added_tokens) == (tok.special_tokens, tok.added_tokens)
    copies = bpe.Tokenizer.load(tmp_path / "tok.json"), pickle.loads(pickle.dumps(tok)), more
    for text in ("<ax>ax", "<ab><", "ab><ab>", "a<ab", "<ax>" * 2000):
        wanted = peer.encode(text).ids
        for each in (tok, *copies):
            assert each.encode_ordinary(text) == each.encode(text, disallowed_special=()) == wanted
    assert tok.encode("<ax>ax", allowed_special="all") == [259, 260]
    other, peer = loaded(tmp_path / "tokenizer.json", entries[0], entry(260, "ax", normalized=True))
    peer.encode_special_tokens = True
    assert other.encode_ordinary("<ax>ax") == peer.encode("<ax>ax").ids == [60, 260, 62, 260]


few = st.text("abx<> ", min_size=2, max_size=4).filter(lambda token: token not in ("ab", "abc", " a"))
some_entries = st.dictionaries(few, st.tuples(*[st.booleans()] * 5), min_size=2, max_size=6).map(
    lambda given: [
        entry(
            259 + i, token, flags[0], normalized=flags[1], single_word=flags[2] and flags[3], lstrip=flags[4]
        )
        for i, (token, flags) in enumerate(given.items())
    ]
)


@settings(max_examples=60)
@given(
    some_entries, st.lists(st.text("abx<> ", min_size=1, max_size=20), min_size=1, max_size=9), st.booleans()
)
def test_special_tokens_as_text(entries, texts, is_changed):
    replace = {"type": "Replace", "pattern": {"String": "b"}, "content": "bx"}
    steps = {"normalizer": replace} if is_changed else {}
    data = json.dumps(document(*entries, **steps))
    tok = bpe.Tokenizer._of(*huggingface.of_document(json.loads(data)))
    peer = tokenizers.Tokenizer.from_str(data)
    peer.encode_special_tokens = True
    for text in texts:
        wanted, stream = peer.encode(text).ids, tok.stream_encoder(disallowed_special=())
        assert tok.encode_ordinary(text) == wanted
        assert tok.encode_with_offsets(text, disallowed_special=())[0].tolist() == wanted
        assert [*chain.from_iterable(map(stream.feed, text)), *stream.finish()] == wanted


@pytest.mark.parametrize(
    ("second", "first", "overlap"),
    [
        ("<x!>", "x!", True),
        ("<x>", "<x", True),
        ("<x>", "x>", True),
        ("<x>", "x>>", True),
        ("<x>", "<x>>", False),
        ("<x>", "a<", False),
    ],
)
def test_overlaps_of_two_searches(second, first, overlap, tmp_path):
    entries = entry(259, second, normalized=True), entry(260, first)
    tok, peer = loaded(tmp_path / "tokenizer.json", *entries)
    assert tok.is_lossless != overlap
    for text in ("a<x>> <x>", "<xa<x>", "<x><x>>", "<x!><x"):
        assert tok.encode(text) == peer.encode(text).ids


def test_files_and_pickles(both, tmp_path):
    tok, _ = both
    tok.save(tmp_path / "tok.json")
    assert json.loads((tmp_path / "tok.json").read_text())["version"] == 2
    tok.save_huggingface(tmp_path / "again.hf.json")
    for other in (
        bpe.Tokenizer.load(tmp_path / "tok.json"),
        bpe.Tokenizer.from_huggingface(tmp_path / "again.hf.json"),
        pickle.loads(pickle.dumps(tok)),
        pickle.loads(pickle.dumps(tok.engine)),
        tok.with_vocab_size(tok.vocab_size),
    ):
        assert other == (tok if isinstance(other, bpe.Tokenizer) else tok.engine)
        vocabulary = getattr(other, "engine", other).vocabulary
        assert vocabulary.added_tokens == tok.added_tokens
    assert json.loads((tmp_path / "again.hf.json").read_text()) == json.loads(
        (tmp_path / "tokenizer.json").read_text()
    )
    special = bpe.Tokenizer._of(tok.engine.vocabulary.replace(added_tokens=[]), tok.pattern)
    assert special != tok
    assert special.special_tokens == {**tok.special_tokens, **tok.added_tokens}
    fast = transformers.PreTrainedTokenizerFast(tokenizer_file=str(tmp_path / "again.hf.json"))
    ids = fast.encode("ab</think>ab<|end|>")
    assert fast.decode(ids, skip_special_tokens=True) == "ab</think>ab"
    smaller = tok.with_vocab_size(tok.vocab_size - 1)
    assert smaller.added_tokens == {token: number - 1 for token, number in tok.added_tokens.items()}


def test_other_formats(both, tmp_path):
    tok, _ = both
    parts = tok.engine.vocabulary, tok.pattern
    for format, name in (("gpt2", "vocab.json"), ("minbpe", "minbpe")):
        with pytest.raises(ValueError, match=f"{name} cannot say that id 260, '</think>', is an added token"):
            write(*parts, tmp_path / "new", format)
    assert tok.to_tiktoken().encode(TEXT, allowed_special="all") == tok.encode(TEXT, allowed_special="all")
    assert differences(*parts, tmp_path / "tokenizer.json", "huggingface") is None
    tok.save_tiktoken(tmp_path / "ranks.tiktoken")
    assert differences(*parts, tmp_path / "ranks.tiktoken", "tiktoken") is None


def test_the_command_line(both, tmp_path):
    tok, _ = both
    run, path = CliRunner().invoke, str(tmp_path / "tokenizer.json")
    assert json.loads(run(main, ["inspect", path, "--json"]).output)["added_tokens"] == tok.added_tokens
    assert "added token 260: '</think>'" in run(main, ["inspect", path]).output
    assert run(main, ["show", path, "--text", "ab</think>"]).output.strip() == "ab|</think>"
    out = run(main, ["convert", path, str(tmp_path / "r.tiktoken")])
    assert out.exit_code == 0, out.output
    (tmp_path / "text.txt").write_text("ab</think>")
    for more in ([], ["--ordinary"], ["--allow-special"]):
        ids = str(tmp_path / "ids.npy")
        assert run(main, ["encode", path, str(tmp_path / "text.txt"), "-o", ids, *more]).exit_code == 0
        assert np.load(ids).tolist() == [256, 260]


def test_tokens_that_share_a_part_of_a_character():
    tok = bpe.train(["low lower"], vocab_size=260, special_tokens=["日x", "旦x"], progress=False)
    for text in ("a日x", "a", "旦x日"):
        assert tok.encode_batch([text], allowed_special="all") == [tok.encode(text, allowed_special="all")]


def test_training_goes_on(both):
    tok, _ = both
    counts = bpe.count_words(["abcx abcx</think>"] * 3, special_tokens=list(tok.engine.vocabulary.cut_tokens))
    trainer = bpe.Trainer.resume(tok, counts)
    trainer.run(vocab_size=tok.vocab_size + 1)
    more = trainer.tokenizer()
    assert more.added_tokens == {token: number + 1 for token, number in tok.added_tokens.items()}
    assert more.special_tokens == {"<|end|>": 260}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"lstrip": "yes"}, "lstrip is not true or false"),
        ({"rstrip": None}, "rstrip is not true or false"),
        ({"single_word": 1}, "single_word is not true or false"),
        ({"special": 1}, "special is not true or false"),
        ({"normalized": "no"}, "normalized is not true or false"),
    ],
)
def test_flags_that_are_refused(changes, message, tmp_path):
    (tmp_path / "tokenizer.json").write_text(json.dumps(document({**entry(259, "<a>"), **changes})))
    with pytest.raises(ValueError, match=rf"tokenizer\.json: added_tokens\[0\].*{message}"):
        bpe.Tokenizer.from_huggingface(tmp_path / "tokenizer.json")


def test_damaged_native_files(both, tmp_path):
    tok, _ = both
    tok.save(tmp_path / "tok.json")
    good = json.loads((tmp_path / "tok.json").read_text())
    del good["crc32"]
    for changes, message in (
        ({"added_tokens": {"<|end|>": 259}}, "'<|end|>' is both a special token and an added one"),
        ({"added_tokens": {"<x>": -1}}, r"\"added_tokens\"\['<x>'\] is not an id: -1"),
        ({"added_tokens": []}, '"added_tokens" is not an object'),
        ({"added_tokens": {"<x>": 97}}, "has id 97, the id of token b'a'"),
        ({"kept": {"more": {}}}, "\"kept\": 'more' is not a known part"),
        ({"kept": {"added_tokens": {"<x>": 1}}}, "\"kept\": the flags of '<x>' are not an object"),
    ):
        (tmp_path / "tok.json").write_text(json.dumps(good | changes))
        with pytest.raises(ValueError, match=message.replace("|", r"\|")):
            bpe.Tokenizer.load(tmp_path / "tok.json")


@pytest.mark.parametrize("n", [3, 3000])
def test_intervals_with_few_and_with_many_added_tokens(n):
    """The places that tokens cross are found in one search, whatever the number of tokens."""
    names = {f"<{number:b}>": 300 + number for number in range(n)}
    words = Vocabulary([bytes([value]) for value in range(256)], [], names).replace(added_tokens=names)
    tok = bpe.Tokenizer._of(words, bpe.Pattern.of("gpt2"))
    finder = type(tok.engine.ordinary_rules.allowed._finder).__name__
    assert finder == ("TokenExpression" if n == 3 else "TokenAutomaton")
    text = "one <10> two <101 <1> <<0> three " * 5
    counter = tok.interval_counter(text)
    for start in range(0, len(text), 7):
        for stop in range(start, len(text) + 1, 5):
            assert counter.count(start, stop) == len(tok.encode_ordinary(text[start:stop]))


# ------------------------------------------------------------------------ added tokens of one character
@st.composite
def files_with_characters(draw):
    """Return a tokenizer.json whose added tokens are single characters, and texts that it has tokens for."""
    is_byte_level, has_all, has_unk, has_bytes = (draw(st.booleans()) for _ in range(4))
    characters = "ABCab" if is_byte_level else "ABCabé€"
    vocab = [text_of(bytes([value])) for value in range(256)] if is_byte_level and has_all else []
    vocab += [*draw(st.lists(st.sampled_from(characters), min_size=1)), *["<unk>"] * has_unk]
    vocab += [f"<0x{value:02X}>" for value in range(256)] if has_bytes and not is_byte_level else []
    known = [character for character in characters if character in vocab]
    merges = draw(st.lists(st.tuples(*[st.sampled_from(known)] * 2), max_size=2, unique=True))
    vocab += [*map("".join, merges), *draw(st.lists(st.text(characters, min_size=1, max_size=3), max_size=2))]
    ids = {token: i for i, token in enumerate(dict.fromkeys(vocab))}
    added, n_new = [], 0
    for token in draw(st.lists(st.sampled_from(characters), min_size=1, max_size=3, unique=True)):
        n_new += token not in ids
        number = ids.get(token, len(ids) + n_new - 1)
        flags = {key: draw(st.booleans()) for key in ("special", "single_word", "lstrip", "normalized")}
        added.append(entry(number, token, **flags))
    step = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": has_bytes}
    split = {"type": "Split", "pattern": {"String": " "}, "behavior": "Removed", "invert": False}
    document = {
        "added_tokens": sorted(added, key=lambda each: each["id"]),
        "normalizer": None,
        "pre_tokenizer": step if is_byte_level else draw(st.sampled_from([None, split])),
        "decoder": step if is_byte_level else {"type": "Fuse"},
        "model": {
            "type": "BPE",
            "unk_token": "<unk>" if has_unk else None,
            "byte_fallback": has_bytes and not is_byte_level,
            "ignore_merges": draw(st.booleans()),
            "fuse_unk": draw(st.booleans()),
            "vocab": ids,
            "merges": [f"{left} {right}" for left, right in merges],
        },
    }
    # tokenizers leaves out what is unknown, without a token for it; here this is an error.
    has_all = (has_all and is_byte_level) or has_unk or (has_bytes and not is_byte_level)
    texts = st.text(characters + " x" if has_all else known, min_size=1, max_size=7)
    return document, draw(st.lists(texts, min_size=4, max_size=4))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("characters")


@pytest.mark.parametrize("is_compiled", [False, True])
@settings(max_examples=80, deadline=None)
@given(case=files_with_characters())
def test_characters_that_are_added_tokens(is_compiled, case, folder):
    """They are found in texts where no added token is: by flags, or because special tokens are text."""
    document, texts = case
    path = folder / "tokenizer.json"
    path.write_text(json.dumps(document))
    tok, peer = bpe.Tokenizer.from_huggingface(path), tokenizers.Tokenizer.from_file(str(path))
    tok.save(folder / "native.json")
    tok.save_huggingface(folder / "other.hf.json")
    read = [bpe.Tokenizer.load(folder / "native.json"), bpe.Tokenizer.load(folder / "other.hf.json")]
    assert read == [tok, tok]
    for each in (tok, *read, pickle.loads(pickle.dumps(tok))):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(plain_encoder, "_done", plain_encoder.MOST_WORK if is_compiled else 0)
            for options, is_text in (({"allowed_special": "all"}, False), ({"disallowed_special": ()}, True)):
                peer.encode_special_tokens = is_text
                wanted = [peer.encode(text).ids for text in texts]
                assert [each.encode(text, **options) for text in texts] == wanted
                assert each.encode_batch(texts, **options) == wanted


def test_tokens_that_differ_in_what_texts_they_are_found_in():
    """They have the same ids and bytes, but one of them encodes a text that the other one does not."""
    tokens = {number: bytes([number]) for number in range(256)}
    one = bpe.Tokenizer(token_bytes=tokens, merges=[], pattern="gpt2", special_tokens={"A": 65})
    del tokens[65]
    other = bpe.Tokenizer(token_bytes=tokens, merges=[], pattern="gpt2", special_tokens={"A": 65})
    assert one != other
