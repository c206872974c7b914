"""Benchmarks of ``structures`` and ``bpe`` for airspeed velocity.

Compiled code is kept on disk, and asv runs one commit after another in one environment, at the same paths.
What is kept must never be taken for another commit's, or that commit would be timed with code that is not
its own; so each state of the sources gets a cache folder to itself, named by a digest of the installed
packages. Of the alternatives, the commit's hash is not known where asv uses an existing environment, and does
not tell edited sources from committed ones; a new folder for every process would have each of the many
processes that asv starts compile everything again. Python and the environment go into the name as well.

numba reads ``NUMBA_CACHE_DIR`` when it is imported, so this is done here, where nothing has imported it
yet. If something has, as in the tests of these benchmarks, the folder is whoever's did.

Environment variables:

* ``BENCHMARK_SMALL=1`` makes every size tiny, to see whether the benchmarks run;
* ``BPE_CORPORA`` is a folder with ``gutenberg.txt``, ``code.txt``, ``multilingual.txt``: more and larger
  corpora than the bundled one.
"""

import hashlib
import importlib.util
import os
import sys
from pathlib import Path

PACKAGES = ("structures", "bpe")


def digest_of(*packages: str) -> str:
    """Return a digest of the sources of packages, found without importing them."""
    digest = hashlib.sha256()
    for package in packages:
        spec = importlib.util.find_spec(package)
        if spec is None or spec.origin is None:
            raise ModuleNotFoundError(f"{package} is not installed here, nor on ASV_PYTHONPATH", name=package)
        folder = Path(spec.origin).parent
        for source in sorted(folder.rglob("*.py")):
            text = source.read_bytes()
            digest.update(f"{package}/{source.relative_to(folder)}\0{len(text)}\0".encode() + text)
    return digest.hexdigest()


def cache_folder() -> Path:
    """Return the folder for the compiled code of these sources in this environment."""
    given = os.environ.get("NUMBA_CACHE_DIR")
    base = Path(given) if given else Path(__file__).parents[1] / "env" / "numba"
    key = "\0".join([digest_of(*PACKAGES), sys.version, sys.prefix])
    return base / f"sources-{hashlib.sha256(key.encode()).hexdigest()[:16]}"


if "numba" not in sys.modules:
    os.environ["NUMBA_CACHE_DIR"] = str(cache_folder())
