"""Features with non-zero weight in the feature-selective SVM."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np

from provsel.kernels.feature_selective_fit import fit_feature_selective
from provsel.labels import by_total_weight, of_problems, one_against_rest
from provsel.selectors._base import BaseSelector, Selection
from provsel.selectors._size_search import SizeRange
from provsel.training_view import TrainingView


class FeatureSelectiveSelector(BaseSelector):
    """Keep the features with mu > 0 in the feature-selective SVM; it chooses how many.

    Use it to select few features, with features and margin weighed in one convex
    problem.

    With more than two classes each is separated from the rest, and a feature is kept if
    it has weight in any of these problems.

    The problem, the parameters and their defaults are those of
    `provsel.models.FeatureSelectiveSVM`; this class is for experiments that train
    another model on the kept features.

    Parameters
    ----------
    c1 : float, default=1e-3
        Price of a feature in full use, in units of the mean hinge loss; fewer features
        are kept as it grows.
    c2 : float, default=1e-4
        Weight of ||w||^2.
    form : {"kernel_weights", "as_printed"}, default="kernel_weights"
        Form of the problem; this and the next five parameters are those of
        `provsel.models.FeatureSelectiveSVM`.
    n_components : int, default=None
        Number of rows l of Lambda; None does not compress.
    variance : {"1/m", "1/l"}, default="1/m"
        Variance of the entries of Lambda.
    n_starts : int, default=3
        Number of starts, if the problem is not convex.
    tol : float, default=1e-6
        Target for the relative duality gap, or for the decrease of a round.
    max_iter : int, default=None
        Limit on the steps, or on the rounds of a start.
    relative : bool, default=False
        c1 in units of `FeatureSelectiveSVM.c1_max`, c2 in units of the mean ||Phi_i||^2.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the starts and of Lambda.

    Attributes
    ----------
    indices_ : ndarray of shape (n_selected,), int64
        In order of decreasing mu, summed over the problems, ties by index. If every
        weight is zero, the feature of each problem that first gets weight as c1
        decreases.
    weights_ : ndarray of shape (n_selected,)
        Ones.
    scores_ : ndarray of shape (n_features,)
        mu, summed over the problems.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
    classes_ : ndarray of shape (n_classes,)
    objective_, dual_objective_, gap_, n_iter_, c1_, c2_ : number, or ndarray of shape (n_classes,) for more classes
        For each problem; c1_ and c2_ are the prices, if they were given in relative
        units.
    n_features_in_ : int

    Raises
    ------
    ValueError
        From `fit`, if there are fewer than two classes, a parameter is out of range, or
        no feature differs between the classes.

    Warns
    -----
    ConvergenceWarning
        If `tol` was not reached.
    UserWarning
        If every weight is zero; also for more than 20 different whole numbers with
        fewer than 5 rows each.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.selectors import FeatureSelectiveSelector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 20))
    >>> y = np.where(X[:, 3] > 0, 1, -1)
    >>> bool(3 in FeatureSelectiveSelector(c1=1e-2, c2=1e-2).fit(X, y).indices_)
    True

    References
    ----------
    Giesen, Laue, Mueller (2013), Compressing support vector machines, section 4.
    """

    algorithm_version = 1
    needs_labels: ClassVar[bool] = True
    classes_only: ClassVar[bool] = True

    def __init__(
        self,
        *,
        c1: float = 1e-3,
        c2: float = 1e-4,
        form: Literal["kernel_weights", "as_printed"] = "kernel_weights",
        n_components: int | None = None,
        variance: Literal["1/m", "1/l"] = "1/m",
        n_starts: int = 3,
        tol: float = 1e-6,
        max_iter: int | None = None,
        relative: bool = False,
        random_state: Any = None,
    ) -> None:
        self.c1 = c1
        self.c2 = c2
        self.form = form
        self.n_components = n_components
        self.variance = variance
        self.n_starts = n_starts
        self.tol = tol
        self.max_iter = max_iter
        self.relative = relative
        self.random_state = random_state

    @property
    def is_random(self) -> bool:
        """Whether the problem has random starts or a random matrix; the convex form has neither."""
        return self.form != "kernel_weights" or self.n_components is not None

    @property
    def size_range(self) -> SizeRange:
        """Parameter that `AtSize` searches: c1, up to a value that drops every feature unless the data are huge."""
        return SizeRange("c1", 1e-9, 1.0 if self.relative else 1e6)

    def _select(self, view: TrainingView, rng: np.random.Generator) -> Selection:
        classes, problems = one_against_rest(type(self).__name__, view.y)
        options = {
            name: value
            for name, value in self.get_params(deep=False).items()
            if name != "random_state"
        }
        fits = [
            fit_feature_selective(type(self).__name__, view.X, signs, rng, **options)
            for signs in problems
        ]
        scores, kept = by_total_weight(np.array([fit.mu for fit in fits]))
        if len(fits) == 1:
            kept = fits[0].indices
        elif kept.size == 0:
            kept = np.unique([fit.indices[0] for fit in fits])
        numbers = ("objective", "dual_objective", "gap", "n_iter", "c1", "c2")
        return Selection.unweighted(
            kept,
            scores=scores,
            coef=np.array([fit.coef for fit in fits]),
            classes=classes,
            **{
                name: of_problems([getattr(fit, name) for fit in fits])
                for name in numbers
            },
        )
