"""The command runs some cases of each kind; one that is wrong, crashes, hangs or hoards memory has failed."""

import itertools
import random
import sys

import numpy as np
import pytest
import regex
from click.testing import CliRunner

import structures as st
from tests.fuzz import __main__ as command
from tests.fuzz import containers, patterns, texts
from tests.fuzz.damage import damaged, damaged_document, written
from tests.fuzz.misbehaving import case_of, crash, hang, hoard, right, wrong
from tests.fuzz.workers import Case, Worker, outcome
from tests.optional import required


# ---------------------------------------------------------------------------------------------- a few cases
@pytest.mark.parametrize("number", range(4))
@pytest.mark.parametrize("kind", command.KINDS)
def test_some_cases(kind, number):
    if kind == "steps":
        required("tokenizers")
    told = outcome(Case(kind, 1, number))
    assert told == "", told


def test_the_command():
    result = CliRunner().invoke(command.main, ["patterns", "--count", "3", "--workers", "1"])
    assert (result.exit_code, result.stdout) == (0, "patterns         3 cases     0 failed\n"), result.output
    result = CliRunner().invoke(command.main, ["patterns", "--number", "3"])
    assert (result.exit_code, result.stdout) == (0, "right\n")
    result = CliRunner().invoke(command.main, ["--number", "3"])
    assert "--number needs one kind" in result.stderr


def test_numbers_of_cases():
    assert [*command.numbers(5, 3, 0.0)] == [5, 6, 7]
    assert [*command.numbers(0, None, 0.0)] == []
    assert next(command.numbers(0, None, 60.0)) == 0


# ------------------------------------------------------------------------------------------- misbehavior
def test_what_fails_is_told(capsys):
    which = [case_of(each).number for each in (wrong, right, crash, wrong)]
    n_cases, failed = command.fuzz("misbehaving", 0, iter(which), 1)
    assert n_cases == 4
    assert failed == sorted([case_of(wrong), case_of(crash), case_of(wrong)])
    told = capsys.readouterr().err
    assert command.again(case_of(crash)) in told
    assert "about to begin" in told
    assert "ValueError: wrong" in told
    assert "crashed: exit code " in told
    assert "in crash" in told.partition("crashed")[2], "where it was"


def test_a_case_that_hangs_is_killed():
    with Worker() as worker:
        assert worker.run(case_of(right)) == ""
        told = worker.run(case_of(hang), seconds=0.2, tries=2)
        assert told.startswith("took more than 0.2 s")
        assert "in hang" in told
        assert worker.run(case_of(right)) == ""
        if sys.platform == "linux":  # elsewhere memory is not limited
            assert worker.run(case_of(hoard)).endswith("MemoryError")


class Forgetful(st.MaxHeap):
    """Its calls do not take turns."""

    def add(self, key, n=1):
        self[key] = self.get(key) + n


def test_additions_that_are_lost_are_seen(monkeypatch):
    monkeypatch.setattr(containers, "KEYED", [containers.Kind(Forgetful)])
    monkeypatch.setattr(
        containers, "_plan", lambda chance, keys, n, kind: ([lambda c: c.add(5)] * 500, {5: 500})
    )

    def add_in_threads():
        for number in itertools.count():
            containers.check_sums(random.Random(number), np.random.default_rng(number), lambda note: None)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with pytest.raises(AssertionError):
            add_in_threads()
    finally:
        sys.setswitchinterval(interval)


def test_pieces_of_the_package():
    assert patterns.pieces("a|(?=c)", "abcda") == ["a", "b", "cd", "a"]
    assert patterns.pieces("(?r)a", "ba b") == ["b", "a", " b"]
    assert patterns.pieces_in_turn(["b+", "a"], "aabbab") == ["a", "a", "bb", "a", "b"]


def test_expressions_are_valid_as_a_rule():
    chance, n_valid = random.Random(0), 0
    for _ in range(300):
        try:
            regex.compile(patterns.expression(chance))
        except Exception:
            continue
        n_valid += 1
    assert 150 < n_valid < 290


def test_damage():
    chance, document = random.Random(0), {"a": [1, 2, {"b": "text"}], "c": None}
    data = written(document, random.Random(1))
    assert sum(damaged(data, chance) != data for _ in range(100)) > 80
    assert sum(damaged_document(document, chance) != document for _ in range(100)) > 80
    assert document == {"a": [1, 2, {"b": "text"}], "c": None}
    assert "".join(texts.cut(chance, "some text")) == "some text"
