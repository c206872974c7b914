"""Stopped at any moment: an interrupt keeps what is learned, a kill leaves whole files."""

import os
import random
import signal
import subprocess
import sys
import time

import pytest

import bpe
from bpe.training import learner, selection

pytestmark = pytest.mark.skipif(os.name == "nt", reason="POSIX signals")

SAVE_FOR_EVER = """
import sys
import bpe
small, large = (bpe.train([sys.argv[1]], size, special_tokens=["<|end|>"]) for size in (300, 5000))
small.save(sys.argv[2])
print("ready", flush=True)
while True:
    large.save(sys.argv[2])
    small.save(sys.argv[2])
"""


# ---------------------------------------------------------------------------------------------- interrupts
@pytest.mark.parametrize("ties", ["smallest", "lexicographic", "first"])
@pytest.mark.parametrize("vetoes", [False, True])
def test_interrupts_at_random_moments_lose_nothing_and_spoil_nothing(ties, vetoes, book):
    def keep(left, right):
        return len(left) < 3 or right != b"e"

    counts = bpe.WordCounts.from_corpus([book])
    options = {"ties": ties, "keep": keep if vetoes else None}
    whole = bpe.Trainer(counts, **options)
    whole.run(4000)

    def interrupt(signal_number, frame):
        raise KeyboardInterrupt

    generator = random.Random(3)
    trainer = bpe.Trainer(counts, **options)
    before = signal.signal(signal.SIGALRM, interrupt)
    n_interrupts = 0
    try:
        while len(trainer.merges) < len(whole.merges) or not n_interrupts:
            if len(trainer.merges) == len(whole.merges):  # it ended before the interrupt
                trainer = bpe.Trainer(counts, **options)
            try:
                signal.setitimer(signal.ITIMER_REAL, generator.uniform(0.0001, 0.002))
                trainer.run(4000)
                signal.setitimer(signal.ITIMER_REAL, 0)
            except KeyboardInterrupt:
                n_interrupts += 1
                n_learned = len(trainer.merges)
                assert trainer.tokenizer().vocab_size == 256 + n_learned
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    trainer.check()
    assert trainer.merges == whole.merges


def test_what_is_learned_before_an_interrupt_can_be_saved(tmp_path):
    def stop(done, total):
        if done >= 3:
            raise KeyboardInterrupt

    trainer = bpe.Trainer(bpe.WordCounts({"abcdefghij": 2}))
    with pytest.raises(KeyboardInterrupt):
        trainer.run(300, progress=stop)
    trainer.tokenizer().save(tmp_path / "tok.json")
    assert bpe.Tokenizer.load(tmp_path / "tok.json").merges == trainer.tokenizer().merges != []


@pytest.mark.parametrize("is_late", [False, True])
def test_an_interrupt_while_room_is_made(is_late, monkeypatch, book):
    counts = bpe.WordCounts.from_corpus([book])
    trainer, whole = bpe.Trainer(counts), bpe.Trainer(counts)
    whole.run(600)
    trainer.run(300)

    def interrupted(*arguments):
        if is_late:
            set_room(*arguments)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        set_room = learner.set_room
        patch.setattr(learner, "set_room", interrupted)
        with pytest.raises(KeyboardInterrupt):
            trainer.run(600)
    n_learned = len(trainer.merges)
    while trainer.step() and len(trainer.merges) < 344:  # one by one, each asks for little room
        n_learned += 1
        assert trainer.merges == whole.merges[:n_learned]
    trainer.check()


def test_a_run_reports_often_enough(book):
    """Only a moment passes between two reports, whatever a merge costs."""
    moments = [time.perf_counter()]
    trainer = bpe.Trainer(bpe.WordCounts.from_corpus([book]))
    trainer.step()
    trainer.run(8000, progress=lambda done, total: moments.append(time.perf_counter()))
    assert len(moments) > 5


# --------------------------------------------------------------------------------------------------- kills
def test_killed_at_ten_random_moments_while_saving(book, tmp_path):
    target = tmp_path / "tok.json"
    sizes = [bpe.train([book], size, special_tokens=["<|end|>"]).vocab_size for size in (300, 5000)]
    generator = random.Random(7)
    for _ in range(10):
        command = [sys.executable, "-c", SAVE_FOR_EVER, book, str(target)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout.readline() == b"ready\n"
            time.sleep(generator.uniform(0, 0.2))
            process.kill()
        assert bpe.Tokenizer.load(target).vocab_size in sizes


def test_killed_at_ten_random_moments_of_the_command(book, tmp_path):
    corpus, target = tmp_path / "corpus.txt", tmp_path / "tok.json"
    corpus.write_text(book, "utf-8")
    command = [sys.executable, "-m", "bpe.cli", "train", corpus, "--vocab-size", "2000", "--quiet", "-o"]
    began = time.perf_counter()
    subprocess.run([*command, tmp_path / "whole.json"], check=True)
    seconds = time.perf_counter() - began
    new, old = (tmp_path / "whole.json").read_bytes(), b"the old file"
    target.write_bytes(old)
    generator = random.Random(11)
    for _ in range(10):
        with subprocess.Popen([*command, target]) as process:
            # Most of the time goes to the start; what may break is at the end.
            time.sleep(seconds * generator.uniform(0.3, 1.1))
            process.kill()
        assert target.read_bytes() in (old, new)


# -------------------------------------------------------------------------------------------------- memory
def test_what_is_learned_outlives_a_lack_of_memory(monkeypatch):
    trainer = bpe.Trainer(bpe.WordCounts({"abcdefghij": 2}))
    trainer.run(258)

    def fail(*arguments):
        raise MemoryError

    monkeypatch.setattr(selection, "run_smallest", fail)
    with pytest.raises(MemoryError):
        trainer.run(260)
    monkeypatch.undo()
    with pytest.raises(MemoryError, match="ran out during a merge"):
        trainer.step()  # counts and postings may be wrong by now
    assert len(trainer.tokenizer().merges) == 2
