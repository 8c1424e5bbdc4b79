"""Identity of a trial by content, and the seeds that follow from it."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np


def canonical_json(value: Any) -> str:
    """Return the one JSON text of a value of primitives, lists and dicts: sorted keys, no white space."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def digest(value: Any) -> str:
    """Return the SHA-256 of the canonical JSON of `value`, in hex."""
    return digest_of(canonical_json(value))


def digest_of(text: str) -> str:
    """Return the SHA-256 of canonical JSON that is there, in hex."""
    return hashlib.sha256(text.encode()).hexdigest()


def seed_from(key: str) -> int:
    """Return a 32-bit seed from a hex digest, through SeedSequence."""
    return int(np.random.SeedSequence(int(key, 16)).generate_state(1)[0])
