"""Ridge regression with a fixed design: the effect of a selection on its objective, variance and bias."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from provsel.certificates.theorem import SLACK, UNDECIDED, VACUOUS, Theorem, settled
from provsel.certificates.trial import MeasuredTrial
from provsel.checks import check_positive
from provsel.labels import signs_of_two_classes


class RidgeRegressionCost(Theorem):
    r"""The ridge optimum on the selection is within [1 / max(1, b), 1 / min(1, a)] times that on all features.

    a and b are the extreme eigenvalues of V^T R R^T V, see `MeasuredTrial`; the
    objective is min_w ||X w - y||^2 + alpha ||w||^2, without intercept, and with X R
    instead of X.

    Proof. The objective is alpha y^T (K + alpha I)^{-1} y with K = X X^T. From X = U S
    V^T, the kernel of the selection K~ = U S (V^T R R^T V) S U^T lies between a K and b
    K. So K~ + alpha I lies between min(1, a) (K + alpha I) and max(1, b) (K + alpha I),
    and inversion reverses the order.

    Holds for every selection in terms of its measured a and b. Measured with numbers or
    labels of two classes, which become -1 and 1; vacuous if a = 0, as when fewer
    features are kept than the rank of X.

    Attributes
    ----------
    cost_ratio, cost_low, cost_high : float
        The objective on the selection over that on all features, and the theorem's
        range.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.certificates import certify
    >>> from provsel.selectors import BSSSelector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((20, 4)) @ rng.standard_normal((4, 600))
    >>> y = X[:, 0] + rng.standard_normal(20)
    >>> certify(BSSSelector(500).fit(X), X, y, ridge=1.0).ridge_cost.state
    'held'

    References
    ----------
    Paul, Drineas (2016), Feature selection for ridge regression with provable
    guarantees, Neural Computation 28.
    """

    name = "ridge_cost"
    source = "from the spectral error; the setting of Paul, Drineas (2016), Neural Computation 28"
    prefix = "certificate_"

    cost_ratio: float = np.nan
    cost_low: float = np.nan
    cost_high: float = np.nan

    @classmethod
    def measure(cls, trial: MeasuredTrial, alpha: float = 1.0) -> Self:
        """Return the ratio of both objectives at the penalty `alpha`, from matrices of rank x rank."""
        target = _target(trial)
        if target is None:
            return cls()
        fit = _RidgeFit.of(trial, alpha)
        full, reduced = fit.cost(target, fit.full), fit.cost(target, fit.reduced)
        ratio = reduced / full if full > 0 else 1.0
        low, high = (
            1 / max(1.0, fit.most),
            1 / min(1.0, fit.least) if fit.is_bounded else np.inf,
        )
        excess = max(low * (1 - SLACK) - ratio, ratio - high * (1 + SLACK))
        return cls(
            cost_ratio=ratio,
            cost_low=low,
            cost_high=high,
            state=fit.state(excess, high),
        )


class RidgeRegressionRisk(Theorem):
    r"""With a fixed design, the variance of ridge regression changes at most by a factor, and the bias is bounded.

    Let y = z + noise of variance sigma^2. The risk of predicting z is the sum of the
    bias alpha^2 ||(K + alpha I)^{-1} z||^2 / n and the variance sigma^2 tr(K^2 (K +
    alpha I)^{-2}) / n. With a and b as in `RidgeRegressionCost`, on the selection

    - the variance is within [min(1, a)^2, max(1, b)^2] of the variance on all features,
      whatever sigma is;
    - the bias is at most the least ridge objective at z on all features, divided by n
      min(1, a).

    Proof. By Ostrowski's theorem the eigenvalues of K~ are those of K, each times a
    factor t in [a, b]; and (t k / (t k + alpha))^2 over (k / (k + alpha))^2 lies
    between min(1, t)^2 and max(1, t)^2. For the bias, alpha (K~ + alpha I)^{-1} is at
    most I, so its square is at most itself, which `RidgeRegressionCost` bounds.

    The bias on all features gives no bound: squares of ordered matrices are not
    ordered, and the ratio of the two biases has no bound that depends on a and b alone.
    A test gives an example.

    Attributes
    ----------
    variance_ratio, variance_low, variance_high : float
        The variance on the selection over that on all features, and the theorem's
        range.
    bias, bias_bound : float
        Bias on the selection and its bound, with y instead of z, in units of y^2; NaN
        without y.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.certificates import certify
    >>> from provsel.selectors import BSSSelector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((20, 4)) @ rng.standard_normal((4, 600))
    >>> certify(BSSSelector(500).fit(X), X, X[:, 0], ridge=1.0).ridge_risk.state
    'held'

    References
    ----------
    Paul, Drineas (2016), Feature selection for ridge regression with provable
    guarantees, Neural Computation 28; Bach (2013), Sharp analysis of low-rank kernel
    matrix approximations, COLT, for the decomposition of the risk.
    """

    name = "ridge_risk"
    source = "from the spectral error; the setting of Paul, Drineas (2016), Neural Computation 28"
    prefix = "certificate_"

    variance_ratio: float = np.nan
    variance_low: float = np.nan
    variance_high: float = np.nan
    bias: float = np.nan
    bias_bound: float = np.nan

    @classmethod
    def measure(cls, trial: MeasuredTrial, alpha: float = 1.0) -> Self:
        """Return both parts of the risk at the penalty `alpha`, from matrices of rank x rank."""
        fit = _RidgeFit.of(trial, alpha)
        ratio = fit.variance(fit.reduced) / fit.variance(fit.full)
        least, most = min(1.0, max(fit.least, 0.0)), max(1.0, fit.most)
        low, high = least**2, most**2
        excess = max(low * (1 - SLACK) - ratio, ratio / high - (1 + SLACK))
        bias = bound = np.nan
        target = _target(trial)
        if target is not None and fit.is_bounded:
            bias, bound = (
                fit.bias(target, fit.reduced),
                fit.cost(target, fit.full) / (target.n_samples * least),
            )
            # both are numbers in units of y^2, and 0 where y is 0
            excess = max(
                excess, (bias - bound * (1 + SLACK)) / bound if bound > 0 else 0.0
            )
        state = fit.state(excess, 1 / least if fit.is_bounded else np.inf)
        return cls(
            variance_ratio=ratio,
            variance_low=low,
            variance_high=high,
            bias=bias,
            bias_bound=bound,
            state=state,
        )


@dataclass(frozen=True)
class _Target:
    """U^T y, shape (rank,), the squared length of the part of y orthogonal to X's columns, and the number of rows."""

    along: NDArray[np.float64]
    rest: float
    n_samples: int


@dataclass(frozen=True)
class _RidgeFit:
    """Kernels of all features and of the selection in the coordinates of U, both of shape (rank, rank).

    Attributes
    ----------
    least, most : float
        Extreme eigenvalues of V^T R R^T V.
    error : float
        Error bound of the eigenvalues; infinite if the numerical rank is undecided and
        not negligible relative to alpha.
    """

    alpha: float
    full: NDArray[np.float64]
    reduced: NDArray[np.float64]
    least: float
    most: float
    error: float

    @classmethod
    def of(cls, trial: MeasuredTrial, alpha: float) -> _RidgeFit:
        """Return both kernels of a trial; raise unless the penalty is positive and finite."""
        check_positive("ridge certificate", alpha=alpha)
        basis, eigenvalues = trial.rows.basis(), trial.eigenvalues
        sigma, weights = basis.singular_values, trial.reducer.weights_
        kept = basis.V[trial.reducer.indices_] * weights[:, None] * sigma
        # directions that count as zero change either kernel by less than this, relative
        # to alpha
        without = (
            basis.tolerance * sigma[0] * float(np.max(weights, initial=1.0))
        ) ** 2 / alpha
        error = (
            trial.eigenvalue_error
            if basis.is_decided
            else (np.inf if without > SLACK else 0.0)
        )
        return cls(
            float(alpha),
            np.diag(sigma**2),
            kept.T @ kept,
            float(eigenvalues[0]),
            float(eigenvalues[-1]),
            error,
        )

    @property
    def is_bounded(self) -> bool:
        """Whether the selection keeps a share of every direction of X."""
        return self.least > SLACK

    def state(self, excess: float, steepness: float) -> str:
        """Return the state of bounds whose derivative in the eigenvalues is at most `steepness` squared."""
        if not self.is_bounded:
            return UNDECIDED if np.isinf(self.error) else VACUOUS
        return settled(excess, 2 * self.error * max(1.0, self.most, steepness) ** 2)

    def cost(self, target: _Target, kernel: NDArray[np.float64]) -> float:
        """Return alpha y^T (K + alpha I)^{-1} y."""
        return (
            self.alpha * float(target.along @ self._solve(kernel, target.along))
            + target.rest
        )

    def bias(self, target: _Target, kernel: NDArray[np.float64]) -> float:
        """Return alpha^2 ||(K + alpha I)^{-1} y||^2 / n."""
        return (
            self.alpha**2 * float(np.sum(self._solve(kernel, target.along) ** 2))
            + target.rest
        ) / target.n_samples

    def variance(self, kernel: NDArray[np.float64]) -> float:
        """Return tr(K^2 (K + alpha I)^{-2}), the variance in units of sigma^2 / n."""
        eigenvalues = np.maximum(np.linalg.eigvalsh(kernel), 0.0)
        return float(np.sum((eigenvalues / (eigenvalues + self.alpha)) ** 2))

    def _solve(
        self, kernel: NDArray[np.float64], right: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        return np.asarray(
            np.linalg.solve(kernel + self.alpha * np.eye(right.size), right),
            dtype=np.float64,
        )


def _target(trial: MeasuredTrial) -> _Target | None:
    """Return y in the coordinates of U; None without y, and for labels that are neither numbers nor two classes."""
    y = trial.rows.y
    if y is None:
        return None
    y = np.asarray(y)
    if np.unique(y).size == 2:
        y = signs_of_two_classes("certify", y)[1]
    elif y.dtype.kind not in "fiu":
        return None
    y, basis = y.astype(np.float64), trial.rows.basis()
    X = trial.rows.X
    along = basis.V.T @ np.asarray(X.T @ y).ravel() / basis.singular_values
    # a difference of squared lengths would lose parts that are small beside y
    rest = y - np.asarray(X @ (basis.V @ (along / basis.singular_values))).ravel()
    return _Target(along, float(rest @ rest), y.size)
