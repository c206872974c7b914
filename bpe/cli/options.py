"""Options that several commands share, and the texts or counts that paths stand for."""

from __future__ import annotations

import codecs
import contextlib
import errno
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from bpe.cli.app import STDIN, warn
from bpe.support.files import refuse_inputs

if TYPE_CHECKING:
    from bpe.corpus import Corpus
    from bpe.corpus.reading import FilePart


def source_of(
    paths: Sequence[str],
    output: str,
    pattern: str | None,
    specials: Sequence[str],
    *,
    is_quiet: bool,
    **reading: Any,
) -> Any:
    """Return the corpus of some paths, or the sum of the counts if they are files of counts.

    The output must not be one of the files.
    """
    from bpe.corpus import Corpus
    from bpe.counting.file_format import kind_of_counts

    is_counts = [kind_of_counts(path) is not None for path in paths]
    if not any(is_counts):
        corpus = Corpus([Path(path) for path in paths], **reading)
        corpus.refuse_outputs(output)
        if not is_quiet:
            warn_of_odd_texts(corpus)
        return corpus
    if not all(is_counts):
        raise ValueError(
            f"{paths[is_counts.index(True)]} holds counts, {paths[is_counts.index(False)]} does not: "
            "count the text first, with bpe count-words"
        )
    _refuse_rules(pattern, specials)
    refuse_inputs([output], paths)
    _check_kinds(paths)
    total = _counts_in(paths[0])
    for path in paths[1:]:
        try:
            total += _counts_in(path)
        except (ValueError, OverflowError) as error:
            where = "" if str(error).startswith(path) else f"{path}: "
            raise ValueError(f"{where}{error}") from None
    return total


def _refuse_rules(pattern: str | None, specials: Sequence[str]) -> None:
    """Raise if options say how to split texts, where only counts are given."""
    if pattern is not None or specials:
        raise ValueError("files of counts already have a pattern and special tokens: omit the options")


def _check_kinds(paths: Sequence[str]) -> None:
    """Raise if some of these files hold counts of runs and others counts of words."""
    from bpe.counting.file_format import kind_of_counts

    kinds = [*map(kind_of_counts, paths)]
    if "runs" in kinds and "words" in kinds:
        runs, others = paths[kinds.index("runs")], paths[kinds.index("words")]
        raise ValueError(
            f"{runs} holds counts of runs, {others} only of words: "
            "count all texts with bpe count-words --runs"
        )


def _counts_in(path: str) -> Any:
    """Return the counts in a file, of words or of runs."""
    from bpe.counting.file_format import kind_of_counts
    from bpe.counting.word_counts import WordCounts
    from bpe.superwords.counted_runs import RunCounts

    return RunCounts.load(path) if kind_of_counts(path) == "runs" else WordCounts.load(path)


def weighted_counts_of(
    paths: Sequence[str],
    output: str,
    temperature: float | None,
    pattern: str | None,
    specials: Sequence[str],
) -> tuple[dict[str, Any], dict[str, float]] | None:
    """Return the counts in files by name, and their weights; None without weights and --temperature.

    The output must not be one of the files.
    """
    weights: dict[str, float] = {}
    for path in paths:
        name, _, text = path.rpartition("=")
        with contextlib.suppress(ValueError):  # not a weight
            if name and not os.path.exists(path):
                weight = float(text)
                if name in weights:
                    raise click.UsageError(f"{path}: {name} already has a weight")
                weights[name] = weight
    if temperature is None and not weights:
        return None
    if temperature is not None and weights:
        raise ValueError(f"give weights, as for {next(iter(weights))}, or --temperature, not both")
    if weights and len(weights) < len(paths):
        raise ValueError(
            f"only {len(weights)} of {len(paths)} files have a weight: write FILE=WEIGHT for all"
        )
    _refuse_rules(pattern, specials)
    from bpe.counting.weights import temperature_weights
    from bpe.superwords.counted_runs import RunCounts

    names = [*weights] or paths
    refuse_inputs([output], names)
    _check_kinds(names)
    sources = {name: _counts_in(name) for name in names}
    if temperature is not None:
        words = {name: each.words if isinstance(each, RunCounts) else each for name, each in sources.items()}
        weights = temperature_weights(words, temperature)
    return sources, weights


# -------------------------------------------------------------------- texts that look like another format
MOST_FILES = 100  # how many files of a corpus are checked

_JSON = "looks like JSON lines, and is read as text: add --format jsonl, or --format text if this is intended"
_PARQUET = "looks like Parquet, and is read as text: add --format parquet"
_PACKED = "is compressed, and is read as text: rename it to end in .gz or .zst, or unpack it first"
_TOKENIZER = "is a tokenizer, and is read as text: leave it out if this is not intended"
_UTF_16 = "looks like UTF-16, and is read as bytes: convert it first, such as with iconv -f UTF-16 -t UTF-8"
_NOT_UTF_8 = "not UTF-8: its bytes are kept as they are. --errors strict stops and says where it is wrong"


def warn_of_odd_texts(corpus: Corpus) -> None:
    """Warn about files that do not look like the format they are read as, once for each kind of problem."""
    source = click.get_current_context().get_parameter_source("errors")
    found: dict[str, list[str]] = {}
    for part in corpus.parts()[:MOST_FILES]:
        if corpus.kind_of(part.path) in (".jsonl", ".parquet"):
            continue
        with contextlib.suppress(Exception):  # the command itself will report an error
            has_errors = source is not ParameterSource.DEFAULT
            problem = oddity(_begin_of(part), has_errors=has_errors, is_text=corpus.format == "text")
            if problem:
                found.setdefault(problem, []).append(str(part))
    for problem, names in found.items():
        more = f" (and {len(names) - 1} more)" if len(names) > 1 else ""
        warn(f"{names[0]}: {problem}{more}")


def oddity(begin: bytes, *, has_errors: bool, is_text: bool) -> str:
    r"""Return a warning if a file does not begin like UTF-8 text; "" if it does.

    `has_errors` and `is_text` say whether the options --errors and --format text are given.
    """
    from bpe.formats.recognition import SAVED  # not for --help

    if begin.startswith(b"PAR1") and not is_text:
        return _PARQUET
    if begin.startswith(SAVED):
        return _TOKENIZER
    if begin.startswith((b"\x1f\x8b", b"\x28\xb5\x2f\xfd")):
        return _PACKED
    if begin.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "" if has_errors else _UTF_16
    line, is_whole, _ = begin.removeprefix(codecs.BOM_UTF8).partition(b"\n")
    if line.startswith(b"{") and not is_text and _is_record(line, bool(is_whole)):
        return _JSON
    try:
        codecs.utf_8_decode(begin, "strict", False)
    except UnicodeDecodeError:
        return "" if has_errors else _NOT_UTF_8
    return ""


def _is_record(line: bytes, is_whole: bool) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return not is_whole and line.startswith(b'{"')


def _begin_of(part: FilePart) -> bytes:
    from bpe.corpus.reading import STDIN

    if part.path != STDIN:
        return next(iter(part.blocks()), b"") if part.path.is_file() else b""
    stream = sys.stdin.buffer
    if hasattr(stream, "peek"):
        return stream.peek()
    place = stream.tell()
    begin = stream.read(1 << 16)
    stream.seek(place)
    return begin


# ------------------------------------------------------------------------------- files, or a text itself
_NO_FILE = (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG)


def texts_of(paths: Sequence[str], text: str | None, *, is_quiet: bool, **reading: Any) -> Corpus:
    """Return the corpus of the files that a command was given, of its --text, or of standard input.

    A text in the place of a file is an error that names --text; the name of a file as a text is a warning.
    """
    from bpe.corpus import Corpus

    if text is not None:
        if paths:
            raise click.UsageError("--text and files cannot be given together")
        if os.path.isfile(text):
            warn(
                f"--text {text}: this is the text itself, not the file of this name: "
                "to read the file, omit --text"
            )
        return Corpus([text.encode("utf-8", "surrogateescape")], **reading)
    try:
        corpus = Corpus([Path(path) for path in paths or (STDIN,)], **reading)
    except OSError as error:
        if error.errno not in (None, *_NO_FILE):
            raise
        problem = f"no such file: {error.filename}" if error.filename else str(error)
        raise click.UsageError(f"{problem}. A text itself is given with --text") from None
    if not is_quiet:
        warn_of_odd_texts(corpus)
    return corpus


def rules_of(allow_special: bool, ordinary: bool) -> dict[str, Any]:
    """Return the arguments of ``encode`` that --allow-special and --ordinary stand for."""
    if allow_special and ordinary:
        raise click.UsageError("--allow-special and --ordinary cannot be given together")
    if ordinary:
        return {"disallowed_special": ()}
    return {"allowed_special": "all"} if allow_special else {}


# ----------------------------------------------------------------------------------------------- options
# The same as in bpe.splitting.pattern, whose import would slow down --help.
PATTERNS = ("gpt2", "cl100k", "o200k", "llama3", "qwen2", "deepseek", "whitespace", "none")
OTHER_NAMES = ("r50k_base", "p50k_base", "cl100k_base", "o200k_base")


class PatternType(click.ParamType):  # type: ignore[type-arg]  # not generic in click 8.1
    """The name of a pattern, which shells complete, or a regular expression; never empty."""

    name = "pattern"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the value; fail if it is empty."""
        if not value:
            self.fail(
                f"it is empty: is a variable not set? Give one of {', '.join(PATTERNS)}, or a regular "
                "expression, or omit the option",
                param,
                ctx,
            )
        return value

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return the names that begin with `incomplete`."""
        return [CompletionItem(name) for name in PATTERNS + OTHER_NAMES if name.startswith(incomplete)]


PATTERN_HELP = (
    "Split pattern: gpt2 (or r50k_base, p50k_base), cl100k (cl100k_base), o200k (o200k_base), llama3, qwen2, "
    "deepseek, whitespace, none, or a regular expression."
)


def together(*decorators: Callable[..., Any]) -> Callable[..., Any]:
    """Return the decorator that adds these options and arguments to a command; the last one comes first."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        for each in decorators:
            command = each(command)
        return command

    return decorate


text_option = click.option("--text", metavar="TEXT", help="A text itself, in place of files.")
READING = ("field", "format", "errors", "max_record_bytes")
"""The options that :class:`bpe.Corpus` takes."""

quiet_option = click.option("-q", "--quiet", is_flag=True, help="Print no progress and no summary.")
progress_option = click.option(
    "-v",
    "--progress",
    is_flag=True,
    help="Print a line of progress every ten seconds if there is no terminal, such as in a log.",
)


special_options = together(
    click.option("--ordinary", is_flag=True, help="Encode special tokens in the text as ordinary text."),
    click.option(
        "--allow-special", is_flag=True, help="Encode special tokens in the text as special tokens."
    ),
)
"""The options that say what special tokens in a text are."""


reading_options = together(
    quiet_option,
    progress_option,
    click.option(
        "-j",
        "--threads",
        type=click.IntRange(1),
        metavar="N",
        help="The largest number of threads. By default, one for each processor.",
    ),
    click.option(
        "--max-record-bytes",
        type=click.IntRange(1),
        default=1 << 28,
        show_default=True,
        metavar="N",
        help="The largest size of a line of .jsonl, or of a text in .parquet. A larger one is an error.",
    ),
    click.option(
        "--errors",
        type=click.Choice(["keep", "strict", "replace", "skip"]),
        default="keep",
        show_default=True,
        help="What to do with bytes that are not UTF-8: keep them, stop with an error (strict), replace "
        "them with U+FFFD, or skip them (in .jsonl and .parquet, the whole record).",
    ),
    click.option(
        "--format",
        type=click.Choice(["text", "jsonl", "parquet"]),
        help="What the files hold. By default, their names decide, and standard input is text.",
    ),
    click.option(
        "--field",
        "--column",
        "field",
        default="text",
        show_default=True,
        metavar="NAME",
        help="The field of .jsonl, or the column of .parquet, that holds the text.",
    ),
)
"""The options that say how a corpus is read."""


min_count_option = click.option(
    "--min-frequency",
    "--min-count",
    "min_count",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    metavar="N",
    help="Merge only pairs that occur at least N times.",
)

tokenizer_output_option = click.option(
    "-o",
    "--output",
    required=True,
    metavar="FILE",
    help="The file to write the tokenizer to, or - for standard output.",
)

training_options = together(
    click.option(
        "--like",
        type=click.Choice(["huggingface", "gigatoken"]),
        help="Reproduce another trainer. huggingface: special tokens get the first ids, "
        "not the last; then come single bytes in the order of GPT-2; and tokens must be shorter than "
        "--max-token-length. gigatoken: single bytes in that order.",
    ),
    click.option(
        "--max-token-length",
        type=click.IntRange(2),
        metavar="N",
        help="The longest token that may be made, in bytes.",
    ),
    min_count_option,
    tokenizer_output_option,
    click.option(
        "--vocab-size",
        type=int,
        required=True,
        metavar="N",
        help="The number of tokens, with the special ones.",
    ),
)
"""The options of all commands that train."""


superword_options = together(
    click.option(
        "--superword-parts",
        metavar="REGEX",
        help="For boundless: join only pieces that contain a match of this.  [default: a letter]",
    ),
    click.option(
        "--superwords-pattern",
        metavar="REGEX",
        help="For superbpe: the pattern for the merges after these N.  [default: that of its authors]",
    ),
    click.option(
        "--first-merges",
        type=int,
        metavar="N",
        help="For superbpe: how many merges are learned inside words.",
    ),
    click.option(
        "--superwords",
        type=click.Choice(["superbpe", "boundless"]),
        help="Also learn tokens that join words.",
    ),
)
"""The options of superwords."""


pattern_dialect = click.option(
    "--dialect",
    type=click.Choice(["regex", "rust", "oniguruma"]),
    default="regex",
    show_default=True,
    help="The engine that --pattern is written for. tiktoken uses rust, tokenizers uses oniguruma.",
)
