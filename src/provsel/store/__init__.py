"""Trial records on disk."""

from provsel.store.schema import SCHEMA, TIMING, VERSION, VOLATILE
from provsel.store.trial_store import TrialStore

__all__ = ["SCHEMA", "TIMING", "VERSION", "VOLATILE", "TrialStore"]
