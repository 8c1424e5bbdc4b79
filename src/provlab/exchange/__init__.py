"""Records that others can read, and those of others: exports as CSV with metadata, and the merging of stores."""

from provlab.exchange.exporting import FORMATS, export
from provlab.exchange.merging import Merge, read_source_trials

__all__ = ["FORMATS", "Merge", "export", "read_source_trials"]
