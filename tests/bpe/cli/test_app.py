import errno
import gzip
import io
import json
import os
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import bpe
from bpe import cli
from bpe.cli.progress import human
from bpe.id_files.output import Output
from bpe.tokenizer import Tokenizer
from tests.forks import Child

COMMANDS = sorted(cli.main.commands)


@pytest.fixture
def folder(tokenizer, book, tmp_path, monkeypatch):
    """A folder to work in, with a tokenizer and some texts."""
    monkeypatch.chdir(tmp_path)
    tokenizer.save("tok.json")
    (tmp_path / "book.txt").write_text(book[:5000], "utf-8")
    (tmp_path / "odd.txt").write_bytes(b"caf\xc3\xa9 \xff\x00\r\n the sea")
    (tmp_path / "special.txt").write_text("the <|end|> of the sea")
    (tmp_path / "empty.txt").touch()
    (tmp_path / "folder").mkdir()
    (tmp_path / "bad.jsonl").write_text('{"text": "cut o')
    (tmp_path / "records.jsonl").write_text('{"text": "the sea"}\n{"text": "the <|end|>"}\n' * 3)
    (tmp_path / "text.gz").write_bytes(gzip.compress(b"the sea")[:-5])
    counts = bpe.count_words([book[:5000]])
    counts.save("book.counts")
    (tmp_path / "half.counts").write_bytes((tmp_path / "book.counts").read_bytes()[:100])
    bpe.WordCounts({"the": 5}, pattern="o200k").save("other.counts")
    return tmp_path


def run(*arguments, stdin=None):
    return CliRunner().invoke(cli.main, [str(argument) for argument in arguments], input=stdin)


def fails(result, message, code=2):
    assert result.exit_code == code, result.output
    assert re.search(message, result.stderr), result.stderr
    assert result.stderr.startswith("bpe: ")
    assert result.stderr.count("\n") == 1, "one line"
    assert result.stdout == ""


# ----------------------------------------------------------------------------------------------- help
@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS)])
def test_help_has_an_example(command):
    for option in ("-h", "--help"):
        result = run(*command, option)
        assert result.exit_code == 0
        assert "Example:\n    " in result.stdout
        assert result.stderr == ""


def test_wrong_usage():
    fails(run("trian"), "No such command 'trian'")
    fails(run("train"), "Missing (argument|option)")
    fails(run("encode"), "Missing argument 'TOKENIZER'")
    fails(run("encode", "a", "b", "--nonsense"), "No such option")
    fails(run("train", "a", "-o", "b", "--vocab-size", "many"), "'many' is not a valid int")
    fails(run("train", "a", "-o", "b", "--vocab-size", "300", "--ties", "odd"), "'odd' is not one of")
    assert run("--version").stdout.strip().endswith(bpe.__version__)


# ---------------------------------------------------------------------------------------------- train
def test_train(folder):
    result = run(
        *("train", "book.txt", "special.txt", "--vocab-size", 300, "--pattern", "cl100k"),
        *(
            "--special-token",
            "<|end|>",
            "--special-token",
            "<|fim|>",
            "--min-count",
            2,
            "--ties",
            "lexicographic",
        ),
        *("-o", "new.json"),
    )
    assert result.exit_code == 0, result.output
    assert result.stdout == ""
    assert re.fullmatch(r"new\.json: 300 tokens, .*\n", result.stderr), "a bar needs a terminal"
    paths = [folder / "book.txt", folder / "special.txt"]
    expected = bpe.train(
        paths,
        vocab_size=300,
        pattern="cl100k",
        special_tokens=["<|end|>", "<|fim|>"],
        min_count=2,
        ties="lexicographic",
        progress=False,
    )
    assert Tokenizer.load("new.json") == expected
    assert expected.special_tokens == {"<|end|>": 298, "<|fim|>": 299}


def test_train_from_standard_input(folder):
    text = (folder / "book.txt").read_bytes()
    assert run("train", "-", "--vocab-size", 280, "-o", "one.json", "--quiet", stdin=text).output == ""
    assert run("train", "book.txt", "--vocab-size", 280, "-o", "two.json", "--quiet").output == ""
    assert Tokenizer.load("one.json") == Tokenizer.load("two.json")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing.txt"], r"no such file: missing\.txt"),
        (["book.txt", "missing.txt"], r"no such file: missing\.txt"),
        (["no*.txt"], r"no file matches no\*\.txt"),
        (["folder"], r"the folder folder has no \.txt, \.jsonl, \.parquet files: name others by"),
        (["bad.jsonl"], r"bad\.jsonl, line 1 at byte 0: not JSON"),
        (["records.jsonl", "--field", "body"], r"there is no field 'body'; the fields are: 'text'"),
        (["odd.txt", "--errors", "strict"], r"odd\.txt: not UTF-8 at byte 6.*--errors"),
        (["text.gz"], r"text\.gz: gz data damaged or cut off at byte"),
        (
            ["book.counts", "--special-token", "<a>"],
            "files of counts already have a pattern and special tokens",
        ),
        (["book.counts", "--pattern", "gpt2"], "files of counts already have a pattern"),
        (["book.counts", "book.txt"], r"book\.counts holds counts, book\.txt does not: count the text first"),
        (["book.counts", "other.counts"], r"other\.counts: counts with different patterns"),
        (["book.counts", "half.counts"], r"bpe: half\.counts: cut off at byte 100"),
        (["book.txt", "--threads", "0"], "--threads.*0 is not in the range"),
        (["empty.txt"], r"the corpus is empty.*empty\.txt"),
        (["book.txt", "--vocab-size", "255"], "255"),
        (["book.txt", "--vocab-size", "257", "--special-token", "<a>", "--special-token", "<b>"], "257"),
        (["book.txt", "--pattern", "nonsense"], "unknown pattern 'nonsense'.*gpt2, cl100k"),
        (["book.txt", "--pattern", r"\w+("], r"invalid regular expression.*at character 4"),
        (["book.txt", "--special-token", ""], "special token 0 is empty"),
        (["book.txt", "--special-token", "<a>", "--special-token", "<a>"], "duplicate special token"),
        (["book.txt", "--min-count", "0"], "--min-count.*0 is not in the range"),
    ],
)
def test_training_that_fails_leaves_no_file(folder, arguments, message):
    if "--vocab-size" not in arguments:
        arguments = [*arguments, "--vocab-size", "300"]
    (folder / "old.json").write_text("old")
    for output in ("new.json", "old.json"):
        fails(run("train", *arguments, "-o", output), message)
    assert (folder / "old.json").read_text() == "old"
    assert not [name for name in os.listdir() if "new" in name or "tmp" in name]


def test_old_names_name_the_new_ones(folder):
    fails(run("count", "book.txt", "-o", "c"), "^bpe: bpe count -o is now bpe count-words -o$")
    for command in ("audit", "inspect", "report"):
        message = f"^bpe: bpe {command} --text is now an argument: bpe {command} TOKENIZER PATH"
        fails(run(command, "tok.json", "--text", "book.txt"), message)
    for old, new in (
        ("--special", "--special-token"),
        ("--special-first", "--like"),
        ("--alphabet", "--like"),
    ):
        fails(
            run("train", "book.txt", "--vocab-size", 300, "-o", "t", old, "a"), f"^bpe: {old} is now {new}$"
        )


OUTPUTS = {
    "train": ["train", "missing.txt", "--vocab-size", "300"],
    "train-parity": ["train-parity", "missing.counts", "--vocab-size", "300"],
    "count-words": ["count-words", "missing.txt"],
    "encode": ["encode", "missing.json", "missing.txt"],
    "report": ["report", "missing.json", "missing.txt"],
}


@pytest.mark.parametrize("command", OUTPUTS)
def test_output_is_checked_first(folder, command, monkeypatch):
    (folder / "folder.bin").mkdir()
    for output, message in {
        "no/new.bin": "no such folder: .*no$",
        "book.txt/new.bin": r"book\.txt is a file, not a folder$",
        "folder.bin": r"folder\.bin is a folder: a file name is required$",
    }.items():
        fails(run(*OUTPUTS[command], "-o", output), message)

    def refused(**_):  # root is allowed everything
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(tempfile, "TemporaryFile", refused)
    fails(run(*OUTPUTS[command], "-o", "new.bin"), r"no permission to write new\.bin: its folder is /.*$")


@pytest.mark.parametrize(
    ("paths", "corpus"),
    [
        (["book.txt"], "book.txt"),
        (["records.jsonl", "odd.txt"], None),
        (["book.counts"], "book.txt"),
        (["o*.txt"], "odd.txt"),
    ],
)
def test_corpora(folder, paths, corpus):
    assert run("train", *paths, "--vocab-size", 269, "-o", "one.json", "--quiet", "--threads", 2).output == ""
    corpus = [folder / corpus] if corpus else [folder / path for path in paths]
    assert Tokenizer.load("one.json") == bpe.train(corpus, vocab_size=269)


@pytest.mark.filterwarnings("default")
def test_warnings_are_one_line_each(folder):
    result = run("count-words", "book.txt", "--pattern", r"(\w)\1\1|\w+", "-o", "c", "--quiet")
    assert result.exit_code == 0
    assert re.fullmatch("bpe: warning: the split pattern cannot be compiled: .*\n", result.stderr)


# ---------------------------------------------------------------------------------------------- count
def test_count(folder):
    result = run(
        "count-words",
        "book.txt",
        "records.jsonl",
        "--pattern",
        "o200k",
        "--special-token",
        "<|end|>",
        "-o",
        "c",
    )
    assert (result.exit_code, result.stdout) == (0, "")
    counts = bpe.WordCounts.load("c")
    expected = bpe.count_words([folder / "book.txt", folder / "records.jsonl"], "o200k", ["<|end|>"])
    assert counts == expected
    assert list(counts) == list(expected)
    assert re.fullmatch(
        r"c: \d+ distinct pieces, 1\.\d+ thousand in all, from 5\.\d+ kB of text in .* s \(.* [kM]?B/s\)\n",
        result.stderr,
    )
    assert run("count-words", "book.txt", "-o", "c", "--quiet").output == ""


def test_count_as_json(folder):
    result = run("count-words", "-", "--json", "-o", "c", stdin="the sea the sea")
    assert result.stderr == ""
    summary = json.loads(result.stdout)
    assert summary.pop("seconds") > 0
    assert summary.pop("compiling_seconds") >= 0
    assert summary == {
        "output": "c",
        "pattern": "gpt2",
        "special_tokens": [],
        "words": 3,
        "total": 4,
        "text_bytes": 15,
        "corpus_bytes": None,
    }


def test_counts_are_added(folder):
    assert run("count-words", "book.txt", "-o", "1.counts", "--quiet").output == ""
    assert run("count-words", "odd.txt", "-o", "2.counts", "--quiet").output == ""
    result = run("count-words", "1.counts", "2.counts", "-o", "all.counts")
    assert re.fullmatch(
        r"all\.counts: \d+ distinct pieces, [\d.]+ thousand in all, from 5\.\d+ kB of text\n", result.stderr
    )
    expected = bpe.count_words([folder / "book.txt", folder / "odd.txt"])
    assert bpe.WordCounts.load("all.counts") == expected
    fails(run("count-words", "missing.txt", "-o", "c"), r"no such file: missing\.txt")
    fails(run("count-words", "book.txt", "-o", "no/c"), "no such folder: .*no$")
    fails(run("count-words", "empty.txt", "-o", "c"), r"the corpus is empty.*empty\.txt")


def test_fields_and_errors(folder):
    (folder / "x.jsonl").write_bytes(b'{"body": "one"}\n{"body": "\xff"}\n')
    for option in ("--field", "--column"):
        assert (
            run("count-words", "x.jsonl", option, "body", "--errors", "skip", "-o", "c", "--quiet").output
            == ""
        )
        assert dict(bpe.WordCounts.load("c").items()) == {b"one": 1}


def test_extras_that_are_missing(folder, monkeypatch):
    (folder / "x.zst").touch()
    monkeypatch.setitem(sys.modules, "zstandard", None)
    fails(
        run("count-words", "x.zst", "-o", "c"),
        r"reading \.zst files requires the package zstandard: pip install",
    )
    monkeypatch.setitem(sys.modules, "distributed", None)
    for command in (["count-words"], ["train", "--vocab-size", 300]):
        fails(
            run(*command, "book.txt", "-o", "c", "--scheduler", "tcp://127.0.0.1:9"),
            r"requires the package distributed: pip install 'bpe-structures\[dask\]'",
        )


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (0, "0"),
        (999, "999"),
        (999.6, "1 thousand"),
        (1000, "1 thousand"),
        (71_395, "71.4 thousand"),
        (168_000, "168 thousand"),
        (999_900, "1 million"),
        (27_100_000, "27.1 million"),
        (5e12, "5000 billion"),
    ],
)
def test_human_numbers(number, expected):
    assert human(number) == expected


def test_human_sizes():
    assert [human(n, "B") for n in (7, 1234, 114e6)] == ["7 B", "1.23 kB", "114 MB"]


# --------------------------------------------------------------------------------- encode and decode
def test_encode_and_decode(folder, tokenizer):
    for name in ("book.txt", "odd.txt", "empty.txt"):
        data = (folder / name).read_bytes()
        result = run("encode", "tok.json", name)
        assert result.exit_code == 0, result.output
        assert result.stdout.endswith("\n")
        assert [int(word) for word in result.stdout.split()] == tokenizer.encode(data)
        assert run("encode", "tok.json", stdin=data).stdout == result.stdout
        assert run("encode", "tok.json", "-", stdin=data).stdout == result.stdout
        (folder / "ids.txt").write_text(result.stdout)
        assert run("decode", "tok.json", "ids.txt").stdout_bytes == data
        assert run("decode", "tok.json", stdin=result.stdout).stdout_bytes == data


def test_a_line_for_each_document(folder, tokenizer):
    result = run("encode", "tok.json", "records.jsonl", "odd.txt", "--ordinary")
    data = [*[b"the sea", b"the <|end|>"] * 3, (folder / "odd.txt").read_bytes()]
    lines = [tokenizer.encode_ordinary(text) for text in data]
    assert [list(map(int, line.split())) for line in result.stdout.splitlines()] == lines
    result = run("encode", "tok.json", "rec*.jsonl", "odd.txt", "--json", "--ordinary")
    assert [json.loads(line) for line in result.stdout.splitlines()] == lines


def ids_of(name, dtype="uint16"):
    return np.load(name) if name.endswith(".npy") else np.fromfile(name, dtype)


@pytest.mark.parametrize("name", ["ids.npy", "ids.bin"])
def test_encode_to_a_file(folder, tokenizer, name):
    result = run("encode", "tok.json", "odd.txt", "book.txt", "--errors", "keep", "-o", name)
    assert (result.exit_code, result.stdout) == (0, "")
    texts = [(folder / path).read_bytes() for path in ("odd.txt", "book.txt")]
    expected = list(map(tokenizer.encode, texts))
    ids, offsets = ids_of(name), np.load("ids.offsets.npy")
    assert ids.dtype == np.uint16
    assert [ids[: offsets[1]].tolist(), ids[offsets[1] :].tolist()] == expected
    assert re.fullmatch(
        rf"{name}: 2 documents, [\d.]+ thousand tokens as uint16, from 5\.\d+ kB in \d+\.\d s "
        r"\([\d.]+ [kM]?B/s\), 2\.\d{3} bytes a token\n",
        result.stderr,
    )
    given = ["--dtype", "uint16"] if name == "ids.bin" else []
    assert run("decode", "tok.json", name, *given).stdout_bytes == b"".join(texts)


def test_encode_to_a_file_with_options(folder, tokenizer):
    (folder / "x.jsonl.gz").write_bytes(gzip.compress(b'{"body": "<|end|>"}\n{"body": "\xff"}\n'))
    result = run(
        *("encode", "tok.json", "x.jsonl.gz", "--field", "body", "--errors", "skip", "--allow-special"),
        *("--threads", 2, "--dtype", "uint32", "--json", "-o", "ids.bin"),
    )
    assert (result.exit_code, result.stderr) == (0, "")
    assert ids_of("ids.bin", "uint32").tolist() == [tokenizer.special_tokens["<|end|>"]]
    summary = json.loads(result.stdout)
    assert summary.pop("seconds") > 0
    assert summary.pop("compiling_seconds") >= 0
    assert os.path.samefile(summary.pop("offsets"), "ids.offsets.npy")
    assert summary == {
        "output": "ids.bin",
        "dtype": "uint32",
        "documents": 1,
        "tokens": 1,
        "text_bytes": 7,
        "resumed": False,
    }
    assert run("encode", "tok.json", "empty.txt", "-o", "ids.bin", "--quiet").output == ""
    assert ids_of("ids.bin").tolist() == []
    result = run("encode", "tok.json", "-o", "ids.bin", stdin="the sea")
    assert result.stderr.startswith("ids.bin: 1 document, ")
    assert ids_of("ids.bin").tolist() == tokenizer.encode("the sea")
    assert "0 tokens as uint16, from 0 B" in run("encode", "tok.json", "empty.txt", "-o", "ids.bin").stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["odd.txt", "-o", "no/ids.npy"], "no such folder"),
        (["odd.txt", "-o", "book.txt/ids.npy"], r"book\.txt is a file, not a folder"),
        (["odd.txt", "-o", "ids.txt"], r"-o ids\.txt: the name must end in \.bin .*, \.npy"),
        (["odd.txt", "-o", "ids.npy", "--dtype", "int8"], "'int8' is not one of"),
        (["odd.txt", "--dtype", "uint16"], "--dtype requires -o"),
        (["odd.txt", "--ordinary", "--allow-special"], "cannot be given together"),
        (
            ["special.txt", "-o", "ids.npy"],
            r"special\.txt holds the special token .* byte 4\. .*--ordinary$",
        ),
        (["bad.jsonl", "-o", "ids.npy"], r"bad\.jsonl, line 1 at byte 0: not JSON"),
        (["text.gz", "-o", "ids.npy"], r"text\.gz: gz data damaged or cut off"),
        (["odd.txt", "--errors", "strict", "-o", "ids.npy"], r"odd\.txt: not UTF-8 at byte 6.*--errors"),
        (["records.jsonl", "--field", "body", "-o", "ids.bin"], "there is no field 'body'"),
        (["no*.txt", "-o", "ids.bin"], r"no file matches no\*\.txt"),
        (["missing.txt", "-o", "ids.bin"], r"no such file: missing\.txt"),
    ],
)
def test_encode_that_fails_leaves_no_file(folder, arguments, message):
    before = sorted(os.listdir())
    fails(run("encode", "tok.json", *arguments), message)
    assert sorted(os.listdir()) == before


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX locks")
def test_two_at_once_do_not_write_the_same_file(folder, tokenizer):
    for other in ("ids.bin", "ids.npy"):  # both would have the same file of offsets
        with Output(folder / other, np.dtype("<u2"), "other work") as output:
            output.write(np.array([1, 2]), [2])
            fails(
                run("encode", "tok.json", "book.txt", "-o", "ids.bin"),
                r"ids\.(bin|offsets\.npy): another process is writing it: wait for it to finish",
            )
            output.finish()
        assert ids_of(other).tolist() == [1, 2]
        os.remove(other)
        assert not [name for name in os.listdir() if name.endswith((".part", ".state"))]
    assert run("encode", "tok.json", "odd.txt", "-o", "ids.bin", "--quiet").output == ""
    assert ids_of("ids.bin").tolist() == tokenizer.encode((folder / "odd.txt").read_bytes())


def test_ids_that_do_not_fit(folder):
    tokens = {**{i: bytes([i]) for i in range(256)}, 70_000: b"ab"}
    Tokenizer(token_bytes=tokens, merges=[(97, 98)], pattern="gpt2").save("large.json")
    fails(
        run("encode", "large.json", "book.txt", "-o", "ids.bin", "--dtype", "uint16"),
        "the greatest id is 70000, too much for uint16: use uint32",
    )


def test_wrong_files_of_ids(folder):
    assert run("encode", "tok.json", "odd.txt", "-o", "ids.npy", "--quiet").exit_code == 0
    np.save("floats.npy", np.array([1.5]))
    fails(run("decode", "tok.json", "floats.npy"), r"floats\.npy: an array of 1 dimensions of float64")
    (folder / "half.npy").write_bytes((folder / "ids.npy").read_bytes()[:30])
    fails(run("decode", "tok.json", "half.npy"), r"half\.npy: damaged")
    np.save("objects.npy", np.array([None]), allow_pickle=True)
    fails(run("decode", "tok.json", "objects.npy"), r"objects\.npy: damaged")
    fails(run("decode", "tok.json", "ids.npy", "--dtype", "uint16"), "omit --dtype")
    (folder / "odd.bin").write_bytes(b"1\0\0")
    fails(
        run("decode", "tok.json", "odd.bin"),
        r"not a number\. For a \.bin file, add --dtype",
    )
    fails(
        run("decode", "tok.json", "odd.bin", "--dtype", "uint16"), r"odd\.bin: 3 bytes are not a whole number"
    )
    (folder / "odd.bin").write_bytes(b"\xff\xff")
    fails(run("decode", "tok.json", "odd.bin", "--dtype", "uint16"), r"odd\.bin: ids\[0\]: 65535 is out of")


def test_special_tokens(folder, tokenizer):
    fails(
        run("encode", "tok.json", "special.txt"),
        r"special\.txt holds .* '<\|end\|>' at byte 4\. .*use --allow-special; .*--ordinary$",
    )
    fails(run("encode", "tok.json", stdin="<|end|>"), "standard input holds")
    result = run("encode", "tok.json", "special.txt", "--allow-special")
    assert str(tokenizer.special_tokens["<|end|>"]) in result.stdout.split()
    assert run("decode", "tok.json", stdin=result.stdout).stdout == "the <|end|> of the sea"
    result = run("encode", "tok.json", "special.txt", "--ordinary")
    assert list(map(int, result.stdout.split())) == tokenizer.encode_ordinary("the <|end|> of the sea")


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ("1 2 603", r"standard input: ids\[2\]: 603 is out of range; ids are 0 to 602"),
        ("1 580", r"ids\[1\]: 580 is not used"),
        ("1 -2", r"ids\[1\] is '-2', not a number"),
        ("1, 2", r"ids\[0\] is '1,', not a number"),
        ("\xff", "not a number"),
        ("9" * 5000, "not a number"),
    ],
)
def test_wrong_ids(folder, ids, message):
    fails(run("decode", "tok.json", stdin=ids), message)


@pytest.mark.parametrize("command", ["encode", "decode", "inspect"])
def test_wrong_tokenizers(folder, command):
    fails(run(command, "missing.json"), r"no such file: missing\.json")
    fails(run(command, "book.txt", stdin=""), r"book\.txt: not a tokenizer: it begins with b'")
    fails(
        run(command, "empty.txt", stdin=""),
        r"empty\.txt: not a tokenizer: the file is empty",
    )
    fails(
        run(command, "folder", stdin=""),
        "folder: a folder without a tokenizer. Looked for: tokenizer.json, tek",
    )
    (folder / "folder" / "tokenizer.json").touch()
    fails(run(command, "folder", stdin=""), r"folder: tokenizer\.json: not a tokenizer: the file is empty")
    fails(run(command, "tok.json", "missing.txt"), r"no such file: missing\.txt")


# -------------------------------------------------------------------------------------------- inspect
def test_inspect(folder, tokenizer, merges):
    result = run("inspect", "tok.json", "book.txt")
    assert result.exit_code == 0, result.output
    assert "603 ids, 300 merges, 3 special tokens" in result.stdout
    assert "pattern: gpt2" in result.stdout
    assert "special token 600: '<|end|>'" in result.stdout
    left, right = merges[0]
    first = f"{tokenizer.token_bytes(left)!r} + {tokenizer.token_bytes(right)!r}"
    assert f"first merges:\n       0  {first}\n" in result.stdout
    assert "\n     299  " in result.stdout
    n_tokens = len(tokenizer.encode((folder / "book.txt").read_bytes()))
    assert re.search(r"on book\.txt: 5 kB, 2\.\d+ thousand tokens, 2\.\d{3} bytes a token\n", result.stdout)
    figures = json.loads(run("inspect", "tok.json", "book.txt", "--json").stdout)
    assert figures == {
        "vocab_size": 603,
        "merges": 300,
        "special_tokens": tokenizer.special_tokens,
        "pattern": "gpt2",
        "fingerprint": bpe.ids.fingerprint(tokenizer),
        "texts": [
            {
                "name": "book.txt",
                "documents": 1,
                "text_bytes": (folder / "book.txt").stat().st_size,
                "tokens": n_tokens,
            }
        ],
    }
    assert "texts" not in json.loads(run("inspect", "tok.json", "--json").stdout)
    assert "on standard input: 0 B, 0 tokens\n" in run("inspect", "tok.json", "-").stdout
    assert "on special.txt" in run("inspect", "tok.json", "special.txt").stdout
    Tokenizer(token_bytes=[bytes([i]) for i in range(256)], merges=[], pattern=["a", "b"]).save("plain.json")
    assert "pattern: a then b" in run("inspect", "plain.json").stdout


# ----------------------------------------------------------------------------------------------- diff
def test_diff(folder, tokenizer):
    result = run("diff", "tok.json", "tok.json")
    assert (result.exit_code, result.stdout) == (0, "no difference\n")
    tokenizer.with_vocab_size(600).save("fewer.json")
    result = run("diff", "tok.json", "fewer.json")
    assert result.exit_code == 1
    assert "only in the first: " in result.stdout
    assert "encoded differently: b" in result.stdout


# ------------------------------------------------------------------------------------- real processes
def command(*arguments):
    return [sys.executable, "-m", "bpe", *map(str, arguments)]


@pytest.fixture
def environment(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(bpe.__file__).resolve().parent.parent))


@pytest.mark.usefixtures("environment")
class TestProcesses:
    def test_help_does_not_load_the_compiler(self):
        code = "import sys, bpe.cli; print([m for m in ('numba', 'numpy', 'tqdm') if m in sys.modules])"
        result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert result.stdout == "[]\n"

    def test_pipeline(self, folder):
        data = (folder / "odd.txt").read_bytes()
        encoding = command("encode", "tok.json", "--errors", "keep")
        encoded = subprocess.run(encoding, input=data, capture_output=True, check=True)
        decoded = subprocess.run(
            command("decode", "tok.json"), input=encoded.stdout, capture_output=True, check=True
        )
        assert decoded.stdout == data
        assert encoded.stderr == decoded.stderr == b""

    @pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no full device")
    @pytest.mark.parametrize(
        "arguments",
        [
            ["--help"],
            ["show", "tok.json", "--text", "the sea"],
            ["encode", "tok.json", "book.txt"],
            ["train", "book.txt", "--vocab-size", "300", "--quiet", "-o", "/dev/full"],
        ],
    )
    def test_full_disk(self, folder, arguments):
        with open("/dev/full", "wb") as full:
            result = subprocess.run(command(*arguments), stdout=full, stderr=subprocess.PIPE, check=False)
            name = b"/dev/full" if "-o" in arguments else b"standard output"
            assert (result.returncode, result.stderr) == (2, b"bpe: %s: No space left on device\n" % name)
            result = subprocess.run(command("show", "missing.json", "--text", ""), stderr=full, check=False)
            assert result.returncode == 2

    @pytest.mark.skipif(sys.platform == "win32", reason="POSIX shells")
    @pytest.mark.parametrize(
        ("arguments", "closed", "code"),
        [
            (["encode", "tok.json", "ids.txt", "-o", "ids.bin", "--quiet"], ">&-", 0),
            (["show", "missing.json", "--text", ""], "2>&-", 2),
            (["encode", "tok.json", "-"], "<&-", 0),
        ],
    )
    def test_closed_streams(self, folder, arguments, closed, code):
        (folder / "ids.txt").write_text("1 2")
        shell = ["sh", "-c", f'"$@" {closed}', "sh"]
        result = subprocess.run([*shell, *command(*arguments)], capture_output=True, text=True, check=False)
        assert (result.returncode, result.stdout.strip(), result.stderr) == (code, "", "")

    def test_error(self, folder):
        result = subprocess.run(
            command("encode", "missing.json"), capture_output=True, text=True, check=False
        )
        assert (result.returncode, result.stdout) == (2, "")
        assert result.stderr == "bpe: no such file: missing.json\n"

    @pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
    def test_interrupt(self, folder):
        with Child(
            command("train", "-", "--vocab-size", 300, "-o", "new.json"),
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            process.stdin.write("some text\n" * 100_000)  # more than a pipe can hold: the process is reading
            process.stdin.flush()
            time.sleep(0.5)
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=30)
        assert process.returncode == 130
        assert errors == "bpe: interrupted: nothing was learned yet; new.json was not written\n"
        assert "new.json" not in os.listdir()

    @pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
    @pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
    def test_encoding_is_resumed(self, folder, tokenizer, how):
        """After a run that ends in the middle, the same command completes the file."""
        part = (folder / "book.txt").read_bytes() * 200
        arguments = command("encode", "tok.json", "-", "-o", "ids.bin", "--threads", 1)
        n_parts = 0
        note = Path("ids.bin.state")
        with Child(arguments, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            while not note.exists() or json.loads(note.read_text() or "{}").get("n_bytes", 0) == 0:
                process.stdin.write(part)
                n_parts += 1
                time.sleep(0.05)
            process.send_signal(how)
            _, errors = process.communicate(timeout=30)
        assert process.returncode == (130 if how == signal.SIGINT else -how)
        if how == signal.SIGINT:
            assert errors.split(b"\n") == [
                b"ids.bin: the same command continues from here",
                b"bpe: interrupted",
                b"",
            ]
        assert "ids.bin" not in os.listdir()
        data = part * (n_parts + 1)
        errors = subprocess.run(arguments, input=data, capture_output=True, check=True).stderr
        assert f"from {human(len(data), 'B')}, partly by an earlier run".encode() in errors
        assert np.array_equal(ids_of("ids.bin"), tokenizer.encode_to_numpy(data))

    @pytest.mark.skipif(sys.platform == "win32", reason="POSIX pipes")
    def test_broken_pipe(self, folder):
        (folder / "long.txt").write_text("the sea " * 100_000)
        with Child(
            command("encode", "tok.json", "long.txt"), stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            process.stdout.read(10)
            process.stdout.close()
            assert process.wait(timeout=30) in (0, 1), "0 if all was written before"
            assert process.stderr.read() == b""

    @pytest.mark.parametrize("quiet", [True, False])
    def test_bars_on_a_terminal(self, folder, quiet):
        fcntl, pty, termios = map(pytest.importorskip, ("fcntl", "pty", "termios"))
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        arguments = [
            "train",
            "book.txt",
            "--vocab-size",
            300,
            "-o",
            "new.json",
            "--ties=first",  # which compiled code learns by: in plain Python, there is nothing to show
            *(["--quiet"] if quiet else []),
        ]
        with Child(command(*arguments), stdout=subprocess.PIPE, stderr=theirs) as process:
            os.close(theirs)
            shown = io.BytesIO()
            try:
                while block := os.read(ours, 1000):
                    shown.write(block)
            except OSError:  # the other end is closed
                pass
            assert process.stdout.read() == b""
        os.close(ours)
        assert process.returncode == 0
        assert (b"counting" in shown.getvalue()) is not quiet
        assert (b"merging" in shown.getvalue()) is not quiet
        assert (b"300 tokens" in shown.getvalue()) is not quiet
