"""Through every pair of formats and back: are the ids the same, also to the programs whose formats they are?

    VOCABS=FOLDER python asv_benchmarks/same_formats.py TEXT [TEXT ...]

Of each text, some places are encoded, with special tokens put into every second one. The tokenizers are
trained on these places, one for each pattern that has a name and for one of its own; where VOCABS names a
folder such as ``same_ids.py`` takes, its three vocabularies are compared, too. Each is written in one format,
read, written in another, read, written in the first again, and read; what lies between is also read by
tokenizers, transformers and tiktoken, whichever can. What a format cannot hold, it has to refuse.

Prints a table for each tokenizer, IN down and OUT across; exits with 1 at the first ids that differ.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, product
from pathlib import Path
from typing import TypeAlias

import click
import regex
from same_ids import PATTERNS

import bpe
from bpe.formats.conversion import FORMATS, encoders, read, write
from bpe.tokenizer import Tokenizer

SUFFIXES = {"native": ".json", "huggingface": ".hf.json", "tiktoken": ".tiktoken", "minbpe": ".model"}
SPECIALS = ("<|end|>", "é\U0001f600", "\x00")
OWN_PATTERN = r" ?[^\W\d]+|\d(?:\d\d)?|[^\w\s]+|\s+"
VOCAB_SIZE = 2000
PLACES, PLACE_CHARACTERS = 4, 50_000
LINES_BETWEEN = 5


Encode: TypeAlias = Callable[[str], list[int]]


class Different(Exception):
    """Ids are not the same; says whose and where."""


# ----------------------------------------------------------------------------------------------- a pair
def through(tokenizer: Tokenizer, format: str, folder: Path) -> tuple[Tokenizer, Path]:
    """Write a tokenizer and read it; a rank file with what it does not hold."""
    folder.mkdir(exist_ok=True)
    path = folder / f"tok{SUFFIXES.get(format, '')}"
    write(tokenizer.engine.vocabulary, tokenizer.pattern, path, format)
    given = {"pattern": tokenizer.pattern, "special_tokens": tokenizer.special_tokens}
    return Tokenizer._of(*read(path, format, **given if format == "tiktoken" else {})), path


def transformers_encoder(path: Path) -> dict[str, Encode]:
    """Return how transformers encodes by a ``tokenizer.json``, where it is installed."""
    try:
        from transformers import PreTrainedTokenizerFast
    except ImportError:
        return {}
    other = PreTrainedTokenizerFast(tokenizer_file=str(path))
    return {"transformers": lambda text: other.encode(text, add_special_tokens=False)}


def check(what: str, encode: Encode, texts: Iterable[str], wanted: list[list[int]]) -> None:
    """Raise at the first text whose ids are not those wanted."""
    for text, ids in zip(texts, wanted, strict=True):
        theirs = encode(text)
        if theirs != ids:
            pairs = enumerate(zip(ids, theirs, strict=False))
            at = next((i for i, pair in pairs if pair[0] != pair[1]), min(len(ids), len(theirs)))
            raise Different(
                f"{what}: ids[{at}:] of {text[:60]!r} are {theirs[at : at + 5]}, not {ids[at : at + 5]}"
            )


def refusals(tokenizer: Tokenizer, texts: list[str], folder: Path) -> dict[tuple[str, str], str]:
    """Put a tokenizer through every pair of formats and back.

    Return why each pair refused it, an empty str for none; raise where ids are not the same, or tokens.
    """
    wanted = [tokenizer.encode(text, allowed_special="all") for text in texts]
    if not leaves_gaps(tokenizer.pattern, texts):  # which tiktoken drops
        try:
            encoding = tokenizer.to_tiktoken()
            check("tiktoken", lambda text: encoding.encode(text, allowed_special="all"), texts, wanted)
        except ValueError:
            pass  # the table has the reason
    reasons = {}
    for one, other in product(FORMATS, FORMATS):
        what = f"{one} -> {other}"
        try:
            first, _ = through(tokenizer, one, folder / "1")
            second, path = through(first, other, folder / "2")
            third, _ = through(second, one, folder / "3")
        except ValueError as error:
            reasons[one, other] = str(error) or "without a reason"
            continue
        reasons[one, other] = ""
        known = encoders(second.engine.vocabulary, second.pattern, path, other)
        if other == "huggingface":
            known |= transformers_encoder(path)
        known["and back"] = lambda text, third=third: third.encode(text, allowed_special="all")
        for who, encode in known.items():
            check(f"{what}, {who}", encode, texts, wanted)
        if parts_of(third) != parts_of(tokenizer):
            raise Different(f"{what} and back: other tokens or merges")
    return reasons


def leaves_gaps(pattern: bpe.Pattern, texts: Iterable[str]) -> bool:
    """Return whether something of the texts is in no match of the first expression."""
    expression = regex.compile(pattern.sources[0])
    return any(sum(len(found.group()) for found in expression.finditer(text)) < len(text) for text in texts)


def parts_of(tokenizer: Tokenizer) -> tuple[object, ...]:
    words = tokenizer.engine.vocabulary
    return words.bytes_of, words.merges, words.merged_ids, words.whole_ids, words.special_tokens


# ---------------------------------------------------------------------------------------------- command
def samples(file: Path) -> list[str]:
    """Return some places of a text."""
    text = file.read_bytes().decode("utf-8", "replace")
    every = len(text) // PLACES
    return [text[i * every : i * every + min(every, PLACE_CHARACTERS)] for i in range(PLACES)]


def with_specials(texts: list[str], specials: Iterable[str]) -> list[str]:
    """Put special tokens between the lines of every second text."""
    tokens, result = list(specials), []
    for number, text in enumerate(texts):
        lines = text.splitlines(keepends=True)
        if tokens and number % 2:
            lines = [
                line if i % LINES_BETWEEN else line + tokens[i // LINES_BETWEEN % len(tokens)]
                for i, line in enumerate(lines)
            ]
        result.append("".join(lines))
    return result


def trained(texts: list[str]) -> Iterator[tuple[str, Tokenizer]]:
    """Yield tokenizers and their names."""
    for pattern in (*bpe.PATTERNS, OWN_PATTERN):
        yield (
            f"with the pattern {pattern}",
            bpe.train(texts, VOCAB_SIZE, pattern=pattern, special_tokens=list(SPECIALS), progress=False),
        )


def vocabularies(folder: Path) -> Iterator[tuple[str, Tokenizer]]:
    """Yield tokenizers and their names."""
    for name, pattern in PATTERNS.items():
        specials = json.loads((folder / f"{name}.json").read_text("utf-8"))["special_tokens"]
        yield (
            name,
            Tokenizer.from_tiktoken(folder / f"{name}.tiktoken", pattern=pattern, special_tokens=specials),
        )


def show(name: str, n_ids: int, reasons: dict[tuple[str, str], str]) -> None:
    known = list(dict.fromkeys(filter(None, reasons.values())))
    click.echo(f"\n{name}: {n_ids:,} ids each time")
    click.echo("".join(f"{head:>13}" for head in ("", *FORMATS)))
    for one in FORMATS:
        cells = [reasons[one, other] for other in FORMATS]
        shown = [f"refused ({known.index(cell) + 1})" if cell else "same" for cell in cells]
        click.echo("".join(f"{cell:>13}" for cell in (one, *shown)))
    for number, reason in enumerate(known, 1):
        click.echo(f"  ({number}) {reason}")


@click.command()
@click.argument(
    "files", metavar="TEXT...", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path)
)
def main(files: tuple[Path, ...]) -> None:
    """Put tokenizers through every pair of formats and compare the ids of texts."""
    texts = [text for file in files for text in samples(file)]
    subjects = trained(texts)
    if "VOCABS" in os.environ:
        subjects = chain(vocabularies(Path(os.environ["VOCABS"])), subjects)
    for name, tokenizer in subjects:
        mixed = with_specials(texts, tokenizer.special_tokens)
        n_ids = sum(len(tokenizer.encode(text, allowed_special="all")) for text in mixed)
        with tempfile.TemporaryDirectory() as folder:
            try:
                reasons = refusals(tokenizer, mixed, Path(folder))
            except Different as error:
                click.echo(f"{name}: {error}")
                sys.exit(1)
        show(name, n_ids, reasons)


if __name__ == "__main__":
    main()
