"""Files of all formats, by name: reading, writing, and checking what was written.

===========  =========================================================  ===================================
format       path                                                       what it cannot hold
===========  =========================================================  ===================================
native       any other ``.json``                                        nothing: it holds all
huggingface  ``tokenizer.json``, ``*.hf.json``, or the folder of a      a token and a special token of one
             model (:mod:`bpe.formats.model_folder`)                    text with two ids, or of one id
                                                                        if it is written in two ways
tiktoken     ``*.tiktoken``                                             pattern, special and added tokens:
                                                                        the reader gives them, all as
                                                                        special tokens, unless it is a
                                                                        published file; merges in another
                                                                        order than the ids
gpt2         a folder with ``vocab.json`` and ``merges.txt``, or the    any pattern but GPT-2's; special
             first of these                                             tokens that do not look like it
                                                                        (:mod:`bpe.formats.gpt2`); added
                                                                        tokens
minbpe       ``*.model``                                                ids that are not in minbpe's order;
                                                                        white space in special tokens;
                                                                        added tokens
===========  =========================================================  ===================================

Three more are only read: ``sentencepiece`` (``*.model``, of type BPE), ``tekken`` (``tekken.json``) and
``npm`` (ranks in JSON, as npm packages have them).
:mod:`bpe.formats.recognition` finds out which format a file is in.

Only native files hold supermerges (:mod:`bpe.vocabulary.supermerges`).

tiktoken, gpt2 and minbpe have no place for the extras of a ``tokenizer.json``, such as a post-processor: a
warning names what is lost (:mod:`bpe.vocabulary.extras`).
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bpe.encoding.engine import Engine
from bpe.formats import FORMATS
from bpe.formats.limits import check_longest
from bpe.formats.model_folder import TOKENIZER, is_folder, warn_without_folder, with_files, write_files
from bpe.pipeline.engine import engine_of, has_pipeline
from bpe.splitting.pattern import Dialect, Pattern
from bpe.support.files import atomic_write
from bpe.support.json_text import read_json
from bpe.support.memory import trim_memory
from bpe.vocabulary.supermerges import refuse_supermerges
from bpe.vocabulary.vocabulary import Vocabulary

JSON = ("native", "huggingface", "tekken", "npm")

GPT2_MERGES = {"vocab.json": "merges.txt", "encoder.json": "vocab.bpe"}
"""GPT-2's two files, as Hugging Face names them, and as OpenAI did."""

MAX_FILE = 1 << 30
"""The most bytes that the file of a tokenizer may have."""

_BLOCK = 1 << 20
_LARGE = 10_000  # tokens

LONGEST = 600
"""The most characters of a message; a longer one is cut in the middle."""

PROBE = (
    "Hello, world! I'll pay $12,345.67 for it; you'RE right.  It\u2019s 'twas DON'T naïve café Straße\r\n\r\n"
    "\tdef f(x):\n\t\treturn x**2 + 0x1F  # CamelCase snake_case 100%\n\n   trailing   \n"
    "Привет, мир! Γειά σου Κόσμε 你好，世界。こんにちは世界 안녕하세요 "  # noqa: RUF001
    "שלום مرحبا नमस्ते สวัสดี ١٢٣ ⅷ ²½\u00a0\u3000\u2028😀👩\u200d👩\u200d👧🇩🇪 e\u0301 \ufeff\ufffd\x00\x7f "
    "aaaaaaaaaaaaaaaaaaaa 日本語テキスト123abc/path/to?q=1&r=[2]{3}\\n end "
)
"""A text with characters of every kind that patterns distinguish."""


def guess_format(path: str | os.PathLike[str]) -> str:
    """Return the format that a path should be written in, by its name; a folder is GPT-2's."""
    path = Path(path)
    if path.suffix in (".tiktoken", ".model"):
        return {".tiktoken": "tiktoken", ".model": "minbpe"}[path.suffix]
    if path.is_dir() or path.name == "vocab.json":
        return "gpt2"
    if path.suffix == ".json":
        is_other = path.name == TOKENIZER or path.name.endswith(".hf.json")
        return "huggingface" if is_other else "native"
    raise ValueError(f"the name does not tell the format: it may be {', '.join(FORMATS)}")


def _module_of(format: str) -> Any:
    # At first use: some of them load the compiler, which native files do not need.
    return importlib.import_module(f"bpe.formats.{format}")


# ---------------------------------------------------------------------------------------------- reading
def read(
    path: str | os.PathLike[str], format: str, *, merges: str | os.PathLike[str] | None = None, **given: Any
) -> tuple[Vocabulary, Pattern]:
    """Read a file of any format."""
    if format == "gpt2":
        return of_content([*map(read_bytes, _files_of_gpt2(path, merges))], format, **given)
    is_model = format == "huggingface" and Path(path).is_dir()
    data = read_bytes(Path(path, TOKENIZER) if is_model else path)
    vocabulary, pattern = of_content(read_json(data) if format in JSON else data, format, **given)
    return (with_files(vocabulary, path) if is_model else vocabulary), pattern


def of_content(
    content: Any,
    format: str,
    *,
    pattern: Any = None,
    special_tokens: Mapping[str, int] | None = None,
    dialect: Dialect = "regex",
    compiled_only: bool = False,
) -> tuple[Vocabulary, Pattern]:
    r"""Return the tokenizer in the content of a file of any format."""
    if format == "tiktoken":
        module = _module_of(format)
        known = module.published(content)
        if pattern is None and known is None:
            raise PatternNeeded("a rank file has no split pattern: give one, such as cl100k for cl100k_base")
        vocabulary, own = module.of_file(content, known, pattern, special_tokens, dialect)
    elif pattern is not None or special_tokens:
        raise ValueError(f"the format {format} has its own pattern and special tokens: leave these out")
    elif format == "gpt2":
        vocabulary, own = _module_of(format).parse(*content)
    else:
        module = _module_of(format)
        vocabulary, own = (module.of_document if format in JSON else module.parse)(content)
    check_longest(vocabulary.cut_tokens, "a special token")
    if compiled_only and vocabulary.extras:
        _refuse_expressions(vocabulary)
    if vocabulary.size >= _LARGE:
        trim_memory()
    return vocabulary, Pattern.of(own, compiled_only=compiled_only)


def _refuse_expressions(vocabulary: Vocabulary) -> None:
    """Raise a ValueError if the ``regex`` package runs an expression of a step."""
    from bpe.pipeline.preparation import Preparation  # not at import: rank files have no steps

    steps = Preparation.of(vocabulary)
    for source in steps.expressions() if steps else ():
        raise ValueError(f"the regex package would run {source!r:.80}, of a step: compiled_only refuses that")


class PatternNeeded(ValueError):
    """A rank file is read without a pattern."""


def _files_of_gpt2(
    path: str | os.PathLike[str], merges: str | os.PathLike[str] | None = None
) -> tuple[Path, Path]:
    vocab_json = Path(path)
    if vocab_json.is_dir():
        named = [vocab_json / name for name in GPT2_MERGES]
        vocab_json = next((file for file in named if file.is_file()), named[0])
    name = GPT2_MERGES.get(vocab_json.name, "merges.txt")
    return vocab_json, vocab_json.with_name(name) if merges is None else Path(merges)


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """Return the content of a file; ValueError if it has more than :data:`MAX_FILE` bytes."""
    with open(path, "rb") as file:
        blocks, size = [], 0
        while size <= MAX_FILE and (block := file.read(_BLOCK)):  # a device may have no end
            blocks.append(block)
            size += len(block)
    if size > MAX_FILE:
        raise ValueError(f"not a tokenizer: more than {MAX_FILE} bytes")
    return b"".join(blocks)


@contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Put the name of a file before the message of a ValueError."""
    try:
        yield
    except ValueError as error:
        message = str(error)
        if len(message) > LONGEST:  # it may quote a damaged file at any length
            message = f"{message[: LONGEST // 2]} ... {message[-LONGEST // 2 :]}"
        kind = PatternNeeded if isinstance(error, PatternNeeded) else ValueError
        raise kind(f"{os.fspath(path)}: {message}") from None


# ---------------------------------------------------------------------------------------------- writing
def write(vocabulary: Vocabulary, pattern: Pattern, path: str | os.PathLike[str], format: str) -> None:
    """Write a file of any format; for GPT-2's files and those of a model, a folder, created if missing."""
    if format != "native":
        refuse_supermerges(vocabulary, f"the format {format}")
    check_longest(vocabulary.bytes_of.values())
    if format not in ("native", "huggingface") and has_pipeline(vocabulary):
        raise ValueError(
            f"the format {format} cannot hold what this tokenizer does to a text besides splitting and "
            "merging it: ids or decoded texts would change. A tokenizer.json can hold it"
        )
    if format == "gpt2":
        vocab_json, merges_txt = _module_of(format).dump(vocabulary, pattern)
        folder = Path(path).parent if Path(path).name == "vocab.json" else Path(path)
        folder.mkdir(exist_ok=True)
        atomic_write(folder / "merges.txt", merges_txt)
        atomic_write(folder / "vocab.json", vocab_json)
        return
    module = _module_of(format)
    if format == "native":
        atomic_write(path, module.dump(module.document_of(vocabulary, pattern)))
        return
    data = module.dump(vocabulary, pattern)
    if format == "huggingface":
        module.warn_of_tokenizers(vocabulary, pattern)
        if is_folder(path):
            write_files(vocabulary, path, data)
            return
        warn_without_folder(vocabulary)
    atomic_write(path, data)


def encoders(
    vocabulary: Vocabulary, pattern: Pattern, path: str | os.PathLike[str], format: str
) -> dict[str, Callable[[str], list[int]]]:
    """Return functions that encode with a file: read back here, and by the program of the format.

    All special tokens are allowed.
    """
    given: dict[str, Any] = {}
    if format == "tiktoken":
        given = {"pattern": pattern, "special_tokens": vocabulary.cut_tokens}
    back = engine_of(*read(path, format, **given))
    found = {"read back": lambda text: _encode(back, text)}
    try:
        if format == "tiktoken" and len(pattern.sources) == 1:
            encoding = _module_of(format).encoding_of(back.vocabulary, back.pattern, "probe")
            found["tiktoken"] = lambda text: encoding.encode(text, allowed_special="all")
        elif format in ("huggingface", "gpt2"):
            import tokenizers

            is_1_0 = not hasattr(tokenizers, "models")
            if format == "huggingface":
                file = Path(path, TOKENIZER) if Path(path).is_dir() else path
                other: Any = tokenizers.Tokenizer.from_file(os.fspath(file))
                if is_1_0:
                    for option in ("truncation", "padding"):
                        setattr(other, option, None)
                    other.encode("a")  # the first text shows whether it has code for the pattern
                else:
                    other.no_truncation()
                    other.no_padding()
            elif is_1_0:
                return found  # it does not read GPT-2's files
            else:
                model = tokenizers.models.BPE.from_file(*map(os.fspath, _files_of_gpt2(path)))
                other = tokenizers.Tokenizer(model)
                other.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
                other.add_special_tokens(list(back.vocabulary.special_tokens))
            found["tokenizers"] = lambda text: other.encode(text, add_special_tokens=False).ids
    except ImportError:
        pass
    except Exception as error:  # tokenizers raises no narrower class for a file that it cannot read
        raise ValueError(f"the program of that format cannot read the file: {error}") from None
    return found


def differences(
    vocabulary: Vocabulary, pattern: Pattern, path: str | os.PathLike[str], format: str
) -> str | None:
    """Encode :data:`PROBE` with the file, read back here and by the program of the format.

    Return how the ids differ from those of the vocabulary; None if they are the same.
    """
    text = "".join(f"{PROBE}{token}" for token in ["", *vocabulary.cut_tokens])
    wanted = _encode(engine_of(vocabulary, pattern), text)
    for who, encode in encoders(vocabulary, pattern, path, format).items():
        ids = encode(text)
        if ids != wanted:
            pairs = enumerate(zip(wanted, ids, strict=False))
            at = next((i for i, (ours, theirs) in pairs if ours != theirs), min(len(wanted), len(ids)))
            return (
                f"{who} gives other ids for the probe text, from ids[{at}] on: {ids[at : at + 3]}, "
                f"not {wanted[at : at + 3]}"
            )
    return None


def _encode(engine: Engine, text: str) -> list[int]:
    data = text.encode()
    return engine.encoder_for(data, engine.rules_of("all"), text).encode(data)
