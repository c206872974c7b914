"""Threads, processes and pickles: a tokenizer is the same everywhere."""

import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor, wait

import pytest

import bpe
from bpe.encoding import joining_encoders as encoder_choice
from bpe.splitting import pattern as plain_splitting
from bpe.tokenizer import Tokenizer
from tests.forks import fork_and_run


def encode_all(tokenizer, batch):
    return [tokenizer.encode(text, allowed_special="all") for text in batch]


def _encode_in_process(tokenizer, batch, connection):
    connection.send(encode_all(tokenizer, batch))
    connection.close()


@pytest.fixture
def batch(book):
    return [book[i : i + 300 + i % 700] + "<|end|>" * (i % 3) for i in range(0, 60_000, 300)]


@pytest.fixture
def fresh(tokenizer):
    """One that has encoded nothing yet."""
    return pickle.loads(pickle.dumps(tokenizer))


def test_threads_share_a_tokenizer(tokenizer, fresh, batch):
    """Not even the first use is taken in turns."""
    expected = encode_all(tokenizer, batch)
    barrier, results = threading.Barrier(6), {}

    def work(number):
        barrier.wait()
        part = batch[number:] + batch[:number]
        found = encode_all(fresh, part)
        results[number] = found[len(found) - number :] + found[: len(found) - number]
        results[number, "batch"] = fresh.encode_batch(batch, 2, allowed_special="all")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 12
    assert all(result == expected for result in results.values())


class Slow:
    """Makes an encoder, on threads other than the main one only after it is released."""

    def __init__(self, monkeypatch):
        self.n_begun, self.released, self._make = 0, threading.Event(), encoder_choice.encoder_of
        monkeypatch.setattr(encoder_choice, "encoder_of", self)

    def __call__(self, *arguments):
        self.n_begun += 1
        if threading.current_thread() is not threading.main_thread():
            self.released.wait(60)
        return self._make(*arguments)


@pytest.mark.parametrize("is_plain_first", [False, True])
def test_threads_that_come_together_make_one_encoder(tokenizer, fresh, monkeypatch, is_plain_first):
    if is_plain_first:
        monkeypatch.setattr(plain_splitting, "_n_compiled_only", 0)
    text = "the sea " + "x" * 100
    expected, slow = tokenizer.encode(text), Slow(monkeypatch)
    with ThreadPoolExecutor(4) as pool:
        found = [pool.submit(fresh.encode, text) for _ in range(4)]
        wait(found, timeout=0.2)  # in vain: one of them makes it
        slow.released.set()
        assert [each.result() for each in found] == [expected] * 4
    assert slow.n_begun == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_fork_while_a_thread_makes_an_encoder(tokenizer, fresh, monkeypatch):
    """The child makes its own, and does not wait for the thread, which is not there."""
    expected, slow = tokenizer.encode("the sea"), Slow(monkeypatch)
    thread = threading.Thread(target=fresh.encode, args=("the sea",))
    thread.start()
    try:
        while not slow.n_begun:
            time.sleep(0.001)
        assert fork_and_run(lambda: 0 if fresh.encode("the sea") == expected else 2) == 0
    finally:
        slow.released.set()
        thread.join()


AT_THE_END = """
import atexit, sys, threading
import bpe

def use():
    tok, text = bpe.Tokenizer.load(sys.argv[1]), open(sys.argv[2], encoding="utf-8").read()
    found = len(tok.encode("ab" * 600_000)), *map(len, tok.encode_batch([text] * 3, threads=2))
    print(found, *(bpe.count_words([text], threads=threads).total for threads in (1, 2, 3)))

def use_later():
    threading.main_thread().join()
    use()
"""


@pytest.mark.parametrize("imports", ["", "import concurrent.futures.thread"])
@pytest.mark.parametrize("how", ["atexit.register(use)", "threading.Thread(target=use_later).start()"])
def test_as_the_process_ends(tokenizer, book, tmp_path, imports, how):
    """Python starts no thread then: the work is done without."""
    tokenizer.save(tmp_path / "tok.json")
    (tmp_path / "book.txt").write_text(book, "utf-8")
    code = imports + AT_THE_END + how
    command = [sys.executable, "-W", "ignore:Numba extension", "-c", code]
    done = subprocess.run(
        [*command, tmp_path / "tok.json", tmp_path / "book.txt"], capture_output=True, text=True, check=True
    )
    found = len(tokenizer.encode("ab" * 600_000)), *[len(tokenizer.encode(book))] * 3
    total = bpe.count_words([book]).total
    assert (done.stdout, done.stderr) == (f"{found} {total} {total} {total}\n", "")


@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.parametrize("used", [False, True])
def test_processes(tokenizer, fresh, batch, method, used):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {method} here")
    batch = batch[:20]
    expected = encode_all(tokenizer, batch)
    if used:
        assert encode_all(fresh, batch) == expected
    context = multiprocessing.get_context(method)
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_encode_in_process, args=(fresh, batch, sender), daemon=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forking beside threads
        process.start()
    assert receiver.poll(120)
    assert receiver.recv() == expected
    process.join(60)
    assert process.exitcode == 0
    assert encode_all(fresh, batch) == expected


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_fork_while_others_encode(fresh, batch):
    """No lock is held that the child would wait for."""
    expected = encode_all(fresh, batch[:20])
    stop = threading.Event()

    def use():
        fresh.encode_batch(batch, 2, allowed_special="all")
        pickle.loads(pickle.dumps(fresh)).encode("the sea")

    def work():
        while not stop.is_set():
            use()

    use()  # the lock of the compiler is the one that a child would wait for
    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(5):
            assert fork_and_run(lambda: 0 if encode_all(fresh, batch[:20]) == expected else 2) == 0
    finally:
        stop.set()
        for thread in threads:
            thread.join()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_fork_while_others_begin_to_encode(tokenizer, fresh):
    """No thread uses alone what all read: a child would find it in use by a thread that is not there."""
    text, stop = "the sea " * 20, threading.Event()
    expected = tokenizer.encode(text)

    def encode_again():
        fresh.engine.encoder._idle.clear()
        return fresh.encode(text)

    def work():
        while not stop.is_set():
            encode_again()

    assert encode_again() == expected
    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(60):
            assert fork_and_run(lambda: 0 if encode_again() == expected else 2) == 0
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def test_pickles_are_small_and_hold_nothing_derived(tokenizer, batch):
    encode_all(tokenizer, batch)
    tokenizer.decode([1, 2, 3])
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        data = pickle.dumps(tokenizer, protocol)
        assert len(data) < 1000 + 20 * len(tokenizer.merges)
        copy = pickle.loads(data)
        assert copy == tokenizer
        assert type(copy) is Tokenizer
    assert len(pickle.dumps(tokenizer)) < 1000 + 8 * len(tokenizer.merges)


class Derived(Tokenizer):
    """A class of somebody else."""


def test_pickles_are_of_their_class(merges):
    tokens = [bytes([value]) for value in range(256)]
    tokenizer = Derived(token_bytes=tokens, merges=[], pattern="none")
    tokenizer.name = "mine"
    tokenizer.encode("a")
    copy = pickle.loads(pickle.dumps(tokenizer))
    assert type(copy) is Derived
    assert copy == tokenizer
    assert (copy.name, copy.encode("a")) == ("mine", [97])
    assert "encoder" not in vars(pickle.loads(pickle.dumps(tokenizer)).engine)


def test_decoding_loads_no_compiler(tokenizer, tmp_path):
    tokenizer.save(tmp_path / "tok.json")
    code = "import bpe, sys; t = bpe.Tokenizer.load(sys.argv[1])"
    code += "; t.decode([104, 105] * 100); t.stream_decoder().feed(3)"
    code += "; assert 'numba' not in sys.modules and 'llvmlite' not in sys.modules"
    subprocess.run([sys.executable, "-c", code, tmp_path / "tok.json"], check=True)
    assert bpe.__version__
