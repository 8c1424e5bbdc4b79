"""Guarantees for a column subset: bounds on ||X - C C^+ X|| relative to the best rank-k approximation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from provsel.values import ValuesWithNaN

if TYPE_CHECKING:  # a guarantee can be read without any computation
    from provsel.kernels.spectral import Array
    from provsel.kernels.tails import Tail


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Singular values of X, all or the largest.

    Attributes
    ----------
    values : ndarray of shape (m,)
        In decreasing order.
    rest : float
        Sum of the squares of the singular values that are not in `values`.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.certificates import Spectrum
    >>> int(Spectrum(np.array([3.0, 2.0, 1.0])).tail(1))
    5
    """

    values: Array
    rest: float = 0.0

    def tail(self, k: int) -> float:
        """Return ||X - X_k||_F^2."""
        return float((self.values[k:] ** 2).sum() + self.rest)


@dataclass(frozen=True, eq=False)
class SubsetPromise(ValuesWithNaN):
    """The guarantee of a method for its columns C, relative to the best approximation X_k of rank k.

    Your own selector returns one from `subset_promise(spectrum, rank)`, and
    `certify_subset` checks it.

    Attributes
    ----------
    rank : int
        k.
    frobenius : float
        Bound on ||X - C C^+ X||_F^2 / ||X - X_k||_F^2; NaN without a guarantee, also
        below.
    spectral : float
        The same in the spectral norm.
    oblique, basis : float
        Bounds on the two bounds that Fact 1 derives from V_S, see
        `certificates.certify_subset`.
    expectation : bool
        Whether the bounds hold only in expectation, so that a single selection can
        neither meet nor violate them.
    source : str

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.certificates import Spectrum, SubsetPromise
    >>> promise = SubsetPromise(2, frobenius=3.0, source="by construction")
    >>> promise.against(1, Spectrum(np.array([3.0, 2.0, 1.0, 1.0]))).frobenius  # times 2 / 6, the tails
    1.0
    """

    rank: int
    frobenius: float = np.nan
    spectral: float = np.nan
    oblique: float = np.nan
    basis: float = np.nan
    expectation: bool = False
    source: str = ""

    def against(self, k: int, spectrum: Spectrum) -> SubsetPromise:
        """Return this guarantee relative to X_k, k <= rank, where the ratios shrink because the tails are larger.

        Relative to a better approximation, k > rank, there is no guarantee. Statements
        on V_S hold only for the V of this rank.
        """
        if k == self.rank:
            return self
        if k > self.rank:
            return replace(
                self,
                rank=k,
                frobenius=np.nan,
                spectral=np.nan,
                oblique=np.nan,
                basis=np.nan,
            )
        own, wider = spectrum.tail(self.rank), spectrum.tail(k)
        tops = [
            float(spectrum.values[i]) ** 2 if i < spectrum.values.size else 0.0
            for i in (self.rank, k)
        ]
        return replace(
            self,
            rank=k,
            frobenius=self.frobenius * own / wider if wider > 0 else self.frobenius,
            spectral=self.spectral * tops[0] / tops[1]
            if tops[1] > 0
            else self.spectral,
            oblique=np.nan,
            basis=np.nan,
        )


def oblique_bound(
    V_S: Array, tail: Tail, columns: NDArray[np.int64], weights: Array | None = None
) -> float:
    r"""Return 1 + ||E_S D ((D V_S)^+)^T||_F^2 / ||E||_F^2, which ||X - C C^+ X||_F^2 / ||E||_F^2 cannot exceed.

    X - C D ((D V_S)^+)^T V^T = E (I - Pi), with an oblique projector Pi whose range is
    determined by D V_S. The product subtracted on the left has columns in the span of
    C, so the best such approximation is no worse.

    Parameters
    ----------
    V_S : ndarray of shape (r, k)
        Rows of V, a matrix with orthonormal columns, that belong to `columns`.
    tail : Tail
        E = X - X V V^T.
    columns : ndarray of shape (r,), int64
    weights : ndarray of shape (r,), optional
        The diagonal of D; ones by default.

    Returns
    -------
    float
        inf if V_S does not have full rank, 1 if E is zero.
    """
    D = np.ones(columns.size) if weights is None else weights
    total = float(tail.squares.sum())
    U, sigma, _ = np.linalg.svd(V_S * D[:, None], full_matrices=False)
    if (
        V_S.shape[0] < V_S.shape[1]
        or sigma[-1] <= max(V_S.shape) * np.finfo(np.float64).eps * sigma[0]
    ):
        return np.inf
    if total == 0:
        return 1.0
    E_S = np.column_stack([tail.column(int(j)) for j in columns]) * D
    return 1.0 + float(np.linalg.norm((E_S @ U) / sigma) ** 2) / total


def random_pivots_expectation(spectrum: Spectrum, r: int, k: int) -> float:
    r"""Return a bound on E ||X - C C^+ X||_F^2 / ||X - X_k||_F^2 for r pivots drawn by their squared residuals, k <= r.

    The mean of the residual's Gram matrix A after a draw is A - A^2 / tr A, which is monotone and concave: so the
    trace after r draws is at most that of lambda <- lambda - lambda^2 / sum(lambda), from the squared singular values
    on. Also, a draw at most doubles the tail of one rank less, so 2^k is a bound for r >= k. The smaller bound is
    returned. If only the largest values are known, the rest counts as very many small ones, the worst case.

    References
    ----------
    The recursion and 2^k are provsel's own; Chen, Epperly, Tropp, Webber (2025), arXiv
    2207.06503, for its closed form.
    """
    tail = spectrum.tail(k)
    if tail <= 0:
        return 1.0
    largest = float(spectrum.values[0]) ** 2
    squares, rest = spectrum.values**2 / largest, spectrum.rest / largest
    for _ in range(r):
        squares = np.maximum(squares - squares**2 / (squares.sum() + rest), 0.0)
    return float(min((squares.sum() + rest) * largest / tail, 2.0 ** min(k, 1000)))
