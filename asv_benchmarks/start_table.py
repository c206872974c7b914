"""Measure what the first steps with a tokenizer take, and print a Markdown table. Linux only.

    python asv_benchmarks/start_table.py RANK_FILE PATTERN [--small]

Each step is the whole of a process, the import included: seconds of processor time, and megabytes of memory
at its end. *Never compiled* starts with an empty folder for compiled code. *Warm* loads what an earlier
process has left; memory is that of a warm process. Of all this, what numba takes by itself is subtracted, as
in first_use_table.py. The best of some rounds counts. ``--small`` makes one round, to see that it runs.
"""

import argparse
import tempfile
from pathlib import Path

from first_use_table import ONE_LINE, best, never_compiled, run, warm

MEMORY = "; print(int(open('/proc/self/statm').read().split()[1]) * 4096 / 1e6)"
OPEN = "import bpe; tok = bpe.Tokenizer.open({path!r}, pattern={pattern!r})"
STEPS = {
    "a rank file opened": OPEN,
    "... and a short text encoded": f"{OPEN}; tok.encode('The sea was calm.')",
    "... and 100 kB encoded": f"{OPEN}; tok.encode('The sea was calm. ' * 5_600)",
    "a tokenizer trained on 100 kB": (
        "import bpe; bpe.train([' '.join(f'{{i % 7}}-{{i}}' for i in range(13_000))], 2_000, progress=False)"
    ),
}


def megabytes(code, cache, n_rounds):
    return min(float(run(code + MEMORY, cache)[0]) for _ in range(n_rounds))


def main(arguments=None):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("path", metavar="RANK_FILE")
    parser.add_argument("pattern", metavar="PATTERN")
    parser.add_argument("--small", action="store_true")
    options = parser.parse_args(arguments)
    n_rounds = 1 if options.small else 2
    with tempfile.TemporaryDirectory() as cache:
        Path(cache, "one_line.py").write_text(ONE_LINE)
        by_itself = "import one_line; one_line.f(1)"
        run(by_itself, cache)
        base, base_megabytes = best(by_itself, cache, 5 * n_rounds), megabytes(by_itself, cache, n_rounds)
        print(f"numba by itself takes {base:.2f} s and {base_megabytes:.0f} MB.\n")
        print("| | never compiled, s | warm, s | memory, MB |")
        print("|---|---|---|---|")
        for name, step in STEPS.items():
            code = step.format(path=options.path, pattern=options.pattern)
            seconds = [measure(code, n_rounds, base) for measure in (never_compiled, warm)]
            run(code, cache)
            memory = megabytes(code, cache, n_rounds) - base_megabytes
            print(f"| {name} | {seconds[0]:.2f} | {seconds[1]:.2f} | {memory:.0f} |", flush=True)


if __name__ == "__main__":
    main()
