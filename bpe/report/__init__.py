"""A page about a tokenizer and what it does to a text: one HTML file that needs nothing else.

:mod:`bpe.report.figures` measures, :mod:`bpe.report.page` puts the figures, the style and the scripts into
``page.html``. The page holds the vocabulary itself, so that it can encode what one types, and draw how a
token was merged.
"""

from bpe.report.page import page_of

__all__ = ["page_of"]
