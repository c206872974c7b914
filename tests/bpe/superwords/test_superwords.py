"""Superwords: training against the slow twins after every merge, encoding, files and errors."""

import json
import pickle
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import bpe
from bpe import reference
from bpe.cli import main
from bpe.encoding.encoder import Encoder
from bpe.encoding.joining_encoders import (
    FinerEncoder,
    WideEncoder,
    bytes_joined_by,
    cut_finer,
    n_first_merges,
)
from bpe.superwords import piece_ids as piece_ids_module
from bpe.superwords import run_counts as run_counts_module
from bpe.superwords.boundless import Supermerges
from bpe.superwords.pair_sketch import PairSketch, bound_of, count_in_cells
from bpe.superwords.piece_ids import GAP, piece_ids
from bpe.superwords.run_counts import runs_in, runs_of_rows
from bpe.superwords.superbpe import WIDE_PATTERN, superbpe_training
from bpe.training.options import Options
from bpe.training.start import fresh_start
from bpe.training.state import Runs
from bpe.vocabulary.supermerges import pattern_between, with_first_merges
from structures import ByteCounter
from tests.optional import required

SPECIAL = "<|x|>"
SONG = "by the way, of the sea, by the way of the sea\nof the way by the sea 1234 by the way.\n"
WORDS = ["by", "the", "way", "of", "the", "sea", "is"]
words = st.sampled_from(["ab", " ab", " c", " ab c", SPECIAL, "é", "..", "\n"])
documents = st.lists(
    st.one_of(st.text("aab  c.\n1", max_size=20), st.lists(words, max_size=14).map("".join)), max_size=4
).filter(lambda texts: any(text.replace(SPECIAL, "") for text in texts))


def pieces_of(texts, pattern):
    """Return the pieces of all documents, cut by the regex package's rules."""
    cut = bpe.Pattern.of(pattern).split_bytes
    return [piece for text in texts for part in text.split(SPECIAL) for piece in cut(part.encode())]


# ------------------------------------------------------------------------------------------------ SuperBPE
def superbpe_of(texts, first_merges, n_merges, threads=1, **options):
    """Return a trainer that has learned the first merges."""
    words = bpe.count_words(texts, "gpt2", [SPECIAL])
    trainer = bpe.Trainer.__new__(bpe.Trainer)
    trainer._training = superbpe_training(
        bpe.SuperBPE(first_merges),
        words,
        lambda: ([text.encode()] for text in texts),
        fresh_start([SPECIAL]),
        n_merges,
        Options(**options),
        threads,
    )
    return trainer


@given(
    documents,
    st.integers(0, 12),
    st.sampled_from([1, 12, 40]),  # with few, the text is read again
    st.sampled_from(["smallest", "lexicographic", "first", "gpt2"]),
    st.sampled_from([{}, {}, {"min_count": 2}, {"max_token_length": 4}]),
)
@settings(max_examples=80)
def test_superbpe_makes_the_merges_of_the_reference_and_leaves_all_counts_right(
    texts, first_merges, n_merges, ties, rules
):
    pieces, wide_pieces = (pieces_of(texts, pattern) for pattern in ("gpt2", WIDE_PATTERN))
    rules = rules | {"ties": ties}
    expected = reference.train_superbpe(pieces, wide_pieces, 40, first_merges, **rules)
    first_merges = min(first_merges, len(reference.train_chunked(pieces, first_merges, **rules)))
    trainer = superbpe_of(texts, first_merges, n_merges, **rules)
    trainer.check()
    for merge in expected[first_merges:]:
        assert [*trainer.step()] == [*merge]
        trainer.check()
    assert [merge[:3] for merge in trainer.merges] == [merge[:3] for merge in expected]
    assert len(expected) == 40 or trainer.step() is None


class Reads:
    """Documents that note how often they are read."""

    def __init__(self, texts):
        self.texts, self.n = texts, 0

    def __iter__(self):
        self.n += 1
        return iter(self.texts)


LINES = [  # many lines, each several times: many equal counts
    " ".join(WORDS[(i * i + k * k * i) % 7] for k in range(12)) + ("." if i % 2 else " !!") + "\n"
    for i in (*range(40), *range(20), *range(40))
]


@pytest.mark.parametrize("ties", ["smallest", "lexicographic", "first", "gpt2"])
def test_superbpe_learns_from_what_rare_pairs_leave_and_reads_again_for_more(ties):
    pieces, wide_pieces = (pieces_of(LINES, pattern) for pattern in ("gpt2", WIDE_PATTERN))
    expected = reference.train_superbpe(pieces, wide_pieces, 120, 14, ties=ties)
    texts = Reads(LINES)
    trainer = superbpe_of(texts, 14, 18, ties=ties)
    whole = Counter(wide_pieces)
    n_tokens = sum(len(reference.encode_by_rank(piece, first_ranks(expected, 14))) for piece in whole)
    assert 0 < trainer._training.n_positions < n_tokens / 2
    assert texts.n == 2
    assert trainer._training.least > 1
    trainer.check()
    for merge in expected[14:18]:
        assert [*trainer.step()] == [*merge]
    assert texts.n == 2  # what was left was enough for what was planned
    for merge in expected[18:]:
        assert [*trainer.step()] == [*merge]
    trainer.check()
    assert texts.n > 2
    assert [merge[:3] for merge in trainer.merges] == [merge[:3] for merge in expected]


def first_ranks(merges, n):
    return reference.rank_pairs(merge.pair for merge in merges[:n])


def test_pairs_that_are_refused_stay_so_when_the_text_is_read_again():
    def keep(left, right):
        return b"way" not in left + right

    texts = Reads(LINES)
    trainers = [superbpe_of(texts, 10, n_merges, keep=keep) for n_merges in (11, 120)]
    n_reads = texts.n
    for trainer in trainers:
        trainer.run(257 + 120)
    assert texts.n > n_reads
    assert trainers[0].merges == trainers[1].merges
    assert not any(b"way" in token for token in trainers[0].tokenizer().vocab.values())


def test_superbpe_reads_files_and_documents_with_any_threads(tmp_path):
    (tmp_path / "song.txt").write_text(SONG * 3)
    (tmp_path / "more.jsonl").write_text(json.dumps({"text": "by the way, by the sea"}) + "\n")
    corpus = [tmp_path / "song.txt", tmp_path / "more.jsonl"]
    options = {"superwords": bpe.SuperBPE(first_merges=12), "special_tokens": [SPECIAL]}
    tok = bpe.train(corpus, 290, **options)
    assert all(bpe.train(corpus, 290, threads=n, **options) == tok for n in (1, 3))
    assert tok == bpe.train([SONG * 3, "by the way, by the sea"], 290, **options)
    assert tok.pattern == bpe.Pattern.of(WIDE_PATTERN)
    assert tok.vocab_size == 290
    assert b"by the way" in {*tok.vocab.values()}
    words = bpe.train(corpus, 269, special_tokens=[SPECIAL])
    assert tok.merges[:12] == words.merges
    assert tok.decode(tok.encode(SONG)) == SONG
    assert tok.count(SONG) < words.count(SONG)
    tok.save(tmp_path / "tok.json")
    assert bpe.Tokenizer.load(tmp_path / "tok.json") == tok


def test_superbpe_gives_the_same_ids_in_tokenizers(tmp_path):
    tokenizers = required("tokenizers")
    tok = bpe.train([SONG], 300, superwords=bpe.SuperBPE(first_merges=15))
    tok.save_huggingface(tmp_path / "tokenizer.json")
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    for text in (SONG, "by the way,, by 12345  the way of\n\n the seaé", "a.. b  c   "):
        assert theirs.encode(text).ids == tok.encode(text)
    assert bpe.Tokenizer.load(tmp_path / "tokenizer.json").encode(SONG) == tok.encode(SONG)


@pytest.fixture(scope="module")
def wide():
    text = SONG * 3 + "'tis the way\n\n\nthe  sea's.\n    by x\n"
    return bpe.train([text], 330, superwords=bpe.SuperBPE(first_merges=24), special_tokens=[SPECIAL])


@given(documents, st.sampled_from([1, 12, 10_000]))
@settings(max_examples=60)
def test_wide_pieces_are_encoded_in_two_steps_to_the_same_ids(wide, texts, times):
    text = " ".join(texts).replace("ab", "by the way").replace("c", "of the") * times
    data = text[:20_000].replace(SPECIAL, "").encode()
    engine = wide.engine
    assert type(engine.encoder) is WideEncoder
    plain = Encoder(engine.vocabulary, engine.pattern)
    assert engine.encoder.encode(data) == plain.encode(data)
    ends = np.array([0, len(data) // 3, len(data) // 3, len(data)])
    found, expected = (encoder.encode_segments(data, ends) for encoder in (engine.encoder, plain))
    assert [each.tolist() for each in found] == [each.tolist() for each in expected]
    assert [each.tolist() for each in engine.encoder.pieces(data)] == [
        each.tolist() for each in plain.pieces(data)
    ]
    first = with_first_merges(engine.vocabulary, 24)
    finer = FinerEncoder(first, engine.pattern, bytes_joined_by(first))
    offsets = np.unique([0, len(data) // 4, len(data) // 2, len(data)]).astype(np.int32)
    found, expected = (
        encoder.encode_pieces(data, offsets, offsets[1:])
        for encoder in (finer, Encoder(first, engine.pattern))
    )
    assert [each.tolist() for each in found] == [each.tolist() for each in expected]


def test_which_tokenizers_are_encoded_in_two_steps(wide):
    vocabulary = wide.engine.vocabulary
    joined = bytes_joined_by(vocabulary)
    assert n_first_merges(joined) >= 24
    assert bytes_joined_by(vocabulary.replace(atomic_ids=[256])) is None
    swapped = bpe.Tokenizer(token_bytes=wide.vocab, merges=wide.merges[::-1], pattern=wide.pattern)
    assert bytes_joined_by(swapped.engine.vocabulary) is None
    assert type(swapped.engine.encoder) is Encoder
    assert type(bpe.train([SONG], 300).engine.encoder) is Encoder
    assert wide.decode(wide.encode(SONG)) == SONG


@given(
    st.lists(st.binary(min_size=1, max_size=150), min_size=1, max_size=6),
    st.lists(st.tuples(st.integers(0, 255), st.integers(0, 255)), max_size=30),
    st.booleans(),
)
def test_wide_pieces_are_cut_where_no_first_merge_crosses(pieces, crossed, is_prose):
    if is_prose:
        pieces, crossed = [(b"by the way, " * 13)[: len(piece)] for piece in pieces], [*b"bythew", *b"aythey"]
        crossed = [*zip(crossed[::2], crossed[1::2], strict=True)]
    data, offsets = b"##" + b"".join(pieces), 2 + np.cumsum([0, *map(len, pieces)])
    is_cut = np.ones(1 << 16, np.int8)
    is_cut[[one << 8 | other for one, other in crossed]] = 0
    out = np.empty(len(data) - 1, np.int32)
    n = cut_finer(np.frombuffer(data, np.uint8), offsets.astype(np.int32), is_cut, out)
    inside = (place for place in range(3, len(data)) if (data[place - 1], data[place]) not in crossed)
    assert out[: n + 1].tolist() == sorted({*offsets.tolist(), *inside})


def test_an_ordinary_tokenizer_that_joins_kinds_of_spaces_is_encoded_in_one_step():
    text = "the cat \u00a0 \u00a0 sat " * 50 + "".join(f" w{i}o{i * i}r" * 9 for i in range(300))
    tok = bpe.train([text], 700, progress=False)
    assert " \u00a0 \u00a0".encode() in tok.vocab.values()
    joined = bytes_joined_by(tok.engine.vocabulary)
    assert ((joined[:, 0] > 32) & (joined[:, 1] == 32)).any()
    assert type(tok.engine.encoder) is Encoder


def test_superbpe_with_another_pattern_and_options():
    tok = bpe.train(
        ["ab ab ab", "ab-ab"],
        270,
        superwords=bpe.SuperBPE(first_merges=1, pattern="(?:-)"),
        special_tokens=[SPECIAL],
        like="huggingface",
        max_token_length=6,
    )
    assert tok.special_tokens == {SPECIAL: 0}
    assert tok.pattern.split("ab ab-ab") == ["ab ab", "-", "ab"]
    assert max(map(len, tok.vocab.values())) == 5


# ----------------------------------------------------------------------------------------------- BoundlessBPE
def has_letter(piece):
    return any(letter.isalpha() for letter in piece.decode(errors="replace"))


def documents_of(texts, pattern="gpt2"):
    """Return the pieces of each document, and of each part between special tokens."""
    return [pieces_of([part], pattern) for text in texts for part in text.split(SPECIAL)]


def parts_of(tok):
    """Return the merges and the supermerges of a tokenizer, in bytes."""
    pairs, n = tok.merges_bytes, tok.engine.vocabulary.n_super
    return pairs[: len(pairs) - n], pairs[len(pairs) - n :]


@given(
    documents,
    st.integers(1, 40),
    st.sampled_from(["smallest", "lexicographic"]),
    st.sampled_from([{}, {}, {"min_count": 2}, {"max_token_length": 5}]),
    st.sampled_from(["gpt2", "[a-b]", "(?<=b)a|b|c|."]),
)
@settings(max_examples=60)
def test_boundless_is_that_of_the_reference_and_encodes_alike(texts, n_merges, ties, rules, pattern):
    merges, supermerges = reference.train_boundless(
        documents_of(texts, pattern), n_merges, has_letter, ties=ties, **rules
    )
    tok = bpe.train(
        texts,
        257 + n_merges,
        pattern=pattern,
        special_tokens=[SPECIAL],
        superwords=bpe.Boundless(),
        ties=ties,
        **rules,
    )
    token_bytes = reference.vocabulary([merge.pair for merge in merges])
    expected = [(token_bytes[merge.left], token_bytes[merge.right]) for merge in merges]
    assert parts_of(tok) == (expected, [merge[:2] for merge in supermerges])
    for text in [*texts, "ab ab ab c ab c ab. ab c\nab ab"]:
        tokens = [
            token
            for part in documents_of([text], pattern)
            for token in reference.encode_boundless(part, merges, supermerges)
        ]
        ids = tok.encode(text, allowed_special="all")
        assert [tok.token_bytes(i) for i in ids if i != tok.special_tokens[SPECIAL]] == tokens
        assert tok.decode(ids) == text


@given(st.lists(st.integers(-1, 3), max_size=60))
@settings(max_examples=60)
def test_a_sketch_never_says_too_little(row):
    ids = np.array([GAP, *row, GAP], np.int32)
    counts = Counter((left, right) for left, right in pairwise(row) if left >= 0 and right >= 0)
    for n_bits in (10, 1):
        sketch = PairSketch(np.zeros(1 << n_bits, np.int32), 64 - n_bits)
        count_in_cells(ids, sketch)
        assert sketch.cells.sum() == counts.total()
        most = {pair: bound_of(sketch, *pair) for pair in counts}
        assert all(most[pair] >= count for pair, count in counts.items())
        reached = [count for count in range(1, 99) if (sketch.cells >= count).sum() >= 3]
        assert sketch.count_at_rank(3) == max(reached, default=1)
    sketch.cells[:] = 2**31 - 1
    count_in_cells(ids, sketch)
    assert (sketch.cells == 2**31 - 1).all()


runs = st.lists(st.lists(st.integers(0, 4), min_size=2, max_size=12), min_size=1, max_size=8)


def row_of(rows):
    return np.array([GAP, *(number for row in rows for number in (*row, GAP))], np.int32)


def runs_of(rows, least=1):
    return runs_of_rows(Runs.of_row(row_of(rows)), least)


def sketched_runs_of(rows, least):
    """Return runs cut where a sketch says so, the same in parts and on threads."""
    ids, copy = row_of(rows), row_of(rows)
    found = runs_in(ids, PairSketch.of(ids), least)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run_counts_module, "_CHUNK_IDS", 5)
        in_parts = runs_in(copy, PairSketch.of(copy, 3), least, 3)
    assert [each.tolist() for each in in_parts] == [each.tolist() for each in found]
    return found


@given(runs)
@settings(max_examples=60)
def test_every_supermerge_is_the_best_pair_and_leaves_all_counts_right(rows):
    names = {0: b"a", 1: b"b", 2: b"ab", 3: b"aa", 4: b" b"}
    learner = Supermerges(runs_of(rows), names, 5, 100, 1, 100)
    known, slow = {*names.values()}, [[names[number] for number in row] for row in rows]
    while True:
        counts = Counter(pair for row in slow for pair in pairwise(row) if b"".join(pair) not in known)
        best = min(counts, key=lambda pair: (-counts[pair], pair), default=None)
        assert learner.best_count() == (counts[best] if best else 0)
        if best is None:
            break
        assert learner.merge() == b"".join(best)
        known.add(b"".join(best))
        slow = [reference.merge_sequence(row, best, b"".join(best)) for row in slow]
        learner.tokens._check()
        learner.index._check()
        learner.queue._check()


@given(runs, st.integers(1, 4), st.sampled_from([runs_of, sketched_runs_of]))
@settings(max_examples=80)
def test_runs_cut_at_rare_pairs_give_the_same_supermerges(rows, least, cut_runs):
    names = {number: bytes([97 + number]) for number in range(5)}
    whole, cut = runs_of(rows), cut_runs(rows, least)
    assert cut.tokens.size <= whole.tokens.size
    one, other = (Supermerges(each, names, 5, 100, least, 100) for each in (whole, cut))
    while one.best_count():
        assert other.best_count() == one.best_count()
        assert other.merge() == one.merge()
    assert other.best_count() == 0


@given(documents, st.integers(1, 7))
@settings(max_examples=40)
def test_ids_of_pieces_do_not_depend_on_batches(texts, batch_bytes):
    known = ByteCounter({b"ab": 1, b" ab": 2, b" c": 3, b"a": 4, b"b": 5})
    for pattern in ("gpt2", ".", "(?<=b)a|b|c|."):
        expected = [GAP]
        for document in documents_of(texts, pattern):
            for number in [*(known.get(piece, GAP) for piece in document), GAP]:
                if number != GAP or expected[-1] != GAP:
                    expected.append(number)
        blocks = [[text.encode()] for text in texts]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(piece_ids_module, "_BATCH_BYTES", batch_bytes)
            ids = piece_ids(blocks, bpe.Pattern.of(pattern), [SPECIAL], known).tolist()
        squeezed = [number for before, number in pairwise([None, *ids]) if number != GAP or before != GAP]
        assert squeezed == expected


@pytest.fixture(scope="module")
def boundless():
    return bpe.train(
        [SONG * 3], 320, special_tokens=[SPECIAL], superwords=bpe.Boundless(), max_token_length=12
    )


LONG = (
    "by the way of the sea, by the way\n" * 400 + SPECIAL + "of the sea by the way" * 200 + " é, of the sea"
)


def test_supermerges_are_there(boundless):
    merges, supermerges = parts_of(boundless)
    assert len(merges) + len(supermerges) == boundless.vocab_size - 257
    assert (b" the", b" way") in supermerges
    assert boundless.encode(" by the way,") == [boundless.token_id(" by the way"), ord(",")]
    plain = bpe.train([SONG * 3], 320, special_tokens=[SPECIAL], max_token_length=12)
    assert boundless.count(SONG) < plain.count(SONG)


def test_methods_agree_with_supermerges(boundless, tmp_path, monkeypatch):
    tok, rules = boundless, {"allowed_special": "all"}
    ids = tok.encode(LONG, **rules)
    assert tok.decode(ids) == LONG
    assert tok.count(LONG, **rules) == len(ids)
    assert tok.count(LONG, 50, **rules) == 51
    found, starts, ends = tok.encode_with_offsets(LONG, **rules)
    assert found.tolist() == ids
    for number, start, end in zip(ids, starts, ends, strict=True):
        assert LONG[start:end] in (tok.decode([number]), "é")
    texts = [LONG, "", " by the way", "of", SPECIAL, " of the"]
    assert tok.encode_batch(texts, threads=2, **rules) == [tok.encode(text, **rules) for text in texts]
    for size in (1, 7, 1000):
        parts = [LONG[i : i + size] for i in range(0, len(LONG), size)]
        assert list(tok.encode_iterable(parts, **rules)) == ids
    growing, text = tok.appendable_encoder(**rules), ""
    for part in (" by the", " way of", " the", " sea", ", by", " the way"):
        growing.append(part)
        text += part
        assert growing.ids() == tok.encode(text)
    written = tok.encode_files([LONG, "of the way"], tmp_path / "ids.bin", **rules)
    assert np.fromfile(written.ids, written.dtype).tolist() == ids + tok.encode("of the way")
    monkeypatch.setattr("bpe.encoding.kernels.joining.KNOWN_PHRASES", 1)  # all are forgotten again and again
    assert pickle.loads(pickle.dumps(tok)).encode(LONG, **rules) == ids


def test_a_stream_knows_the_runs_up_to_the_last_place_that_no_supermerge_crosses(boundless):
    pattern = pattern_between(boundless.engine.vocabulary, boundless.pattern)
    text = b"by the way, of the sea, by the way of"
    n_known = []
    for end in range(len(text) + 1):
        place = boundless.pattern.decided(text[:end])
        free = [cut for cut in pattern.cuts(text[:end]).tolist() if cut <= place]
        n_known.append(pattern.decided(text[:end]))
        assert n_known[-1] == max(free, default=0)
    assert n_known[-1] == text.rindex(b", by") + 1


@given(documents, st.integers(0, 30), st.data())
@settings(max_examples=60)
def test_parts_of_texts_with_supermerges(boundless, texts, n, data):
    text = " ".join(texts).replace("ab", "by the way").replace("c", "of the").replace(SPECIAL, "")
    ids = boundless.encode(text)
    beginning = boundless.truncate(text, n)
    assert text.startswith(beginning)
    known = boundless.encode(beginning)
    assert known == ids[: len(known)]
    assert len(known) <= n
    tries = ((k, boundless.encode(text[:k])) for k in range(len(text) + 1))
    best = max(k for k, some in tries if len(some) <= n and ids[: len(some)] == some)
    assert len(beginning) == best
    counter = boundless.interval_counter(text)
    start = data.draw(st.integers(0, len(text)))
    stop = data.draw(st.integers(start, len(text)))
    assert counter.count(start, stop) == boundless.count(text[start:stop])
    cuts = boundless.engine.cutter.cuts(text)
    assert all(boundless.encode(text[:k]) + boundless.encode(text[k:]) == ids for k in cuts.tolist())
    last = boundless.engine.cutter.last_cut(text.encode())
    assert last == max(boundless.engine.cutter.cuts(text.encode()), default=0)
    stream, fed = boundless.stream_encoder(), []
    for letter in text:
        fed += stream.feed(letter)
    assert fed + stream.finish() == ids


def test_the_native_format_keeps_supermerges_and_others_refuse_them(boundless, tmp_path):
    path = tmp_path / "tok.json"
    boundless.save(path)
    assert json.loads(path.read_text())["version"] == 4
    again = bpe.Tokenizer.load(path)
    assert again == boundless
    assert again.encode(LONG, allowed_special="all") == boundless.encode(LONG, allowed_special="all")
    assert boundless.with_special_tokens(["<|y|>"]).encode(SONG) == boundless.encode(SONG)
    merges = bpe.Tokenizer(token_bytes=boundless.vocab, merges=boundless.merges_bytes, pattern="gpt2")
    assert merges != boundless
    refused = {
        "the format huggingface": lambda: boundless.save_huggingface(tmp_path / "tokenizer.json"),
        "the format tiktoken": lambda: boundless.save_tiktoken(tmp_path / "tok.tiktoken"),
        "the format gpt2": lambda: boundless.save_gpt2(tmp_path / "gpt2"),
        "the format minbpe": lambda: boundless.save_minbpe(tmp_path / "tok.model"),
        "tiktoken": boundless.to_tiktoken,
        "tokenizers": boundless.to_huggingface,
        "with_vocab_size": lambda: boundless.with_vocab_size(300),
        "extend": lambda: boundless.extend(["abc"], 1),
        "prune": lambda: boundless.prune(["abc"], vocab_size=300),
        "audit": boundless.audit,
        "dropout": lambda: boundless.encode_with_dropout("abc", 0.1, seed=1),
        "resume": lambda: bpe.Trainer.resume(boundless, bpe.WordCounts({"abc": 1}, special_tokens=[SPECIAL])),
    }
    for what, call in refused.items():
        with pytest.raises(ValueError, match=f"^{what}: not for a tokenizer with superwords that join words"):
            call()
    assert [file.name for file in tmp_path.iterdir()] == ["tok.json"]


@pytest.mark.parametrize(
    ("number", "message"),
    [(0, '"supermerges" is not a number above 0'), (99, '"supermerges" is 99, more than the 24 "merges"')],
)
def test_a_damaged_number_of_supermerges(boundless, tmp_path, number, message):
    path = tmp_path / "tok.json"
    boundless.save(path)
    document = json.loads(path.read_text()) | {"supermerges": number}
    del document["crc32"]
    path.write_text(json.dumps(document))
    with pytest.raises(ValueError, match=message):
        bpe.Tokenizer.load(path)


def test_supermerges_that_are_not_in_order():
    words = boundless_words([(b"a", b" b"), (b"a b", b" c"), (b" b", b" c")])
    swapped = boundless_words([(b"a b", b" c"), (b" b", b" c"), (b"a", b" b")])
    for tok, expected in ((words, [b"a b c"]), (swapped, [b"a", b" b c"])):
        assert [tok.token_bytes(number) for number in tok.encode("a b c")] == expected


@pytest.mark.parametrize("n", [1, 2, 3, 20, 3000])
def test_pieces_of_several_tokens_are_joined_to_nothing(n):
    """Also where the tokens at their edges could be, and where they are too long to be remembered."""
    tok, text = boundless_words([(b"a", b" b")]), ("a" * n + " b\n") * 3
    for _ in range(2):
        tokens = [tok.token_bytes(number) for number in tok.encode(text)]
        assert tokens.count(b"a b") == (3 if n == 1 else 0)
        assert b"".join(tokens) == text.encode()


def boundless_words(supermerges):
    tokens = [bytes([value]) for value in range(256)]
    tokens += [b" b", b" c", *dict.fromkeys(left + right for left, right in supermerges)]
    merges = [(b" ", b"b"), (b" ", b"c"), *supermerges]
    plain = bpe.Tokenizer(token_bytes=tokens, merges=merges, pattern="gpt2")
    return bpe.Tokenizer._of(plain.engine.vocabulary.replace(n_super=len(supermerges)), plain.pattern)


def test_other_parts():
    some = bpe.train([SONG * 3], 320, special_tokens=[SPECIAL], superwords=bpe.Boundless("^ ?(the|way)$"))
    assert parts_of(some)[1] == [(b" the", b" way")]
    assert bpe.train(["ab ab ab"], 256, superwords=bpe.Boundless()).vocab_size == 256
    assert bpe.train(["123 1"], 300, superwords=bpe.Boundless()) == bpe.train(["123 1"], 300)


# ---------------------------------------------------------------------------------------------------- errors
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"superwords": bpe.SuperBPE(45)}, "first_merges must be from 0 to 44, the merges of"),
        ({"superwords": bpe.SuperBPE(-1)}, "first_merges must be from 0 to 44"),
        ({"superwords": bpe.Boundless(), "keep": print}, "bpe.Boundless does not support keep"),
        ({"superwords": bpe.SuperBPE(30)}, "the text gives 3 merges inside words, not 30"),
        (
            {"superwords": bpe.SuperBPE(3), "limit_alphabet": 256},
            "superwords are learned from all bytes: omit limit_alphabet",
        ),
    ],
)
def test_options_that_do_not_fit(options, message):
    with pytest.raises(ValueError, match=message):
        bpe.train(["abc abc"], 300, **options)


def test_what_superwords_must_be():
    for name in ("superbpe", bpe.Boundless):
        with pytest.raises(TypeError, match=r"must be bpe.SuperBPE\(first_merges=...\) or bpe.Boundless\(\)"):
            bpe.train(["abc abc"], 300, superwords=name)
    with pytest.raises(TypeError, match="first_merges"):
        bpe.SuperBPE()
    with pytest.raises(TypeError, match="integer"):
        bpe.SuperBPE(2.5)
    with pytest.raises(ValueError, match=r"parts: invalid .*: unterminated"):
        bpe.Boundless("[")
    with pytest.raises(ValueError, match="unknown pattern"):
        bpe.SuperBPE(3, "no_such")
    assert bpe.SuperBPE(3, WIDE_PATTERN) == bpe.SuperBPE(first_merges=3) != bpe.SuperBPE(4)
    assert repr(bpe.Boundless("a")) == "Boundless(parts='a')"


def test_a_text_that_can_be_read_only_once():
    options = {"superwords": bpe.SuperBPE(1)}
    with pytest.raises(ValueError, match=r"an iterable \(generator\) can be read only once"):
        bpe.train((text for text in ["abc"]), 300, **options)
    with pytest.raises(ValueError, match="standard input can be read only once"):
        bpe.train([Path("-")], 300, **options)
    with pytest.raises(ValueError, match="from the text itself, not from WordCounts"):
        bpe.train(bpe.WordCounts({"abc": 1}), 300, **options)


# ---------------------------------------------------------------------------------------------- command line
def run(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def test_the_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("song.txt").write_text(SONG * 2 + "way out")
    train = "train", "song.txt", "--vocab-size", 290, "-o", "tok.json"
    assert run(*train, "--superwords", "superbpe", "--first-merges", 12, "--quiet").output == ""
    expected = bpe.train([Path("song.txt")], 290, superwords=bpe.SuperBPE(first_merges=12))
    assert bpe.Tokenizer.load("tok.json") == expected
    parts = "--superword-parts", "^ ?[a-z]{3}$"
    assert run(*train, "--superwords", "boundless", *parts, "--quiet").exit_code == 0
    expected = bpe.train([Path("song.txt")], 290, superwords=bpe.Boundless("^ ?[a-z]{3}$"))
    assert bpe.Tokenizer.load("tok.json") == expected
    assert run("convert", "tok.json", "tokenizer.json").exit_code != 0
    failed = run(*train, "--superwords", "superbpe", "--first-merges", 99)
    assert failed.exit_code != 0
    assert "first_merges must be from 0 to 34" in failed.output
    for options, message in {
        ("--superwords", "superbpe"): "--superwords superbpe requires --first-merges",
        ("--first-merges", 3): "--first-merges requires --superwords superbpe",
        ("--superwords", "boundless", "--superwords-pattern", "a"): "-pattern requires --superwords superbpe",
        ("--superwords", "superbpe", "--superword-parts", "a"): "-parts requires --superwords boundless",
    }.items():
        failed = run(*train, *options)
        assert failed.exit_code != 0
        assert message in failed.output
    bpe.WordCounts({"abc": 1}).save("song.counts")
    failed = run(
        "train",
        "song.counts",
        "--vocab-size",
        290,
        "-o",
        "x",
        "--superwords",
        "superbpe",
        "--first-merges",
        1,
    )
    assert failed.exit_code != 0
    assert "not from files of counts" in failed.output
