"""A run against a stored one, by ratios: seconds of different days do not compare."""

from dataclasses import dataclass

WORSE = 1.2
"""From this factor on, a ratio is flagged."""


@dataclass(frozen=True)
class Change:
    """How a case compares with the same case of a stored run.

    Attributes
    ----------
    factor : float or None
        How many times as much we need now in terms of the peer, or of the limit, whichever got worse by more; None
        where there is nothing to compare.
    flag : str
        "", "new", "worse (within the spread)", "worse (single run)" or "WORSE".
    """

    factor: float | None
    flag: str = ""


def key(found):
    """Return what identifies a case."""
    return found["benchmark"], found["case"]


def compare(cases, stored):
    """Return the `Change` of each case, by key, and the keys of stored cases that are missing now."""
    before = {key(found): found for found in stored}
    changes = {key(found): change(found, before.get(key(found))) for found in cases}
    return changes, [name for name in before if name not in changes]


def change(now, before):
    """Return the `Change` of a case; before is None where no stored run has it."""
    if before is None:
        return Change(None, "new")
    found = [  # (factor, spreads of ours in terms of the other; higher is worse)
        (factor, now.get(spread), before.get(spread))
        for factor, spread in (
            (quotient(before.get("ratio"), now.get("ratio")), "ratio_spread"),
            (quotient(now.get("ratio_to_limit"), before.get("ratio_to_limit")), "limit_spread"),
        )
        if factor is not None
    ]
    if not found:
        return Change(None)
    factor, spread, spread_before = max(found, key=lambda entry: entry[0])
    if factor <= WORSE:
        return Change(factor)
    if spread is None or spread_before is None:
        return Change(factor, "worse (single run)")
    overlap = spread[0] <= spread_before[1] and spread_before[0] <= spread[1]
    return Change(factor, "worse (within the spread)" if overlap else "WORSE")


def quotient(above, below):
    """Return above / below, or None."""
    return above / below if above and below else None


def is_flagged(found):
    """Tell whether a change is one to look at."""
    return found.flag.lower().startswith("worse")


def is_certain(found):
    """Tell whether a change for the worse is beyond what repeats of the same run differ by."""
    return is_flagged(found) and "spread" not in found.flag
