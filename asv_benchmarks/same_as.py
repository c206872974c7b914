"""Say what is not the same in two commits: results, bytes of files, and errors of recorded calls.

    python asv_benchmarks/same_as.py BASE [CHANGED] [--only EXPRESSION] [--again]

CHANGED is the working tree unless it is given. A process with the sources of each makes the same calls of
public names, in plain Python and compiled. What a call of BASE returned is kept in ``env/same_as``, for the
next time. The exit code is 0 where nothing differs, and 1 where something does.
"""

from __future__ import annotations

import argparse
import copy
import difflib
import hashlib
import json
import os
import pickle
import re
import shutil
import subprocess
import sys
import tempfile
import traceback
import warnings
from contextlib import ExitStack, suppress
from importlib import import_module
from inspect import signature
from pathlib import Path

import numpy as np
from slower import FOLDER, sources_of

MODES = ("plain", "compiled")
LONGEST = 600  # of what is recorded whole
SHOWN = 300
NOVEL = FOLDER.parent / "tests" / "data" / "treasure_island.txt"
OLD_FILES = FOLDER.parent / "tests" / "data" / "written_by_0.1.0"


# ---------------------------------------------------------------------------------------------- what is kept
def shown(value):
    """Return a value as text that does not depend on the process."""
    if isinstance(value, np.ndarray):
        return f"array({value.dtype}, {value.tolist() if value.ndim else value.item()!r})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{shown(key)}: {shown(one)}" for key, one in value.items()) + "}"
    if type(value) in (list, tuple):
        left, right = "[]" if isinstance(value, list) else "()"
        return left + ", ".join(map(shown, value)) + right
    if isinstance(value, set | frozenset):
        return f"{type(value).__name__}({sorted(map(shown, value))})"
    if isinstance(value, Path):
        return f"Path({str(value)!r})"
    if type(value).__name__ == "Tokenizer":
        return shown(tokenizer_parts(value))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return f"{type(value).__name__}{shown(dict(zip(value._fields, value, strict=True)))}"
    if type(value).__module__.split(".")[0] in ("bpe", "structures"):
        names = sorted(name for name in vars(value) if name[0] != "_") if hasattr(value, "__dict__") else []
        if names and type(value).__repr__ is object.__repr__:
            return f"{type(value).__name__}{shown({name: getattr(value, name) for name in names})}"
    return re.sub(r" at 0x[0-9a-f]+", " at ...", repr(value))


def tokenizer_parts(tok):
    """Return what makes a tokenizer."""
    return [
        "Tokenizer",
        repr(tok),
        tok.vocab,
        maybe(lambda: tok.merges),
        tok.special_tokens,
        repr(tok.pattern),
    ]


def maybe(function):
    try:
        return function()
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def file_of(path):
    """Return a file's length and digest, or those of the files of a folder, by name."""
    path = Path(path)
    if path.is_dir():
        return {
            one.relative_to(path).as_posix(): file_of(one) for one in sorted(path.rglob("*")) if one.is_file()
        }
    data = path.read_bytes()
    return [len(data), hashlib.sha256(data).hexdigest()[:16]]


def first_of(owner, *names):
    """Return the first attribute of these names that there is."""
    for name in names:
        with suppress(AttributeError):
            return getattr(owner, name)
    raise AttributeError(f"{owner!r} has none of {names}")


class Calls:
    """What was called, and what came of it."""

    def __init__(self, sources, mode):
        self.sources, self.mode, self.area, self.results = str(sources), mode, "", {}

    def __call__(self, name, function, *arguments, whole=False, **options):
        """Call a function, and record what it returns or raises; return it, or None."""
        value = None
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            try:
                value = function(*arguments, **options)
                text = shown(value)
            except BaseException as error:  # SystemExit, too
                message = re.split(r"\nDuring:|\n+File", str(error))[0]  # numba goes on with its stack
                text = f"raises {type(error).__name__}: {message}"
                if isinstance(error, KeyboardInterrupt):
                    raise
        text += "".join(f"\nwarns {one.category.__name__}: {one.message}" for one in warned)
        self.keep(name, text, whole)
        return value

    def keep(self, name, text, whole=False):
        key = f"{self.mode}/{self.area}/{name}"
        while key in self.results:
            key += "'"
        for path, name in ((os.getcwd(), "<here>"), (self.sources, "<root>"), (str(FOLDER.parent), "<root>")):
            text = text.replace(path, name)
        text = re.sub(r"@[0-9a-f]{8}\b", "@...", text)  # of a type, which every version changes
        if len(text) > LONGEST and not whole:
            text = f"{len(text)} {hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()} {text[:SHOWN]}"
        self.results[key] = text

    def file(self, name, path):
        self(f"file {name}", file_of, path)


AREAS = {}


def area(*modes):
    """Return a decorator: the function makes calls in these modes, by default in both."""

    def add(function):
        AREAS[function.__name__] = (function, modes or MODES)
        return function

    return add


# ----------------------------------------------------------------------------------------- names that change
def everything_compiled():
    """Return the context in which compiled code does everything; stop where there is none."""
    for module in ("bpe", "bpe.splitting.pattern", "bpe.plain_splitting"):
        with suppress(ImportError, AttributeError):
            return import_module(module).everything_compiled()
    sys.exit("everything_compiled is nowhere: plain Python would be compared with compiled code")


def open_tokenizer(path, **options):
    return first_of(bpe.Tokenizer, "open", "load")(path, **options)


def with_vocab_size(tok, n):
    return first_of(tok, "with_vocab_size", "truncated")(n)


def superbpe(**options):
    """Return the options of training for SuperBPE."""
    if hasattr(bpe, "SuperBPE"):
        return {"superwords": bpe.SuperBPE(**options)}
    names = {"pattern": "superwords_pattern"}
    return {"superwords": "superbpe"} | {names.get(name, name): value for name, value in options.items()}


def boundless(**options):
    """Return the options of training for BoundlessBPE."""
    if hasattr(bpe, "Boundless"):
        return {"superwords": bpe.Boundless(**options)}
    names = {"parts": "superword_parts"}
    return {"superwords": "boundless"} | {names.get(name, name): value for name, value in options.items()}


def like(trainer, function=None, **more):
    """Return the options of training for "gigatoken" or "huggingface", and more."""
    if "like" in signature(function or bpe.train).parameters:
        return {"like": trainer, **more}
    options = {"alphabet": "gpt2", **more}
    if trainer == "huggingface":
        options["special_first"] = True
        if "max_token_length" in more:
            options["length_rule"] = "huggingface"
    return options


# ------------------------------------------------------------------------------------------------- the texts
SHORT = (
    "It was the best of times, it was the worst of times; don't you'll 12345 times.\n\n"
    "  Ünïcödé 漢字 \U0001f600!\r\n"
)
LOW = ["low lower lowest newest widest low low new newer wide wider"] * 3
SONG = "by the way, of the sea, by the way of the sea\nof the way by the sea 1234 by the way.\n" * 20
END = "<|end|>"
HARD = [
    "",
    " ",
    "a",
    "\n\n\n",
    "aaaaaaaaaaaaaaaaaaaaaaaaa",
    "\x00\ufeff",
    "e\u0301",
    "漢字かな",
    "don't I'LL",
    "  x  \t\n y",
]


def novel(n=20_000, start=0):
    """Return some of the novel."""
    return NOVEL.read_bytes()[start : start + n].decode("utf-8", "ignore")


def long_text(mode):
    return novel(120_000, 5_000) if mode == "compiled" else novel(6_000, 5_000)


# ------------------------------------------------------------------------------------------------- training
@area()
def training(call):
    text = [novel(30_000)]
    for size in (256, 257, 300, 700):
        call(f"size {size}", bpe.train, text, size)
    for ties in ("smallest", "lexicographic", "first", "gpt2"):
        call(f"ties {ties}", bpe.train, text, 420, ties=ties)
    options = {
        "min_count": {"min_count": 40},
        "max_token_length": {"max_token_length": 4},
        "like gigatoken": like("gigatoken"),
        "initial alphabet": {"initial_alphabet": b"abc "},
        "no initial alphabet": {"initial_alphabet": b""},
        "limited alphabet": {"initial_alphabet": b"", "limit_alphabet": 20},
        "special tokens": {"special_tokens": [END, "<pad>"]},
        "like huggingface": {"special_tokens": [END, "<pad>"], **like("huggingface")},
        "length rule": {"special_tokens": [END], **like("huggingface", max_token_length=4)},
        "keep": {"keep": lambda left, right: b" " not in left + right},
        "threads": {"threads": 1},
        "progress": {"progress": True},
    }
    for name, given in options.items():
        call(name, bpe.train, text, 400, **given)
    for pattern in (*bpe.PATTERNS, r"\p{L}+|\p{N}|[^\p{L}]", ["[a-z]+", "[^a-z]"]):
        call(f"pattern {pattern}", bpe.train, text, 320, pattern=pattern)
    call("several texts", bpe.train, [SHORT, SONG, b"bytes \xff\xfe low low"], 400)
    call("path", bpe.train, NOVEL, 300)
    call("generator", bpe.train, (one for one in LOW), 270)
    call("counts", bpe.train, bpe.WordCounts({"low": 5, "lower": 2}), 262)
    counts = {"en": bpe.WordCounts({"the": 900, "then": 100}), "de": bpe.WordCounts({"der": 90, "den": 10})}
    call("weights", bpe.train, counts, 262, weights={"en": 0.1, "de": 3})
    call("temperature", bpe.temperature_weights, counts, 2)
    call("temperature 0", bpe.temperature_weights, counts, 0)
    wrong = {
        "small": ([*LOW], 100, {}),
        "size str": (LOW, "300", {}),
        "text": ("a text", 300, {}),
        "nothing": ([], 300, {}),
        "no path": (Path("nowhere.txt"), 300, {}),
        "ties": (LOW, 300, {"ties": "none"}),
        "length": (LOW, 300, {"max_token_length": 1}),
        "min_count": (LOW, 300, {"min_count": 0}),
        "limit": (LOW, 300, {"limit_alphabet": 10}),
        "initial": (LOW, 300, {"initial_alphabet": "abc"}),
        "special twice": (LOW, 300, {"special_tokens": ["a", "a"]}),
        "special empty": (LOW, 300, {"special_tokens": [""]}),
        "special type": (LOW, 300, {"special_tokens": [1]}),
        "special str": (LOW, 300, {"special_tokens": "abc"}),
        "pattern": (LOW, 300, {"pattern": "("}),
        "weights": (LOW, 300, {"weights": {"en": 1}}),
        "other weights": (counts, 300, {"weights": {"fr": 1}}),
        "weight": (counts, 300, {"weights": {"en": -1, "de": 1}}),
        "option": (LOW, 300, {"nothing": 3}),
        "threads": (LOW, 300, {"threads": 0}),
        "list of ints": ([1, 2], 300, {}),
    }
    for name, (corpus, size, given) in wrong.items():
        call(f"wrong {name}", bpe.train, corpus, size, **given)


@area("compiled")
def trainer(call):
    counts = call("counts", bpe.WordCounts.from_corpus, [novel(40_000)], special_tokens=[END])
    for selection in ("heap", "buckets"):
        one = call(f"new {selection}", bpe.Trainer, counts, selection=selection)
        call(f"step {selection}", lambda one=one: [one.step() for _ in range(5)])
        call(f"run {selection}", one.run, 400)
        call(f"log {selection}", lambda one=one: list(one.log))
        call(f"merges {selection}", lambda one=one: one.merges)
        call(f"check {selection}", one.check)
        call(f"tokenizer {selection}", one.tokenizer)
    call("run fewer", one.run, 300)
    call("run more", one.run, 450)
    tok = call("more", one.tokenizer)
    for name, given in {
        "plain": {},
        "keep_ids": {"keep_ids": True},
        "ties": {"ties": "gpt2"},
        "min_count": {"min_count": 30},
    }.items():
        again = call(f"resume {name}", bpe.Trainer.resume, tok, counts, **given)
        call(f"resume run {name}", lambda again=again: (again.run(500), again.tokenizer(), again.merges[-3:]))
    few = bpe.Trainer(bpe.WordCounts({"low": 2, "lower": 1}))
    call("until the end", lambda: [few.step() for _ in range(8)])
    call("run until the end", few.run, 1000)
    call("tokenizer at the end", few.tokenizer)
    call("repr", repr, few)
    call("wrong size", few.run, 3)
    call("wrong counts", bpe.Trainer, ["low"])
    call("pickle", lambda: pickle.loads(pickle.dumps(few)).tokenizer())
    languages = {"en": counts, "other": bpe.WordCounts({"der": 100, " den": 50}, special_tokens=[END])}
    weighed = call("weights", bpe.Trainer, languages, weights={"en": 0.5, "other": 10})
    call("weights run", lambda: (weighed.run(300), weighed.tokenizer()))


# ------------------------------------------------------------------------------------------------- encoding
@area()
def encoding(call):
    tok = bpe.train([novel(30_000)], 500, special_tokens=[END, "<pad>"])
    texts = [SHORT, *HARD, SHORT.encode(), b"\xff\xfe\xc3(", novel(3_000, 50_000), bytearray(b"abc")]
    for number, text in enumerate(texts):
        call(f"encode {number}", tok.encode, text)
        call(f"ordinary {number}", tok.encode_ordinary, text)
        call(f"numpy {number}", tok.encode_to_numpy, text)
        call(f"count {number}", tok.count, text)
        ids = tok.encode(text) if not isinstance(text, bytearray) else []
        call(f"decode {number}", tok.decode, ids)
        call(f"decode_bytes {number}", tok.decode_bytes, ids)
    long = long_text(call.mode)
    ids = call("long", tok.encode, long)
    call("long numpy", tok.encode_to_numpy, long)
    call("long decode", lambda: tok.decode(ids) == long)
    call("long decode_bytes", lambda: tok.decode_bytes(np.array(ids, np.uint16)) == long.encode())
    lines = long.splitlines(keepends=True)
    call("batch", tok.encode_batch, lines)
    call("batch one thread", tok.encode_batch, lines, 1)
    call("batch numpy", tok.encode_batch_to_numpy, lines, threads=2)
    call("batch empty", tok.encode_batch, [])
    call("batch numpy empty", tok.encode_batch_to_numpy, [])
    call("batch generator", tok.encode_batch, (line for line in lines[:20]))
    call("batch str", tok.encode_batch, "text")
    call("batch types", tok.encode_batch, ["a", 1])
    call("decode_batch", tok.decode_batch, [[72, 105], [], np.array([300, 301])])
    call("iterable", lambda: list(tok.encode_iterable(lines)))
    call("iterable of characters", lambda: list(tok.encode_iterable(iter(SHORT))))
    call("surrogate", tok.encode, "a\ud800b")
    call("type", tok.encode, 3)
    call("none", tok.encode, None)
    for n in (0, 1, 7, 10**6):
        call(f"count {n}", tok.count, SHORT, n)
        call(f"truncate {n}", tok.truncate, SHORT, n)
        call(f"truncate bytes {n}", tok.truncate, SHORT.encode(), n)
        call(f"truncate long {n}", tok.truncate, long, n)
    call("count -1", tok.count, SHORT, -1)
    call("truncate -1", tok.truncate, SHORT, -1)
    for name, text in {"short": SHORT, "bytes": b"\xff" + SHORT.encode(), "special": f"a{END}b"}.items():
        call(f"offsets {name}", tok.encode_with_offsets, text, allowed_special="all")
    call("offsets long", tok.encode_with_offsets, long)
    call("decode offsets", tok.decode_with_offsets, tok.encode(SHORT))
    bad = {"negative": [-1], "large": [10**6], "str": ["a"], "float": [1.5], "2d": np.zeros((2, 2), int)}
    for name, ids in bad.items():
        call(f"decode {name}", tok.decode, ids)
        call(f"decode_bytes {name}", tok.decode_bytes, ids)
    for errors in ("strict", "replace", "ignore", "none"):
        call(f"decode errors {errors}", tok.decode, [195, 72, 255], errors)
    call("skip special", tok.decode, tok.encode(f"a{END}b", allowed_special="all"), skip_special_tokens=True)
    for dropout in (0.0, 0.1, 0.5, 1.0, 1.5):
        for seed in (0, 1, 2**63, -1):
            call(f"dropout {dropout} {seed}", tok.encode_with_dropout, SHORT, dropout, seed=seed)
    call("dropout long", tok.encode_with_dropout, long, 0.1, seed=7)


@area()
def specials(call):
    specials = [END, "<|end|>more", "<pad>", "é\U0001f600"]
    tok = bpe.train([novel(20_000)], 400, special_tokens=specials)
    texts = [
        f"one{END}two<|end|>more <pad>é\U0001f600 é",
        END,
        f"{END}{END}",
        "no special",
        "<|end",
        f"x{END[:-1]}",
    ]
    for number, text in enumerate([*texts, texts[0].encode(), novel(2_000) + END + novel(300)]):
        for name, given in {
            "default": {},
            "all": {"allowed_special": "all"},
            "some": {"allowed_special": {END}},
            "none": {"disallowed_special": ()},
            "some not": {"disallowed_special": {"<pad>"}},
            "both": {"allowed_special": {"<pad>"}, "disallowed_special": {END}},
        }.items():
            call(f"encode {number} {name}", tok.encode, text, **given)
            call(f"count {number} {name}", tok.count, text, **given)
            call(f"numpy {number} {name}", tok.encode_to_numpy, text, **given)
            call(f"batch {number} {name}", tok.encode_batch, ["a", text], **given)
            call(f"offsets {number} {name}", tok.encode_with_offsets, text, **given)
            call(f"truncate {number} {name}", tok.truncate, text, 3, **given)
            call(
                f"iterable {number} {name}",
                lambda t=text, g=given: list(tok.encode_iterable([t[:5], t[5:]], **g)),
            )
        call(f"ordinary {number}", tok.encode_ordinary, text)
    call("ordinary", tok.encode, texts[0], disallowed_special=())
    call("allowed unknown", tok.encode, "a", allowed_special={"<none>"})
    call("disallowed unknown", tok.encode, "a", disallowed_special={"<none>"})
    call("allowed str", tok.encode, "a", allowed_special="<pad>")
    call("option unknown", tok.encode, "a", nothing=1)
    call("add_special_tokens", tok.encode, texts[0], allowed_special="all", add_special_tokens=True)
    allowed = call("with_allowed_special", tok.with_allowed_special, "all")
    call("allowed_special", lambda: (allowed.allowed_special, tok.allowed_special, allowed == tok))
    call("allowed encode", allowed.encode, texts[0])
    call("with_allowed_special unknown", tok.with_allowed_special, ["<none>"])
    for given in (
        ["<new>"],
        {"<new>": 1000},
        {"<new>": 3},
        {END: 500},
        [END],
        [""],
        {"<new>": -1},
        {"<new>": "a"},
    ):
        more = call(f"with_special_tokens {given}", tok.with_special_tokens, given)
        call(f"with_special_tokens {given} encode", lambda m=more: m.encode("a<new>b", allowed_special="all"))
    call("added_tokens", lambda: tok.added_tokens)
    call("special_tokens", lambda: tok.special_tokens)
    call("skip", tok.decode, tok.encode(texts[0], allowed_special="all"), skip_special_tokens=True)
    call("skip batch", tok.decode_batch, [[400 - 1, 72], [397]], skip_special_tokens=True)


@area()
def streams(call):
    tok = bpe.train([novel(20_000)], 400, special_tokens=[END])
    text = SHORT + novel(1_500, 70_000) + f"{END} and {END[:4]} more " + "a" * 300 + " 漢字" * 20
    for size in (1, 3, 50):
        for what, pieces in {
            "str": [text[i : i + size] for i in range(0, len(text), size)],
            "bytes": [text.encode()[i : i + size] for i in range(0, len(text.encode()), size)],
        }.items():
            stream = tok.stream_encoder(allowed_special="all")
            call(f"encoder {size} {what}", lambda s=stream, p=pieces: [s.feed(one) for one in p])
            call(f"encoder rest {size} {what}", lambda s=stream: (s.rest(), s.finish(), repr(s)))
            growing = tok.appendable_encoder(allowed_special="all")
            call(
                f"appendable {size} {what}",
                lambda g=growing, p=pieces: [(g.append(one), g.count(), g.ids()[-3:])[1:] for one in p],
            )
            call(f"appendable ids {size} {what}", growing.ids)
    stream = tok.stream_encoder()
    call("encoder special", lambda: [stream.feed("ab"), stream.feed(END), stream.feed("c")])
    call("encoder after finish", lambda: (stream.finish(), stream.feed("a"), stream.finish()))
    call("encoder type", stream.feed, 3)
    call("encoder mixed", lambda: (stream.feed(b"\xc3"), stream.feed("a")))
    call("encoder pickle", lambda: pickle.dumps(tok.stream_encoder()) and None)
    ids = tok.encode(text, allowed_special="all")
    for errors in ("replace", "strict", "ignore"):
        decoder = tok.stream_decoder(errors)
        call(f"decoder {errors}", lambda d=decoder: [d.feed(one) for one in ids])
        call(f"decoder finish {errors}", decoder.finish)
        decoder = tok.stream_decoder(errors)
        call(f"decoder half {errors}", lambda d=decoder: (d.feed([195]), d.feed([40, 195]), d.finish()))
    decoder = tok.stream_decoder()
    call("decoder arrays", lambda: [decoder.feed(np.array(ids[i : i + 7])) for i in range(0, len(ids), 7)])
    call("decoder range", decoder.feed, [10**6])
    call("decoder type", decoder.feed, "a")
    call("decoder errors", tok.stream_decoder, "none")
    counter = call("intervals", tok.interval_counter, text[:700])
    call("intervals len", len, counter)
    spans = [(0, 0), (0, 5), (3, 50), (10, 700), (699, 700), (0, 700)]
    call("intervals count", lambda: [counter.count(*span) for span in spans])
    call("intervals many", counter.count_many, *map(list, zip(*spans, strict=True)))
    for span in ((5, 3), (-1, 3), (0, 10**4), ("a", 3)):
        call(f"intervals {span}", counter.count, *span)
    call("intervals unequal", counter.count_many, [1], [2, 3])
    call("intervals bytes", lambda: tok.interval_counter(SHORT.encode()).count(1, 60))


@area()
def arrow(call):
    import pyarrow as pa

    tok = bpe.train([novel(20_000)], 400, special_tokens=[END])
    lines = [*novel(3_000).splitlines(), None, "", END, "é"]
    for kind in (pa.string(), pa.large_string(), pa.binary(), pa.string_view()):
        column = pa.array([line for line in lines if line is not None], kind)
        call(f"batch {kind}", tok.encode_batch, column, disallowed_special=())
        call(f"numpy {kind}", tok.encode_batch_to_numpy, column, disallowed_special=())
        call(f"special {kind}", tok.encode_batch, column)
        call(f"allowed {kind}", tok.encode_batch_to_numpy, column.slice(3), allowed_special="all")
        call(f"train {kind}", bpe.train, column, 300)
    call("null", tok.encode_batch, pa.array(lines))
    call("chunked", tok.encode_batch, pa.chunked_array([lines[:3], lines[5:9]]))
    call("ints", tok.encode_batch, pa.array([1, 2]))
    call("count_words", lambda: dict(bpe.count_words(pa.array(lines[:9])).items()))


@area()
def patterns(call):
    texts = [
        SHORT,
        *HARD,
        novel(3_000),
        "x\u2028y\x85z\t\t1234567 ABCdef's",
        "नमस्ते สวัสดี Привет",
        "\U0001f468\u200d\U0001f469",
    ]
    own = {
        "own": r" ?[^\W\d]+|\d(?:\d\d)?|[^\w\s]+|\s+",
        "lookahead": r"\s+(?!\S)|\s+|\S+?(?=\d)|\S+",
        "case": r"(?i:abc|the)|\w+",
        "back": r"(\w)\1+|.",
        "bounds": r"\b\w{2,3}\b|^.|.$|\A\w",
        "classes": r"[\p{Lu}\p{Nd}--[A-F]]+|[[:alpha:]]+|.",
        "lazy": r"a+?b|a*+|[^a]",
        "several": ["[a-z]+", r"\d{1,2}"],
        "whole": "none",
    }
    for name, source in {**{name: name for name in bpe.PATTERNS}, **own}.items():
        pattern = call(f"of {name}", bpe.Pattern.of, source)
        call(
            f"parts {name}",
            lambda p=pattern: (p.name, p.sources, p.spec, p.compiled, p.unicode_version, repr(p)),
        )
        for number, text in enumerate(texts):
            call(f"split {name} {number}", lambda p=pattern, t=text: p.split(t))
            call(
                f"bytes {name} {number}",
                lambda p=pattern, t=text: p.split_bytes(b"\xff" + t.encode() + b"\xc3"),
            )
            call(f"cuts {name} {number}", lambda p=pattern, t=text: p.cuts(t))
            call(f"last_cut {name} {number}", lambda p=pattern, t=text: p.last_cut(t))
            call(f"decided {name} {number}", lambda p=pattern, t=text: p.decided(t.encode()))
        call(
            f"copies {name}",
            lambda p=pattern: (p == pickle.loads(pickle.dumps(p)), copy.copy(p) == p, hash(p) == hash(p)),
        )
        call(f"function {name}", lambda s=source: bpe.split(s, SHORT))
    long = long_text(call.mode)
    for name in bpe.PATTERNS:
        call(f"long {name}", bpe.split, name, long)
    for dialect in ("regex", "rust", "oniguruma", "none"):
        for source in (
            r"\s+|\w+",
            r"[[:word:]]+|\h",
            r"(?<n>a)\k<n>|.",
            r"\x{41}|[a-z&&[^b]]+|.",
            r"(?>a|b)c|\z|.",
            "^a$|.",
        ):
            pattern = call(f"dialect {dialect} {source}", bpe.Pattern, source, dialect)
            call(f"dialect split {dialect} {source}", lambda p=pattern: p.split("aab ABC_é1\nac"))
    for source in (
        "(",
        "[",
        "a{3,1}",
        "(?P<a",
        "\\",
        "(?<=a+)b",
        "",
        3,
        [],
        ["a", 3],
        r"\p{None}",
        "*",
        "(a",
        "a)",
        "(?z)",
    ):
        call(f"wrong {source}", bpe.Pattern.of, source)
    call("compiled only", bpe.Pattern.of, r"(\w)\1", compiled_only=True)
    call("split type", bpe.split, "gpt2", b"abc")
    call("split surrogate", bpe.split, "gpt2", "a\ud800 b")
    call("PATTERNS", lambda: dict(bpe.PATTERNS), whole=True)


@area()
def superwords(call):
    for name, given in {
        "superbpe": superbpe(first_merges=12),
        "superbpe all": superbpe(first_merges=0),
        "superbpe pattern": superbpe(first_merges=8, pattern=r"[^.]+|\."),
        "boundless": boundless(),
        "boundless parts": boundless(parts=r"\p{N}"),
    }.items():
        for corpus, texts in {"song": [SONG], "novel": [novel(60_000)]}.items():
            tok = call(f"{name} {corpus}", bpe.train, texts, 340, special_tokens=[END], **given)
            if tok is None:
                continue
            text = SONG[:300] + END + novel(700, 80_000)
            call(f"{name} {corpus} encode", tok.encode, text, allowed_special="all")
            call(f"{name} {corpus} refuses", tok.encode, text)
            call(f"{name} {corpus} numpy", tok.encode_to_numpy, text, allowed_special="all")
            call(f"{name} {corpus} count", tok.count, text, disallowed_special=())
            call(f"{name} {corpus} offsets", tok.encode_with_offsets, SONG[:200])
            call(f"{name} {corpus} batch", tok.encode_batch, SONG.splitlines())
            call(f"{name} {corpus} truncate", tok.truncate, SONG, 7)
            call(f"{name} {corpus} decode", lambda t=tok: t.decode(t.encode(SONG)) == SONG)
            call(f"{name} {corpus} iterable", lambda t=tok: list(t.encode_iterable(iter(SONG[:300]))))
            stream = tok.stream_encoder()
            call(f"{name} {corpus} stream", lambda s=stream: ([s.feed(c) for c in SONG[:200]], s.finish()))
            growing = tok.appendable_encoder()
            call(
                f"{name} {corpus} appendable",
                lambda g=growing: [(g.append(c), g.count())[1] for c in SONG[:200]],
            )
            call(f"{name} {corpus} intervals", lambda t=tok: t.interval_counter(SONG[:200]).count(3, 90))
            call(f"{name} {corpus} dropout", tok.encode_with_dropout, SONG[:90], 0.3, seed=1)
            call(f"{name} {corpus} smaller", with_vocab_size, tok, 300)
            call(f"{name} {corpus} extend", lambda t=tok: t.extend([SONG], 3))
            call(f"{name} {corpus} prune", lambda t=tok: t.prune([SONG], vocab_size=300))
            call(f"{name} {corpus} audit", lambda t=tok: t.audit([SONG]))
            call(f"{name} {corpus} pickle", lambda t=tok: pickle.loads(pickle.dumps(t)) == t)
            for form in ("save", "save_huggingface", "save_tiktoken", "save_gpt2", "save_minbpe"):
                path = Path(f"{name.replace(' ', '_')}_{corpus}_{form}")
                if form == "save_gpt2":
                    path.mkdir()
                call(f"{name} {corpus} {form}", getattr(tok, form), path)
                call(f"{name} {corpus} {form} file", file_of, path)
            call(
                f"{name} {corpus} read",
                lambda t=tok, n=name, c=corpus: (
                    bpe.Tokenizer.load(Path(f"{n.replace(' ', '_')}_{c}_save")) == t
                ),
            )
    for name, given in {
        "all options": {"min_count": 3, "max_token_length": 12},
        "ties": {"ties": "gpt2"},
        "keep": {"keep": lambda left, right: b"way" not in left + right},
        "threads": {"threads": 1},
    }.items():
        call(f"superbpe with {name}", bpe.train, [SONG], 300, **superbpe(first_merges=12), **given)
        call(f"boundless with {name}", bpe.train, [SONG], 300, **boundless(), **given)
    call("superbpe too many", bpe.train, [SONG], 300, **superbpe(first_merges=10**6))
    call("superbpe of counts", bpe.train, bpe.WordCounts({"a": 1}), 300, **superbpe(first_merges=1))
    call("boundless of counts", bpe.train, bpe.WordCounts({"a": 1}), 300, **boundless())
    call("boundless of a generator", bpe.train, (one for one in [SONG]), 300, **boundless())
    runs = call("count_runs", bpe.count_runs, [SONG], special_tokens=[END])
    more = call("count_runs of the novel", bpe.count_runs, [novel(60_000)], special_tokens=[END])
    call(
        "runs parts",
        lambda: (
            runs.parts,
            runs.pattern,
            runs.special_tokens,
            runs.words,
            repr(runs),
            len(runs.rows().counts),
        ),
    )
    call("runs train", bpe.train, runs, 320, **boundless())
    call("runs sum", lambda: bpe.train(runs + more, 320, **boundless()))
    call("runs weights", bpe.train, {"a": runs, "b": more}, 320, weights={"a": 0.5, "b": 0.25}, **boundless())
    call("runs ordinary", bpe.train, runs, 320)
    call("runs prune", lambda: bpe.train((runs + more).prune(3), 320, **boundless()))
    call("runs save", runs.save, "a.runs")
    call("runs file", file_of, "a.runs")
    call("runs load", lambda: bpe.RunCounts.load("a.runs") == runs)
    call("runs of others", lambda: runs + bpe.count_runs([SONG], parts=r"\d"))
    call(
        "runs damaged",
        lambda: (Path("b.runs").write_bytes(Path("a.runs").read_bytes()[:-9]), bpe.RunCounts.load("b.runs")),
    )
    call("runs wrong", bpe.RunCounts)
    call("runs pickle", lambda: pickle.loads(pickle.dumps(runs)) == runs)


@area()
def parity(call):
    english, german = (
        bpe.WordCounts({"the": 90, "then": 80, "there": 70}),
        bpe.WordCounts({"der": 3, "den": 2}),
    )
    both = {"en": english, "de": german}
    dev = {"en": bpe.WordCounts({"the": 1, "then": 1}), "de": bpe.WordCounts({"der": 1, "den": 2})}
    for name, given in {
        "nothing": {},
        "dev": {"dev": dev},
        "ratios": {"ratios": {"en": 1.0, "de": 2.5}},
        "window": {"dev": dev, "window": 4, "alpha": 1.2},
        "global": {"dev": dev, "n_global": 2},
        "gpt2": {"dev": dev, "ties": "gpt2", **like("gigatoken", bpe.train_parity)},
        "lexicographic": {"ties": "lexicographic", "min_count": 3},
        "length": {"max_token_length": 3},
        "huggingface": like("huggingface", bpe.train_parity),
        "first": {"ties": "first"},
        "dev and ratios": {"dev": dev, "ratios": {"en": 1, "de": 1}},
        "wrong dev": {"dev": {"en": english}},
        "wrong ratios": {"ratios": {"en": 0, "de": 1}},
        "wrong window": {"window": 0},
        "wrong alpha": {"window": 3, "alpha": 0},
        "wrong global": {"n_global": -1},
        "progress": {"progress": True},
    }.items():
        call(name, bpe.train_parity, both, 264, **given)
    half = NOVEL.read_text("utf-8")
    large = {
        name: bpe.WordCounts.from_corpus([half[i : i + 30_000]]) for name, i in {"a": 0, "b": 90_000}.items()
    }
    call("large", bpe.train_parity, large, 500, dev=large)
    call("large window", bpe.train_parity, large, 500, window=10, alpha=1.1)
    call("no languages", bpe.train_parity, {}, 300)
    call("no counts", bpe.train_parity, {"en": ["text"]}, 300)
    call("patterns", bpe.train_parity, {"en": english, "de": bpe.WordCounts({"a": 1}, pattern="o200k")}, 300)


@area()
def counts(call):
    one = call("from_corpus", bpe.WordCounts.from_corpus, [novel(30_000)], special_tokens=[END])
    call("count_words", lambda: bpe.count_words([novel(30_000)], special_tokens=[END]) == one)
    call("of files", lambda: bpe.count_words(NOVEL, "cl100k", threads=2).most_common(20))
    call(
        "parts",
        lambda: (
            len(one),
            one.total,
            one.n_bytes,
            one.n_text_bytes,
            one.pattern,
            one.special_tokens,
            repr(one),
        ),
    )
    call("most_common", one.most_common)
    call("most_common 5", one.most_common, 5)
    call("most_common -1", one.most_common, -1)
    call("arrays", one.to_arrays)
    call("items", lambda: list(one.items()))
    call("get", lambda: (one[b" the"], one[" the"], b"none" in one, " the" in one))
    call("get missing", lambda: one["none"])
    call("filter", one.filter, lambda word, n: n > 20 and word.startswith(b" "))
    call("filtered", lambda: list(one.filter(lambda word, n: n > 20).items()))
    call("prune", lambda: list(one.prune(10).items()))
    call("prune 0", one.prune, 0)
    for factor in (2, 0.5, 0, -1, "a", 1e30):
        call(f"scale {factor}", lambda f=factor: list(one.scale(f).items())[:20])
    call("add", lambda: (one.add("new", 3), one.add(b"\xff"), one["new"], one[b"\xff"]))
    call("add -1", one.add, "a", -1)
    call("add int", one.add, 3)
    call("sum", lambda: list((one + one).items())[:50])
    call("sum of others", lambda: one + bpe.WordCounts({"a": 1}, pattern="o200k"))
    call("sum with dict", lambda: one + {"a": 1})
    call(
        "made",
        lambda: [list(bpe.WordCounts(words).items()) for words in ({"a": 1}, [("b", 2), (b"c", 3)], ())],
    )
    for words in ({"a": -1}, {"a": 1.5}, {3: 1}, "abc", {"a": 2**63}, [("a",)]):
        call(f"wrong {words}", bpe.WordCounts, words)
    call("save", one.save, "a.counts")
    call("file", file_of, "a.counts")
    call("load", lambda: bpe.WordCounts.load("a.counts") == one)
    call("load missing", bpe.WordCounts.load, "missing.counts")
    call(
        "damaged",
        lambda: (
            Path("b.counts").write_bytes(Path("a.counts").read_bytes()[:-9]),
            bpe.WordCounts.load("b.counts"),
        ),
    )
    call("not counts", bpe.WordCounts.load, NOVEL)
    call("old file", lambda: list(bpe.WordCounts.load(OLD_FILES / "words.counts").items()))
    call("copies", lambda: (pickle.loads(pickle.dumps(one)) == one, copy.deepcopy(one) == one, one == {}))
    call("hash", hash, one)
    Path("texts").mkdir()
    Path("texts/a.txt").write_text(novel(3_000), "utf-8")
    records = [json.dumps({"text": line, "body": "b"}) for line in novel(2_000).splitlines()]
    Path("texts/b.jsonl").write_text("\n".join(records), "utf-8")
    Path("texts/c.jsonl").write_text('{"text": "a"}\n{"text": 3}\n', "utf-8")
    Path("texts/d.jsonl").write_text('{"text": "a"}\n{bad\n', "utf-8")
    Path("odd.txt").write_bytes(b"one \xff two\nthree")
    for name, given in {
        "path": (Path("texts/a.txt"), {}),
        "list": ([Path("texts/a.txt"), "text", b"bytes"], {}),
        "jsonl": (Path("texts/b.jsonl"), {}),
        "field": (Path("texts/b.jsonl"), {"field": "body"}),
        "no field": (Path("texts/b.jsonl"), {"field": "none"}),
        "not text": (Path("texts/c.jsonl"), {}),
        "not json": (Path("texts/d.jsonl"), {}),
        "skip": (Path("texts/d.jsonl"), {"errors": "skip"}),
        "format": (Path("texts/b.jsonl"), {"format": "text"}),
        "wrong format": (Path("texts/b.jsonl"), {"format": "none"}),
        "keep": (Path("odd.txt"), {"errors": "keep"}),
        "strict": (Path("odd.txt"), {"errors": "strict"}),
        "replace": (Path("odd.txt"), {"errors": "replace"}),
        "skip odd": (Path("odd.txt"), {"errors": "skip"}),
        "wrong errors": (Path("odd.txt"), {"errors": "none"}),
        "record": (Path("texts/b.jsonl"), {"max_record_bytes": 20}),
        "folder": (Path("texts"), {}),
        "missing": (Path("missing"), {}),
        "empty": ([], {}),
        "str": ("text", {}),
    }.items():
        corpus = call(f"corpus {name}", bpe.Corpus, given[0], **given[1])
        call(f"corpus documents {name}", lambda c=corpus: [b"".join(one) for one in c.documents()])
        call(f"corpus count {name}", lambda c=corpus: list(bpe.count_words(c).items()))
        call(
            f"corpus parts {name}",
            lambda c=corpus: (repr(c), c.is_lasting, c.origins, c.paths(), c.name_of_document(0)),
        )
        call(f"corpus pickle {name}", lambda c=corpus: repr(pickle.loads(pickle.dumps(c))))


FORMATS = {
    "native": ("save", "load", "tok.json"),
    "huggingface": ("save_huggingface", "from_huggingface", "tokenizer.json"),
    "tiktoken": ("save_tiktoken", "from_tiktoken", "tok.tiktoken"),
    "gpt2": ("save_gpt2", "from_gpt2", "gpt2"),
    "minbpe": ("save_minbpe", "from_minbpe", "tok.model"),
}


@area()
def formats(call):
    text = novel(15_000)
    tokenizers = {
        "plain": bpe.train([text], 380),
        "special": bpe.train([text], 380, special_tokens=[END, "é\U0001f600"]),
        "gpt2": bpe.train([text], 380, special_tokens=["<|endoftext|>"], **like("huggingface")),
        "o200k": bpe.train([text], 380, pattern="o200k"),
        "deepseek": bpe.train([text], 380, pattern="deepseek"),
        "whitespace": bpe.train([text], 380, pattern="whitespace"),
        "none": bpe.train([text], 380, pattern="none"),
        "own": bpe.train([text], 380, pattern=r" ?[^\W\d]+|\d(?:\d\d)?|[^\w\s]+|\s+"),
        "allowed": bpe.train([text], 380, special_tokens=[END]).with_allowed_special("all"),
    }
    probe = f"{SHORT}{END} the sea"
    for name, tok in tokenizers.items():
        for form, (save, load, file) in FORMATS.items():
            folder = Path(f"{name}_{form}")
            folder.mkdir()
            call(f"{name} {form} save", getattr(tok, save), folder / file)
            call(f"{name} {form} file", file_of, folder)
            options = (
                {"pattern": tok.pattern, "special_tokens": tok.special_tokens} if form == "tiktoken" else {}
            )
            back = call(f"{name} {form} load", getattr(bpe.Tokenizer, load), folder / file, **options)
            call(f"{name} {form} same", lambda b=back, t=tok: b == t)
            call(f"{name} {form} encode", lambda b=back: b.encode(probe, disallowed_special=()))
            call(f"{name} {form} open", lambda f=folder / file, o=options, t=tok: open_tokenizer(f, **o) == t)
        call(f"{name} to_huggingface", lambda t=tok: t.to_huggingface().encode(probe).ids)
        call(f"{name} to_tiktoken", lambda t=tok: t.to_tiktoken("mine").encode(probe, disallowed_special=()))
        call(f"{name} lossless", lambda t=tok: (t.is_lossless, t.pattern, t.vocab_size, t.merges_bytes[:5]))
        call(f"{name} pickle", lambda t=tok: pickle.loads(pickle.dumps(t)) == t)
        call(f"{name} whole", Path(f"{name}_native/tok.json").read_text, "utf-8")
    call("open folder", open_tokenizer, Path("plain_gpt2/gpt2"))
    call("open nothing", open_tokenizer, Path("nothing.json"))
    call("open novel", open_tokenizer, NOVEL)
    call("compiled only", open_tokenizer, Path("own_native/tok.json"), compiled_only=True)
    call("no pattern", open_tokenizer, Path("plain_tiktoken/tok.tiktoken"))
    call("old native", bpe.Tokenizer.load, OLD_FILES / "trained.json")
    call("old odd", bpe.Tokenizer.load, OLD_FILES / "odd.json")
    data = Path("special_native/tok.json").read_text("utf-8")
    for number, (old, new) in enumerate(
        [("}", ""), ('"', "'"), ("merges", "merge"), ("256", "999"), ("pattern", "x")]
    ):
        Path("bad.json").write_text(data.replace(old, new, 1), "utf-8")
        call(f"damaged open {number}", open_tokenizer, Path("bad.json"))
    for name, data in {
        "tiktoken": b"AA== 0\nAQ== x\n",
        "tiktoken 2": b"AA== 0\nAA== 1\n",
        "minbpe": b"minbpe v1\n\n0\n1 2 3\n",
        "minbpe 2": b"minbpe v2\n",
        "empty": b"",
        "binary": bytes(range(256)),
        "json": b"[1, 2]",
    }.items():
        Path("bad").write_bytes(data)
        for _, load, _ in FORMATS.values():
            call(f"bad {name} {load}", getattr(bpe.Tokenizer, load), Path("bad"))
        call(f"bad {name} open", open_tokenizer, Path("bad"))
    call("save nowhere", tokenizers["plain"].save, Path("nowhere/tok.json"))


def tokenizer_json(**parts):
    """Return a small tokenizer.json of byte-level tokens, with other parts."""
    tok = bpe.train([novel(8_000)], 300)
    tok.save_huggingface("made.json")
    document = json.loads(Path("made.json").read_text("utf-8"))
    model = parts.pop("model", {})
    document["model"] |= model
    return json.dumps(document | parts)


@area()
def pipelines(call):
    replace = {"type": "Replace", "pattern": {"String": "a"}, "content": "bb"}
    normalizers = [
        *(
            {"type": kind}
            for kind in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt", "ByteLevel")
        ),
        {"type": "Prepend", "prepend": "▁"},
        {"type": "Strip", "strip_left": True, "strip_right": True},
        replace,
        {"type": "Replace", "pattern": {"Regex": r"\s+"}, "content": " "},
        {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": True,
        },
        {"type": "Sequence", "normalizers": [{"type": "NFKC"}, {"type": "Lowercase"}, replace]},
        {"type": "None"},
        3,
    ]
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    split = {"type": "Split", "pattern": {"Regex": r"\w+"}, "behavior": "Isolated", "invert": False}
    behaviors = ("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous", "None")
    firsts = [
        {"type": "Digits", "individual_digits": True},
        {"type": "Digits", "individual_digits": False},
        {"type": "WhitespaceSplit"},
        {"type": "Whitespace"},
        {"type": "BertPreTokenizer"},
        {"type": "UnicodeScripts"},
        {"type": "FixedLength", "length": 3},
        {"type": "CharDelimiterSplit", "delimiter": "e"},
        {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True},
        {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": False},
        *({"type": "Punctuation", "behavior": behavior} for behavior in behaviors),
        *({**split, "behavior": behavior} for behavior in behaviors),
        {**split, "invert": True, "behavior": "Removed"},
        {**split, "pattern": {"String": "the"}},
        {**split, "pattern": {"Regex": "("}},
    ]
    pre_tokenizers = [{"type": "Sequence", "pretokenizers": [first, byte_level]} for first in firsts]
    pre_tokenizers += [
        {**byte_level, "add_prefix_space": True, "use_regex": True},
        byte_level,
        None,
        {"type": "None"},
    ]
    decoders = [
        {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        {"type": "ByteFallback"},
        {"type": "Fuse"},
        {"type": "Strip", "content": " ", "start": 1, "stop": 0},
        {"type": "Replace", "pattern": {"String": "Ġ"}, "content": " "},
        {"type": "Metaspace", "replacement": "Ġ", "prepend_scheme": "always", "split": True},
        {"type": "BPEDecoder", "suffix": "e"},
        {"type": "WordPiece", "prefix": "##", "cleanup": True},
        {"type": "CTC", "pad_token": "a", "word_delimiter_token": "Ġ", "cleanup": True},
        {
            "type": "Sequence",
            "decoders": [{"type": "Fuse"}, {"type": "Strip", "content": "I", "start": 1, "stop": 1}],
        },
        None,
        {"type": "None"},
    ]
    text = {"Sequence": {"id": "A", "type_id": 0}}
    special = {"SpecialToken": {"id": "<s>", "type_id": 0}}
    template = {
        "type": "TemplateProcessing",
        "single": [special, text, special],
        "pair": [text, {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": {"<s>": {"id": "<s>", "ids": [300], "tokens": ["<s>"]}},
    }
    post_processors = [
        template,
        {**template, "single": [text, text]},
        {"type": "BertProcessing", "sep": ["<s>", 300], "cls": ["<s>", 300]},
        {
            "type": "RobertaProcessing",
            "sep": ["<s>", 300],
            "cls": ["<s>", 300],
            "trim_offsets": True,
            "add_prefix_space": True,
        },
        {"type": "Sequence", "processors": [template, {**byte_level, "add_prefix_space": True}]},
        {"type": "None"},
    ]
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    added = [{"id": 300, "content": "<s>", **flags}]
    wider = [
        {**added[0], **given}
        for given in (
            {"lstrip": True},
            {"rstrip": True},
            {"single_word": True, "content": "the"},
            {"normalized": True, "special": False, "content": "SEA"},
            {"id": 5},
            {"id": "a"},
        )
    ]
    parts = [
        *({"normalizer": one} for one in normalizers),
        *({"pre_tokenizer": one} for one in pre_tokenizers),
        *({"decoder": one} for one in decoders),
        *({"post_processor": one, "added_tokens": added} for one in post_processors),
        *({"added_tokens": [one]} for one in wider),
        {"added_tokens": wider[3:4], "normalizer": {"type": "Lowercase"}},
        {"truncation": {"direction": "Right", "max_length": 5, "strategy": "LongestFirst", "stride": 0}},
        {
            "padding": {
                "strategy": "BatchLongest",
                "direction": "Right",
                "pad_id": 0,
                "pad_type_id": 0,
                "pad_token": "!",
            }
        },
        *(
            {"model": one}
            for one in ({"dropout": 0.1}, {"unk_token": "!"}, {"ignore_merges": True}, {"type": "WordPiece"})
        ),
        *(
            {"model": one}
            for one in ({"end_of_word_suffix": "</w>"}, {"byte_fallback": True}, {"fuse_unk": True})
        ),
        {"version": "2.0"},
    ]
    texts = [SHORT, "  The <s> SEA the sea  was\tthe42nd. a b", "", "éa\u0301 漢字", novel(400, 9_000)]
    for number, given in enumerate(parts):
        if call.mode == "plain" and number % 4:
            continue
        path = Path(f"{number}.json")
        path.write_text(tokenizer_json(**copy.deepcopy(given)), "utf-8")
        name = f"{number} {json.dumps(given, ensure_ascii=False)[:60]}"
        tok = call(f"{name} load", bpe.Tokenizer.from_huggingface, path)
        if tok is None:
            continue
        special = {"allowed_special": "all"}
        for i, one in enumerate(texts):
            ids = call(f"{name} encode {i}", tok.encode, one, **special)
            call(f"{name} add {i}", tok.encode, one, add_special_tokens=True, **special)
            call(f"{name} offsets {i}", tok.encode_with_offsets, one, **special)
            call(f"{name} decode {i}", tok.decode, ids or [])
            call(f"{name} skip {i}", tok.decode, ids or [], skip_special_tokens=True)
            call(f"{name} decode offsets {i}", tok.decode_with_offsets, ids or [])
            call(f"{name} truncate {i}", tok.truncate, one, 3, **special)
            call(f"{name} count {i}", tok.count, one, **special)
        call(f"{name} batch", tok.encode_batch, texts, **special)
        call(f"{name} dropout", tok.encode_with_dropout, SHORT, 0.3, seed=3, **special)
        call(f"{name} stream", lambda t=tok: list(t.encode_iterable(iter(SHORT), allowed_special="all")))
        growing = call(f"{name} appendable", tok.appendable_encoder)
        call(f"{name} append", lambda g=growing: [(g.append(one), g.count())[1] for one in SHORT])
        decoder = call(f"{name} decoder", tok.stream_decoder)
        call(
            f"{name} decoder feed",
            lambda d=decoder, t=tok: ([d.feed(one) for one in t.encode(SHORT)], d.finish()),
        )
        call(f"{name} intervals", lambda t=tok: t.interval_counter(SHORT).count(2, 40))
        call(f"{name} parts", lambda t=tok: (t.is_lossless, t.added_tokens, t.special_tokens, repr(t)))
        call(f"{name} pickle", lambda t=tok: pickle.loads(pickle.dumps(t)) == t)
        for form, (save, load, _) in FORMATS.items():
            path = Path(f"{number}_{form}")
            call(f"{name} {save}", getattr(tok, save), path)
            call(f"{name} {save} file", file_of, path)
            if form in ("native", "huggingface"):
                call(f"{name} {load}", lambda p=path, n=load, t=tok: getattr(bpe.Tokenizer, n)(p) == t)
        if number % 8 == 0:
            call(f"{name} extend", lambda t=tok: t.extend([SONG], 5))
            call(f"{name} prune", lambda t=tok: t.prune([SONG], vocab_size=280))
            call(f"{name} audit", lambda t=tok: t.audit().n_by_status)


@area()
def other_files(call):
    import base64

    words = r"\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+|\s+"
    ranks = list(bpe.train([novel(15_000)], 400, pattern=[words], **like("gigatoken")).vocab.values())
    document = {
        "config": {
            "pattern": words,
            "num_vocab_tokens": 400,
            "default_vocab_size": 420,
            "default_num_special_tokens": 24,
            "version": "v3",
        },
        "vocab": [
            {"rank": rank, "token_bytes": base64.b64encode(token).decode(), "token_str": None}
            for rank, token in enumerate(ranks)
        ],
    }
    for name, change in {
        "as it is": {},
        "named": {"special_tokens": [{"rank": 0, "token_str": "<a>", "is_control": True}]},
        "no vocab": {"vocab": []},
        "config": {"config": 3},
    }.items():
        Path("tekken.json").write_text(json.dumps(document | change), "utf-8")
        tok = call(f"tekken {name}", bpe.Tokenizer.from_tekken, Path("tekken.json"))
        call(f"tekken {name} open", open_tokenizer, Path("tekken.json"))
        call(f"tekken {name} encode", lambda t=tok: t.encode(SHORT + "<a>", allowed_special="all"))
    with suppress(ImportError):
        import io

        import sentencepiece

        for name, options in {
            "plain": {"normalization_rule_name": "identity"},
            "nfkc": {"normalization_rule_name": "nmt_nfkc", "user_defined_symbols": ["<sym>", "ab"]},
            "bytes": {"byte_fallback": True, "remove_extra_whitespaces": False, "split_digits": True},
        }.items():
            written = io.BytesIO()
            sentencepiece.SentencePieceTrainer.train(
                sentence_iterator=iter(novel(40_000).splitlines()),
                model_writer=written,
                model_type="bpe",
                vocab_size=500,
                minloglevel=2,
                num_threads=1,
                **options,
            )
            path = Path(f"{name}.model")
            path.write_bytes(written.getvalue())
            tok = call(f"sentencepiece {name}", bpe.Tokenizer.from_sentencepiece, path)
            call(f"sentencepiece {name} open", lambda p=path, t=tok: open_tokenizer(p) == t)
            for number, text in enumerate([SHORT, "  two  spaces <sym> ab ", "", "\x00", "a\nb"]):
                ids = call(f"sentencepiece {name} encode {number}", tok.encode, text)
                call(f"sentencepiece {name} decode {number}", tok.decode, ids or [])
                call(f"sentencepiece {name} offsets {number}", tok.encode_with_offsets, text)
                call(f"sentencepiece {name} truncate {number}", tok.truncate, text, 4)
            call(f"sentencepiece {name} save", tok.save, f"{name}.json")
            call(f"sentencepiece {name} file", file_of, f"{name}.json")
            call(f"sentencepiece {name} load", lambda n=name, t=tok: bpe.Tokenizer.load(f"{n}.json") == t)
            call(f"sentencepiece {name} huggingface", tok.save_huggingface, f"{name}.hf.json")
            call(f"sentencepiece {name} huggingface file", file_of, f"{name}.hf.json")
            call(f"sentencepiece {name} prune", lambda t=tok: t.prune([SONG], vocab_size=450))
            call(f"sentencepiece {name} extend", lambda t=tok: t.extend([SONG], 5))
            call(
                f"sentencepiece {name} cut",
                lambda p=path: (p.write_bytes(p.read_bytes()[:-50]), open_tokenizer(p)),
            )


@area("compiled")
def id_files(call):
    tok = bpe.train([novel(20_000)], 400, special_tokens=[END, "<|endoftext|>"])
    documents = [*novel(20_000).split("\n\n"), "", SHORT]
    Path("books/b").mkdir(parents=True)
    for name in ("a.txt", "b/a.txt", "b/c.txt"):
        Path("books", name).write_text(novel(3_000, 1_000 * len(name)), "utf-8")
    Path("books/e.txt").write_text("", "utf-8")
    number = 0
    for to in ("bin", "npy", "nanogpt", "megatron", "parquet", "arrow", "none", None):
        for name, given in {
            "": {},
            "end token": {"end_token": END},
            "uint32": {"dtype": "uint32", "threads": 1},
        }.items():
            number += 1
            folder = Path(f"ids_{number}")
            folder.mkdir()
            endings = {"megatron": "idx", "parquet": "parquet", "arrow": "arrow", "npy": "npy"}
            path = folder / f"ids.{endings.get(to, 'bin')}"
            call(f"encode {to} {name}", tok.encode_files, documents, path, to=to, **given)
            if to not in ("parquet", "arrow"):  # whose bytes are those of pyarrow
                call(f"files {to} {name}", file_of, folder)
            else:
                call(f"table {to} {name}", table_of, path)
            call(f"again {to} {name}", tok.encode_files, documents, path, to=to, **given)
            if not given:
                call(f"shards {to}", tok.encode_shards, Path("books"), Path(f"shards_{to}"), to=to)
                call(f"shards again {to}", tok.encode_shards, Path("books"), Path(f"shards_{to}"), to=to)
                names = sorted(one.as_posix() for one in Path(f"shards_{to}").rglob("*"))
                call.keep(f"shard names {to}", shown(names))
                if to in ("bin", "nanogpt"):
                    files = {one: file_of(one) for one in sorted(Path(f"shards_{to}").rglob("*.bin"))}
                    call.keep(f"shard files {to}", shown(files))
    call(
        "shards changed",
        lambda: (Path("books/a.txt").write_text("new"), tok.encode_shards(Path("books"), "shards_bin"))[1],
    )
    call("shards with other options", tok.encode_shards, Path("books"), "shards_bin", end_token=END)
    call("shards of texts", tok.encode_shards, ["text"], "shards_0")
    call("shards inside", tok.encode_shards, Path("books"), "books/ids")
    for name, corpus, out, given in [
        ("files", Path("books"), "a.bin", {}),
        ("generator", (one for one in documents), "a.bin", {}),
        ("special", [f"a{END}b"], "b.bin", {}),
        ("allowed", [f"a{END}b"], "c.bin", {"allowed_special": "all"}),
        ("none", [], "d.bin", {}),
        ("str", "text", "e.bin", {}),
        ("no folder", ["a"], "no/e.bin", {}),
        ("folder", ["a"], "books", {}),
        ("dtype", ["a"], "e.bin", {"dtype": "int64"}),
        ("end token", ["a"], "e.bin", {"end_token": "none"}),
        ("ending", ["a"], "e.xyz", {}),
        ("of itself", Path("books/a.txt"), "books/a.txt", {}),
        ("types", ["a", 3], "e.bin", {}),
    ]:
        call(f"of {name}", tok.encode_files, corpus, out, **given)
        call(
            f"of {name} files",
            lambda o=out: {one.name: file_of(one) for one in sorted(Path(".").glob(f"{Path(o).stem}.*"))},
        )
    Path("large.txt").write_text(NOVEL.read_text("utf-8") * 8, "utf-8")
    for ending in ("bin", "npy", "idx", "parquet"):
        stopped, out = [], Path(f"large_{ending}", f"ids.{ending}")
        out.parent.mkdir()

        def stop(done, total, stopped=stopped):
            if done > 1_000_000:
                stopped.append(done)
                raise RuntimeError("stopped")

        with suppress(RuntimeError):
            tok.encode_files(Path("large.txt"), out, progress=stop)
        call.keep(f"stopped {ending}", f"{bool(stopped)} {out.exists()}")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what was saved, which depends on the time
            result = tok.encode_files(Path("large.txt"), out)
        call.keep(f"resumed {ending}", re.sub(r"is_resumed=\w+", "", shown(result)))
        call(f"resumed file {ending}", table_of if ending == "parquet" else file_of, out)


def table_of(path):
    """Return what is in a table of ids."""
    import pyarrow as pa
    from pyarrow import parquet

    table = parquet.read_table(path) if str(path).endswith("parquet") else pa.ipc.open_file(path).read_all()
    return [str(table.schema), table.to_pydict()]


@area()
def surgery(call):
    tok = bpe.train([novel(30_000)], 500, special_tokens=[END], pattern="cl100k")
    for n in (0, 1, 30, -1):
        call(f"extend {n}", lambda n=n: tok.extend([SONG], n))
    for name, given in {
        "gpt2": {"ties": "gpt2"},
        "min_count": {"min_count": 5},
        "length": {"max_token_length": 5},
        "threads": {"threads": 1},
    }.items():
        call(f"extend {name}", lambda g=given: tok.extend([SONG, novel(3_000, 50_000)], 30, **g))
    call("extend counts", lambda: tok.extend(bpe.count_words([SONG], "cl100k", [END]), 20))
    call("extend other counts", lambda: tok.extend(bpe.count_words([SONG]), 20))
    call("extend nothing", lambda: tok.extend([], 20))
    for given in (
        {"vocab_size": 400},
        {"min_count": 3},
        {"vocab_size": 100},
        {},
        {"vocab_size": 400, "min_count": 3},
    ):
        call(f"prune {given}", lambda g=given: tok.prune([novel(30_000)], **g))
    fewer = call("prune", lambda: tok.prune([novel(9_000)], vocab_size=380)[0])
    call("fewer encode", fewer.encode, SHORT)
    call("fewer extend", lambda: fewer.extend([SONG], 20))
    call("fewer prune", lambda: fewer.prune([SONG], vocab_size=300))
    for n in (257, 300, 500, 100, 10**4, "a"):
        call(f"smaller {n}", with_vocab_size, tok, n)
    call("smaller encode", lambda: with_vocab_size(tok, 300).encode(SHORT))
    for name, texts in {
        "nothing": None,
        "texts": [novel(5_000)],
        "named": {"song": [SONG], "novel": [novel(5_000)]},
        "empty": [],
        "str": "text",
    }.items():
        audit = call(f"audit {name}", tok.audit, texts)
        for one in ("n_by_status", "status_of", "witness_of", "texts", "uses", "never_used", "not_utf8"):
            call(f"audit {name} {one}", getattr, audit, one)
        call(f"audit {name} json", lambda a=audit: a.to_json())
    made = {
        "bytes": {},
        "no bytes": {"token_bytes": [b"a", b"b"], "merges": []},
        "merge": {"merges": [(104, 105)]},
        "wrong merge": {"merges": [(104, 999)]},
        "merge without token": {"merges": [(1, 2)]},
        "special": {"special_tokens": {END: 300}},
        "special taken": {"special_tokens": {END: 3}},
        "allowed": {"special_tokens": {END: 300}, "allowed_special": {END}},
        "pattern": {"pattern": "("},
        "hole": {"token_bytes": {**{i: bytes([i]) for i in range(256)}, 300: b"hi"}, "merges": [(104, 105)]},
    }
    for name, given in made.items():
        usual = {"token_bytes": [*(bytes([i]) for i in range(256)), b"hi"], "merges": [], "pattern": "gpt2"}
        one = call(f"made {name}", lambda u=usual, g=given: bpe.Tokenizer(**{**u, **g}))
        call(f"made {name} encode", lambda o=one: o.encode("hi there hi"))
        call(f"made {name} parts", lambda o=one: (o.vocab_size, o.is_lossless, o.special_tokens))


@area()
def one_tokenizer(call):
    tok = bpe.train([novel(20_000)], 400, special_tokens=[END])
    for name in (
        "vocab",
        "vocab_size",
        "merges",
        "merges_bytes",
        "special_tokens",
        "added_tokens",
        "pattern",
    ):
        call(name, getattr, tok, name)
        call(f"set {name}", setattr, tok, name, 3)
    for number in (0, 255, 300, 399, 400, -1, "a", 1.5, np.int64(3)):
        call(f"token_bytes {number}", tok.token_bytes, number)
    for token in (b"a", "a", " the", b"none", END, 3, ""):
        call(f"token_id {token}", tok.token_id, token)
    other = bpe.train([novel(20_000)], 400)
    call("equal", lambda: (tok == tok, tok == other, tok != other, tok == 3, tok == copy.copy(tok)))
    call("hash", lambda: hash(tok) == hash(copy.deepcopy(tok)))
    call(
        "copies",
        lambda: [c(tok) == tok for c in (copy.copy, copy.deepcopy, lambda t: pickle.loads(pickle.dumps(t)))],
    )
    call("protocols", lambda: [pickle.loads(pickle.dumps(tok, p)) == tok for p in range(2, 6)])
    call("repr", lambda: (repr(tok), repr(other), str(tok)))
    call("len", len, tok)
    call("dir bpe", lambda: [name for name in dir(bpe) if name[0] != "_" and name in bpe.__all__])
    call("all", lambda: sorted(bpe.__all__))
    call("missing", lambda: bpe.nothing)
    call("version", lambda: isinstance(bpe.__version__, str))
    for file in sorted(OLD_FILES.glob("*.pickle")):
        call(f"old {file.name}", lambda f=file: pickle.loads(f.read_bytes()))


@area()
def tiktoken_encoding(call):
    tok = bpe.train([novel(20_000)], 400, special_tokens=["<|endoftext|>", END])
    one = call("new", bpe.TiktokenEncoding, tok, "mine")
    text = f"{SHORT}<|endoftext|>{END}"
    for given in ({}, {"allowed_special": "all"}, {"allowed_special": {END}}, {"disallowed_special": ()}):
        call(f"encode {given}", one.encode, text, **given)
        call(f"batch {given}", one.encode_batch, ["a", text], **given)
        call(f"numpy {given}", one.encode_to_numpy, text, **given)
        call(f"unstable {given}", one.encode_with_unstable, text, **given)
    call("unstable", one.encode_with_unstable, "the se")
    call("ordinary", one.encode_ordinary, text)
    call("ordinary batch", one.encode_ordinary_batch, [text, "a"])
    ids = tok.encode(SHORT)
    call("decode", one.decode, ids)
    call("decode_bytes", one.decode_bytes, ids)
    call("decode_batch", one.decode_batch, [ids, []])
    call("decode_bytes_batch", one.decode_bytes_batch, [ids, []])
    call("decode tokens", one.decode_tokens_bytes, ids)
    call("offsets", one.decode_with_offsets, ids)
    for number in (0, 300, 398, 10**4, -1):
        call(f"single {number}", one.decode_single_token_bytes, number)
        call(f"special {number}", one.is_special_token, number)
        call(f"decode {number}", one.decode, [number])
    for token in ("a", b"a", END, "none"):
        call(f"id {token}", one.encode_single_token, token)
    call(
        "parts",
        lambda: (
            one.eot_token,
            one.max_token_value,
            one.n_vocab,
            one.special_tokens_set,
            one.name,
            repr(one),
        ),
    )
    call("values", one.token_byte_values)
    call("pickle", lambda: pickle.loads(pickle.dumps(one)).encode(SHORT) == one.encode(SHORT))
    call("of others", bpe.TiktokenEncoding, 3)
    call("no eot", lambda: bpe.TiktokenEncoding(bpe.train(LOW, 260)).eot_token)


@area("plain")
def reference(call):
    from bpe import reference as slow

    counts = {b"low": 5, b"lower": 2, b"newest": 6, b"widest": 3, "é".encode(): 1}
    call("all", lambda: sorted(slow.__all__))
    for ties in ("smallest", "lexicographic", "first", "gpt2"):
        for name in ("train_deduplicated", "train_incremental", "train_indexed"):
            call(f"{name} {ties}", getattr(slow, name), counts, 12, ties=ties)
        call(f"train_vanilla {ties}", slow.train_vanilla, b"low lower lowest low", 6, ties=ties)
        call(f"train_chunked {ties}", slow.train_chunked, [b"low", b" lower", b" low"], 6, ties=ties)
    merges = [(108, 111), (256, 119), (257, 101), (101, 115)]
    call("vocabulary", slow.vocabulary, merges)
    call("rank_pairs", slow.rank_pairs, merges)
    call("replay", slow.encode_by_replay, b"lowest low", merges)
    call("rank", slow.encode_by_rank, b"lowest low", merges)
    call("count_pairs", slow.pair_statistics, [[1, 2, 1, 2], [2, 1]], [3, 1])
    call("merge", slow.merge_sequence, [1, 2, 1, 2, 2], (1, 2), 9)
    call("superbpe", slow.train_superbpe, [b"by", b" the", b" way"], [b"by the way"], 6, 2)
    call("boundless", slow.train_boundless, [b"by", b" the", b" way"] * 4, 8)
    call("parity", slow.train_parity, [{b"the": 3}, {b"der": 2}], 5)
    call("is_short", slow.is_short, b"ab", b"cd", 3, "at_most")
    call("decode", slow.decode, [104, 105], {104: b"h", 105: b"i"})


# --------------------------------------------------------------------------------------------- command line
COMMANDS = ["audit", "bench", "convert", "count", "count-words", "decode", "encode", "extend", "inspect"]
COMMANDS += ["prune", "report", "show", "train", "train-parity", "vocab", "warmup"]
RENAMED = {"count-words book": "count book", "count-words more": "count more", "--special-token": "--special"}
RENAMED |= {"count-words missing": "count missing", "--alphabet gpt2 --special-first": "--like huggingface"}
RENAMED |= {"audit tok.json --text": "audit tok.json", "report tok.json --text": "report tok.json"}
RENAMED |= {
    f"show tok.json {option}--text ": f"show tok.json {option}" for option in ("", "--ids ", "--json ")
}
RENAMED |= {"--json --text book.txt": "--json book.txt"}
TIMED = re.compile(r"([\d.,]+)( ?(?:s|ms|min|[kMG]?B/s)\b)|(?<=seconds\": )[\d.e+-]+")


@area("plain")
def command_line(call):
    import concurrent.futures

    environment = {**os.environ, "TERM": "dumb", "COLUMNS": "100"}

    def run(*arguments, stdin=b""):
        command = [sys.executable, "-m", "bpe", *map(str, arguments)]
        done = subprocess.run(command, input=stdin, capture_output=True, env=environment)
        out, err = (
            TIMED.sub(r"...\2", one.decode("utf-8", "backslashreplace")) for one in (done.stdout, done.stderr)
        )
        return f"exit {done.returncode}\n{out}\n{err}"

    def run_all(some, n_threads=1):
        with concurrent.futures.ThreadPoolExecutor(n_threads) as pool:
            futures = [pool.submit(maybe, lambda one=one: run(*one[0], stdin=one[1])) for one in some]
            for (arguments, _), future in zip(some, futures, strict=True):
                name = " ".join(map(str, arguments))
                for new, old in RENAMED.items():
                    name = name.replace(new, old)
                call.keep(name, future.result(), whole="--help" in arguments)

    run_all(
        [((name, "--help"), b"") for name in COMMANDS] + [(("--help",), b""), ((), b"")],
        n_threads=2,
    )
    is_renamed = "count-words" in run("--help")
    count, special = ("count-words", "--special-token") if is_renamed else ("count", "--special")
    huggingface = ["--alphabet", "gpt2", "--special-first"]
    files = ("--text",) if "--text" in run("audit", "--help") else ()  # files were options in old versions
    text = () if files else ("--text",)
    if "--like" in run("train", "--help"):
        huggingface = ["--like", "huggingface"]
    Path("book.txt").write_text(novel(12_000), "utf-8")
    Path("more.txt").write_text(SONG, "utf-8")
    Path("odd.txt").write_bytes(b"the \xff sea\nthe land")
    Path("empty.txt").write_text("")
    Path("records.jsonl").write_text('{"text": "the sea", "body": "b"}\n{"text": "land"}\n', "utf-8")
    train = ("train", "book.txt", "--vocab-size", 320, "--quiet")
    parity = ("train-parity", "book.counts", "more.counts", "--vocab-size", 300)
    dev = ("--dev", "book=book.counts", "--dev", "more=more.counts")
    run_all(
        [
            ((*train, "-o", "tok.json"), b""),
            ((*train, "-o", "special.json", special, END), b""),
            ((count, "book.txt", "-o", "book.counts", "--quiet"), b""),
            ((count, "more.txt", "-o", "more.counts", "--json"), b""),
            ((count, "more.txt", "--runs", "-o", "more.runs", "--json"), b""),
            (
                (*train, "--json", "-o", "gpt2.json", *huggingface, special, END),
                b"",
            ),
            (
                (
                    *train,
                    "-o",
                    "lex.json",
                    "--ties",
                    "lexicographic",
                    "--min-count",
                    3,
                    "--max-token-length",
                    5,
                ),
                b"",
            ),
            ((*train, "-o", "super.json", "--superwords", "superbpe", "--first-merges", 30), b""),
            ((*train, "more.txt", "-o", "bound.json", "--superwords", "boundless", "--min-count", 9), b""),
            ((*train, "-o", "-", "--pattern", "o200k"), b""),
            (("train", "-", "--vocab-size", 280, "-o", "stdin.json", "--json"), SONG.encode()),
            (("train", "records.jsonl", "--field", "body", "--vocab-size", 256, "-o", "field.json"), b""),
            (("train", "book.txt", "more.txt", "--vocab-size", 300, "-o", "two.json"), b""),
        ]
    )
    run_all(
        [
            (("train", "book.counts", "--vocab-size", 300, "-o", "c.json", "--json"), b""),
            (
                ("train", "book.counts=0.5", "more.counts=2", "--vocab-size", 300, "-o", "w.json", "--json"),
                b"",
            ),
            (
                (
                    "train",
                    "book.counts",
                    "more.counts",
                    "--temperature",
                    2,
                    "--vocab-size",
                    300,
                    "-o",
                    "t.json",
                ),
                b"",
            ),
            (
                (
                    "train",
                    "more.runs",
                    "--superwords",
                    "boundless",
                    "--vocab-size",
                    300,
                    "-o",
                    "r.json",
                    "--json",
                ),
                b"",
            ),
            ((count, "book.counts", "more.counts", "-o", "all.counts", "--json"), b""),
            (
                (*parity, "--ratio", "book=1", "--ratio", "more=2", "-o", "parity.json"),
                b"",
            ),
            (
                (*parity, *dev, "-o", "dev.json", "--window", 5, "--alpha", 1.2),
                b"",
            ),
            (("encode", "tok.json", "more.txt"), b""),
            (("encode", "tok.json", "--json"), SHORT.encode()),
            (("encode", "tok.json", "odd.txt", "records.jsonl", "--json"), b""),
            (("encode", "special.json", "--json"), f"a{END}b".encode()),
            (("encode", "special.json", "--allow-special"), f"a{END}b".encode()),
            (("encode", "special.json", "--ordinary"), f"a{END}b".encode()),
            (("encode", "tok.json", "book.txt", "-o", "ids.bin", "--json"), b""),
            (("encode", "tok.json", "book.txt", "-o", "array.npy"), b""),
            (
                (
                    "encode",
                    "special.json",
                    "book.txt",
                    "more.txt",
                    "-o",
                    "m.idx",
                    "--end-token",
                    END,
                    "--json",
                ),
                b"",
            ),
            (("encode", "tok.json", "more.txt", "book.txt", "-o", "shards", "--shards", "--json"), b""),
            (("encode", "tok.json", "book.txt", "-o", "ids.parquet", "--json"), b""),
            (("decode", "tok.json"), b"72 105 300"),
            (("convert", "tok.json", "tokenizer.json", "--to", "huggingface", "--json"), b""),
            (("convert", "tok.json", "o.tiktoken"), b""),
            (("convert", "tok.json", "gpt2", "--to", "gpt2"), b""),
            (("convert", "special.json", "o.model", "--to", "minbpe", "--json"), b""),
            (("extend", "tok.json", "more.txt", "-n", 5, "-o", "extended.json", "--map", "map.npy"), b""),
            (
                (
                    "prune",
                    "tok.json",
                    "book.txt",
                    "--vocab-size",
                    300,
                    "-o",
                    "pruned.json",
                    "--map",
                    "map2.npy",
                ),
                b"",
            ),
            (("prune", "tok.json", "book.txt", "--min-count", 5, "-o", "-"), b""),
            (("inspect", "tok.json"), b""),
            (("inspect", "tok.json", "--json", *files, "book.txt"), b""),
            (("inspect", "bound.json"), b""),
            (("audit", "tok.json", *files, "more.txt"), b""),
            (("audit", "tok.json", "--json"), b""),
            (("show", "tok.json", *text, SHORT), b""),
            (("show", "tok.json", "--ids", *text, "the sea"), b""),
            (("show", "tok.json", "--json", *text, "the sea"), b""),
            (("show", "special.json", "-"), f"a{END}b\xff".encode("latin-1")),
            (("report", "tok.json", *files, "more.txt", "-o", "page.html", "--json"), b""),
        ]
    )
    run_all(
        [
            (("convert", "o.tiktoken", "back.json"), b""),
            (("convert", "o.tiktoken", "back.json", "--pattern", "gpt2"), b""),
            (("decode", "tok.json", "array.npy"), b""),
            (("decode", "tok.json", "ids.bin", "--dtype", "uint16"), b""),
            (("show", "gpt2", "the sea"), b""),
        ]
    )
    for path in sorted(Path(".").iterdir()):
        if path.suffix not in (".parquet", ".html") and path.name != "shards":
            call.file(path.name, path)
    call("page", lambda: re.sub(r"[\d.]+", "0", Path("page.html").read_text("utf-8")))
    run_all(
        [
            (arguments, b"")
            for arguments in (
                ("trian",),
                ("train",),
                ("encode",),
                ("encode", "a", "--nonsense"),
                ("train", "book.txt", "-o", "b", "--vocab-size", "many"),
                ("train", "book.txt", "-o", "b", "--vocab-size", 100),
                ("train", "book.txt", "-o", "b", "--vocab-size", 300, "--ties", "odd"),
                ("train", "missing.txt", "-o", "b", "--vocab-size", 300),
                ("train", "empty.txt", "-o", "b", "--vocab-size", 300),
                ("train", "book.txt", "-o", "no/b", "--vocab-size", 300),
                ("train", "book.txt", "-o", "book.txt", "--vocab-size", 300),
                ("train", "book.txt", "-o", "b", "--vocab-size", 300, "--pattern", "("),
                ("train", "book.txt", "-o", "b", "--vocab-size", 300, "--superwords", "superbpe"),
                ("train", "book.txt", "-o", "b", "--vocab-size", 300, "--first-merges", 3),
                ("train", "book.txt=2", "-o", "b", "--vocab-size", 300),
                ("train", "odd.txt", "-o", "b", "--vocab-size", 300, "--errors", "strict"),
                ("train", "book.txt", "-o", "b", "--vocab-size", 300, special, ""),
                (count, "book.txt", "-o", "-", "--json"),
                (count, "missing.txt", "-o", "c"),
                ("train-parity", "book.txt", "-o", "b", "--vocab-size", 300),
                ("encode", "book.txt", "book.txt"),
                ("encode", "missing.json", "book.txt"),
                ("encode", "tok.json", "missing.txt"),
                ("encode", "tok.json", "book.txt", "-o", "-"),
                ("encode", "tok.json", "book.txt", "-o", "x.bin", "--end-token", "none"),
                ("encode", "tok.json", "book.txt", "-o", "x.bin", "--to", "nanogpt"),
                ("encode", "special.json", "book.txt", "--allow-special", "--ordinary"),
                ("decode", "tok.json", "book.txt"),
                ("decode", "tok.json", "missing"),
                ("convert", "tok.json", "-"),
                ("convert", "tok.json", "x.odd"),
                ("convert", "bound.json", "x.tiktoken"),
                ("extend", "bound.json", "book.txt", "-n", 3, "-o", "x.json"),
                ("extend", "tok.json", "book.txt", "-n", 100_000, "-o", "x.json"),
                ("prune", "tok.json", "book.txt", "-o", "x.json"),
                ("inspect", "missing.json"),
                ("audit", "bound.json"),
                ("bench", "tok.json", "empty.txt"),
                ("bench", "tok.json", "odd.txt"),
                ("report", "tok.json", "--text", "missing.txt", "-o", "x.html"),
            )
        ]
    )


# ----------------------------------------------------------------------------------------------- structures
KEYS = np.array([5, 3, 9, 3, -7, 2**40])
DELTAS = np.array([4, 1, 4, 2, 8, 1])
INTO_PLACE = [5, 3, 2, 3, 0, 7]  # for indexed heaps, of 10 keys
# Methods with arguments; | is between the names of a method, before and after a change of names.
KEYED = [
    ("repr",),
    ("len",),
    ("add", 3),
    ("add", 3, 5),
    ("add", 4, 5),
    ("add", 5, 0),
    ("add", 5, -1),
    ("add", 6, 2.5),
    ("add", 3, 2**63 - 1),
    ("add", 2**63),
    ("add", "a"),
    ("add", 1.5),
    ("add", -2),
    ("add", True),
    ("sub", 3, 2),
    ("sub", 3, 100),
    ("sub", 8),
    ("items",),
    ("__setitem__", 7, 5),
    ("__setitem__", 8, 5),
    ("__setitem__", 1, 0),
    ("__setitem__", 2, float("nan")),
    ("__setitem__", 2, "a"),
    ("__getitem__", 7),
    ("__getitem__", 99),
    ("__getitem__", "a"),
    ("get", 7),
    ("get", 99),
    ("get", 99, -1),
    ("setdefault", 7, 9),
    ("setdefault", 9, 9),
    ("__contains__", 7),
    ("__contains__", 99),
    ("__contains__", "a"),
    ("__contains__", 2**70),
    ("peek",),
    ("ties",),
    ("nlargest|nsmallest", 3),
    ("nlargest|nsmallest", -1),
    ("max_count",),
    ("min_count",),
    ("peek_min",),
    ("peek_max",),
    ("counts",),
    ("keys_at", 5),
    ("keys_at", 77),
    ("keys_in", 2, 6),
    ("keys_in", None, 3),
    ("floor_count", 4),
    ("ceiling_count", 6),
    ("floor_count", -99),
    ("ceiling_count", 999, -1),
    ("improve", 7, 100),
    ("improve", 7, -100),
    ("floor", 6),
    ("ceiling", 6),
    ("lower", 7),
    ("higher", 7),
    ("floor", -99),
    ("higher", 999, "default"),
    ("floor_many", [1, 6, 8]),
    ("ceiling_many", [1, 6, 99], (0, 0)),
    ("rank", 7),
    ("rank_many", [1, 7, 99]),
    ("select", 1),
    ("select", -1),
    ("select", 99),
    ("count", 2, 8),
    ("range_arrays", 2, 8),
    ("keys", 3, 8),
    ("values", 3),
    ("items", 3, 8),
    ("keys",),
    ("values",),
    ("items",),
    ("list",),
    ("to_arrays",),
    ("get_many", [7, 99, 3]),
    ("get_many", [7, 99], -1),
    ("get_many", ["a"]),
    ("set_many", INTO_PLACE, DELTAS),
    ("set_many", [1, 2], [3]),
    ("set_many", [1, 2], [3, "a"]),
    ("add_many|update_many", INTO_PLACE, DELTAS),
    ("add_many|update_many", [1], [-100]),
    ("add_many|update_many", [1, 2], [3]),
    ("add_many|update_many", [1, 2], [1, 2**63]),
    ("add_many|update_many", KEYS, DELTAS),
    ("items",),
    ("add_many|update", {4: 2, 7: 1}),
    ("add_many|update", [(4, 2), (9, 1)]),
    ("add_many|update", "abc"),
    ("add_many|update", 3),
    ("items",),
    ("remove_many", [7, 99]),
    ("remove_range", 5, 8),
    ("__delitem__", 4),
    ("__delitem__", 99),
    ("replace", 2, 3),
    ("replace", 77, 3),
    ("pop",),
    ("pop_min",),
    ("pop_max",),
    ("pop", 3),
    ("pop", 99, -1),
    ("pop_many", 2),
    ("pop_many", -1),
    ("items",),
    ("reserve", 1000),
    ("reserve", -1),
    ("reserve", 2**62),
    ("copies",),
    ("pickle",),
    ("hash",),
    ("bool",),
    ("dtype",),
    ("key_dtype",),
    ("tie_order",),
    ("n_keys",),
    ("nothing",),
    ("clear",),
    ("items",),
    ("peek",),
    ("pop",),
    ("pop_min",),
    ("replace", 3, 4),
    ("bool",),
    ("repr",),
]
WHOLE = {
    "repr": repr,
    "len": len,
    "list": list,
    "hash": hash,
    "bool": bool,
    "copies": lambda one: (one.copy() == one, copy.copy(one) == one, copy.deepcopy(one) == one, one == 3),
    "pickle": lambda one: [pickle.loads(pickle.dumps(one, p)) == one for p in (2, 4, 5)],
}


def call_methods(call, name, container, methods):
    """Call methods of one container, one after another."""
    for method, *arguments in methods:
        if method not in WHOLE and not any(hasattr(type(container), one) for one in method.split("|")):
            continue

        def one_call(method=method, arguments=arguments):
            if method in WHOLE:
                return WHOLE[method](container)
            found = first_of(container, *method.split("|"))
            result = found(*arguments) if callable(found) else found
            return list(result) if hasattr(result, "__next__") else result

        call(f"{name} {method}{shown(tuple(arguments))}", one_call)


def keyed_containers():
    """Return the names of keyed containers, and functions that make one."""
    st = structures
    return {
        "MaxHeap": lambda: st.MaxHeap(),
        "MinHeap float": lambda: st.MinHeap(dtype=np.float64),
        "MinHeap fifo": lambda: st.MinHeap(ties="fifo"),
        "IndexedMaxHeap": lambda: st.IndexedMaxHeap(10),
        "IndexedMinHeap float32 fifo": lambda: st.IndexedMinHeap(10, np.float32, ties="fifo"),
        "CountBuckets": lambda: st.CountBuckets(),
        "IntMap": lambda: st.IntMap(),
        "IntMap float": lambda: st.IntMap(dtype=float),
        "SortedMap": lambda: st.SortedMap(),
        "SortedMap floats": lambda: st.SortedMap(dtype=float, key_dtype=float),
    }


@area("compiled")
def keyed(call):
    for name, make in keyed_containers().items():
        call_methods(call, name, make(), KEYED)
    st = structures
    for name in (
        "MaxHeap",
        "MinHeap",
        "CountBuckets",
        "IntMap",
        "SortedMap",
        "IndexedMaxHeap",
        "IndexedMinHeap",
    ):
        make = getattr(st, name)
        call(f"{name} from_arrays", lambda m=make: m.from_arrays([3, 1, 2], [5, 5, 7]).to_arrays())
        call(f"{name} from floats", lambda m=make: m.from_arrays([3, 1], np.array([0.5, 1.5])).to_arrays())
        call(f"{name} from keys twice", lambda m=make: m.from_arrays([3, 3], [5, 6]).to_arrays())
        call(f"{name} from unequal", make.from_arrays, [3, 1], [5])
        call(f"{name} from text", make.from_arrays, ["a"], [5])
        call(f"{name} from 2d", make.from_arrays, [[1, 2]], [[1, 2]])
        for given in (
            {3: 1, 4: 2},
            [(3, 1), (4, 2)],
            [(3, 1), (3, 2)],
            "abc",
            3,
            {3: "a"},
            {"a": 3},
            {3: 1.5},
            -1,
        ):
            call(f"{name} of {given}", lambda m=make, g=given: (repr(m(g)), list(m(g).items())))
        for given in (
            {"dtype": np.int32},
            {"dtype": "a"},
            {"ties": "none"},
            {"dtype": float},
            {"nothing": 1},
        ):
            call(
                f"{name} with {given}",
                lambda m=make, g=given: repr(m(**({"n": 3} if "Indexed" in m.__name__ else {}), **g)),
            )
        call(f"{name} type", lambda m=make: re.sub("@[0-9a-f]+", "@", str(m.type())))
    many = np.random.default_rng(1)
    keys, values = many.integers(0, 500, 3000), many.integers(1, 60, 3000)
    for name, make in keyed_containers().items():
        if "Indexed" in name:
            one = structures.IndexedMaxHeap(500) if "Max" in name else structures.IndexedMinHeap(500)
        else:
            one = make()
        call(f"{name} many", lambda o=one: first_of(o, "add_many", "update_many")(keys, values))
        call(f"{name} many items", lambda o=one: list(o.items()))
        call(f"{name} many ties", lambda o=one: o.ties())
        call(f"{name} many pops", lambda o=one: [o.pop() for _ in range(300)])
        call(f"{name} many after", lambda o=one: o.to_arrays())
        call(f"{name} equal", lambda o=one, m=make: (o == m(), o == o.copy(), o != o.copy()))


@area("compiled")
def other_containers(call):
    st = structures
    call("all", lambda: sorted(st.__all__))
    call("missing", lambda: st.nothing)
    for pair in ((1, 2), (0, 2**31 - 1), (-1, 2), (2**32, 1), ("a", 1)):
        call(f"pack_pair {pair}", st.pack_pair, *pair)
    call("unpack_pair", lambda: [st.unpack_pair(st.pack_pair(7, 9)), st.unpack_pair(-5)])
    some = [3, 1, 2**62, -5, 3]
    for name, make in {"IntSet": lambda: st.IntSet(some), "IntSet empty": lambda: st.IntSet()}.items():
        methods = [
            ("len",),
            ("list",),
            ("add", 9),
            ("add", "a"),
            ("add", 2**63),
            ("__contains__", 9),
            ("__contains__", "a"),
        ]
        methods += [
            ("contains_many", [9, 1, 7]),
            ("discard", 1),
            ("discard", 99),
            ("remove", 3),
            ("remove", 99),
        ]
        methods += [
            ("update", [5, 6, 5]),
            ("update", "a"),
            ("to_array",),
            ("to_arrays",),
            ("repr",),
            ("copies",),
        ]
        methods += [
            ("pickle",),
            ("hash",),
            ("reserve", 100),
            ("reserve", -1),
            ("clear",),
            ("bool",),
            ("list",),
        ]
        call_methods(call, name, make(), methods)
    for given in ([1.5], ["a"], "abc", 3, [2**63]):
        call(f"IntSet of {given}", st.IntSet, given)
    call("IntSet from_array", lambda: list(st.IntSet.from_array([3, 1, 3])))
    words = [b"low", b"lower", b"\xff", b"low", b"", "é".encode(), b"a" * 300]
    methods = [
        ("len",),
        ("add", b"low"),
        ("add", b"low", 3),
        ("add", b"x", 0),
        ("add", b"x", -1),
        ("add", 3),
        ("add", b"x", "a"),
    ]
    methods += [
        ("add", b"low", 2**63 - 1),
        ("__getitem__", b"low"),
        ("__getitem__", b"none"),
        ("get", b"none"),
        ("get", "é".encode(), 7),
    ]
    methods += [
        ("__contains__", b"low"),
        ("__contains__", 3),
        ("id_of", b"lower"),
        ("id_of", b"none"),
        ("word", 1),
        ("word", 99),
    ]
    methods += [
        ("word", -1),
        ("items",),
        ("list",),
        ("most_common",),
        ("most_common", 2),
        ("most_common", -1),
        ("to_arrays",),
    ]
    data, offsets = np.frombuffer(b"lowhighlow", np.uint8), np.array([0, 3, 7, 10])
    methods += [("add_many|update_many", data, offsets), ("add_many|update_many", data, offsets, [1, 2, 3])]
    methods += [("add_many|update_many", data, [0, 99]), ("add_many|update_many", data, offsets, [1])]
    methods += [("get_many", data, offsets), ("get_many", data, offsets, -1), ("add_many|update", words)]
    methods += [
        ("add_many|update", {b"low": 2}),
        ("add_many|update", "abc"),
        ("add_many|update", [3]),
        ("items",),
    ]
    methods += [
        ("merge", st.ByteCounter({b"new": 1, b"low": 2})),
        ("merge", 3),
        ("reserve", 10, 100),
        ("reserve", -1),
        ("copies",),
    ]
    methods += [
        ("pickle",),
        ("repr",),
        ("hash",),
        ("__setitem__", b"a", 3),
        ("__delitem__", b"low"),
        ("clear",),
        ("items",),
    ]
    call_methods(call, "ByteCounter", st.ByteCounter(dict.fromkeys(words, 1)), methods)
    for given in ("abc", [3], {b"a": 2}, {b"a": -1}, [(b"a", 2)], {"a": 2}, 3):
        call(f"ByteCounter of {given}", lambda g=given: list(st.ByteCounter(g).items()))
    call(
        "ByteCounter from_arrays", lambda: list(st.ByteCounter.from_arrays(data, offsets[:3], [5, 6]).items())
    )
    call("ByteCounter from twice", lambda: list(st.ByteCounter.from_arrays(data, offsets, [5, 6, 7]).items()))
    tokens, segments = np.array([1, 2, 1, 2, 3, 1, 2]), np.array([0, 4, 7])
    methods = [
        ("len",),
        ("n_positions",),
        ("n_segments",),
        ("list",),
        ("token", 0),
        ("token", 99),
        ("next", 0),
        ("next", 3),
    ]
    methods += [
        ("prev", 0),
        ("prev", 1),
        ("prev", -1),
        ("segment_at", 5),
        ("segment", 1),
        ("segment", 9),
        ("positions",),
    ]
    methods += [
        ("segment_positions", 0),
        ("merge", 0, 9),
        ("merge", 1, 9),
        ("merge", 3, 9),
        ("merge", 2, -1),
        ("token", 1),
    ]
    methods += [
        ("list",),
        ("to_arrays",),
        ("repr",),
        ("copies",),
        ("pickle",),
        ("hash",),
        ("compact",),
        ("to_arrays",),
    ]
    call_methods(call, "TokenList", st.TokenList(tokens, segments), methods)
    call_methods(call, "TokenList one", st.TokenList([5, 5, 5]), methods)
    for given in (
        ([-1],),
        ([1.5],),
        (["a"],),
        ([2**31],),
        ([1, 2], [0, 1]),
        ([1, 2], [1, 2]),
        ([1, 2], [0, 2, 1]),
        ([[1]],),
        ([],),
    ):
        call(f"TokenList of {given}", lambda g=given: repr(st.TokenList(*g)))
    methods = [
        ("len",),
        ("n_postings",),
        ("pairs",),
        ("postings", 1, 2),
        ("postings", 8, 8),
        ("count", 1, 2),
        ("count", 2, 1),
    ]
    methods += [
        ("add", 1, 2, 0),
        ("add", 7, 8, 3),
        ("add", 7, 8, 99),
        ("add", -1, 8, 3),
        ("add_many", 7, 8, [1, 2]),
    ]
    methods += [
        ("add_many", 7, 8, [99]),
        ("drop", 1, 2),
        ("drop", 5, 5),
        ("stale_fraction",),
        ("rebuild",),
        ("pairs",),
    ]
    methods += [("copies",), ("pickle",), ("repr",), ("hash",), ("tokens",), ("list",)]
    call_methods(call, "PairIndex", st.PairIndex.build(st.TokenList(tokens, segments)), methods)
    call_methods(call, "PairIndex empty", st.PairIndex(st.TokenList(tokens)), methods)
    call(
        "PairIndex arrays",
        lambda: [one.tolist() for one in st.PairIndex.build(st.TokenList(tokens)).to_arrays()[1:]],
    )
    call("PairIndex of", st.PairIndex, [1, 2])
    methods = [
        ("n_rows",),
        ("k",),
        ("has_flags",),
        ("dtype",),
        ("id_dtype",),
        ("push", 0, 0.5, 7),
        ("push", 0, 0.5, 7),
    ]
    methods += [
        ("push", 0, 0.25, 8),
        ("push", 0, 0.125, 9),
        ("push", 0, 9.0, 10),
        ("push", 9, 0.5, 1),
        ("push", -1, 0.5, 1),
    ]
    methods += [
        ("push", 0, float("nan"), 1),
        ("push", 0, 0.5, -1),
        ("push", 0, "a", 1),
        ("push", 1, 0.5, 1, True),
    ]
    methods += [
        ("push_unchecked", 1, 0.75, 4),
        ("worst", 0),
        ("worst", 2),
        ("worst", 9),
        ("size", 0),
        ("size", 9),
        ("row", 0),
    ]
    methods += [
        ("row", 1),
        ("row", 9),
        ("push_many", [0, 1, 2], [0.1, 0.2, 0.3], [1, 2, 3]),
        ("push_many", [0, 9], [1, 1], [1, 1]),
    ]
    methods += [
        ("push_many", [0], [1, 1], [1]),
        ("to_arrays",),
        ("repr",),
        ("copies",),
        ("pickle",),
        ("hash",),
        ("len",),
    ]
    for name, options in {
        "KBest": {},
        "KBest float64": {"dtype": np.float64, "id_dtype": np.int64},
        "KBest flags": {"flags": True},
    }.items():
        one = st.KBest(3, 2, **options)
        call_methods(
            call,
            name,
            one,
            [*methods, ("merge", one.copy()), ("merge", 3), ("to_arrays",), ("clear",), ("to_arrays",)],
        )
    for given in ((-1, 2), (3, 0), (2, 2, int), (2, 2, float, float), ("a", 2), (2**40, 2**40)):
        call(f"KBest of {given}", lambda g=given: repr(st.KBest(*g)))
    large = st.KBest(5, 40)
    rng = np.random.default_rng(2)
    call(
        "KBest many", large.push_many, rng.integers(0, 5, 2000), rng.random(2000), rng.integers(0, 900, 2000)
    )
    call("KBest many rows", large.to_arrays)
    call("KBest from_arrays", lambda: repr(st.KBest.from_arrays(*large.to_arrays()) == large))


# ------------------------------------------------------------------------------ structures, in compiled code
def program_of(n, n_keys):
    """Return rows of verb, key and value."""
    return np.random.default_rng(n_keys).integers(0, (2**30, n_keys, 2**30), (n, 3))


def drive_counts(heap, program):
    digest = 0
    for i in range(len(program)):
        verb, key, value = program[i, 0] % 9, program[i, 1], program[i, 2] % 39 + 1
        got = 0
        if verb < 2:
            heap.add(key, value)
        elif verb == 2:
            heap[key] = value
        elif verb == 3:
            got = np.int64(heap.sub(key, value))
        elif verb == 4:
            got = np.int64(heap.get(key, 5)) + np.int64(heap[key])
        elif verb == 5:
            if len(heap):
                first = heap.pop()
                got = np.int64(first[0]) * 31 + np.int64(first[1])
        elif verb == 6:
            first = heap.peek()
            got = np.int64(first[0]) * 31 + np.int64(first[1])
        elif verb == 7:
            if len(heap):
                first = heap.replace(key, value)
                got = np.int64(first[0]) * 31 + np.int64(first[1])
        elif key in heap:
            del heap[key]
        digest = (digest * 31 + got + len(heap)) % 1_000_003
    total = 0
    for key, value in heap.items():
        total = (total * 31 + np.int64(key) + np.int64(value)) % 1_000_003
    return digest, total


def drive_map(one, program):
    digest = 0
    for i in range(len(program)):
        verb, key, value = program[i, 0] % 6, program[i, 1], program[i, 2] % 80 - 40
        got = 0
        if verb < 2:
            one.add(key, value)
        elif verb == 2:
            one[key] = value
        elif verb == 3:
            got = np.int64(one.get(key, 5)) + np.int64(one[key])
        elif verb == 4:
            got = np.int64(one.setdefault(key, value))
        elif key in one:
            del one[key]
        digest = (digest * 31 + got + len(one)) % 1_000_003
    total = 0
    for key, value in one.items():
        total = (total * 31 + np.int64(key) + np.int64(value)) % 1_000_003
    return digest, total


def drive_sorted(one, program):
    digest = 0
    for i in range(len(program)):
        verb, key, value = program[i, 0] % 8, program[i, 1], program[i, 2] % 80 - 40
        got = 0
        if verb < 3:
            one.add(key, value)
        elif verb == 3:
            found = one.floor(key)
            got = np.int64(found[0]) + np.int64(found[1])
        elif verb == 4:
            found = one.ceiling(key)
            got = np.int64(found[0]) + np.int64(found[1])
        elif verb == 5:
            got = one.rank(key)
        elif verb == 6:
            if len(one):
                found = one.pop_min()
                got = np.int64(found[0]) + np.int64(found[1])
        elif key in one:
            del one[key]
        digest = (digest * 31 + got + len(one)) % 1_000_003
    return digest, one.count(5, 50)


def drive_set(one, program):
    digest = 0
    for i in range(len(program)):
        verb, key = program[i, 0] % 3, program[i, 1]
        got = 0
        if verb == 0:
            got = one.add(key)
        elif verb == 1:
            got = one.discard(key)
        elif key in one:
            got = 1
        digest = (digest * 31 + np.int64(got) + len(one)) % 1_000_003
    total = 0
    for key in one:
        total = (total * 31 + key) % 1_000_003
    return digest, total


def drive_words(one, program, data):
    digest = 0
    for i in range(len(program)):
        start = program[i, 2] % (data.size - 6)
        digest = (digest * 31 + one.add(data, start, start + program[i, 0] % 6, 2) + len(one)) % 1_000_003
    return digest, len(one)


def drive_tokens(tokens, pairs, program):
    digest = 0
    for i in range(len(program)):
        position = program[i, 1]
        if tokens.token(position) >= 0 and tokens.next(position) >= 0:
            left, right = tokens.token(position), tokens.token(tokens.next(position))
            digest = (digest * 31 + pairs.count(left, right) + pairs.postings(left, right).size) % 1_000_003
            tokens.merge(position, 100 + i % 50)
            if i % 3 == 0:
                pairs.add(left, 100 + i % 50, position)
        digest = (digest * 31 + len(tokens) + tokens.segment_at(position)) % 1_000_003
    return digest, len(tokens)


def drive_rows(rows, program):
    digest = 0
    for i in range(len(program)):
        row, distance, number = program[i, 1], program[i, 2] / 2**30, program[i, 0] % 50
        digest = (digest * 31 + np.int64(rows.push(row, distance, number)) + rows.size(row)) % 1_000_003
    return digest, rows.worst(0)


@area("compiled")
def in_compiled_code(call):
    from numba import njit

    st = structures
    driver = {
        "map": njit(cache=True)(drive_map),
        "counts": njit(cache=True)(drive_counts),
        "sorted": njit(cache=True)(drive_sorted),
    }
    for name, make in keyed_containers().items():
        if "Sorted" in name:
            kind = "sorted"
        else:
            kind = "map" if "Map" in name else "counts"
        for n, n_keys in ((3000, 10), (20_000, 10) if "Indexed" in name else (20_000, 3000)):
            one = make()
            call(f"{name} {n_keys}", driver[kind], one, program_of(n, n_keys))
            call(f"{name} {n_keys} items", lambda o=one: list(o.items()))
    for n_keys in (10, 3000):
        one = st.IntSet()
        call(f"IntSet {n_keys}", njit(cache=True)(drive_set), one, program_of(20_000, n_keys))
        call(f"IntSet {n_keys} items", lambda o=one: list(o))
    words = st.ByteCounter()
    data = np.frombuffer(novel(2_000).encode(), np.uint8)
    call("ByteCounter", njit(cache=True)(drive_words), words, program_of(5000, 10), data)
    call("ByteCounter items", lambda: list(words.items()))
    tokens = st.TokenList(np.arange(3000) * 7 % 5, np.array([0, 1000, 3000]))
    pairs = st.PairIndex.build(tokens)
    call("TokenList", njit(cache=True)(drive_tokens), tokens, pairs, program_of(2500, 3000))
    call("TokenList items", tokens.to_arrays)
    call("PairIndex items", lambda: (pairs.pairs(), pairs.n_postings))
    for options in ({}, {"dtype": np.float64, "id_dtype": np.int64}):
        rows = st.KBest(4, 20, **options)
        call(f"KBest {options}", njit(cache=True)(drive_rows), rows, program_of(3000, 4))
        call(f"KBest rows {options}", rows.to_arrays)
    keys, values = np.array([5, 3, 9, 3]), np.array([4, 1, 4, 2])
    new = "add_many" if hasattr(st.MaxHeap, "add_many") else "update_many"

    def many_old(one, keys, values):
        return one.update_many(keys, values)

    def many_new(one, keys, values):
        return one.add_many(keys, values)

    bulk = {
        "add many": many_new if new == "add_many" else many_old,
        "set many": lambda one, keys, values: one.set_many(keys, values),
        "get many": lambda one, keys, values: one.get_many(keys),
        "remove many": lambda one, keys, values: one.remove_many(keys),
        "arrays": lambda one, keys, values: one.to_arrays(),
    }
    for name in ("MaxHeap", "IndexedMaxHeap", "CountBuckets", "IntMap", "SortedMap"):
        one = keyed_containers()[name]()
        for what, function in bulk.items():
            call(f"{name} {what}", njit(function), one, keys, values)
        call(f"{name} items after", lambda o=one: list(o.items()))
    made = {
        "MaxHeap": lambda keys, values: st.MaxHeap.from_arrays(keys, values).peek(),
        "MinHeap": lambda keys, values: st.MinHeap.from_arrays(keys, values).pop(),
        "IntMap": lambda keys, values: st.IntMap.from_arrays(keys, values)[3],
        "SortedMap": lambda keys, values: st.SortedMap.from_arrays(keys, values).select(1),
        "IntSet": lambda keys, values: len(st.IntSet(keys)),
        "pack_pair": lambda keys, values: st.unpack_pair(st.pack_pair(keys[0], values[0])),
        "float for int": lambda keys, values: st.MaxHeap().add(3, 1.5),
        "text as key": lambda keys, values: st.MaxHeap().add("a", 1),
        "no such verb": lambda keys, values: st.MaxHeap().nothing(),
        "class": lambda keys, values: st.MaxHeap.add(3),
    }
    for name, function in made.items():
        for given in (keys[:3], keys):
            call(f"made {name} {given.size}", lambda f=function, g=given: njit(f)(g, values[: g.size]))


# ------------------------------------------------------------------------------------------------ the process
def serve(sources, mode, only, out):
    """Make all calls in a process that has the sources of one commit."""
    global bpe, structures
    import bpe
    import structures

    found = {Path(one.__file__).parents[1] for one in (bpe, structures)}
    if found != {Path(sources)}:
        sys.exit(f"the packages are in {found}, not in {sources}")
    call = Calls(sources, mode)
    with ExitStack() as stack:
        if mode == "compiled":
            stack.enter_context(everything_compiled())
        for name, (function, modes) in AREAS.items():
            if mode not in modes or not re.search(only, name):
                continue
            call.area = name
            print(f"  {mode} {name}", file=sys.stderr, flush=True)
            try:
                function(call)
            except Exception as error:
                where = traceback.extract_tb(error.__traceback__)[1].line
                call.keep("!", f"stops at {where}: {type(error).__name__}: {error}", whole=True)
            Path(out).write_text(json.dumps(call.results), "utf-8")


def results_of(name, sources, only):
    """Return what all calls give with these sources."""
    cache = FOLDER / "env" / "same_as" / f"{name}.cache"
    results = {}
    for mode in MODES:
        here = Path(tempfile.mkdtemp(prefix="same_as_"))
        out = here.with_name(f"{here.name}.json")
        environment = {
            **os.environ,
            "PYTHONPATH": str(sources),
            "PYTHONHASHSEED": "0",
            "NUMBA_CACHE_DIR": str(cache),
            "COLUMNS": "100",
            "LC_ALL": "C.UTF-8",
        }
        command = [sys.executable, __file__, "--serve", str(sources), mode, only, str(out)]
        try:
            ended = subprocess.run(command, cwd=here, env=environment, stdin=subprocess.DEVNULL).returncode
            if out.exists():
                results |= json.loads(out.read_text("utf-8"))
            if ended:
                results[f"{mode}/!"] = f"the process has ended with {ended}"
        finally:
            shutil.rmtree(here)
            out.unlink(missing_ok=True)
    return results


def kept_results_of(name, sources, only, again):
    """Return the results of a commit, which are kept if all calls were made."""
    folder = FOLDER / "env" / "same_as"
    folder.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:12]
    path = folder / f"{name}-{digest}.json"
    if path.exists() and not again:
        results = json.loads(path.read_text("utf-8"))
        return {key: text for key, text in results.items() if re.search(only, key.split("/")[1])}
    results = results_of(name, sources, only)
    if not only:
        path.write_text(json.dumps(results), "utf-8")
    return results


def differences(base, changed):
    """Yield the lines that show each difference."""
    for key in dict.fromkeys([*base, *changed]):
        one, other = base.get(key, "not called"), changed.get(key, "not called")
        if one == other:
            continue
        yield key
        if "\n" in one and "\n" in other:
            lines = list(difflib.unified_diff(one.splitlines(), other.splitlines(), lineterm="", n=0))[2:]
            yield from (f"    {line}" for line in lines[:20])
        else:
            yield from (f"  - {one[: 2 * SHOWN]}", f"  + {other[: 2 * SHOWN]}")


def main(arguments=None):
    parser = argparse.ArgumentParser(description="Say what is not the same in two commits.")
    parser.add_argument("base", nargs="?", default="f683aa6", help="the commit to compare with")
    parser.add_argument("changed", nargs="?", help="the other commit; by default the working tree")
    parser.add_argument("--only", default="", metavar="EXPRESSION", help="these areas only")
    parser.add_argument("--again", action="store_true", help="make the calls of BASE again")
    options = parser.parse_args(arguments)
    sources = sources_of(options.base)
    base = kept_results_of(sources.name, sources, options.only, options.again)
    if options.changed:
        sources = sources_of(options.changed)
        changed = results_of(sources.name, sources, options.only)
    else:
        changed = results_of("working_tree", FOLDER.parent, options.only)
    lines = list(differences(base, changed))
    print(*lines, sep="\n")
    n_different = sum(base.get(key) != changed.get(key) for key in {*base, *changed})
    print(f"{len(base)} calls, {n_different or 'no'} difference{'s' * (n_different > 1)}")
    return 1 if n_different else 0


if __name__ == "__main__":
    sys.exit(serve(*sys.argv[2:]) if sys.argv[1:2] == ["--serve"] else main())
