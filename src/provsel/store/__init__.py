"""Trial records on disk."""

from provsel.store.schema import SCHEMA, TIMING, VERSION, VOLATILE
from provsel.store.snapshot import StoreSnapshot
from provsel.store.trial_store import TrialReader, TrialStore

__all__ = ["SCHEMA", "TIMING", "VERSION", "VOLATILE", "StoreSnapshot", "TrialReader", "TrialStore"]
