"""Random vocabularies: every way to encode gives what ``bpe.reference`` gives, and the same bytes again."""

from __future__ import annotations

import base64
import pickle
import random
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import bpe
from bpe import reference
from bpe.support.text import as_bytes, as_text, utf8_of
from bpe.tokenizer import Tokenizer
from tests.fuzz import patterns, texts

N_TEXTS = 5
_PARTS = [bytes([value]) for value in b"abc the1'<|>\n\xc3\xa9\xff"]
_SPECIALS = [
    "<|end|>",
    "<|end|><|end|>",
    "<|",
    "<|e",
    "|>",
    "ab",
    "abab",
    "a",
    "é",
    "中文",
    " the",
    "\n",
    "\0",
]
_PATTERNS: list[Any] = [
    *bpe.PATTERNS,
    r"[a-z]+(?=\s|$)|\d{2,3}?",
    r"a*|(?=1)",
    [r"\d{1,2}", r"(?:th|t)+e|x*|[^\x00-\x7f]+", r"\s+(?!\S)|\s+|\w+(?= )"],
    r"(?<=a)[a-z]+|\w| +",
    r"^foo|\w+$|\b\w|.",
    r"(\w)\1|\w+",
]


# ---------------------------------------------------------------------------------------- vocabularies
def vocabulary(chance: random.Random) -> dict[str, Any]:
    """Return the arguments of a tokenizer: bytes in any order, ids with holes, merges in any order."""
    tokens = [bytes([value]) for value in range(256)]
    parts = chance.sample(_PARTS, chance.randrange(1, 7))
    pairs = []
    for _ in range(chance.choice([0, 3, 10, 30])):
        left, right = chance.choice(parts), chance.choice(parts)
        if len(left + right) < 40:
            pairs.append((left, right))
            parts.append(left + right)
    for _ in range(chance.choice([0, 0, 1, 4])):  # no merge makes these, or not before they are used
        parts.append(b"".join(chance.choices(parts, k=chance.randrange(2, 5)))[:40])
        tokens.append(parts[-1])
        pairs += [(chance.choice(parts), chance.choice(parts)) for _ in range(chance.randrange(2))]
    tokens = [*dict.fromkeys([*tokens, *(left + right for left, right in pairs)])]
    which = chance.randrange(4)
    ids = list(range(len(tokens)))
    if which == 1:
        chance.shuffle(ids)
    elif which == 2:
        ids = chance.sample(range(2 * len(tokens) + 1000), len(tokens))
    elif which == 3:
        ids[256:] = sorted(chance.sample(range(256, 100_000), len(tokens) - 256))
    id_of = dict(zip(tokens, ids, strict=True))
    merges = [*dict.fromkeys((id_of[left], id_of[right]) for left, right in pairs)]
    if chance.random() < 0.3:
        chance.shuffle(merges)
    free = chance.sample(sorted(set(range(3 * len(tokens) + 1000)) - set(ids)), 5)
    return {
        "token_bytes": {number: token for token, number in id_of.items()},
        "merges": merges,
        "pattern": chance.choice(_PATTERNS),
        "special_tokens": dict(zip(chance.sample(_SPECIALS, chance.randrange(6)), free, strict=False)),
    }


class Oracle:
    """Encodes by the slow algorithms, one piece after the other."""

    def __init__(self, given: dict[str, Any], atomic_ids: tuple[int, ...]) -> None:
        self.bytes_of = given["token_bytes"]
        id_of = {token: number for number, token in self.bytes_of.items()}
        self._whole = {self.bytes_of[number]: number for number in atomic_ids}
        self._ranks = reference.rank_pairs(given["merges"])
        self._options = {
            "byte_ids": [id_of[bytes([value])] for value in range(256)],
            "new_ids": [id_of[self.bytes_of[a] + self.bytes_of[b]] for a, b in given["merges"]],
        }
        self._specials = {token.encode(): number for token, number in given["special_tokens"].items()}
        self._sources = list(bpe.Pattern.of(given["pattern"]).sources)

    def piece(self, piece: bytes) -> list[int]:
        """Encode a piece."""
        if piece in self._whole:
            return [self._whole[piece]]
        return reference.encode_by_rank(piece, self._ranks, **self._options)

    def ordinary(self, data: bytes) -> list[int]:
        """Encode a text without special tokens."""
        found = patterns.pieces_in_turn(self._sources, as_text(data))
        return [number for piece in found for number in self.piece(as_bytes(piece))]

    def encode(self, data: bytes, allowed: set[str]) -> list[int]:
        """Encode a text, the longest special token first where several begin."""
        tokens = sorted((token.encode() for token in allowed), key=len, reverse=True)
        ids, start, place = [], 0, 0
        while place < len(data):
            found = next((token for token in tokens if data.startswith(token, place)), b"")
            if found:
                ids += [*self.ordinary(data[start:place]), self._specials[found]]
                start = place + len(found)
            place += max(len(found), 1)
        return ids + self.ordinary(data[start:])


class RankOracle(Oracle):
    """The same with the ranks of tokens, by tiktoken's rule."""

    def piece(self, piece: bytes) -> list[int]:
        """Encode a piece."""
        ranks = {token: number for number, token in self.bytes_of.items()}
        return [ranks[piece]] if piece in ranks else reference.encode_by_ranks_of_bytes(piece, ranks)


def of_merges(chance: random.Random, note: Callable[[str], object]) -> tuple[Tokenizer, Oracle]:
    """Return a tokenizer of random merges, and its oracle."""
    given = vocabulary(chance)
    whole = tuple(chance.sample(sorted(given["token_bytes"]), chance.choice([0, 0, 5, 200])))
    shown = {number: token for number, token in given["token_bytes"].items() if len(token) > 1}
    note(f"tokens of more than a byte = {shown}; atomic_ids = {whole if len(whole) < 6 else '...'}")
    note(f"merges = {given['merges']}")
    note(f"pattern = {given['pattern']!a}; special_tokens = {given['special_tokens']!a}")
    tok = Tokenizer(**given)
    return Tokenizer._of(tok.engine.vocabulary.replace(atomic_ids=whole), tok.pattern), Oracle(given, whole)


def of_ranks(chance: random.Random, note: Callable[[str], object]) -> tuple[Tokenizer, Oracle]:
    """Return a tokenizer of a random file of ranks, and its oracle."""
    given = vocabulary(chance)
    lines = [b"%s %d\n" % (base64.b64encode(token), number) for number, token in given["token_bytes"].items()]
    shown = {number: token for number, token in given["token_bytes"].items() if len(token) > 1}
    note(f"ranks of more than a byte = {shown}; pattern = {given['pattern']!a}")
    note(f"special_tokens = {given['special_tokens']!a}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "ranks.tiktoken")
        path.write_bytes(b"".join(lines))
        tok = Tokenizer.from_tiktoken(path, pattern=given["pattern"], special_tokens=given["special_tokens"])
    return tok, RankOracle(given, ())


# -------------------------------------------------------------------------------------------- the ways
def run(chance: random.Random, note: Callable[[str], object]) -> None:
    """Compare every way to encode with the slow algorithms."""
    tok, oracle = chance.choice([of_merges, of_merges, of_ranks])(chance, note)
    check_copies(tok, chance)
    letters = "".join(
        token.decode() for token in oracle.bytes_of.values() if 1 < len(token) < 9 and token.isascii()
    )
    batch = []
    for i in range(N_TEXTS):
        n_parts = chance.choice([5, 30, 30, 200])
        some: Any = texts.text(chance, n_parts, letters) if i % 2 else texts.data(chance, n_parts, letters)
        if chance.random() < 0.5:
            special = "".join(chance.choices([*tok.special_tokens, "a", " "], k=4))
            some += special if isinstance(some, str) else special.encode()
        note(f"text = {some!a}")
        check_special(tok, oracle, some, chance)
        check_ordinary(tok, oracle, some, chance)
        batch.append(some)
    note("all of them as a batch")
    check_batch(tok, oracle, batch, chance)


def check_special(tok: Tokenizer, oracle: Oracle, some: Any, chance: random.Random) -> None:
    """Compare the ways that know special tokens, some of them allowed."""
    names = sorted(tok.special_tokens)
    allowed = {*chance.sample(names, chance.randrange(len(names) + 1))}
    options: dict[str, Any] = {"allowed_special": allowed, "disallowed_special": ()}
    data = utf8_of(some)
    expected = oracle.encode(data, allowed)
    assert tok.encode(some, **options) == expected
    assert tok.decode_bytes(expected) == data
    assert tok.encode_to_numpy(some, **options).tolist() == expected
    assert tok.count(some, **options) == len(expected)
    limit = chance.randrange(len(expected) + 3)
    assert tok.count(some, limit, **options) == min(len(expected), limit + 1)
    assert tok.encode_with_dropout(some, 0.0, seed=1, **options) == expected
    assert tok.decode_bytes(tok.encode_with_dropout(some, chance.random(), seed=1, **options)) == data
    stream, growing = tok.stream_encoder(**options), tok.appendable_encoder(**options)
    ids = []
    for part in texts.cut(chance, some):
        ids += stream.feed(part)
        growing.append(part)
        known = growing.known()
        assert known == expected[: len(known)]
        assert growing.count() == len(growing.ids())
    assert ids + stream.finish() == expected == growing.ids()
    decoder = tok.stream_decoder("surrogateescape")
    told = "".join(decoder.feed(number) for number in expected) + decoder.finish()
    assert told == tok.decode(expected, "surrogateescape") == as_text(data)
    check_truncated(tok, some, expected, options, chance)
    check_refused(tok, some, allowed)


def check_truncated(
    tok: Tokenizer, some: Any, expected: list[int], options: dict[str, Any], chance: random.Random
) -> None:
    """Check that the beginning is one of the promised ones, and the longest of these."""
    most = chance.randrange(len(expected) + 2)
    part = tok.truncate(some, most, **options)
    assert some.startswith(part)
    if len(expected) <= most:
        assert part == some
        return
    ids = tok.encode(part, **options)
    assert len(ids) <= most
    assert ids == expected[: len(ids)]
    for n in range(len(part) + 1, min(len(part) + 200, len(some))):
        longer = some[:n]
        n_characters = len(as_text(longer)) + len(as_text(some[n:]))
        is_cut = isinstance(some, bytes) and len(as_text(some)) != n_characters
        ids = tok.encode(longer, **options)
        assert is_cut or len(ids) > most or ids != expected[: len(ids)], f"{longer!a} is longer than {part!a}"


def check_refused(tok: Tokenizer, some: Any, allowed: set[str]) -> None:
    """Check that a special token that is not allowed is refused, wherever it stands."""
    is_there = any(token.encode() in utf8_of(some) for token in set(tok.special_tokens) - allowed)
    try:
        tok.encode(some, allowed_special=allowed)
    except ValueError as error:
        assert is_there
        assert "holds the special token" in str(error)  # noqa: PT017
    else:
        assert not is_there


def check_ordinary(tok: Tokenizer, oracle: Oracle, some: Any, chance: random.Random) -> None:
    """Compare the ways in which all text is ordinary."""
    data = utf8_of(some)
    expected = oracle.ordinary(data)
    assert tok.encode_ordinary(some) == expected == tok.encode(some, disallowed_special=())
    ids, starts, ends = tok.encode_with_offsets(some, disallowed_special=())
    assert ids.tolist() == expected
    place = 0
    for number, start, end in zip(expected, starts.tolist(), ends.tolist(), strict=True):
        token = oracle.bytes_of[number]
        assert token in utf8_of(some[start:end])
        assert isinstance(some, str) or (start, end) == (place, place + len(token))
        place += len(token)
    counter = tok.interval_counter(some)
    begins, stops = np.sort(np.array([chance.choices(range(len(some) + 1), k=2) for _ in range(6)])).T
    counts = counter.count_many(begins, stops).tolist()
    for start, stop, n in zip(begins.tolist(), stops.tolist(), counts, strict=True):
        assert n == len(oracle.ordinary(utf8_of(some[start:stop]))), (start, stop)


def check_batch(tok: Tokenizer, oracle: Oracle, batch: list[Any], chance: random.Random) -> None:
    """Compare what encodes many texts."""
    allowed = {*tok.special_tokens}
    expected = [oracle.encode(utf8_of(some), allowed) for some in batch]
    threads = chance.choice([None, 1, 2, 3])
    assert tok.encode_batch(batch, threads, allowed_special="all") == expected
    ids, offsets = tok.encode_batch_to_numpy(batch, threads, allowed_special="all")
    assert [part.tolist() for part in np.split(ids, offsets[1:-1])] == expected
    assert tok.decode_batch(expected, "surrogateescape") == [as_text(utf8_of(some)) for some in batch]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, chance.choice(["ids.npy", "ids.bin"]))
        written = tok.encode_files(batch, path, threads=threads, allowed_special="all")
        ids = np.load(path) if path.suffix == ".npy" else np.fromfile(path, written.dtype)
        offsets = np.load(written.offsets)
        assert [part.tolist() for part in np.split(ids, offsets[1:-1])] == expected


def check_copies(tok: Tokenizer, chance: random.Random) -> None:
    """Check that files and pickles hold all of a tokenizer, and that a format which cannot says so."""
    assert pickle.loads(pickle.dumps(tok)) == tok
    with tempfile.TemporaryDirectory() as folder:
        tok.save(Path(folder, "tok.json"))
        assert Tokenizer.load(Path(folder, "tok.json")) == tok
        format = chance.choice(["huggingface", "minbpe", "tiktoken", "gpt2"])
        given = {"pattern": tok.pattern, "special_tokens": tok.special_tokens} if format == "tiktoken" else {}
        try:
            tok._write(Path(folder, format), format)
        except ValueError as error:
            assert len(str(error)) < 2000  # noqa: PT017
            return
        again = Tokenizer._read(Path(folder, format), format, **given)
        sample = texts.text(chance, 100) + "".join(tok.special_tokens)
        assert again.encode(sample, allowed_special="all") == tok.encode(sample, allowed_special="all")
