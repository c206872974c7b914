"""The state of a run that is not complete: its progress, and checksums of all that it has written."""

from __future__ import annotations

import json
import os
import stat
import zlib
from dataclasses import asdict, dataclass
from pathlib import Path

from bpe.corpus.reading import BLOCK_BYTES

_MAX_STATE_BYTES = 1 << 12
_TOO_EARLY = "it was stopped before it saved anything"


@dataclass
class State:
    """The progress of the work."""

    key: str  # a digest of the work: tokenizer, options and files
    documents: int = 0  # that are complete
    tokens: int = 0
    document_bytes: int = 0  # that are encoded of the next document
    checksum: int = 0  # of the text that is encoded
    n_bytes: int = 0  # of this text
    ids_checksum: int = 0
    offsets_checksum: int = zlib.crc32(bytes(8))
    is_done: bool = False


def packed_state(state: State) -> bytes:
    """Return a state as it is saved."""
    entries = asdict(state)
    return json.dumps({**entries, "note_checksum": _checksum(entries)}).encode()


def unpacked_state(data: bytes) -> State | None:
    """Return a saved state; None if it is damaged, edited, or of another release."""
    try:
        entries = json.loads(data.decode())
        checksum = entries.pop("note_checksum")
        state = State(**entries)
        return state if checksum == _checksum(asdict(state)) else None
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
        return None


def _checksum(entries: dict[str, object]) -> int:
    return zlib.crc32(json.dumps(entries).encode())


def read_state(path: Path, key: str) -> State | None:
    """Return the state of an earlier run of the same work; None if none can be trusted."""
    state = _saved_state(path)
    return state if state is not None and state.key == key else None


def _saved_state(path: Path) -> State | None:
    try:
        with open(path, "rb") as file:
            return unpacked_state(file.read(_MAX_STATE_BYTES))
    except FileNotFoundError:
        return None


def why_restarted(path: Path, key: str) -> str:
    """Return why an earlier run cannot be continued."""
    if not path.exists():
        return _TOO_EARLY
    state = _saved_state(path)
    if state is None:
        return f"{path.name} is damaged, or of another release"
    if state.key != key:
        return "it had another tokenizer, other options or other texts"
    if state == State(key):
        return _TOO_EARLY
    return "what it wrote was changed"


def holds(path: Path, start: int, n_bytes: int, checksum: int) -> bool:
    """Return whether a file holds what was written to it."""
    found, left = 0, n_bytes
    try:
        with open(path, "rb") as file:
            file.seek(start)
            while left and (block := file.read(min(left, BLOCK_BYTES))):
                found, left = zlib.crc32(block, found), left - len(block)
    except FileNotFoundError:
        return False
    return not left and found == checksum


def require_plain_file(path: Path) -> None:
    """Raise unless a path is free or is a file that nothing else leads to, so that what is written stays."""
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
