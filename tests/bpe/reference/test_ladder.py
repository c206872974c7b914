import importlib.util
import json
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bpe
from bpe import reference
from bpe.reference import ladder
from bpe.reference.ladder import SETTINGS, Disagreement, Ladder, Rung
from bpe.reference.linked import LinkedPieces, LocatedPieces, QueuedPieces

PIECES = st.dictionaries(st.text("ab", max_size=9).map(str.encode), st.integers(1, 5), max_size=6)
TIES = ("smallest", "lexicographic")
HOLDERS = {
    "linked": lambda pieces, ties: LinkedPieces(pieces),
    "located": lambda pieces, ties: LocatedPieces(pieces),
    "queued": QueuedPieces,
}


def check(pieces):
    """Assert the numbered invariants of the docstring."""
    for first, sequence in zip(pieces.firsts, pieces.read(), strict=True):
        backwards, place = [], first
        while place >= 0 and pieces.next_of[place] >= 0:
            place = pieces.next_of[place]
        while place >= 0:
            backwards.append(pieces.token_at[place])
            place = pieces.previous_of[place]
        assert backwards[::-1] == sequence  # 1
    if isinstance(pieces, LocatedPieces):
        assert pieces.counts == LinkedPieces.pair_counts(pieces)  # 2
        assert 0 not in pieces.counts.values()
        places_of = {}
        for left, right in pieces.places():
            places_of.setdefault((pieces.token_at[left], pieces.token_at[right]), set()).add(left)
        assert pieces.places_of == places_of  # 3
    if isinstance(pieces, QueuedPieces):
        entries = {(-count, pair) for count, _, pair in pieces.queue}
        for pair, count in pieces.counts.items():
            assert pair in pieces.changed or (count, pair) in entries  # 4


@pytest.mark.parametrize("holder", HOLDERS)
@pytest.mark.parametrize("ties", TIES)
@settings(max_examples=60, deadline=None)
@given(piece_counts=PIECES)
def test_pieces_changed_in_place_learn_the_same(holder, ties, piece_counts):
    rebuilt = reference.IndexedPieces(piece_counts.items())
    pieces = HOLDERS[holder](piece_counts.items(), ties)
    while expected := reference.learn(rebuilt, 1, ties=ties):
        assert reference.learn(pieces, 1, ties=ties) == expected
        assert pieces.read() == rebuilt.sequences
        check(pieces)
    assert reference.learn(pieces, 1, ties=ties) == []


@pytest.fixture
def page(book, tmp_path):
    path = tmp_path / "page.txt"
    path.write_text(book[:3_000], "utf-8")
    return path


@pytest.mark.parametrize("setting", SETTINGS)
def test_all_rungs_learn_the_same(setting, page):
    rungs, _, ties = SETTINGS[setting]
    figures = Ladder(bpe, page.read_bytes(), 300, ties, budget=60).climb(rungs)
    assert [figure.rung for figure in figures] == [rung.name for rung in rungs]
    assert all(figure.n_merges == figure.n_wanted == 44 and figure.seconds > 0 for figure in figures)


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_slow_rung_is_extrapolated(setting, page):
    rungs, _, ties = SETTINGS[setting]
    stopwatch = Ladder(bpe, page.read_bytes(), 280, ties, budget=1e-9)
    for figure in stopwatch.climb(rungs)[:-1]:
        assert figure.n_merges == 0
        assert figure.n_wanted == 24
        assert figure.seconds > 0


def test_an_extrapolated_rung_uses_the_text_of_later_points(page):
    stopwatch = Ladder(bpe, page.read_bytes(), 300, "smallest", budget=60)
    for unit in ("text", "pieces", "distinct"):
        texts = [*stopwatch.texts_after(unit, 1)]
        assert [n_merges for n_merges, _, _ in texts] == [1, 4, 10, 21, 32, 43]
        for n_merges, sequences, token_bytes in texts:
            plain = reference.RecountedPieces(stopwatch.piece_counts(unit))
            reference.learn(plain, n_merges)
            held = stopwatch.expanded(unit, sequences)
            assert [sequence for sequence, _ in held] == plain.sequences
            assert [count for _, count in held] == plain.piece_counts
            assert token_bytes == plain.token_bytes


def test_a_rung_that_learns_other_merges_is_found(page):
    class Forgetful(reference.IncrementalPieces):
        def rewrite(self, index, sequence):
            self.sequences[index] = sequence  # the counts are not corrected

    with pytest.raises(Disagreement, match="forgetful: merge 1 is"):
        Ladder(bpe, page.read_bytes(), 300, "smallest").climb([Rung("forgetful", "distinct", Forgetful)])


def test_fewer_merges_than_wanted(tmp_path):
    figures = Ladder(bpe, b"ab ab", 1000, "smallest").climb(SETTINGS["full"].rungs[2:])
    assert {figure.n_wanted for figure in figures} == {2}


def test_command(page, capsys):
    assert ladder.main(bpe, [str(page), "--vocab-size", "280", "--rungs", "bpe", "indexed", "heap"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"page.txt: {page.stat().st_size:,} bytes, vocabulary 280, ties smallest"
    assert [line.split(" | ")[0] for line in lines[4:]] == ["| indexed", "| heap", "| bpe"]
    assert all(line.endswith("all 24 |") for line in lines[4:])

    assert ladder.main(bpe, [str(page), "--vocab-size", "280", "--budget", "0", "--rungs", "indexed"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[4].startswith("| indexed | ~")
    assert lines[4].endswith("| 1.00 | 0 of 24 |")
    assert lines[-1].startswith("~ did not end in 0 s")


def test_command_as_json(page, capsys):
    assert ladder.main(bpe, [str(page), "--vocab-size", "270", "--setting", "cs336", "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures["ties"] == "lexicographic"
    assert figures["bytes"] == page.stat().st_size
    assert [rung["rung"] for rung in figures["rungs"]] == ["word counts", "inverted index", "bpe"]
    assert not any(rung["is_extrapolated"] for rung in figures["rungs"])
    assert figures["rungs"][0]["times"] == 1


def test_the_command_refuses(page, tmp_path, capsys, monkeypatch):
    def error_of(*arguments):
        assert ladder.main(bpe, [*map(str, arguments)]) == 1
        output = capsys.readouterr()
        assert not output.out
        return output.err

    empty = tmp_path / "empty.txt"
    empty.touch()
    assert "empty" in error_of(empty)
    assert "absent.txt" in error_of(tmp_path / "absent.txt")
    assert "256 bytes" in error_of(page, "--vocab-size", 255)
    with pytest.raises(SystemExit):
        ladder.main(bpe, [str(page), "--rungs", "stairs"])
    assert "no rung 'stairs'; it has vanilla, chunked" in capsys.readouterr().err

    def disagree(*_):
        raise Disagreement("heap: merge 3 is another")

    monkeypatch.setattr(Ladder, "step", disagree)
    assert "merge 3" in error_of(page)


def test_plot(page, tmp_path, capsys):
    path = tmp_path / "ladder.svg"
    arguments = [str(page), "--vocab-size", "270", "--rungs", "heap", "bpe", "--plot", str(path)]
    if importlib.util.find_spec("matplotlib"):
        assert ladder.main(bpe, arguments) == 0
        assert b"</svg>" in path.read_bytes()
    else:
        with pytest.raises(SystemExit):
            ladder.main(bpe, arguments)
        assert "matplotlib" in capsys.readouterr().err
        assert not path.exists()


def test_distinct_pieces():
    stopwatch = Ladder(bpe, b"a a b a", 256, "smallest")
    assert stopwatch.piece_counts("distinct") == [*Counter([b"a", b" a", b" b", b" a"]).items()]
