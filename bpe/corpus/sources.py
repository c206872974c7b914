"""``Corpus``: paths, folders, glob patterns and documents, and how to read them."""

from __future__ import annotations

import glob
import os
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

from bpe.corpus.reading import BLOCK_BYTES, FORMATS, STDIN, FilePart, kind_of, stamp_of
from bpe.corpus.records import RECORD_BYTES, json_lines, parquet_rows
from bpe.corpus.validity import Errors, check_errors, clean_blocks, clean_document
from bpe.support.arrow import ArrowTexts, arrow_texts
from bpe.support.files import refuse_inputs
from bpe.support.integers import as_integer
from bpe.support.warning import warn

_Advance: TypeAlias = Callable[[int], object]
Format: TypeAlias = Literal["text", "jsonl", "parquet"]
_LOOKED_AT, _LONGEST_NAME = 100, 4096  # documents that are checked; characters of a name
_KIND_OF = {"text": ".txt", "jsonl": ".jsonl", "parquet": ".parquet"}


class Corpus:
    r"""Text to count, to train on or to encode: where it is, and how to read it.

    A path or a list can be given wherever a Corpus is wanted; it is read with the defaults of this class.

    ==========================  ===========================================================================
    a path                      its meaning
    ==========================  ===========================================================================
    ``x.jsonl``, ``x.parquet``  every line or row is a document
    any other file              one document of text
    ``x.jsonl.gz``, ``.zst``    the same, decompressed
    a folder                    all .txt, .jsonl and .parquet files in it and below, compressed ones too,
                                in the order of their names; names that begin with a dot are skipped
    ``Path("books/**/*.md")``   a glob pattern, if no file has that name: the files it matches, in that
                                order
    ``Path("-")``               standard input, one document of text
    ==========================  ===========================================================================

    .zst needs the extra ``zstd``, .parquet the extra ``parquet``.

    Parameters
    ----------
    sources : path, or iterable of path, str or bytes
        A str or bytes in an iterable is a document itself, and so is a row of a ``pyarrow`` array of strings,
        which is not copied (:mod:`bpe.support.arrow`). The files of a list or a tuple are looked up now;
        any other iterable is consumed when the corpus is read.
    field : str
        The field of .jsonl objects, or the column of .parquet files, that holds the text.
    errors : {"keep", "strict", "replace", "skip"}
        What happens to bytes that are not UTF-8: they are kept exactly, are an error, become U+FFFD, or are
        left out. With .jsonl, .parquet and documents in memory, "skip" leaves out the whole document.
    max_record_bytes : int
        A longer line of .jsonl, or text of a row of .parquet, is an error: a record is in memory as a whole.
    format : {"text", "jsonl", "parquet"}, optional
        The format of every file and of standard input. By default, the name of a file decides.

    Raises
    ------
    TypeError
        The sources are a bare str or bytes, or not an iterable, or the field is not a str.
    ValueError
        `errors` or `format` is not one of these, `max_record_bytes` is below 1, or a folder has no files of
        a known format. Or the str in a list are names of files, which would be read as texts.
    OSError
        A file is missing or cannot be examined.

    Warns
    -----
    UserWarning
        A folder has other files, too, which are not read.

    Attributes
    ----------
    field, errors, max_record_bytes, format : str, str, int, str or None
        As given.
    n_bytes : int or None
        Size of all files on disk; None if it is not known before they are read.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.txt").write_text("one two\n")
    ...     _ = Path(folder, "b.jsonl").write_text('{"body": "three"}\n{"body": "four"}\n')
    ...     corpus = Corpus(Path(folder), field="body")
    ...     [b"".join(document) for document in corpus.documents()]
    [b'one two\n', b'three', b'four']
    """

    __module__ = "bpe"  # the name in pickles: users import it from there

    def __init__(
        self,
        sources: os.PathLike[str] | Iterable[os.PathLike[str] | str | bytes],
        *,
        field: str = "text",
        errors: Errors = "keep",
        max_record_bytes: int = RECORD_BYTES,
        format: Format | None = None,
    ) -> None:
        if isinstance(sources, (str, bytes, bytearray, memoryview)):
            raise TypeError(
                f"the corpus is a bare {type(sources).__name__}: "
                "a path must be pathlib.Path(...), a document must be in a list"
            )
        items: Any = [sources] if isinstance(sources, os.PathLike) else sources
        column = arrow_texts(sources)
        items = items if column is None else column
        if not isinstance(items, Iterable):
            raise TypeError(
                f"a corpus must be a pathlib.Path, a list of them, or an iterable of str or bytes documents, "
                f"not {type(sources).__name__}"
            )
        if not isinstance(field, str):
            raise TypeError(f"field must be str, not {type(field).__name__}")
        check_errors(errors)
        most = as_integer(max_record_bytes, "max_record_bytes")
        if most < 1:
            raise ValueError(f"max_record_bytes must be at least 1, not {max_record_bytes}")
        if format not in (None, *_KIND_OF):
            raise ValueError(f"format must be one of {', '.join(map(repr, _KIND_OF))}, not {format!r}")
        self.field, self.errors, self.max_record_bytes, self.format = field, errors, most, format
        self._begun: list[tuple[int, FilePart | None]] = []  # (number of its first document, file)
        self._name = _name_of(items)
        self._items: Iterable[Any] = items
        self.n_bytes: int | None = None
        self._given: list[Path] = []
        if isinstance(items, ArrowTexts):
            self.n_bytes = int(items.lengths.sum())
        if isinstance(items, (list, tuple)):
            _refuse_names(items)
            self._given = [Path(item) for item in items if isinstance(item, os.PathLike)]
            self._items = [part for item in items for part in _expanded(item)]
            sizes = [_size_of(item) for item in self._items]
            if None not in sizes:
                self.n_bytes = sum(size for size in sizes if size is not None)

    @classmethod
    def of(cls, corpus: CorpusLike) -> Corpus:
        """Return `corpus` itself if it is a Corpus, else the Corpus of these sources.

        Parameters
        ----------
        corpus : Corpus, or what its constructor takes

        Returns
        -------
        Corpus

        Raises
        ------
        TypeError, ValueError, OSError
            As the constructor.

        Complexity
        ----------
        One `stat` for each file.

        Examples
        --------
        >>> Corpus.of(["a document"])
        <Corpus: a list of one document>
        """
        return corpus if isinstance(corpus, Corpus) else cls(corpus)

    def __repr__(self) -> str:
        return f"<Corpus: {self._name}>"

    def __str__(self) -> str:
        """Return a short name of the corpus, for messages."""
        return self._name

    @property
    def is_lasting(self) -> bool:
        """Whether the corpus can be read more than once: no iterator, standard input or other pipe."""
        items = self._items
        if iter(items) is items:
            return False
        return not isinstance(items, list) or not any(
            isinstance(item, FilePart) and not item.path.is_file() for item in items
        )

    def paths(self) -> list[Path]:
        """Return the files of the corpus; folders and patterns are resolved.

        Returns
        -------
        list of Path
            In the order in which they are read.

        Raises
        ------
        ValueError
            The corpus has documents in memory, or is an iterable that can be read only once.

        Complexity
        ----------
        O(n) for n files.

        Examples
        --------
        >>> [str(path) for path in Corpus(Path("-")).paths()]
        ['-']
        """
        return [part.path for part in self.parts()]

    def parts(self) -> list[FilePart]:
        """Return the files of the corpus as parts that can be read.

        Returns
        -------
        list of FilePart

        Raises
        ------
        ValueError
            As :meth:`paths`.

        Complexity
        ----------
        O(n) for n files.

        Examples
        --------
        >>> [str(part) for part in Corpus(Path("-")).parts()]
        ['standard input']
        """
        items = self._items
        if not (isinstance(items, list) and all(isinstance(item, FilePart) for item in items)):
            raise ValueError(f"{self._name} holds documents, not files only")
        return items

    def refuse_outputs(self, *outputs: str | os.PathLike[str]) -> None:
        """Raise an error if a file that is to be written is one of the corpus, by this name or another.

        Parameters
        ----------
        *outputs : path
            Those that do not exist yet replace nothing.

        Raises
        ------
        ValueError
            An output is a file of the corpus. Of an iterable, only files that were read so far are known.

        Complexity
        ----------
        O(number of files).

        Examples
        --------
        >>> import bpe
        >>> bpe.Corpus(["some text"]).refuse_outputs("tok.json")
        """
        items = self._items if isinstance(self._items, list) else [part for _, part in self._begun]
        refuse_inputs(outputs, (item.path for item in items if isinstance(item, FilePart)))

    def kind_of(self, path: Path) -> str:
        """Return what a file holds: `format`, or what its name says.

        Parameters
        ----------
        path : Path

        Returns
        -------
        str
            ".txt", ".jsonl", ".parquet"; "" if the name does not tell it, which is read as text.

        Complexity
        ----------
        O(1).

        Examples
        --------
        >>> Corpus([], format="jsonl").kind_of(Path("-")), Corpus([]).kind_of(Path("x.parquet"))
        ('.jsonl', '.parquet')
        """
        return _KIND_OF[self.format] if self.format else kind_of(path)[0]

    def name_of_document(self, number: int) -> str:
        """Return the name of a document that the last call of :meth:`documents` has read, for messages.

        Parameters
        ----------
        number : int
            From 0 on.

        Returns
        -------
        str
            Its file, with its number there if the file has several.

        Complexity
        ----------
        O(log n) for n files.

        Examples
        --------
        >>> corpus = Corpus(["one", "two"])
        >>> len(list(corpus.documents()))
        2
        >>> corpus.name_of_document(1)
        'document 1'
        """
        at = bisect_right(self._begun, number, key=lambda begun: begun[0]) - 1
        first, part = self._begun[at] if at >= 0 else (0, None)
        if part is None:
            return f"document {number}"
        is_one = self.kind_of(part.path) not in (".jsonl", ".parquet")
        return str(part) if is_one else f"{part}, document {number - first}"

    @property
    def origins(self) -> list[tuple[int, Path | None]]:
        """The first document of each file that :meth:`documents` has read; None for documents in memory."""
        begun = [(number, None if part is None else part.path) for number, part in self._begun]
        return begun if begun and begun[0][0] == 0 else [(0, None), *begun]

    def roots(self) -> tuple[Path, list[Path]]:
        """Return the folder that all files are in or below, as they were given, and the folders given.

        Returns
        -------
        root : Path
            Absolute. It is the same whatever files the folders hold.
        folders : list of Path

        Raises
        ------
        ValueError
            The files have no folder in common, such as those of two drives.

        Complexity
        ----------
        One `stat` for each path that was given.

        Examples
        --------
        >>> Corpus(["a document"]).roots() == (Path.cwd(), [])
        True
        """
        folders = [path for path in self._given if path.is_dir()]
        begins = [path if path.is_dir() else _before_magic(path) for path in self._given]
        return Path(os.path.commonpath(list(map(os.path.abspath, begins)) or [os.getcwd()])), folders

    def documents(
        self, advance: _Advance = lambda n: None, *, block_bytes: int = BLOCK_BYTES
    ) -> Iterator[Iterable[bytes]]:
        """Read the documents.

        Parameters
        ----------
        advance : callable
            Called with numbers of bytes while they are read.
        block_bytes : int
            How many bytes are read at a time; the maximal size of a block.

        Yields
        ------
        iterable of bytes
            The blocks of one document. They must be read before the next document is requested.

        Raises
        ------
        ValueError
            A file is damaged or cut off, changes while it is read, does not have the format of its name, or
            has a record that is too long.
        TypeError
            An item is not a path, str or bytes.
        OSError
            A file cannot be read.
        ImportError
            A package for the format is not installed.

        Complexity
        ----------
        O(n) time; memory for a few blocks, and for the longest document that is not a text file.

        Examples
        --------
        >>> [list(document) for document in Corpus(["some text", b"more"]).documents(block_bytes=5)]
        [[b'some ', b'text'], [b'more']]
        """
        if isinstance(self._items, ArrowTexts):
            self._begun = []
            yield from self._of_column(self._items, advance, block_bytes)
            return
        number = 0
        begun: list[tuple[int, FilePart | None]] = []
        self._begun = begun
        for index, item in enumerate(self._items):
            for source in _expanded(item):
                if isinstance(source, FilePart):
                    begun.append((number, source))
                    for blocks in self._of_file(source, advance, block_bytes):
                        number += 1
                        yield blocks
                    continue
                if begun and begun[-1][1] is not None:
                    begun.append((number, None))
                if isinstance(source, Mapping):  # a row of a data set
                    raise TypeError(
                        f"document {index} of the corpus is a {type(source).__name__}: give its text, as in "
                        '(row["text"] for row in rows)'
                    )
                document = clean_document(source, self.errors, f"document {index} of the corpus")
                if document is not None:
                    number += 1
                    yield _in_blocks(document, block_bytes)
                    advance(len(document))

    def _of_column(self, rows: ArrowTexts, advance: _Advance, block_bytes: int) -> Iterator[Iterable[Any]]:
        for number, row in enumerate(rows):
            document: Any = row
            if row is not None and self.errors != "keep":
                document = clean_document(bytes(row), self.errors, f"row {number} of the column")
            if document is not None:
                yield _in_blocks(document, block_bytes)
                advance(len(document))

    def _of_file(self, part: FilePart, advance: _Advance, block_bytes: int) -> Iterator[Iterable[bytes]]:
        kind = self.kind_of(part.path)
        records: Iterator[bytes]
        if kind == ".parquet":
            records = parquet_rows(part, self.field, self.errors, advance, most=self.max_record_bytes)
        else:
            blocks = part.blocks(advance, block_bytes)
            if kind != ".jsonl":
                yield clean_blocks(blocks, self.errors, str(part), part.start)
                return
            records = json_lines(
                blocks, self.field, self.errors, str(part), part.start, most=self.max_record_bytes
            )
        for record in records:
            yield _in_blocks(record, block_bytes)


CorpusLike: TypeAlias = "Corpus | os.PathLike[str] | Iterable[os.PathLike[str] | str | bytes]"


def _in_blocks(document: bytes, block_bytes: int) -> Iterable[bytes]:
    if len(document) <= block_bytes:
        return (document,)
    return (document[start : start + block_bytes] for start in range(0, len(document), block_bytes))


def _refuse_names(items: Sequence[Any]) -> None:
    """Raise a ValueError if all str among the first hundred items are names of files or folders."""
    texts = [item for item in items[:_LOOKED_AT] if isinstance(item, str)]
    if texts and all(len(text) <= _LONGEST_NAME and _is_name(text) for text in texts):
        raise ValueError(
            f"the documents are names of files or folders, such as {texts[0]!r:.100}: "
            "a path must be pathlib.Path(...). If the name itself is the text, give it as bytes"
        )


def _is_name(text: str) -> bool:
    """Return whether a text is the path of a file, or of a folder if it has a "/": a word may be a text."""
    return os.path.isfile(text) or ("/" in text and bool(text.strip("./")) and os.path.isdir(text))


def _name_of(items: Any) -> str:
    if isinstance(items, ArrowTexts):
        return f"a column of {len(items)} rows"
    if not isinstance(items, (list, tuple)):
        return f"an iterable ({type(items).__name__})"
    if len(items) == 1:
        item = items[0]
        if not isinstance(item, os.PathLike):
            return "a list of one document"
        return "standard input" if Path(item) == STDIN else os.fspath(item)
    return f"a list of {len(items)} files or documents"


def _size_of(item: Any) -> int | None:
    stamp = stamp_of(os.stat(item.path)) if isinstance(item, FilePart) and item.path != STDIN else None
    return stamp and stamp[0]


# ----------------------------------------------------------------------------------------- folders and globs
def _expanded(item: Any) -> list[Any]:
    """Return the files that a path stands for, or a list of the item itself if it is not a path."""
    if not isinstance(item, os.PathLike):
        return [item]
    path = Path(item)
    if path == STDIN:
        return [FilePart(path)]
    if path.is_dir():
        return _files_in(path)
    if not path.exists() and glob.has_magic(str(path)):
        found = sorted(Path(name) for name in glob.glob(str(path), recursive=True))
        files = [FilePart(match) for match in found if not match.is_dir()]
        if not files:
            raise FileNotFoundError(f"no file matches {path}")
        return files
    os.stat(path)  # raises the right error for a missing file
    return [FilePart(path)]


def _before_magic(path: Path) -> Path:
    """Return the folder of a file, or the folder that contains the first pattern in a glob pattern."""
    return next(folder for folder in path.parents if path.exists() or not glob.has_magic(str(folder)))


def _files_in(folder: Path) -> list[FilePart]:
    found = []
    for place, folders, names in os.walk(folder, onerror=_raise):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [Path(place, name) for name in names if not name.startswith(".")]
    files = [FilePart(path) for path in sorted(found) if kind_of(path)[0] and path.is_file()]
    others = sorted(path for path in found if not kind_of(path)[0])
    if files and others:
        more = f" and {len(others) - 1} more" if len(others) > 1 else ""
        warn(
            f"not read, as of a folder only {', '.join(FORMATS)} files are: {others[0]}{more}; name others "
            f"by a pattern such as {folder / '**' / '*.md'}",
        )
    if not files:
        raise ValueError(
            f"the folder {folder} has no {', '.join(FORMATS)} files: "
            f"name others by a pattern such as {folder / '**' / '*.md'}"
        )
    return files


def _raise(error: OSError) -> None:
    raise error


__test__ = {"Corpus": Corpus}  # doctest ignores a class that has the name of another module
