"""What a new process waits for."""


class Imports:
    """Each in a process of its own; ``numba`` is there to compare with."""

    repeat = (3, 10, 10.0)
    warmup_time = 0

    def timeraw_numba(self):
        return "import numba"

    def timeraw_structures(self):
        return "import structures"

    def timeraw_bpe(self):
        return "import bpe"


class FirstUse:
    """Import and first call, with the compiled code on disk."""

    repeat = (3, 10, 10.0)
    warmup_time = 0
    timeout = 300

    def setup(self):
        for statement in (self.timeraw_heap(), self.timeraw_training()):
            exec(statement, {})

    def timeraw_heap(self):
        return "import structures; heap = structures.MaxHeap(); heap.add(7); heap.pop()"

    def timeraw_training(self):
        return "import bpe; bpe.train(['low lower'], vocab_size=260).encode('low')"
