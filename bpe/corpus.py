"""Where text comes from: files, standard input, documents in memory.

Files are read in blocks, so that a corpus need not fit memory::

    file  --->  blocks of bytes  --->  blocks of text  --->  stretches  --->  pieces
                                       (a character          (a piece lies in
                                        lies in one)          one of them)

A stretch is cut off where :func:`safe_cut` knows that no piece crosses. Patterns that are not named ones, and
texts without a place to cut, are held until the document ends: slower, never wrong.
"""

from __future__ import annotations

import codecs
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypeAlias

from bpe.specials import last_decided
from bpe.split import Pattern
from bpe.text import as_bytes, as_text

if TYPE_CHECKING:
    from typing import Any

__all__ = ["BLOCK_BYTES", "STDIN", "CorpusLike", "Reader", "blocks_of", "safe_cut", "stretches"]

BLOCK_BYTES = 1 << 20
STDIN = Path("-")

CorpusLike: TypeAlias = "os.PathLike[str] | Iterable[os.PathLike[str] | str | bytes]"


# -------------------------------------------------------------------------------------------------- reading
class Reader:
    r"""A corpus, checked, and ready to be read once, document by document.

    Parameters
    ----------
    corpus : path, or iterable of path, str or bytes
        A path is a file of UTF-8 text, and one document; ``Path("-")`` is standard input. A str or bytes in
        an iterable is a document itself.

    Raises
    ------
    TypeError
        The corpus is a bare str or bytes, or no corpus at all.
    OSError
        A file is missing, cannot be read or is a folder. Files in a list or tuple are looked at before any
        is read.

    Attributes
    ----------
    n_bytes : int or None
        Size of all documents; None where that shows only when they are read.

    Examples
    --------
    >>> [list(document) for document in Reader(["one", b"caf\xc3\xa9"]).documents()]
    [['one'], ['café']]
    """

    def __init__(self, corpus: CorpusLike) -> None:
        if isinstance(corpus, (str, bytes, bytearray, memoryview)):
            raise TypeError(
                f"the corpus is a bare {type(corpus).__name__}: "
                "a path must be pathlib.Path(...), a document must be in a list"
            )
        self.items: Iterable[Any] = [corpus] if isinstance(corpus, os.PathLike) else corpus
        if not isinstance(self.items, Iterable):
            raise TypeError(
                f"a corpus must be a pathlib.Path, a list of them, or an iterable of str or bytes documents, "
                f"not {type(corpus).__name__}"
            )
        self.n_bytes: int | None = None
        if isinstance(self.items, (list, tuple)):
            sizes = [self._size(item) for item in self.items if isinstance(item, os.PathLike)]
            if len(sizes) == len(self.items) and None not in sizes:
                self.n_bytes = sum(size for size in sizes if size is not None)

    def __str__(self) -> str:
        """Name the corpus, for messages."""
        if not isinstance(self.items, (list, tuple)):
            return f"an iterable ({type(self.items).__name__})"
        if len(self.items) == 1:
            item = self.items[0]
            if not isinstance(item, os.PathLike):
                return "a list of one document"
            return "standard input" if Path(item) == STDIN else os.fspath(item)
        return f"a list of {len(self.items)} files or documents"

    @staticmethod
    def _size(path: os.PathLike[str]) -> int | None:
        if Path(path) == STDIN:
            return None
        found = os.stat(path)
        if stat.S_ISDIR(found.st_mode):
            raise IsADirectoryError(f"{os.fspath(path)} is a folder: name the files in it")
        return found.st_size if stat.S_ISREG(found.st_mode) else None

    def documents(
        self, advance: Callable[[int], object] = lambda n: None, block_bytes: int = BLOCK_BYTES
    ) -> Iterator[Iterator[str]]:
        """Read the documents.

        Parameters
        ----------
        advance : callable
            Called with the number of bytes of every block, once the next one is asked for.
        block_bytes : int
            How much of a file is read at a time, or in how many characters a document is cut.

        Yields
        ------
        iterator of str
            The blocks of one document, to be used up before the next document is asked for. Joined and
            encoded by :func:`bpe.text.as_bytes`, they are the bytes of the file.

        Raises
        ------
        TypeError
            An item is no path, str or bytes.
        OSError
            A file cannot be read.

        Complexity
        ----------
        O(n) time, O(block_bytes) memory besides documents in memory.

        Examples
        --------
        >>> [list(document) for document in Reader(["some text"]).documents(block_bytes=4)]
        [['some', ' tex', 't']]
        """
        for index, item in enumerate(self.items):
            if isinstance(item, os.PathLike):
                yield self._file(Path(item), advance, block_bytes)
            else:
                yield self._one(as_text(item, f"document {index} of the corpus"), advance, block_bytes)

    @staticmethod
    def _one(document: str, advance: Callable[[int], object], block_bytes: int) -> Iterator[str]:
        for block in blocks_of(document, block_bytes):
            yield block
            advance(len(as_bytes(block)))

    def _file(self, path: Path, advance: Callable[[int], object], block_bytes: int) -> Iterator[str]:
        if path == STDIN:
            yield from self._blocks(sys.stdin.buffer, advance, block_bytes)
            return
        self._size(path)  # says what is wrong with a folder
        with open(path, "rb") as file:
            yield from self._blocks(file, advance, block_bytes)

    @staticmethod
    def _blocks(file: BinaryIO, advance: Callable[[int], object], block_bytes: int) -> Iterator[str]:
        decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        while block := file.read(block_bytes):
            if text := decoder.decode(block):
                yield text
            advance(len(block))
        if text := decoder.decode(b"", final=True):
            yield text


# -------------------------------------------------------------------------------------------------- cutting
def safe_cut(text: str, pattern: Pattern, specials: frozenset[str]) -> int:
    """Return a place where the beginning of a text can be cut off, whatever follows the text.

    What is before the place holds the same pieces and special tokens by itself as it does in the whole.

    Parameters
    ----------
    text : str
        The beginning of a longer text.
    pattern : Pattern
    specials : frozenset of str
        Special tokens.

    Returns
    -------
    int
        0 where nothing can be cut off.

    Complexity
    ----------
    O(n) with special tokens; else what :meth:`Pattern.last_cut` takes.

    Examples
    --------
    >>> safe_cut("one two thr", Pattern.of("gpt2"), frozenset())
    7
    >>> safe_cut("one <| two <| thr", Pattern.of("gpt2"), frozenset(["<| two <|> |>"]))
    3
    """
    end, horizon = last_decided(text, specials)
    return pattern.last_cut(text, end, horizon)


def blocks_of(text: str, size: int = BLOCK_BYTES) -> Iterator[str]:
    """Cut a text into blocks, wherever it may be.

    Parameters
    ----------
    text : str
    size : int
        Characters in a block; the last one has what is left.

    Yields
    ------
    str

    Complexity
    ----------
    O(n) for n characters.

    Examples
    --------
    >>> list(blocks_of("some text", 4))
    ['some', ' tex', 't']
    """
    for start in range(0, len(text), size):
        yield text[start : start + size]


def stretches(blocks: Iterable[str], cut: Callable[[str], int]) -> Iterator[str]:
    """Join the blocks of a document and cut them anew, at places that `cut` names.

    Parameters
    ----------
    blocks : iterable of str
    cut : callable
        Takes the beginning of a text; returns how much of it can be cut off, as :func:`safe_cut` does.

    Yields
    ------
    str
        Joined, they are the document; none is empty.

    Complexity
    ----------
    O(n) for n characters, even if there is no place to cut.

    Examples
    --------
    >>> list(stretches(["on", "e two th", "ree"], lambda text: max(0, text.rfind(" "))))
    ['one two', ' three']
    """
    held, fresh, n_fresh = "", [], 0
    for block in blocks:
        fresh.append(block)
        n_fresh += len(block)
        # What was looked at in vain is looked at again only after it has doubled.
        if n_fresh >= len(held):
            text = held + "".join(fresh)
            place = cut(text)
            if place:
                yield text[:place]
            held, fresh, n_fresh = text[place:], [], 0
    if rest := held + "".join(fresh):
        yield rest
