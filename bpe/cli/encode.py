"""``bpe encode``, ``bpe decode``: text to ids and back."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bpe.cli.app import STDIN, STDOUT, load, main, name_of, need_output, read, warn, with_options
from bpe.cli.options import (
    reading_options,
    rules_of,
    special_options,
    text_option,
    texts_of,
    together,
)
from bpe.cli.progress import Stopwatch, human, progress_of

if TYPE_CHECKING:
    import numpy as np

    from bpe.corpus import Corpus
    from bpe.tokenizer import Tokenizer


def report_incomplete(output: str) -> None:
    """Print the names of incomplete files of ids in the folder of an output; nothing is removed.

    Files that another process is writing are not named, on systems with file locks.
    """
    from bpe.id_files.checkpoint import unpacked_state
    from bpe.id_files.output import offsets_path, part_of
    from bpe.support.files import is_locked

    ours = Path(output)
    for saved in sorted(ours.parent.glob("*.state")):
        other = saved.with_suffix("")
        parts = [part_of(other), part_of(offsets_path(other)), saved]
        is_left = other != ours and all(map(Path.is_file, parts)) and not any(map(is_locked, parts))
        if is_left and unpacked_state(saved.read_bytes()):
            names = ", ".join(map(str, parts))
            click.echo(
                f"{other}: not complete: if no other run is writing it, give its command again to complete "
                f"it, or remove {names}",
                err=True,
            )


FORMATS = ["bin", "npy", "nanogpt", "megatron", "parquet", "arrow"]
_SUFFIXES = (".bin", ".npy", ".idx", ".parquet", ".arrow")


id_options = together(
    click.option(
        "--scheduler",
        metavar="ADDRESS",
        help="The address of a Dask cluster that encodes --shards, such as tcp://10.0.0.1:8786.",
    ),
    click.option(
        "--shards", is_flag=True, help="Write one file for each file that is read. -o names a folder."
    ),
    click.option(
        "--end-token",
        metavar="TOKEN",
        help="A special token to put after each document; for nanogpt, that of GPT-2 if none is given.",
    ),
    click.option(
        "--to",
        type=click.Choice(FORMATS),
        help="The format of the output. By default, the ending of its name decides.",
    ),
)
"""The options that say how ids are written."""


def check_id_options(output: str | None, given: dict[str, Any]) -> None:
    """Raise if options cannot be used together, or the output cannot be written."""
    if given["scheduler"] is not None and not given["shards"]:
        raise click.UsageError("--scheduler requires --shards: a cluster encodes files one by one")
    if output is None:
        for name, value in given.items():
            if value is not None and value is not False:
                raise click.UsageError(f"--{name.replace('_', '-')} requires -o: it is for files of ids")
        return
    if output == STDOUT:
        raise click.UsageError("-o -: files of ids cannot go to standard output; to print ids, omit -o")
    if given["shards"]:
        if Path(output).exists():  # otherwise it is created, with its parents
            need_output(output, is_folder=True)
        return
    if given["to"] is None and Path(output).suffix not in _SUFFIXES:
        raise click.UsageError(
            f"-o {output}: the name must end in .bin (ids and nothing else), .npy, .idx, .parquet or .arrow"
        )
    need_output(output)


def is_resumable(output: str) -> bool:
    """Return whether an interrupted run has left files from which it can be resumed."""
    path = Path(output)
    ids = path.with_suffix(".bin") if path.suffix == ".idx" else path
    return any(Path(f"{ids}{end}").exists() for end in (".state", ".ids.state"))


def write_shards(
    tokenizer: Tokenizer, corpus: Corpus, folder: str, options: dict[str, Any], *, as_json: bool
) -> None:
    """Encode each file of a corpus to a folder, and print a summary."""
    watch = Stopwatch()
    try:
        done = tokenizer.encode_shards(corpus, folder, **options)
    except ValueError as error:
        raise with_options(error) from None
    if as_json:
        summary = {
            "output": folder,
            "manifest": str(done.manifest),
            "dtype": done.dtype.name,
            "shards": done.n_shards,
            "skipped": done.n_skipped,
            "again": done.n_again,
            "documents": done.n_documents,
            "tokens": done.n_tokens,
            "text_bytes": done.n_bytes,
            **watch.to_json(),
        }
        click.echo(json.dumps(summary))
    elif options["progress"]:
        text = f"{folder}: {human(done.n_shards)} shard{'s' if done.n_shards != 1 else ''}"
        text += f", {human(done.n_tokens)} tokens as {done.dtype.name}, from {human(done.n_bytes, 'B')}"
        if done.n_skipped:
            text += f"; {human(done.n_skipped)} complete before"
        if done.n_again:
            text += f"; {human(done.n_again)} encoded again, as the source had changed or the output was gone"
        click.echo(text, err=True)


PRINTED = 1 << 16  # ids at a time
DTYPES = click.Choice(["uint16", "uint32"])


# ---------------------------------------------------------------------------------------------- encode
@main.command()
@click.argument("tokenizer", metavar="TOKENIZER")
@click.argument("paths", nargs=-1, metavar="[PATH...]")
@text_option
@click.option("-o", "--output", metavar="FILE", help="Write the ids to a file, or several.")
@id_options
@click.option(
    "--dtype",
    type=DTYPES,
    help="The type of the ids in the file. By default, the smallest that can hold them.",
)
@special_options
@reading_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON: the ids, or with -o a summary.")
def encode(
    tokenizer: str,
    paths: tuple[str, ...],
    text: str | None,
    output: str | None,
    to: str | None,
    end_token: str | None,
    shards: bool,
    scheduler: str | None,
    dtype: str | None,
    allow_special: bool,
    ordinary: bool,
    threads: int | None,
    quiet: bool,
    progress: bool,
    as_json: bool,
    **reading: Any,
) -> None:
    """Encode texts to ids.

    The ids are printed, a line for each document. With -o they are written to a file.

    A PATH is a file, a folder, a glob pattern in quotes, or - for standard input, which is also read if there
    is no PATH. Files end in .txt, .jsonl or .parquet, and may have .gz or .zst after that; a file with
    another name is read as text.

    \b
    ids.bin           the ids and nothing else; ids.npy: a numpy array
    ids.offsets.npy   beside it: where each document begins, and where the last one ends
    ids.idx           ids.bin with this index, for Megatron-LM
    ids.parquet       or ids.arrow: a table, a row for each document: its number, its file, its ids

    nanoGPT reads the .bin that --to nanogpt writes, with a token after each document.

    The text may be larger than the memory. A file gets its name only when it is complete. After Ctrl-C or a
    kill, the same command resumes where it stopped, and says where. For that it keeps ids.bin.part,
    ids.offsets.npy.part and ids.bin.state, which are saved twice a second. With other options or texts,
    or if nothing had been saved, the command starts from the beginning, and says so. Ids are printed while a
    text is read: after an error, the last line is not complete.

    With --shards, -o names a folder, and each file is encoded to a file of its own. Those that are complete
    are listed in shards.jsonl, and skipped the next time.

    A special token in the text is an error unless an option says how to encode it.

    \b
    Example:
      bpe encode tok.json --text 'Hello world'
      echo 'Hello world' | bpe encode tok.json
      bpe encode tok.json corpus.txt --allow-special -o corpus.npy
      bpe encode tok.json corpus/ -o corpus.parquet
      bpe encode tok.json corpus/ -o ids/ --shards --to megatron
      bpe encode tok.json wiki/*.jsonl.gz --field body -o ids.bin --dtype uint16 --threads 2
    """  # noqa: D301
    rules = rules_of(allow_special, ordinary)
    given = {"to": to, "end_token": end_token, "dtype": dtype, "shards": shards, "scheduler": scheduler}
    check_id_options(output, given)
    corpus = texts_of(paths, text, is_quiet=quiet, **reading)
    if output is None:
        _print_ids(load(tokenizer), corpus, rules, as_json)
        return
    shown = progress_of("encoding", "B", quiet=quiet, lines=progress)
    options = {"to": to, "end_token": end_token, "dtype": dtype, "threads": threads, "progress": shown}
    if shards:
        options.update(rules, scheduler=scheduler)
        write_shards(load(tokenizer), corpus, output, options, as_json=as_json)
        return
    summary = _write_ids(load(tokenizer, output), corpus, output, rules, options, is_quiet=quiet)
    if as_json:
        click.echo(json.dumps(summary))
    elif not quiet:
        click.echo(_in_words(summary), err=True)


def _print_ids(tokenizer: Tokenizer, corpus: Corpus, rules: dict[str, Any], as_json: bool) -> None:
    """Print the ids of each document on one line, while it is encoded, without keeping it all in memory."""
    from bpe.encoding.streams import encode_blocks

    begin, between, end = ("[", ", ", "]\n") if as_json else ("", " ", "\n")
    special = tokenizer.engine.rules_of(**rules)
    for number, blocks in enumerate(corpus.documents()):
        before = begin
        try:
            for ids in encode_blocks(tokenizer.engine, blocks, special, corpus.name_of_document(number)):
                for first in range(0, len(ids), PRINTED):
                    some = between.join(map(str, ids[first : first + PRINTED]))
                    click.echo(f"{before}{some}", nl=False)
                    before = between
        except ValueError as error:
            raise with_options(error) from None
        click.echo(f"{end if before == between else begin + end}", nl=False)


def _write_ids(
    tokenizer: Tokenizer,
    corpus: Corpus,
    output: str,
    rules: dict[str, Any],
    options: dict[str, Any],
    *,
    is_quiet: bool,
) -> dict[str, Any]:
    """Encode a corpus to a file; return a summary."""
    from bpe.id_files.encode import encode_files

    def report_resumed(n_bytes: int) -> None:
        if not is_quiet:
            text = f"{output}: continues after {human(n_bytes, 'B')} of text, where an earlier run stopped"
            text += "" if corpus.n_bytes is None else f"; the input has {human(corpus.n_bytes, 'B')}"
            click.echo(text, err=True)

    watch = Stopwatch()
    engine = tokenizer.engine
    special = engine.rules_of(**rules)
    try:
        written = encode_files(engine, corpus, output, special, **options, when_resumed=report_resumed)
    except (KeyboardInterrupt, OSError) as error:
        is_busy = isinstance(error, BlockingIOError)  # the files belong to another process
        if is_resumable(output) and not is_quiet and not is_busy:
            click.echo(f"{output}: the same command continues from here", err=True)
        elif isinstance(error, KeyboardInterrupt) and not is_quiet:
            click.echo(
                f"{output}: nothing was saved yet; the same command starts from the beginning", err=True
            )
        raise
    except ValueError as error:
        raise with_options(error) from None
    if not is_quiet:
        report_incomplete(output)
    return {
        "output": output,
        "offsets": str(written.offsets),
        "dtype": written.dtype.name,
        "documents": written.n_documents,
        "tokens": written.n_tokens,
        "text_bytes": written.n_bytes,
        "resumed": written.is_resumed,
        **watch.to_json(),
    }


def _in_words(summary: dict[str, Any]) -> str:
    n_bytes, n_tokens, seconds = summary["text_bytes"], summary["tokens"], summary["seconds"]
    documents = f"{human(summary['documents'])} document{'s' if summary['documents'] != 1 else ''}"
    text = f"{summary['output']}: {documents}, {human(n_tokens)} tokens as {summary['dtype']}"
    text += f", from {human(n_bytes, 'B')}"
    if summary["resumed"]:
        text += ", partly by an earlier run"
    else:
        text += f" in {seconds:.1f} s ({human(n_bytes / max(seconds, 1e-3), 'B/s')})"
    return text + (f", {n_bytes / n_tokens:.3f} bytes a token" if n_tokens else "")


# ---------------------------------------------------------------------------------------------- decode
@main.command()
@click.argument("tokenizer", metavar="TOKENIZER")
@click.argument("given", nargs=-1, metavar="[ID...|FILE]")
@click.option("--dtype", type=DTYPES, help="The type of the ids in a file that bpe encode -o ids.bin wrote.")
def decode(tokenizer: str, given: tuple[str, ...], dtype: str | None) -> None:
    """Decode ids to the exact bytes.

    The ids are arguments, or in a file, or in standard input if there is neither. A file has numbers with
    spaces or line ends between them, or is a .npy file, or, with --dtype, has numbers of two or four bytes
    each. A file whose name is a number is given as ./123.

    \b
    Example:
      bpe decode tok.json 72 105
      bpe decode tok.json ids.txt > text.txt
      bpe decode tok.json ids.bin --dtype uint16 | head -c 1000
    """  # noqa: D301
    name, ids = _given_ids(given, dtype)
    loaded = load(tokenizer)
    try:
        text = loaded.decode_bytes(ids)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
    sys.stdout.buffer.write(text)
    sys.stdout.buffer.flush()


def _given_ids(given: tuple[str, ...], dtype: str | None) -> tuple[str, Any]:
    """Return where ids come from, for messages, and the ids: arguments, or those in a file."""
    if given and all(map(_is_number, given)):
        if dtype is not None:
            raise click.UsageError("--dtype is for files, not for ids as arguments")
        if Path(given[0]).is_file():
            warn(f"{given[0]} is taken as an id, but it is also a file: for that, write ./{given[0]}")
        return "the arguments", [*map(int, given)]
    if len(given) > 1:
        odd = next(each for each in given if not _is_number(each))
        raise click.UsageError(f"{odd} is not an id; give ids as numbers, or one file")
    file = given[0] if given else STDIN
    try:
        data = read(file)
    except FileNotFoundError:
        hint = "ids are given as numbers with spaces between them; bpe encode --text encodes a text"
        raise click.UsageError(f"no such file: {file}: {hint}") from None
    name = name_of(file)
    return name, _parse_ids(data, name) if dtype is None else _raw_ids(data, name, dtype)


def _is_number(word: str | bytes) -> bool:
    return word.isascii() and word.isdigit() and len(word) < 20


def _raw_ids(data: bytes, name: str, dtype: str) -> np.ndarray:
    import numpy as np

    found = np.dtype(dtype).newbyteorder("<")
    if data.startswith(b"\x93NUMPY"):
        raise ValueError(f"{name}: a .npy file has its own dtype: omit --dtype")
    if len(data) % found.itemsize:
        raise ValueError(f"{name}: {len(data)} bytes are not a whole number of ids of {found.itemsize} bytes")
    return np.frombuffer(data, found)


def _parse_ids(data: bytes, name: str) -> Any:
    if data.startswith(b"\x93NUMPY"):
        import numpy as np

        try:
            ids = np.load(io.BytesIO(data), allow_pickle=False)
        except Exception as error:  # numpy evaluates the header as Python, which may raise any error
            raise ValueError(f"{name}: damaged .npy file: {error}") from None
        if ids.ndim != 1 or ids.dtype.kind not in "iu":
            raise ValueError(f"{name}: an array of {ids.ndim} dimensions of {ids.dtype}, not a list of ids")
        return ids
    ids = []
    for i, word in enumerate(data.split()):
        if not _is_number(word):
            hint = ". For a .bin file, add --dtype uint16 or --dtype uint32" if name.endswith(".bin") else ""
            shown = ascii(word[:20].decode("utf-8", "replace"))
            raise ValueError(f"{name}: ids[{i}] is {shown}, not a number{hint}")
        ids.append(int(word))
    return ids
