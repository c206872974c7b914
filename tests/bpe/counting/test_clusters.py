import os
import signal
import time

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import bpe
from bpe import cli
from bpe.corpus import Corpus
from bpe.corpus.parts import parts_of
from bpe.counting.clusters import _added, _count_part, _part_bytes, count_words
from bpe.counting.pieces import count_corpus
from bpe.counting.word_counts import WordCounts
from bpe.id_files.shards import _Job, _on_worker, _Work
from bpe.splitting.boundaries import cut_inside
from structures import ByteCounter
from tests.optional import optional

dask = optional("dask")
distributed = optional("distributed")
pyarrow = optional("pyarrow")
parquet = optional("pyarrow.parquet")

pytestmark = pytest.mark.filterwarnings("default")  # the cluster gives warnings of its own

END = "<| end |>"
LETTERS = [*"aA1é漢 \n\r\t!/'b", " ", END, "<| end", " |>", "ll", " two", "\ufffd"]


# ------------------------------------------------------------------------------------------ parts
@pytest.mark.parametrize("specials", [(), (END, " ", "b")])
@pytest.mark.parametrize("errors", ["keep", "replace", "skip"])
@pytest.mark.parametrize("name", list(bpe.PATTERNS))
@settings(deadline=None, max_examples=60)
@given(
    texts=st.lists(
        st.lists(
            st.sampled_from(LETTERS).map(str.encode) | st.just(b"\xff") | st.just(b"\xe6"), max_size=60
        ).map(b"".join),
        max_size=4,
    ),
    part_bytes=st.integers(1, 60),
    window_bytes=st.integers(1, 40),
)
def test_parts_of_texts(tmp_path_factory, name, errors, specials, texts, part_bytes, window_bytes):
    folder = tmp_path_factory.getbasetemp()
    paths = [folder / f"{i}.txt" for i in range(len(texts))]
    for path, data in zip(paths, texts, strict=True):
        path.write_bytes(data)
    source, pattern = Corpus(paths, errors=errors), bpe.Pattern.of(name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bpe.corpus.parts.WINDOW_BYTES", window_bytes)
        parts = parts_of(source, pattern, frozenset(specials), part_bytes, cut_inside)
    ranges = [part for group in parts for part in group]
    for path, data in zip(paths, texts, strict=True):
        mine = [part for part in ranges if part.path == path]
        assert [part.start for part in mine] == [0, *(part.stop for part in mine[:-1])]
        assert mine[-1].stop == len(data)
    whole = count_corpus(source, pattern, specials)
    total = ByteCounter()
    for group in parts:
        total = _added(total, _count_part(group, {"errors": errors}, None, pattern, specials))
    assert list(total.items()) == list(whole.items())


def test_large_files_are_cut(tmp_path, monkeypatch):
    monkeypatch.setattr("bpe.corpus.parts.WINDOW_BYTES", 1000)
    (tmp_path / "a.txt").write_text("some words of a text\n" * 5000)
    (tmp_path / "b.jsonl").write_text('{"text": "some words"}\n' * 5000)
    (tmp_path / "c.jsonl").write_text('{"text": "' + "x" * 200_000 + '"}')
    (tmp_path / "d.txt").write_text("x" * 200_000)
    (tmp_path / "e.txt").write_text("small")
    (tmp_path / "f.txt").write_text("small")
    parts = parts_of(Corpus(tmp_path), bpe.Pattern.of("o200k"), frozenset(), 30_000, cut_inside)
    names = [[part.path.name[0] for part in group] for group in parts]
    assert names == [["a"]] * 3 + [["b"]] * 4 + [["c"], ["d"], ["e", "f"]]
    by_threes = bpe.Pattern.of("(?s:.{1,3})")
    uncut = parts_of(Corpus(tmp_path / "a.txt"), by_threes, frozenset(), 30_000, cut_inside)
    assert [[(part.start, part.stop) for part in group] for group in uncut] == [[(0, 105_000)]]


def test_a_file_that_changed_since(tmp_path):
    (tmp_path / "a.txt").write_text("one two")
    (group,) = parts_of(Corpus(tmp_path), bpe.Pattern.of("gpt2"), frozenset(), 64 << 20, cut_inside)
    (tmp_path / "a.txt").write_text("one two three")
    with pytest.raises(ValueError, match=r"a\.txt changed from 7 to 13 bytes"):
        _count_part(group, {}, None, bpe.Pattern.of("gpt2"), ())


# ---------------------------------------------------------------------------------------- cluster
@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", memory_limit=0
    ) as cluster:
        yield cluster


@pytest.fixture
def client(cluster):
    with distributed.Client(cluster) as client:
        yield client


@pytest.fixture
def folder(tmp_path, book):
    (tmp_path / "a.txt").write_text(book)
    (tmp_path / "b.jsonl").write_text('{"text": "fifteen men on the"}\n' * 1000)
    table = pyarrow.table({"text": ["dead man's chest", "<|end|>"] * 100})
    parquet.write_table(table, tmp_path / "c.parquet")
    return tmp_path


@pytest.mark.parametrize("part_bytes", [1000, 20_000, 1 << 30])
def test_the_result_is_the_local_one(client, folder, part_bytes, monkeypatch):
    monkeypatch.setattr("bpe.counting.clusters._LEAST_PART_BYTES", part_bytes)
    monkeypatch.setattr("bpe.counting.clusters._MOST_PART_BYTES", part_bytes)
    local = count_words(folder, "cl100k", ["<|end|>"])
    done = []
    for scheduler in (client, client.scheduler.address):
        counts = count_words(
            folder, "cl100k", ["<|end|>"], scheduler=scheduler, progress=lambda *call: done.append(call)
        )
        assert counts == local
        assert list(counts.items()) == list(local.items())
    size = Corpus(folder).n_bytes
    assert done[-1] == (size, size)
    assert count_words(folder, "cl100k", ["<|end|>"]) == local


def test_other_clients_hear_nothing_of_it(client, folder):
    """A message to all clients breaks one that is just connecting."""
    for _ in range(2):  # what the first said at its end is heard before the second begins
        count_words(folder, "cl100k", scheduler=client)
    actions = {event["action"] for _, event in client.get_events(client.id)}
    assert "cancel" not in actions
    assert "update-graph" in actions, "the scheduler calls it otherwise"


def test_an_interrupt_leaves_no_tasks(client, folder, monkeypatch):
    monkeypatch.setattr("bpe.counting.clusters._LEAST_PART_BYTES", 1000)
    monkeypatch.setattr("bpe.counting.clusters._MOST_PART_BYTES", 1000)

    def interrupt(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as interrupted:  # the traceback refers to the futures
        count_words(folder, "cl100k", scheduler=client, progress=interrupt)
    stop = time.monotonic() + 30
    while n_left := client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks)):
        assert time.monotonic() < stop, f"{n_left} tasks are left, {interrupted.value!r}"
        time.sleep(0.05)


def test_progress_inside_of_a_part(client, folder, monkeypatch):
    """A part that takes long is not silent."""
    monkeypatch.setattr("bpe.counting.clusters._SECONDS", 0.01)
    client.run(_tell_at_once)
    (folder / "a.txt").write_text("the sea and the ship " * 500_000)
    done = []
    count_words(folder / "a.txt", scheduler=client, progress=lambda *call: done.append(call))
    assert len(done) > 1, "there is one part"
    assert done == sorted(done)
    assert done[-1] == (10_500_000, 10_500_000)


def _tell_at_once():
    from bpe.counting import clusters

    clusters._SECONDS = 0.0


@pytest.mark.parametrize(
    ("n_bytes", "n_at_once", "expected"),
    [(0, 0, 64 << 20), (600 << 20, 2, 100 << 20), (10**12, 8, 1 << 30), (10**9, 1000, 64 << 20)],
)
def test_the_size_of_parts(n_bytes, n_at_once, expected):
    assert _part_bytes(n_bytes, n_at_once) == expected


def test_a_worker_that_is_killed(client, folder, monkeypatch):
    """Only the time changes."""
    monkeypatch.setattr("bpe.counting.clusters._LEAST_PART_BYTES", 2000)
    monkeypatch.setattr("bpe.counting.clusters._MOST_PART_BYTES", 2000)
    local = count_words(folder)
    before = set(client.run(os.getpid).values())
    killed = []

    def kill_one(done, total):
        if not killed and done > total // 4:
            killed.append(min(before))
            os.kill(killed[0], signal.SIGKILL)

    counts = count_words(folder, scheduler=client, progress=kill_one)
    assert list(counts.items()) == list(local.items())
    assert killed
    deadline = time.monotonic() + 20
    while len(after := set(client.run(os.getpid).values())) < 2 and time.monotonic() < deadline:
        time.sleep(0.1)
    assert after != before


def test_workers_that_die_again_and_again(folder, monkeypatch):
    monkeypatch.setattr("bpe.counting.clusters._LEAST_PART_BYTES", 1000)
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
    ):
        (process,) = client.run(os.getpid).values()
        kill = iter([lambda: os.kill(process, signal.SIGKILL)])
        with pytest.raises(ChildProcessError, match="several workers died"):
            count_words(folder, scheduler=client, progress=lambda done, total: next(kill, int)())


def test_command_line(client, folder, tmp_path_factory):
    output = tmp_path_factory.mktemp("counts") / "words.counts"
    arguments = [
        "count-words",
        str(folder),
        "--scheduler",
        client.scheduler.address,
        "-o",
        str(output),
        "--quiet",
    ]
    result = CliRunner().invoke(cli.main, arguments)
    assert (result.exit_code, result.output) == (0, "")
    assert WordCounts.load(output) == count_words(folder)


def test_errors_on_workers(client, folder):
    (folder / "b.jsonl").write_text('{"text": "cut o')
    with pytest.raises(ValueError, match=r"b\.jsonl, line 1 at byte 0: not JSON"):
        count_words(folder, scheduler=client)
    (folder / "b.jsonl").write_text("")
    with pytest.raises(ValueError, match=r"the corpus is empty: there is no text, .* in .*b\.jsonl"):
        count_words(folder / "b.jsonl", scheduler=client)
    with pytest.raises(ValueError, match="there is no text, or only special tokens"):
        count_words(folder / "c.parquet", "none", ["<|end|>", "dead man's chest"], scheduler=client)


def test_what_a_cluster_does_not_take(client, folder):
    for corpus, message in [
        (["a document"], "a list of one document holds documents, not files only"),
        (iter([folder]), "holds documents, not files only"),
        ([bpe.corpus.STDIN], "- is not a file that workers can read"),
    ]:
        with pytest.raises(ValueError, match=message):
            count_words(corpus, scheduler=client)
    with pytest.raises(TypeError, match="scheduler must be a Client or an address, not int"):
        count_words(folder, scheduler=3)


def test_no_scheduler_there(folder):
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "1s"}),
        pytest.raises(OSError, match=r"tcp://127\.0\.0\.1:9"),
    ):
        count_words(folder, scheduler="tcp://127.0.0.1:9")


# ----------------------------------------------------------------------------------------- shards
def ids_in(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix in (".bin", ".npy")}


def test_shards(client, folder, tokenizer, tmp_path_factory):
    """The same files as in one process; those that are complete are skipped."""
    out = tmp_path_factory.mktemp("ids")
    local = tokenizer.encode_shards(folder, out / "local", end_token="<|end|>", allowed_special="all")
    done, given = [], {"end_token": "<|end|>", "allowed_special": "all", "scheduler": client}
    written = tokenizer.encode_shards(
        folder, out / "cluster", progress=lambda *call: done.append(call), **given
    )
    assert ids_in(out / "cluster") == ids_in(out / "local")
    assert (written.n_shards, written.n_tokens) == (3, local.n_tokens)
    size = Corpus(folder).n_bytes
    assert done[-1] == (size, size)
    (folder / "c.parquet").unlink()
    (folder / "b.jsonl").write_text('{"text": "men"}\n')
    again = tokenizer.encode_shards(folder, out / "cluster", **given)
    assert (again.n_shards, again.n_skipped, again.n_again) == (2, 1, 1)
    again = tokenizer.encode_shards(folder, out / "local", end_token="<|end|>", allowed_special="all")
    assert ids_in(out / "cluster") == ids_in(out / "local")


def test_shards_by_a_worker_that_is_killed(client, folder, tokenizer, tmp_path_factory):
    """Only the time changes."""
    for number in range(20):
        (folder / f"{number}.txt").write_text("fifteen men on the dead man's chest " * 500 * number)
    out = tmp_path_factory.mktemp("ids")
    (folder / "c.parquet").unlink()
    tokenizer.encode_shards(folder, out / "local")
    killed = []

    def kill_one(done, total):
        if not killed and done:
            killed.append(min(client.run(os.getpid).values()))
            os.kill(killed[0], signal.SIGKILL)

    tokenizer.encode_shards(folder, out / "cluster", scheduler=client, progress=kill_one)
    assert killed
    assert ids_in(out / "cluster") == ids_in(out / "local")
    assert not [path for path in (out / "cluster").iterdir() if path.suffix in (".part", ".state")]


def test_errors_of_shards_on_workers(client, folder, tokenizer, tmp_path_factory):
    out = tmp_path_factory.mktemp("ids")
    with pytest.raises(ValueError, match=r"c\.parquet, document 1 holds the special token '<\|end\|>'"):
        tokenizer.encode_shards(folder, out, scheduler=client)
    with pytest.raises(TypeError, match="scheduler must be a Client or an address, not int"):
        tokenizer.encode_shards(folder, out, scheduler=3)
    work = _Work(out / "no", {}, {}, {})
    with pytest.raises(ValueError, match=r"ids\w*/no: the worker on .* does not see this folder"):
        _on_worker(tokenizer.engine, _Job(folder / "a.txt", (0, 0), "a.txt.bin"), work)


def test_command_line_of_shards(client, folder, tokenizer, tmp_path_factory):
    out = tmp_path_factory.mktemp("ids")
    tokenizer.save(out / "tok.json")
    arguments = ["encode", str(out / "tok.json"), str(folder), "-o", str(out / "ids"), "--shards", "--quiet"]
    arguments += ["--ordinary", "--scheduler", client.scheduler.address]
    result = CliRunner().invoke(cli.main, arguments)
    assert (result.exit_code, result.output) == (0, "")
    assert tokenizer.encode_shards(folder, out / "ids", disallowed_special=()).n_skipped == 3
