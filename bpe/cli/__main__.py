"""``python -m bpe.cli``."""

from bpe.cli import main

if __name__ == "__main__":
    main(prog_name="bpe")
