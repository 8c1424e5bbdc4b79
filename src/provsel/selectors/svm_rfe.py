"""Recursive feature elimination with a linear SVM."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.svm import LinearSVC
from sklearn.utils.multiclass import check_classification_targets

from provsel.kernels.elimination import RemainingColumns, best, by_importance, elimination_sizes
from provsel.labels import check_several
from provsel.models._libsvm_library import checked_max_iter, fit_gram, warn_early
from provsel.models.liblinear import LiblinearSVM
from provsel.selectors._base import BaseSelector, Selection, checked_count
from provsel.training_view import TrainingView

TOLERANCES = {"libsvm": 1e-3, "liblinear": 0.1, "liblinear_primal": 0.01}
SOLVERS = ("auto", *TOLERANCES)

GRAM_ROWS = 2_000
"""Up to so many rows "auto" is LIBSVM on the n x n Gram matrix (32 MB)."""

PRIMAL_ROWS, PRIMAL_RATIO = 50_000, 100
"""Beyond so many rows, and so many times the features, "auto" is LIBLINEAR in the primal: at 100,000 x 100 the dual
solver takes minutes, as it sweeps over the rows again and again, and Newton's method in the primal a second."""

SHARED_ROUNDS = 128
"""A path of more rounds is walked by each fit for itself: keeping all its rounds would take d numbers a round."""


class SVMRFESelector(BaseSelector):
    r"""Train a linear SVM, drop the features of smallest abs(w), and repeat until r remain.

    Use it as the strong baseline with labels, without a guarantee, where its many fits can be afforded.

    Features with equal abs(w), such as copies of a column, are kept lowest index first. Several classes: the
    importance of a feature is the sum of w^2 over the binary problems (one against one with LIBSVM, one against
    the rest with LIBLINEAR), as in scikit-learn's `RFE`.

    Fits on one view with other r share all rounds but their last, which each cuts short for itself.

    Parameters
    ----------
    n_features_to_select : int or float
        Number of features r that remain.
    step : int or float, default=0.1
        Features to drop a round, or the fraction in (0, 1) of the *remaining* features, rounded down, at least 1;
        never below r. (A fraction is one of all d features in scikit-learn's `RFE`.)
    C : float, default=1.0
        Weight of the sum of losses.
    solver : {"auto", "libsvm", "liblinear", "liblinear_primal"}, default="auto"
        "libsvm": hinge loss, intercept not penalised, on the n x n Gram matrix of the remaining columns, which
        takes n^2 memory. "liblinear": squared hinge loss, no intercept, on the (sparse) columns, for many rows, solved
        in the dual; "liblinear_primal" the same in the primal, for n >> d. Hinge and squared hinge are two models and
        select different features. "auto" is "libsvm" for n <= 2000, "liblinear_primal" for n > 50,000 and n > 100 d,
        else "liblinear". In the primal, 20 of 100 features of a million rows take some 150 seconds.
    tol : float, default=None
        Stopping tolerance; None is the solver's own: 1e-3 for LIBSVM, 0.1 for LIBLINEAR's dual, 0.01 for its primal.
    max_iter : int, default=1_000_000
        Limit of LIBSVM's iterations in each round, on each problem of two classes. LIBLINEAR has its own.

    Attributes
    ----------
    indices_ : ndarray of shape (n_selected,), int64
        Kept features, in order of decreasing importance in the last SVM that was trained.
    weights_ : ndarray of shape (n_selected,)
        Ones.
    ranking_ : ndarray of shape (n_features,), int64
        1 for kept features, 2 for those dropped in the last round, and so on.
    n_rounds_ : int
        Number of SVMs trained.
    n_iter_ : int
        The most iterations that LIBSVM took on a problem of two classes in any round; 0 with LIBLINEAR.
    n_features_in_ : int

    Raises
    ------
    ValueError
        From `fit`: labels missing or of one class, step, C, solver, tol or max_iter out of range, an SVM with w = 0.

    Warns
    -----
    ConvergenceWarning
        When LIBSVM ended at `max_iter` in some round, as on columns of very different scales.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.selectors import SVMRFESelector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 20))
    >>> y = np.where(X[:, 3] > 0, 1, -1)
    >>> SVMRFESelector(1).fit(X, y).indices_.tolist()
    [3]

    References
    ----------
    Guyon, Weston, Barnhill, Vapnik (2002); Paul, Magdon-Ismail, Drineas (2016), section 6.1.3.
    """

    algorithm_version = 1
    needs_labels: ClassVar[bool] = True

    def __init__(
        self,
        n_features_to_select: int | float,
        *,
        step: int | float = 0.1,
        C: float = 1.0,
        solver: str = "auto",
        tol: float | None = None,
        max_iter: int = 1_000_000,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.step = step
        self.C = C
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter

    def _select(self, view: TrainingView, rng: np.random.Generator) -> Selection:
        r = checked_count(self, view.n_features)
        step, C, solver, tol = _checked_options(self, view.n_samples, view.n_features)
        labels, max_iter = _checked_labels(view.y), checked_max_iter(self.max_iter)
        trainer = _Trainer(view, labels, solver, C, tol, max_iter)
        sizes = elimination_sizes(view.n_features, r, step)
        ranking = np.ones(view.n_features, dtype=np.int64)
        last: _Round | None = None
        n_iter = np.zeros(len(sizes), dtype=np.int64)
        kept = np.arange(view.n_features)
        for k, left in enumerate([*sizes[1:], r]):
            compute = partial(trainer.train, last, kept)
            name = f"rfe C={C!r} step={step!r} {solver} tol={tol!r} max_iter={max_iter} round {k}"
            # what a round trains on does not depend on r, only where it is cut
            trained = view.shared(name, compute) if len(sizes) <= SHARED_ROUNDS else compute()
            if last is not None:
                last.columns = None
            last, kept = trained, best(trained.importances, left)
            n_iter[k] = trained.n_iter
            ranking[trained.features] = len(sizes) - k + 1
            ranking[trained.features[kept]] = 1
        n_early = np.count_nonzero(n_iter >= max_iter)
        if n_early:
            warn_early("SVMRFESelector", f" in {n_early} of {len(sizes)} rounds", max_iter)
        order = kept[by_importance(trained.importances[kept])]
        return Selection.unweighted(
            trained.features[order], ranking=ranking, n_rounds=len(sizes), n_iter=int(n_iter.max())
        )


@dataclass
class _Round:
    """One trained round.

    Attributes
    ----------
    features : ndarray of shape (m,), int64
        What it was trained on, increasing.
    importances : ndarray of shape (m,)
        abs(w), or the norm of w over the binary problems.
    columns : RemainingColumns or CSR of shape (n, m), or None
        Of these features, for the next round, which is the only one to need them: freed then.
    n_iter : int
        LIBSVM's iterations, 0 with LIBLINEAR.
    """

    features: NDArray[np.int64]
    importances: NDArray[np.float64]
    columns: Any
    n_iter: int


@dataclass(frozen=True)
class _Trainer:
    """Trains the rounds of one path.

    Attributes
    ----------
    labels : ndarray of shape (n_samples,), int64
        Class numbers.
    solver : {"libsvm", "liblinear", "liblinear_primal"}
    """

    view: TrainingView
    labels: NDArray[np.int64]
    solver: str
    C: float
    tol: float
    max_iter: int

    def train(self, previous: _Round | None, kept: NDArray[np.int64]) -> _Round:
        """Return the round on the features at the positions `kept` of the `previous` one, or on all."""
        if previous is None:
            features, columns = kept, self._all_columns()
        else:
            features = previous.features[kept]
            columns = previous.columns.only(kept) if self.solver == "libsvm" else previous.columns[:, kept]
        binary, n_iter = self._libsvm(columns) if self.solver == "libsvm" else self._liblinear(columns)
        # the norm over one problem is abs(w)
        importances = np.abs(binary[0]) if len(binary) == 1 else np.sqrt((binary**2).sum(axis=0))
        if previous is None and not importances.any():
            raise ValueError(
                f"SVMRFESelector: expected an SVM with a non-zero weight, got w = 0 on all {kept.size} features; check "
                f"that X is not all zeros and that its rows differ between the classes."
            )
        return _Round(features, importances, columns, n_iter)

    def _all_columns(self) -> Any:
        if self.solver == "libsvm":
            return RemainingColumns.of(self.view.X, self.view.gram())
        if self.solver == "liblinear_primal":
            return self.view.X
        return sparse.csr_matrix(self.view.X, dtype=np.float64)

    def _liblinear(self, columns: Any) -> tuple[NDArray[np.float64], int]:
        """Return w of each binary problem, shape (n_problems, m), and 0 iterations, which are not known."""
        if self.solver == "liblinear_primal":
            svm = LinearSVC(dual=False, fit_intercept=False, C=self.C, tol=self.tol)
            return svm.fit(columns, self.labels).coef_, 0
        return LiblinearSVM(C=self.C, tol=self.tol).fit(columns, self.labels).coef_, 0

    def _libsvm(self, columns: RemainingColumns) -> tuple[NDArray[np.float64], int]:
        """As `_liblinear`; of each pair of classes i < j, the dual variables stand in row j - 1 for i, row i for j."""
        svm = fit_gram(columns.gram, self.labels, C=self.C, tol=self.tol, max_iter=self.max_iter)
        owner = self.labels[svm.support]
        pairs = list(combinations(range(int(self.labels.max()) + 1), 2))
        duals = np.zeros((len(pairs), self.labels.size))
        for row, (i, j) in zip(duals, pairs, strict=True):
            row[svm.support] = np.where(owner == i, svm.dual_coef[j - 1], 0) + np.where(owner == j, svm.dual_coef[i], 0)
        return columns.weighted_sums(duals), int(svm.n_iter.max())


def _checked_options(
    selector: SVMRFESelector, n_samples: int, n_features: int
) -> tuple[int | float, float, str, float]:
    """Return step, C, solver and tol as Python numbers, "auto" and None decided, or raise."""
    name, step, C, solver, tol = type(selector).__name__, selector.step, selector.C, selector.solver, selector.tol
    whole = isinstance(step, Integral) and not isinstance(step, bool) and step >= 1
    part = isinstance(step, Real) and not isinstance(step, Integral) and 0 < float(step) < 1
    if not (whole or part):
        raise ValueError(
            f"{name}: expected step an integer >= 1, the features to drop a round, or a fraction in (0, 1) of the "
            f"remaining features, got {step!r}."
        )
    if not _is_positive(C):
        raise ValueError(f"{name}: expected C positive and finite, got {C!r}.")
    if solver not in SOLVERS:
        raise ValueError(f"{name}: expected solver in {SOLVERS}, got {solver!r}.")
    if tol is not None and not _is_positive(tol):
        raise ValueError(f"{name}: expected tol None or positive and finite, got {tol!r}.")
    if solver == "auto":
        primal = n_samples > max(PRIMAL_ROWS, PRIMAL_RATIO * n_features)
        solver = "libsvm" if n_samples <= GRAM_ROWS else "liblinear_primal" if primal else "liblinear"
    if tol is None:
        tol = TOLERANCES[solver]
    return int(step) if whole else float(step), float(C), solver, float(tol)


def _is_positive(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and 0 < float(value) < math.inf


def _checked_labels(y: NDArray[Any] | None) -> NDArray[np.int64]:
    """Return the class numbers of y, or raise."""
    if y is None:
        raise ValueError("SVMRFESelector: expected labels y, got None; it ranks features by an SVM of the classes.")
    check_classification_targets(y)
    classes, labels = np.unique(y, return_inverse=True)
    check_several("SVMRFESelector", classes)
    return labels
