"""Compare what this package gives with what others give, on whole corpora; exit with 1 at a difference.

    python asv_benchmarks/same.py pieces TEXT ...               with the regex package
    python asv_benchmarks/same.py ids VOCABULARIES TEXT ...     with tiktoken
    python asv_benchmarks/same.py merges CORPUS                 with the trainers of four other packages
    python asv_benchmarks/same.py superwords CHECKOUT CORPUS    with the programs of BoundlessBPE's authors
    python asv_benchmarks/same.py formats TEXT ...              through every pair of formats and back
    python asv_benchmarks/same.py surgery TEXT ...              after more tokens, and after fewer

VOCABULARIES is a folder with a rank file ``NAME.tiktoken`` and with ``NAME.json``, an object of tiktoken's
"pat_str" and "special_tokens", for each of gpt2, cl100k_base and o200k_base. ``formats`` and ``surgery`` take
it as ``--vocabularies``, besides tokenizers that they train. A hundred megabytes take some minutes.
"""

from __future__ import annotations

import base64
import importlib.util
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, product
from pathlib import Path
from typing import Any

import click
import numpy as np
import regex
from measuring import FILE, FOLDER, texts_argument, vocabularies_argument

import bpe

PATTERNS = {"gpt2": "gpt2", "cl100k_base": "cl100k", "o200k_base": "o200k"}
"""Name of an encoding -> our name of its pattern, so that theirs and ours are independent of each other."""

BLOCK_BYTES = 1 << 22
MEGABYTE = 1_000_000
SPECIAL = "<|endoftext|>"
AROUND = 30  # characters shown of a text where it differs

vocabularies_option = click.option("--vocabularies", type=FOLDER)


class Different(click.ClickException):
    """Something is not the same; says what, and where."""


def first_difference(wanted: Sequence[Any], found: Sequence[Any]) -> int:
    """Return where two sequences part, -1 where they do not."""
    pairs = enumerate(zip(wanted, found, strict=False))
    at = next((i for i, (one, other) in pairs if one != other), min(len(wanted), len(found)))
    return -1 if at == len(wanted) == len(found) else at


def must_agree(what: str, wanted: Sequence[Any], found: Sequence[Any]) -> None:
    at = first_difference(wanted, found)
    if at >= 0:
        raise Different(f"{what}: [{at}:] is {found[at : at + 5]}, not {wanted[at : at + 5]}")


def blocks(data: bytes) -> Iterator[bytes]:
    """Cut a text at line ends, as not all others can hold a large one: a block is a text of its own."""
    start = 0
    while start < len(data):
        end = min(start + BLOCK_BYTES, len(data))
        if end < len(data):
            end = data.rfind(b"\n", start, end) + 1 or end
        yield data[start:end]
        start = end


@click.group(help=__doc__)
def main() -> None: ...


# ---------------------------------------------------------------------------------------------------- pieces
def pieces_by_regex(pattern: bpe.Pattern, text: str) -> list[str]:
    """Return the pieces: matches, and what is between them, of one expression after the other."""
    pieces = [text]
    for source in pattern.sources:
        expression, parts = regex.compile(source), []
        for piece in pieces:
            end = 0
            for found in expression.finditer(piece):
                parts += [piece[end : found.start()], found.group()]
                end = found.end()
            parts.append(piece[end:])
        pieces = [part for part in parts if part]
    return pieces


@main.command()
@texts_argument
@click.option("--pattern", "names", multiple=True, help="Default: all that have a name.")
def pieces(texts: tuple[Path, ...], names: tuple[str, ...]) -> None:
    """Compare the pieces of texts with those of the regex package."""
    for text in texts:
        data = text.read_bytes()
        for name in names or bpe.PATTERNS:
            pattern, n, start = bpe.Pattern.of(name), 0, 0
            for block in blocks(data):
                theirs = pieces_by_regex(pattern, block.decode("utf-8", "surrogateescape"))
                wanted = [piece.encode("utf-8", "surrogateescape") for piece in theirs]
                must_agree(f"{text.name} {name}, from byte {start} on", wanted, pattern.split_bytes(block))
                n, start = n + len(wanted), start + len(block)
            click.echo(f"{text.name} {name}: {n:,} pieces, all the same")


# ------------------------------------------------------------------------------------------------------- ids
class Pair:
    """An encoding, by tiktoken and by this package."""

    def __init__(self, folder: Path, name: str) -> None:
        import tiktoken

        ranks = folder / f"{name}.tiktoken"
        given = json.loads((folder / f"{name}.json").read_text("utf-8"))
        lines = map(bytes.split, ranks.read_bytes().splitlines())
        self.name = name
        self.theirs = tiktoken.Encoding(
            name, mergeable_ranks={base64.b64decode(token): int(rank) for token, rank in lines}, **given
        )
        self.ours = vocabulary(folder, name)

    def of_theirs(self, text: str) -> np.ndarray:
        return np.array(self.theirs.encode_ordinary(text), np.uint32)

    def check(self, what: str, text: str, wanted: np.ndarray, ids: np.ndarray) -> None:
        """Show the first difference, and end, where there is one."""
        if np.array_equal(wanted, ids):
            return
        at = first_difference(wanted, ids)
        data = text.encode()
        place = len(self.ours.decode_bytes(wanted[:at]))
        before, behind = data[max(place - AROUND, 0) : place], data[place : place + AROUND]
        lines = [f"{self.name} {what}: differs at byte {place} of a text of {len(data)}, ids[{at}]"]
        lines.append(f"  text      {before!r} | {behind!r}")
        for who, some in (("tiktoken", wanted), ("bpe", ids)):
            shown = [f"{number} {self.ours.token_bytes(number)!r}" for number in some[at : at + 5].tolist()]
            lines.append(f"  {who:8}  {', '.join(shown) or 'no more'}")
        raise Different("\n".join(lines))


def vocabulary(folder: Path, name: str) -> bpe.Tokenizer:
    """Return a tokenizer of a folder of vocabularies."""
    specials = json.loads((folder / f"{name}.json").read_text("utf-8"))["special_tokens"]
    ranks = folder / f"{name}.tiktoken"
    return bpe.Tokenizer.from_tiktoken(ranks, pattern=PATTERNS[name], special_tokens=specials)


def text_ids(pair: Pair, file: Path, chance: random.Random) -> int:
    """Compare all ids of a file, encoded in one call and as a stream; return their number."""
    n = start = 0
    for block in blocks(file.read_bytes()):
        text = block.decode("utf-8", "replace")
        wanted = pair.of_theirs(text)
        what = f"{file.name} from byte {start} on"
        pair.check(
            f"{what}, in one call", text, wanted, pair.ours.encode_to_numpy(text, disallowed_special=())
        )
        stream = pair.ours.stream_encoder(disallowed_special=())
        parts = [*map(stream.feed, cuts(text.encode(), chance)), stream.finish()]
        streamed = np.fromiter(chain.from_iterable(parts), np.uint32)
        pair.check(f"{what}, as a stream", text, wanted, streamed)
        n, start = n + len(wanted), start + len(block)
    return n


def cuts(data: bytes, chance: random.Random) -> Iterator[bytes]:
    """Cut a text at random places, near ones and far ones."""
    start = 0
    while start < len(data):
        end = start + int(2 ** chance.uniform(0, 17))
        yield data[start:end]
        start = end


def code_point_ids(pair: Pair, context: str, characters: list[str]) -> int:
    """Compare the ids of characters, each in a text of its own; return their number."""
    n = 0
    for first in range(0, len(characters), 1 << 16):
        texts = [context.replace("{}", character) for character in characters[first : first + (1 << 16)]]
        ids, offsets = pair.ours.encode_batch_to_numpy(texts, disallowed_special=())
        for text, start, end in zip(texts, offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
            pair.check(repr(text), text, pair.of_theirs(text), ids[start:end])
        n += len(ids)
    return n


def classified_alike() -> list[str]:
    """Return the characters that both have in the same classes: one may have an older Unicode."""
    import tiktoken

    text = "".join(chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code < 0xE000)
    others: set[str] = set()
    for name in ("L", "Lu", "Lt", "Lm", "Lo", "Ll", "N", "M"):
        expression = rf"\p{{{name}}}"
        by_bytes = tiktoken.Encoding(
            name, pat_str=expression, mergeable_ranks={bytes([i]): i for i in range(256)}, special_tokens={}
        )
        theirs = bytes(by_bytes.encode_ordinary(text)).decode()  # it drops what does not match
        others.update(set(theirs).symmetric_difference(regex.findall(expression, text)))
    click.echo(f"{len(others):,} code points have other properties in tiktoken's Unicode: left out")
    return [character for character in text if character not in others]


@main.command()
@vocabularies_argument
@click.argument("texts", metavar="[TEXT]...", nargs=-1, type=FILE)
@click.option("--name", "names", multiple=True, type=click.Choice([*PATTERNS]), help="Default: all.")
def ids(folder: Path, texts: tuple[Path, ...], names: tuple[str, ...]) -> None:
    """Compare the ids of texts, and of every code point, with those of tiktoken."""
    characters = classified_alike()
    for name in names or PATTERNS:
        pair = Pair(folder, name)
        for context in ("{}", "a{}b", " {}\n", "1{}'s {}"):
            n = code_point_ids(pair, context, characters)
            click.echo(f"{name}, code points in {context!r}: {n:,} ids, all the same")
        for file in texts:
            n = text_ids(pair, file, random.Random(file.name))
            click.echo(f"{name}, {file.name}: {n:,} ids, all the same")


# ---------------------------------------------------------------------------------------------------- merges
GPT2_PATTERN = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"


def gpt2_characters() -> dict[str, int]:
    """Return which byte each character of GPT-2's alphabet stands for."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [value for value in range(256) if value not in printable]
    return {chr(value): value for value in printable} | {
        chr(256 + n): value for n, value in enumerate(others)
    }


def documents(path: Path) -> list[str]:
    with open(path, encoding="utf-8", newline="") as file:
        return file.read().split(SPECIAL)


# Each returns the tokens that it learned, in order, as their bytes or as pairs of bytes.
def train_rustbpe(path: Path, n_merges: int) -> list[Any]:
    import rustbpe

    trainer = rustbpe.Tokenizer()
    trainer.train_from_iterator(iter(documents(path)), 256 + n_merges, pattern=GPT2_PATTERN)
    return [bytes(token) for token, _ in trainer.get_mergeable_ranks()][256:]


def train_bpeasy(path: Path, n_merges: int) -> list[Any]:
    import bpeasy

    learned = bpeasy.train_bpe(iter(documents(path)), GPT2_PATTERN, 2**20, 256 + n_merges)
    return sorted(learned, key=learned.get)[256:]


def train_gigatoken(path: Path, n_merges: int) -> list[Any]:
    import gigatoken

    source = gigatoken.TextFileSource([str(path)], separator=SPECIAL.encode())
    _, merges = gigatoken.train_bpe(source, 257 + n_merges, [SPECIAL], tie_breaking="raw_token_ids")
    return [(bytes(left), bytes(right)) for left, right in merges]


def train_tokenizers(path: Path, n_merges: int) -> list[Any]:
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=257 + n_merges,
        special_tokens=[SPECIAL],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(documents(path), trainer)
    merges, byte_of = json.loads(tokenizer.to_str())["model"]["merges"], gpt2_characters()
    return [tuple(bytes(byte_of[letter] for letter in token) for token in pair) for pair in merges]


# name: (how to call it, our options for the same: ties are broken as there)
OTHERS: dict[str, tuple[Callable[[Path, int], list[Any]], dict[str, Any]]] = {
    "rustbpe": (train_rustbpe, {}),
    "bpeasy": (train_bpeasy, {}),
    "gigatoken": (train_gigatoken, {}),
    "tokenizers": (train_tokenizers, {"like": "huggingface"}),
}


def first_other_merge(trainer: bpe.Trainer, learned: list[Any]) -> int:
    """Return the rank of the first merge that differs, -1 where there is none.

    Merges learned after the last pair of all, when nothing is left to count, do not matter.
    """
    bytes_of = trainer.tokenizer().token_bytes
    ours = [(bytes_of(merge.left), bytes_of(merge.right)) for merge in trainer.merges]
    if learned and isinstance(learned[0], bytes):
        ours = [left + right for left, right in ours]
    return first_difference(ours, learned[: len(ours)])


@main.command()
@click.argument("path", metavar="CORPUS", type=FILE)
@click.option("--vocab-size", default=32_000)
def merges(path: Path, vocab_size: int) -> None:
    """Compare merges with those of other trainers, of those that are installed.

    Documents are separated by <|endoftext|>, and split by GPT-2's pattern.
    """
    counts = bpe.count_words(path, special_tokens=[SPECIAL], progress=True)
    for name, (train, options) in OTHERS.items():
        if importlib.util.find_spec(name) is None:
            click.echo(f"{name} is not installed")
            continue
        trainer = bpe.Trainer(counts, **options)
        trainer.run(vocab_size)
        start = time.perf_counter()
        learned = train(path, len(trainer.merges))
        seconds = time.perf_counter() - start
        rank = first_other_merge(trainer, learned)
        if rank >= 0:
            raise Different(f"{name} has other merges from merge {rank} on: {trainer.merges[rank]}")
        click.echo(f"{name}: {len(learned)} merges in {seconds:.1f} s, the same")


# ------------------------------------------------------------------------------------------------ superwords
THEIRS = """
import contextlib, json, sys
from boundlessbpe import BoundlessBpeTrainer, BpeTrainer, GPT2_REGEX, Pretokenizer, Tokenizer

folder, n_documents = sys.argv[1], int(sys.argv[2])
quiet = dict(max_bytes=10**12, checkpoint_iterations=0, verbose=False, progress_interval=0)
with contextlib.redirect_stdout(sys.stderr):
    words = BpeTrainer(Pretokenizer(main_regex=GPT2_REGEX))
    first = json.load(open(folder + "/first.json"))
    size = 243 + len(first)  # bytes that UTF-8 has, and merges
    words.train(1.1, folder + "/train.jsonl", folder + "/w", n_documents, size, 0, False, **quiet)
    for i, (left, right, count) in zip(sorted(words.inf_data.merges), first):
        words.inf_data.merges[i] = (bytes.fromhex(left), bytes.fromhex(right)), count, 0
    words.save(folder + "/words")
    both = BoundlessBpeTrainer(Pretokenizer(main_regex=GPT2_REGEX))
    both.train(folder + "/train.jsonl", folder + "/b", n_documents, 0, folder + "/words.model", **quiet)
    both.save(folder + "/both")
    loaded = Tokenizer()
    loaded.load(folder + "/both.model")


def rows(merges):
    return [[left.hex(), right.hex()] for _, ((left, right), _, _) in sorted(merges.items())]


text = open(folder + "/unseen.txt", newline="", encoding="utf-8").read()
print(json.dumps({
    "merges": rows(words.inf_data.merges)[: len(loaded.words.merges)] + rows(both.inf_data.merges),
    "tokens": [token.hex() for token in loaded.encode_ordinary_chunks(text)],
}))
"""


@main.command()
@click.argument("checkout", type=FOLDER)
@click.argument("corpus", type=FILE)
@click.option("--vocab-size", default=4000)
@click.option("--megabytes", default=1.0)
def superwords(checkout: Path, corpus: Path, vocab_size: int, megabytes: float) -> None:
    """Compare the supermerges of BoundlessBPE with those of its authors, and the tokens of the text after.

    CHECKOUT is a copy of https://github.com/kensho-technologies/fastboundlessbpe. Its programs run in a
    process of their own, with the package heapdict. They get the merges inside of words, as pairs that count
    the same have no order there, and learn from the first megabytes of the corpus, each paragraph a document.
    """
    size = int(megabytes * 1e6)
    with open(corpus, "rb") as file:
        data = file.read(size + size // 4)
    text, unseen = (part.decode("utf-8", "ignore") for part in (data[:size], data[size:]))
    paragraphs = [part for part in text.split("\n\n") if part]
    trainer = bpe.Trainer(bpe.count_words(paragraphs), ties="lexicographic")
    trainer.run(vocab_size)
    bytes_of = trainer.tokenizer().token_bytes
    first = [(bytes_of(each.left).hex(), bytes_of(each.right).hex(), each.count) for each in trainer.merges]
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "first.json").write_text(json.dumps(first))
        lines = "".join(json.dumps({"text": paragraph}) + "\n" for paragraph in paragraphs)
        Path(folder, "train.jsonl").write_text(lines, "utf-8")
        Path(folder, "unseen.txt").write_bytes(unseen.encode())
        done = subprocess.run(
            [sys.executable, "-c", THEIRS, folder, str(len(paragraphs))],
            env=os.environ | {"PYTHONPATH": str((checkout / "python").resolve())},
            stdout=subprocess.PIPE,
            check=True,
        )
    theirs = json.loads(done.stdout)
    tok = bpe.train(paragraphs, vocab_size, superwords=bpe.Boundless(), ties="lexicographic", progress=False)
    wanted = [(bytes.fromhex(left), bytes.fromhex(right)) for left, right in theirs["merges"]]
    must_agree("merges", wanted, tok.merges_bytes)
    tokens = [*map(tok.token_bytes, tok.encode(unseen))]
    must_agree("tokens of other text", [*map(bytes.fromhex, theirs["tokens"])], tokens)
    n_super = sum(b" " in (left + right).strip() for left, right in wanted)
    click.echo(f"{len(wanted):,} merges, {n_super:,} across words, and {len(tokens):,} tokens, all the same")


# --------------------------------------------------------------------------------------------------- formats
FORMATS = {  # how each is written and read, and a file name of it
    "native": ("save", "load", "tok.json"),
    "huggingface": ("save_huggingface", "from_huggingface", "tok.hf.json"),
    "tiktoken": ("save_tiktoken", "from_tiktoken", "tok.tiktoken"),
    "gpt2": ("save_gpt2", "from_gpt2", "tok"),
    "minbpe": ("save_minbpe", "from_minbpe", "tok.model"),
}
OWN_PATTERN = r" ?[^\W\d]+|\d(?:\d\d)?|[^\w\s]+|\s+"
Encode = Callable[[str], list[int]]


def through(tokenizer: bpe.Tokenizer, format: str, folder: Path) -> tuple[bpe.Tokenizer, Path]:
    """Write a tokenizer and read it; a rank file with what it does not hold."""
    folder.mkdir(exist_ok=True)
    save, load, name = FORMATS[format]
    getattr(tokenizer, save)(folder / name)
    given = {"pattern": tokenizer.pattern, "special_tokens": tokenizer.special_tokens}
    return getattr(bpe.Tokenizer, load)(folder / name, **given if format == "tiktoken" else {}), folder / name


def others_that_read(tokenizer: bpe.Tokenizer, path: Path, format: str) -> dict[str, Encode]:
    """Return how tokenizers, transformers or tiktoken encode by a file, whichever can and is installed."""
    found: dict[str, Encode] = {}
    if format == "tiktoken" and len(tokenizer.pattern.sources) == 1 and importlib.util.find_spec("tiktoken"):
        encoding = tokenizer.to_tiktoken()
        found["tiktoken"] = lambda text: encoding.encode(text, allowed_special="all")
    if format == "huggingface" and importlib.util.find_spec("tokenizers"):
        import tokenizers

        other = tokenizers.Tokenizer.from_file(str(path))
        found["tokenizers"] = lambda text: other.encode(text, add_special_tokens=False).ids
    if format == "huggingface" and importlib.util.find_spec("transformers"):
        from transformers import PreTrainedTokenizerFast

        fast = PreTrainedTokenizerFast(tokenizer_file=str(path))
        found["transformers"] = lambda text: fast.encode(text, add_special_tokens=False)
    return found


def refusals(tokenizer: bpe.Tokenizer, texts: list[str], folder: Path) -> dict[tuple[str, str], str]:
    """Put a tokenizer through every pair of formats and back.

    Return why each pair refused it, an empty str for none; raise where ids are not the same, or tokens.
    """
    wanted = [tokenizer.encode(text, allowed_special="all") for text in texts]
    reasons = {}
    for one, other in product(FORMATS, FORMATS):
        try:
            first, _ = through(tokenizer, one, folder / "1")
            second, path = through(first, other, folder / "2")
            third, _ = through(second, one, folder / "3")
        except ValueError as error:
            reasons[one, other] = str(error) or "without a reason"
            continue
        reasons[one, other] = ""
        known = others_that_read(second, path, other)
        if leaves_gaps(tokenizer.pattern, texts):
            known.pop("tiktoken", None)  # which drops them
        known["and back"] = lambda text, third=third: third.encode(text, allowed_special="all")
        for who, encode in known.items():
            for text, its_ids in zip(texts, wanted, strict=True):
                must_agree(f"{one} -> {other}, {who}: ids of {text[:60]!r}", its_ids, encode(text))
        if parts_of(third) != parts_of(tokenizer):
            raise Different(f"{one} -> {other} and back: other tokens or merges")
    return reasons


def parts_of(tokenizer: bpe.Tokenizer) -> tuple[object, ...]:
    return tokenizer.vocab, tokenizer.merges, tokenizer.special_tokens


def leaves_gaps(pattern: bpe.Pattern, texts: Iterable[str]) -> bool:
    """Return whether something of the texts is in no match of the first expression."""
    expression = regex.compile(pattern.sources[0])
    return any(sum(len(found.group()) for found in expression.finditer(text)) < len(text) for text in texts)


def samples(file: Path) -> list[str]:
    """Return four places of a text."""
    text = file.read_bytes().decode("utf-8", "replace")
    every = len(text) // 4
    return [text[i * every : i * every + min(every, 50_000)] for i in range(4)]


def with_specials(texts: list[str], specials: Iterable[str]) -> list[str]:
    """Put special tokens after every fifth line of every second text."""
    tokens, result = list(specials), []
    for number, text in enumerate(texts):
        lines = text.splitlines(keepends=True)
        for i in range(0, len(lines) if tokens and number % 2 else 0, 5):
            lines[i] += tokens[i // 5 % len(tokens)]
        result.append("".join(lines))
    return result


def to_convert(texts: list[str], folder: Path | None) -> Iterator[tuple[str, bpe.Tokenizer]]:
    """Yield tokenizers and their names."""
    for name in PATTERNS if folder else ():
        yield name, vocabulary(folder, name)
    specials = ["<|end|>", "é\U0001f600", "\x00"]
    for pattern in (*bpe.PATTERNS, OWN_PATTERN):
        tok = bpe.train(texts, 2000, pattern=pattern, special_tokens=specials, progress=False)
        yield f"with the pattern {pattern}", tok


@main.command()
@texts_argument
@vocabularies_option
def formats(texts: tuple[Path, ...], vocabularies: Path | None) -> None:
    """Put tokenizers through every pair of formats and back, and compare the ids of texts.

    What lies between is also read by tokenizers, transformers and tiktoken, whichever can. What a format
    cannot hold, it has to refuse: the table, IN down and OUT across, says why.
    """
    places = [text for file in texts for text in samples(file)]
    for name, tokenizer in to_convert(places, vocabularies):
        with tempfile.TemporaryDirectory() as folder:
            mixed = with_specials(places, tokenizer.special_tokens)
            reasons = refusals(tokenizer, mixed, Path(folder))
        known = list(dict.fromkeys(filter(None, reasons.values())))
        click.echo(f"\n{name}\n" + "".join(f"{head:>13}" for head in ("", *FORMATS)))
        for one in FORMATS:
            cells = [reasons[one, other] for other in FORMATS]
            shown = [f"refused ({known.index(cell) + 1})" if cell else "same" for cell in cells]
            click.echo("".join(f"{cell:>13}" for cell in (one, *shown)))
        for number, reason in enumerate(known, 1):
            click.echo(f"  ({number}) {reason}")


# --------------------------------------------------------------------------------------------------- surgery
def compare(old: bpe.Tokenizer, new: bpe.Tokenizer, new_id_of: np.ndarray, data: bytes) -> tuple[int, int]:
    """Compare the ids of a text, piece by piece; return how many pieces are the same, and how many not.

    The new ids of a piece are the old ones, through the map of ids, if all of these stay, and none is of a
    new token. All are decoded to the text.
    """
    pieces = old.pattern.split_bytes(data)
    (old_ids, before), (new_ids, after) = (
        tok.encode_batch_to_numpy(pieces, disallowed_special=()) for tok in (old, new)
    )
    if new.decode_bytes(new_ids) != data:
        raise Different("the new ids are decoded to another text")
    survives = np.zeros(new.vocab_size, bool)
    survives[new_id_of[new_id_of >= 0]] = True
    moved = new_id_of[old_ids.astype(np.int64)]
    should = (sums(moved < 0, before) == 0) & (sums(~survives[new_ids], after) == 0)
    for i in np.flatnonzero(should).tolist():
        must_agree(
            f"ids of the piece {pieces[i]!r}",
            moved[before[i] : before[i + 1]].tolist(),
            new_ids[after[i] : after[i + 1]].tolist(),
        )
    return int(should.sum()), int((~should).sum())


def sums(marks: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    total = np.concatenate([[0], np.cumsum(marks)])
    return total[offsets[1:]] - total[offsets[:-1]]


def compare_with_tokenizers(new: bpe.Tokenizer, text: str) -> int:
    """Write a tokenizer, and compare the ids of a text with those of ``tokenizers``; return their number."""
    import tokenizers

    wanted = new.encode(text, allowed_special="all")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "tokenizer.json")
        new.save_huggingface(path)
        theirs = tokenizers.Tokenizer.from_file(str(path))
        again = bpe.Tokenizer.load(path)
    must_agree("a tokenizer.json, read again", wanted, again.encode(text, allowed_special="all"))
    must_agree("tokenizers", wanted, theirs.encode(text, add_special_tokens=False).ids)
    return len(wanted)


def check_surgery(name: str, tokenizer: bpe.Tokenizer, texts: list[bytes]) -> None:
    """Extend a tokenizer by a thousand tokens, and prune it to nine tenths; print a row for each."""
    n_more, size = min(1000, len(tokenizer.vocab) // 10), int(len(tokenizer.vocab) * 0.9)
    for what, (new, new_id_of) in {
        f"+{n_more}": tokenizer.extend(texts, n_more),
        f"{size} of {len(tokenizer.vocab)}": tokenizer.prune(texts[:1], vocab_size=size),
    }.items():
        n_pieces = np.sum([compare(tokenizer, new, new_id_of, data) for data in texts], axis=0)
        n_ids = sum(compare_with_tokenizers(new, data.decode()) for data in texts)
        click.echo(
            f"{name}, {what}: {n_pieces[0]:,} pieces the same, {n_pieces[1]:,} with a new token or without "
            f"an old one; {n_ids:,} ids as tokenizers"
        )


@main.command()
@texts_argument
@vocabularies_option
def surgery(texts: tuple[Path, ...], vocabularies: Path | None) -> None:
    """Extend and prune tokenizers, and compare the ids of a megabyte of each text before and after."""
    parts = [file.read_bytes()[:MEGABYTE].decode("utf-8", "ignore").encode() for file in texts]
    for pattern in ("gpt2", "o200k"):
        options = {"pattern": pattern, "special_tokens": ["<|end|>"]}
        options |= {"like": "huggingface"} if pattern == "o200k" else {}
        check_surgery(f"own, {pattern}", bpe.train(parts[:1], 8000, **options, progress=False), parts)
    for name in PATTERNS if vocabularies else ():
        check_surgery(name, vocabulary(vocabularies, name), parts)


if __name__ == "__main__":
    main()
