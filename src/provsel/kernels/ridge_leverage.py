"""Ridge leverage scores from the singular value decomposition."""

from __future__ import annotations

from provsel.kernels.spectral import Array, SpectralBasis


def ridge_leverage_scores(basis: SpectralBasis, ridge: float) -> Array:
    r"""Return a_i^T (A A^T + ridge I)^-1 a_i for each column a_i of A, shape (d,).

    With A = U S V^T this is sum_k V_ik^2 s_k^2 / (s_k^2 + ridge): sums of squares, without the cancellation of
    1 - ridge (G + ridge I)^-1_ii, G = A^T A, which is the same number. They sum to the effective dimension
    sum_k s_k^2 / (s_k^2 + ridge).

    Parameters
    ----------
    basis : SpectralBasis
        Of A, shape (n, d); rank at least 1.
    ridge : float
        Positive, in the units of A squared.
    """
    squares = basis.singular_values**2
    return (basis.V * basis.V) @ (squares / (squares + ridge))
