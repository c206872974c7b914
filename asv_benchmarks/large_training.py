"""Train on a large corpus, check what comes out, and print where the time goes.

    python asv_benchmarks/large_training.py CORPUS [VOCAB_SIZE]

Documents are separated by ``<|endoftext|>``. Both selections must learn the same merges, and every
document must decode to the bytes it was encoded from, or nothing is printed but the difference.
"""

import subprocess
import sys
import time
from pathlib import Path

import bpe

SPECIAL = "<|endoftext|>"
WARM_START = """
import time
start = time.perf_counter()
import bpe
bpe.train(bpe.WordCounts({"low": 2}, special_tokens=["<|endoftext|>"]), vocab_size=258)
print(time.perf_counter() - start)
"""


def main(path, vocab_size):
    start = time.perf_counter()
    counts = bpe.WordCounts.from_corpus(path, special_tokens=[SPECIAL], progress=True)
    counted = time.perf_counter() - start
    megabytes = path.stat().st_size / 1e6
    print(f"{path.name}: {megabytes:.1f} MB, {len(counts)} distinct words, {counts.total} words")
    rows = [("count", counted)]
    learned = {}
    for ties in ("smallest", "lexicographic"):
        for selection in ("heap", "buckets"):
            bpe.Trainer(bpe.WordCounts({"abab": 2}), selection=selection, ties=ties).run(260)  # compiles
            times = []
            for _ in range(3):
                start = time.perf_counter()
                trainer = bpe.Trainer(counts, selection=selection, ties=ties)
                trainer.run(vocab_size)
                times.append(time.perf_counter() - start)
            rows.append((f"merge, selection {selection}, ties {ties}", min(times)))
            learned.setdefault(ties, trainer.merges)
            if learned[ties] != trainer.merges:
                sys.exit(f"{selection} learned other merges with ties {ties}")
    tok = bpe.Trainer(counts)
    tok.run(vocab_size)
    tok = tok.tokenizer()
    documents = path.read_bytes().split(SPECIAL.encode())
    start = time.perf_counter()
    n_tokens = 0
    for number, document in enumerate(documents):
        ids = tok.encode_to_numpy(document)
        n_tokens += len(ids)
        if tok.decode_bytes(ids) != document:
            sys.exit(f"document {number} does not decode to what it was")
    rows.append(("encode and decode", time.perf_counter() - start))
    starts = [
        float(subprocess.run([sys.executable, "-c", WARM_START], capture_output=True, text=True).stdout)
        for _ in range(4)
    ]
    rows.append(("a new process, from import to trained on one line", min(starts[1:])))
    print(f"vocabulary {tok.vocab_size}; {len(documents)} documents, {n_tokens} tokens, all come out again\n")
    print("| | seconds |\n|---|---|")
    for name, seconds in rows:
        print(f"| {name} | {seconds:.2f} |")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 32_000)
