"""Files of all formats, by name: which format a path is in, reading, writing, and comparing what was written.

===========  =========================================================  ===================================
format       path                                                       what it cannot hold
===========  =========================================================  ===================================
native       any ``.json`` that is no other                             holds all
huggingface  ``tokenizer.json``, ``*.hf.json``                          a token and a special token of the
                                                                        same text
tiktoken     ``*.tiktoken``                                             pattern and special tokens: given
                                                                        again when it is read; merges in an
                                                                        order that is not that of the ids
gpt2         a folder with ``vocab.json`` and ``merges.txt``, or the    any pattern but GPT-2's
             first of these
minbpe       ``*.model``                                                ids that are not in minbpe's order
===========  =========================================================  ===================================
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bpe.files import atomic_write
from bpe.formats import gpt2, huggingface, minbpe, native, tiktoken
from bpe.formats.json_text import read_json
from bpe.split import Pattern
from bpe.vocabulary import Vocabulary

if TYPE_CHECKING:
    from bpe.tokenizer import Tokenizer

__all__ = ["FORMATS", "PROBE", "differences", "guess_format", "naming", "read", "write"]

FORMATS = ("native", "huggingface", "tiktoken", "gpt2", "minbpe")

MAX_FILE = 1 << 30
"""A file of more bytes is no tokenizer's."""

LONGEST = 600
"""A message of more characters is cut in the middle."""

PROBE = (
    "Hello, world! I'll pay $12,345.67 for it; you'RE right.  It\u2019s 'twas DON'T naïve café Straße\r\n\r\n"
    "\tdef f(x):\n\t\treturn x**2 + 0x1F  # CamelCase snake_case 100%\n\n   trailing   \n"
    "Привет, мир! Γειά σου Κόσμε 你好，世界。こんにちは世界 안녕하세요 "  # noqa: RUF001
    "שלום مرحبا नमस्ते สวัสดี ١٢٣ ⅷ ²½\u00a0\u3000\u2028😀👩\u200d👩\u200d👧🇩🇪 e\u0301 \ufeff\ufffd\x00\x7f "
    "aaaaaaaaaaaaaaaaaaaa 日本語テキスト123abc/path/to?q=1&r=[2]{3}\\n end "
)
"""A text with something of everything that patterns tell apart."""


def guess_format(path: str | os.PathLike[str], *, is_there: bool) -> str:
    """Return the format that a path is in, or should be written in.

    Parameters
    ----------
    path : path
    is_there : bool
        Whether to look at it: then what is in the file counts, but for the first names above.

    Returns
    -------
    str
        One of :data:`FORMATS`.

    Raises
    ------
    ValueError
        Neither name nor content tells.
    OSError
        It cannot be read.

    Complexity
    ----------
    O(1); O(n) for a file of n bytes that is looked at.

    Examples
    --------
    >>> guess_format("out/tokenizer.json", is_there=False)
    'huggingface'
    """
    path = Path(path)
    if path.suffix in (".tiktoken", ".model"):
        return {".tiktoken": "tiktoken", ".model": "minbpe"}[path.suffix]
    if path.is_dir() or path.name == "vocab.json":
        return "gpt2"
    if is_there:
        data = _read(path)
        if data.startswith(minbpe.FIRST_LINE.encode()):
            return "minbpe"
        document = read_json(data)
        is_other = isinstance(document, dict) and "model" in document and "format" not in document
        return "huggingface" if is_other else "native"
    if path.suffix == ".json":
        is_other = path.name == "tokenizer.json" or path.name.endswith(".hf.json")
        return "huggingface" if is_other else "native"
    raise ValueError(f"the name does not tell the format; it is one of {', '.join(FORMATS)}")


# ---------------------------------------------------------------------------------------------- reading
def read(
    path: str | os.PathLike[str],
    format: str,
    *,
    pattern: Any = None,
    special_tokens: Mapping[str, int] | None = None,
) -> tuple[Vocabulary, Pattern]:
    """Read a file of any format.

    Parameters
    ----------
    path : path
    format : str
        One of :data:`FORMATS`.
    pattern, special_tokens : optional
        Of a rank file, which has none. Other formats bring their own, GPT-2's a pattern.

    Returns
    -------
    (Vocabulary, Pattern)

    Raises
    ------
    ValueError
        The file is damaged or something else; or the format brings what was given.
    OSError
        It cannot be read.

    Complexity
    ----------
    That of the format.

    Examples
    --------
    >>> read("missing.model", "minbpe")
    Traceback (most recent call last):
    ...
    FileNotFoundError: [Errno 2] No such file or directory: 'missing.model'
    """
    if format == "tiktoken":
        if pattern is None:
            raise ValueError("a rank file has no split pattern: say which, such as cl100k for cl100k_base")
        return tiktoken.parse(_read(path), special_tokens or {}), Pattern.of(pattern)
    if pattern is not None or special_tokens:
        raise ValueError(f"the format {format} brings its pattern and special tokens: do not give others")
    if format == "gpt2":
        vocab_json = Path(path, "vocab.json") if Path(path).is_dir() else Path(path)
        return gpt2.parse(_read(vocab_json), _read(vocab_json.with_name("merges.txt")))
    data = _read(path)
    if format == "huggingface":
        return huggingface.parse(data)
    return minbpe.parse(data) if format == "minbpe" else native.parts_of(native.parse(data))


def _read(path: str | os.PathLike[str]) -> bytes:
    with open(path, "rb") as file:
        data = file.read(MAX_FILE + 1)  # a device may have no end
    if len(data) > MAX_FILE:
        raise ValueError(f"not a tokenizer: more than {MAX_FILE} bytes")
    return data


@contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Put the name of a file before what is wrong with it.

    Parameters
    ----------
    path : path

    Raises
    ------
    ValueError
        One was raised inside.

    Examples
    --------
    >>> with naming("tok.json"):
    ...     raise ValueError("not JSON")
    Traceback (most recent call last):
    ...
    ValueError: tok.json: not JSON
    """
    try:
        yield
    except ValueError as error:
        message = str(error)
        if len(message) > LONGEST:  # a damaged file can bring in any amount
            message = f"{message[: LONGEST // 2]} ... {message[-LONGEST // 2 :]}"
        raise ValueError(f"{os.fspath(path)}: {message}") from None


# ---------------------------------------------------------------------------------------------- writing
def write(vocabulary: Vocabulary, pattern: Pattern, path: str | os.PathLike[str], format: str) -> None:
    """Write a file of any format; of GPT-2's, two files into a folder, which is made.

    Parameters
    ----------
    vocabulary : Vocabulary
    pattern : Pattern
    path : path
    format : str
        One of :data:`FORMATS`.

    Raises
    ------
    ValueError
        The format cannot hold it. Nothing is written.
    OSError
        It cannot be written.

    Complexity
    ----------
    That of the format.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> words = Vocabulary([bytes([value]) for value in range(256)], [], {})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(words, Pattern.of("gpt2"), pathlib.Path(folder, "new"), "gpt2")
    ...     sorted(file.name for file in pathlib.Path(folder, "new").iterdir())
    ['merges.txt', 'vocab.json']
    """
    if format == "gpt2":
        vocab_json, merges_txt = gpt2.dump(vocabulary, pattern)
        folder = Path(path).parent if Path(path).name == "vocab.json" else Path(path)
        folder.mkdir(exist_ok=True)
        atomic_write(folder / "merges.txt", merges_txt)
        atomic_write(folder / "vocab.json", vocab_json)
        return
    if format == "native":
        data = native.dump(native.document_of(vocabulary, pattern))
    else:
        data = {"huggingface": huggingface, "minbpe": minbpe, "tiktoken": tiktoken}[format].dump(
            vocabulary, pattern
        )
    atomic_write(path, data)


def differences(tokenizer: Tokenizer, path: str | os.PathLike[str], format: str) -> str | None:
    """Read back what was written, here and by the program whose format it is, and encode :data:`PROBE`.

    Parameters
    ----------
    tokenizer : Tokenizer
    path : path
    format : str
        One of :data:`FORMATS`.

    Returns
    -------
    str or None
        What differs; None where nothing does.

    Complexity
    ----------
    That of the format. Of other programs, tiktoken and tokenizers are asked, where they are installed.

    Examples
    --------
    >>> import bpe, tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tok = bpe.train(["low lower"], vocab_size=258, progress=False)
    ...     tok.save(pathlib.Path(folder, "tok.json"))
    ...     differences(tok, pathlib.Path(folder, "tok.json"), "native")
    """
    from bpe.tokenizer import Tokenizer

    text = "".join(f"{PROBE}{token}" for token in ["", *tokenizer.special_tokens])
    wanted = tokenizer.encode(text, allowed_special="all")
    if format == "tiktoken":
        given: dict[str, Any] = {"pattern": tokenizer.pattern, "special_tokens": tokenizer.special_tokens}
    else:
        given = {}
    back = Tokenizer._of(*read(path, format, **given))
    answers = {"read back": back.encode(text, allowed_special="all")}
    try:
        if format == "huggingface":
            import tokenizers

            answers["tokenizers"] = (
                tokenizers.Tokenizer.from_file(os.fspath(path)).encode(text, add_special_tokens=False).ids
            )
        elif format == "tiktoken" and len(tokenizer.pattern.sources) == 1:
            other = tiktoken.encoding_of(back._vocabulary, back.pattern, "probe")
            answers["tiktoken"] = other.encode(text, allowed_special="all")
    except ImportError:
        pass
    for who, ids in answers.items():
        if ids != wanted:
            pairs = enumerate(zip(wanted, ids, strict=False))
            at = next((i for i, (ours, theirs) in pairs if ours != theirs), min(len(wanted), len(ids)))
            return (
                f"{who} gives other ids for the probe text, from ids[{at}] on: {ids[at : at + 3]}, "
                f"not {wanted[at : at + 3]}"
            )
    return None
