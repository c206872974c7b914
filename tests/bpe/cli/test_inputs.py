"""What the commands read: formats, patterns, texts that are not what they are read as."""

import gzip
import io
import re
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner

import bpe
from bpe import cli
from bpe.cli.options import OTHER_NAMES, PATTERN_HELP, PATTERNS, oddity
from bpe.splitting.pattern import _OTHER_NAMES
from tests.optional import optional

pyarrow = optional("pyarrow")
parquet = optional("pyarrow.parquet")

LINES = b'{"text": "the sea"}\n{"text": "the <|end|>"}\n'


@pytest.fixture
def folder(tokenizer, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tokenizer.save("tok.json")
    Path("lines.txt").write_bytes(LINES)
    Path("lines.jsonl").write_bytes(LINES)
    Path("sea.txt").write_text("the sea")
    Path("special.txt").write_text("the <|end|> of the sea")
    return tmp_path


def run(*arguments, stdin=None):
    return CliRunner().invoke(cli.main, [str(argument) for argument in arguments], input=stdin)


def counts_of(*arguments, stdin=None):
    result = run("count-words", *arguments, "-o", "c", stdin=stdin)
    assert result.exit_code == 0, result.output
    return dict(bpe.WordCounts.load("c").items()), result.stderr


# ------------------------------------------------------------------------------------------------- patterns
def test_names_of_patterns(folder):
    assert tuple(bpe.PATTERNS) == PATTERNS
    assert tuple(_OTHER_NAMES) == OTHER_NAMES
    for name in PATTERNS + OTHER_NAMES:
        assert re.search(rf"\b{name}\b", PATTERN_HELP)
    for command in ("train", "count-words", "convert"):
        assert "cl100k_base" in run(command, "--help").stdout
        complete = ShellComplete(cli.main, {}, "bpe", "_BPE_COMPLETE")
        found = complete.get_completions([command, "--pattern"], "cl")
        assert [item.value for item in found] == ["cl100k", "cl100k_base"]


@pytest.mark.parametrize("command", [["count-words"], ["train", "--vocab-size", "300"], ["convert"]])
def test_an_empty_pattern_is_refused(folder, command):
    output = ["new.json"] if command == ["convert"] else ["-o", "new.json"]
    result = run(*command, "sea.txt", *output, "--pattern", "")
    assert result.exit_code == 2
    assert re.fullmatch(
        r"bpe: Invalid value for '--pattern': it is empty: is a variable not set\? Give one of gpt2, .*\n",
        result.stderr,
    )


# -------------------------------------------------------------------------------------------------- formats
def test_the_format_of_standard_input(folder):
    wanted, told = counts_of("lines.jsonl")
    assert "warning" not in told
    assert counts_of("-", "--format", "jsonl", stdin=LINES)[0] == wanted
    table = io.BytesIO()
    parquet.write_table(pyarrow.table({"text": ["the sea", "the <|end|>"]}), table)
    assert counts_of("-", "--format", "parquet", stdin=table.getvalue())[0] == wanted
    assert counts_of("lines.txt", "--format", "jsonl")[0] == wanted
    as_text, told = counts_of("lines.jsonl", "--format", "text")
    assert as_text[b"text"] == 2
    assert "warning" not in told
    encoded = run("encode", "tok.json", "-", "--format", "jsonl", "--ordinary", stdin=LINES)
    assert encoded.stdout.count("\n") == 2
    assert "'csv' is not one of" in run("count-words", "-", "--format", "csv", "-o", "c").stderr


def test_the_format_of_a_corpus(folder):
    with pytest.raises(ValueError, match="format must be one of 'text', 'jsonl', 'parquet', not 'csv'"):
        bpe.Corpus(Path("sea.txt"), format="csv")
    corpus = bpe.Corpus([Path("lines.txt"), Path("sea.txt")], format="text")
    assert [b"".join(document) for document in corpus.documents()] == [LINES, b"the sea"]


# ----------------------------------------------------------------------------------------- the first bytes
@pytest.mark.parametrize(
    ("begin", "problem"),
    [
        (LINES, "looks like JSON lines"),
        (b"\xef\xbb\xbf" + LINES, "looks like JSON lines"),
        (b'{"text": "a line that is cut', "looks like JSON lines"),
        (b'{\n  "text": 1\n}\n', ""),
        (b"{a}\n", ""),
        (b"[1, 2]\n", ""),
        (b"PAR1....", "looks like Parquet"),
        (b'{\n"format": "bpe-structures"', "is a tokenizer"),
        (gzip.compress(b"the sea", mtime=0), "is compressed"),
        ("the sea".encode("utf-16"), "looks like UTF-16"),
        ("the naïve sea".encode("latin-1"), "not UTF-8"),
        ("naïve".encode()[:3], ""),
        ("the sea, 海".encode(), ""),
        (b"", ""),
    ],
)
def test_oddities(begin, problem):
    found = oddity(begin, has_errors=False, is_text=False)
    assert found.startswith(problem)
    assert bool(found) == bool(problem)
    if "JSON" in problem or "Parquet" in problem:
        assert oddity(begin, has_errors=False, is_text=True) == ""
    if "UTF" in problem:
        assert oddity(begin, has_errors=True, is_text=False) == ""


def test_one_note_for_each_oddity(folder):
    for name in ("a.txt", "b.txt", "c.txt"):
        Path(name).write_bytes(b"caf\xe9s")
    found, told = counts_of("lines.txt", "a.txt", "b.txt", "c.txt")
    assert found[b"\xe9"] == 3
    lines = told.splitlines()
    assert lines[0].startswith(
        "bpe: warning: lines.txt: looks like JSON lines, and is read as text: add --format"
    )
    assert lines[1] == (
        "bpe: warning: a.txt: not UTF-8: its bytes are kept as they are. --errors strict stops and says "
        "where it is wrong (and 2 more)"
    )
    assert len(lines) == 3
    assert "warning" not in counts_of("a.txt", "--errors", "keep")[1]
    assert "warning" not in counts_of("a.txt", "lines.txt", "--quiet")[1]
    assert "looks like JSON lines" in counts_of("-", stdin=LINES)[1]
    result = run("train", "-", "--vocab-size", 258, "-o", "new.json", stdin=LINES * 20)
    assert result.stderr.startswith("bpe: warning: standard input: looks like JSON lines")
    assert bpe.Tokenizer.load("new.json").vocab_size == 258, "what was looked at is read"


# ------------------------------------------------------------------------------------ refused special tokens
@pytest.mark.parametrize("output", [[], ["-o", "ids.bin"]])
def test_a_refused_special_token_names_its_file_and_what_to_do(folder, output):
    advice = r"To encode it as a special token, use --allow-special; to encode it as text, --ordinary\n"
    result = run("encode", "tok.json", "sea.txt", "special.txt", *output)
    assert re.fullmatch(
        rf"bpe: special\.txt holds the special token '<\|end\|>' at byte 4\. {advice}", result.stderr
    )
    result = run("encode", "tok.json", "sea.txt", "lines.jsonl", "special.txt", *output)
    assert re.match(r"bpe: lines\.jsonl, document 1 holds the special token '<\|end\|>'", result.stderr)
    result = run("encode", "tok.json", *output, stdin="<|end|>")
    assert re.match(r"bpe: standard input holds the special token '<\|end\|>' at byte 0", result.stderr)


def test_names_of_documents(folder):
    corpus = bpe.Corpus([Path("sea.txt"), Path("lines.jsonl"), "a text", "another", Path("special.txt")])
    assert len(list(corpus.documents())) == 6
    assert [corpus.name_of_document(number) for number in range(6)] == [
        "sea.txt",
        "lines.jsonl, document 0",
        "lines.jsonl, document 1",
        "document 3",
        "document 4",
        "special.txt",
    ]
