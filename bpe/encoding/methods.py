"""What a tokenizer can do: a mixin of :class:`bpe.Tokenizer` for each kind.

::

    base        what they share: rules for special tokens, texts to bytes, bytes to ids
    encode      a text, many texts                            batches: one call of the engine for many texts
    decode      ids to text                                   stream_decoder
    measure     offsets, count, truncate, intervals           intervals: token counts of any part of a text
    streams     text that comes in pieces, or grows
    dropout     merges left out at random
    files       a corpus to a file of ids                     output: files that outlive a kill
"""

from bpe.corpus.id_files import Files
from bpe.encoding.batches import Encoding
from bpe.encoding.decode_methods import Decoding
from bpe.encoding.dropout import Dropout
from bpe.encoding.offsets import Measuring
from bpe.encoding.streams import Streaming

__all__ = ["Decoding", "Dropout", "Encoding", "Files", "Measuring", "Streaming"]
