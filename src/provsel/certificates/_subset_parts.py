"""Parts of `SubsetApproximation` that trials share: spectrum, best approximation and error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from provsel.kernels.graded import largest_size, rounding_levels, scaled
from provsel.kernels.relative_svd import relative_svd
from provsel.kernels.spectral import SpectralBasis, is_elongated, spectral_basis
from provsel.kernels.subset_bounds import Spectrum, SubsetPromise
from provsel.kernels.subset_errors import (
    ProjectionError,
    error_by_products,
    error_from_basis,
    error_of_graded_rows,
    spectrum_by_products,
)
from provsel.kernels.tails import (
    DeflatedTail,
    SpectralTail,
    Tail,
    needs_truncation,
    truncated_basis,
)
from provsel.training_view import TrainingView

RELIABLE = 1e-2
"""Relative error up to which a ratio is shown unchanged; beyond it, `relative_parts` are tried."""


class BestApproximation(NamedTuple):
    """The k leading vectors, the tail beyond them, and its accuracy.

    Attributes
    ----------
    basis : SpectralBasis
    tail : Tail
    zero : float
        Square below which an error is considered rounding.
    error : float
        Error of the square root of the tail, from rounding or from values that an
        undecided rank leaves out.
    is_decided : bool
    angle : float
        Sine of the angle by which rounding may turn the space of the k vectors; 1 if
        the next value is as large.
    """

    basis: SpectralBasis
    tail: Tail
    zero: float
    error: float
    is_decided: bool
    angle: float

    def relative_error(self, tail: float) -> float:
        """Return a bound on the relative error of a tail, a sum of squared singular values."""
        if tail == 0:  # nothing is beyond a certain rank
            return 0.0 if self.is_decided else np.inf
        share = self.error / np.sqrt(tail)
        return float(2 * share / (1 - share)) if share < 1 else np.inf


def _complete(view: TrainingView) -> SpectralBasis:
    """Return the complete basis; for dense X without a Gram matrix, which would lose half the digits."""
    if sparse.issparse(view.X) or not is_elongated(view.X):
        return view.basis()
    basis: SpectralBasis = view.shared(
        "basis without a gram matrix",
        lambda: spectral_basis(view.X, keeps_small=True).warned(),
    )
    return basis


def _truncated(view: TrainingView, k: int) -> SpectralBasis:
    basis: SpectralBasis = view.shared(
        f"leading basis {k}", lambda: truncated_basis(view.X, k)
    )
    return basis


def spectrum_of(view: TrainingView, m: int, truncated: bool) -> tuple[Spectrum, int]:
    """Return the spectrum, for large sparse X its first m + 1 values, and the rank as far as it is known."""
    if not truncated:
        basis = _complete(view)
        return Spectrum(basis.singular_values), basis.rank
    leading = _truncated(view, m + 1)
    return spectrum_by_products(view.X, leading), min(leading.rank, m)


class SubsetParts(NamedTuple):
    """The parts from which a certificate of a selection is measured.

    Attributes
    ----------
    spectrum : Spectrum
    rank : int
        Spectrum of X, as far as it is known.
    error : ProjectionError
        Errors of the projection on the selected columns.
    best : callable
        Returns the best approximation of rank k.
    is_truncated : bool
        Whether only leading vectors of large sparse X are known.
    """

    spectrum: Spectrum
    rank: int
    error: ProjectionError
    best: Callable[[int], BestApproximation]
    is_truncated: bool = False


def usual_parts(
    view: TrainingView, columns: NDArray[np.int64], k: int | None
) -> SubsetParts:
    """Return the parts for all selectors, with errors relative to the largest singular value; raise if X is zero."""
    m = columns.size if k is None else max(k, columns.size)
    truncated = needs_truncation(view.X, m + 1)
    spectrum, rank = spectrum_of(view, m, truncated)
    if rank == 0:
        raise ValueError(
            f"SubsetApproximation: expected rows with a non-zero value, got all zeros ({view.n_samples} rows, "
            f"{view.n_features} columns); a matrix of zeros needs no approximation."
        )
    error = (
        error_by_products(view.X, columns)
        if truncated
        else error_from_basis(_complete(view), columns)
    )
    leading = m if truncated else None
    return SubsetParts(
        spectrum,
        rank,
        error,
        lambda target: best_approximation(view, target, leading),
        truncated,
    )


def relative_parts(
    view: TrainingView, columns: NDArray[np.int64]
) -> SubsetParts | None:
    """Return parts with errors relative to each singular value; None if X is ill-conditioned beyond its scales.

    The selector used different vectors, so its bounds in terms of V are not judged: the
    angle is 1.
    """
    # for the longest range of squares
    exponent = -int(np.frexp(largest_size(view.X))[1])
    solution = view.shared(
        "relative svd", lambda: relative_svd(scaled(view.X, exponent))
    )
    if solution is None:
        return None
    error, amplification = error_of_graded_rows(
        solution.singular_values, solution.V, columns
    )
    # errors of the ratio's square root: of the tail, of the residual of rounded X, and
    # of its factorisation
    share = 4 * solution.error * (1 + amplification)
    if not share <= RELIABLE:
        return None
    basis = SpectralBasis(solution.V, solution.singular_values)
    spectrum = Spectrum(basis.singular_values)

    def best(k: int) -> BestApproximation:
        rounding = share * np.sqrt(spectrum.tail(k))
        zero = float(np.finfo(np.float64).tiny)
        return BestApproximation(
            basis.truncated(k), SpectralTail(basis, k), zero, rounding, True, 1.0
        )

    return SubsetParts(spectrum, basis.rank, error, best)


def best_approximation(view: TrainingView, k: int, m: int | None) -> BestApproximation:
    """Return the best approximation of rank k; for large sparse X from m + 1 leading vectors."""
    eps = max(view.X.shape) * np.finfo(np.float64).eps
    if m is not None:
        leading = _truncated(view, m + 1)
        top, error = (
            float(leading.singular_values[0]) ** 2,
            0.0 if leading.is_decided else np.inf,
        )
        V = leading.truncated(k)
        angle = _angle(leading.singular_values, k, eps * np.sqrt(top))
        return BestApproximation(
            V, DeflatedTail(view.X, V.V), eps * top, error, leading.is_decided, angle
        )
    basis = _complete(view)
    top = float(basis.singular_values[0]) ** 2
    share = rounding_levels(view.X.shape)[0] if basis.is_decided else basis.tolerance
    error = float(share * np.sqrt(top * min(view.X.shape)))
    angle = _angle(basis.singular_values, k, error)
    return BestApproximation(
        basis.truncated(k),
        SpectralTail(basis, k),
        eps**2 * top,
        error,
        basis.is_decided,
        angle,
    )


def _angle(values: NDArray[np.float64], k: int, error: float) -> float:
    gap = values[k - 1] - values[k] if k < values.size else values[k - 1]
    return float(min(error / gap, 1.0)) if gap > 0 else 1.0


def promise_of(selector: Any, spectrum: Spectrum, rank: int) -> SubsetPromise:
    """Return the method's bound, if it has one, with its rank."""
    if hasattr(selector, "subset_promise"):
        promise: SubsetPromise = selector.subset_promise(spectrum, rank)
        return promise
    return SubsetPromise(rank)


def spectrum_value(spectrum: Spectrum, k: int) -> float:
    """Return sigma_(k+1), 0 beyond the spectrum."""
    return float(spectrum.values[k]) if k < spectrum.values.size else 0.0
