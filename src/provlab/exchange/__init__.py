"""Stores of several people as one."""

from provlab.exchange.merging import Merge, read_source_trials

__all__ = ["Merge", "read_source_trials"]
