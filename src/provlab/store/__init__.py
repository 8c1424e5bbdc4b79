"""Trial records on disk."""

from provlab.store.schema import SCHEMA, TIMING, VERSION, VOLATILE
from provlab.store.snapshot import NUMBERS, StoreSnapshot
from provlab.store.trial_store import TrialReader, TrialStore

__all__ = ["NUMBERS", "SCHEMA", "TIMING", "VERSION", "VOLATILE", "StoreSnapshot", "TrialReader", "TrialStore"]
