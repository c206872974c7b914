"""``bpe bench``: measure the speed of encoding."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from bpe.cli.app import load, main, name_of, read
from bpe.cli.progress import Stopwatch, human

if TYPE_CHECKING:
    from bpe.tokenizer import Tokenizer


BENCH_BYTES = 8_000_000
PASSES = 3


@main.command()
@click.argument("tokenizer", metavar="TOKENIZER")
@click.argument("file", metavar="FILE")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
def bench(tokenizer: str, file: str, as_json: bool) -> None:
    """Measure how fast a file is encoded.

    If tiktoken or tokenizers are installed, they are measured, too. All encode the same text (of a long file,
    the first 8 MB) with this vocabulary, on one thread. A program that gives other ids is not measured. The
    table shows the first pass, and the best of three more.

    \b
    Example:
      bpe bench tok.json corpus.txt
    """  # noqa: D301
    from bpe.splitting.pattern import everything_compiled

    loaded = load(tokenizer)
    data = read(file)[:BENCH_BYTES]
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        if error.start < len(data) - 3:
            raise ValueError(f"{name_of(file)}: not UTF-8 at byte {error.start}") from None
        data = data[: error.start]  # the first 8 MB end inside a character
        text = data.decode()
    if not data:
        raise ValueError(f"{name_of(file)}: empty: there is nothing to measure")
    with everything_compiled():
        _ = loaded.engine.encoder  # created here, so that a short text is not encoded in plain Python
    encoders, absent = _encoders(loaded)
    wanted: Any = None
    results: dict[str, dict[str, float]] = {}
    compiling: dict[str, float] = {}
    for name, encode in encoders.items():
        watch = Stopwatch()
        ids = encode(text)
        seconds = [watch.seconds]
        compiling[name] = round(watch.compiling_seconds, 3)
        if wanted is None:
            wanted = list(ids)
        elif list(ids) != wanted:
            absent[name] = "gives other ids"
            continue
        for _ in range(PASSES):
            started = time.perf_counter()
            encode(text)
            seconds.append(time.perf_counter() - started)
        results[name] = {"first": len(data) / seconds[0], "best": len(data) / min(seconds[1:])}
    if as_json:
        figures = {
            "bytes": len(data),
            "tokens": len(wanted),
            "bytes_per_second": results,
            "not_measured": absent,
            "compiling_seconds": compiling["bpe"],
        }
        click.echo(json.dumps(figures))
        return
    click.echo(
        f"{name_of(file)}: {human(len(data), 'B')}, {human(len(wanted))} tokens, "
        f"{len(data) / len(wanted):.3f} bytes a token; one thread"
    )
    click.echo(f"{'':12}{'first pass':>12}{'best of ' + str(PASSES):>12}{'tokens/s':>16}")
    for name, rates in results.items():
        tokens = rates["best"] * len(wanted) / len(data)
        click.echo(
            f"{name:12}{human(rates['first'], 'B/s'):>12}{human(rates['best'], 'B/s'):>12}{human(tokens):>16}"
        )
    for name, reason in absent.items():
        click.echo(f"{name:12}not measured: {reason}")


def _encoders(tokenizer: Tokenizer) -> tuple[dict[str, Callable[[str], Any]], dict[str, str]]:
    """Return the encoders that can use this vocabulary, and the reasons why the others cannot."""
    encoders: dict[str, Callable[[str], Any]] = {
        "bpe": lambda text: tokenizer.encode(text, disallowed_special=())
    }
    absent = {}
    try:
        theirs = tokenizer.to_tiktoken()
        encoders["tiktoken"] = theirs.encode_ordinary
    except (ImportError, ValueError) as error:
        absent["tiktoken"] = str(error)
    try:
        others = tokenizer.to_huggingface()
        others.encode_special_tokens = True  # special tokens are ordinary text, as for the others
        encoders["tokenizers"] = lambda text: others.encode(text, add_special_tokens=False).ids
    except (ImportError, ValueError) as error:
        absent["tokenizers"] = str(error)
    return encoders, absent
