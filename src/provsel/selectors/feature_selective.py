"""Features to which the feature-selective SVM gives weight."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.utils import ClassifierTags

from provsel.kernels.feature_selective_fit import fit_feature_selective
from provsel.labels import signs_of_two_classes
from provsel.selectors._base import BaseSelector, Selection
from provsel.selectors._size_search import SizeRange
from provsel.training_view import TrainingView


class FeatureSelectiveSelector(BaseSelector):
    """Keep the features with mu > 0 in the feature-selective SVM; it chooses their number itself.

    Use it where few features are wanted, and features and margin should be weighed in one convex problem.

    The problem, the parameters and their defaults are those of `provsel.models.FeatureSelectiveSVM`; this class is for
    experiments that train another model on what is kept.

    Parameters
    ----------
    c1 : float, default=1e-3
        Price of a feature in full use, in units of the mean hinge loss; fewer features are kept as it grows.
    c2 : float, default=1e-4
    form : {"kernel_weights", "as_printed"}, default="kernel_weights"
    n_components : int, default=None
    variance : {"1/m", "1/l"}, default="1/m"
    n_starts : int, default=3
    tol : float, default=1e-6
    max_iter : int, default=None
    relative : bool, default=False
        c1 in units of `FeatureSelectiveSVM.c1_max`, c2 in units of the mean ||Phi_i||^2.
    random_state : int, Generator, RandomState or None, default=None

    Attributes
    ----------
    indices_ : ndarray of shape (n_selected,), int64
        In order of decreasing mu, ties by index. Where every weight is zero, the one that gets weight first as c1
        falls.
    weights_ : ndarray of shape (n_selected,)
        Ones.
    scores_ : ndarray of shape (n_features,)
        mu.
    coef_ : ndarray of shape (1, n_features)
    classes_ : ndarray of shape (2,)
    objective_, dual_objective_, gap_ : float
    n_iter_ : int
    c1_, c2_ : float
        The prices, where they were given in relative units.
    n_features_in_ : int

    Raises
    ------
    ValueError
        From `fit`: not two classes, a parameter out of range, or no feature that differs between the classes.

    Warns
    -----
    ConvergenceWarning
        When `tol` was not reached.
    UserWarning
        When every weight is zero.

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

    def __init__(
        self,
        *,
        c1: float = 1e-3,
        c2: float = 1e-4,
        form: str = "kernel_weights",
        n_components: int | None = None,
        variance: str = "1/m",
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
        """Whether the problem has random starts or a random matrix: not in the convex form."""
        return self.form != "kernel_weights" or self.n_components is not None

    @property
    def size_range(self) -> SizeRange:
        """Where `AtSize` searches: c1, up to what drops every feature of data that are not huge."""
        return SizeRange("c1", 1e-9, 1.0 if self.relative else 1e6)

    def _select(self, view: TrainingView, rng: np.random.Generator) -> Selection:
        classes, signs = signs_of_two_classes(type(self).__name__, view.y)
        options = {name: value for name, value in self.get_params(deep=False).items() if name != "random_state"}
        fit = fit_feature_selective(type(self).__name__, view.X, signs, rng, **options)
        return Selection.unweighted(
            fit.indices,
            scores=fit.mu,
            coef=fit.coef[None, :],
            classes=classes,
            objective=fit.objective,
            dual_objective=fit.dual_objective,
            gap=fit.gap,
            n_iter=fit.n_iter,
            c1=fit.c1,
            c2=fit.c2,
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags = ClassifierTags(multi_class=False)
        return tags
