r"""SentencePiece's table of characters and their new texts, as ``tokenizers`` applies it.

The data, ``precompiled_charsmap``, are::

    number of bytes of the trie, as 4 bytes    the trie    the new texts, each with a NUL after it

The trie is a double array of darts-clone: units of 4 bytes. Its keys are UTF-8, and its values say where in
the texts the new one begins. A unit has the byte that leads to it, the place of the units after it, and
whether a key ends there. Then the unit after it for byte 0 has the value.

Text is replaced by grapheme clusters. For a cluster of less than 6 bytes, the shortest key that it begins
with gives the new text of all of it. If there is none, or if the cluster is longer, each of its characters is
replaced in the same way. So a key that begins with another key is never found.

But: where clusters end, the ``regex`` package says. Unicode's rules for it change now and then, and
``tokenizers`` may follow older or newer ones.
"""

from __future__ import annotations

import numpy as np

from bpe.pipeline.text_changes import ANYTHING, MAX_GROWTH, Heads, TextChange, check_size
from bpe.pipeline.tracked import Tracked
from bpe.splitting.regex_engine import lazy_regex

# A grapheme cluster, by the expression of Unicode's annex 29. \X of the regex package is not used: it takes
# quadratic time for a run of flags, and joins some letters of India that no letter comes before.
_CLUSTER = lazy_regex(
    r"""(?x)\r\n
    |(?:\p{GCB=Prepend}*+(?:
        \p{GCB=L}*+(?:\p{GCB=V}++|\p{GCB=LV}\p{GCB=V}*+|\p{GCB=LVT})\p{GCB=T}*+|\p{GCB=L}++|\p{GCB=T}++
        |\p{GCB=Regional_Indicator}{1,2}
        |\p{ExtPict}(?:\p{GCB=Extend}*+\p{GCB=ZWJ}\p{ExtPict})*+
        |\p{InCB=Consonant}(?:\p{InCB=Extend}*+\p{InCB=Linker}[\p{InCB=Extend}\p{InCB=Linker}]*+\p{InCB=Consonant})*+
        |[^\p{GCB=Control}\p{GCB=CR}\p{GCB=LF}\p{GCB=Prepend}]
      )|\p{GCB=Prepend}++)[\p{GCB=Extend}\p{GCB=ZWJ}\p{GCB=SpacingMark}]*+
    |[\p{GCB=Control}\p{GCB=CR}\p{GCB=LF}]""",
)
_LONGEST = 5  # bytes of what is looked up
_IN_BLOCK = 256  # the units that may follow a unit are in one block of this size
_HAS_VALUE, _IS_FAR = 1 << 8, 1 << 9
_BYTE, _VALUE = 0x800000FF, 0x7FFFFFFF
_MOST_KNOWN = 10_000
# A cluster begins with these, whatever is before; but not after a character that joins all.
_BEGINS = lazy_regex("[ -~\u3041-\u3096\u30a1-\u30fa\u3400-\u9fff]")
_JOINS_ALL = lazy_regex(r"\p{GCB=Prepend}")


class CharacterMap(TextChange):
    """The change that a table of characters describes."""

    def __init__(self, data: bytes, where: str) -> None:
        n_bytes = int.from_bytes(data[:4], "little")
        if len(data) < 4 + n_bytes or n_bytes == 0 or n_bytes % (4 * _IN_BLOCK):
            raise ValueError(
                f"{where} is damaged: it must begin with the size of its trie, a multiple of "
                f"{4 * _IN_BLOCK}, but this is {n_bytes}, of {len(data)} bytes in all"
            )
        units = np.frombuffer(data, "<u4", n_bytes // 4, 4).astype(np.int64)
        self._texts = data[4 + n_bytes :]
        try:
            self._texts.decode()
        except UnicodeDecodeError as error:
            raise ValueError(f"{where} is damaged: no UTF-8 at byte {4 + n_bytes + error.start}") from None
        # Where the units after a unit are, for byte 0.
        following = np.arange(len(units)) ^ ((units >> 10) << np.where(units & _IS_FAR, 8, 0))
        try:
            _check(units, following, self._texts)
        except ValueError as error:
            raise ValueError(f"{where} is damaged: {error}") from None
        self._units: list[int] = units.tolist()
        self._following: list[int] = following.tolist()
        self._known: dict[str, tuple[str, ...]] = {}
        ascii_texts = {code: "".join(self._parts_of(chr(code))) for code in range(128)}
        self._of_ascii = {code: new for code, new in ascii_texts.items() if new != chr(code)}
        self._is_short = all(len(new) <= MAX_GROWTH for new in ascii_texts.values())

    # ---------------------------------------------------------------------------------------- looking up
    def _found(self, text: str) -> str | None:
        """Return the new text of the shortest key that a text begins with; None if there is none."""
        place = self._following[0]
        for byte in text.encode():
            unit = self._units[place ^ byte]
            if unit & _BYTE != byte or byte == 0:
                return None
            place = self._following[place ^ byte]
            if unit & _HAS_VALUE:
                start = self._units[place] & _VALUE
                end = self._texts.find(b"\0", start)
                return self._texts[start : end if end >= 0 else None].decode()
        return None

    def _parts_of(self, cluster: str) -> tuple[str, ...]:
        """Return the new text of a cluster, or one for each of its characters."""
        if cluster in self._known:
            return self._known[cluster]
        whole = self._found(cluster) if len(cluster.encode()) <= _LONGEST else None
        if whole is not None:
            parts: tuple[str, ...] = (whole,)
        else:
            found = [(self._found(character), character) for character in cluster]
            parts = tuple(character if new is None else new for new, character in found)
        if len(self._known) < _MOST_KNOWN and len(cluster) <= _LONGEST:
            self._known[cluster] = parts
        return parts

    # ------------------------------------------------------------------------------------------ changing
    def plain(self, text: str, most: int) -> str:
        if text.isascii() and self._is_short:
            if not self._of_ascii and "\r\n" not in text:
                return text
            line_end = "".join(self._parts_of("\r\n"))  # the one cluster of two ASCII characters
            return line_end.join([line.translate(self._of_ascii) for line in text.split("\r\n")])
        parts = [part for cluster in _CLUSTER().findall(text) for part in self._parts_of(cluster)]
        check_size(sum(map(len, parts)), most)
        return "".join(parts)

    def tracked(self, text: Tracked, most: int) -> Tracked:
        changes: list[tuple[str, int]] = []
        size = 0
        for cluster in _CLUSTER().findall(text.text):
            parts = self._parts_of(cluster)
            n_replaced = len(cluster) if len(parts) == 1 else 1
            for new in parts:
                check_size(size := size + len(new), most)
                # Characters are replaced one by one, and the last takes what is left; of nothing, the last
                # that was written before. So tokenizers has it.
                changes += [(character, 0) for character in new[:n_replaced]]
                changes += [(character, 1) for character in new[n_replaced:]]
                if len(new) < n_replaced and changes:
                    character, change = changes[-1]
                    changes[-1] = character, change - (n_replaced - len(new))
        return text.changed(changes)

    def heads(self, before: str, after: str) -> Heads:
        if after == "\n":
            is_cut = before not in ("", "\r")
        else:
            is_cut = after in ("\t", "\r") or (
                before != "" and _BEGINS().fullmatch(after) is not None and not _JOINS_ALL().fullmatch(before)
            )
        if not is_cut:
            return None
        return frozenset({after}) if self._begins_no_key(after) else ANYTHING

    def _begins_no_key(self, character: str) -> bool:
        place = self._following[0]
        for byte in character.encode():
            unit = self._units[place ^ byte]
            if unit & _BYTE != byte:
                return True
            place = self._following[place ^ byte]
        return False


def _check(units: np.ndarray, following: np.ndarray, texts: bytes) -> None:
    """Raise a ValueError if a lookup can read past the end of the units or the texts."""
    bytes_after = np.arange(1, 256)
    is_seen, is_value = np.zeros(len(units), bool), np.zeros(len(units), bool)
    places = following[:1]
    for depth in range(_LONGEST + 1):
        if len(places) and places.max() >= len(units):
            raise ValueError(f"a unit of its trie leads to unit {places.max()}, of {len(units)}")
        places = np.unique(places[~is_seen[places]])
        is_seen[places] = True
        if depth == _LONGEST:
            break
        found = [places[:0]]
        for some in np.array_split(places, len(places) // 1024 + 1):
            after = some[:, None] ^ bytes_after
            after = after[(units[after] & _BYTE) == bytes_after]
            found.append(following[after])
            ends = following[after[(units[after] & _HAS_VALUE) > 0]]
            is_value[ends[ends < len(units)]] = True
        places = np.concatenate(found)
    values = units[is_value] & _VALUE
    text_bytes = np.frombuffer(texts + b"\0", np.uint8)
    is_right = values < len(text_bytes)
    is_right[is_right] = (text_bytes[values[is_right]] & 0xC0) != 0x80
    for value in values[~is_right][:1].tolist():
        raise ValueError(f"a key has its new text at byte {value} of {len(texts)}, where no character begins")
