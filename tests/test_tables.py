"""The commands that print tables run at tiny sizes: both sides agree, and every row comes out."""

import importlib
import importlib.util
import json
import re
from pathlib import Path

import pytest

import bpe
import structures  # noqa: F401  # loads numba: the commands then leave the choice of its cache be
from tests.optional import required

FOLDER = Path(__file__).parents[1] / "asv_benchmarks"
ROW = re.compile(r"\| .* \| [\d.]+ (ns|µs) \| [\d.]+ (ns|µs) \| [\d.]+ \|")


@pytest.mark.parametrize(
    ("command", "needed", "n_rows"),
    [("k_best_table", (), 16), ("examples_table", ("scipy", "skimage"), 13), ("heaps_table", (), 8)],
)
def test_small(capsys, monkeypatch, command, needed, n_rows):
    for name in needed:
        required(name)
    monkeypatch.syspath_prepend(FOLDER)
    importlib.import_module(command).main(["--small"])
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("|")][2:]
    assert all(ROW.fullmatch(row) for row in rows), rows
    assert len(rows) == n_rows


def test_figures_takes_all_tables():
    """``.ci/figures`` has each command whose figures a page shows."""
    root = FOLDER.parent
    pages = [root / "README.md", *(root / "docs").rglob("*.rst")]
    shown = set()
    for page in pages:
        shown.update(
            re.findall(r"(\w+_(?:table|chart|plots|law|training|stream))\.py", page.read_text("utf-8"))
        )
    script = (root / ".ci" / "figures").read_text("utf-8")
    assert len(shown) > 10
    assert [name for name in sorted(shown) if name not in script] == []
    assert [name for name in sorted(shown) if not (FOLDER / f"{name}.py").exists()] == []


def test_cluster(capsys, monkeypatch, tmp_path):
    required("distributed")
    (tmp_path / "text.txt").write_text("the sea and the ship\n" * 100)
    monkeypatch.syspath_prepend(FOLDER)
    command = importlib.import_module("cluster_table").main
    command([str(tmp_path / "text.txt"), "--small"], standalone_mode=False)
    rows = capsys.readouterr().out.splitlines()[2:]
    assert len(rows) == 1
    assert re.fullmatch(r"\| 2 \| 1 \| [\d.]+ \| [\d.]+ \|", rows[0])


def test_growth(capfd, monkeypatch):
    """What it takes depends on the machine."""
    monkeypatch.syspath_prepend(FOLDER)
    importlib.import_module("growth_table").main(["--small"])
    rows = re.findall(
        r"^\| (\w+).* \| [\d.]+ \| [\d.]+ \| -?[\d.]+ \| -?[\d.]+ \|$", capfd.readouterr().out, re.M
    )
    assert rows == ["IntMap", "MaxHeap", "MinHeap"]


def test_loading(capsys, monkeypatch, tmp_path):
    required("tokenizers")
    path = tmp_path / "tokenizer.json"
    bpe.train(["low lower"], vocab_size=259, pattern="gpt2", progress=False).save_huggingface(path)
    monkeypatch.syspath_prepend(FOLDER)
    importlib.import_module("loading_table").main([str(path), "--rounds", "1"])
    rows = capsys.readouterr().out.splitlines()[2:]
    assert len(rows) == 1
    assert re.fullmatch(rf"\| {re.escape(str(path))} \| [\d.]+ \| [\d.]+ \| [\d.]+ \|", rows[0])


def test_loading_checks_ids(monkeypatch):
    tokenizers = required("tokenizers")
    monkeypatch.syspath_prepend(FOLDER)
    ours = bpe.train(["low lower"], vocab_size=259, pattern="gpt2", progress=False)
    other = bpe.train(["Hello, Hello"], vocab_size=259, pattern="gpt2", progress=False).to_huggingface()
    assert isinstance(other, tokenizers.Tokenizer)
    with pytest.raises(SystemExit, match="give other ids"):
        importlib.import_module("loading_table").check(ours, other, "a file")


@pytest.fixture
def wild(monkeypatch, tmp_path):
    """Return a command, and a folder of small tokenizers: of both kinds, and two that are damaged."""
    required("tokenizers")
    monkeypatch.syspath_prepend(FOLDER)
    module = importlib.import_module("wild_tokenizers")
    monkeypatch.setattr(module, "RUN", 20)
    names = ["of_bytes", "of_text/package", "damaged", "no_flags"]
    files = [tmp_path / name / "tokenizer.json" for name in names]
    for file in files:
        file.parent.mkdir(parents=True)
    bpe.train(["low lower"], 260, special_tokens=["<|end|>"], progress=False).save_huggingface(files[0])
    tokens = ["?", *(f"<0x{value:02X}>" for value in range(256)), "l", "o", "lo"]
    vocab = {token: number for number, token in enumerate(tokens)}
    model = {"type": "BPE", "vocab": vocab, "merges": ["l o"], "unk_token": "?", "byte_fallback": True}
    flags = {"id": 0, "content": "?", "special": True, "lstrip": True}
    flags |= dict.fromkeys(("rstrip", "single_word", "normalized"), False)
    document = {
        "version": "1.0",
        "added_tokens": [flags],
        "normalizer": {"type": "Prepend", "prepend": "\u2581"},
        "decoder": {"type": "Sequence", "decoders": [{"type": "ByteFallback"}, {"type": "Fuse"}]},
        "model": model,
    }
    files[1].write_text(json.dumps(document))
    files[2].write_text("{")
    files[3].write_text(json.dumps(document | {"added_tokens": [{"id": 0, "content": "?"}]}))
    return module


def rows_of_wild(module, folder, capsys):
    """Return what the command exits with, its rows by name, and the differences."""
    text = folder / "text.txt"
    text.write_text("low lower ? slowest? <|end|>\n" * 3)
    with pytest.raises(SystemExit) as stopped:
        module.main([str(folder), "--bytes", "50", "--texts", str(text), str(text)])
    lines = capsys.readouterr().out.splitlines()
    rows = [line.strip("| ").split(" | ") for line in lines if line.startswith("|")][2:]
    return stopped.value.code, {row[0]: row[1:] for row in rows}, [line for line in lines if line[:1] == "*"]


def test_wild_tokenizers(capsys, wild, tmp_path):
    code, rows, notes = rows_of_wild(wild, tmp_path, capsys)
    assert (code, notes) == (0, [])
    assert sorted(rows) == ["damaged", "no_flags", "of_bytes", "of_text"]
    assert "not JSON" in rows["damaged"][1]
    assert rows["no_flags"][1].startswith("yes, but not by tokenizers: missing field")
    for name, kind in (("of_bytes", "byte-level"), ("of_text", "text")):
        first, *compared, speed = rows[name]
        assert first == kind
        assert {*compared} <= {"yes", "-"}
        assert compared[:6] == ["yes"] * 6
        assert float(speed) > 0


@pytest.mark.parametrize(
    ("method", "columns"),
    [
        ("encode", ["ids", "ids, special tokens as text", "ids with the post-processor"]),
        ("decode", ["decoded", "decoded without special tokens"]),
        ("encode_with_offsets", ["offsets"]),
    ],
)
def test_wild_tokenizers_that_differ(capsys, monkeypatch, wild, tmp_path, method, columns):
    right = getattr(bpe.Tokenizer, method)

    def wrong(*arguments, **options):
        result = right(*arguments, **options)
        return (result[0], result[1], result[2] + 1) if method == "encode_with_offsets" else result[:-1]

    monkeypatch.setattr(bpe.Tokenizer, method, wrong)
    code, rows, notes = rows_of_wild(wild, tmp_path, capsys)
    assert code == 1
    for name in ("of_bytes", "of_text"):
        of_name = [note for note in notes if note.startswith(f"* {name}, ")]
        assert [note.removeprefix(f"* {name}, ").split(": ")[0] for note in of_name] == columns
        assert sum(cell.startswith("no: ") for cell in rows[name]) == len(columns)


def test_wild_files_that_differ(wild):
    """The saved file loses a flag."""
    one, other = ({"added_tokens": [{"content": "?", "lstrip": flag}], "x": 1} for flag in (True, False))
    assert list(wild.different_parts(one, one)) == []
    assert list(wild.different_parts(one, other)) == [".added_tokens[0].lstrip: saved True, given False"]
    assert list(wild.different_parts([1], [1, 2])) == [": saved [1], given [1, 2]"]


def test_parity(capsys, monkeypatch, tmp_path):
    required("tokenizers", minversion="0.23")
    monkeypatch.syspath_prepend(FOLDER)
    command = importlib.import_module("parity_table")
    titles = [title for _, title in command.LANGUAGES.values()]
    declarations = [f"{title}\n{title}\n" for title in titles]
    others = [f"1 {title * 9}" for title in titles]
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("<|endoftext|>".join(declarations + others), "utf-8")
    command.main([str(corpus), "--vocab-size", "270", "--times", "1"], standalone_mode=False)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(" | ")[0] for line in lines[2:5]] == [f"| {name}" for name in command.LANGUAGES]
    assert re.match(r"14 merges, the same as those of tokenizers: [\d.]+ s here, [\d.]+ s there", lines[-1])


def test_figures_on_pages(tmp_path):
    """What a command has printed becomes a part of a page, if a page includes it."""
    spec = importlib.util.spec_from_file_location("figure_tables", FOLDER.parent / ".ci" / "figure_tables.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    measured, tables = tmp_path / "measured", tmp_path / "tables"
    measured.mkdir()
    tables.mkdir()
    printed = "`python x.py a`\n\na: 2 lines\n\n| | `b` |\n|---|---|\n| one | 1 |\n\nin    columns\n"
    (measured / "x.md").write_text(printed)
    (measured / "other.md").write_text("no page has it\n")
    (tables / "x.inc").touch()
    module.main(measured, tables)
    assert [path.name for path in tables.iterdir()] == ["x.inc"]
    assert (tables / "x.inc").read_text().splitlines() == [
        "``python x.py a``",
        "",
        "* a: 2 lines",
        "",
        ".. list-table::",
        "   :header-rows: 1",
        "",
        "   * -",
        "     - ``b``",
        "   * - one",
        "     - 1",
        "",
        ".. code-block:: none",
        "",
        "   in    columns",
    ]


def test_pages_include_tables_that_are_there():
    docs = FOLDER.parent / "docs"
    included = re.findall(r"^\.\. include:: tables/(\S+)$", (docs / "figures.rst").read_text("utf-8"), re.M)
    assert sorted(included) == sorted(path.name for path in (docs / "tables").iterdir())
