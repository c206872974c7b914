"""The group of all commands, which prints errors as one line, and functions that the commands share.

Standard output is written completely, or an error names it: Python ignores a short write where its standard
output has no buffer (``python -u``, ``PYTHONUNBUFFERED=1``), and what did not fit on the disk is silently
lost. So the commands write through a buffer, which continues after a short write, and wait for a non-blocking
pipe.
"""

from __future__ import annotations

# All other modules are imported inside the commands, so that --help is fast.
import _thread
import errno
import io
import os
import select
import signal
import sys
import tempfile
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bpe import __version__
from bpe.cli.progress import watching_compiler
from bpe.support.files import refuse_inputs, resolve_links
from bpe.support.old_names import NEW_NAME_OF

if TYPE_CHECKING:
    from bpe.tokenizer import Tokenizer


# -------------------------------------------------------------------- standard streams and interrupts
class _Output(io.FileIO):
    """A file that waits until it can be written, and whose errors name it.

    After an error or an interrupt, it ignores everything that is written: at exit, Python writes the rest of
    its buffers once more.
    """

    _is_broken = False

    def write(self, data: Any, /) -> int:
        if self._is_broken:
            return len(data)
        try:
            while (n := super().write(data)) is None:  # a non-blocking pipe that is full
                select.select([], [self], [])
        except BaseException as error:
            self._is_broken = True
            if isinstance(error, OSError):
                error.filename = "standard output"
            raise
        return n


def open_standard_streams() -> None:
    """Make standard output write everything or raise, and open standard streams that the caller has closed.

    A closed standard input is empty. Writing to a closed standard output is an error. Text for a closed
    standard error is lost.
    """
    if sys.stdin is None:
        sys.stdin = open(os.devnull)  # noqa: SIM115  # open until the process ends, as the others
    if sys.stdout is None:
        # Read-only, so writing is an error; it takes the free file descriptor, so no other file gets it.
        closed = os.open(os.devnull, os.O_RDONLY)
        sys.stdout = _text_output(closed, "utf-8", "strict", is_line_buffered=False)
    elif isinstance(_raw(sys.stdout), io.FileIO):
        sys.stdout.flush()
        encoding, errors = sys.stdout.encoding, sys.stdout.errors or "strict"
        is_line_buffered = getattr(sys.stdout, "line_buffering", False)
        descriptor = sys.stdout.fileno()
        sys.stdout = _text_output(descriptor, encoding, errors, is_line_buffered=is_line_buffered)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115


def _raw(stream: object) -> object:
    """Return the file below the buffers of a stream; None if it has none, such as a stream in memory."""
    buffer = getattr(stream, "buffer", None)
    return getattr(buffer, "raw", buffer)


def _text_output(descriptor: int, encoding: str, errors: str, *, is_line_buffered: bool) -> io.TextIOWrapper:
    output = _Output(descriptor, "wb", closefd=False)
    return io.TextIOWrapper(
        io.BufferedWriter(output), encoding=encoding, errors=errors, line_buffering=is_line_buffered
    )


_RETRY_AFTER = 0.01  # seconds


@contextmanager
def recording_interrupts(received: list[int]) -> Iterator[None]:
    """Record every Ctrl-C in a list, and raise KeyboardInterrupt.

    Where Python cannot raise, such as in a callback of the garbage collector, it would print a traceback and
    continue. Then the exception is raised again a moment later.
    """
    is_default = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if not is_default or threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(number: int, frame: object) -> None:
        received.append(number)
        raise KeyboardInterrupt

    def raise_again(unraisable: Any) -> None:
        if issubclass(unraisable.exc_type, KeyboardInterrupt):
            timer = threading.Timer(_RETRY_AFTER, _thread.interrupt_main)
            timer.daemon = True
            timer.start()
        else:
            report(unraisable)

    report, sys.unraisablehook = sys.unraisablehook, raise_again
    try:
        signal.signal(signal.SIGINT, interrupt)
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        sys.unraisablehook = report


EXIT_BROKEN_PIPE, EXIT_WRONG, EXIT_INTERRUPTED = 1, 2, 130
_NO_ROOM = (errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC))
STDIN = STDOUT = "-"


HELP_GROUPS = {
    "Vocabulary": (
        *("vocab_size", "n_more", "specials", "min_count", "max_token_length", "ties", "like"),
        "temperature",
    ),
    "Output": ("output", "to", "dtype", "end_token", "shards", "runs", "map_file", "as_json"),
    "Special tokens in the text": ("allow_special", "ordinary"),
    "Splitting": ("pattern", "dialect"),
    "Languages": ("dev", "ratio", "window", "alpha", "n_global"),
    "Superwords": ("superwords", "first_merges", "superwords_pattern", "superword_parts"),
    "Input": ("text", "field", "format", "errors", "max_record_bytes"),
    "Running": ("threads", "scheduler", "quiet", "progress"),
}
"""The parts of a long --help, with the parameters in each, in the order in which they are shown."""
_MANY_OPTIONS = 8


class _GroupedHelp(click.Command):
    """A command whose --help groups the options by their use, if there are many."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        options = {each.name: each for each in self.get_params(ctx) if isinstance(each, click.Option)}
        if len(options) <= _MANY_OPTIONS:
            super().format_options(ctx, formatter)
            return
        grouped = {title: [*filter(options.__contains__, names)] for title, names in HELP_GROUPS.items()}
        others = options.keys() - {name for names in grouped.values() for name in names}
        grouped["Other options"] = [name for name in options if name in others]
        for title, names in grouped.items():
            records = [*filter(None, (options[name].get_help_record(ctx) for name in names))]
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


class _OneLineErrors(click.Group):
    """A group of commands whose errors are one line each."""

    command_class = _GroupedHelp

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, args or ["--help"])

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        if not standalone_mode:
            return super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
        open_standard_streams()
        interrupts: list[int] = []
        try:
            given = sys.argv[1:] if args is None else list(args)
            is_quiet = given[:1] == ["warmup"] or any(
                word == "--quiet" or word.startswith("-q") for word in given
            )
            with (
                recording_interrupts(interrupts),
                warnings.catch_warnings(),  # this also restores showwarning
                watching_compiler(is_quiet=is_quiet),
            ):
                warnings.showwarning = lambda message, *_, **__: warn(str(message))
                code = super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
        except (Exception, KeyboardInterrupt) as error:
            # Interrupted code may end with any error.
            code = _interrupted(error) if interrupts else _report(error)
        sys.exit(code)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
            return result
        except BrokenPipeError:
            ctx.exit(EXIT_BROKEN_PIPE)
        except KeyboardInterrupt as error:
            raise click.Abort from error


def _report(error: BaseException) -> int:
    """Print an error as one line, and return the exit code; raise an unexpected error."""
    if isinstance(error, (KeyboardInterrupt, click.Abort)):
        return _interrupted(error)
    if isinstance(error, click.NoSuchOption) and (new := _new_option(error)):
        return _complain(new)
    if isinstance(error, click.ClickException):
        return _complain(error.format_message())
    if isinstance(error, FileNotFoundError):
        return _complain(f"no such file: {error.filename}" if error.filename else str(error))
    if isinstance(error, OSError):
        problem = error.strerror or str(error)
        if error.errno in _NO_ROOM and not error.filename:
            return _complain(f"{problem}: no room for the cache of compiled code, or for a temporary file")
        return _complain(f"{error.filename}: {problem}" if error.filename else problem)
    if isinstance(error, (ValueError, OverflowError, ImportError)):
        return _complain(str(error))
    if isinstance(error, MemoryError):
        return _complain(str(error) or "out of memory")
    raise error


def _new_option(error: click.NoSuchOption) -> str:
    """Return a message about the new name of an option, of one command or of all; "" if it has none."""
    command = f"bpe {error.ctx.info_name}" if error.ctx else "bpe"
    for name in (f"{command} {error.option_name}", error.option_name):
        if name in NEW_NAME_OF:
            return f"{name} is now {NEW_NAME_OF[name]}"
    return ""


def _interrupted(error: BaseException) -> int:
    """Print that the command was interrupted, or the message of the interrupt, which says what was saved."""
    message = next(
        (str(each) for each in (error, error.__cause__) if isinstance(each, KeyboardInterrupt)), ""
    )
    if sys.stderr.isatty():
        click.echo(err=True)  # after the ^C
    return _complain(message or "interrupted", EXIT_INTERRUPTED)


def _complain(message: str, code: int = EXIT_WRONG) -> int:
    try:
        click.echo(f"bpe: {' '.join(message.split())}", err=True)
    except OSError:  # stderr is full; Python would fail again at exit, and change the exit code
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    return code


def warn(message: str) -> None:
    """Print a warning as one line."""
    click.echo(f"bpe: warning: {' '.join(message.split())}", err=True)


@click.group(
    cls=_OneLineErrors, no_args_is_help=False, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(__version__, "-V", "--version")
def main() -> None:
    """Train byte-pair-encoding tokenizers, encode and decode text.

    A TOKENIZER is what bpe train writes, a tokenizer.json of Hugging Face, a tekken.json, a .model file of
    SentencePiece (BPE) or minbpe, GPT-2's vocab.json with merges.txt beside it, a published rank file of
    tiktoken such as cl100k_base.tiktoken, or a folder with one of them.

    \b
    Example:
      bpe train books/*.txt --vocab-size 8000 -o tok.json
      bpe encode tok.json letter.txt | bpe decode tok.json
      bpe count tok.json letter.txt
      bpe show tok.json --text 'Hello world!'

    \b
    To complete commands and options with the Tab key, add this line to
    ~/.bashrc (for zsh and fish, with zsh_source or fish_source):
      eval "$(_BPE_COMPLETE=bash_source bpe)"
    """  # noqa: D301


# ------------------------------------------------------------------------------------------------ shared
def load(path: str, *outputs: str | None) -> Tokenizer:
    """Read a tokenizer in any format, except a rank file that is not a published one.

    It must not be one of the outputs.
    """
    from bpe.formats.conversion import PatternNeeded
    from bpe.tokenizer import Tokenizer

    try:
        loaded = Tokenizer.load(path)
        keep_tokenizer(path, *filter(None, outputs))
        return loaded
    except PatternNeeded:
        raise ValueError(
            f"{path}: a rank file has no split pattern: bpe convert {path} tok.json --pattern NAME adds one"
        ) from None


def keep_tokenizer(path: str, *outputs: str | Path) -> None:
    """Raise if an output would replace the file of the tokenizer, or the one in its folder."""
    from bpe.formats.recognition import file_in

    refuse_inputs(outputs, [file_in(Path(path)) if Path(path).is_dir() else path])


def read(file: str) -> bytes:
    """Read a file, or standard input."""
    if file == STDIN:
        return sys.stdin.buffer.read()
    if Path(file).is_dir():
        raise IsADirectoryError(f"{file} is a folder: a file is required")
    return Path(file).read_bytes()


def name_of(file: str) -> str:
    """Return the name of a file, for messages."""
    return "standard input" if file == STDIN else file


def need_output(output: str, *, is_folder: bool = False) -> None:
    """Raise before the work begins if its output, a file or a folder of files, cannot be written."""
    if output == STDOUT:
        if is_folder:
            raise click.UsageError("a folder cannot be written to standard output: give its name")
        return
    path = resolve_links(output)
    folder = path if is_folder and path.exists() else path.parent
    if path.is_dir() and not is_folder:
        raise IsADirectoryError(f"{output} is a folder: a file name is required")
    if not folder.is_dir():
        what = f"{folder} is a file, not a folder" if folder.exists() else f"no such folder: {folder}"
        raise NotADirectoryError(what)
    is_replaced = not path.exists() or path.is_file() or is_folder  # a device is not replaced
    if not is_replaced and not os.access(path, os.W_OK):
        raise PermissionError(f"no permission to write {output}")
    if is_replaced:
        try:
            tempfile.TemporaryFile(dir=folder).close()
        except FileNotFoundError:  # such as in /proc
            raise PermissionError(f"cannot write to {folder}: it does not accept new files") from None
        except PermissionError:
            raise PermissionError(f"no permission to write {output}: its folder is {folder}") from None
        except OSError as error:
            raise PermissionError(f"cannot write to {folder}: {error.strerror}") from None


@contextmanager
def written(output: str) -> Iterator[str]:
    """Yield the path to write to; for -, a temporary file that is then copied to standard output."""
    if output != STDOUT:
        yield output
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "output")
        yield str(path)
        sys.stdout.buffer.write(path.read_bytes())
        sys.stdout.buffer.flush()


def name_of_output(output: str) -> str:
    """Return the name of an output, for messages."""
    return "standard output" if output == STDOUT else output


def only_one_to_stdout(output: str, is_json: bool) -> None:
    """Raise if both a summary and the output itself would be written to standard output."""
    if is_json and output == STDOUT:
        raise click.UsageError("-o - and --json both write to standard output: give a file name to -o")


def with_options(error: ValueError) -> ValueError:
    """Return an error of encoding whose advice names options, not arguments of the library."""
    problem, is_special, _ = str(error).partition(". To encode it")
    if is_special:
        problem += ". To encode it as a special token, use --allow-special; to encode it as text, --ordinary"
    return ValueError(problem)
