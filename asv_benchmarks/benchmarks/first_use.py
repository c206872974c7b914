"""What a new process waits for: each of these runs in one of its own."""

from ._common import SMALL

USES = {
    "a heap": "import structures; heap = structures.MaxHeap(); heap.add(7); heap.pop()",
    "a few words": "import bpe; bpe.train(['low lower'], vocab_size=260).encode('low')",
    "training": "import bpe; bpe.train(bpe.WordCounts({'low': 5, 'lower': 2}), vocab_size=258)",
    "training, encoding": (
        "import bpe; bpe.train(bpe.WordCounts({'low': 5}), vocab_size=257).encode('low ' + 1000 * 'a')"
    ),
}
EMPTY_CACHE = (
    "import os, tempfile; folder = tempfile.TemporaryDirectory(); os.environ['NUMBA_CACHE_DIR'] = folder.name"
)


class Imports:
    """Imports alone; ``numba`` is there to compare with."""

    version = "1"
    number = 1
    repeat = (3, 10, 10.0)
    warmup_time = 0

    def timeraw_numba(self):
        return "import numba"

    def timeraw_structures(self):
        return "import structures"

    def timeraw_bpe(self):
        return "import bpe"


class Warm:
    """Import and first call, with the compiled code on disk."""

    version = "1"
    params = tuple(USES)
    param_names = ("use",)
    number = 1
    repeat = (3, 10, 10.0)
    warmup_time = 0
    timeout = 600

    def setup(self, use):
        exec(USES[use], {})

    def timeraw_first_call(self, use):
        return USES[use]


class NeverCompiled:
    """Import and first call where nothing has been compiled: the first process after an installation."""

    version = "1"
    params = tuple(USES)[:1] if SMALL else tuple(USES)
    param_names = ("use",)
    number = 1
    repeat = (2, 3, 60.0)
    warmup_time = 0
    timeout = 900

    def timeraw_first_call(self, use):
        return f"{EMPTY_CACHE}; {USES[use]}"
