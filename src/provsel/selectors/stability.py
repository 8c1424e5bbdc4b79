"""Stability selection: features that are selected on most halves of the rows."""

from __future__ import annotations

from math import ceil, floor, sqrt
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from provsel.checks import check_integer, check_positive
from provsel.kernels.least_angles import NOTHING, first_least_angles
from provsel.kernels.stability_bounds import STEP, false_selections
from provsel.kernels.standardised import indicator_targets
from provsel.selectors._base import BaseSelector
from provsel.selectors._columns import standardised
from provsel.selectors._ranked import RankedRows, RankedSelector, Ranking
from provsel.training_view import TrainingView


class StabilitySelector(RankedSelector):
    r"""Keep the features that rank among the first q on most halves of the rows; it chooses how many.

    Use it if avoiding false features matters more than finding all true ones. Its bound
    on false features comes with `provsel.certificates.FalseSelections`, and holds only
    for its own number of features.

    The rows are split into two halves `n_pairs` times. On each half, a base selector
    keeps q features, and a feature's score is the share of the halves that keep it. The
    features with a score of at least `threshold`, tau, are kept, with

        q = floor(sqrt(expected_false (2 tau - 1) d)),

    so that the kept features include, in expectation, at most q^2 / ((2 tau - 1) d) <=
    `expected_false` features that a half keeps with a probability of at most q / d, as
    by chance. This needs only independent rows of one distribution. It is an assumption
    that these include all false features. It holds if false features are exchangeable,
    and the base selector is no worse than guessing.

    The base selector is least angle regression, on columns of mean 0 and variance 1 in
    the half; with more than two classes, one path per class against the rest, of which
    it takes the first q features. All halves are computed together.

    Parameters
    ----------
    n_features_to_select : int or float, default=None
        None keeps the features that reach the threshold. With a number, those with the
        largest scores are kept, and there is no bound.
    threshold : float, default=0.9
        tau, above 1/2 and at most 1.
    expected_false : float, default=1.0
        Bound on the expected number of false features. With few columns `false_bound_`
        can be larger, because q is at least 1.
    n_pairs : int, default=50
        Pairs of halves. With an odd number of rows, each pair leaves one out.
    selector : selector, default=None
        Base selector of provsel with `n_features_to_select`, which is set to q; None is
        least angle regression.
    task : {"auto", "classification", "regression"}, default="auto"
        Kind of the target. "auto" means regression for numbers that are not all
        integers, and classification for integers and strings, as in scikit-learn's
        `type_of_target`. It raises an error for integers with very many distinct
        values.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the subsamples.

    Attributes
    ----------
    indices_ : ndarray of shape (n_selected,), int64
        In order of decreasing score; equal scores by the mean order of entry.
    weights_ : ndarray of shape (n_selected,)
        Ones.
    scores_ : ndarray of shape (n_features,)
        Share of the halves that keep the feature.
    ranking_ : ndarray of shape (n_features,), int64
        1 for the best feature, 2 for the next.
    n_per_half_ : int
        q.
    n_stable_ : int
        Number of features that reach the threshold, even if another number is kept.
    false_bound_ : float
        q^2 / ((2 tau - 1) d).
    n_features_in_ : int

    Raises
    ------
    ValueError
        From `fit`, if no column varies, there are fewer than four rows, the selector
        has no `n_features_to_select`, the target does not suit the task, or a parameter
        is out of range.

    Warns
    -----
    UserWarning
        If no feature reaches the threshold. The best one is then kept, without a
        guarantee.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.selectors import StabilitySelector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 300))
    >>> y = 2 * X[:, 5] - X[:, 3] + rng.standard_normal(100)
    >>> selector = StabilitySelector(random_state=0).fit(X, y)
    >>> selector.indices_.tolist(), selector.n_per_half_, selector.false_bound_ <= 1
    ([5, 3], 15, True)

    References
    ----------
    Meinshausen, Bühlmann (2010), Stability selection, Journal of the Royal Statistical
    Society B 72, Theorem 1. Shah, Samworth (2013), Variable selection with error
    control: another look at stability selection, the same 75, Theorem 1, for
    complementary pairs. Efron, Hastie, Johnstone, Tibshirani (2004), Least angle
    regression, Annals of Statistics 32.
    """

    algorithm_version = 1
    needs_labels: ClassVar[bool] = True
    has_own_number: ClassVar[bool] = True

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        threshold: float = 0.9,
        expected_false: float = 1.0,
        n_pairs: int = 50,
        selector: Any = None,
        task: Literal["auto", "classification", "regression"] = "auto",
        random_state: Any = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.threshold = threshold
        self.expected_false = expected_false
        self.n_pairs = n_pairs
        self.selector = selector
        self.task = task
        self.random_state = random_state

    @property
    def takes_sparse(self) -> bool:  # type: ignore[override]
        """Whether X may stay sparse; a given base selector decides this itself."""
        return self.selector is not None

    def _rank(
        self, rows: RankedRows, count: int | None, rng: np.random.Generator
    ) -> Ranking:
        self._check_options(rows.y.size)
        d = rows.X.shape[1]
        n_pairs, threshold = int(self.n_pairs), float(self.threshold)
        q = min(
            d, max(1, floor(sqrt(float(self.expected_false) * (2 * threshold - 1) * d)))
        )
        halves = _complementary_halves(rows.y.size, n_pairs, rng)
        if self.selector is None:
            firsts = _first_of_paths(rows, halves, q)
        else:
            firsts = self._first_of_selector(rows, halves, q, rng)
        counts = np.zeros(d, dtype=np.int64)
        places = np.zeros(d)
        for first in firsts:
            kept = first[first != NOTHING]
            counts[kept] += 1
            places += q
            places[kept] -= q - np.arange(kept.size)
        order = np.lexsort((places, -counts))
        n_stable = int(np.count_nonzero(counts >= ceil(2 * n_pairs * threshold - STEP)))
        fitted = {
            "n_per_half": q,
            "n_stable": n_stable,
            "false_bound": false_selections(q, d, threshold),
        }
        return Ranking(order, counts / (2 * n_pairs), n_stable, fitted)

    def _check_options(self, n_samples: int) -> None:
        name = "StabilitySelector"
        check_positive(
            name, threshold=self.threshold, expected_false=self.expected_false
        )
        if not 0.5 < self.threshold <= 1:
            raise ValueError(
                f"{name}: expected threshold to be above 0.5 and at most 1, got {self.threshold!r}."
            )
        check_integer(name, "n_pairs", self.n_pairs, minimum=1)
        own = isinstance(self.selector, BaseSelector)
        if self.selector is not None and not (
            own and "n_features_to_select" in self.selector.get_params(deep=False)
        ):
            raise ValueError(
                f"{name}: expected selector None, or a provsel selector with n_features_to_select, got "
                f"{self.selector!r:.80}; wrap a method that chooses its own number in AtSize first."
            )
        if n_samples < 4:
            raise ValueError(
                f"{name}: expected at least four rows, because they are split into halves, got n_samples = {n_samples}."
            )

    def _first_of_selector(
        self,
        rows: RankedRows,
        halves: NDArray[np.int64],
        q: int,
        rng: np.random.Generator,
    ) -> list[NDArray[np.int64]]:
        """Return the features that a copy of the selector keeps on each half."""
        settings: dict[str, Any] = {"n_features_to_select": q}
        parameters = self.selector.get_params()
        if "task" in parameters:  # the rows of a half alone may look different
            settings["task"] = (
                "regression" if rows.classes is None else "classification"
            )
        kept = []
        for half in halves:
            if self.selector.is_random:
                settings["random_state"] = int(rng.integers(2**31))
            base = clone(self.selector).set_params(**settings)
            kept.append(
                base.fit_view(TrainingView(rows.X[half], rows.y[half])).indices_
            )
        return kept


def _complementary_halves(
    n: int, n_pairs: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return rows of halves, two of each pair, shape (2 n_pairs, n // 2)."""
    m = n // 2
    orders = np.array([rng.permutation(n) for _ in range(n_pairs)])
    return np.sort(orders[:, : 2 * m].reshape(2 * n_pairs, m), axis=1)


def _first_of_paths(
    rows: RankedRows, halves: NDArray[np.int64], q: int
) -> list[NDArray[np.int64]]:
    """Return the first q features of least angle regression on each half, over all targets."""
    columns = standardised("StabilitySelector", rows.X)
    paths = []
    for target in indicator_targets(rows.y, rows.classes):
        targets = np.broadcast_to(target, (len(halves), target.size))
        paths.append(first_least_angles(columns, halves, targets, q))
    if len(paths) == 1:
        return list(paths[0])
    firsts = []
    for steps in np.stack(paths, axis=2):  # of one half, shape (q, n_targets)
        entered = steps[steps != NOTHING]  # step by step
        _, places = np.unique(entered, return_index=True)
        firsts.append(entered[np.sort(places)][:q])
    return firsts
