"""Files in which people get tokenizers: tekken.json, folders of models, and whatever a path leads to."""

import base64
import json
import random
import time
import warnings

import pytest
from click.testing import CliRunner

import bpe
from bpe.cli import main
from bpe.formats import model_folder, recognition, tekken
from bpe.tokenizer import Tokenizer
from bpe.vocabulary import extras as kept
from tests.fuzz.damage import damaged
from tests.optional import optional, required

tiktoken = optional("tiktoken")
tokenizers = optional("tokenizers")

WORDS = r"\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+|\s+"
TEXTS = ["", "the cat and the hat, 1234", "\n\n  tab\t日本語 é😀", "<s>[INST] x</s><SPECIAL_20>", " the" * 50]


# --------------------------------------------------------------------------------------------- tekken.json
@pytest.fixture(scope="module")
def ranks(book):
    """The tokens of a tokenizer by their ranks, some of which no merges lead to."""
    tok = bpe.train([book[:50_000]], 500, pattern=[WORDS], like="gigatoken", progress=False)
    return [*map(tok.token_bytes, range(500)), b"zqzq", b"unused", b"unused too"]


def tekken_of(ranks, n_specials=24, n_left_out=2, **changes):
    document = {
        "config": {
            "pattern": WORDS,
            "num_vocab_tokens": len(ranks),
            "default_vocab_size": len(ranks) - n_left_out + n_specials,
            "default_num_special_tokens": n_specials,
            "version": "v3",
        },
        "vocab": [
            {"rank": rank, "token_bytes": base64.b64encode(token).decode(), "token_str": None}
            for rank, token in enumerate(ranks)
        ],
    }
    for key, value in changes.items():
        *path, last = key.split("__")
        place = document
        for step in path:
            place = place[int(step) if step.isdigit() else step]
        if value is None:
            del place[last]
        else:
            place[int(last) if last.isdigit() else last] = value
    return document


def written(document, path):
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def test_tekken(ranks, book, tmp_path):
    tok = Tokenizer.from_tekken(written(tekken_of(ranks), tmp_path / "tekken.json"))
    numbers = {token: rank for rank, token in enumerate(ranks[:-2])}
    peer = tiktoken.Encoding("tekken", pat_str=WORDS, mergeable_ranks=numbers, special_tokens={})
    for text in [*TEXTS, book[:20_000], "zqzq", "xzqzq"]:
        ids = tok.encode(text, disallowed_special=())
        assert ids == [rank + 24 for rank in peer.encode(text)]
        assert tok.decode(ids) == text
    assert tok.vocab_size == 525
    assert tok.encode("zqzq") == [524]
    assert list(tok.special_tokens.values()) == list(range(24))
    assert tok.special_tokens["</s>"] == 2
    assert tok.special_tokens["<SPECIAL_23>"] == 23
    assert tok.encode("<s>the", allowed_special="all")[0] == 1


def test_tekken_names_its_special_tokens(ranks, tmp_path):
    names = [{"rank": 1, "token_str": "<b>", "is_control": True}, {"rank": 0, "token_str": "<a>"}]
    path = written(tekken_of(ranks, 4, special_tokens=names, image={"size": 3}), tmp_path / "t.json")
    tok = Tokenizer.load(path)
    assert tok.special_tokens == {"<a>": 0, "<b>": 1, "<SPECIAL_2>": 2, "<SPECIAL_3>": 3}
    assert Tokenizer.from_tekken(path) == tok
    none = Tokenizer.load(written(tekken_of(ranks, 0), tmp_path / "none.json"))
    assert none.special_tokens == {}
    assert none.encode("the") == [i - 4 for i in tok.encode("the")]


def test_tekken_to_other_files(ranks, tmp_path):
    tok = Tokenizer.from_tekken(written(tekken_of(ranks), tmp_path / "tekken.json"))
    tok.save(tmp_path / "t.json")
    tok.save_huggingface(tmp_path / "tokenizer.json")
    other = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    for text in TEXTS:
        ids = tok.encode(text, allowed_special="all")
        assert Tokenizer.load(tmp_path / "t.json").encode(text, allowed_special="all") == ids
        assert other.encode(text, add_special_tokens=False).ids == ids


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"config": 3}, "not a tokenizer|config"),
        ({"config__pattern": 3}, r"config\.pattern is not a string: 3"),
        ({"config__pattern": "(" * 9}, r"config\.pattern: "),
        ({"config__default_vocab_size": None}, r"default_vocab_size is not a number from 0 to .*: None"),
        ({"config__default_vocab_size": True}, r"config\.default_vocab_size is not a number"),
        (
            {"config__default_vocab_size": 10**9},
            "default_vocab_size is 1000000000, of which 24 .* 503 entries",
        ),
        ({"config__default_vocab_size": 24}, "default_vocab_size is 24, of which 24"),
        ({"config__default_num_special_tokens": -1}, r"config\.default_num_special_tokens is not a number"),
        (
            {"config__default_num_special_tokens": 10**8},
            "default_num_special_tokens is not a number from 0 to 1",
        ),
        ({"vocab": {}}, '"vocab" is not a list'),
        ({"vocab__3": 5}, r"vocab\[3\] is not an object"),
        ({"vocab__3__rank": 4}, r"vocab\[3\]\.rank is not 3: 4"),
        ({"vocab__3__rank": 3.0}, r"vocab\[3\]\.rank is not 3: 3\.0"),
        ({"vocab__3__token_bytes": "AA="}, r"vocab\[3\]\.token_bytes is not base64: 'AA='"),
        ({"vocab__3__token_bytes": 7}, r"vocab\[3\]\.token_bytes is not base64: 7"),
        ({"vocab__3__token_bytes": ""}, r"vocab\[3\]\.token_bytes is empty"),
        ({"vocab__3__token_bytes": base64.b64encode(b"!").decode()}, r"vocab\[3\] is b'!', like vocab\[0\]"),
        ({"vocab__3__token_bytes": base64.b64encode(b"##").decode()}, "byte .* has no token"),
        ({"special_tokens": {}}, '"special_tokens" is not a list'),
        ({"special_tokens": [3]}, r"special_tokens\[0\] is not an object"),
        ({"special_tokens": [{"rank": 0}]}, r"special_tokens\[0\]\.token_str is not a token: None"),
        ({"special_tokens": [{"rank": 24, "token_str": "a"}]}, r"special_tokens\[0\]\.rank .* below 24: 24"),
        ({"special_tokens": [{"rank": 0, "token_str": "a"}] * 2}, r"special_tokens\[1\]\.rank is 0 again"),
        ({"special_tokens": [{"rank": 0, "token_str": "<SPECIAL_9>"}]}, "gives '<SPECIAL_9>' two ids"),
        ({"special_tokens": [{"rank": 0, "token_str": "\ud800"}]}, "surrogate"),
    ],
)
def test_tekken_refused(ranks, changes, message, tmp_path):
    path = written(tekken_of(ranks, **changes), tmp_path / "tekken.json")
    with pytest.raises(ValueError, match=rf"tekken\.json: .*({message})"):
        Tokenizer.from_tekken(path)


def test_tekken_damaged(ranks, tmp_path):
    path = written(tekken_of(ranks), tmp_path / "tekken.json")
    whole, chance = path.read_bytes(), random.Random("tekken")
    n_errors, started = 0, time.perf_counter()
    for _ in range(200):
        path.write_bytes(damaged(whole, chance))
        try:
            Tokenizer.from_tekken(path)
        except ValueError as error:
            n_errors += 1
            assert str(error).startswith(f"{path}: ")  # noqa: PT017
    assert n_errors > 100
    assert time.perf_counter() - started < 120


def test_first_specials():
    assert len(tekken.FIRST_SPECIALS) == len({*tekken.FIRST_SPECIALS}) == 20


# ------------------------------------------------------------------------------------------- GPT-2's files
def test_gpt2_under_any_names(tmp_path, book):
    tok = bpe.train([book[:20_000]], 400, like="gigatoken", progress=False)
    tok.save_gpt2(tmp_path / "f")
    (tmp_path / "f" / "vocab.json").rename(tmp_path / "en-vocab.txt")
    (tmp_path / "f" / "merges.txt").rename(tmp_path / "bpe.codes")
    back = Tokenizer.from_gpt2(tmp_path / "en-vocab.txt", tmp_path / "bpe.codes")
    assert back == tok
    with pytest.raises(FileNotFoundError, match=r"merges\.txt"):
        Tokenizer.from_gpt2(tmp_path / "en-vocab.txt")
    with pytest.raises(
        ValueError, match=r"en-vocab\.txt: .*GPT-2's vocab\.json: .*from_gpt2\(vocab, merges\)"
    ):
        Tokenizer.load(tmp_path / "en-vocab.txt")


# --------------------------------------------------------------------------------------- what a path leads to
@pytest.fixture(scope="module")
def small(book):
    return bpe.train(
        [book[:20_000]], 400, like="gigatoken", pattern="gpt2", special_tokens=["<|end|>"], progress=False
    )


def saved(tok, folder):
    """Save a tokenizer in every format, under names that say nothing; return the paths by format."""
    paths = {name: folder / name for name in ("native", "huggingface", "tiktoken", "minbpe")}
    tok.save(paths["native"])
    tok.save_huggingface(folder / "x.json")
    (folder / "x.json").rename(paths["huggingface"])
    tok.save_tiktoken(paths["tiktoken"])
    plain = bpe.train(["low lower"] * 3, 258, progress=False)
    plain.save_minbpe(paths["minbpe"])
    tok.save_gpt2(folder / "gpt2")
    return paths | {"gpt2": folder / "gpt2"}


def test_load_every_format(small, tmp_path):
    paths = saved(small, tmp_path)
    for format, path in paths.items():
        given = {"pattern": "gpt2", "special_tokens": small.special_tokens} if format == "tiktoken" else {}
        tok = Tokenizer.load(path, **given)
        assert recognition.find(path).format == format
        if format != "minbpe":
            assert tok == small
        if format != "tiktoken":
            with pytest.raises(ValueError, match=f"the format {format} has its own pattern"):
                Tokenizer.load(path, pattern="gpt2")
    assert Tokenizer.load(paths["gpt2"] / "vocab.json") == small
    with pytest.raises(ValueError, match="tiktoken: a rank file has no split pattern: give one"):
        Tokenizer.load(paths["tiktoken"])
    with pytest.raises(TypeError):
        Tokenizer.load(paths["tiktoken"], pattern="gpt2", special_tokens=["<|end|>"])


def test_rank_files_under_another_name(small, tmp_path):
    """The tokenizer.model of some models is a rank file."""
    small.save_tiktoken(tmp_path / "tokenizer.model")
    tok = Tokenizer.load(tmp_path, pattern="gpt2", special_tokens={"<|end|>": 399})
    assert tok == small
    with pytest.raises(ValueError, match=r"tokenizer\.model: a rank file has no split pattern"):
        Tokenizer.load(tmp_path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not a tokenizer: the file is empty"),
        (b"a b", "it begins with b'a b'. Looked for: JSON"),
        (
            b"cos\nsystem\n(S'true'\ntR.",
            r"it begins with b\"cos.*lines of ranks, 'minbpe v1', a model of Sent",
        ),
        (b"[1]", r"it begins with b'\[1\]'"),
        (b'{"a": "b"}', r"JSON with the entries \['a'\]"),
        (b"{}", r"JSON with the entries \[\]"),
        (b'{"a": 1', "not JSON at line 1"),
        (b'{"a":' * 99_999, "nested too deeply|not JSON"),
        (b'\n {"a": "b"}', "JSON with the entries"),
        (b"\n\n\n", "is not a message|is cut off"),
        (b'{"config": 1, "vocab": 2}', '"config" is not an object'),
        (b'{"model": 1}', '"model" is not an object'),
        (b'{"format": 1}', '"format" is not'),
        (b'{"a": 1, "b": true}', "JSON with the entries"),
    ],
)
def test_unknown_files(content, message, tmp_path):
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(ValueError, match=rf"file: .*({message})"):
        Tokenizer.load(tmp_path / "file")


def test_folders(small, tmp_path):
    with pytest.raises(
        ValueError, match=r"without a tokenizer\. Looked for: tokenizer\.json, tekken\.json, tok"
    ):
        Tokenizer.load(tmp_path)
    small.save_gpt2(tmp_path)
    assert Tokenizer.load(tmp_path) == small
    (tmp_path / "tokenizer.model").write_bytes(b"minbpe v1\n\n0\n104 105\n")
    with pytest.raises(ValueError, match=r"a folder with tokenizer\.model and vocab\.json: give the path"):
        Tokenizer.load(tmp_path)
    (tmp_path / "vocab.json").unlink()
    assert Tokenizer.load(tmp_path).merges == [(104, 105)]
    small.save_huggingface(tmp_path / "tokenizer.json")
    assert Tokenizer.load(tmp_path) == small
    (tmp_path / "tokenizer.json").write_text('{"model": 3}')
    with pytest.raises(ValueError, match=r'tokenizer\.json: "model" is not an object'):
        Tokenizer.load(tmp_path)
    with pytest.raises(FileNotFoundError):
        Tokenizer.load(tmp_path / "missing")


def test_compiled_only(tmp_path):
    pattern = "(?>ab|a)c|."
    tok = bpe.Tokenizer(token_bytes=[bytes([i]) for i in range(256)], merges=[], pattern=pattern)
    tok.save(tmp_path / "t.json")
    assert Tokenizer.load(tmp_path / "t.json") == tok
    with pytest.raises(ValueError, match="compiled"):
        Tokenizer.load(tmp_path / "t.json", compiled_only=True)


def test_commands(small, ranks, tmp_path, monkeypatch):
    """They take what load takes."""
    monkeypatch.chdir(tmp_path)
    small.save_huggingface("model")
    written(tekken_of(ranks), tmp_path / "tekken.json")
    (tmp_path / "t.txt").write_text("the cat")
    for name, tok in (("model", small), ("tekken.json", Tokenizer.load("tekken.json"))):
        result = CliRunner().invoke(main, ["encode", name, "t.txt"])
        assert result.stdout.split() == list(map(str, tok.encode("the cat"))), result.output
        result = CliRunner().invoke(main, ["convert", name, "out", "--to", "huggingface"])
        assert result.exit_code == 0, result.output
        assert Tokenizer.load("out").encode("the cat") == tok.encode("the cat")
    result = CliRunner().invoke(main, ["convert", "tekken.json", "o.json", "--from", "tekken"])
    assert result.exit_code == 0, result.output
    result = CliRunner().invoke(main, ["inspect", "nothing"])
    assert "no such file: nothing" in result.stderr


# ------------------------------------------------------------------------------------- the folder of a model
CHAT = "{% for m in messages %}<{{ m.role }}>{{ m.content }}\n{% endfor %}é"
CONFIG = {
    "tokenizer_class": "PreTrainedTokenizerFast",
    "eos_token": "<|end|>",
    "model_max_length": 1000000000000000019884624838656,
    "clean_up_tokenization_spaces": False,
    "added_tokens_decoder": {"399": {"content": "<|end|>", "special": True}},
    "chat_template": CHAT,
}
MAP = {"eos_token": {"content": "<|end|>", "lstrip": False}}


@pytest.fixture
def folder(small, tmp_path):
    small.save_huggingface(tmp_path / "model-1.5")
    written(CONFIG, tmp_path / "model-1.5" / "tokenizer_config.json")
    written(MAP, tmp_path / "model-1.5" / "special_tokens_map.json")
    return tmp_path / "model-1.5"


def contents(folder):
    return {
        path.name: json.loads(path.read_bytes()) if path.suffix == ".json" else path.read_bytes()
        for path in folder.iterdir()
    }


def test_a_new_folder(small, tmp_path):
    small.save_huggingface(tmp_path / "new")
    assert contents(tmp_path / "new").keys() == {
        *("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json")
    }
    assert Tokenizer.from_huggingface(tmp_path / "new").encode("the cat") == small.encode("the cat")
    for name in ("a.json", "a.tmp"):
        small.save_huggingface(tmp_path / name)
        assert (tmp_path / name).is_file()
    (tmp_path / "x.y").mkdir()
    small.save_huggingface(tmp_path / "x.y")
    assert len(contents(tmp_path / "x.y")) == 3
    (tmp_path / "file").touch()
    small.save_huggingface(tmp_path / "file")
    assert (tmp_path / "file").is_file()
    with pytest.raises(FileNotFoundError):
        small.save_huggingface(tmp_path / "missing" / "new")


@pytest.mark.parametrize("read", [Tokenizer.load, Tokenizer.from_huggingface])
def test_folders_are_written_back(folder, read, tmp_path):
    (folder / "chat_template.jinja").write_bytes("{{ 'é' }}\r\n".encode())
    (folder / "other.json").write_text("not of a tokenizer")
    tok = read(folder)
    tok.save(tmp_path / "t.json")
    assert json.loads((tmp_path / "t.json").read_bytes())["version"] == 3
    for n, other in enumerate([tok, Tokenizer.load(tmp_path / "t.json"), bpe.Tokenizer._of(*parts(tok))]):
        other.save_huggingface(tmp_path / f"again{n}")
        wanted = contents(folder) if not (folder / "other.json").unlink(missing_ok=True) else {}
        assert contents(tmp_path / f"again{n}") == wanted


def parts(tok):
    from bpe.vocabulary.parts import packed, unpacked

    return unpacked(packed(tok.engine.vocabulary)), tok.pattern


def test_a_folder_of_gpt2(small, tmp_path):
    small.save_gpt2(tmp_path)
    written(CONFIG, tmp_path / "tokenizer_config.json")
    tok = Tokenizer.load(tmp_path)
    tok.save_huggingface(tmp_path / "new")
    assert contents(tmp_path / "new")["tokenizer_config.json"] == CONFIG


def test_other_formats_have_no_place(folder, tmp_path):
    tok = Tokenizer.load(folder)
    with pytest.warns(UserWarning, match=r"does not hold special_tokens_map\.json, tokenizer_config"):
        tok.save_huggingface(tmp_path / "t.json")
    with pytest.warns(UserWarning, match=r"left out: special_tokens_map\.json, tokenizer_config"):
        tok.save_gpt2(tmp_path / "gpt2")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tok.to_huggingface()


def test_ids_that_change(folder, tmp_path):
    """The table of ids in tokenizer_config.json is left out, as a post-processor is."""
    tok = Tokenizer.load(folder)
    with pytest.warns(UserWarning, match="added_tokens_decoder of the tokenizer"):
        fewer = tok.with_vocab_size(390)
    fewer.save_huggingface(tmp_path / "fewer")
    config = contents(tmp_path / "fewer")["tokenizer_config.json"]
    assert config == {key: value for key, value in CONFIG.items() if key != "added_tokens_decoder"}


def test_transformers(folder, tmp_path, monkeypatch):
    """They read the folder, with the same ids and chats."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    transformers = required("transformers")
    tok = Tokenizer.load(folder)
    tok.save_huggingface(tmp_path / "again")
    messages = [{"role": "user", "content": "the cat"}]
    for cls in (transformers.AutoTokenizer, transformers.PreTrainedTokenizerFast):
        before, after = (cls.from_pretrained(path) for path in (folder, tmp_path / "again"))
        for text in TEXTS:
            ids = tok.encode(text, allowed_special="all")
            assert before.encode(text) == after.encode(text) == ids
            assert after.decode(ids) == text
        chats = [each.apply_chat_template(messages, tokenize=False) for each in (before, after)]
        assert chats == ["<user>the cat\né"] * 2
        assert after.eos_token == "<|end|>"
    (folder / "tokenizer_config.json").write_text("{}")
    (folder / "chat_template.jinja").write_text("jinja", encoding="utf-8")
    Tokenizer.load(folder).save_huggingface(tmp_path / "jinja")
    other = transformers.PreTrainedTokenizerFast.from_pretrained(tmp_path / "jinja")
    assert other.apply_chat_template(messages, tokenize=False) == "jinja"


@pytest.mark.parametrize(
    "change",
    [
        lambda tok: tok.with_special_tokens(["<|new|>", "<|end|>"]),
        lambda tok: tok.with_special_tokens(["<|new|>"]).prune(TEXTS, vocab_size=300)[0],
        lambda tok: tok.extend([TEXTS[1] * 9], 2)[0].with_special_tokens({"<|new|>": 500}),
        lambda tok: tok.with_vocab_size(390).with_special_tokens(["<|new|>"]),
    ],
    ids=["special tokens", "pruned", "extended", "truncated"],
)
@pytest.mark.filterwarnings("ignore:added_tokens_decoder of the tokenizer")
def test_special_tokens_of_classes(small, change, tmp_path, monkeypatch):
    """Some classes of transformers know the special tokens of added_tokens_decoder only."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    transformers = pytest.importorskip("transformers")
    small.save_huggingface(tmp_path / "old")
    entry = {"content": "<|end|>", "lstrip": False, "normalized": False, "special": True}
    config = {"added_tokens_decoder": {"399": entry}, "eos_token": "<|end|>"}
    for cls in ("Qwen2Tokenizer", "GPT2Tokenizer", "PreTrainedTokenizerFast"):
        written(config | {"tokenizer_class": cls}, tmp_path / "old" / "tokenizer_config.json")
        tok = change(Tokenizer.load(tmp_path / "old"))
        tok.save_huggingface(tmp_path / "new")
        other = transformers.AutoTokenizer.from_pretrained(tmp_path / "new")
        text = "the cat<|new|> and<|end|> the hat"
        ids = tok.encode(text, allowed_special="all")
        assert {tok.special_tokens["<|new|>"], tok.special_tokens["<|end|>"]} < {*ids}
        assert other.encode(text) == ids
        assert other.decode(ids, skip_special_tokens=True) == "the cat and the hat"
        table = contents(tmp_path / "new")["tokenizer_config.json"].get("added_tokens_decoder", {})
        assert entry in table.values() or not table


@pytest.mark.parametrize("cls", ["ChatTokenizer", "Qwen2Tokenizer"])
@pytest.mark.parametrize(
    "named", [["x.ChatTokenizer", None], {"AutoTokenizer": ["a/b--x.ChatTokenizer", None]}]
)
def test_code_is_left_out(folder, cls, named, tmp_path, monkeypatch):
    """The files of Python that auto_map names are not written, and AutoTokenizer would look for them."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    transformers = pytest.importorskip("transformers")
    written(CONFIG | {"auto_map": named, "tokenizer_class": cls}, folder / "tokenizer_config.json")
    tok = Tokenizer.load(folder)
    with pytest.warns(UserWarning, match=r"auto_map of tokenizer_config\.json left out"):
        tok.save_huggingface(tmp_path / "new")
    assert contents(tmp_path / "new")["tokenizer_config.json"] == CONFIG
    other = transformers.AutoTokenizer.from_pretrained(tmp_path / "new", trust_remote_code=True)
    text = "the cat<|end|>"
    assert other.encode(text) == tok.encode(text, allowed_special="all")


def test_transformers_read_a_new_folder(small, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    transformers = required("transformers")
    small.save_huggingface(tmp_path / "new")
    other = transformers.AutoTokenizer.from_pretrained(tmp_path / "new")
    for text in [*TEXTS, "it 's , all . I 'm"]:
        ids = small.encode(text, allowed_special="all")
        assert other.encode(text) == ids
        assert other.decode(ids) == text


def test_roles_and_templates(small, folder, tmp_path, monkeypatch):
    """What a program tells transformers, over what the folder that was loaded says."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    transformers = required("transformers")
    other = small.with_special_tokens(["<|pad|>", "<|user|>"])
    options = {"eos_token": "<|end|>", "pad_token": "<|pad|>", "chat_template": CHAT}
    other.save_huggingface(tmp_path / "new", **options)
    assert Tokenizer.load(tmp_path / "new").role_ids == {"eos": 399, "pad": 400}
    # read and written again, as a folder and through a file of our own
    Tokenizer.load(tmp_path / "new").save(tmp_path / "tok.json")
    Tokenizer.load(tmp_path / "tok.json").save_huggingface(tmp_path / "again")
    assert contents(tmp_path / "again") == contents(tmp_path / "new")
    messages = [{"role": "user", "content": "the cat"}]
    for cls in (transformers.AutoTokenizer, transformers.PreTrainedTokenizerFast):
        hf = cls.from_pretrained(tmp_path / "again")
        assert (hf.eos_token_id, hf.pad_token_id, hf.bos_token) == (399, 400, None)
        padded = hf(TEXTS, padding=True)["input_ids"]
        longest = max(map(len, padded))
        for text, row in zip(TEXTS, padded, strict=True):
            ids = other.encode(text, allowed_special="all")
            assert row == ids + [400] * (longest - len(ids))
            assert hf.decode(row, skip_special_tokens=True) == other.decode(ids, skip_special_tokens=True)
        assert hf.apply_chat_template(messages, tokenize=False) == "<user>the cat\né"
    (folder / "chat_template.jinja").write_text("jinja")
    loaded = Tokenizer.load(folder).with_special_tokens(["<|pad|>"])
    loaded.save_huggingface(tmp_path / "more", pad_token="<|pad|>", chat_template="config")
    hf = transformers.AutoTokenizer.from_pretrained(tmp_path / "more")
    assert (hf.eos_token, hf.pad_token) == ("<|end|>", "<|pad|>")
    assert hf.apply_chat_template(messages, tokenize=False) == "config"
    assert loaded.role_ids == {"eos": 399}  # options are those of a folder


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("new", {"pad_token": "<pad>"}, "pad_token is '<pad>', which is not a special token"),
        ("new", {"pad_token": "the"}, "pad_token is 'the', which is not a special token"),
        ("new", {"pad_token": 0}, "pad_token is 0, which is not a special token"),
        ("a.json", {"eos_token": "<|end|>"}, "a single tokenizer.json does not hold eos_token"),
        ("a.json", {"chat_template": CHAT}, "a single tokenizer.json does not hold chat_template"),
    ],
)
def test_options_that_are_refused(small, name, options, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        small.save_huggingface(tmp_path / name, **options)
    assert not (tmp_path / name).exists()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("tokenizer_config.json", b"{", "not JSON"),
        ("tokenizer_config.json", b"[]", "not an object"),
        ("tokenizer_config.json", b'{"a":' * 500 + b"1" + b"}" * 500, "nested too deeply"),
        ("tokenizer_config.json", b'{"a": "\\ud800"}', "half of a surrogate pair"),
        ("tokenizer_config.json", b'{"a": ' + b"9" * 500 + b"}", "a number of 500 digits"),
        ("special_tokens_map.json", b'{"a": NaN}', "NaN is not a JSON number"),
        ("special_tokens_map.json", b'{"a": 1, "a": 2}', "duplicate entry 'a'"),
        ("chat_template.jinja", b"ab\xff", "not UTF-8 at byte 2"),
        ("chat_template.jinja", b"a" * (1 << 24) + b"b", "more than 16777216 bytes"),
    ],
)
def test_hostile_folders(folder, name, content, message, tmp_path):
    (folder / name).write_bytes(content)
    with pytest.raises(ValueError, match=rf"model-1\.5: {name.replace('.', '[.]')}: .*{message}"):
        Tokenizer.load(folder)


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"../../x": {}}, "'../../x' is not a known file"),
        ({"tokenizer.json": {}}, "'tokenizer.json' is not a known file"),
        ({"tokenizer_config.json": "x"}, "the content of tokenizer_config.json is not an object"),
        ({"chat_template.jinja": {}}, "the content of chat_template.jinja is not a text"),
        ([], "'files' is not a known part"),
    ],
)
def test_hostile_native_files(small, files, message, tmp_path):
    """What is kept is checked there, too: nothing else is ever written to a folder."""
    small.save(tmp_path / "t.json")
    document = json.loads((tmp_path / "t.json").read_bytes()) | {"version": 3, "kept": {"files": files}}
    del document["crc32"]
    written(document, tmp_path / "t.json")
    with pytest.raises(ValueError, match=f'"kept": {message}'):
        Tokenizer.load(tmp_path / "t.json")


def test_bound_of_all_files(monkeypatch):
    monkeypatch.setattr(kept, "MAX_FILES", 100)
    with pytest.raises(ValueError, match=r"chat_template\.jinja: 1\d\d bytes, more than 100"):
        kept.to_text({"files": {"tokenizer_config.json": {"a": "b" * 60}, "chat_template.jinja": "c" * 60}})


def test_a_failed_write(small, folder, monkeypatch):
    """Every file is the old one or the new one."""
    before = contents(folder)

    def failing(path, data):
        if path.name == "tokenizer.json":
            raise OSError(28, "No space left on device")
        return write(path, data)

    write = model_folder.atomic_write
    monkeypatch.setattr(model_folder, "atomic_write", failing)
    with pytest.raises(OSError, match="No space"):
        small.save_huggingface(folder)
    after = contents(folder)
    assert after["tokenizer.json"] == before["tokenizer.json"]
    assert after.keys() == before.keys()


def test_a_template_that_is_there_is_replaced(small, tmp_path, monkeypatch):
    """``transformers`` reads chat_template.jinja first."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    transformers = required("transformers")
    tok = small.with_special_tokens(["<|eos|>"])
    (tmp_path / "chat_template.jinja").write_text("old")
    tok.save_huggingface(tmp_path, eos_token="<|eos|>", chat_template="new")
    assert transformers.AutoTokenizer.from_pretrained(tmp_path).chat_template == "new"


@pytest.mark.parametrize("token", ["\n", " ", "\t"])
def test_two_texts_of_one_id(token, tmp_path):
    """A byte is written with a letter there, so that a special token of the same bytes is another text."""
    tok = bpe.train(["low lower"], 257, progress=False).with_special_tokens([token])
    with pytest.raises(ValueError, match="an id has one token: "):
        tok.save_huggingface(tmp_path / "tokenizer.json")
    tok.save(tmp_path / "tok.json")
    assert Tokenizer.load(tmp_path / "tok.json") == tok


@pytest.mark.parametrize("letter", ["\u00e9", "\u0120"])
def test_an_added_token_that_is_the_letter_of_a_byte(letter, tmp_path):
    bpe.train(["low lower"], 256, progress=False).save_huggingface(tmp_path / "tokenizer.json")
    document = json.loads((tmp_path / "tokenizer.json").read_text())
    token_id = document["model"]["vocab"][letter]
    document["added_tokens"] = [{"id": token_id, "content": letter, "special": False}]
    (tmp_path / "tokenizer.json").write_text(json.dumps(document))
    with pytest.raises(ValueError, match="an id stands for one text here"):
        Tokenizer.load(tmp_path / "tokenizer.json")


def test_patterns_that_are_read_again(tmp_path):
    """A hexadecimal digit may follow a code; what the empty text matches is refused when it is written."""
    tokens = [bytes([value]) for value in range(256)]
    tok = bpe.Tokenizer(token_bytes=tokens, merges=[], pattern=r"[a-z]-1|[^-]|-")
    tok.save_huggingface(tmp_path / "tokenizer.json")
    assert (
        r"\x2d1"
        in json.loads((tmp_path / "tokenizer.json").read_text())["pre_tokenizer"]["pretokenizers"][0][
            "pattern"
        ]["Regex"]
    )
    again = Tokenizer.load(tmp_path / "tokenizer.json")
    assert again.pattern.split("a-1-b") == tok.pattern.split("a-1-b") == ["a-1", "-", "b"]
    empty = bpe.Tokenizer(token_bytes=tokens, merges=[], pattern="a*|(?=1)")
    with pytest.raises(ValueError, match=r"cannot be rewritten for this format: .*match the empty text"):
        empty.save_huggingface(tmp_path / "tokenizer.json")
    assert Tokenizer.load(tmp_path / "tokenizer.json") == again


def test_an_unknown_character_is_named(tmp_path):
    model = {"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": []}
    document = {"version": "1.0", "added_tokens": [], "model": model}
    (tmp_path / "tokenizer.json").write_text(json.dumps(document))
    tok = Tokenizer.load(tmp_path / "tokenizer.json")
    for encode in (tok.encode, tok.encode_with_offsets):
        with pytest.raises(ValueError, match="the text has '\U0001f600', which no token"):
            encode("ab\U0001f600a\u00e9")
