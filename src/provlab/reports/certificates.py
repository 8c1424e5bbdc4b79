"""Names of the measured certificates, and how often each held over all folds."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from provsel.certificates.selection import HELD, NOT_SEPARABLE, VACUOUS, VIOLATED

CERTIFICATES = {"spectral": "Lemmas 1-2", "margin": "Theorems 1-4", "soft": "equation 11", "radius": "Theorem 5"}
"""Certificates of paul2016 in a record, and where the paper promises what they check."""

CLUSTERING_CERTIFICATES = {
    "spectral": "Theorem 1",
    "scores": "Lemma 2",
    "cost": "Lemma 3",
    "partition": "Theorem 2",
}
"""Those of wang2018."""

COMPRESSION_CERTIFICATES = {"recovery": "Theorems 5, 7"}
"""Those of giesen2013."""

ALL_CERTIFICATES = tuple({**CERTIFICATES, **CLUSTERING_CERTIFICATES, **COMPRESSION_CERTIFICATES})

STATES = (HELD, VIOLATED, VACUOUS, NOT_SEPARABLE)


def count_states(trials: pd.DataFrame, names: Iterable[str] = tuple(CERTIFICATES)) -> dict[str, str]:
    """Return for each certificate how many trials are in each state: "held 12, vacuous 88"; "" without a bound."""
    counts = {}
    for name in names:
        found = trials[f"certificate_{name}"].value_counts()
        counts[name] = ", ".join(f"{state} {found[state]:,}" for state in STATES if found.get(state, 0))
    return counts
