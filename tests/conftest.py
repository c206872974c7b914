"""Hypothesis without deadlines: the first call of anything compiles it.

With ``HYPOTHESIS_PROFILE=mutation`` every run draws the same examples, and none is kept.
"""

import os

from hypothesis import settings

settings.register_profile("default", deadline=None, print_blob=True)
settings.register_profile("mutation", deadline=None, print_blob=True, derandomize=True, database=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))
