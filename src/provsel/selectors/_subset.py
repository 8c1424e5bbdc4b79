"""The common part of the column subset selectors: the leading space of a view, and columns beyond its rank."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgWarning

from provsel.kernels.pivoted_qr import remaining_by_norm
from provsel.kernels.spectral import SpectralBasis, is_graded
from provsel.kernels.tails import (
    DeflatedTail,
    SpectralTail,
    Tail,
    column_squares,
    needs_truncation,
    truncated_basis,
)
from provsel.selectors._base import Selection, all_zeros
from provsel.training_view import TrainingView


def leading_basis(selector: Any, view: TrainingView, k: int) -> SpectralBasis:
    """Return the min(k, rank) leading right singular vectors of the view, or raise if X is zero.

    Part of the complete basis, except for sparse X whose complete V, shape (d, min(n,
    d)), would be too large.
    """
    if needs_truncation(view.X, k) and view.X.count_nonzero():
        basis: SpectralBasis = view.shared(
            f"leading basis {k}", lambda: truncated_basis(view.X, k).warned()
        )
    else:
        basis = view.basis(k)
    if basis.rank == 0:
        raise all_zeros(selector, view)
    return basis


def tail_of(view: TrainingView, leading: SpectralBasis) -> Tail:
    """Return the rows minus their projection on `leading`, a result of `leading_basis`."""
    if needs_truncation(view.X, leading.rank):
        return DeflatedTail(view.X, leading.V)
    return SpectralTail(view.basis(), leading.rank)


def completed(
    view: TrainingView, chosen: NDArray[np.int64], r: int, **attributes: Any
) -> Selection:
    """Return the unweighted selection of `chosen`, filled up to r with the largest other columns.

    `rank_` is the number of chosen columns unless given, and `n_completed_` the number
    of added ones.
    """
    missing = r - chosen.size
    if missing:
        rest = remaining_by_norm(np.sqrt(column_squares(view.X)), chosen)[:missing]
        chosen = np.concatenate([chosen, rest])
    return Selection.unweighted(
        chosen, **{"rank": r - missing, "n_completed": missing, **attributes}
    )


def warn_of_hidden_columns(
    selector: Any, view: TrainingView, n_pivots: int, r: int
) -> None:
    """Warn if pivots end early because of the scales of X: residuals of short columns are lost in rounding."""
    most = min(r, *view.X.shape)
    if n_pivots < most and is_graded(view.X):
        warnings.warn(
            f"{type(selector).__name__}: expected {most} independent columns, got {n_pivots}: rows or columns of X "
            f"differ in length by more than 1e9, so that the short ones are lost in rounding. `rank_` is "
            f"{n_pivots}, and no bound holds for a higher rank; scale rows and columns to similar lengths.",
            LinAlgWarning,
            stacklevel=2,
        )


def checked_target(selector: Any, r: int, most: int, default: int) -> int:
    """Return `selector.rank`, the rank to approximate, between 1 and `most`; `default` for None; or raise."""
    name, rank = type(selector).__name__, selector.rank
    if rank is None:
        return default
    if isinstance(rank, bool) or not isinstance(rank, int | np.integer) or rank < 1:
        raise ValueError(
            f"{name}: expected rank to be None or a positive integer, got {rank!r}."
        )
    if rank > most:
        raise ValueError(
            f"{name}: expected rank to be at most {most} for n_features_to_select = {r}, got {rank}; "
            f"lower rank, or select more features."
        )
    return int(rank)
