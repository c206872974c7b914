"""Say what is not the same in two commits: results, bytes of files, and errors of recorded calls.

    python asv_benchmarks/same_as.py BASE [CHANGED] [--only EXPRESSION] [--again]

CHANGED is the working tree unless it is given. A process with the sources of each makes the same calls of
public names, in plain Python and compiled. What a call of BASE returned is kept in ``env/same_as``, for the
next time. The exit code is 0 where nothing differs, and 1 where something does.
"""

from __future__ import annotations

import argparse
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
                text = f"raises {type(error).__name__}: {error}"
                if isinstance(error, KeyboardInterrupt):
                    raise
        text += "".join(f"\nwarns {one.category.__name__}: {one.message}" for one in warned)
        self.keep(name, text, whole)
        return value

    def keep(self, name, text, whole=False):
        key = f"{self.mode}/{self.area}/{name}"
        while key in self.results:
            key += "'"
        text = text.replace(os.getcwd(), "<here>").replace(self.sources, "<sources>")
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


def like_huggingface():
    """Return the options of training for the tokenizers of Hugging Face."""
    if "like" in signature(bpe.train).parameters:
        return {"like": "huggingface"}
    return {"alphabet": "gpt2", "length_rule": "huggingface", "special_first": True}


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
        "length rule": {"max_token_length": 4, "length_rule": "huggingface"},
        "gpt2 alphabet": {"alphabet": "gpt2"},
        "initial alphabet": {"initial_alphabet": b"abc "},
        "no initial alphabet": {"initial_alphabet": b""},
        "limited alphabet": {"initial_alphabet": b"", "limit_alphabet": 20},
        "special tokens": {"special_tokens": [END, "<pad>"]},
        "special first": {"special_tokens": [END, "<pad>"], "special_first": True},
        "like huggingface": {"special_tokens": [END], "max_token_length": 6, **like_huggingface()},
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
        "selection": (LOW, 300, {"selection": "none"}),
        "alphabet": (LOW, 300, {"alphabet": "none"}),
        "length": (LOW, 300, {"max_token_length": 1}),
        "length rule": (LOW, 300, {"length_rule": "none"}),
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
        "superwords": (LOW, 300, {"superwords": "none"}),
        "superbpe": (LOW, 300, {"superwords": "superbpe"}),
        "first_merges": (LOW, 300, {"first_merges": 3}),
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
