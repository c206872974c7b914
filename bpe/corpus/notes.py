"""The note of a run that is not complete: how far it has come, and check sums of all that it wrote."""

from __future__ import annotations

import json
import os
import stat
import zlib
from dataclasses import asdict, dataclass
from pathlib import Path

from bpe.corpus.reading import BLOCK_BYTES

_MOST_BYTES = 1 << 12  # of a note
_TOO_EARLY = "it was stopped before it saved anything"


@dataclass
class State:
    """The progress of the work.

    Attributes
    ----------
    key : str
        Identifies the work; only a run with the same key resumes it.
    documents, tokens : int
        How many complete documents, and how many ids, are written.
    document_bytes : int
        How many bytes of the next document are done.
    checksum : int
        CRC-32 of all bytes of the corpus so far.
    n_bytes : int
        The number of these bytes.
    ids_checksum, offsets_checksum : int
        CRC-32 of the ids and of the offsets that are written. The first offset, 0, is always there.
    is_done : bool
        Whether only the renaming is left.
    """

    key: str
    documents: int = 0
    tokens: int = 0
    document_bytes: int = 0
    checksum: int = 0
    n_bytes: int = 0
    ids_checksum: int = 0
    offsets_checksum: int = zlib.crc32(bytes(8))
    is_done: bool = False


def note_of(state: State) -> bytes:
    """Return the note of a state.

    Parameters
    ----------
    state : State

    Returns
    -------
    bytes

    Examples
    --------
    >>> state_of(note_of(State("work", tokens=3))).tokens
    3
    """
    entries = asdict(state)
    return json.dumps({**entries, "note_checksum": _checksum(entries)}).encode()


def state_of(note: bytes) -> State | None:
    """Return the state that a note tells; None if it is damaged, edited, or of another release.

    Parameters
    ----------
    note : bytes
        Any bytes are allowed.

    Returns
    -------
    State or None

    Examples
    --------
    >>> state_of(note_of(State("work", tokens=3)).replace(b"3", b"4")) is None
    True
    """
    try:
        entries = json.loads(note.decode())
        checksum = entries.pop("note_checksum")
        state = State(**entries)
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
        return None
    return state if checksum == _checksum(asdict(state)) else None


def _checksum(entries: dict[str, object]) -> int:
    return zlib.crc32(json.dumps(entries).encode())


def read_note(path: Path, key: str) -> State | None:
    """Return the state of an earlier run of the same work; None if there is none that can be trusted.

    Parameters
    ----------
    path : Path
    key : str

    Returns
    -------
    State or None

    Raises
    ------
    OSError
        There is a note that cannot be read.

    Examples
    --------
    >>> read_note(Path("no such file"), "work") is None
    True
    """
    try:
        with open(path, "rb") as file:
            state = state_of(file.read(_MOST_BYTES))
    except FileNotFoundError:
        return None
    return state if state is not None and state.key == key else None


def why_anew(path: Path, key: str) -> str:
    """Say why an earlier run cannot be continued.

    Parameters
    ----------
    path : Path
        Where its note would be.
    key : str
        Of the work that is to be done now.

    Returns
    -------
    str

    Raises
    ------
    OSError
        There is a note that cannot be read.

    Examples
    --------
    >>> why_anew(Path("no such file"), "work")
    'it was stopped before it saved anything'
    """
    try:
        with open(path, "rb") as file:
            state = state_of(file.read(_MOST_BYTES))
    except FileNotFoundError:
        return _TOO_EARLY
    if state is None:
        return f"{path.name} is damaged, or of another release"
    if state.key != key:
        return "it had another tokenizer, other options or other texts"
    if state == State(key):
        return _TOO_EARLY
    return "what it wrote was changed"


def holds(path: Path, start: int, n_bytes: int, checksum: int) -> bool:
    """Say whether a file holds what was written to it.

    Parameters
    ----------
    path : Path
    start, n_bytes : int
        The bytes that are looked at; more may follow.
    checksum : int
        Their CRC-32.

    Returns
    -------
    bool
        False if there is no such file.

    Raises
    ------
    OSError
        It cannot be read.

    Complexity
    ----------
    These bytes are read once.

    Examples
    --------
    >>> holds(Path("no such file"), 0, 1, 5)
    False
    """
    found, left = 0, n_bytes
    try:
        with open(path, "rb") as file:
            file.seek(start)
            while left and (block := file.read(min(left, BLOCK_BYTES))):
                found, left = zlib.crc32(block, found), left - len(block)
    except FileNotFoundError:
        return False
    return not left and found == checksum


def must_be_plain(path: Path) -> None:
    """Raise unless a path is free, or a file that nothing else leads to: what is written there stays there.

    Parameters
    ----------
    path : Path

    Raises
    ------
    OSError
        It is a symbolic link, a device, or a file with another name.

    Examples
    --------
    >>> must_be_plain(Path("no such file"))
    """
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        return
    if stat.S_ISLNK(status.st_mode):
        what = "a symbolic link"
    elif not stat.S_ISREG(status.st_mode):
        what = "not a file"
    elif status.st_nlink > 1:
        what = "a file with a second name"
    else:
        return
    raise FileExistsError(f"{path} is {what}, where this run must write a file of its own: remove it first")
