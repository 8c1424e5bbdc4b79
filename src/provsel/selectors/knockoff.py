"""Model-X knockoffs: features whose lasso coefficients exceed those of copies made without the target."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from provsel.checks import check_positive
from provsel.kernels.gaussian_knockoffs import (
    equicorrelated_gap,
    gaussian_knockoffs,
    knockoff_threshold,
    shrunk_correlation,
)
from provsel.kernels.standardised import indicator_targets
from provsel.selectors._columns import standardised
from provsel.selectors._ranked import RankedRows, RankedSelector, Ranking

MOST_COLUMNS = 2_000
"""Largest number of columns, for which the eigenvalues of the correlations take 30 seconds."""

PENALTIES = np.geomspace(0.9, 0.02, 25)
"""Penalties in units of the smallest one that drops all features."""

FOLDS = 5

SMALLEST_GAP = 1e-8
"""Distance of a correlation from one within which a column and its knockoff are not distinguishable."""


class KnockoffSelector(RankedSelector):
    r"""Keep the features whose lasso coefficients exceed those of knockoffs, with control of the false discovery rate.

    Use it to limit the expected share of false features, if X is close to Gaussian. It
    chooses how many features to keep.

    A knockoff of a column has the same mean and the same covariances with the other
    columns, but is made without y. With C the correlations of the columns, it is drawn
    from the Gaussian law under which [z, z~] has the covariance [[C, C - s I], [C - s
    I, C]], s = min(2 lambda_min(C), 1): second-order, equicorrelated knockoffs. The
    lasso is fitted to columns and knockoffs together, with the penalty of the least
    cross-validated error, and

        W_j = |b_j| - |b~_j|.

    The features with W_j >= t are kept, where t is the least value with (1 + #{W <=
    -t}) / #{W >= t} <= `fdr`: knockoff+.

    By the theorem, the expected share of kept features on which y does not depend,
    given the others, is at most `fdr`. It requires the distribution of X, and is exact
    if that is Gaussian with covariance C. Here C is estimated from X, and the rows
    cannot show whether X is Gaussian. Therefore there is no certificate.

    Classes are regressed as 0 and 1, with more than two each against the rest, and |b|
    is summed over these. Any statistic that changes sign when a column and its knockoff
    are exchanged is valid; this one is fast.

    Parameters
    ----------
    n_features_to_select : int or float, default=None
        None keeps the features that the filter keeps at the level `fdr`. A number keeps
        the features with the largest W, without a level.
    fdr : float, default=0.1
        Level, below 1. Either no feature or at least 1 / fdr features are kept.
    task : {"auto", "classification", "regression"}, default="auto"
        Kind of the target. "auto" means regression for numbers that are not all
        integers, and classification for integers and strings, as in scikit-learn's
        `type_of_target`. It raises an error for integers with very many distinct
        values.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the knockoffs and of the folds.

    Attributes
    ----------
    indices_ : ndarray of shape (n_selected,), int64
        In order of decreasing W.
    weights_ : ndarray of shape (n_selected,)
        Ones.
    scores_ : ndarray of shape (n_features,)
        W; 0 for constant columns.
    ranking_ : ndarray of shape (n_features,), int64
        1 for the best feature, 2 for the next.
    threshold_ : float
        t; infinite if no t reaches the level.
    gap_ : float
        s. The smaller it is, the less a column differs from its knockoff, and the fewer
        features are found.
    n_features_in_ : int

    Raises
    ------
    ValueError
        From `fit`, if there are more than 2,000 columns or fewer than ten rows, no
        column varies, a correlation is 1 (as for equal columns), the target does not
        suit the task, or a parameter is out of range.

    Warns
    -----
    UserWarning
        If the filter keeps nothing; the best feature is then kept.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.selectors import KnockoffSelector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((300, 40))
    >>> y = X[:, :8].sum(axis=1) + rng.standard_normal(300)
    >>> draws = [KnockoffSelector(fdr=0.2, random_state=seed).fit(X, y).indices_ for seed in range(10)]
    >>> all(set(range(8)) <= set(kept.tolist()) for kept in draws)
    True
    >>> float(np.mean([np.mean(kept >= 8) for kept in draws]).round(2))  # false features
    0.18

    References
    ----------
    Candès, Fan, Janson, Lv (2018), Panning for gold: model-X knockoffs for high
    dimensional controlled variable selection, Journal of the Royal Statistical Society
    B 80, sections 3.1 and 3.4, Theorem 3.4. Ledoit, Wolf (2004), A well-conditioned
    estimator for large-dimensional covariance matrices, Journal of Multivariate
    Analysis 88.
    """

    algorithm_version = 2
    needs_labels: ClassVar[bool] = True
    has_own_number: ClassVar[bool] = True

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        fdr: float = 0.1,
        task: Literal["auto", "classification", "regression"] = "auto",
        random_state: Any = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.fdr = fdr
        self.task = task
        self.random_state = random_state

    def _rank(
        self, rows: RankedRows, count: int | None, rng: np.random.Generator
    ) -> Ranking:
        self._check_options(rows.X.shape)
        columns = standardised("KnockoffSelector", rows.X)
        varying = np.flatnonzero(columns.any(axis=1))
        Z = columns[varying].T
        correlation = shrunk_correlation(Z)
        gap = equicorrelated_gap(correlation)
        if gap < SMALLEST_GAP:
            raise ValueError(
                f"KnockoffSelector: expected columns that are linearly independent, got correlations whose least "
                f"eigenvalue is {gap / 2:.3g}; drop copies of columns, or keep fewer columns first."
            )
        # numbers that a user has drawn for X from the same seed would make copies of X
        noise = np.random.default_rng(rng.integers(2**63, size=2))
        knockoffs = gaussian_knockoffs(Z, correlation, gap, noise)
        sizes = _lasso_sizes(
            np.hstack([Z, knockoffs]), indicator_targets(rows.y, rows.classes), rng
        )
        statistics = np.zeros(columns.shape[0])
        statistics[varying] = sizes[: varying.size] - sizes[varying.size :]
        threshold = knockoff_threshold(statistics, float(self.fdr))
        n_kept = int(np.count_nonzero(statistics >= threshold))
        is_constant = ~columns.any(axis=1)
        order = np.lexsort([-statistics, is_constant])
        return Ranking(order, statistics, n_kept, {"threshold": threshold, "gap": gap})

    def _check_options(self, shape: tuple[int, int]) -> None:
        name = "KnockoffSelector"
        check_positive(name, fdr=self.fdr)
        if not self.fdr < 1:
            raise ValueError(f"{name}: expected fdr to be below 1, got {self.fdr!r}.")
        n_samples, n_features = shape
        if n_features > MOST_COLUMNS:
            raise ValueError(
                f"{name}: expected at most {MOST_COLUMNS} features, got {n_features}; keep fewer columns without "
                f"looking at y first, or use StabilitySelector."
            )
        if n_samples < 2 * FOLDS:
            raise ValueError(
                f"{name}: expected at least {2 * FOLDS} rows, for {FOLDS} folds, got n_samples = {n_samples}."
            )


def _lasso_sizes(
    Z: NDArray[np.float64], targets: NDArray[np.float64], rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return the sum over targets of |b|, shape (n_columns,), at the penalty with the lowest cross-validated error."""
    from sklearn.linear_model import LassoCV
    from sklearn.model_selection import KFold

    n = Z.shape[0]
    sizes = np.zeros(Z.shape[1])
    Z = np.asfortranarray(Z)
    for target in targets:
        centred = target - target.mean()
        penalties = np.abs(Z.T @ centred).max() / n * PENALTIES
        folds = KFold(FOLDS, shuffle=True, random_state=int(rng.integers(2**31)))
        with warnings.catch_warnings():
            # small penalties, which are rarely chosen, take longest
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = LassoCV(alphas=penalties, cv=folds, tol=1e-4).fit(Z, centred)
        sizes += np.abs(model.coef_)
    return sizes
