"""Does a folder of downloaded tokenizers give what the package tokenizers gives? A Markdown table.

    python asv_benchmarks/wild_tokenizers.py FOLDER [--texts FILE ...] [--bytes N]

FOLDER is searched, with all folders in it, for ``tokenizer.json``, and for the other formats that
``bpe.Tokenizer.load`` reads. These have no peer of their own: there, tokenizers reads the file that we save.

Each tokenizer encodes hard texts, some of them with its own special tokens inside, and the first N bytes of
each file. Compared are ids, decoded text, offsets, and the saved file as tokenizers and transformers read it.
The last column says how many times as fast as tokenizers we encode, on one thread: all files in one text, or
the hard texts where no file is given.

In the table "yes" means equal, "no: 2 of 40" that two of 40 texts differ, "-" that nothing is to compare.
The first difference of each such cell is shown below. Exits with 1 if there is one.
"""

from __future__ import annotations

import json
import os
import random
import re
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")  # it warns that it finds no torch

# isort: split
import click
import tokenizers
from measuring import best
from tokenizers import Tokenizer as Peer

import bpe

OTHER_FILES = (
    "*.model",
    "*.model.v*",
    "*tekken*.json",
    "*.tiktoken",
    "encoder.json",
    "encoders/*.json",
    "package/claude.json",
)
PATTERNS = {"gpt2": "gpt2", "multilingual": "gpt2", "cl100k_base": "cl100k", "qwen": "qwen2"}  # of rank files
NOT_OF_A_NAME = {"package", "models", "tokenizer.json"}
COLUMNS = (
    "ids",
    "ids, special tokens as text",
    "ids with the post-processor",
    "decoded",
    "decoded without special tokens",
    "offsets",
    "saved: ids",
    "saved: the file",
    "saved: ids in transformers",
)
REFUSED = "no token of the vocabulary stands for"
N_SPECIALS, N_MIXED, IDS_AT_ONCE, SHORTENED = 12, 40, 64, 80
RUN = 3000
RUNS = ("a", " ", "\n", "\r\n", "\t", "7", "▁", "é", "ab", "the ", "日", "😀", "=", "'s", "<", "\u0301", "Ġ")
TEXTS = (
    "",
    " ",
    "a",
    "Hello, world! I'll pay $12,345.67 for it; you'RE right.  It\u2019s 'twas DON'T naïve café Straße",
    "  two before, two after  ",
    "a b  c   d    e\tf\t\tg \t h\u00a0i\u3000j\u2009k\u200bl\u2028m\u2029n\u0085o\u1680p\x0bq\x0cr\ufeffs",
    "\r\na\r\n\r\nb\rc\n\rd\n \n\n  \n e \r\n",
    "\n",
    "\n\n\n   x",
    "1 12 123 1234 12345 1234567890 0x1F 3.14 1e-9 ١٢٣ ४५६ ⅷ ²½ ① 12:34 1,000 \U0001d7d8\U0001d7d9 一二三",
    "def f(x):\n\t\treturn x**2 + 0x1F  # CamelCase snake_case 100%\n\n   trailing   \n",
    "Привет, мир! Ελλάδα \u03a3\u0391\u03a3 Σ \u03c3ς 你好、世界。こんにちは世界 안녕하세요 שלום مرحبا नमस्ते",
    "e\u0301 \u0301e q\u0323\u0307 q\u0307\u0323 a\u0315\u0300\u05aeb \u1e69",
    "\u212b \u2126 \ufb01 ﬁﬂ Ⅷ ㎏ \uff46\uff55\uff4c\uff4c ｶﾞ ﷺ \u1e9b\u0323 \u0344 \u0958 \u2adc \ufb1d",
    "İ\u0131I ŞẞßSS ŉ ǰ ΐ Ǆǅǆ ﬃ ΑΣ\u0301 Σ.",
    "\u1112\u1161\u11ab 한 \u1100\u1161\u11a8\u11a8 \uac00\u11a8 \u1100 \u11a8",
    "👩\u200d👩\u200d👧\u200d👦 🏳\ufe0f\u200d🌈 👍🏽 ❤\ufe0f 1\ufe0f\u20e3 😀😀😀 \u200d \ufe0f",
    "🇩🇪🇫🇷🇩 🇪 🇩🇪🇫",
    "a\x00b\x00\x00 \x01\x02\x7f\x80\x9f \ufffd\ufffd \ufffe \uffff",
    "\x00",
    "\ufffd",
    "\u0378 \u0e00 \ue000 \U000e0001 \U0010ffff \U0001f8ff \u2fff",
    "▁a ▁ ▁▁b▁ a▁ <0x41> <0x0A> Ġa Ċ ĠĠ </w>",
    "``quoted'' n't can't . , ! ? 's 'S ' s \u2019s (x) [y] {z} a.b a . b don 't",
    "https://example.org/path/to?q=1&r=[2]{3}\\n end >x</ <h1> <!-- --> C:\\dir %20 #tag @who a_b-c+d",
    "日本語テキスト123abc漢字カナ ｱｲｳ 「かぎ」、。 zero\u200bwidth soft\u00adhyphen \u202eright\u202c",
    "Na\u0303o VIE\u0302\u0323T Vie\u0323\u0302t \u0e40\u0e01\u0e49\u0e32 \u0e01\u0e33 \u0f71\u0f72\u0f74",
    "x" * 40 + " " + "Donaudampfschifffahrtsgesellschaft" * 4,
)


class Result(NamedTuple):
    """A cell of the table, and the first difference that it stands for."""

    cell: str
    shown: str = ""


# ------------------------------------------------------------------------------------------------ texts
def with_tokens(tokens: list[str]) -> Iterator[str]:
    """Yield texts that hold special or added tokens."""
    for token in tokens:
        yield f"{token}a {token} b  {token}\n{token}{token} {token}"
        yield f" {token} x{token}é \t{token}\r\n {token.upper()} {token[:-1]} {token[1:]}{token}_ _{token}1"
    yield "".join(tokens)
    yield " ".join(tokens)
    yield "e\u0301".join(tokens)
    yield "\ufb01 \uff21 ".join(tokens)


def some_of(tokens: Iterable[str]) -> list[str]:
    """Return the first and the last of many."""
    every = list(tokens)
    return every if len(every) <= N_SPECIALS else every[: N_SPECIALS // 2] + every[-N_SPECIALS // 2 :]


def hard_texts(tok: bpe.Tokenizer) -> list[str]:
    """Return texts on which tokenizers often differ."""
    tokens = some_of(tok.special_tokens) + some_of(tok.added_tokens)
    runs = [f"x{(unit * RUN)[:RUN]}y" for unit in RUNS]
    chance = random.Random(1)
    letters = "".join(TEXTS)
    mixed = [
        "".join(chance.choice(tokens if tokens and chance.random() < 0.1 else letters) for _ in range(200))
        for _ in range(N_MIXED)
    ]
    return [*TEXTS, *with_tokens(tokens), *runs, *mixed]


# ----------------------------------------------------------------------------------------------- compare
def first_difference(ours: Any, theirs: Any) -> str:
    """Show where two sequences part."""
    pairs = enumerate(zip_longest(ours, theirs))
    at = next((i for i, (one, other) in pairs if one != other), 0)
    return f"[{at}:] ours {ours[at : at + 6]!r}, theirs {theirs[at : at + 6]!r}"


def compared(inputs: Iterable[Any], ours: Callable[[Any], Any], theirs: Callable[[Any], Any]) -> Result:
    """Compare two functions on all inputs."""
    n, n_different, shown = 0, 0, ""
    for given in inputs:
        n += 1
        one, other = ours(given), theirs(given)
        if one != other:
            n_different += 1
            shown = shown or f"{shortened(repr(given))} {first_difference(one, other)}"
    if not n:
        return Result("-")
    return Result(f"no: {n_different} of {n}" if n_different else "yes", shown)


def different_parts(one: Any, other: Any, where: str = "") -> Iterator[str]:
    """Yield where two JSON values differ."""
    if type(one) is type(other) is dict:
        for key in one | other:
            yield from different_parts(one.get(key), other.get(key), f"{where}.{key}")
    elif type(one) is type(other) is list and len(one) == len(other):
        for i, pair in enumerate(zip(one, other, strict=True)):
            yield from different_parts(*pair, f"{where}[{i}]")
    elif one != other:
        yield f"{where}: saved {shortened(repr(one))}, given {shortened(repr(other))}"


def same_file(saved: Peer, given: Peer) -> Result:
    one, other = saved.to_str(), given.to_str()
    if one == other:
        return Result("yes")
    parts = list(different_parts(json.loads(one), json.loads(other)))
    return Result(f"no: {len(parts)} values", "; ".join(parts[:3])) if parts else Result("yes")


def shortened(text: str) -> str:
    line = " ".join(text.split()).replace("|", "\\|")
    return line if len(line) <= SHORTENED else line[:SHORTENED] + "..."


def trims(document: dict[str, Any]) -> bool:
    """Say whether the post-processor trims white space from offsets."""
    return any(
        step["type"] in ("ByteLevel", "RobertaProcessing") and step.get("trim_offsets", True)
        for step in steps_of(document.get("post_processor"), "processors")
    )


def steps_of(step: dict[str, Any] | None, plural: str) -> Iterator[dict[str, Any]]:
    """Yield a step, or those of a Sequence."""
    if step and step["type"] == "Sequence":
        for each in step[plural]:
            yield from steps_of(each, plural)
    elif step:
        yield step


def transformers_reader(path: Path) -> Callable[[str], list[int]] | None:
    """Return how transformers encodes by a ``tokenizer.json``, None where it is not installed."""
    try:
        from transformers import PreTrainedTokenizerFast
    except ImportError:
        return None
    other = PreTrainedTokenizerFast(tokenizer_file=str(path))
    return lambda text: other.encode(text, add_special_tokens=False)


def lists_of_ids(peer: Peer, wanted: dict[str, list[int]]) -> list[list[int]]:
    """Return ids to decode: those of the texts, and all of the vocabulary in random order."""
    every = sorted(peer.get_vocab(with_added_tokens=True).values())
    random.Random(2).shuffle(every)
    parts = (every[i : i + IDS_AT_ONCE] for i in range(0, len(every), IDS_AT_ONCE))
    return [*wanted.values(), *parts, *([number] for number in every[:RUN])]


# ---------------------------------------------------------------------------------------------- a row
def is_accepted(tok: bpe.Tokenizer, text: str) -> bool:
    """Say whether the vocabulary has tokens for all of a text; where not, tokenizers drops characters."""
    try:
        tok.encode_ordinary(text)
        tok.encode(text, allowed_special="all")
    except ValueError as error:
        if REFUSED in str(error):
            return False
        raise
    return True


def results(tok: bpe.Tokenizer, file: Path, texts: list[str], saved: Path) -> list[Result]:
    """Compare a tokenizer with its peer, in the order of the columns."""
    given = Peer.from_file(str(file))
    again = Peer.from_file(str(saved))
    the_file = same_file(again, given)
    for peer in (given, again):
        peer.no_truncation()
        peer.no_padding()
    wanted = {text: given.encode(text, add_special_tokens=False) for text in texts}
    ids = {text: encoding.ids for text, encoding in wanted.items()}
    by_transformers = transformers_reader(saved)

    def ours(**options: Any) -> Callable[[str], list[int]]:
        return lambda text: tok.encode(text, **options)

    def our_offsets(text: str) -> list[tuple[int, int]]:
        _, starts, ends = tok.encode_with_offsets(text, allowed_special="all")
        return list(zip(starts.tolist(), ends.tolist(), strict=True))

    def as_text(text: str) -> list[int]:
        given.encode_special_tokens = True
        found: list[int] = given.encode(text, add_special_tokens=False).ids
        given.encode_special_tokens = False
        return found

    def decoded(*, skip: bool) -> Result:
        return compared(
            lists_of_ids(given, ids),
            lambda some: tok.decode(some, skip_special_tokens=skip),
            lambda some: given.decode(some, skip_special_tokens=skip),
        )

    document = json.loads(saved.read_text("utf-8"))
    return [
        compared(texts, ours(allowed_special="all"), ids.__getitem__),
        compared(texts, ours(disallowed_special=()), as_text),
        compared(
            texts,
            ours(allowed_special="all", add_special_tokens=True),
            lambda text: given.encode(text).ids,
        ),
        decoded(skip=False),
        decoded(skip=True),
        compared([] if trims(document) else texts, our_offsets, lambda text: wanted[text].offsets),
        compared(texts, lambda text: again.encode(text, add_special_tokens=False).ids, ids.__getitem__),
        the_file,
        compared(texts, by_transformers, ids.__getitem__) if by_transformers else Result("-"),
    ]


def times_as_fast(tok: bpe.Tokenizer, file: Path, text: str) -> str:
    """Return how many times as fast as tokenizers we encode a text."""
    peer = Peer.from_file(str(file))
    peer.no_truncation()
    if tok.encode(text, allowed_special="all") != peer.encode(text, add_special_tokens=False).ids:
        return "-"
    took = best(lambda: tok.encode_to_numpy(text, allowed_special="all"), 3)
    there = best(lambda: peer.encode_batch_fast([text], add_special_tokens=False), 3)
    return f"{there / took:.1f}"


def opened(path: Path) -> bpe.Tokenizer:
    if path.name.endswith("tokenizer.json"):
        return bpe.Tokenizer.from_huggingface(path)
    return bpe.Tokenizer.load(path, pattern=PATTERNS.get(path.stem) if path.suffix == ".tiktoken" else None)


def empty_row(name: str, reason: str) -> str:
    return f"| {name} | - | {shortened(reason)} |" + " - |" * (len(COLUMNS) + 1)


def row_of(name: str, path: Path, files: list[str]) -> tuple[str, list[str]]:
    """Return a row of the table and its differences."""
    file = path if path.name.endswith("tokenizer.json") else None
    try:
        tok = opened(path)
    except (ValueError, OSError) as error:
        return empty_row(name, str(error).removeprefix(f"{path}: ")), []
    try:
        if file:
            Peer.from_file(str(file))
    except Exception as error:  # it raises nothing more special
        return empty_row(name, f"yes, but not by tokenizers: {error}"), []
    texts = [*hard_texts(tok), *files]
    accepted = [text for text in texts if is_accepted(tok, text)]
    n_refused = len(texts) - len(accepted)
    with tempfile.TemporaryDirectory() as folder:
        saved = Path(folder, "tokenizer.json")
        tok.save_huggingface(saved)
        steps = steps_of(json.loads(saved.read_text("utf-8"))["pre_tokenizer"], "pretokenizers")
        kind = "byte-level" if any(step["type"] == "ByteLevel" for step in steps) else "text"
        found = results(tok, file or saved, accepted, saved)
        speed = times_as_fast(tok, file or saved, "\n".join(files or accepted))
    cells = [name, kind, f"refuses {n_refused} texts" if n_refused else "yes"]
    cells += [result.cell for result in found] + [speed]
    notes = [
        f"{name}, {column}: {result.shown}"
        for column, result in zip(COLUMNS, found, strict=True)
        if result.shown
    ]
    return f"| {' | '.join(cells)} |", notes


# ---------------------------------------------------------------------------------------------- command
def name_of(path: Path, folder: Path) -> str:
    """Return the name of a tokenizer: where it lies, without what all packages have."""
    parts = [part for part in path.relative_to(folder).parts if part not in NOT_OF_A_NAME]
    wheel = re.compile(r"-cp3.*\.whl$|-py[23].*\.whl$")
    return "/".join(wheel.sub("", part) for part in parts) or folder.name


def tokenizer_files(folder: Path) -> list[Path]:
    patterns = ["*tokenizer.json", *OTHER_FILES]
    return sorted({path for pattern in patterns for path in folder.rglob(pattern) if path.is_file()})


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("more", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--texts", multiple=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--bytes", "n_bytes", default=1_000_000, help="How much of each file is read.")
def main(folder: Path, more: tuple[Path, ...], texts: tuple[Path, ...], n_bytes: int) -> None:
    """Compare a folder of tokenizers with the package tokenizers."""
    warnings.simplefilter("ignore")
    files = []
    for file in (*texts, *more):  # a shell gives what follows the first file of --texts without the option
        with file.open("rb") as stream:
            files.append(stream.read(n_bytes).decode("utf-8", "replace"))
    click.echo(f"tokenizers {tokenizers.__version__}; the first {n_bytes:,} bytes of {len(files)} files\n")
    heads = ("tokenizer", "kind", "loads", *COLUMNS, "times as fast")
    click.echo(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    notes: list[str] = []
    for path in tokenizer_files(folder):
        row, differences = row_of(name_of(path, folder), path, files)
        click.echo(row)
        notes += differences
    click.echo("".join(f"\n* {note}" for note in notes))
    sys.exit(1 if notes else 0)


if __name__ == "__main__":
    main()
