"""Measure what the first steps with a tokenizer take, and print a Markdown table. Linux only.

    python asv_benchmarks/start_table.py RANK_FILE PATTERN [--small]

Each step is the whole of a process, the start of Python included: seconds of processor time, and megabytes
of memory at its end. *Never compiled* starts with an empty folder for compiled code. *Warm* loads what an
earlier process has left; memory is that of a warm process. The first row is what numba takes by itself, to
call a function of one line. The best of some rounds counts. ``--small`` makes one round, to see that it runs.
"""

import argparse
import tempfile
from pathlib import Path

from first_use_table import ONE_LINE, never_compiled, run, warm

MEMORY = "; print(int(open('/proc/self/statm').read().split()[1]) * 4096 / 1e6)"
OPEN = "import bpe; tok = bpe.Tokenizer.open({path!r}, pattern={pattern!r}, special_tokens={{}})"
PROSE = "' '.join(f'The sea was calm, and {{i}} of {{i * 7919 %% 4001}} men slept.' for i in range(%d))"
STEPS = {
    "numba by itself": "import sys; sys.path.append({folder!r}); import one_line; one_line.f(1)",
    "a rank file opened": OPEN,
    "... and a short text encoded": f"{OPEN}; tok.encode('The sea was calm.')",
    "... and 100 kB encoded": f"{OPEN}; tok.encode({PROSE % 2_200})",
    "... and 2 MB encoded": f"{OPEN}; tok.encode({PROSE % 45_000})",
    "a tokenizer trained on 100 kB": f"import bpe; bpe.train([{PROSE % 2_200}], 2_000)",
    "a tokenizer trained on 2 MB": f"import bpe; bpe.train([{PROSE % 45_000}], 2_000)",
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
        print("| | never compiled, s | warm, s | memory, MB |")
        print("|---|---|---|---|")
        for name, step in STEPS.items():
            code = step.format(path=options.path, pattern=options.pattern, folder=cache)
            never, seconds = never_compiled(code, n_rounds, 0), warm(code, n_rounds, 0)
            run(code, cache)
            memory = megabytes(code, cache, n_rounds)
            print(f"| {name} | {never:.2f} | {seconds:.2f} | {memory:.0f} |", flush=True)


if __name__ == "__main__":
    main()
