"""A page about a tokenizer and a text: one HTML file without other files.

:mod:`bpe.report.figures` computes the figures. :mod:`bpe.report.page` inserts the figures, the style and the
scripts into ``page.html``. The page contains the whole vocabulary: it can encode text that is typed in, and
draw the merges of a token.
"""

from bpe.report.page import page_of

__all__ = ["page_of"]
