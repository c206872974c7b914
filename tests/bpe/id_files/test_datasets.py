"""The page about datasets: what it shows runs, with the packages that are there."""

import importlib.util
import pickle
import re
import textwrap
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "bpe" / "datasets.rst").read_text("utf-8")
BLOCKS = [
    textwrap.dedent(block)
    for block in re.findall(r"^\.\. code-block:: python\n\n((?:   .*\n|\n)+)", PAGE, re.MULTILINE)
]
PACKAGES = ("datasets", "torch")


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """What the blocks make, and those blocks that did not run as a package is not there."""
    folder = tmp_path_factory.mktemp("page")
    (folder / "tests").mkdir()
    (folder / "tests" / "data").symlink_to(ROOT / "tests" / "data", target_is_directory=True)
    made, missing = {}, []
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for block in BLOCKS:
            needed = [name for name in PACKAGES if f"import {name}\n" in block]
            if all(importlib.util.find_spec(name) for name in needed):
                exec(compile(block, "datasets.rst", "exec"), made)
            else:
                missing.append(block)
        yield made, missing


def test_blocks_of_ids(shown):
    made, _ = shown
    blocks, written = made["blocks"], made["written"]
    ids = np.fromfile(written.ids, written.dtype)
    assert isinstance(blocks.ids, np.memmap)
    assert len(blocks) == (len(ids) - 1) // 128
    for number in (0, 1, len(blocks) - 1):
        x, y = blocks[number]
        assert (x.dtype, len(x), len(y)) == (np.int64, 128, 128)
        assert x.tolist() == ids[128 * number :][:128].tolist()
        assert y.tolist() == ids[128 * number + 1 :][:128].tolist()
    assert len(list(blocks)) == len(blocks)
    assert len(pickle.dumps(type(blocks).__reduce__(blocks)[1])) < 1000
    tiny = type(blocks)(written.ids, len(ids), written.dtype)
    assert len(tiny) == 0


def test_datasets(shown):
    pytest.importorskip("datasets", reason="datasets is not installed")
    made, missing = shown
    assert not [block for block in missing if "import datasets" in block]
    lines, encoded = made["lines"], made["encoded"]
    assert encoded["ids"][:] == [made["tok"].encode_ordinary(text) for text in lines["text"]]
    assert made["faster"].with_format(None)[:] == encoded[:]
    assert made["rows"].column_names == ["document", "source", "ids"]
    assert made["rows"][0]["ids"] == made["tok"].encode(made["novel"].read_text("utf-8"))


def test_torch(shown):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    made, _ = shown
    assert made["x"].shape == made["y"].shape == torch.Size([4, 128])
    assert made["x"].dtype == torch.int64
