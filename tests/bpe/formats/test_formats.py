"""Files of other programs: written and read back, read by those programs, or refused."""

import base64
import json
import pickle
from pathlib import Path

import numpy as np
import pytest

import bpe
from bpe import reference
from bpe.formats import FORMATS, gpt2, huggingface, minbpe, native, tiktoken
from bpe.formats.conversion import PROBE, differences, encoders, guess_format, read, write
from bpe.formats.limits import check_lengths
from bpe.formats.ranks import merges_of, unreached
from bpe.formats.recognition import find
from bpe.splitting.regex_engine import check_expression
from bpe.tokenizer import Tokenizer
from bpe.vocabulary.byte_level import bytes_of, text_of
from bpe.vocabulary.vocabulary import ALPHABETS, Vocabulary
from tests.optional import optional, required

tokenizers = optional("tokenizers")
peer = optional("tiktoken")
peer_files = optional("tiktoken.load")

BYTES = [bytes([value]) for value in range(256)]
SEQUENCE = ["deepseek"]  # of several expressions
SINGLE = [name for name in bpe.PATTERNS if name not in SEQUENCE]


def with_pattern(tokenizer, pattern, specials=None):
    vocabulary = tokenizer.engine.vocabulary
    return Tokenizer(
        token_bytes={number: token for token, number in vocabulary.id_of.items()},
        merges=vocabulary.merges,
        pattern=pattern,
        special_tokens=tokenizer.special_tokens if specials is None else specials,
    )


def renumbered(tokenizer, order, specials=None):
    """Return the same tokenizer with other ids: order[i] for i."""
    vocabulary = tokenizer.engine.vocabulary
    return Tokenizer(
        token_bytes={order[number]: token for token, number in vocabulary.id_of.items()},
        merges=[(order[left], order[right]) for left, right in vocabulary.merges],
        pattern=tokenizer.pattern,
        special_tokens={} if specials is None else specials,
    )


@pytest.fixture(scope="module")
def texts(book):
    lines = [line for line in book.splitlines() if line][:40]
    return [*lines, book[:3000], PROBE, "", " ", "<|end|>", "a<|end|><|fim|>  <x> b", "  <x> ", "\n\n\n"]


def of_json(data):
    """Return the tokenizer of the content of a tokenizer.json."""
    return Tokenizer._of(*huggingface.of_document(json.loads(data)))


def agree(tokenizer, other, texts):
    for text in texts:
        assert other(text) == tokenizer.encode(text, allowed_special="all"), text


# ------------------------------------------------------------------------------------ written, read back
@pytest.mark.filterwarnings("default")  # of transformers
def test_other_programs_decode_alike(tokenizer, texts, tmp_path):
    """test_matrix.py tests that they encode alike."""
    tokenizer.save_huggingface(tmp_path / "tokenizer.json")
    other = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    for text in texts:
        ids = tokenizer.encode(text, allowed_special="all")
        assert other.decode(ids, skip_special_tokens=False) == tokenizer.decode(ids) == text
    tokenizer.save_tiktoken(tmp_path / "tok.tiktoken")
    encoding = tokenizer.to_tiktoken("mine")
    assert (encoding.name, encoding.n_vocab) == ("mine", tokenizer.vocab_size)
    assert peer_files.load_tiktoken_bpe(str(tmp_path / "tok.tiktoken")) == encoding._mergeable_ranks
    transformers = required("transformers")
    last = transformers.PreTrainedTokenizerFast(tokenizer_file=str(tmp_path / "tokenizer.json"))
    assert len(last) == len(tokenizer.engine.vocabulary.bytes_of)
    for text in texts:
        ids = tokenizer.encode(text, allowed_special="all")
        assert last.decode(ids, clean_up_tokenization_spaces=False) == text


@pytest.mark.parametrize("pattern", SINGLE)
def test_minbpe(tokenizer, pattern, tmp_path):
    tok = with_pattern(tokenizer, pattern, {"<|end|>": 600})
    path = tmp_path / "tok.model"
    tok.save_minbpe(path)
    back = Tokenizer.from_minbpe(path)
    assert back.pattern.split(PROBE) == tok.pattern.split(PROBE)
    assert with_pattern(back, pattern) == tok
    lines = path.read_text("utf-8").splitlines()
    assert lines[0] == "minbpe v1"
    assert lines[2:4] == ["1", "<|end|> 600"]
    assert [tuple(map(int, line.split())) for line in lines[4:]] == tok.merges
    # The algorithm of minbpe: matches are pieces, and the pair of the lowest id is merged everywhere.
    regex = pytest.importorskip("regex")
    pieces = regex.findall(lines[1], PROBE)
    ids = [number for piece in pieces for number in reference.encode_by_replay(piece.encode(), tok.merges)]
    assert ids == tok.encode_ordinary(PROBE)


def test_minbpe_by_hand():
    tok = Tokenizer._of(*minbpe.parse(b"minbpe v1\r\n\r\n1\r\n<|end|> 300\r\n104 105\r\n256 33\r\n"))
    assert tok.encode("hi!<|end|>", allowed_special="all") == [257, 300]
    assert tok.pattern.name == "none"


def test_what_tiktoken_cannot_hold_is_refused(tokenizer):
    required("tiktoken")
    backwards = renumbered(tokenizer, [*range(256), *range(900, 256, -1)])
    dead = Tokenizer(token_bytes=[*BYTES, b"abc"], merges=[], pattern="gpt2")
    for tok, message in [
        (with_pattern(tokenizer, "deepseek", {}), "tiktoken splits by one expression"),
        (backwards, "would turn merge"),
        (dead, "would encode a piece with the bytes of id 256, b'abc', to this id"),
    ]:
        with pytest.raises(ValueError, match=message):
            tok.to_tiktoken()


def test_peers_that_are_missing(tokenizer, monkeypatch):
    for name in ("tiktoken", "tokenizers"):
        monkeypatch.setitem(__import__("sys").modules, name, None)
    with pytest.raises(ImportError, match="pip install tiktoken"):
        tokenizer.to_tiktoken()
    with pytest.raises(ImportError, match="pip install tokenizers"):
        tokenizer.to_huggingface()


# --------------------------------------------------------------------------------- files of other makers
@pytest.mark.parametrize("alphabet", [True, False])
def test_a_tokenizer_trained_by_hugging_face(book, alphabet, tmp_path):
    other = tokenizers.Tokenizer(tokenizers.models.BPE())
    other.pre_tokenizer = tokenizers.pre_tokenizers.Sequence(
        [
            tokenizers.pre_tokenizers.Digits(individual_digits=alphabet),
            tokenizers.pre_tokenizers.Punctuation("isolated"),
            tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    other.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=500,
        special_tokens=["<|end|>"],
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    other.train_from_iterator([book[:30_000]], trainer)
    other.add_tokens(["treasure"])
    other.save(str(tmp_path / "tokenizer.json"))
    tok = Tokenizer.from_huggingface(tmp_path / "tokenizer.json")
    assert tok.special_tokens == {"<|end|>": 0}
    assert tok.added_tokens == {"treasure": 500}
    agree(tok, lambda text: other.encode(text).ids, [PROBE, book[:5000], "12345 <|end|> the treasure, 1,2"])


def hf(**changes):
    words = Vocabulary([*BYTES, b"hi"], [(104, 105)], {"<end>": 300})
    document = json.loads(huggingface.dump(words, bpe.Pattern.of("gpt2")))
    for path, value in changes.items():
        *parents, last = path.split("__")
        target = document
        for parent in parents:
            target = target[int(parent) if parent.isdigit() else parent]
        target[last] = value
    return json.dumps(document).encode()


def split(pattern, behavior="Isolated", invert=False):
    last = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False, "trim_offsets": True}
    first = {"type": "Split", "pattern": pattern, "behavior": behavior, "invert": invert}
    return {"type": "Sequence", "pretokenizers": [first, last]}


@pytest.mark.parametrize(
    ("pre_tokenizer", "sources"),
    [
        (split({"Regex": bpe.PATTERNS["cl100k"]}), bpe.PATTERNS["cl100k"]),
        (split({"Regex": bpe.PATTERNS["llama3"]}), bpe.PATTERNS["llama3"]),
        (split({"Regex": bpe.PATTERNS["llama3"]}, "Removed", True), bpe.PATTERNS["cl100k"]),
        (split({"Regex": bpe.PATTERNS["qwen2"]}, "Removed", True), bpe.PATTERNS["qwen2"]),
        (split({"Regex": r"\w+|\W(?!b)|\W"}, "Removed", True), None),
        (split({"Regex": r"[ab]|\x{e9}"}, "Contiguous"), r"(?:[ab]|é)+"),
        (split({"Regex": r"[ab]"}, "MergedWithNext"), None),
        (split({"String": "."}, "MergedWithPrevious"), None),
        (split({"String": "."}), r"\."),
        (split({"Regex": r"(?m:.)\w[\w\x{e9}]"}), None),
        (
            {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False, "trim_offsets": True},
            bpe.PATTERNS["none"],
        ),
    ],
)
def test_pre_tokenizers(pre_tokenizer, sources):
    data = hf(pre_tokenizer=pre_tokenizer)
    tok = of_json(data)
    assert sources is None or tok.pattern.sources == (sources,)
    other = tokenizers.Tokenizer.from_str(data.decode())
    agree(tok, lambda text: other.encode(text).ids, [PROBE, "abaéb..é"])


SPLIT = split({"Regex": "a"})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model__type": "WordPiece"}, "model.type is 'WordPiece': only BPE"),
        ({"model__type": "Unigram"}, "model.type is 'Unigram'"),
        ({"model__dropout": 1.5}, "model.dropout is not a number from 0 to 1: 1.5"),
        ({"model__unk_token": 5}, "model.unk_token is not a str: 5"),
        ({"model__byte_fallback": 1}, "model.byte_fallback is not a bool: 1"),
        (
            {"model__end_of_word_suffix": "</w>", "model__byte_fallback": True},
            "byte_fallback and end_of_word",
        ),
        ({"normalizer": {"type": "NFX"}}, "normalizer is of the unknown type 'NFX'"),
        ({"decoder": {"type": "Bytes"}, "pre_tokenizer": None}, "decoder is of the unknown type 'Bytes'"),
        ({"pre_tokenizer": {"type": "Spaces"}}, "pre_tokenizer is of the unknown type 'Spaces'"),
        ({"model__continuing_subword_prefix": "##"}, "its merges drop this prefix.* train without a prefix"),
        ({"model__end_of_word_suffix": "$", "model__ignore_merges": True}, "ignore_merges and end_of_word"),
        (
            {"pre_tokenizer": split({"Regex": r"\Ga"})},
            r"pretokenizers\[0\]\.pattern\.Regex: .*G' at character 0 cannot be translated",
        ),
        ({"pre_tokenizer": split({"Regex": "(a"})}, "invalid: missing"),
        ({"pre_tokenizer": split({"Regex": "[a&&]"})}, "'&&' without something after it in the set"),
        ({"pre_tokenizer": split({"Regex": r"a\Rb"})}, "at character 1 cannot be translated"),
        ({"pre_tokenizer": split({"Regex": r"(?P<n>a)"})}, "at character 0 cannot be translated"),
        (
            {"pre_tokenizer": split({"Glob": "a"})},
            r'pattern must be an object with either "String" or "Regex"',
        ),
        ({"pre_tokenizer": {"type": "Sequence", "pretokenizers": 5}}, "pretokenizers must be a list"),
        ({"added_tokens__0__id": 301}, r"added_tokens\[0\], '<end>', has id 301, but in model.vocab 300"),
        ({"added_tokens__0__id": 7}, "has id 7"),
        ({"added_tokens__0__content": ""}, "content is not a token"),
        ({"added_tokens": 5}, "added_tokens is not a list"),
        ({"model__vocab__ab": 256}, r"model.vocab gives id 256 to both 'hi' and 'ab'"),
        ({"model__vocab__ab": -1}, r"model.vocab\['ab'\] is not an id"),
        ({"model__vocab__ab": True}, r"model.vocab\['ab'\] is not an id"),
        ({"model__vocab": []}, "model.vocab is not an object"),
        ({"model__merges": ["h i", "h"]}, r"model.merges\[1\] is not two tokens"),
        ({"model__merges": ["h e"]}, r"model.merges\[0\], 'h e', names 'he', which is not a token"),
        ({"model__merges": ["h i", ["h", "i"]]}, "repeats merge 0"),
        ({"model__merges": 3}, "model.merges is not a list"),
        ({"model": 3}, '"model" is not an object'),
    ],
)
def test_huggingface_refused(changes, message, tmp_path):
    (tmp_path / "tokenizer.json").write_bytes(hf(**changes))
    with pytest.raises(ValueError, match=rf"tokenizer\.json: .*{message}"):
        Tokenizer.from_huggingface(tmp_path / "tokenizer.json")


@pytest.mark.parametrize(
    "changes",
    [
        {"model__ignore_merges": True},
        {"model__unk_token": "<end>"},
        {"model__merges": [["h", "i"]]},
        {"post_processor": {"type": "ByteLevel", "trim_offsets": True}},
    ],
)
def test_huggingface_options_without_effect(changes):
    assert of_json(hf(**changes)) == of_json(hf())


def test_huggingface_options_that_are_not_applied():
    with pytest.warns(
        UserWarning, match="truncation and padding of the tokenizer.json: kept, but not applied"
    ):
        tok = of_json(hf(truncation={}, padding={}))
    assert tok == of_json(hf())
    with pytest.warns(UserWarning, match=r"model.dropout .* not applied. Tokenizer.encode_with_dropout"):
        tok = of_json(hf(model__dropout=0.1))
    assert tok == of_json(hf())
    assert json.loads(huggingface.dump(tok.engine.vocabulary, tok.pattern))["model"]["dropout"] == 0.1


def lines_of(*extra):
    return b"".join(base64.b64encode(token) + b" %d\n" % i for i, token in enumerate(BYTES)) + b"".join(extra)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "no line gives a token"),
        (lines_of(b"aGk=\n"), r"line 257 is not a token in base64, a space and a rank: b'aGk='"),
        (lines_of(b"aGk 256\n"), "line 257 is not"),
        (lines_of(b" 256\n"), "line 257 is not"),
        (lines_of(b"aGk= 256 1\n"), "line 257 is not"),
        (lines_of(b"aGk= -1\n"), "line 257 is not"),
        (lines_of(b"aGk= 255\n"), "line 257 gives rank 255 again, to b'hi'"),
        (lines_of(b"aGk= 256\n", b"aGk= 257\n"), "line 258 gives the token of line 257 again: b'hi'"),
        (lines_of(b"aGk= 9999999999\n"), r"line 257: rank 9999999999 is not below 2\*\*31"),
        (lines_of().split(b"\n", 1)[1], r"byte 0 has no token"),
    ],
)
def test_rank_files_refused(data, message, tmp_path):
    (tmp_path / "a.tiktoken").write_bytes(data)
    with pytest.raises(ValueError, match=rf"a\.tiktoken: .*{message}"):
        Tokenizer.from_tiktoken(tmp_path / "a.tiktoken", pattern="gpt2")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "line 1 is not 'minbpe v1'"),
        (b"minbpe v1\n", "cut off at line 2"),
        (b"minbpe v1\n\n0\n104 105", "cut off at line 4, which has no line end: '104 105'"),
        (b"minbpe v1\n(\n0\n", "line 2: invalid regular expression"),
        (b"minbpe v1\n\nmany\n", "line 3 is not the number of special tokens"),
        (b"minbpe v1\n\n999999999\n", "cut off at line 4, before the last of 999999999"),
        (b"minbpe v1\n\n1\n<e>\n", "line 4 is not a special token, a space and its id"),
        (b"minbpe v1\n\n2\n<e> 1\n<e> 2\n", "line 5 gives the special token '<e>' again"),
        (b"minbpe v1\n\n0\n1 2\nx\n", "line 5 is not a merge of two ids: 'x'"),
        (b"minbpe v1\n\n0\n1 256\n", r"merge 0, \(1, 256\), names id 256, which is not a token yet"),
        (b"minbpe v1\n\n1\n<e> 97\n", "special token '<e>' has id 97, the id of token b'a'"),
        (
            b"minbpe v1\n\n0\n97 97\n" + b"".join(b"%d %d\n" % (i, i) for i in range(256, 300)),
            "have more than",
        ),
        (b"minbpe v1\n\n0\n\xff\n", "not UTF-8 at byte 13"),
    ],
)
def test_minbpe_refused(data, message, tmp_path):
    (tmp_path / "a.model").write_bytes(data)
    with pytest.raises(ValueError, match=rf"a\.model: .*{message}"):
        Tokenizer.from_minbpe(tmp_path / "a.model")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda vocab, merges: (b"[]", merges), "vocab.json: not an object"),
        (lambda vocab, merges: (b"{", merges), "vocab.json: not JSON at line 1"),
        (
            lambda vocab, merges: (vocab[:-1] + b', "h": 1}', merges),
            "vocab.json: duplicate entry 'h'",
        ),
        (lambda vocab, merges: (vocab, merges + b"h i e\n"), "merges.txt: line 3 is not two tokens"),
        (lambda vocab, merges: (vocab, merges + b"h \n"), "merges.txt: line 3 is not two tokens"),
        (lambda vocab, merges: (vocab, merges + b"\xff"), "merges.txt: not UTF-8 at byte"),
        (lambda vocab, merges: (vocab, merges + b"h e\n"), r"merges.txt\[1\], 'h e', names 'he'"),
    ],
)
def test_gpt2_refused(change, message, tmp_path):
    words = Vocabulary([*BYTES, b"hi"], [(104, 105)], {})
    files = change(*gpt2.dump(words, bpe.Pattern.of("gpt2")))
    for name, data in zip(("vocab.json", "merges.txt"), files, strict=True):
        (tmp_path / name).write_bytes(data)
    with pytest.raises(ValueError, match=message):
        Tokenizer.from_gpt2(tmp_path)


def test_the_last_line_of_gpt2_may_have_no_end():
    words = Vocabulary([*BYTES, b"hi"], [(104, 105)], {})
    vocab_json, merges_txt = gpt2.dump(words, bpe.Pattern.of("gpt2"))
    assert gpt2.parse(vocab_json, merges_txt.rstrip())[0].merges == words.merges


def test_special_tokens_of_gpt2():
    words = Vocabulary([*BYTES, b"hi", b" dead"], [(104, 105)], {"<end>": 300, "ü b": 301})
    with pytest.warns(
        UserWarning, match="no merge makes 1 tokens .* id 257, b' dead': .* merges.txt cut off"
    ):
        back, _ = gpt2.parse(*gpt2.dump(words, bpe.Pattern.of("gpt2")))
    assert back.special_tokens == words.special_tokens
    assert back.bytes_of[257] == b" dead"


def test_merges_that_look_like_a_comment():
    """Only the first line can be a comment."""
    tokens = [*BYTES, b"#v", b"#ve", b"#ver", b"#vers", b"#versi", b"#versio", b"#version", b"#version1"]
    merges = [(35, 118), (256, 101), (257, 114), (258, 115), (259, 105), (260, 111), (261, 110), (262, 49)]
    vocab_json, merges_txt = gpt2.dump(Vocabulary(tokens[:-1], merges[:-1], {}), bpe.Pattern.of("gpt2"))
    vocab_json = vocab_json[:-1] + b', "#version1": 263}'
    back, _ = gpt2.parse(vocab_json, merges_txt + b"#version 1\n")
    assert back.merges == merges
    assert gpt2.parse(vocab_json[:-19] + b"}", merges_txt.split(b"\n", 1)[1])[0].merges == merges[:-1]
    with pytest.raises(ValueError, match="many programs would read merge 7, '#version 1', as a comment"):
        gpt2.dump(back, bpe.Pattern.of("gpt2"))


# ------------------------------------------------------------------------------------------------- parts
def test_bytes_as_characters():
    alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    assert {text_of(token) for token in BYTES} == set(alphabet)
    assert [text_of(bytes([value])) for value in ALPHABETS["gpt2"]] == sorted(alphabet)
    every = bytes(range(256))
    assert bytes_of(text_of(every)) == every
    step = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    assert step.pre_tokenize_str(PROBE)[0][0] == text_of(PROBE.encode())
    assert [bytes_of(text) for text in ("", " ", "Ġ\u0144", "中")] == [b"", None, None, None]


def slow_merges_of(ranks):
    """Return the result of `merges_of`, in plain Python."""
    numbers = sorted(ranks)
    rank_of, whole = {}, []
    for number in sorted(numbers, key=lambda number: len(ranks[number])):
        parts = reference.encode_by_rank(ranks[number], rank_of, new_ids=numbers)
        if len(parts) == 2:
            rank_of[tuple(parts)] = numbers.index(number)
        elif len(parts) > 2:
            whole.append(number)
    in_order = sorted(rank_of, key=rank_of.get)
    return [list(pair) for pair in in_order], [numbers[rank_of[pair]] for pair in in_order], sorted(whole)


def found_merges(ranks):
    pairs, made, whole = merges_of({token: rank for rank, token in ranks.items()})
    return pairs.tolist(), made.tolist(), [*whole]


def ranks_by_chance(chance, sort):
    """Return the bytes and random tokens of three letters; with `sort`, longer tokens have higher ranks."""
    tokens = {bytes(chance.integers(97, 100, chance.integers(2, 6)).tolist()) for _ in range(12)}
    in_order = sorted(tokens, key=lambda token: (len(token) * sort, chance.random()))
    return dict(enumerate([*BYTES, *in_order]))


@pytest.mark.parametrize("sort", [0, 1])
def test_merges_out_of_ranks(tokenizer, sort, tmp_path):
    """The ranks of a trained vocabulary give its merges; any other vocabulary encodes as with tiktoken."""
    vocabulary = tokenizer.engine.vocabulary
    pairs, made, whole = merges_of(vocabulary.id_of)
    assert np.array_equal(pairs, vocabulary.pairs)
    assert np.array_equal(made, vocabulary.made)
    assert not whole
    chance = np.random.default_rng(5)
    n_whole = n_backwards = 0
    for _ in range(100):
        ranks = ranks_by_chance(chance, sort)
        merges = found_merges(ranks)
        assert merges == slow_merges_of(ranks)
        n_whole += len(merges[2])
        n_backwards += sum(max(pair) > number for pair, number in zip(*merges[:2], strict=True))
        tok = Tokenizer._of(tiktoken.parse(rank_file(ranks.values())), bpe.Pattern.of("whitespace"))
        other = peer.Encoding(
            "", pat_str=r"\s*\S+|\s+", mergeable_ranks={t: i for i, t in ranks.items()}, special_tokens={}
        )
        texts = ["".join(chance.choice(list("aabbcc "), chance.integers(1, 30))) for _ in range(20)]
        texts.append(" ".join(["", *(token.decode() for token in ranks.values() if len(token) > 1)]))
        texts += [token.decode() for token in ranks.values() if len(token) > 1]
        for text in texts:
            ids = other.encode(text)
            assert tok.encode(text) == tok.encode_with_dropout(text, 0, seed=1) == ids
            assert tok.count(text) == len(ids)
        assert np.concatenate([tok.encode(text) for text in texts]).tolist() == [
            *tok.encode_batch_to_numpy(texts)[0]
        ]
        # Written and read back: whole tokens are ignore_merges to Hugging Face, and a list in native files.
        agree(tok, tok.to_tiktoken().encode, texts[:5])
        encode = tok.to_huggingface().encode
        agree(tok, lambda text, encode=encode: encode(text).ids, texts)
        for format, name in [("native", "a.json"), ("huggingface", "b.json"), ("tiktoken", "c.tiktoken")]:
            write(tok.engine.vocabulary, tok.pattern, tmp_path / name, format)
            given = {"pattern": "whitespace", "special_tokens": {}} if format == "tiktoken" else {}
            assert Tokenizer._of(*read(tmp_path / name, format, **given)) == tok
        assert pickle.loads(pickle.dumps(tok)) == tok
    assert n_whole > 100
    assert (n_backwards > 20) == (not sort)


def test_whole_tokens():
    """Whole tokens may be long; they are never found inside a piece; dropout can leave them out."""
    required("tokenizers")
    long = b"xyz" * 100
    tok = Tokenizer._of(
        tiktoken.parse(rank_file([*BYTES, b"ab", b"abcd", long])), bpe.Pattern.of("whitespace")
    )
    assert tok.engine.vocabulary.atomic_ids == (257, 258)
    text = f"abcd abcd {long.decode()}"
    assert tok.encode("abcd") == [257]
    assert tok.encode(text) == [257, 32, 256, 99, 100, 32, *long]
    assert tok.encode(long.decode()) == [258]
    assert tok.encode_with_dropout("abcd", 1, seed=1) == [*b"abcd"]
    assert {len(tok.encode_with_dropout("abcd", 0.5, seed=seed)) for seed in range(30)} == {1, 3, 4}
    assert tok.with_vocab_size(tok.vocab_size) == tok
    assert tok.encode_with_offsets("abcd")[0] == [257]
    with pytest.raises(ValueError, match=r"id 257, b'abcd', is taken whole.*training"):
        bpe.Trainer.resume(tok, bpe.WordCounts({"a": 1}, pattern="whitespace"))
    for format, message in [
        ("minbpe", "minbpe has only tokens that merges make"),
        ("gpt2", "hold no split pattern"),
    ]:
        with pytest.raises(ValueError, match=message):
            write(tok.engine.vocabulary, tok.pattern, "nowhere", format)
    with pytest.raises(ValueError, match="no merges lead to id 257, b'abcd'"):
        write(tok.engine.vocabulary, bpe.Pattern.of("gpt2"), "nowhere", "gpt2")
    some = Tokenizer._of(tok.engine.vocabulary.replace(atomic_ids=[257]), tok.pattern)
    assert some != tok
    assert some.encode(long.decode()) == [*long]
    with pytest.raises(ValueError, match=r"either all tokens .* are looked up whole, or none: .* not id 258"):
        some.to_huggingface()
    with pytest.raises(ValueError, match="id 300 has no token"):
        tok.engine.vocabulary.replace(atomic_ids=[300])


def test_pieces_that_are_looked_up_first():
    """With ignore_merges, merges may have any order, and tokens need no merges."""
    chance = np.random.default_rng(7)
    n_whole = 0
    for _ in range(100):
        found = [b"a", b"b", b"c"]
        while len(found) < 9:  # made of two others (mostly reached by merges) or of three
            token = b"".join(found[i] for i in chance.integers(len(found), size=chance.choice([2, 2, 2, 3])))
            found += [token] * (token not in found)
        tokens = [*BYTES, *found[3:]]
        id_of = {token: number for number, token in enumerate(tokens)}
        splits = [(token[:i], token[i:]) for token in tokens for i in range(1, len(token))]
        merges = [(id_of[a], id_of[b]) for a, b in splits if a in id_of and b in id_of]
        document = json.loads(huggingface.dump(Vocabulary(tokens, merges, {}), bpe.Pattern.of("whitespace")))
        for ignore_merges in (True, False):
            document["model"]["ignore_merges"] = ignore_merges
            other = tokenizers.Tokenizer.from_str(json.dumps(document))
            tok = of_json(json.dumps(document))
            n_whole += len(tok.engine.vocabulary.atomic_ids)
            assert ignore_merges or not tok.engine.vocabulary.atomic_ids
            texts = [token.decode() for token in tokens[256:]]
            texts += ["".join(chance.choice(list("aabbcc "), 12)) for _ in range(20)]
            agree(tok, lambda text, other=other: other.encode(text).ids, texts)
            written = huggingface.dump(tok.engine.vocabulary, tok.pattern)
            assert of_json(written) == tok
    assert n_whole > 50


@pytest.mark.parametrize("longest", [255, 256, 257, 600])
def test_merges_of_long_tokens(longest):
    """Compiled code encodes the shorter ones in one call; the longer ones need a list and a heap."""
    runs = [b"a" * 2**i for i in range(1, longest.bit_length())]
    others = [b"ab" * (longest // 2), b"a" * longest, b"b" * longest]
    for more in (None, *others):
        tokens = [*BYTES, *runs, b"ab", *(b"ab" * 2**i for i in range(1, 9)), *[more] * bool(more)]
        ranks = dict(enumerate(dict.fromkeys(tokens)))
        merges, made, whole = found_merges(ranks)
        assert (merges, made, whole) == slow_merges_of(ranks)
        dead = {**ranks, len(ranks): b"cd" * longest}
        assert unreached(Vocabulary(dead, merges, {})) == [*whole, len(ranks)]


def test_small_files_of_large_tokens():
    doubling = [(97, 97), *((256 + i, 256 + i) for i in range(60))]
    with pytest.raises(ValueError, match=r"merge 27, .* have more than"):
        check_lengths(doubling)
    document = {
        "format": "bpe-structures",
        "version": 1,
        "pattern": "gpt2",
        "unicode": "1",
        "special_tokens": {},
    }
    with pytest.raises(ValueError, match=r"merge 27, .* have more than"):
        native.of_document({**document, "merges": native._text_of(np.array(doubling))})
    with pytest.raises(ValueError, match="the expression repeats too much at character 8"):
        check_expression("(a{1000}{1000})b")
    for source in [
        r"\p{N}{1,3}|[(]{9}\({9}|{",
        "(" * 100,
        ")" * 9,
        "a{}b{,}{,5}{5,}",
        *bpe.PATTERNS["deepseek"],
    ]:
        check_expression(source)
    check_lengths([(97, 1000), *doubling])  # wrong merges are found elsewhere


def rank_file(tokens):
    return b"".join(base64.b64encode(token) + b" %d\n" % rank for rank, token in enumerate(tokens))


@pytest.mark.parametrize("seed", range(3))
def test_lines_of_a_rank_file_at_once(seed):
    """Reading at once gives the same as reading line by line."""
    chance = np.random.default_rng(seed)
    whole = rank_file([*BYTES, b"hi", b"hip", "über".encode()])
    n_at_once = 0
    for _ in range(1500):
        data = bytearray(whole)
        for _ in range(chance.integers(1, 3)):
            at, n_more, n_less = chance.integers(len(data)), chance.integers(2), chance.integers(3)
            data[at : at + n_less] = chance.choice(list(b"\n\r =+/A19"), n_more).astype(np.uint8).tobytes()
        at_once = tiktoken._read_at_once(bytes(data))
        if at_once is not None:
            n_at_once += 1
            assert at_once == tiktoken._read_lines(bytes(data))
    assert n_at_once > 50


# ------------------------------------------------------------------------------------------------ by name
def test_guesses(tokenizer, tmp_path):
    for name, format in [
        ("a.tiktoken", "tiktoken"),
        ("a.model", "minbpe"),
        ("tokenizer.json", "huggingface"),
        ("a.hf.json", "huggingface"),
        ("vocab.json", "gpt2"),
        ("a.json", "native"),
    ]:
        assert guess_format(name) == format
    with pytest.raises(ValueError, match="the name does not tell the format: it may be native, hugging"):
        guess_format("a.txt")
    plain = with_pattern(tokenizer, "gpt2", {"<|end|>": 600})
    for format in FORMATS:
        path = tmp_path / {"gpt2": "f", "tiktoken": "a.tiktoken"}.get(format, f"{format}.json")
        write(plain.engine.vocabulary, plain.pattern, path, format)
        assert find(path).format == format
        given = {"pattern": "gpt2", "special_tokens": {"<|end|>": 600}} if format == "tiktoken" else {}
        assert with_pattern(Tokenizer._of(*read(path, format, **given)), "gpt2") == plain
        assert differences(plain.engine.vocabulary, plain.pattern, path, format) is None
    with pytest.raises(ValueError, match="give one, such as cl100k"):
        read(tmp_path / "a.tiktoken", "tiktoken")
    with pytest.raises(ValueError, match="has its own pattern"):
        read(tmp_path / "native.json", "native", pattern="gpt2")


def test_differences(tokenizer, tmp_path):
    other = renumbered(tokenizer, [*range(256), *range(600, 1200)])
    other.save(tmp_path / "a.json")
    plain = with_pattern(tokenizer, "gpt2", {})
    assert "read back gives other ids for the probe text, from ids[" in differences(
        plain.engine.vocabulary, plain.pattern, tmp_path / "a.json", "native"
    )


@pytest.mark.parametrize("format", ["huggingface", "gpt2"])
def test_files_that_other_programs_cannot_read(tokenizer, tmp_path, format):
    required("tokenizers")
    parts = tokenizer.engine.vocabulary, tokenizer.pattern
    write(*parts, tmp_path / "new", format)
    assert set(encoders(*parts, tmp_path / "new", format)) == {"read back", "tokenizers"}
    assert differences(*parts, tmp_path / "new", format) is None
    if format == "huggingface":
        path = tmp_path / "new" / "tokenizer.json"
        path.write_bytes(path.read_bytes().replace(b'"version": "1.0"', b'"version": "9"'))
    else:
        with open(tmp_path / "new" / "merges.txt", "a") as file:
            file.write("\n")
    with pytest.raises(ValueError, match="the program of that format cannot read the file: "):
        encoders(*parts, tmp_path / "new", format)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no endless file")
def test_endless_files(monkeypatch):
    monkeypatch.setattr(bpe.formats.conversion, "MAX_FILE", 10_000)
    with pytest.raises(ValueError, match="/dev/zero: not a tokenizer: more than 10000 bytes"):
        Tokenizer.from_huggingface("/dev/zero")


def test_tiktoken_module_is_not_shadowed():
    assert tiktoken.parse is not None
    assert not hasattr(peer, "parse")
