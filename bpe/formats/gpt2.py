"""GPT-2's two files: ``vocab.json`` and ``merges.txt``.

The first maps tokens to ids, the second has one merge per line. Both write bytes as characters
(:mod:`bpe.vocabulary.byte_level`). The files do not hold the split pattern: it is that of GPT-2. They do not
say which tokens are special, either. A token is read as special if no merge makes it, it is not a single
byte, and its characters stand for themselves: as an ordinary token, no text could ever give it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection

from bpe.formats.limits import check_longest
from bpe.formats.ranks import check_no_added, check_no_atomic, check_no_idle
from bpe.splitting.pattern import Pattern
from bpe.support.json_text import read_json
from bpe.support.warning import warn
from bpe.vocabulary.byte_level import bytes_of, text_of
from bpe.vocabulary.extras import warn_lost
from bpe.vocabulary.vocabulary import MAX_ID, Vocabulary

COMMENT = "#version"
FIRST_LINE = f"{COMMENT}: 0.2"


# ------------------------------------------------------------------------ tokens as text, merges as text
def texts_of(
    vocabulary: Vocabulary, needed_by: str, text_of: Callable[[bytes], str] = text_of
) -> dict[str, int]:
    """Return the ids of all tokens by their text: bytes as characters, special tokens as they are."""
    ids = {text_of(token): token_id for token, token_id in vocabulary.id_of.items()}
    for token, token_id in vocabulary.cut_tokens.items():
        if ids.get(token, token_id) != token_id:
            raise ValueError(
                f"{needed_by} has one table for all tokens, where special token {token!r:.80} (id "
                f"{token_id}) and token {vocabulary.bytes_of[ids[token]]!r:.80} (id {ids[token]}) would be "
                "the same entry. The native format holds both"
            )
        ids[token] = token_id
    ids.update((token, token_id) for token, token_id in vocabulary.idle_tokens.items() if token not in ids)
    return dict(sorted(ids.items(), key=lambda item: item[1]))


def tokens_of(
    ids: dict[str, int],
    special_tokens: Collection[str],
    where: str,
    bytes_of: Callable[[str], bytes | None] = bytes_of,
) -> dict[int, bytes]:
    """Return the bytes of each id in a table of :func:`texts_of`, without the special tokens."""
    token_bytes: dict[int, bytes] = {}
    text_of_id: dict[int, str] = {}
    for text, token_id in ids.items():
        if type(token_id) is not int or not 0 <= token_id <= MAX_ID:
            raise ValueError(f"{where}[{text!r:.80}] is not an id: {token_id!r:.50}")
        if token_id in text_of_id:
            raise ValueError(
                f"{where} gives id {token_id} to both {text_of_id[token_id]!r:.80} and {text!r:.80}"
            )
        text_of_id[token_id] = text
        if text in special_tokens:
            continue
        token = bytes_of(text)
        if token is None:
            raise ValueError(
                f"{where}[{text!r:.80}] is not a token: GPT-2's alphabet does not have all its characters"
            )
        token_bytes[token_id] = token
    check_longest(token_bytes.values(), f"a token of {where}")
    return token_bytes


def merges_of_texts(texts: list[tuple[str, str]], ids: dict[str, int], where: str) -> list[tuple[int, int]]:
    """Return the ids of merges that are given as texts."""
    merges = []
    for rank, pair in enumerate(texts):
        for text in (*pair, "".join(pair)):
            if text not in ids:
                raise ValueError(
                    f"{where}[{rank}], {' '.join(pair)!r:.80}, names {text!r:.80}, which is not a token"
                )
        merges.append((ids[pair[0]], ids[pair[1]]))
    return merges


# --------------------------------------------------------------------------------------------- two files
def dump(vocabulary: Vocabulary, pattern: Pattern) -> tuple[bytes, bytes]:
    """Return a vocabulary as the contents of the two files."""
    if pattern.name != "gpt2":
        raise ValueError(
            f"vocab.json and merges.txt hold no split pattern; programs that read them use GPT-2's, not "
            f"{pattern.spec!r:.200}. A tokenizer.json holds any pattern"
        )
    check_no_atomic(vocabulary, "vocab.json with merges.txt")
    check_no_added(vocabulary, "vocab.json")
    check_no_idle(vocabulary, "vocab.json")
    warn_lost(vocabulary.extras, "vocab.json")
    ids = texts_of(vocabulary, "vocab.json")
    text = {token_id: token for token, token_id in ids.items()}
    pairs = [(text[left], text[right]) for left, right in vocabulary.merges]
    _check_specials(vocabulary, ids, pairs)
    for rank, (left, right) in enumerate(pairs):
        if left.startswith(COMMENT):
            raise ValueError(
                f"merges.txt: many programs would read merge {rank}, {f'{left} {right}'!r:.80}, as a "
                "comment. A tokenizer.json holds it"
            )
    merges = "".join(f"{left} {right}\n" for left, right in pairs)
    return json.dumps(ids, ensure_ascii=False).encode(), f"{FIRST_LINE}\n{merges}".encode()


def _check_specials(vocabulary: Vocabulary, ids: dict[str, int], pairs: list[tuple[str, str]]) -> None:
    """Raise a ValueError unless :func:`parse` would find exactly the special tokens of the vocabulary."""
    taken = _specials_of(ids, pairs)
    for token in sorted(taken.symmetric_difference(vocabulary.special_tokens), key=ids.__getitem__)[:1]:
        if token in taken:
            problem = f"{bytes_of(token)!r:.80}, which no merge makes, would be read as a special token"
        else:
            problem = f"the special token {token!r:.80}, would be read as the bytes {bytes_of(token)!r:.80}"
        raise ValueError(
            f"vocab.json does not say which tokens are special: id {ids[token]}, {problem}. "
            "A tokenizer.json says it"
        )


def _specials_of(ids: dict[str, int], pairs: list[tuple[str, str]]) -> set[str]:
    made = set(map("".join, pairs))
    return {text for text in ids if text not in made and _is_special(text)}


def parse(vocab_json: bytes, merges_txt: bytes) -> tuple[Vocabulary, Pattern]:
    """Read the two files."""
    try:
        ids = read_json(vocab_json)
        if not isinstance(ids, dict):
            raise ValueError("not an object that maps tokens to ids")
    except ValueError as error:
        raise ValueError(f"vocab.json: {error}") from None
    texts = _pairs(merges_txt)
    special_tokens = _specials_of(ids, texts)
    for _, right in texts:
        if right.endswith("</w>") and right in special_tokens:
            raise ValueError(
                f"vocab.json: tokens such as {right!r:.80} mark the end of a word, as CLIP's do, and these "
                "two files do not say how. Read the tokenizer.json of the model"
            )
    vocabulary = Vocabulary(
        tokens_of(ids, special_tokens, "vocab.json"),
        merges_of_texts(texts, ids, "merges.txt"),
        {token: ids[token] for token in ids if token in special_tokens},
    )
    known = {*vocabulary.byte_ids, *vocabulary.merged_ids}
    if unmade := [token_id for token_id in vocabulary.id_of.values() if token_id not in known]:
        warn(
            f"no merge makes {len(unmade)} tokens of vocab.json, the first of them id {unmade[0]}, "
            f"{vocabulary.bytes_of[unmade[0]]!r:.80}: no text is encoded to them. Is merges.txt cut off?",
        )
    return vocabulary, Pattern.of("gpt2")


def _is_special(text: str) -> bool:
    token = bytes_of(text)
    return token is None or (len(token) > 1 and token == text.encode())


def _pairs(merges_txt: bytes) -> list[tuple[str, str]]:
    try:
        lines = merges_txt.decode().split("\n")
    except UnicodeDecodeError as error:
        raise ValueError(f"merges.txt: not UTF-8 at byte {error.start}") from None
    pairs = []
    for number, line in enumerate(lines, 1):
        line = line.removesuffix("\r")
        if not line or (number == 1 and line.startswith(COMMENT)):
            continue
        left, _, right = line.partition(" ")
        if not left or not right or " " in right:
            raise ValueError(
                f"merges.txt: line {number} is not two tokens with a space between: {line!r:.60}"
            )
        pairs.append((left, right))
    return pairs
