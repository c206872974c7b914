"""Numbers of tokens; texts, files and ids as arguments; the list of tokens; the groups of --help."""

import gzip
import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

import bpe
from bpe import cli
from bpe.cli.app import HELP_GROUPS
from bpe.id_files import encode as files
from bpe.tokenizer import Tokenizer

TEXTS = {"one.txt": b"the sea the sea", "odd.txt": b"caf\xc3\xa9 \xff\x00 the", "empty.txt": b""}
LINES = ["the sea", "a ship of the sea", ""]


@pytest.fixture
def folder(tokenizer, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tokenizer.save("tok.json")
    for name, data in TEXTS.items():
        Path(name).write_bytes(data)
    lines = "".join(json.dumps({"text": line, "body": line * 2}) + "\n" for line in LINES)
    Path("lines.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    Path("special.txt").write_text("the <|end|> of the sea")
    Path("7").write_text("1 2 3")
    return tmp_path


def run(*arguments, stdin=None):
    return CliRunner().invoke(cli.main, [str(argument) for argument in arguments], input=stdin)


def out_of(*arguments, stdin=None):
    result = run(*arguments, stdin=stdin)
    assert (result.exit_code, result.stderr) == (0, ""), result.output
    return result.stdout


def fails(result, message):
    assert (result.exit_code, result.stdout) == (2, "")
    assert re.fullmatch(f"bpe: {message}\n", result.stderr), result.stderr


# ----------------------------------------------------------------------------------------------- count
def test_a_line_for_each_file(folder, tokenizer):
    expected = {name: len(tokenizer.encode(data)) for name, data in TEXTS.items()}
    expected["lines.jsonl.gz"] = sum(len(tokenizer.encode(line)) for line in LINES)
    shown = out_of("count", "tok.json", *expected, "-q").splitlines()
    assert [line.split() for line in shown] == [
        *([str(n), name] for name, n in expected.items()),
        [str(sum(expected.values())), "total"],
    ]
    assert len({len(line) - len(line.split()[1]) for line in shown}) == 1, "numbers are aligned"
    assert out_of("count", "tok.json", "one.txt") == f"{expected['one.txt']}  one.txt\n"
    shown = out_of("count", "tok.json", "lines.jsonl.gz", "--field", "body", "-j", 2)
    assert int(shown.split()[0]) == sum(len(tokenizer.encode(line * 2)) for line in LINES)


def test_only_the_number(folder, tokenizer):
    expected = f"{len(tokenizer.encode('the sea'))}\n"
    assert out_of("count", "tok.json", "--text", "the sea") == expected
    assert out_of("count", "tok.json", stdin="the sea") == expected
    assert out_of("count", "tok.json", "-", stdin="the sea") == expected
    assert out_of("count", "tok.json", stdin="") == "0\n"


def test_counts_as_json(folder, tokenizer):
    summary = json.loads(out_of("count", "tok.json", "one.txt", "lines.jsonl.gz", "--json"))
    assert summary.pop("seconds") > 0
    assert summary.pop("compiling_seconds") >= 0
    one, lines = len(tokenizer.encode(TEXTS["one.txt"])), sum(map(len, tokenizer.encode_batch(LINES)))
    n_bytes = sum(map(len, LINES))
    assert summary == {
        "tokens": one + lines,
        "files": [
            {"name": "one.txt", "documents": 1, "text_bytes": 15, "tokens": one},
            {"name": "lines.jsonl.gz", "documents": 3, "text_bytes": n_bytes, "tokens": lines},
        ],
    }


@pytest.mark.parametrize("threads", [1, 2])
def test_as_many_as_encode_gives(folder, book, tokenizer, threads, monkeypatch):
    """Long texts are counted in stretches, several of them at once, and none is kept."""
    monkeypatch.setattr(files, "BATCH_BYTES", 700)
    read, cut = bpe.Corpus.documents, []
    monkeypatch.setattr(bpe.Corpus, "documents", lambda self, advance: read(self, advance, block_bytes=500))
    stretches_of = files._stretches_of
    monkeypatch.setattr(
        files, "_stretches_of", lambda *given: (cut.append(each) or each for each in stretches_of(*given))
    )
    text = book[:20_000] + "<|end|>" + book[20_000:30_000]
    Path("book.txt").write_text(text, "utf-8")
    for option, rules in (
        ("--allow-special", {"allowed_special": "all"}),
        ("--ordinary", {"disallowed_special": ()}),
    ):
        shown = out_of("count", "tok.json", "book.txt", "odd.txt", option, "-j", threads, "-q").splitlines()
        expected = [len(tokenizer.encode(data, **rules)) for data in (text, TEXTS["odd.txt"])]
        assert [int(line.split()[0]) for line in shown] == [*expected, sum(expected)]
    assert len(cut) > 20


def test_special_tokens_must_be_explained(folder):
    fails(
        run("count", "tok.json", "special.txt"),
        r"special\.txt holds the special token '<\|end\|>' at byte 4\. .*--ordinary",
    )
    assert int(out_of("count", "tok.json", "--text", "<|end|>", "--allow-special")) == 1
    fails(run("count", "tok.json", "--ordinary", "--allow-special"), ".*cannot be given together")


def test_counts_of_words_have_another_command(folder):
    for option in ("-o", "--output"):
        fails(run("count", "one.txt", option, "c"), f"bpe count {option} is now bpe count-words {option}")


# ------------------------------------------------------------------------------------- texts, files, ids
def test_a_text_itself(folder, tokenizer):
    ids = tokenizer.encode("the sea")
    assert out_of("encode", "tok.json", "--text", "the sea") == f"{' '.join(map(str, ids))}\n"
    assert out_of("decode", "tok.json", *ids) == "the sea"
    assert out_of("decode", "tok.json", "./7") == tokenizer.decode([1, 2, 3])
    assert out_of("show", "tok.json", "--text", "the sea") == out_of("show", "tok.json", stdin="the sea")
    assert out_of("show", "tok.json", "one.txt", "lines.jsonl.gz").count("\n") == 4
    assert json.loads(out_of("encode", "tok.json", "--text", "", "--json")) == []


@pytest.mark.parametrize("command", ["count", "encode", "show"])
def test_a_text_in_place_of_a_file(folder, command):
    hint = r"\. A text itself is given with --text"
    fails(run(command, "tok.json", "the sea"), f"no such file: the sea{hint}")
    fails(run(command, "tok.json", "how are you?"), rf"no file matches how are you\?{hint}")
    fails(run(command, "tok.json", "long " * 1000), f"no such file: (long )+{hint}".replace(" )+", " ?)+"))
    fails(run(command, "tok.json", "one.txt", "--text", "x"), "--text and files cannot be given together")


@pytest.mark.parametrize("command", ["count", "encode", "show"])
def test_a_file_in_place_of_a_text(folder, command):
    result = run(command, "tok.json", "--text", "one.txt")
    assert result.exit_code == 0
    assert result.stderr == (
        "bpe: warning: --text one.txt: this is the text itself, not the file of this name: "
        "to read the file, omit --text\n"
    )


def test_ids_as_arguments(folder, tokenizer):
    result = run("decode", "tok.json", "7")
    assert result.stdout == tokenizer.decode([7])
    assert "taken as an id, but it is also a file: for that, write ./7\n" in result.stderr
    fails(
        run("decode", "tok.json", "1", "one.txt"), r"one\.txt is not an id; give ids as numbers, or one file"
    )
    fails(run("decode", "tok.json", "the sea"), "no such file: the sea: ids are given as numbers .*")
    fails(run("decode", "tok.json", "1", "9999"), r"the arguments: ids\[1\]: 9999 is out of range; .*")
    fails(run("decode", "tok.json", "1", "--dtype", "uint16"), "--dtype is for files, not for ids .*")


# ------------------------------------------------------------------------------------------------- vocab
def test_vocab(folder, tokenizer):
    lines = out_of("vocab", "tok.json").splitlines()
    assert [int(line.split("\t")[0]) for line in lines] == [*tokenizer.vocab]
    assert lines[32:34] == ["32\t ", "33\t!"]
    assert lines[255] == "255\t<FF>"
    assert lines[-3] == "600\t<|end|>"
    assert out_of("show", "tok.json", "--text", "the", "--ids").split()[1] in "".join(lines)
    entries = json.loads(out_of("vocab", "tok.json", "--json"))
    assert {entry["id"]: bytes.fromhex(entry["bytes"]) for entry in entries} == tokenizer.vocab


# --------------------------------------------------------------------------------------------- languages
def test_languages_from_texts(folder):
    """Train-parity reads what train reads."""
    for name, text in (("en", "the sea the ship"), ("de", "die See das Schiff")):
        (folder / name).mkdir()
        (folder / name / "a.txt").write_text(text)
        out_of("count-words", name, "--special-token", "<|end|>", "-o", f"{name}.counts", "-q")
    given = ["--dev", "en=en", "--dev", "de=de.counts", "--vocab-size", "262"]
    special = ["--special-token", "<|end|>", "--pattern", "gpt2", "-q"]
    out_of("train-parity", "en.counts", "de.counts", "-o", "1.json", *given, "-q")
    summary = json.loads(
        out_of(
            "train-parity",
            "en",
            "de",
            "-o",
            "2.json",
            "--dev",
            "en=en",
            "--dev",
            "de=de",
            *given[4:],
            *special,
            "--json",
        )
    )
    assert Tokenizer.load("1.json") == Tokenizer.load("2.json")
    assert (summary["tokens"], summary["text_bytes"]) == (262, 34)


# -------------------------------------------------------------------------------------------------- help
def test_help_in_groups(folder):
    shown = out_of("train", "--help")
    options = shown.partition("Vocabulary:\n")[2]
    assert options.startswith("  --vocab-size N ")
    titles = re.findall(r"^(\w[\w ]*):$", shown.partition("Example:")[2], re.MULTILINE)
    used = [title for title in HELP_GROUPS if title in titles]
    assert titles == [*used, "Other options"]
    assert len(titles) >= 6


@pytest.mark.parametrize("command", sorted(cli.main.commands))
def test_help_leaves_no_option_out(command):
    shown = out_of(command, "--help")
    for option in cli.main.commands[command].params:
        if option.param_type_name == "option":
            assert option.opts[-1] in shown
            assert len(re.findall(rf"^  .*{option.opts[-1]}[, \n]", shown, re.MULTILINE)) >= 1


def test_groups_name_options_that_exist():
    known = {option.name for command in cli.main.commands.values() for option in command.params}
    grouped = [name for names in HELP_GROUPS.values() for name in names]
    assert [name for name in grouped if name not in known] == []


def test_every_option_has_a_group(folder):
    """Where there are groups, only --help is beside them."""
    for command in cli.main.commands:
        _, title, others = out_of(command, "--help").partition("Other options:\n")
        assert not title or others.split()[:2] == ["-h,", "--help"], f"{command}: see HELP_GROUPS"


def test_short_names_of_options(folder):
    assert out_of("-V") == out_of("--version")
    run("train", "one.txt", "--vocab-size", 258, "--min-frequency", 2, "-j", 1, "-q", "-o", "1.json")
    assert Tokenizer.load("1.json") == bpe.train([Path("one.txt")], 258, min_count=2)
    fails(run("count", "tok.json", "one.txt", "-q", "-v"), "--quiet and --progress cannot be given together")
