"""The page about transformers, datasets and PyTorch: what it shows runs, with the packages that are there."""

import importlib.util
import pickle
import re
import textwrap
from pathlib import Path

import numpy as np
import pytest

from tests import test_readme
from tests.optional import required

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "bpe" / "datasets.rst").read_text("utf-8")
BLOCKS = [
    textwrap.dedent(block)
    for block in re.findall(r"^\.\. code-block:: python\n\n((?:   .*\n|\n)+)", PAGE, re.MULTILINE)
]
PACKAGES = ("datasets", "torch", "transformers")


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """What the blocks make, and those blocks that did not run as a package is not there."""
    folder = tmp_path_factory.mktemp("page")
    (folder / "tests").mkdir()
    (folder / "tests" / "data").symlink_to(ROOT / "tests" / "data", target_is_directory=True)
    made, missing = {}, []
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("HF_HUB_OFFLINE", "1")
        for number, block in enumerate(BLOCKS):
            needed = [name for name in PACKAGES if re.search(rf"^import .*\b{name}\b", block, re.MULTILINE)]
            if all(importlib.util.find_spec(name) for name in needed):
                test_readme.run(block, folder / f"block_{number}.py", made)
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


def test_transformers(shown):
    required("transformers")
    made, missing = shown
    assert not [block for block in missing if "import transformers" in block]
    hf, tok, text = made["hf"], made["tok"], made["novel"].read_text("utf-8")
    assert (hf.eos_token_id, hf.pad_token_id) == (998, 999)
    assert hf(text)["input_ids"] == tok.encode(text)
    assert hf.decode(tok.encode(text)) == text


def test_datasets(shown):
    required("datasets")
    made, missing = shown
    assert not [block for block in missing if re.search("^import datasets$", block, re.MULTILINE)]
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
    required("datasets")
    batch, tok = made["batch"], made["tok"]
    ids = [row[mask].tolist() for row, mask in zip(batch["input_ids"], batch["attention_mask"], strict=True)]
    assert ids == tok.encode_batch(made["lines"]["text"][:8])
    assert batch["input_ids"][~batch["attention_mask"]].unique().tolist() == [999]
