"""The common part of the BSS selectors: checks, the budget, and the selection from a spectral basis."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from provsel.kernels.bss import GAINS, NO_CANDIDATE, SHIFTS, bss
from provsel.kernels.bss_columns import OrderedColumns
from provsel.selectors._base import Selection, check_budget

WEIGHTS = ("sqrt_t", "as_printed")


def bss_budget(rank: int, eps: float) -> int:
    """Return r with 3 sqrt(rank / r) <= eps / 2: Lemma 2 then implies the condition in the proof of Theorem 1."""
    check_budget(rank, eps)
    return math.ceil(36 * rank / eps**2)


def check_forms(name: str, weights: str, gain: str) -> None:
    """Raise unless `weights` is one of `WEIGHTS` and `gain` one of `GAINS`."""
    if weights not in WEIGHTS:
        raise ValueError(
            f"{name}: expected weights to be one of {WEIGHTS}, got {weights!r}."
        )
    if gain not in GAINS:
        raise ValueError(f"{name}: expected gain to be one of {GAINS}, got {gain!r}.")


def check_exceeds_rank(name: str, r: int, rank: int, owner: str, hint: str) -> None:
    """Raise unless BSS can take r steps on a basis of that rank."""
    if r <= rank:
        raise ValueError(
            f"{name}: expected n_features_to_select to be greater than the rank of {owner}, rank = {rank}, got {r}; "
            f"{hint}."
        )


def bss_selection(
    columns: OrderedColumns,
    r: int,
    weights: str,
    gain: str,
    rank_tolerance: float,
    *,
    shifts: str = SHIFTS[0],
    no_candidate: str = NO_CANDIDATE[0],
) -> Selection:
    """Return the picks of r > rank steps of BSS; the gains of a column that is picked repeatedly are added.

    Bounds by Lemmas 1 and 2 are attached only to the algorithm for which they are
    proved.
    """
    rank = columns.V.shape[1]
    ratio = math.sqrt(rank / r)
    # with the other gain a barrier may be at an eigenvalue
    with np.errstate(divide="ignore", invalid="ignore"):
        picks, gains, n_infeasible = bss(
            columns, r, gain=gain, shifts=shifts, no_candidate=no_candidate
        )
    indices, first, place = np.unique(picks, return_index=True, return_inverse=True)
    order = np.argsort(first)
    total = np.bincount(place, weights=gains)[order]
    scale = np.sqrt((1 - np.sqrt(rank / r)) / r)
    attributes: dict[str, Any] = {
        "n_repeats": picks.size - indices.size,
        "n_infeasible": n_infeasible,
        "rank": rank,
    }
    attributes["rank_tolerance"] = rank_tolerance
    if (gain, shifts, no_candidate) == (GAINS[0], SHIFTS[0], NO_CANDIDATE[0]):
        attributes |= {
            "eigenvalue_range": ((1 - ratio) ** 2, (1 + ratio) ** 2),
            "spectral_bound": 3 * ratio,
        }
    return Selection(
        indices[order],
        np.sqrt(total if weights == "sqrt_t" else 1.0 / total) * scale,
        attributes,
    )
