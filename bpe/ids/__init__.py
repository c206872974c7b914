"""Work on ids as they are: more text after them, whether a text gives them, two tokenizers over one text.

>>> import bpe, bpe.ids
>>> tok = bpe.train(["low lower"], vocab_size=258, progress=False)
>>> bpe.ids.append(tok, tok.encode("low lo"), "wer")
(2, [257, 101, 114])

A *stretch* is a maximal run of ids that are not those of special tokens. It is encoded by itself::

    ids        12 7 900 3 900 41 8 8       900 is a special token
    stretches  12 7     3     41 8 8       added tokens are parts of stretches: every text can give them

* :func:`append`: the ids of a text that goes on, exactly as if all of it were encoded
* :func:`continue_ids`: the same for ids that stay as they are, such as those that a model has sampled
* :func:`reuse`: the ids of a new text that begins as an older one
* :func:`canonical_ids`, :func:`first_noncanonical`, :func:`first_noncanonical_batch`: whether a text
  gives ids
* :func:`canonical_state`, :func:`next_mask`: which ids may follow, so that some text still gives all
* :func:`covers`: the ids with which a text can begin, given how it begins
* :func:`matcher`: strings in the text of ids that come one by one
* :func:`align`, :func:`align_text`, :func:`shared_tokens`, :func:`map_to`: two tokenizers over one text
* :func:`fingerprint`, :func:`differences`: whether two tokenizers are equal, and where they differ
* :func:`chunks`: parts of a text with at most N tokens
"""

from bpe.ids.canonicity import canonical_ids, first_noncanonical, first_noncanonical_batch
from bpe.ids.chunking import Chunk, chunks
from bpe.ids.comparing import Differences, differences, fingerprint
from bpe.ids.continuing import append, continue_ids, reuse
from bpe.ids.covers import Covers, covers
from bpe.ids.matching import Matcher, matcher
from bpe.ids.next_tokens import CanonicalState, canonical_state, next_mask
from bpe.ids.pairing import align, align_text, map_to, shared_tokens

__all__ = [
    "CanonicalState",
    "Chunk",
    "Covers",
    "Differences",
    "Matcher",
    "align",
    "align_text",
    "append",
    "canonical_ids",
    "canonical_state",
    "chunks",
    "continue_ids",
    "covers",
    "differences",
    "fingerprint",
    "first_noncanonical",
    "first_noncanonical_batch",
    "map_to",
    "matcher",
    "next_mask",
    "reuse",
    "shared_tokens",
]
