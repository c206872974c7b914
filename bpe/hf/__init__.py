"""For programs that take a tokenizer of Hugging Face's ``transformers``.

>>> import bpe, bpe.hf
>>> tok = bpe.train(["low lower"], 259, special_tokens=["<|end|>"], progress=False)
>>> bpe.hf.HuggingFaceTokenizer(tok, eos_token="<|end|>")("low<|end|>")["input_ids"]
[257, 258]

* :func:`wrap`: a tokenizer of transformers that encodes and decodes with this package
* :class:`HuggingFaceTokenizer`: the methods that most programs call, without transformers
"""

from bpe.hf.adapter import HuggingFaceTokenizer
from bpe.hf.wrapping import wrap

__all__ = ["HuggingFaceTokenizer", "wrap"]
