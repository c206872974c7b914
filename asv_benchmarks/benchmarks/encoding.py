"""Encoding and decoding with a tokenizer that was trained on the text."""

import json
import pickle
import tempfile
from pathlib import Path

import bpe
import bpe.ids
from bpe import reference

from ._common import CORPORA, SMALL, text_of, vocab_size_of

N_CHECKED = 500  # characters compared with the reference
N_CALLS = 10 if SMALL else 1000


class _Trained:
    """Tokenizers, made once for all benchmarks here."""

    version = "1"
    params = CORPORA
    param_names = ("corpus",)
    number = 1
    repeat = (3, 10, 5.0)
    warmup_time = 0
    timeout = 600

    def setup_cache(self):
        """Train; compare with the reference, and with the text."""
        tokenizers = {}
        for corpus in CORPORA:
            text = text_of(corpus)
            tokenizer = bpe.train([text], vocab_size=vocab_size_of(corpus))
            if tokenizer.decode(tokenizer.encode_ordinary(text)) != text:
                raise AssertionError(f"{corpus}: the text does not come back")
            ranks = reference.rank_pairs(tokenizer.merges)
            pieces = tokenizer.pattern.split_bytes(text[:N_CHECKED].encode())
            expected = [token for piece in pieces for token in reference.encode_by_rank(piece, ranks)]
            if tokenizer.encode_ordinary(text[:N_CHECKED]) != expected:
                raise AssertionError(f"{corpus}: not what the reference encodes")
            tokenizers[corpus] = tokenizer
        return tokenizers

    setup_cache.timeout = 600


class Encoding(_Trained):
    """A whole text at a time.

    ``cold``: by a tokenizer that has not encoded anything yet, though the compiled code is loaded;
    ``warm``: by one that has met every piece before;
    ``unseen``: the second half, by one that has met the first.
    """

    def setup(self, tokenizers, corpus):
        self.text = text_of(corpus)
        self.warm = tokenizers[corpus]
        self.ids, self.id_list = self.warm.encode_to_numpy(self.text), self.warm.encode(self.text)
        self.warm.decode(self.ids)
        self.warm.decode(self.id_list)
        self.cold, self.half = (pickle.loads(pickle.dumps(self.warm)) for _ in range(2))
        self.half.encode_to_numpy(self.text[: len(self.text) // 2])

    def time_cold(self, tokenizers, corpus):
        self.cold.encode_to_numpy(self.text)

    def time_unseen(self, tokenizers, corpus):
        self.half.encode_to_numpy(self.text[len(self.text) // 2 :])

    def time_warm(self, tokenizers, corpus):
        self.warm.encode_to_numpy(self.text)

    def time_warm_to_list(self, tokenizers, corpus):
        self.warm.encode(self.text)

    def time_decode(self, tokenizers, corpus):
        self.warm.decode(self.ids)

    def time_decode_list(self, tokenizers, corpus):
        self.warm.decode(self.id_list)

    def track_tokens_per_byte(self, tokenizers, corpus):
        return len(self.ids) / len(self.text.encode())

    track_tokens_per_byte.unit = "tokens/byte"


class Short(_Trained):
    """Texts of some words: a thousand calls, as the first one after the setup is not what the others are."""

    def setup(self, tokenizers, corpus):
        self.tokenizer, self.text = tokenizers[corpus], text_of(corpus)[1000:1030]
        self.ids = self.tokenizer.encode(self.text)
        self.tokenizer.encode_to_numpy(self.text)  # these two load compiled code
        self.tokenizer.decode(self.ids)

    def time_thousand_encode(self, tokenizers, corpus):
        for _ in range(N_CALLS):
            self.tokenizer.encode(self.text)

    def time_thousand_encode_to_numpy(self, tokenizers, corpus):
        for _ in range(N_CALLS):
            self.tokenizer.encode_to_numpy(self.text)

    def time_thousand_decode(self, tokenizers, corpus):
        for _ in range(N_CALLS):
            self.tokenizer.decode(self.ids)


class Batch(_Trained):
    """Many documents in one call, on one thread and on all; every piece has been met before."""

    params = (CORPORA, ("one", "all"))
    param_names = ("corpus", "threads")

    def setup(self, tokenizers, corpus, threads):
        text = text_of(corpus)
        self.documents = [text[start : start + 1000] for start in range(0, len(text), 1000)]
        self.tokenizer, self.threads = tokenizers[corpus], 1 if threads == "one" else None
        self.ids = self.tokenizer.encode_batch(self.documents, threads=self.threads)
        if self.tokenizer.decode_batch(self.ids) != self.documents:
            raise AssertionError(f"{corpus}: the documents do not come back")
        self.tokenizer.encode_batch_to_numpy(self.documents, threads=self.threads)

    def time_encode(self, tokenizers, corpus, threads):
        self.tokenizer.encode_batch(self.documents, threads=self.threads)

    def time_encode_to_numpy(self, tokenizers, corpus, threads):
        self.tokenizer.encode_batch_to_numpy(self.documents, threads=self.threads)

    def time_decode(self, tokenizers, corpus, threads):
        self.tokenizer.decode_batch(self.ids)


class Parts(_Trained):
    """Places of tokens, and texts cut to a number of tokens, without and with steps of a tokenizer.json."""

    params = (CORPORA, ("none", "Metaspace"))
    param_names = ("corpus", "steps")

    def setup(self, tokenizers, corpus, steps):
        self.tokenizer, self.text = tokenizers[corpus], text_of(corpus)
        if steps != "none":
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder, "tokenizer.json")
                self.tokenizer.save_huggingface(file)
                document = json.loads(file.read_text())
                document["normalizer"] = {"type": "NFC"}
                metaspace = {
                    "type": "Metaspace",
                    "replacement": "_",
                    "prepend_scheme": "never",
                    "split": True,
                }
                byte_level = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False}
                document["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [metaspace, byte_level]}
                file.write_text(json.dumps(document))
                self.tokenizer = bpe.Tokenizer.load(file)
        ids, _, ends = self.tokenizer.encode_with_offsets(self.text)
        if ids.tolist() != self.tokenizer.encode(self.text) or ends[-1] != len(self.text):
            raise AssertionError(f"{corpus}: the tokens are not those of the text")
        self.tokenizer.truncate(self.text, 512)

    def time_offsets(self, tokenizers, corpus, steps):
        self.tokenizer.encode_with_offsets(self.text)

    def time_truncate(self, tokenizers, corpus, steps):
        self.tokenizer.truncate(self.text, 512)

    def time_chunks(self, tokenizers, corpus, steps):
        bpe.ids.chunks(self.tokenizer, self.text[:100_000], 512)


class LongPiece:
    """The beginning of a text without spaces, which a pattern leaves whole."""

    version = "1"
    number = 1
    repeat = (3, 10, 5.0)

    def setup(self):
        tokens = {value: bytes([value]) for value in range(256)} | {256: "\u65e5".encode()}
        merges = [(b"\xe6", b"\x97"), (b"\xe6\x97", b"\xa5")]
        tokens[257] = b"\xe6\x97"
        self.tokenizer = bpe.Tokenizer(token_bytes=tokens, merges=merges, pattern="cl100k")
        self.text = "\u65e5" * (2_000 if SMALL else 200_000)
        if self.tokenizer.truncate(self.text, 512) != self.text[:512]:
            raise AssertionError("not the beginning")

    def time_truncate(self):
        self.tokenizer.truncate(self.text, 512)

    def time_chunks(self):
        bpe.ids.chunks(self.tokenizer, self.text, 512)
