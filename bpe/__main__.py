"""``python -m bpe``: the program ``bpe``."""

from bpe.cli.__main__ import run

if __name__ == "__main__":
    run()
