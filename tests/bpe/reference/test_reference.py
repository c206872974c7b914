"""The reference algorithms, compared with each other, with a twin on `str`, and with examples by hand.

The rungs share their loop and their helpers, so their agreement proves little. The twin below shares nothing
with them: its tokens are characters, it merges by `str.replace`, and "first" is the order of keys in a
Counter.
"""

from collections import Counter, defaultdict
from itertools import pairwise, product

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bpe import reference as ref

TIES = ["smallest", "lexicographic", "first"]
ALPHABETS = [b"a", b"ab", b"aab ", "aé→😀 ".encode(), b"abcdefgh"]
COUNTED_RUNGS = [ref.train_deduplicated, ref.train_incremental, ref.train_indexed]
STATES = [ref.RecountedPieces, ref.IncrementalPieces, ref.IndexedPieces]

thorough = settings(deadline=None, max_examples=150)


def texts(max_size=40):
    """Draw bytes over a small alphabet, so that there are many ties and runs."""
    letters = st.sampled_from(ALPHABETS).flatmap(
        lambda alphabet: st.lists(st.sampled_from(alphabet), max_size=max_size)
    )
    return letters.map(bytes)


def corpora():
    """Draw pieces with repetitions; they share an alphabet."""
    return st.tuples(texts(60), st.lists(st.integers(0, 60))).map(lambda drawn: cut(*drawn))


def cut(text, places):
    """Cut a text at the places; two equal places make an empty piece."""
    edges = [0, *sorted(min(place, len(text)) for place in places), len(text)]
    return [text[start:stop] for start, stop in pairwise(edges)]


def twin(pieces, n_merges, ties="smallest", min_count=1, max_token_length=None, length_rule="at_most"):
    """Train on strings with one character per token; return (left, right, new_id, count) tuples."""
    limit = 10**9 if max_token_length is None else max_token_length
    if length_rule == "huggingface":
        limit = max(2, limit - 1)
    words = [piece.decode("latin-1") for piece in pieces]
    spelled = {chr(value): bytes([value]) for value in range(256)}
    learned = []
    for new_id in range(256, 256 + n_merges):
        counts = Counter(word[i : i + 2] for word in words for i in range(len(word) - 1))
        order = []
        for met, (pair, count) in enumerate(counts.items()):
            left, right = (spelled[token] for token in pair)
            if count >= min_count and len(left + right) <= limit:
                rule = {
                    "smallest": pair,
                    "lexicographic": (complement(left), complement(right)),
                    "first": met,
                }
                order.append((-count, rule[ties], pair))
        if not order:
            break
        best = min(order)[-1]
        learned.append((ord(best[0]), ord(best[1]), new_id, counts[best]))
        words = [word.replace(best, chr(new_id)) for word in words]
        spelled[chr(new_id)] = spelled[best[0]] + spelled[best[1]]
    return learned


def complement(token):
    """Return a key that reverses the order of byte strings: the greatest comes first."""
    return [*(255 - value for value in token), 256]


def all_rungs(pieces, n_merges, **options):
    counts = Counter(pieces)
    learned = [ref.train_chunked(pieces, n_merges, **options)]
    return learned + [train(counts, n_merges, **options) for train in COUNTED_RUNGS]


def pairs_of(merges):
    return [merge.pair for merge in merges]


def tokens_of(merges):
    token_bytes = ref.vocabulary(pairs_of(merges))
    return [(token_bytes[left], token_bytes[right]) for left, right in pairs_of(merges)]


# ---------------------------------------------------------------- worked by hand


@pytest.mark.parametrize(
    ("ties", "pairs"),
    [
        ("smallest", [(b"a", b"a"), (b"a", b"b"), (b"aa", b"ab")]),  # the three of the Wikipedia article
        ("first", [(b"a", b"a"), (b"aa", b"a"), (b"aaa", b"b")]),
        ("lexicographic", [(b"a", b"a"), (b"aa", b"a"), (b"aaa", b"b")]),
    ],
)
def test_wikipedia_example(ties, pairs):
    merges = ref.train_vanilla(b"aaabdaaabac", 10, ties=ties, min_count=2)
    assert tokens_of(merges) == pairs
    assert [merge.count for merge in merges] == [4, 2, 2]  # `aaa` counts the pair (a, a) twice
    assert [merge.new_id for merge in merges] == [256, 257, 258]


def test_cs336_example():
    text = b"low low low low low lower lower widest widest widest newest newest newest newest newest newest"
    for merges in all_rungs(text.split(), 6, ties="lexicographic"):
        assert tokens_of(merges) == [
            (b"s", b"t"),
            (b"e", b"st"),
            (b"o", b"w"),
            (b"l", b"ow"),
            (b"w", b"est"),
            (b"n", b"e"),
        ]
        assert [merge.count for merge in merges] == [9, 9, 7, 7, 6, 6]


@pytest.mark.parametrize(
    ("piece", "counts", "sequence"),
    [
        (b"aa", [1], [256]),
        (b"aaa", [2, 1], [257]),  # X a, then Xa
        (b"aaaa", [3, 1], [257]),  # X X, then XX
        (b"aaaaa", [4, 1, 1], [258]),  # X X a: (256, 97) is smaller than (256, 256); X Y, then XY
        (b"aaaaaaaa", [7, 3, 1], [258]),
    ],
)
@pytest.mark.parametrize("state", STATES)
def test_runs(state, piece, counts, sequence):
    pieces = state([(piece, 3)])
    assert [merge.count for merge in ref.learn(pieces, 10)] == [3 * count for count in counts]
    assert pieces.sequences == [sequence]


def test_lexicographic_compares_bytes_not_ids():
    # (z, z) is learned first, so (zz, b) and (zz, c) tie with (a, b) although their ids are greater.
    merges = ref.train_chunked([b"zz", b"zz", b"zzb", b"zzc", b"ab"], 2, ties="lexicographic")
    assert tokens_of(merges) == [(b"z", b"z"), (b"zz", b"c")]
    # A longer left side wins over its prefix; at an equal left side the right side decides.
    assert ref.pick_best({(1, 0): 1, (2, 0): 1}, "lexicographic", [b"x", b"a", b"a\0"], []) == (2, 0)
    assert ref.pick_best({(0, 1): 1, (0, 2): 1}, "lexicographic", [b"x", b"a", b"\xff"], []) == (0, 2)


def test_first_means_the_current_text():
    merges = ref.train_chunked([b"xbc", b"bc", b"yz", b"xbcyz"], 2, ties="first")
    assert tokens_of(merges) == [(b"b", b"c"), (b"x", b"bc")]


@pytest.mark.parametrize("state", STATES)
def test_min_count_stops_before_the_merge(state):
    pieces = state([(b"ab", 3), (b"cd", 2)])
    assert [merge.count for merge in ref.learn(pieces, 10, min_count=3)] == [3]
    assert pieces.sequences == [[256], [99, 100]]
    assert ref.learn(pieces, 0) == []


@pytest.mark.parametrize("n_merges", [-1, 0, 1, 5])
def test_nothing_to_merge(n_merges):
    assert ref.train_vanilla(b"", n_merges) == []
    assert ref.train_vanilla(b"a", n_merges) == []
    assert all(merges == [] for merges in all_rungs([], n_merges))
    assert all(merges == [] for merges in all_rungs([b"", b"a", b"b", b"a"], n_merges))


def test_counts_pass_64_bits():
    for train in COUNTED_RUNGS:
        assert train({b"abab": 2**63}, 1) == [(97, 98, 256, 2**64)]


def test_bad_arguments():
    with pytest.raises(ValueError, match="ties must be"):
        ref.train_vanilla(b"aa", 1, ties="last")
    with pytest.raises(ValueError, match="length_rule must be"):
        ref.train_vanilla(b"aa", 1, max_token_length=3, length_rule="below")
    for train in COUNTED_RUNGS:
        with pytest.raises(ValueError, match="at least 1"):
            train({b"aa": 0}, 1)


# ---------------------------------------------------------------- trainers


@pytest.mark.parametrize("ties", TIES)
def test_every_short_text(ties):
    for length in range(8):
        for letters in product(b"ab", repeat=length):
            text = bytes(letters)
            expected = twin([text], 10, ties)
            assert ref.train_vanilla(text, 10, ties=ties) == expected
            assert ref.train_indexed({text: 1}, 10, ties=ties) == expected


@pytest.mark.parametrize("ties", TIES)
@thorough
@given(
    pieces=corpora(),
    n_merges=st.integers(0, 30),
    min_count=st.integers(0, 3),
    max_token_length=st.none() | st.integers(1, 6),
    length_rule=st.sampled_from(["at_most", "huggingface"]),
)
def test_rungs_agree(ties, pieces, n_merges, min_count, max_token_length, length_rule):
    options = {
        "ties": ties, "min_count": min_count, "max_token_length": max_token_length, "length_rule": length_rule
    }  # fmt: skip
    expected = twin(pieces, n_merges, **options)
    for merges in all_rungs(pieces, n_merges, **options):
        assert merges == expected


@pytest.mark.parametrize("ties", TIES)
@thorough
@given(text=texts(), n_merges=st.integers(0, 30))
def test_vanilla_is_chunked_with_one_piece(ties, text, n_merges):
    assert ref.train_vanilla(text, n_merges, ties=ties) == ref.train_chunked([text], n_merges, ties=ties)


@pytest.mark.parametrize("ties", TIES)
@thorough
@given(
    piece_counts=st.dictionaries(texts(12), st.integers(1, 5), max_size=8),
    limit=st.none() | st.integers(1, 5),
)
def test_every_state_after_every_merge(ties, piece_counts, limit):
    recounted, incremental, indexed = states = [state(piece_counts.items()) for state in STATES]
    while True:
        steps = [ref.learn(pieces, 1, ties=ties, max_token_length=limit) for pieces in states]
        assert steps[0] == steps[1] == steps[2]
        assert recounted.sequences == incremental.sequences == indexed.sequences
        assert dict(incremental.counts) == dict(recounted.pair_counts()) == dict(indexed.counts)
        pieces_with = defaultdict(set)
        for index, sequence in enumerate(recounted.sequences):
            for pair in pairwise(sequence):
                pieces_with[pair].add(index)
        assert indexed.pieces_with == pieces_with
        if steps[0] == []:
            break
    token_bytes = recounted.token_bytes
    assert len(set(token_bytes)) == len(token_bytes)
    assert limit is None or all(len(token) <= max(limit, 1) for token in token_bytes)
    assert [ref.decode(sequence, token_bytes) for sequence in recounted.sequences] == list(piece_counts)


@thorough
@given(ids=st.lists(st.integers(0, 2), max_size=20), pair=st.tuples(st.integers(0, 2), st.integers(0, 2)))
def test_merge_sequence_is_replace(ids, pair):
    expected = "".join(map(chr, ids)).replace("".join(map(chr, pair)), chr(3))
    assert ref.merge_sequence(ids, pair, 3) == list(map(ord, expected))
    assert ref.pair_statistics([ids], [2]) == Counter([*pairwise(ids)] * 2)


# ---------------------------------------------------------------- encoders


def every_encoding(piece, merges):
    """Encode by each rule; byte ids are byte values."""
    rank_of = {token: i for i, token in ref.vocabulary(merges).items()}
    return [
        ref.encode_by_replay(piece, merges),
        ref.encode_by_rank(piece, ref.rank_pairs(merges)),
        ref.encode_by_ranks_of_bytes(piece, rank_of),
    ]


@pytest.mark.parametrize("ties", TIES)
@thorough
@given(pieces=corpora(), n_merges=st.integers(0, 30))
def test_encoding_a_training_piece_gives_its_tokens_of_training(ties, pieces, n_merges):
    state = ref.IndexedPieces(Counter(pieces).items())
    merges = pairs_of(ref.learn(state, n_merges, ties=ties))
    for piece, sequence in zip(Counter(pieces), state.sequences, strict=True):
        assert every_encoding(piece, merges) == [sequence] * 3


@thorough
@given(corpus=texts(60), piece=texts() | st.binary(max_size=30), n_merges=st.integers(0, 40))
def test_encoders_agree_on_learned_merges_and_decode(corpus, piece, n_merges):
    merges = pairs_of(ref.train_vanilla(corpus, n_merges))
    by_replay, by_rank, by_bytes = every_encoding(piece, merges)
    assert by_replay == by_rank == by_bytes
    assert ref.decode(by_replay, ref.vocabulary(merges)) == piece


@st.composite
def invented_merges(draw):
    """Draw merges that were not learned: any pairs of existing ids, often the latest."""
    merges = []
    for new_id in range(256, 256 + draw(st.integers(0, 12))):
        token = st.sampled_from([*b"ab", *range(256, new_id)])
        merges.append((draw(token), draw(token)))
    return merges


@thorough
@given(merges=invented_merges(), piece=texts())
def test_replay_and_rank_agree_on_invented_merges(merges, piece):
    by_replay = ref.encode_by_replay(piece, merges)
    assert ref.encode_by_rank(piece, ref.rank_pairs(merges)) == by_replay
    assert ref.decode(by_replay, ref.vocabulary(merges)) == piece


@thorough
@given(merges=invented_merges(), piece=texts())
def test_bytes_agree_where_every_token_encodes_to_itself(merges, piece):
    # Keep the merges whose tokens do, and give them new ids: they are still a valid list of merges.
    kept, id_of = [], {value: value for value in range(256)}
    for old_id, (left, right) in enumerate(merges, start=256):
        if left in id_of and right in id_of:
            longer = [*kept, (id_of[left], id_of[right])]
            token = ref.vocabulary(longer)[255 + len(longer)]
            if ref.encode_by_replay(token, longer) == [255 + len(longer)]:
                kept, id_of[old_id] = longer, 255 + len(longer)
    by_replay, _, by_bytes = every_encoding(piece, kept)
    assert by_bytes == by_replay


def test_bytes_reach_tokens_that_merges_do_not():
    merges = [(97, 98), (98, 99), (97, 257)]  # ab, bc, a+bc: no merge leads from ab, c to abc
    assert ref.encode_by_replay(b"abc", merges) == [256, 99]
    rank_of = {token: i for i, token in ref.vocabulary(merges).items()}
    assert ref.encode_by_ranks_of_bytes(b"abc", rank_of) == [258]


def test_bytes_need_not_be_reached_by_any_merge():
    # tiktoken finds such a token because it looks up the whole piece; the rule alone does not find it.
    rank_of = {bytes([value]): value for value in range(256)} | {b"abcd": 256}
    assert ref.encode_by_ranks_of_bytes(b"abcd", rank_of) == [*b"abcd"]
    with pytest.raises(KeyError):
        ref.encode_by_ranks_of_bytes(b"ab", {b"a": 0})


@thorough
@given(
    corpus=texts(60),
    piece=st.binary(max_size=30) | texts(),
    byte_ids=st.permutations(range(256)),
    gap=st.integers(0, 1000),
)
def test_ids_of_bytes_and_of_merges_are_free(corpus, piece, byte_ids, gap):
    learned = pairs_of(ref.train_vanilla(corpus, 30))
    new_ids = range(256 + gap + 3 * len(learned), 256 + gap, -3)  # not even ascending
    renamed = dict(enumerate([*byte_ids, *new_ids]))
    merges = [(renamed[left], renamed[right]) for left, right in learned]
    expected = [renamed[token] for token in ref.encode_by_replay(piece, learned)]
    ids = {"byte_ids": byte_ids, "new_ids": new_ids}
    assert ref.encode_by_replay(piece, merges, **ids) == expected
    assert ref.encode_by_rank(piece, ref.rank_pairs(merges), **ids) == expected
    assert ref.decode(expected, ref.vocabulary(merges, **ids)) == piece


def test_a_duplicate_pair_keeps_its_first_rank():
    merges = [(97, 98), (97, 97), (97, 98)]
    assert ref.rank_pairs(merges) == {(97, 98): 0, (97, 97): 1}
    assert ref.encode_by_rank(b"aab", ref.rank_pairs(merges)) == ref.encode_by_replay(b"aab", merges)


@thorough
@given(merges=invented_merges(), ids=st.lists(st.integers(0, 255)))
def test_decode_takes_a_list_or_a_mapping(merges, ids):
    assume(merges)
    token_bytes = ref.vocabulary(merges)
    ids = [*ids, max(token_bytes)]
    assert ref.decode(ids, token_bytes) == ref.decode(ids, list(token_bytes.values()))
