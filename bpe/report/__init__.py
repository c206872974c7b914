"""A page about a tokenizer and a text: one HTML file that needs no other files.

:mod:`bpe.report.figures` measures. :mod:`bpe.report.page` puts the figures, the style and the scripts into
``page.html``. The page contains the whole vocabulary: it can encode a text that is typed in, and draw the
merges of a token.
"""

from bpe.report.page import page_of

__all__ = ["page_of"]
