"""Names of the measured certificates, and how often each held over all folds."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from provsel.certificates import HELD, NOT_SEPARABLE, THEOREMS, UNDECIDED, VACUOUS, VIOLATED

ALL_CERTIFICATES = tuple(dict.fromkeys(theorem.name for theorem in THEOREMS))
"""What a record says a state of."""

STATES = (HELD, VIOLATED, VACUOUS, UNDECIDED, NOT_SEPARABLE)


def count_states(trials: pd.DataFrame, names: Iterable[str]) -> dict[str, str]:
    """Return for each certificate how many trials are in each state: "held 12, vacuous 88"; "" without a bound."""
    counts = {}
    for name in names:
        found = trials[f"certificate_{name}"].value_counts()
        counts[name] = ", ".join(f"{state} {found[state]:,}" for state in STATES if found.get(state, 0))
    return counts
