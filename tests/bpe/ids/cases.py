"""Small tokenizers by chance, texts, and the parts of a tokenizer for the slow twins."""

import json
import os
import warnings
from pathlib import Path

from hypothesis import strategies as st

import bpe
from bpe import reference
from bpe.reference import ids as twin
from bpe.tokenizer import Tokenizer
from bpe.vocabulary.vocabulary import Vocabulary

SPECIALS = ["<|end|>", "<|", "|>x", "a b"]
ADDED = ["1<", "1b1"]  # no special token hides one
LETTERS = [*"ab1x <|>\n'", "s", "é", "漢", "😀"]
PATTERNS = {
    **{name: name for name in ("gpt2", "cl100k", "o200k", "qwen2", "deepseek", "none")},
    "from the right": r"\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N}))|[^\p{N}]+",
    "gaps": r"[ab]+(?=\s|$)|\d{2,3}?",
    "empty matches": r"a*|(?=1)",
    "steps": [r"\d{1,2}", r"(?:a|b)+x|s*|[^\x00-\x7f]+", r"\s+(?!\S)|\s+|\w+(?= )"],
    "looks behind": r"(?<=a)[abx]+|\w| +",
    "not compiled": r"(\w)\1|\w+",
}
texts = st.lists(st.sampled_from(LETTERS + SPECIALS + ADDED + ["  ", "ab"]), max_size=14).map("".join)
datas = texts.map(str.encode) | st.lists(
    st.sampled_from([b"\xff", b"\xc3", b"\xa9", b"\xe6\xbc", b" a", b" ", b"ab", b"<|"]), max_size=10
).map(b"".join)
tokenizers = st.builds(
    lambda chance, pattern, has_added: small_tokenizer(chance, PATTERNS[pattern], has_added),
    st.randoms(use_true_random=False),
    st.sampled_from(sorted(PATTERNS)),
    st.booleans(),
)
options = st.sampled_from(
    [
        {"allowed_special": "all"},
        {"allowed_special": {"<|", "a b"}, "disallowed_special": ()},
        {"disallowed_special": ()},
        {"allowed_special": {"<|"}},
    ]
)


def small_tokenizer(chance, pattern, has_added=False):
    """Return a tokenizer with merges in any order, and tokens that are looked up whole."""
    parts = [*(letter.encode() for letter in "ab1x <|>\n's"), b"\xc3", b"\xa9", b"\xe6", b"\xbc", b"\xa2"]
    pairs = []
    for _ in range(chance.randrange(30)):
        pair = chance.choice(parts), chance.choice(parts)
        if pair not in pairs and len(b"".join(pair)) < 7:
            pairs.append(pair)
            parts += [] if b"".join(pair) in parts else [b"".join(pair)]
    chance.shuffle(pairs)
    whole = {b"".join(chance.choices(parts, k=2)) for _ in range(chance.choice([0, 3]))}
    tokens = [bytes([value]) for value in range(256)] + [*parts, *sorted(whole)]
    specials = SPECIALS + (ADDED if has_added else [])
    words = Vocabulary([*dict.fromkeys(tokens)], pairs, {t: 900 + i for i, t in enumerate(specials)})
    words = words.replace(atomic_ids=[words.id_of[token] for token in whole if len(token) > 1])
    if has_added:
        words = words.replace(added_tokens=ADDED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tok = Tokenizer._of(words, bpe.Pattern.of(pattern))
        tok.pattern.compiled  # noqa: B018  # warns once
    return tok


def parts_of(tok):
    """Return what the slow twins need."""
    vocabulary = tok.engine.vocabulary
    ranks = reference.rank_pairs(vocabulary.merges)
    given = {"byte_ids": vocabulary.byte_ids, "new_ids": vocabulary.merged_ids}
    return twin.Parts(
        vocabulary.bytes_of,
        {token.encode(): number for token, number in vocabulary.special_tokens.items()},
        {token.encode(): number for token, number in vocabulary.added_tokens.items()},
        tok.pattern.split_bytes,
        lambda piece: reference.encode_by_rank(piece, ranks, **given),
        {vocabulary.bytes_of[number]: number for number in vocabulary.atomic_ids},
    )


def allowed_by(tok, options):
    """Return the special tokens that options allow, and those that they forbid."""
    rules = tok.engine.rules_of(**options)
    added = tok.engine.added_tokens
    return [t.encode() for t in rules.allowed.tokens - added], [t.encode() for t in rules.disallowed.tokens]


# ------------------------------------------------------------------------------------------------ real ones
PIECES = [*LETTERS, "  ", " the", "\t", "12345", "'s", "日本", "Ж", "́", "def f(x):\n    ", "ة"]


def real_tokenizer(file, pattern):
    """Return a tokenizer of the folder that VOCABS names."""
    folder = Path(os.environ["VOCABS"])
    special = json.loads((folder / f"{file}.json").read_text("utf-8"))["special_tokens"]
    return Tokenizer.from_tiktoken(folder / f"{file}.tiktoken", pattern=pattern, special_tokens=special)


def random_text(chance):
    return "".join(chance.choices(PIECES, k=chance.randint(1, 40)))
