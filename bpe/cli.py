"""The command line: ``bpe train``, ``bpe count``, ``bpe encode``, ``bpe decode``, ``bpe inspect``.

What is wrong with the input ends in one line on stderr and exit code 2, an interrupt in exit code 130.
Warnings are a line each. Only results go to stdout.
"""

from __future__ import annotations

import io
import json
import os
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bpe import __version__

# Everything else is imported by the commands, so that --help does not wait for it.
if TYPE_CHECKING:
    from bpe.corpus import Corpus
    from bpe.counts import WordCounts
    from bpe.tokenizer import Tokenizer

__all__ = ["main"]

EXIT_BROKEN_PIPE, EXIT_WRONG, EXIT_INTERRUPTED = 1, 2, 130
STDIN = "-"


class _OneLineErrors(click.Group):
    """A group of commands whose errors are one line each."""

    def main(  # type: ignore[override]
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        if not standalone_mode:
            return super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
        try:
            with warnings.catch_warnings():  # which puts the old function back
                warnings.showwarning = _warn
                code = super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
        except (KeyboardInterrupt, click.Abort):
            code = _complain("interrupted", EXIT_INTERRUPTED)
        except click.ClickException as error:
            code = _complain(error.format_message())
        except FileNotFoundError as error:
            code = _complain(f"no such file: {error.filename}" if error.filename else str(error))
        except OSError as error:
            code = _complain(f"{error.filename}: {error.strerror}" if error.filename else str(error))
        except (ValueError, OverflowError, ImportError) as error:
            code = _complain(str(error))
        except MemoryError as error:
            code = _complain(str(error) or "out of memory")
        sys.exit(code)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
            return result
        except BrokenPipeError:
            # Python flushes stdout once more at exit, and would complain then.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            ctx.exit(EXIT_BROKEN_PIPE)


def _complain(message: str, code: int = EXIT_WRONG) -> int:
    click.echo(f"bpe: {' '.join(message.split())}", err=True)
    return code


def _warn(message: Warning | str, *_: Any, **__: Any) -> None:
    click.echo(f"bpe: warning: {' '.join(str(message).split())}", err=True)


@click.group(
    cls=_OneLineErrors, no_args_is_help=False, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(__version__)
def main() -> None:
    """Train byte-pair-encoding tokenizers, encode and decode text.

    \b
    Example:
      bpe train books/*.txt --vocab-size 8000 -o tok.json
      bpe encode tok.json letter.txt | bpe decode tok.json
    """  # noqa: D301


# ---------------------------------------------------------------------------------------------- corpora
def _corpus_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the arguments that say what to count, and how."""
    for decorate in (
        click.option("--quiet", is_flag=True, help="No progress bars, no summary."),
        click.option(
            "--scheduler", metavar="ADDRESS", help="Count on a Dask cluster, such as tcp://10.0.0.1:8786."
        ),
        click.option(
            "--threads",
            type=click.IntRange(1),
            metavar="N",
            help="At most so many threads; by default, one a processor.",
        ),
        click.option(
            "--errors",
            type=click.Choice(["keep", "strict", "replace", "skip"]),
            default="keep",
            show_default=True,
            help="Bytes that are not UTF-8: keep them exactly, refuse them, put U+FFFD in their place, "
            "or skip them (of records, the whole record).",
        ),
        click.option(
            "--field",
            "--column",
            "field",
            default="text",
            show_default=True,
            metavar="NAME",
            help="Field of .jsonl, column of .parquet that holds the text.",
        ),
        click.option(
            "--special", "specials", multiple=True, metavar="TOKEN", help="A special token; may be repeated."
        ),
        click.option("--pattern", help="Split pattern: a name or a regex.  [default: gpt2]"),
        click.argument("paths", nargs=-1, required=True, metavar="PATH..."),
    ):
        command = decorate(command)
    return command


def _looked_up(
    paths: Sequence[str], pattern: str | None, specials: Sequence[str], field: str, errors: Any
) -> Corpus | WordCounts:
    """Return the corpus that paths name, or the sum of the files of counts that they are."""
    from bpe.corpus import Corpus
    from bpe.counts import WordCounts
    from bpe.formats.counts import MAGIC

    def holds_counts(path: str) -> bool:
        if not os.path.isfile(path):
            return False
        with open(path, "rb") as file:
            return file.read(len(MAGIC)) == MAGIC

    is_counts = [holds_counts(path) for path in paths]
    if not any(is_counts):
        return Corpus([Path(path) for path in paths], field=field, errors=errors)
    if not all(is_counts):
        raise ValueError(
            f"{paths[is_counts.index(True)]} holds counts, {paths[is_counts.index(False)]} does not: "
            "count the text first, with bpe count"
        )
    if pattern is not None or specials:
        raise ValueError("files of counts bring their own pattern and special tokens: leave out the options")
    total = WordCounts.load(paths[0])
    for path in paths[1:]:
        try:
            total += WordCounts.load(path)
        except (ValueError, OverflowError) as error:
            where = "" if str(error).startswith(path) else f"{path}: "
            raise ValueError(f"{where}{error}") from None
    return total


def _need_folder_of(output: str) -> None:
    folder = Path(output).resolve().parent
    if not folder.is_dir():  # better now than after the work
        raise FileNotFoundError(f"no such folder: {folder}")


# ----------------------------------------------------------------------------------------------- count
@main.command()
@_corpus_options
@click.option("-o", "--output", required=True, metavar="FILE", help="Where to write the counts.")
@click.option("--json", "as_json", is_flag=True, help="Print a summary as JSON.")
def count(
    paths: tuple[str, ...],
    pattern: str | None,
    specials: tuple[str, ...],
    field: str,
    errors: Any,
    threads: int | None,
    scheduler: str | None,
    quiet: bool,
    output: str,
    as_json: bool,
) -> None:
    """Count the pieces of texts, once for many trainings.

    A PATH is a file (.txt, .jsonl, .parquet, each also .gz or .zst; any other name is text), a folder with
    such files, a quoted glob pattern, - for standard input, or a file of counts: several are added up.

    \b
    Example:
      bpe count books/ --pattern cl100k --special '<|endoftext|>' -o books.counts
      bpe count books.counts more.counts -o all.counts
      bpe train all.counts --vocab-size 32000 -o tok.json
    """  # noqa: D301
    _need_folder_of(output)
    from bpe.counts import WordCounts
    from bpe.distributed import count_words

    started = time.perf_counter()
    source = _looked_up(paths, pattern, specials, field, errors)
    n_bytes = None
    if isinstance(source, WordCounts):
        counts = source
    else:
        n_bytes = source.n_bytes
        counts = count_words(
            source, pattern or "gpt2", specials, scheduler=scheduler, threads=threads, progress=not quiet
        )
    counts.save(output)
    seconds = time.perf_counter() - started
    if as_json:
        summary = {
            "output": output,
            "pattern": counts.pattern.spec,
            "special_tokens": list(counts.special_tokens),
            "words": len(counts),
            "total": counts.total,
            "corpus_bytes": n_bytes,
            "seconds": round(seconds, 3),
        }
        click.echo(json.dumps(summary))
    elif not quiet:
        text = f"{output}: {_human(len(counts))} distinct pieces, {_human(counts.total)} in all"
        if n_bytes is not None:
            text += f", from {_human(n_bytes, 'B')} in {seconds:.1f} s ({_human(n_bytes / seconds, 'B/s')})"
        click.echo(text, err=True)


def _human(number: float, unit: str = "") -> str:
    """Return a number with three digits, such as 27.1 million, or 114 MB."""
    for power, word, letter in ((9, "billion", "G"), (6, "million", "M"), (3, "thousand", "k"), (0, "", "")):
        value = number / 10**power
        if float(f"{value:.3g}") >= 1 or power == 0:
            digits = f"{value:.0f}" if value >= 100 or power == 0 else f"{value:.3g}"
            return f"{digits} {letter}{unit}" if unit else f"{digits} {word}".rstrip()
    raise AssertionError


# ----------------------------------------------------------------------------------------------- train
@main.command()
@_corpus_options
@click.option(
    "--vocab-size", type=int, required=True, metavar="N", help="Tokens in all, special ones included."
)
@click.option("-o", "--output", required=True, metavar="FILE", help="Where to write the tokenizer.")
@click.option(
    "--min-count",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    metavar="N",
    help="Least count to merge.",
)
@click.option(
    "--ties",
    type=click.Choice(["smallest", "lexicographic"]),
    default="smallest",
    show_default=True,
    help="Which of several pairs with the same count is merged.",
)
@click.option("--selection", type=click.Choice(["heap", "buckets"]), help="Which container finds that pair.")
def train(
    paths: tuple[str, ...],
    pattern: str | None,
    specials: tuple[str, ...],
    field: str,
    errors: Any,
    threads: int | None,
    scheduler: str | None,
    quiet: bool,
    vocab_size: int,
    output: str,
    min_count: int,
    ties: Any,
    selection: str | None,
) -> None:
    """Train a tokenizer on texts, or on counts of them.

    A PATH is a file (.txt, .jsonl, .parquet, each also .gz or .zst; any other name is text), a folder with
    such files, a quoted glob pattern, - for standard input, or a file that bpe count wrote.

    \b
    Example:
      bpe train corpus.txt --vocab-size 32000 --special '<|endoftext|>' -o tok.json
      bpe train 'wiki/*.jsonl.gz' --field body --vocab-size 32000 -o tok.json
      bpe train all.counts --vocab-size 32000 -o tok.json
    """  # noqa: D301
    _need_folder_of(output)
    from bpe.counts import WordCounts
    from bpe.distributed import count_words
    from bpe.training import train as train_tokenizer

    source = _looked_up(paths, pattern, specials, field, errors)
    if scheduler is not None and not isinstance(source, WordCounts):
        source = count_words(source, pattern or "gpt2", specials, scheduler=scheduler, progress=not quiet)
    optional: dict[str, Any] = {"selection": selection} if selection else {}
    if not isinstance(source, WordCounts):
        optional |= {"pattern": pattern or "gpt2", "special_tokens": list(specials), "threads": threads}
    tokenizer = train_tokenizer(
        source, vocab_size=vocab_size, min_count=min_count, ties=ties, progress=not quiet, **optional
    )
    tokenizer.save(output)
    if not quiet:
        click.echo(f"{output}: {tokenizer.vocab_size} tokens", err=True)


# ------------------------------------------------------------------------------------- encode and decode
@main.command()
@click.argument("tokenizer", metavar="TOKENIZER")
@click.argument("file", default=STDIN)
@click.option("--numpy", "array_file", metavar="FILE", help="Write the ids to a .npy file, as uint32.")
@click.option("--allow-special", is_flag=True, help="Encode special tokens in the text as such.")
def encode(tokenizer: str, file: str, array_file: str | None, allow_special: bool) -> None:
    """Encode a file, or standard input, to ids separated by spaces.

    \b
    Example:
      echo 'Hello world' | bpe encode tok.json
      bpe encode tok.json corpus.txt --allow-special --numpy corpus.npy
    """  # noqa: D301
    loaded = _load(tokenizer)
    try:
        ids = loaded.encode_to_numpy(_read(file), allowed_special="all" if allow_special else frozenset())
    except ValueError as error:
        problem, is_special, _ = str(error).partition(". To encode it")
        if is_special:  # what the message goes on with is for callers of the library
            problem += ". To encode it as a special token, use --allow-special"
        raise ValueError(f"{_name(file)}: {problem}") from None
    if array_file is None:
        click.echo(" ".join(map(str, ids.tolist())))
        return
    import numpy as np

    from bpe.files import atomic_write

    buffer = io.BytesIO()
    np.save(buffer, ids)
    atomic_write(array_file, buffer.getvalue())


@main.command()
@click.argument("tokenizer", metavar="TOKENIZER")
@click.argument("file", default=STDIN)
def decode(tokenizer: str, file: str) -> None:
    """Decode a file of ids, or standard input, to the exact bytes.

    The ids are numbers separated by white space, or a .npy file.

    \b
    Example:
      bpe decode tok.json ids.txt > text.txt
    """  # noqa: D301
    ids = _parse_ids(_read(file), _name(file))
    try:
        text = _load(tokenizer).decode_bytes(ids)
    except ValueError as error:
        raise ValueError(f"{_name(file)}: {error}") from None
    sys.stdout.buffer.write(text)
    sys.stdout.buffer.flush()


def _parse_ids(data: bytes, name: str) -> Any:
    if data.startswith(b"\x93NUMPY"):
        import numpy as np

        try:
            ids = np.load(io.BytesIO(data), allow_pickle=False)
        except (ValueError, EOFError) as error:
            raise ValueError(f"{name}: damaged .npy file: {error}") from None
        if ids.ndim != 1 or ids.dtype.kind not in "iu":
            raise ValueError(f"{name}: an array of {ids.ndim} dimensions of {ids.dtype}, not a list of ids")
        return ids
    ids = []
    for i, word in enumerate(data.split()):
        if not (word.isdigit() and len(word) < 20):
            raise ValueError(f"{name}: ids[{i}] is {word[:50].decode('utf-8', 'replace')!r}, not a number")
        ids.append(int(word))
    return ids


# --------------------------------------------------------------------------------------------- inspect
@main.command()
@click.argument("tokenizer", metavar="TOKENIZER")
@click.option(
    "--text", "file", metavar="FILE", help="Measure the compression of this file; - for standard input."
)
def inspect(tokenizer: str, file: str | None) -> None:
    """Show what is in a tokenizer.

    \b
    Example:
      bpe inspect tok.json --text letter.txt
    """  # noqa: D301
    loaded = _load(tokenizer)
    data = None if file is None else _read(file)  # what is wrong shows before anything is printed
    for line in _describe(loaded):
        click.echo(line)
    if data is not None:
        n_tokens = len(loaded.encode(data, allowed_special="all"))
        per_token = f", {len(data) / n_tokens:.3f} bytes a token" if n_tokens else ""
        click.echo(f"on {_name(file)}: {len(data)} bytes, {n_tokens} tokens{per_token}")


def _describe(tokenizer: Tokenizer, n: int = 10) -> list[str]:
    merges, specials = tokenizer.merges, tokenizer.special_tokens

    def made(rank: int) -> str:
        left, right = merges[rank]
        return f"  {rank:>6}  {tokenizer.token_bytes(left)!r} + {tokenizer.token_bytes(right)!r}"

    longest = sorted(
        {tokenizer.token_bytes(a) + tokenizer.token_bytes(b) for a, b in merges}, key=lambda t: (-len(t), t)
    )
    pattern = tokenizer.pattern.spec
    return [
        f"vocabulary: {tokenizer.vocab_size} ids, {len(merges)} merges, {len(specials)} special tokens",
        f"pattern: {pattern if isinstance(pattern, str) else ' then '.join(pattern)}",
        *(f"special token {number}: {token!r}" for token, number in specials.items()),
        "longest tokens:",
        *(f"  {tokenizer.token_id(token):>6}  {token!r}" for token in longest[:n]),
        "first merges:",
        *map(made, range(min(n, len(merges)))),
        "last merges:",
        *map(made, range(max(0, len(merges) - n), len(merges))),
    ]


# ----------------------------------------------------------------------------------------------- files
def _load(path: str) -> Tokenizer:
    from bpe.tokenizer import Tokenizer

    return Tokenizer.load(path)


def _read(file: str) -> bytes:
    return sys.stdin.buffer.read() if file == STDIN else Path(file).read_bytes()


def _name(file: str | None) -> str:
    return "standard input" if file == STDIN else str(file)


if __name__ == "__main__":
    main()
