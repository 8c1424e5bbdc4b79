"""A selector whose parameters are chosen by cross-validation on the training rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline

from provsel.selectors import BaseSelector, Selection
from provsel.training_view import TrainingView


class TunedSelector(BaseSelector):
    """The parameters of a selector by grid search: those whose features let a model predict best.

    Parameters
    ----------
    selector : selector
    grid : mapping
        Values of each parameter. Of parameters that are equally good, the first are
        chosen.
    model : estimator
        Trained on the selected features.
    cv : int, default=3
        Number of folds.
    scoring : str or None, default=None
        As in scikit-learn; None is the score of the model.

    Attributes
    ----------
    selector_ : selector
        Fitted on all rows, with the chosen parameters.
    best_params_ : dict

    Raises
    ------
    ValueError
        From `fit`, if the selector cannot be fitted with one of the values on one of
        the folds.
    """

    algorithm_version = 1
    needs_labels: ClassVar[bool] = True

    def __init__(
        self,
        selector: Any,
        *,
        grid: Mapping[str, Sequence[Any]],
        model: BaseEstimator,
        cv: int = 3,
        scoring: str | None = None,
    ) -> None:
        self.selector = selector
        self.grid = grid
        self.model = model
        self.cv = cv
        self.scoring = scoring

    def _select(self, view: TrainingView, rng: np.random.Generator) -> Selection:
        pipeline = Pipeline([("selector", self.selector), ("model", self.model)])
        grid = {f"selector__{name}": list(values) for name, values in self.grid.items()}
        search = GridSearchCV(
            pipeline, grid, cv=self.cv, scoring=self.scoring, error_score="raise"
        )
        search.fit(view.X, view.y)
        fitted = search.best_estimator_["selector"]
        best = {
            name.removeprefix("selector__"): value
            for name, value in search.best_params_.items()
        }
        return Selection(
            fitted.indices_, fitted.weights_, {"selector": fitted, "best_params": best}
        )
