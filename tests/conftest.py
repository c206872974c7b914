"""Hypothesis without deadlines: the first call of anything compiles it.

With ``HYPOTHESIS_PROFILE=mutation`` every run draws the same examples, and none is kept.

Compiled code encodes and trains here from the first byte on, and not plain Python, as most tests are about
it. ``test_first_texts.py`` and ``test_small_corpus.py`` are about the other way, and so are tests that run
commands.
"""

import os
import signal

import pytest
from hypothesis import settings

from bpe.plain_splitting import everything_compiled

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in the background of a script; children inherit it
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("default", deadline=None, print_blob=True)
settings.register_profile("mutation", deadline=None, print_blob=True, derandomize=True, database=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


@pytest.fixture(autouse=True, scope="module")
def compiled_from_the_start():
    with everything_compiled():
        yield
