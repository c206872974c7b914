"""What is written arrives whole, or there is an error that names the output; nothing else is overwritten."""

import json
import os
import random
import re
import subprocess
import sys
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import bpe
from bpe import cli
from bpe.id_files import encode as files
from bpe.id_files.output import Output
from tests.forks import Child

pytestmark = pytest.mark.filterwarnings("ignore:.*an earlier run was not completed:RuntimeWarning")
LIMIT = 400_000  # bytes of a file
resource = pytest.importorskip("resource", reason="POSIX limits")


@pytest.fixture
def folder(tokenizer, book, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(Path(bpe.__file__).resolve().parent.parent))
    tokenizer.save("tok.json")
    (tmp_path / "book.txt").write_text(book * 5, "utf-8")
    ids = tokenizer.encode_to_numpy((tmp_path / "book.txt").read_bytes())
    np.save("given.npy", ids.astype(np.uint16))
    assert 2 * len(ids) > LIMIT
    return tmp_path


def start(*arguments, stdout=None, is_unbuffered=False, limit=None, **options):
    def set_limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    # With a limit, without bytecode: Python leaves what it could write of it.
    flags = [*["-u"] * is_unbuffered, *["-B"] * bool(limit)]
    return Child(
        [sys.executable, *flags, "-m", "bpe.cli", *arguments],
        stdout=stdout,
        stderr=subprocess.PIPE,
        preexec_fn=set_limit if limit else None,
        **options,
    )


def ended(process):
    with process:
        _, errors = process.communicate(timeout=120)
    return process.returncode, errors.decode()


def run(*arguments, stdin=None):
    return CliRunner().invoke(cli.main, [str(argument) for argument in arguments], input=stdin)


@contextmanager
def room(n_bytes):
    """Limit the size of every file that is written."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


# --------------------------------------------------------------------------------------- standard output
@pytest.mark.parametrize("is_unbuffered", [False, True])
@pytest.mark.parametrize(
    "arguments", [["decode", "tok.json", "given.npy"], ["encode", "tok.json", "book.txt", "--json"]], ids=str
)
def test_a_disk_that_is_full_in_the_middle(folder, arguments, is_unbuffered):
    with open("printed", "wb") as printed:
        found = ended(start(*arguments, stdout=printed, is_unbuffered=is_unbuffered, limit=LIMIT))
    assert found == (2, "bpe: standard output: File too large\n")
    assert os.path.getsize("printed") == LIMIT, "all that had room"


@pytest.mark.parametrize("is_unbuffered", [False, True])
def test_a_pipe_that_does_not_block_gets_all(folder, is_unbuffered):
    out, into = os.pipe()
    os.set_blocking(into, False)
    process = start("decode", "tok.json", "given.npy", stdout=into, is_unbuffered=is_unbuffered)
    os.close(into)
    with os.fdopen(out, "rb") as file:
        assert file.read() == (folder / "book.txt").read_bytes()
    assert ended(process) == (0, "")


@pytest.mark.parametrize("is_unbuffered", [False, True])
def test_a_pipe_that_is_closed(folder, is_unbuffered):
    out, into = os.pipe()
    process = start("decode", "tok.json", "given.npy", stdout=into, is_unbuffered=is_unbuffered)
    os.close(into)
    os.close(out)
    assert ended(process) == (1, "")


def test_standard_output_closed_at_the_start(folder):
    for arguments in (["decode", "tok.json", "given.npy"], ["inspect", "tok.json", "--json"], ["--help"]):
        shell = ["sh", "-c", '"$@" >&-', "sh", sys.executable, "-m", "bpe.cli", *arguments]
        result = subprocess.run(shell, capture_output=True, text=True, check=False)
        assert (result.returncode, result.stderr) == (2, "bpe: standard output: Bad file descriptor\n")


# ------------------------------------------------------------------------------------------------ files
@pytest.mark.parametrize("name", ["ids.bin", "ids.npy"])
def test_a_disk_that_is_full_in_the_middle_of_a_file_of_ids(folder, tokenizer, name):
    arguments = ["encode", "tok.json", "book.txt", "-o", name, "--dtype", "uint16", "--quiet"]
    code, errors = ended(start(*arguments, limit=LIMIT))
    assert code == 2
    assert re.fullmatch(rf"bpe: .*{name}: File too large, after [\d,]+ bytes\n", errors)
    assert not os.path.exists(name)
    assert run(*arguments).output == ""
    ids = np.load(name) if name == "ids.npy" else np.fromfile(name, np.uint16)
    assert np.array_equal(ids, tokenizer.encode_to_numpy((folder / "book.txt").read_bytes()))


def test_a_disk_that_is_full_names_the_file(folder):
    arguments = ["report", "tok.json", "book.txt", "-o"]
    assert run(*arguments, "new.html").exit_code == 0, "and its compiled code is on the disk now"
    Path("old.html").write_text("old")
    code, errors = ended(start(*arguments, "old.html", limit=1000))
    assert code == 2
    assert re.fullmatch(r"bpe: old\.html: File too large, after 1,000 of [\d,]+ bytes\n", errors)
    assert Path("old.html").read_text() == "old"


def test_the_last_ids_do_not_fit(tmp_path):
    """They are fewer than a block of the system: ``ndarray.tofile`` would lose them without an error."""
    output = Output(tmp_path / "ids.bin", np.dtype("<u2"), "work")
    with pytest.raises(OSError, match=r"ids\.bin"), output, room(1000):  # noqa: PT012
        output.write(np.arange(505), [505])  # less than a block of the system
        output.save_state()


@pytest.mark.parametrize("n_bytes", [0, 500, 900])
@pytest.mark.parametrize("n_ids", [500, 50_000])
def test_a_disk_with_little_room_keeps_nothing_that_is_useless(tmp_path, n_bytes, n_ids):
    def write():
        with room(n_bytes), Output(tmp_path / "ids.bin", np.dtype("<u2"), "work") as output:
            output.write(np.zeros(n_ids), [n_ids])
            output.finish()

    with pytest.raises(OSError, match=r"File too large.*ids"):
        write()
    assert not os.listdir(tmp_path)


def test_a_disk_with_no_room_at_all(folder, tokenizer):
    before = set(os.listdir())
    for name in ("ids.bin", "ids.npy", "ids.idx"):
        with pytest.raises(OSError, match=r"File too large.*/ids\."), room(0):
            tokenizer.encode_files(Path("book.txt"), name)
        assert set(os.listdir()) == before
    with pytest.raises(OSError, match=r"File too large: 'ids/shards\.jsonl'"), room(0):
        tokenizer.encode_shards(Path("book.txt"), "ids")


@pytest.mark.parametrize(
    ("read", "out"),
    [
        ("a.bin", "a.bin"),
        ("a.bin", "a.idx"),
        ("a.idx", "a.bin"),
        ("a.offsets.npy", "a.npy"),
        ("a.bin.part", "a.bin"),
    ],
)
def test_files_of_ids_do_not_replace_what_is_read(tokenizer, tmp_path, monkeypatch, read, out):
    monkeypatch.chdir(tmp_path)
    Path(read).write_text("the sea")
    to = "megatron" if "idx" in read + out else None
    corpora = [Path(read), ["the sea", Path(read)]]
    if not read.endswith(".part"):
        corpora.append(Path(name) for name in [read])  # which is known when it has been read
    for corpus in corpora:
        with pytest.raises(ValueError, match=re.escape(f"{read} is also an input: choose another")):
            tokenizer.encode_files(corpus, out, to=to)
        assert Path(read).read_text() == "the sea"
    link = Path("linked") / out  # of folders, too
    link.parent.symlink_to(".")
    with pytest.raises(ValueError, match=r"is also an input"):
        tokenizer.encode_files(Path(read), link, to=to)


def test_shards_do_not_replace_what_is_read(tokenizer, tmp_path):
    paths = [tmp_path / "a.txt", tmp_path / "a.txt.bin"]
    for path in paths:
        path.write_text("the sea")
    with pytest.raises(ValueError, match=r"a\.txt\.bin is also an input: choose another"):
        tokenizer.encode_shards(paths, tmp_path)
    assert paths[1].read_text() == "the sea"


# ------------------------------------------------------------------------- files of others, beside the ids
def test_two_files_of_ids_do_not_share_their_offsets(folder, tokenizer):
    """A second file of ids must not take the offsets of the first."""
    Path("a.jsonl").write_text('{"text": "the sea"}\n{"text": "the ship"}\n')
    Path("q.txt").write_text("some text beside")
    assert run("encode", "tok.json", "a.jsonl", "-o", "q.bin", "--quiet").output == ""
    before = {name: Path(name).read_bytes() for name in os.listdir() if Path(name).is_file()}
    for name in ("q.npy", "q"):
        if name.endswith(".npy"):
            result = run("encode", "tok.json", "q.txt", "-o", name)
            assert result.exit_code == 2
            assert re.fullmatch(r"bpe: .*q\.offsets\.npy: it belongs to q\.bin: .*\n", result.stderr)
        with pytest.raises(FileExistsError, match=r"it belongs to q\.bin"):
            tokenizer.encode_files(["other"], name)
    assert {name: Path(name).read_bytes() for name in os.listdir() if Path(name).is_file()} == before
    # The same file again, with another text, is replaced; so are the offsets of a file that is gone.
    assert run("encode", "tok.json", "q.txt", "-o", "q.bin", "--quiet").output == ""
    assert np.load("q.offsets.npy").tolist() == [0, len(tokenizer.encode("some text beside"))]
    os.remove("q.bin")
    assert run("encode", "tok.json", "q.txt", "-o", "q.npy", "--quiet").output == ""
    with pytest.raises(FileExistsError, match=r"it belongs to q\.npy"):
        tokenizer.encode_files(["other"], "q.bin")


def test_names_of_the_files_beside_are_no_names_of_ids(folder, tokenizer):
    tokenizer.encode_files(["the sea"], "q.bin")
    before = Path("q.offsets.npy").read_bytes()
    for name in ("q.offsets.npy", "q.bin.part", "q.bin.state"):
        with pytest.raises(ValueError, match="are for files beside the ids"):
            tokenizer.encode_files(["the ship"], name)
    assert Path("q.offsets.npy").read_bytes() == before


def stop(done, total):
    if done > 20_000:
        raise KeyboardInterrupt


@pytest.fixture
def small(monkeypatch):
    """Many batches, and a note behind each."""
    monkeypatch.setattr(files, "BATCH_BYTES", 700)
    monkeypatch.setattr(files, "SECONDS", 0)


def test_a_run_that_is_not_complete_keeps_its_offsets(tokenizer, book, tmp_path, small):
    documents = [book[i : i + 900] for i in range(0, 30_000, 900)]
    with pytest.raises(KeyboardInterrupt):
        tokenizer.encode_files(documents, tmp_path / "q.bin", progress=stop)
    with pytest.raises(FileExistsError, match=r"q\.bin needs it, and is not complete: .*q\.bin\.state"):
        tokenizer.encode_files(["other"], tmp_path / "q.npy")
    written = tokenizer.encode_files(documents, tmp_path / "q.bin")
    assert written.is_resumed
    check(written, tokenizer, documents)


def check(written, tokenizer, documents):
    ids = np.fromfile(written.ids, np.uint16) if written.ids.suffix != ".npy" else np.load(written.ids)
    found = [ids[i:j].tolist() for i, j in pairwise(np.load(written.offsets))]
    assert found == list(map(tokenizer.encode, documents))


@pytest.mark.parametrize("name", ["q.bin.part", "q.offsets.npy.part", "q.bin.state"])
@pytest.mark.parametrize("kind", ["link", "hanging link", "second name", "pipe"])
def test_nothing_is_written_through_a_link(tokenizer, tmp_path, name, kind):
    (tmp_path / "precious").write_text("precious")
    {
        "link": lambda: (tmp_path / name).symlink_to(tmp_path / "precious"),
        "hanging link": lambda: (tmp_path / name).symlink_to(tmp_path / "new"),
        "second name": lambda: os.link(tmp_path / "precious", tmp_path / name),
        "pipe": lambda: os.mkfifo(tmp_path / name),
    }[kind]()
    before = sorted(os.listdir(tmp_path))
    with pytest.raises(
        FileExistsError,
        match=rf"{re.escape(name)} is .*, where this run must write",
    ):
        tokenizer.encode_files(["the sea"], tmp_path / "q.bin")
    assert (tmp_path / "precious").read_text() == "precious"
    assert sorted(os.listdir(tmp_path)) == before


# --------------------------------------------------------------------------------------- damaged notes
@pytest.fixture
def stopped(tokenizer, book, tmp_path, small):
    """A run that was stopped, and how to complete it."""
    documents = [book[i : i + 900] for i in range(0, 30_000, 900)]

    def again(name):
        return check(tokenizer.encode_files(documents, tmp_path / name), tokenizer, documents)

    def stopped(name):
        with pytest.raises(KeyboardInterrupt):
            tokenizer.encode_files(documents, tmp_path / name, progress=stop)
        return tmp_path / f"{name}.state"

    return stopped, again


@pytest.mark.parametrize("name", ["q.bin", "q.npy"])
def test_edited_notes(stopped, name):
    """Whatever field of a note is changed: the result is right."""
    stop_it, again = stopped
    note = json.loads(stop_it(name).read_bytes())
    again(name)
    for field, value in note.items():
        near = [value + 1, value - 1, -value] if isinstance(value, int) else []
        for other in (0, 1, True, False, "", None, *near):
            state = stop_it(name)
            state.write_text(json.dumps({**json.loads(state.read_bytes()), field: other}))
            again(name)
    state = stop_it(name)
    old = json.loads(state.read_bytes())
    for field in ("note_checksum", "ids_checksum", "offsets_checksum"):  # as an older release wrote it
        del old[field]
    state.write_text(json.dumps(old))
    again(name)
    state = stop_it(name)
    state.write_text(json.dumps({**old, "note_checksum": 1, "key": 0}).replace("0", "[" * 450 + "]" * 450))
    again(name)


@pytest.mark.parametrize("is_done", [False, True])
@pytest.mark.parametrize("name", ["q.bin", "q.npy"])
def test_damaged_files(stopped, tmp_path, monkeypatch, name, is_done):
    stop_it, again = stopped

    def kill(self):
        raise KeyboardInterrupt

    chance = random.Random(3)
    for turn in range(24):
        if is_done:
            with monkeypatch.context() as patch:
                patch.setattr(Output, "_rename", kill)
                with pytest.raises(KeyboardInterrupt):
                    again(name)
        else:
            stop_it(name)
        part = tmp_path / (f"{name}.part" if turn % 2 else "q.offsets.npy.part")
        data = bytearray(part.read_bytes())
        place = chance.randrange(len(data))
        how = turn // 2 % 3
        if how == 0:
            data[place] ^= 1 << chance.randrange(8)
        elif how == 1:
            del data[place:]
        else:
            data[place:place] = b"\0"
        part.write_bytes(data)
        again(name)


def test_what_is_whole_is_resumed(stopped, tokenizer, tmp_path, monkeypatch):
    """The check sums of what was written fit: nothing is encoded twice."""
    stop_it, again = stopped
    state = json.loads(stop_it("q.bin").read_bytes())
    assert state["tokens"] > 0
    encoded, many = [], files.encode_groups

    def watched(engine, texts, *rest):
        encoded.append(sum(map(len, texts)))
        return many(engine, texts, *rest)

    monkeypatch.setattr(files, "encode_groups", watched)
    again("q.bin")
    assert sum(encoded) == 30_000 // 900 * 900 + 900 - state["n_bytes"]
