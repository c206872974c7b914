"""Hypothesis without deadlines: the first call of anything compiles it.

With ``HYPOTHESIS_PROFILE=mutation`` every run draws the same examples, and none is kept.

Compiled code encodes and trains here from the first byte on, and not plain Python, as most tests are about
it. ``test_first_texts.py`` and ``test_small_corpus.py`` are about the other way, and so are tests that run
commands.
"""

import os

import pytest
from hypothesis import settings

from bpe.encoding import first_texts
from bpe.training import small_corpus

settings.register_profile("default", deadline=None, print_blob=True)
settings.register_profile("mutation", deadline=None, print_blob=True, derandomize=True, database=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


@pytest.fixture(autouse=True, scope="module")
def compiled_from_the_start():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(first_texts, "MOST_WORK", 0)
        patch.setattr(small_corpus, "MOST_BYTES", 0)
        yield
