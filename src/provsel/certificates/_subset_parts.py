"""What `SubsetApproximation` is measured of: spectrum, best approximation and error, shared by trials."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from provsel.kernels.spectral import SpectralBasis
from provsel.kernels.subset_bounds import Spectrum, SubsetPromise
from provsel.kernels.subset_errors import (
    ProjectionError,
    dense_basis,
    error_by_products,
    error_from_basis,
    is_elongated,
    spectrum_by_products,
)
from provsel.kernels.tails import DeflatedTail, SpectralTail, Tail, truncated_basis
from provsel.training_view import TrainingView


class BestApproximation(NamedTuple):
    """The k leading vectors, what they leave, and the square up to which an error is rounding."""

    basis: SpectralBasis
    tail: Tail
    zero: float


def _complete(view: TrainingView) -> SpectralBasis:
    """Return the complete basis, of dense X without a Gram matrix, which would lose half the digits."""
    if sparse.issparse(view.X) or not is_elongated(view.X):
        return view.basis()
    basis: SpectralBasis = view.shared("basis without a gram matrix", lambda: dense_basis(view.X))
    return basis


def _truncated(view: TrainingView, k: int) -> SpectralBasis:
    basis: SpectralBasis = view.shared(f"leading basis {k}", lambda: truncated_basis(view.X, k))
    return basis


def spectrum_of(view: TrainingView, m: int, truncated: bool) -> tuple[Spectrum, int]:
    """Return the spectrum, of large sparse X m + 1 values of it, and the rank as far as it is known."""
    if not truncated:
        basis = _complete(view)
        return Spectrum(basis.singular_values), basis.rank
    leading = _truncated(view, m + 1)
    return spectrum_by_products(view.X, leading), min(leading.rank, m)


def best_approximation(view: TrainingView, k: int, m: int | None) -> BestApproximation:
    """Return the best approximation of rank k, of large sparse X from m + 1 leading vectors."""
    eps = max(view.X.shape) * np.finfo(np.float64).eps
    if m is not None:
        leading = _truncated(view, m + 1).truncated(k)
        return BestApproximation(leading, DeflatedTail(view.X, leading.V), eps * float(leading.singular_values[0]) ** 2)
    basis = _complete(view)
    relative = eps if sparse.issparse(view.X) else eps**2
    return BestApproximation(
        basis.truncated(k), SpectralTail(basis, k), relative * float(basis.singular_values[0]) ** 2
    )


def error_of(view: TrainingView, columns: Any, truncated: bool) -> ProjectionError:
    """Return the error of the projection on some columns."""
    if truncated:
        return error_by_products(view.X, columns)
    return error_from_basis(_complete(view), columns)


def promise_of(selector: Any, spectrum: Spectrum, rank: int) -> SubsetPromise:
    """Return what the method promises, which may be nothing, with the rank that it is about."""
    if hasattr(selector, "subset_promise"):
        promise: SubsetPromise = selector.subset_promise(spectrum, rank)
        return promise
    return SubsetPromise(rank)


def spectrum_value(spectrum: Spectrum, k: int) -> float:
    """Return sigma_(k+1), 0 beyond the spectrum."""
    return float(spectrum.values[k]) if k < spectrum.values.size else 0.0
