"""Input that somebody made to be slow, beside ordinary input of the same size.

    python asv_benchmarks/hostile.py [ATTACK ...] [--small]

For each attack it prints the processor time of both, for n and for 2 n, and their ratio. It exits with 1
where hostile input takes more than three times as long as ordinary input and is not refused within a second.

An attack that is refused raises a documented error: ``ValueError`` or ``TimeoutError``.
Each is run once before it is timed, so that nothing is compiled meanwhile.
"""

from __future__ import annotations

import base64
import json
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np

import bpe
import structures as st

# isort: split
# After structures, which loads numba, so that compiled code is kept where it always is. It does everything:
# what plain Python does for the first texts of a process is limited for all of them.
import benchmarks._common  # noqa: F401
from measuring import chosen, small_option
from same import gpt2_characters

MOST = 3.0
MEASURED = 3  # times at most
REFUSAL_SECONDS, SMALL_REFUSAL_SECONDS = 1.0, 3.0  # small runs are made on machines of any speed
NOISE = 0.01  # seconds, added to both times

GOLDEN, ROOT_2 = 0x9E3779B97F4A7C15, 0x6A09E667F3BCC909  # factors of well-known hashes that have no secret
LETTERS = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz", np.uint8)
Run = Callable[[], Any]


class Attack(NamedTuple):
    """An attack: its size, its smaller size, and ``make(n)``, which returns (ordinary run, hostile run)."""

    n: int
    small_n: int
    make: Callable[[int], tuple[Run, Run]]


ATTACKS: dict[str, Attack] = {}


def attack(n: int, small_n: int) -> Callable[[Any], Any]:
    """Register a function that makes the two runs of an attack under its name."""

    def register(make: Any) -> Any:
        ATTACKS[make.__name__.replace("_", "-")] = Attack(n, small_n, make)
        return make

    return register


# ---------------------------------------------------------------------------------------------- containers
def random_keys(n: int) -> np.ndarray:
    return np.random.default_rng(0).integers(-(2**63), 2**63 - 1, n)


def chosen_keys(n: int) -> np.ndarray:
    """Return keys that a Fibonacci hash of folded keys puts into one place."""
    words = np.arange(n, dtype=np.uint64) * np.uint64(pow(GOLDEN, -1, 2**64))
    return (words ^ (words >> np.uint64(32))).view(np.int64)


def adding(make: Any, keys: np.ndarray) -> Run:
    ones = np.ones(keys.size, np.int64)
    return lambda: make().add_many(keys, ones)


def out_of_a_table(make: Any, n: int) -> tuple[Run, Run]:
    keys = st.IntMap.from_arrays(random_keys(n), np.arange(n)).keys()
    return adding(make, np.random.default_rng(1).permutation(keys)), adding(make, keys)


@attack(1_000_000, 20_000)
def keys_of_one_map_into_another(n: int) -> tuple[Run, Run]:
    return out_of_a_table(st.IntMap, n)


@attack(1_000_000, 20_000)
def keys_of_a_map_into_a_heap(n: int) -> tuple[Run, Run]:
    return out_of_a_table(st.MaxHeap, n)


@attack(1_000_000, 20_000)
def keys_of_a_map_into_buckets(n: int) -> tuple[Run, Run]:
    return out_of_a_table(st.CountBuckets, n)


@attack(100_000, 20_000)
def chosen_keys_for_a_map(n: int) -> tuple[Run, Run]:
    return adding(st.IntMap, random_keys(n)), adding(st.IntMap, chosen_keys(n))


@attack(100_000, 20_000)
def chosen_keys_for_a_heap(n: int) -> tuple[Run, Run]:
    return adding(st.MinHeap, random_keys(n)), adding(st.MinHeap, chosen_keys(n))


@attack(100_000, 20_000)
def progressions_for_a_map(n: int) -> tuple[Run, Run]:
    steps = [1 << shift for shift in range(0, 48, 8)] + [46368, 1346269, GOLDEN - 2**64, 2**32 + 1]
    hostile = np.unique(np.concatenate([np.arange(n // len(steps)) * np.int64(step) for step in steps]))
    return adding(st.IntMap, random_keys(hostile.size)), adding(st.IntMap, hostile)


# ------------------------------------------------------------------------------------------------- encoding
def random_words(n: int, seed: int = 0) -> np.ndarray:
    """Return words of 15 letters, ``(n, 15) uint8``."""
    return LETTERS[np.random.default_rng(seed).integers(0, 26, (n, 15))]


def chosen_words(n: int) -> np.ndarray:
    """Return words of 15 letters that a hash of two multiplications puts into a 64th of a table."""
    found = np.empty((0, 15), np.uint8)
    seed = 0
    while len(found) < n:
        seed += 1
        words = random_words(1 << 18, seed)
        padded = np.zeros((len(words), 16), np.uint8)
        padded[:, :15], padded[:, 15] = words, 16
        word_0, word_1 = padded.view(np.uint64).T
        hashed = word_0 * np.uint64(GOLDEN)
        hashed = ((hashed ^ (hashed >> np.uint64(32))) + word_1) * np.uint64(ROOT_2)
        found = np.concatenate([found, words[hashed >> np.uint64(58) == 5]])
    return found[:n]


def text_of(words: np.ndarray) -> bytes:
    """Return words as a text, a line each: a line break is a piece of its own."""
    lines = np.full((len(words), 16), 10, np.uint8)
    lines[:, :15] = words
    return lines.tobytes()


def tokenizer(**options: Any) -> bpe.Tokenizer:
    return bpe.train(["the cat sat on the mat with another cat "] * 3, vocab_size=270, **options)


@attack(160_000, 4000)
def chosen_pieces_to_encode(n: int) -> tuple[Run, Run]:
    texts = [text_of(words) for words in (random_words(n), chosen_words(n))]
    return tuple(lambda text=text: tokenizer().encode_to_numpy(text) for text in texts)  # type: ignore[return-value]


@attack(160_000, 4000)
def chosen_pieces_to_count(n: int) -> tuple[Run, Run]:
    texts = [text_of(words) for words in (random_words(n), chosen_words(n))]
    return tuple(lambda text=text: bpe.count_words([text], pattern="gpt2") for text in texts)  # type: ignore[return-value]


@attack(160_000, 4000)
def ordinary_text_after_chosen_pieces(n: int) -> tuple[Run, Run]:
    """What other users' texts cost when the memory of pieces holds what an attacker sent."""
    text = text_of(random_words(n // 4, seed=77))

    def after(words: np.ndarray) -> Run:
        used = tokenizer()
        used.encode_to_numpy(text_of(words))
        return lambda: used.encode_to_numpy(text)

    return after(random_words(n)), after(chosen_words(n))


@attack(240_000, 6000)
def merges_out_of_order(n: int) -> tuple[Run, Run]:
    token_bytes = [*(bytes([value]) for value in range(256)), b"ab", b"abc"]
    text = b"abc" * (n // 3)

    def run(merges: list[tuple[int, int]]) -> Run:
        made = bpe.Tokenizer(token_bytes=token_bytes, merges=merges, pattern="none")
        return lambda: made.encode_to_numpy(text)

    return run([(97, 98), (256, 99)]), run([(256, 99), (97, 98)])


# ------------------------------------------------------------------------------------------------- patterns
def compiling(source: str) -> Run:
    """Compile an expression as one that a stranger has written.

    Each run gets another one, as those that were compiled are remembered.
    """
    numbers = iter(range(1, 1000))
    return lambda: bpe.Pattern.of(f"{source}|x{{{next(numbers)}}}", compiled_only=True)


def words_of_length(n: int) -> str:
    return "|".join(f"{LETTERS[i % 26]:c}{i:05d}" for i in range(1 + n // 7))


def set_of_length(n: int) -> str:
    return "[" + "".join(f"{0x4E00 + i % 50_000:c}" for i in range(n - 2)) + "]"


def expression_attack(
    name: str, sizes: tuple[int, int], make: Callable[[int], str], ordinary: Callable[[int], str]
) -> None:
    """Register an attack on the compiler; the ordinary expression has as many characters."""

    def runs(size: int) -> tuple[Run, Run]:
        hostile = make(size)
        return compiling(ordinary(len(hostile))), compiling(hostile)

    ATTACKS[name] = Attack(*sizes, runs)


expression_attack("expression-of-brackets", (20_000, 2000), lambda n: "[" * n, words_of_length)
expression_attack(
    "expression-with-a-long-set", (100_000, 4000), lambda n: "[a" + "b" * n + "]", set_of_length
)
expression_attack(
    "expression-of-small-sets",
    (200, 50),
    lambda n: "|".join(f"[{0x400 + i:c}{0x4000 + i:c}]" for i in range(n)),
    words_of_length,
)
expression_attack("expression-with-many-states", (14, 14), lambda n: f"(?:.*a.{{{n}}})+", words_of_length)


def matching_attack(name: str, n: int, small_n: int, source: str, make: Callable[[int], str]) -> None:
    def runs(size: int) -> tuple[Run, Run]:
        text = make(size)
        ordinary = ("one two, three\n" * (1 + len(text) // 15))[: len(text)]
        return tuple(  # type: ignore[return-value]
            lambda given=given: bpe.Pattern.of(source, compiled_only=True).split(given)
            for given in (ordinary, text)
        )

    ATTACKS[name] = Attack(n, small_n, runs)


matching_attack("pattern-that-looks-far", 80_000, 4000, r"a[^\n]*b|.", lambda n: "a" * n)
matching_attack("pattern-that-looks-for-the-end", 80_000, 4000, r"\s+$|\s|\S+", lambda n: " " * n + "a")
matching_attack(
    "text-between-matches",
    400_000,
    40_000,
    r'"[^"\n]*"|abcd|[a-z]{9,}',
    lambda n: '"' + "abc " * (n // 4) + "\n",
)
matching_attack("pattern-of-the-regex-package", 60, 24, r"(?:a|aa)+$|(a)\1b", lambda n: "a" * n + "c")


# ------------------------------------------------------------------------------------------- special tokens
def first_encode(special_tokens: list[str], text: str) -> Run:
    given = {token: 300 + number for number, token in enumerate(special_tokens)}
    merges = [(97, 98)]
    token_bytes = [*(bytes([value]) for value in range(256)), b"ab"]

    def run() -> None:
        made = bpe.Tokenizer(token_bytes=token_bytes, merges=merges, special_tokens=given, pattern="gpt2")
        made.encode_to_numpy(text, allowed_special="all")

    return run


@attack(100_000, 4000)
def many_special_tokens(n: int) -> tuple[Run, Run]:
    """The first encode with many tokens: of well-known form, or all alike, as is the text."""
    numbers = range(n)
    usual = [f"<|{number:013d}|>" for number in numbers]
    alike = [f"{number:017b}".replace("0", "a").replace("1", "b") for number in numbers]
    text = "one two three " * 1000
    return first_encode(usual, text + usual[5] + text), first_encode(alike, ("ab" * 9 + "b") * 1500)


@attack(100_000, 4000)
def text_full_of_beginnings_of_special_tokens(n: int) -> tuple[Run, Run]:
    names = [f"<|{number:06d}|>" for number in range(50_000)]
    made = bpe.Tokenizer(
        token_bytes=[bytes([value]) for value in range(256)],
        merges=[],
        special_tokens={name: 300 + number for number, name in enumerate(names)},
        pattern="gpt2",
    )
    texts = [("one <|000017|> two " * n)[:n], "<|" * (n // 2)]
    return tuple(lambda text=text: made.encode_to_numpy(text, allowed_special="all") for text in texts)  # type: ignore[return-value]


@attack(1_000_000, 20_000)
def special_tokens_one_after_the_other(n: int) -> tuple[Run, Run]:
    """The same token up to n bytes; the ordinary text has one after every second word."""
    made = tokenizer(special_tokens=["<|x|>"])
    texts = [(unit * n)[:n] for unit in ("one two<|x|>", "<|x|>")]
    return tuple(lambda text=text: made.encode_to_numpy(text, allowed_special="all") for text in texts)  # type: ignore[return-value]


# ------------------------------------------------------------------------------------ tokenizers with steps
SPACE = "\u2581"
TO_SPACE = {"type": "Replace", "pattern": {"String": " "}, "content": SPACE}
LLAMA = {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": SPACE}, TO_SPACE]}
BYTES = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
FLAGS = ("single_word", "lstrip", "rstrip", "normalized")


def document(n_words: int = 0, n_added: int = 1, **steps: Any) -> dict[str, Any]:
    """Return a ``tokenizer.json``: some steps, tokens for bytes, letters and words, and added tokens."""
    names = [f"<0x{value:02X}>" for value in range(256)]
    pre_tokenizer = steps.get("pre_tokenizer")
    letters = [*map(chr, range(32, 127)), SPACE] if pre_tokenizer is not BYTES else [*gpt2_characters()]
    words = [f"x{number:07d}" for number in range(n_words)]
    vocab = {token: number for number, token in enumerate(["<unk>", *names, *letters, *words])}
    flags = dict.fromkeys(FLAGS, n_added > 1)
    added = [
        {"id": len(vocab) + number, "content": f"<x{number}>", "special": False, **flags}
        for number in range(n_added)
    ]
    model = {
        "type": "BPE",
        "vocab": vocab,
        "merges": [["t", "h"]] if "th" in vocab else [],
        "unk_token": "<unk>",
    }
    return {"added_tokens": added, "model": model | {"fuse_unk": True, "byte_fallback": True}, **steps}


def opening(content: dict[str, Any], text: str = "one two three", compiled_only: bool = False) -> Run:
    """Read a file, and encode a text."""
    data = json.dumps(content)

    def run() -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "tokenizer.json")
            path.write_text(data)
            bpe.Tokenizer.load(path, compiled_only=compiled_only).encode(text, allowed_special="all")

    return run


def file_attack(name: str, sizes: tuple[int, int], make: Callable[[int], dict[str, Any]]) -> None:
    """Register an attack by a file; the ordinary one has as many bytes, of vocabulary."""

    def runs(size: int) -> tuple[Run, Run]:
        content = make(size)
        return opening(document(1 + len(json.dumps(content)) // 18)), opening(content)

    ATTACKS[name] = Attack(*sizes, runs)


def charsmap(n: int) -> dict[str, Any]:
    """Return a table of SentencePiece with `n` units: each of its bytes leads to the same block."""
    units = np.arange(n // 256 * 256, dtype=np.uint32) & 0xFF
    data = int(units.nbytes).to_bytes(4, "little") + units.tobytes() + b"\0"
    return {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(data).decode()}


def nested(n: int, step: Any = None) -> dict[str, Any]:
    """Return Sequences in each other."""
    for _ in range(n):
        step = {"type": "Sequence", "normalizers": [step] if step else []}
    return step


def templates(n: int) -> dict[str, Any]:
    """Return a post-processor that puts many ids around a text."""
    ids = {"<x0>": {"id": "<x0>", "ids": [1] * n, "tokens": ["<x0>"] * n}}
    single = [{"SpecialToken": {"id": "<x0>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}]
    return {"type": "TemplateProcessing", "single": single, "pair": single, "special_tokens": ids}


def splitting_at(pattern: dict[str, str]) -> dict[str, Any]:
    return {"type": "Split", "pattern": pattern, "behavior": "Isolated", "invert": False}


file_attack("file-with-a-huge-charsmap", (500_000, 50_000), lambda n: document(normalizer=charsmap(n)))
file_attack(
    "file-with-many-steps",
    (4000, 1500),
    lambda n: document(normalizer={"type": "Sequence", "normalizers": [TO_SPACE] * n}),
)
file_attack("file-with-nested-steps", (200, 100), lambda n: document(normalizer=nested(n)))
file_attack(
    "file-with-a-long-text-to-split-at",
    (2_000_000, 300_000),
    lambda n: document(pre_tokenizer=splitting_at({"String": "a" * n})),
)
file_attack(
    "file-that-puts-many-ids-around", (300_000, 50_000), lambda n: document(post_processor=templates(n))
)
file_attack("file-with-many-flags", (5000, 1000), lambda n: document(n_added=n, normalizer=LLAMA))

EXPONENTIAL = {"Regex": "(?:a|aa)+$|b"}
EXPONENTIAL_STEPS: dict[str, dict[str, Any]] = {
    "split": {"pre_tokenizer": splitting_at(EXPONENTIAL)},
    "replace": {"normalizer": {"type": "Replace", "pattern": EXPONENTIAL, "content": "c"}},
}


def expression_in_a_file(name: str) -> None:
    """Register an attack by a step with an expression; without `compiled_only` a time limit ends it."""

    def runs(size: int) -> tuple[Run, Run]:
        text = "a" * size + "c"
        return opening(document(), text), opening(document(**EXPONENTIAL_STEPS[name]), text, True)

    ATTACKS[f"file-with-an-exponential-{name}"] = Attack(60, 24, runs)


for each_name in EXPONENTIAL_STEPS:
    expression_in_a_file(each_name)


def growing(n_stretches: int) -> tuple[Run, Run]:
    """Encode many stretches of a letter, of which a normalizer makes thousands: too much in all."""
    text = "a<x0>" * n_stretches
    content = document(
        n_added=2, normalizer={"type": "Replace", "pattern": {"String": "a"}, "content": "b" * 9000}
    )
    for entry in content["added_tokens"]:
        entry |= dict.fromkeys(FLAGS, False) | {"lstrip": True}
    return opening(document(n_added=2), text), opening(content, text)


ATTACKS["file-that-makes-stretches-longer"] = Attack(20_000, 2000, growing)

MODELS: dict[str, dict[str, Any]] = {
    "llama": document(normalizer=LLAMA),
    "qwen": document(normalizer={"type": "NFC"}, pre_tokenizer=BYTES),
}
# Each is repeated up to n bytes.
REPEATED = {
    "marks": "\u0301\u0323".encode(),
    "low-lines": SPACE.encode(),
    "one-letter": b"a",
    "spaces": b" ",
    "bytes-that-are-no-text": b"\xff",
    "beginnings-of-added-tokens": b"<",
}


def repeated_attack(model: str, name: str) -> None:
    """Register an attack by a text on a tokenizer with steps, encoded at once and in parts."""

    def runs(n: int) -> tuple[Run, Run]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "tokenizer.json")
            path.write_text(json.dumps(MODELS[model]))
            tok = bpe.Tokenizer.load(path)
        words = text_of(random_words(n // 16))
        accented = words.replace(b"e", "e\u0301".encode())[:n]
        repeated = REPEATED[name] * (n // len(REPEATED[name]))

        def encode(text: bytes) -> None:
            tok.encode_to_numpy(text)
            stream = tok.stream_encoder()
            for start in range(0, len(text), 5000):
                stream.feed(text[start : start + 5000])
            stream.finish()

        return lambda: encode(accented), lambda: encode(repeated)

    ATTACKS[f"{name}-for-{model}"] = Attack(200_000, 20_000, runs)


for each_model in MODELS:
    for each_name in REPEATED:
        repeated_attack(each_model, each_name)


# -------------------------------------------------------------------------------------------------- running
def seconds_of(run: Run, times: int) -> tuple[float, str]:
    """Return the least processor time of some runs, and the error that refuses the input, if one does."""
    least, refusal = np.inf, ""
    for _ in range(times):
        started = time.process_time()
        try:
            run()
        except (ValueError, TimeoutError) as error:
            refusal = f"{type(error).__name__}: {error}"
        least = min(least, time.process_time() - started)
    return least, refusal


@click.command()
@click.argument("names", nargs=-1, metavar="[ATTACK]...")
@small_option
def main(names: tuple[str, ...], small: bool) -> None:
    """Run attacks and print the ratios."""
    warnings.simplefilter("ignore", RuntimeWarning)  # of patterns that are not compiled
    failed = []
    for name in chosen(names, ATTACKS):
        each = ATTACKS[name]
        for n in (each.small_n,) if small else (each.n, 2 * each.n):
            ordinary, hostile = each.make(n)
            seconds_of(ordinary, 1), seconds_of(hostile, 1)
            for _ in range(MEASURED):  # again if it is too slow: something else may have slowed it down
                (usual, _), (spent, refusal) = seconds_of(ordinary, 3), seconds_of(hostile, 3)
                ratio = (spent + NOISE) / (usual + NOISE)
                if refusal or ratio <= MOST:
                    break
            verdict = (
                "refused"
                if refusal and spent < (SMALL_REFUSAL_SECONDS if small else REFUSAL_SECONDS)
                else f"{ratio:.2f}"
            )
            click.echo(f"{name:45} {n:8} {usual:9.4f} s {spent:9.4f} s  {verdict}")
            if verdict != "refused" and ratio > MOST:
                failed.append(f"{name} {n}")
    if failed:
        sys.exit(f"too slow: {', '.join(failed)}")


if __name__ == "__main__":
    main()
