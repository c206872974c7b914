"""Train on a corpus with this package and with others, and say whether they learn the same merges.

    python asv_benchmarks/same_merges.py CORPUS [VOCAB_SIZE]

Documents are separated by ``<|endoftext|>`` and split by GPT-2's pattern. Those of the other trainers that
are installed are asked; each breaks ties by a rule of ours, so that everything must be equal, merge for
merge. The exit code is 1 where something is not.
"""

import importlib.util
import json
import sys
import time
from pathlib import Path

import bpe
from bpe.vocabulary.vocabulary import ALPHABETS

SPECIAL = "<|endoftext|>"
GPT2_PATTERN = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
N_PRINTABLE = 188  # bytes that stand for themselves in the alphabet of characters; the others follow 255
BYTE_OF = {
    chr(value if number < N_PRINTABLE else 256 + number - N_PRINTABLE): value
    for number, value in enumerate(ALPHABETS["gpt2"])
}


def documents(path):
    with open(path, encoding="utf-8", newline="") as file:
        return file.read().split(SPECIAL)


# Each returns the tokens that it learned, in order, as their bytes or as pairs of bytes.
def train_rustbpe(path, n_merges):
    import rustbpe

    trainer = rustbpe.Tokenizer()
    trainer.train_from_iterator(iter(documents(path)), 256 + n_merges, pattern=GPT2_PATTERN)
    return [bytes(token) for token, _ in trainer.get_mergeable_ranks()][256:]


def train_bpeasy(path, n_merges):
    import bpeasy

    vocabulary = bpeasy.train_bpe(iter(documents(path)), GPT2_PATTERN, 2**20, 256 + n_merges)
    return sorted(vocabulary, key=vocabulary.get)[256:]


def train_gigatoken(path, n_merges):
    import gigatoken

    source = gigatoken.TextFileSource([str(path)], separator=SPECIAL.encode())
    _, merges = gigatoken.train_bpe(source, 257 + n_merges, [SPECIAL], tie_breaking="raw_token_ids")
    return [(bytes(left), bytes(right)) for left, right in merges]


def train_tokenizers(path, n_merges, **options):
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=257 + n_merges,
        special_tokens=[SPECIAL],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
        **options,
    )
    tokenizer.train_from_iterator(documents(path), trainer)
    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    return [tuple(bytes(BYTE_OF[letter] for letter in token) for token in pair) for pair in merges]


# name: (how to call it, our options for the same)
OTHERS = {
    "rustbpe": (train_rustbpe, {}),
    "bpeasy": (train_bpeasy, {}),
    "gigatoken": (train_gigatoken, {}),
    "tokenizers": (train_tokenizers, {"like": "huggingface"}),
}


def first_difference(trainer, learned):
    """Return the rank of the first merge that differs, None where there is none.

    Merges learned after the last pair of all, when nothing is left to count, do not matter.
    """
    token_of = trainer.tokenizer().token_bytes
    for rank, merge in enumerate(trainer.merges):
        pair = token_of(merge.left), token_of(merge.right)
        if rank == len(learned) or learned[rank] not in (pair, pair[0] + pair[1]):
            return rank
    return None


def main(path, vocab_size):
    counts = bpe.WordCounts.from_corpus(path, special_tokens=[SPECIAL], progress=True)
    print(f"{path.name}: {path.stat().st_size / 1e6:.1f} MB, {len(counts)} distinct words")
    n_different = 0
    for name, (train, options) in OTHERS.items():
        if importlib.util.find_spec(name) is None:
            print(f"{name:12} is not installed")
            continue
        trainer = bpe.Trainer(counts, **options)
        trainer.run(vocab_size)
        start = time.perf_counter()
        learned = train(path, len(trainer.merges))
        seconds = time.perf_counter() - start
        rank = first_difference(trainer, learned)
        n_different += rank is not None
        verdict = "the same" if rank is None else f"other from merge {rank} on: {trainer.merges[rank]}"
        print(f"{name:12} {len(learned)} merges in {seconds:.1f} s: {verdict}", flush=True)
    return n_different


if __name__ == "__main__":
    sys.exit(bool(main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 32_000)))
