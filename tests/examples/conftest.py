"""Put this folder, whose modules are the worked uses, where they are found."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
