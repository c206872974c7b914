"""Stopped at any moment: an interrupt keeps what is learned, a kill leaves whole files."""

import os
import random
import signal
import subprocess
import sys
import threading
import time

import pytest

import bpe
from bpe.counting import counts_file, pieces
from bpe.encoding import encoder
from bpe.support.threads import Uninterrupted, in_background, map_in_threads
from bpe.training import learner, selection
from tests.forks import Child

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

    counts = bpe.count_words([book])
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
    counts = bpe.count_words([book])
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
    trainer = bpe.Trainer(bpe.count_words([book]))
    trainer.step()
    trainer.run(8000, progress=lambda done, total: moments.append(time.perf_counter()))
    assert len(moments) > 5


# ----------------------------------------------------------------------------------------- long kernels
class Endless:
    """Stands for a kernel that runs until it is released; an interrupt comes once it has begun."""

    def __init__(self, kernel):
        self.kernel, self.released, self.ended = kernel, threading.Event(), threading.Event()
        self.is_begun = threading.Event()

    def __call__(self, *arguments, **options):
        if self.released.is_set():
            return self.kernel(*arguments, **options)
        assert threading.current_thread() is not threading.main_thread(), "Ctrl-C would not be heard"
        if not self.is_begun.is_set():
            self.is_begun.set()
            os.kill(os.getpid(), signal.SIGINT)
        assert self.released.wait(60)
        try:
            return self.kernel(*arguments, **options)
        finally:
            self.ended.set()

    def interrupts(self, work):
        """Do some work that is interrupted while the kernel runs, then let the kernel go on."""
        try:
            with pytest.raises(KeyboardInterrupt):
                work()
            assert not self.ended.is_set(), "the interrupt came while the kernel ran"
            assert self.is_begun.is_set()
        finally:
            self.released.set()


def test_while_training_begins(monkeypatch, book):
    counts = bpe.count_words([book[:5000]])
    endless = Endless(learner.count_pairs)
    monkeypatch.setattr(learner, "count_pairs", endless)
    monkeypatch.setattr("bpe.training.learner._FEW_WORDS", 0)  # as with many
    endless.interrupts(lambda: bpe.Trainer(counts))
    bpe.Trainer(counts).check()


def test_while_pairs_are_counted_again(monkeypatch, book):
    """What the interrupt leaves behind is completed before anything else is done."""
    counts = bpe.count_words([book[:30_000]])
    whole, trainer = bpe.Trainer(counts), bpe.Trainer(counts)
    whole.run(3000)
    endless = Endless(learner.lower_min_count)
    monkeypatch.setattr(learner, "lower_min_count", endless)
    trainer.run(300)
    endless.interrupts(lambda: trainer.run(3000))
    assert trainer.merges == whole.merges[: len(trainer.merges)]
    trainer.run(3000)
    trainer.check()
    assert trainer.merges == whole.merges
    assert endless.ended.is_set()


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_while_a_long_piece_is_counted(monkeypatch, threads):
    text = b"a" * 50_000
    monkeypatch.setattr(pieces, "_LONG_BYTES", 20_000)
    monkeypatch.setattr(pieces, "BATCH_BYTES", 1000)
    endless = Endless(pieces._add_pieces)
    monkeypatch.setattr(pieces, "_add_pieces", endless)
    endless.interrupts(lambda: bpe.count_words([text], threads=threads))
    assert dict(bpe.count_words([text], threads=threads).items()) == {text: 1}


@pytest.mark.parametrize("name", ["encode_pieces", "cut"])
def test_while_a_long_piece_is_encoded(monkeypatch, tokenizer, name):
    text = "ab" * 20_000
    monkeypatch.setattr(encoder, "BLOCK_BYTES", 10_000)
    expected = tokenizer.encode(text)
    where = encoder if name == "encode_pieces" else type(tokenizer.engine.encoder._scanner)
    kernel = getattr(where, name)

    def long_one(*arguments, **options):
        """Only a call that goes over more than a block is long."""
        size = arguments[2][-1] if name == "encode_pieces" else arguments[2][-1] - options["start"]
        return (endless if size > 10_000 else kernel)(*arguments, **options)

    endless = Endless(kernel)
    monkeypatch.setattr(where, name, long_one)
    n_idle = len(tokenizer.engine.encoder._idle)
    endless.interrupts(lambda: tokenizer.encode(text))
    assert len(tokenizer.engine.encoder._idle) == n_idle - 1, "a thread may still use it"
    assert tokenizer.encode(text) == expected


def test_while_counts_are_read(monkeypatch, tmp_path):
    counts = bpe.WordCounts({"the": 5, "sea": 2})
    counts.save(tmp_path / "counts")
    endless = Endless(counts_file.ByteCounter.from_arrays)
    monkeypatch.setattr(counts_file.ByteCounter, "from_arrays", endless)
    endless.interrupts(lambda: bpe.WordCounts.load(tmp_path / "counts"))
    assert bpe.WordCounts.load(tmp_path / "counts") == counts


def test_while_threads_work():
    endless = Endless(abs)
    endless.interrupts(lambda: list(map_in_threads(endless, [-1], 2)))
    assert list(map_in_threads(endless, [-1, 2], 2)) == [1, 2]


def test_a_call_is_completed_or_never_begins():
    done = []
    call = Uninterrupted(done.append, 1)
    call.finish()  # an interrupt before its thread has begun
    call()
    assert done == []
    endless = Endless(done.append)
    call = Uninterrupted(endless, 1)
    endless.interrupts(lambda: in_background(call))
    call.finish()
    assert done == [1]
    failing = Uninterrupted(divmod, 1, 0)
    for attempt in (failing, failing.finish, failing.finish):
        with pytest.raises(ZeroDivisionError):
            attempt()


def test_where_the_tests_are_started_with_interrupts_ignored():
    """As in the background of a script, and under nohup: they hear their own."""
    test = f"{__file__}::{test_while_threads_work.__name__}"
    shell = ["sh", "-c", 'trap "" INT; exec "$@"', "sh", sys.executable, "-m", "pytest", "-q", test]
    with Child([*shell, "-p", "no:cacheprovider"], stdout=subprocess.PIPE) as process:
        output, _ = process.communicate(timeout=120)
    assert process.returncode == 0, output.decode()


def test_a_child_that_a_test_gives_up_is_killed():
    command = [sys.executable, "-c", "import time; time.sleep(1000)"]
    with pytest.raises(subprocess.TimeoutExpired), Child(command) as process:
        process.communicate(timeout=0.01)
    assert process.returncode == -signal.SIGKILL


COMMAND = """
import sys, threading, time
from bpe.training import learner
def count_pairs(*arguments):
    print("ready", flush=True)
    time.sleep(1000)
learner.count_pairs = count_pairs
from bpe.cli.__main__ import run
run()
"""


def test_the_command_ends_while_a_kernel_runs(tmp_path):
    (tmp_path / "text.txt").write_text("the sea")
    command = [sys.executable, "-c", COMMAND, "train", tmp_path / "text.txt", "--vocab-size", "260"]
    command.append("--ties=first")  # no rule of plain Python
    with Child(
        [*command, "-o", tmp_path / "tok.json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=100)
    assert process.returncode == 130
    assert errors.startswith(b"bpe: interrupted: nothing was learned yet")
    assert errors.count(b"\n") == 1


# --------------------------------------------------------------------------------------------------- kills
def test_killed_at_ten_random_moments_while_saving(book, tmp_path):
    target = tmp_path / "tok.json"
    sizes = [bpe.train([book], size, special_tokens=["<|end|>"]).vocab_size for size in (300, 5000)]
    generator = random.Random(7)
    for _ in range(10):
        command = [sys.executable, "-c", SAVE_FOR_EVER, book, str(target)]
        with Child(command, stdout=subprocess.PIPE) as process:
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
        with Child([*command, target]) as process:
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
