r"""SentencePiece's table of characters and their new texts, as it applies them, and as ``tokenizers`` does.

The data, ``precompiled_charsmap``, are::

    number of bytes of the trie, as 4 bytes    the trie    the new texts, each with a NUL after it

The trie is a double array of darts-clone: units of 4 bytes. Its keys are UTF-8, and its values say where in
the texts the new one begins. A unit has the byte that leads to it, the place of the units after it, and
whether a key ends there. Then the unit after it for byte 0 has the value.

SentencePiece replaces the longest key that begins at a place, and goes on after it: :class:`LongestKeys`. A
``tokenizer.json`` that was made of a file of SentencePiece says so by an entry that only this package knows,
``"longest": true``.

``tokenizers`` replaces grapheme clusters: :class:`CharacterMap`. For a cluster of less than 6 bytes, the
shortest key that it begins with gives the new text of all of it. If there is none, or if the cluster is
longer, each of its characters is replaced in the same way. So a key that begins with another key is never
found: of ``e`` with two accents, the second one is lost.

But: where clusters end, the ``regex`` package says. Unicode's rules for it change now and then, and
``tokenizers`` may follow older or newer ones.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from itertools import chain

import numpy as np

from bpe.pipeline.text_changes import ANYTHING, MAX_GROWTH, ByCharacter, Heads, TextChange, check_size
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
_LONGEST = 5  # bytes of a cluster that is looked up
_MOST_BYTES = 64  # of a key, where the longest is looked up; real ones have 13
_IN_BLOCK = 256  # the units that may follow a unit are in one block of this size
_HAS_VALUE, _IS_FAR = 1 << 8, 1 << 9
_BYTE, _VALUE = 0x800000FF, 0x7FFFFFFF
_MOST_KNOWN = 10_000
_MOST_STEPS = 1 << 21  # of a trie whose units are shared; real tables take 45,000
# A cluster begins with these, whatever is before; but not after a character that joins all.
_BEGINS = lazy_regex("[ -~\u3041-\u3096\u30a1-\u30fa\u3400-\u9fff]")
_JOINS_ALL = lazy_regex(r"\p{GCB=Prepend}")


class _Trie:
    """The keys of a table, and their new texts; `depth` is how many bytes of a key are looked up."""

    def __init__(self, data: bytes, where: str, depth: int) -> None:
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
            self._steps = _steps_of(units, following, self._texts, depth)
        except ValueError as error:
            raise ValueError(f"{where} is damaged: {error}") from None
        self._depth = depth
        self._units: list[int] = units.tolist()
        self._following: list[int] = following.tolist()

    def keys_in(self, text: str) -> Iterator[tuple[int, str]]:
        """Yield the keys that a text begins with, the shortest first: how many bytes, and the new text."""
        place = self._following[0]
        for n, byte in enumerate(text.encode()[: self._depth], 1):
            unit = self._units[place ^ byte]
            if unit & _BYTE != byte or byte == 0:
                return
            place = self._following[place ^ byte]
            if unit & _HAS_VALUE:
                start = self._units[place] & _VALUE
                end = self._texts.find(b"\0", start)
                yield n, self._texts[start : end if end >= 0 else None].decode()

    def begins_no_key(self, character: str) -> bool:
        """Return whether no key begins with a character."""
        place = self._following[0]
        for byte in character.encode():
            unit = self._units[place ^ byte]
            if unit & _BYTE != byte:
                return True
            place = self._following[place ^ byte]
        return False

    def later_characters(self) -> set[str]:
        """Return the characters that are in a key, but not only at its beginning."""
        steps: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for place, byte, to in self._steps.tolist():
            steps[place].append((byte, to))

        n_taken = 0

        def characters(place: int, code: int = 0, n_more: int = 0) -> Iterator[tuple[int, int]]:
            nonlocal n_taken
            n_taken += len(steps[place])
            if n_taken > _MOST_STEPS:
                raise ValueError(f"its trie has more than {_MOST_STEPS} ways to go on from a character")
            for byte, to in steps[place]:
                if n_more == 0 and byte < 0x80:
                    yield byte, to
                elif n_more == 0 and byte >= 0xC0:
                    n = 1 + (byte >= 0xE0) + (byte >= 0xF0)
                    yield from characters(to, byte & 0x3F >> n, n)
                elif n_more == 1 and byte < 0xC0:
                    yield code << 6 | byte & 0x3F, to
                elif byte < 0xC0:
                    yield from characters(to, code << 6 | byte & 0x3F, n_more - 1)

        later = set[int]()
        todo = [place for _, place in characters(self._following[0])]
        seen = {*todo}
        while todo:
            for code, place in characters(todo.pop()):
                later.add(code)
                if place not in seen:
                    seen.add(place)
                    todo.append(place)
        return {chr(code) for code in later if code < 0x110000 and not 0xD800 <= code < 0xE000}


class CharacterMap(TextChange):
    """The change that a table of characters describes."""

    def __init__(self, data: bytes, where: str) -> None:
        self._trie = _Trie(data, where, _LONGEST)
        self._known: dict[str, tuple[str, ...]] = {}
        ascii_texts = {code: "".join(self._parts_of(chr(code))) for code in range(128)}
        self._of_ascii = {code: new for code, new in ascii_texts.items() if new != chr(code)}
        self._is_short = all(len(new) <= MAX_GROWTH for new in ascii_texts.values())

    # ---------------------------------------------------------------------------------------- looking up
    def _found(self, text: str) -> str | None:
        """Return the new text of the shortest key that a text begins with; None if there is none."""
        return next((new for _, new in self._trie.keys_in(text)), None)

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
        return frozenset({after}) if self._trie.begins_no_key(after) else ANYTHING


class LongestKeys(TextChange):
    """The change that SentencePiece makes: from each place on, the longest key is replaced."""

    def __init__(self, data: bytes, where: str) -> None:
        self._trie = _Trie(data, where, _MOST_BYTES)
        self._each = ByCharacter(lambda character: self._first(character)[1])
        try:
            self._later = self._trie.later_characters()
        except ValueError as error:
            raise ValueError(f"{where} is damaged: {error}") from None
        self._is_ascii_apart = min(self._later, default="\x80") >= "\x80"
        self._all_later = re.compile(f"[{''.join(map(re.escape, self._later))}]+" if self._later else "(?!)")
        self._of_span = lru_cache(maxsize=_MOST_KNOWN)(lambda span: (*self._replaced(span),))

    def _spans_of(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield where keys of several characters may be: a character, and those that may follow in a key."""
        if self._is_ascii_apart and text.isascii():
            return
        for match in self._all_later.finditer(text):
            yield max(match.start() - 1, 0), match.end()

    def _first(self, text: str) -> tuple[int, str]:
        """Return how many characters are replaced at the beginning of a text, and their new text."""
        found = (1, text[0])
        for n_bytes, new in self._trie.keys_in(text[:_MOST_BYTES]):
            with suppress(UnicodeDecodeError):  # a key of a damaged table may end inside a character
                found = len(text.encode()[:n_bytes].decode()), new
        return found

    def _replaced(self, span: str) -> Iterator[tuple[int, str]]:
        """Yield how many characters are replaced, and their new text, from place to place."""
        place = 0
        while place < len(span):
            n, new = self._first(span[place : place + _MOST_BYTES])
            yield n, new
            place += n

    def plain(self, text: str, most: int) -> str:
        place, parts = 0, list[str]()
        for start, end in self._spans_of(text):
            parts.append(self._each.plain(text[place:start], most))
            found = (self._of_span if end - start <= _LONGEST else self._replaced)(text[start:end])
            parts += [new for _, new in found]
            place = end
        parts.append(self._each.plain(text[place:], most))
        check_size(sum(map(len, parts)), most)
        return "".join(parts)

    def tracked(self, text: Tracked, most: int) -> Tracked:
        place, size, parts, origins = 0, 0, list[str](), list[int]()
        for start, end in [*self._spans_of(text.text), (len(text.text), len(text.text))]:
            alone = ((1, self._each.new_of(character)) for character in text.text[place:start])
            for n, new in chain(alone, self._replaced(text.text[start:end])):
                check_size(size := size + len(new), most)
                parts.append(new)
                origins += [place + min(i, n - 1) for i in range(len(new))]
                place += n
        return text.taking("".join(parts), origins)

    def heads(self, before: str, after: str) -> Heads:
        if after in self._later:
            return None
        return frozenset({after}) if after and self._trie.begins_no_key(after) else ANYTHING


def _steps_of(units: np.ndarray, following: np.ndarray, texts: bytes, depth: int) -> np.ndarray:
    """Return the steps of a trie: from which place, by which byte, to which, ``(n, 3) int64``.

    A ValueError if a lookup of keys of up to `depth` bytes can read past the end of the units or the texts.
    """
    bytes_after = np.arange(1, 256)
    is_seen, is_value = np.zeros(len(units), bool), np.zeros(len(units), bool)
    places, steps = following[:1], [np.empty((0, 3), np.int64)]
    for n in range(depth + 1):
        if len(places) and places.max() >= len(units):
            raise ValueError(f"a unit of its trie leads to unit {places.max()}, of {len(units)}")
        places = np.unique(places[~is_seen[places]])
        is_seen[places] = True
        if n == depth or not len(places):
            break
        found = [places[:0]]
        for some in np.array_split(places, len(places) // 1024 + 1):
            after = some[:, None] ^ bytes_after
            rows, columns = np.nonzero((units[after] & _BYTE) == bytes_after)
            reached = after[rows, columns]
            found.append(following[reached])
            steps.append(np.stack([some[rows], bytes_after[columns], following[reached]], axis=1))
            ends = following[reached[(units[reached] & _HAS_VALUE) > 0]]
            is_value[ends[ends < len(units)]] = True
        places = np.concatenate(found)
    values = units[is_value] & _VALUE
    text_bytes = np.frombuffer(texts + b"\0", np.uint8)
    is_right = values < len(text_bytes)
    is_right[is_right] = (text_bytes[values[is_right]] & 0xC0) != 0x80
    for value in values[~is_right][:1].tolist():
        raise ValueError(f"a key has its new text at byte {value} of {len(texts)}, where no character begins")
    return np.concatenate(steps)
