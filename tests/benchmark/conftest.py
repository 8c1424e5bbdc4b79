"""The helper modules beside, and the reader of pages, can be imported."""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "report")]
