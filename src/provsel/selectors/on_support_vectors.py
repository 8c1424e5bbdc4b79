"""Supervised form of any selector, which is fitted only on the support vectors."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.utils import _safe_indexing
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    process_routing,
)

from provsel.labels import check_classes
from provsel.models.libsvm import LibsvmSVM
from provsel.selectors._base import BaseSelector, Selection
from provsel.training_view import TrainingView


class OnSupportVectors(BaseSelector):
    """Fit a selector on the support vectors of an SVM that was trained on all features.

    Use it to make an unsupervised selector use labels, and to select from far fewer
    rows.

    This is the paper's supervised setting: the labels enter through the choice of the
    rows. The final SVM should then be trained on the same rows, `support_rows_`.

    Selector and SVM may request metadata of the rows by `set_fit_request`, such as
    `sample_weight` and `groups`. If scikit-learn's metadata routing is enabled, `fit`
    passes them on, to the selector only for the support vectors.

    Parameters
    ----------
    selector : selector
        A provsel selector, or any scikit-learn feature selector with `fit(X, y)` and
        `get_support`.
    svm : classifier, default=None
        A classifier with `support_` or `decision_function`; None is `LibsvmSVM(C=1.0)`.

    Attributes
    ----------
    indices_, weights_, n_features_in_
        Those of the fitted selector.
    selector_ : selector
        The fitted copy of `selector`.
    support_rows_ : ndarray of shape (p,), int64
        Rows of X that are support vectors, increasing.

    Raises
    ------
    ValueError
        From `fit`, if labels are not classes although `svm` is a classifier; also the
        errors of `selector` and `svm`.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.selectors import LeverageScoreSelector, OnSupportVectors
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 200))
    >>> y = np.where(X[:, 3] > 0, 1, -1)
    >>> selector = OnSupportVectors(LeverageScoreSelector(5, random_state=0)).fit(X, y)
    >>> selector.support_rows_.size < 60, selector.transform(X).shape[0]
    (True, 60)

    References
    ----------
    Paul, Magdon-Ismail, Drineas (2016), section 3.2 and Theorem 1.
    """

    algorithm_version = 1
    needs_labels: ClassVar[bool] = True
    classes_only: ClassVar[bool] = True

    def __init__(self, selector: Any, *, svm: BaseEstimator | None = None) -> None:
        self.selector = selector
        self.svm = svm

    @property
    def is_random(self) -> bool:
        """As the selector."""
        parameters: dict[str, Any] = getattr(self.selector, "get_params", dict)()
        return bool(getattr(self.selector, "is_random", "random_state" in parameters))

    @property
    def rescale(self) -> bool:
        """As the selector."""
        return bool(getattr(self.selector, "rescale", False))

    def fit(self, X: Any, y: Any = None, **metadata: Any) -> Self:
        """Select columns of X; see `BaseSelector.fit`.

        Parameters
        ----------
        X : array-like or sparse of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        **metadata
            Metadata of the rows, such as `sample_weight` of shape (n_samples,), as
            requested by `selector` and `svm`.

        Raises
        ------
        ValueError
            As in `BaseSelector.fit`; also for metadata without
            `sklearn.set_config(enable_metadata_routing=True)`.
        """
        if not isinstance(self.selector, BaseEstimator):
            raise ValueError(
                f"OnSupportVectors: expected a selector of provsel or scikit-learn, got {self.selector!r:.80}; pass "
                f"for example LeverageScoreSelector(10)."
            )
        if metadata and not get_config()["enable_metadata_routing"]:
            raise ValueError(
                f"OnSupportVectors: expected only X and y, got {', '.join(metadata)}; to pass metadata, run "
                f"sklearn.set_config(enable_metadata_routing=True) and request them by set_fit_request."
            )
        return self.fit_view(self._validated(X, y, **metadata))

    def get_metadata_routing(self) -> MetadataRouter:
        """Return the routing of the metadata of `fit` to `selector` and `svm`."""
        # Pipeline calls fit_transform, which a router does not treat as fit
        mapping = (
            MethodMapping()
            .add(caller="fit", callee="fit")
            .add(caller="fit_transform", callee="fit")
        )
        return MetadataRouter(owner=self).add(
            selector=self.selector, svm=self._svm(), method_mapping=mapping
        )

    def _svm(self) -> BaseEstimator:
        return LibsvmSVM() if self.svm is None else self.svm

    def _select(self, view: TrainingView, rng: np.random.Generator) -> Selection:
        # without routing, the metadata of a view are not requested
        requested = view.metadata if get_config()["enable_metadata_routing"] else {}
        routed = process_routing(self, "fit", **requested)
        svm, selector = self._svm(), clone(self.selector)
        if view.y is not None and is_classifier(svm):
            check_classes("OnSupportVectors", view.y)
        view.svm(svm, **routed["svm"]["fit"])
        rows, support = view.on_support_vectors(svm), view.support_rows(svm)
        of_rows = {
            name: _of_rows(value, support, view.n_samples)
            for name, value in routed["selector"]["fit"].items()
        }
        attributes = {"selector": selector, "support_rows": support}
        if isinstance(selector, BaseSelector):
            selector.fit_view(
                TrainingView(rows.X, rows.y, of_rows) if of_rows else rows
            )
            return Selection(selector.indices_, selector.weights_, attributes)
        selector.fit(rows.X, rows.y, **of_rows)
        return Selection.unweighted(selector.get_support(indices=True), **attributes)


def _of_rows(value: Any, rows: NDArray[np.int64], n_samples: int) -> Any:
    """Return the metadata of some rows; metadata without a value per row is unchanged."""
    if (
        isinstance(value, str)
        or not hasattr(value, "__len__")
        or len(value) != n_samples
    ):
        return value
    return _safe_indexing(value, rows)
