"""Make the modules of this folder, the examples, importable."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

# Its test runs its examples: pytest would import a second copy of its types.
collect_ignore = ["disjoint_sets.py"]
