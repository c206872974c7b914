"""The mutants of a toy module, the choice of a sample, the table, and what a mutant has to compile."""

import ast
import json
import re

import pytest
from click.testing import CliRunner

from tests.conftest import quick_core
from tests.mutation import __main__ as command
from tests.mutation.mutants import Mutant, mutants_of, sample
from tests.mutation.targets import NO_NAMES, TARGETS, quick_of
from tests.mutation.workshop import ROOT, _frozen, _imported

ROOM = "structures/priority_queues"
TOY = '''"""Toys: 1 + 1."""
LEFT_ALONE = 1 + 2


@decorated(level=3)
def walk(é: int | None, step=2) -> int | None:
    """Walk 4 - 1 steps."""
    assert é < 5
    if é <= 0 and not step:
        raise ValueError(f"{é + 1}")
    for i in range(smaller(é, -1)):
        heap.prefetch(i + 1)
        heap.add(i)
        if i in heap:
            continue
    heap.size += 1
    heap.size += 1
    if step:
        return heap
    if heap:
        return status.OK
    return (é) * (step)


class Toy:
    def is_open(self):
        return True if self.ready else self.ends[0]
'''


def changes(source):
    return [(mutant.line, mutant.becomes) for mutant in mutants_of("toy.py", source.encode())]


def test_a_toy():
    found = changes(TOY)
    assert [becomes for line, becomes in found if line.startswith("def walk")] == [
        "def walk(é: int | None, step=3) -> int | None:",
        "def walk(é: int | None, step=1) -> int | None:",
    ]
    assert [becomes for line, becomes in found if line.startswith("if é")] == [
        "if é < 0 and not step:",
        "if é <= 1 and not step:",
        "if é <= 0 or not step:",
        "if é <= 0 and step:",
    ]
    assert [becomes for line, becomes in found if line.startswith("for")] == [
        "for i in range(larger(é, -1)):",
        "for i in range(smaller(é, 1)):",
        "for i in range(smaller(é, -2)):",
        "for i in range(smaller(é, -0)):",
    ]
    assert [becomes for line, becomes in found if line.startswith("return (")] == [
        "return 0",
        "return (é) + (step)",
    ]
    assert [becomes for line, becomes in found if line.startswith("return T")] == [
        "return False if self.ready else self.ends[0]",
        "return 0",
        "return True if not self.ready else self.ends[0]",
        "return True if self.ready else self.ends[1]",
    ]
    assert [line for line, becomes in found if becomes == "pass"] == [
        'raise ValueError(f"{é + 1}")',
        "heap.add(i)",
        "continue",
        "heap.size += 1",
        "heap.size += 1",
    ]
    assert ("if i in heap:", "if i not in heap:") in found
    assert not any(line.startswith(("return h", "return status")) for line, _ in found)
    assert not any("LEFT_ALONE" in line or "assert" in line or "prefetch" in line for line, _ in found)


def test_every_mutant_is_another_program_and_has_its_own_key():
    source = TOY.encode()
    mutants = list(mutants_of("toy.py", source))
    programs = {ast.dump(ast.parse(mutant.apply(source))) for mutant in mutants} - {
        ast.dump(ast.parse(source))
    }
    assert len(programs) >= len(mutants) - 1  # -0 is 0 - 0: no two others are alike
    assert len({mutant.key for mutant in mutants}) == len(mutants)
    assert {mutant.function for mutant in mutants} == {"walk", "Toy.is_open"}
    assert mutants == [Mutant(*mutant) for mutant in mutants]


@pytest.mark.parametrize(
    ("line", "becomes"),
    [
        ("a // b", "a * b"),
        ("a << b", "a >> b"),
        ("a is not b", "a is b"),
        ("a not in b", "a in b"),
        ("~a", "a"),
        ("a[0.5]", "a[1.5]"),
        ("max(a)", "min(a)"),
    ],
)
def test_operators(line, becomes):
    assert (f"x = {line}", f"x = {becomes}") in changes(f"def f():\n    x = {line}\n")


def test_a_sample_stays_where_its_lines_stay():
    mutants = list(mutants_of("toy.py", TOY.encode()))
    chosen = sample(mutants, 8, seed=3)
    assert len(chosen) == 8
    assert chosen == sample(mutants[::-1], 8, seed=3) != sample(mutants, 8, seed=4)
    moved = sample(list(mutants_of("toy.py", b"\n\n" + TOY.encode())), 8, seed=3)
    assert [mutant.key for mutant in moved] == [mutant.key for mutant in chosen]


def test_the_files_of_the_table_are_there():
    for target in TARGETS:
        for path in (target.module, *target.focused, *target.plain, *target.wide):
            assert (ROOT / path.partition("::")[0]).exists(), path


def test_the_quick_core_of_a_module():
    quick = quick_of(next(target for target in TARGETS if target.module.endswith("training/merging.py")))
    left_out = "tests/bpe/training/test_resume.py::test_other_words_start_with_the_old_merges_done"
    assert {"tests/bpe/training/test_learner.py", f"--deselect={left_out}"} < {*quick.focused}
    assert quick.wide == NO_NAMES


def test_the_quick_core_is_there():
    paths, left_out = quick_core()
    assert "tests/test_readme.py" in paths
    for name in (*paths, *left_out):
        path, _, test = name.partition("[")[0].partition("::")
        source = (ROOT / path).read_text("utf-8")
        for part in filter(None, test.split("::")):
            assert re.search(rf"\b{part}\b", source), name


def test_imports():
    modules = {"a", "a.b", "a.c", "d"}
    assert _imported(b"import d\nfrom a import b", modules) == {"d", "a.b"}
    assert _imported(b"def f():\n    from a import c, x", modules) == {"a.c", "a"}
    assert _imported(b"from a.b import x", modules) == {"a.b"}


def test_the_digest_is_a_constant_in_the_copy():
    frozen = [
        path
        for path in (ROOT / "structures").rglob("*.py")
        if _frozen(path.read_bytes()) != path.read_bytes()
    ]
    assert len(frozen) == 1


def test_explanations_are_of_mutants_there_are():
    changes = {
        (target.module, mutant.function, mutant.change)
        for target in TARGETS
        for mutant in mutants_of(target.module, (ROOT / target.module).read_bytes())
    }
    explained = {
        (module, function, change)
        for module, functions in command.explained().items()
        for function, reasons in functions.items()
        for change in reasons
    }
    assert explained - changes == set()


def test_the_table(tmp_path, monkeypatch):
    explained = tmp_path / "explained.json"
    monkeypatch.setattr(command, "EXPLAINED", explained)
    explained.write_text("{}")
    pairs = command.chosen(34, 0, (ROOM,), False)
    (survivor, _), *others = pairs
    assert len(pairs) == 2
    records = [{"key": survivor.key, "verdict": "survived"}]
    records += [{"key": mutant.key, "verdict": "hung"} for mutant, _ in others]
    (tmp_path / "all.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    run = CliRunner().invoke(command.main, [ROOM, "--sample", "34", "--table", "--results", str(tmp_path)])
    assert run.exit_code == 1
    assert f"unexplained: {survivor.path}" in run.output
    assert "caught: 50.0% of 2; survived, and explained: 0" in run.output
    entry = run.output[run.output.index("{") : run.output.index("}\n", run.output.index("{")) + 1]
    explained.write_text(entry)
    run = CliRunner().invoke(command.main, [ROOM, "--sample", "34", "--table", "--results", str(tmp_path)])
    assert "caught: 50.0% of 2; survived, and explained: 1" in run.output
    assert "unexplained" not in run.output
