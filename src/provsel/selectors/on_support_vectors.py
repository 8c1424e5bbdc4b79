"""The supervised form of any selector: fit it on the support vectors only."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, clone

from provsel.models.libsvm import LibsvmSVM
from provsel.selectors._base import BaseSelector, Selection
from provsel.training_view import TrainingView


class OnSupportVectors(BaseSelector):
    """Fit a selector on the support vectors of an SVM that was trained on all features.

    The paper's supervised setting: the labels enter through the choice of the rows. The final SVM is then to be
    trained on the same rows, `support_rows_`.

    Parameters
    ----------
    selector : selector
        A provsel selector, or any scikit-learn feature selector with `fit(X, y)` and `get_support`.
    svm : classifier, default=None
        With `support_` or `decision_function`; None is `LibsvmSVM(C=1.0)`.

    Attributes
    ----------
    indices_, weights_, n_features_in_
        Those of the fitted selector.
    selector_ : selector
        The fitted copy of `selector`.
    support_rows_ : ndarray of shape (p,), int64
        Rows of X that are support vectors, increasing.

    References
    ----------
    Paul, Magdon-Ismail, Drineas (2016), section 3.2 and Theorem 1.
    """

    algorithm_version = 1
    needs_labels: ClassVar[bool] = True

    def __init__(self, selector: Any, *, svm: BaseEstimator | None = None) -> None:
        self.selector = selector
        self.svm = svm

    @property
    def is_random(self) -> bool:
        """As the selector."""
        return bool(getattr(self.selector, "is_random", "random_state" in self.selector.get_params()))

    @property
    def rescale(self) -> bool:
        """As the selector."""
        return bool(getattr(self.selector, "rescale", False))

    def _select(self, view: TrainingView, rng: np.random.Generator) -> Selection:
        svm = LibsvmSVM() if self.svm is None else self.svm
        rows = view.on_support_vectors(svm)
        selector = clone(self.selector)
        attributes = {"selector": selector, "support_rows": view.support_rows(svm)}
        if isinstance(selector, BaseSelector):
            selector.fit_view(rows)
            return Selection(selector.indices_, selector.weights_, attributes)
        selector.fit(rows.X, rows.y)
        return Selection.unweighted(selector.get_support(indices=True), **attributes)
