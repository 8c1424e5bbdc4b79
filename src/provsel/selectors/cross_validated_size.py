"""A selector whose number of features is chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, Literal

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import Ridge
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv

from provsel.labels import target_of
from provsel.models import LibsvmSVM
from provsel.selectors._base import BaseSelector, Selection, SelectorAround
from provsel.selectors.full import FullDataSelector
from provsel.training_view import TrainingView, described

RULES = ("one_standard_error", "best")


class CrossValidatedSize(SelectorAround):
    """Choose the number of features of a selector by cross-validation, then fit it on all rows with that number.

    Use it if the number of features is not known. In each fold the selector and the
    model use only the training rows, and all sizes share the values that the selector
    derives from them.

    Parameters
    ----------
    selector : selector
        A provsel selector with `n_features_to_select`.
    sizes : sequence of int or float, default=None
        Numbers of features to try; a float is a fraction of the features, 1.0 meaning
        all. None tries 1, 2, 4, ... and all features, up to `most`.
    most : int, default=None
        Largest number to try with `sizes=None`; None is the number of features.
    model : estimator, default=None
        Model that scores a selection, and is trained on the reduced rows. None is
        `provsel.models.LibsvmSVM()` for classes and scikit-learn's `Ridge()` for
        numbers.
    cv : int, splitter or iterable of splits, default=5
        As in scikit-learn: an integer is a number of folds, stratified for classes.
    scoring : str or callable, default=None
        A scikit-learn scorer, higher is better; None is the model's own `score`:
        accuracy or R^2.
    task : {"auto", "classification", "regression"}, default="auto"
        Kind of the target, for the folds, the model, and a `task` of the selector.
        "auto" is the selector's task if it has one. Otherwise it is regression for
        numbers that are not all integers, and classification for integers and strings,
        as in scikit-learn's `type_of_target`. Integers with very many distinct values
        raise an error.
    rule : {"one_standard_error", "best"}, default="one_standard_error"
        The fewest features whose mean score is within one standard error of the best,
        or those with the best score.
    random_state : int, Generator, RandomState or None, default=None
        Seed of a randomised selector, the same in all fits; None leaves the selector's
        own.

    Attributes
    ----------
    indices_, weights_, n_features_in_
        Attributes of `selector_`.
    scores_ : ndarray of shape (n_features,)
        Those of `selector_`, if it has any.
    selector_ : selector
        Fitted on all rows; `FullDataSelector` if all features were chosen, which need
        no order.
    n_features_ : int
        The chosen number.
    sizes_ : ndarray of shape (n_sizes,)
        Increasing.
    fold_scores_ : ndarray of shape (n_sizes, n_folds)
    mean_scores_, standard_errors_ : ndarray of shape (n_sizes,)
        Mean and standard error of the scores over the folds. The folds share training
        rows, so the standard error is a rule of thumb.

    Raises
    ------
    ValueError
        From `fit`, if the selector is not provsel's or lacks `n_features_to_select`, a
        size is out of range, there is only one fold, the target does not suit the task,
        or a score is not finite, like R^2 of a fold with one row.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.selectors import CrossValidatedSize, SVMRFESelector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((80, 20))
    >>> y = np.where(X[:, 3] - X[:, 5] + 0.3 * rng.standard_normal(80) > 0, 1, -1)
    >>> sorted(CrossValidatedSize(SVMRFESelector(1)).fit(X, y).indices_.tolist())
    [3, 5]

    References
    ----------
    Breiman, Friedman, Olshen, Stone (1984), Classification and regression trees,
    section 3.4.3, for the rule.
    """

    algorithm_version = 2
    needs_labels = True

    def __init__(
        self,
        selector: Any,
        *,
        sizes: Iterable[int | float] | None = None,
        most: int | None = None,
        model: BaseEstimator | None = None,
        cv: Any = 5,
        scoring: Any = None,
        task: Literal["auto", "classification", "regression"] = "auto",
        rule: Literal["one_standard_error", "best"] = "one_standard_error",
        random_state: Any = None,
    ) -> None:
        self.selector = selector
        self.sizes = sizes
        self.most = most
        self.model = model
        self.cv = cv
        self.scoring = scoring
        self.task = task
        self.rule = rule
        self.random_state = random_state

    def _select(self, view: TrainingView, rng: np.random.Generator) -> Selection:
        sizes = self._checked_sizes(view.n_features)
        seed = (
            int(rng.integers(2**31))
            if self.is_random and self.random_state is not None
            else None
        )
        names, task = self._known_task()
        classes, target = target_of("CrossValidatedSize", view.y, task)
        # the task is set, because the rows of a fold alone may suggest another one
        task = "regression" if classes is None else "classification"
        selector = clone(self.selector).set_params(**dict.fromkeys(names, task))
        y = np.asarray(target if classes is None else view.y)
        fold_scores = self._fold_scores(view, y, task, selector, sizes, seed)
        means = fold_scores.mean(axis=1)
        errors = fold_scores.std(axis=1, ddof=1) / np.sqrt(fold_scores.shape[1])
        best = int(np.argmax(means))
        least = means[best] - (
            errors[best] if self.rule == "one_standard_error" else 0.0
        )
        chosen = int(sizes[np.flatnonzero(means >= least)[0]])
        fitted = _at(selector, chosen, seed, view.n_features).fit_view(view)
        scores = {"scores": fitted.scores_} if hasattr(fitted, "scores_") else {}
        return Selection(
            fitted.indices_,
            fitted.weights_,
            {
                "selector": fitted,
                "n_features": chosen,
                "sizes": sizes,
                "fold_scores": fold_scores,
                "mean_scores": means,
                "standard_errors": errors,
                **scores,
            },
        )

    def _known_task(self) -> tuple[list[str], str]:
        """Return the names of the selector's parameters, including nested ones, that set the task, and their values."""
        parameters = self.selector.get_params()
        names = [name for name in parameters if name.rpartition("__")[2] == "task"]
        said = {parameters[name] for name in names} - {"auto"}
        return names, said.pop() if self.task == "auto" and len(
            said
        ) == 1 else self.task

    def _fold_scores(
        self,
        view: TrainingView,
        y: NDArray[Any],
        task: str,
        selector: BaseSelector,
        sizes: NDArray[np.int64],
        seed: int | None,
    ) -> NDArray[np.float64]:
        """Return the score of each size on each fold, shape (n_sizes, n_folds).

        Other fits on the same view share the rows of the folds, the values that
        selectors derive from them, and scores of the same features.
        """
        X, classes = view.X, task == "classification"
        splits = list(check_cv(self.cv, y, classifier=classes).split(X, y))
        if len(splits) < 2:
            raise ValueError(
                f"CrossValidatedSize: expected cv with two folds or more, got {len(splits)}."
            )
        model = (
            (LibsvmSVM() if classes else Ridge()) if self.model is None else self.model
        )
        scorer = check_scoring(model, scoring=self.scoring)
        scores = np.empty((sizes.size, len(splits)))
        for fold, (train, test) in enumerate(splits):
            rows = view.shared(
                f"rows {joblib.hash([train, y])}",
                partial(TrainingView, X[train], y[train]),
            )
            for place, size in enumerate(sizes):
                chosen = _at(selector, int(size), seed, view.n_features).fit_view(rows)
                judge = partial(_score, model, scorer, chosen, rows, X[test], y[test])
                name = _name_of_score(model, self.scoring, chosen, test)
                scores[place, fold] = score = (
                    judge() if name is None else rows.shared(name, judge)
                )
                if not np.isfinite(score):
                    raise ValueError(
                        f"CrossValidatedSize: expected finite scores, got {score} on {y[test].size} rows in fold "
                        f"{fold}; use fewer folds or another scoring."
                    )
        return scores

    def _checked_sizes(self, n_features: int) -> NDArray[np.int64]:
        """Return the numbers of features to try, increasing, or raise for an invalid option."""
        own = isinstance(self.selector, BaseSelector)
        if not own or "n_features_to_select" not in self.selector.get_params(
            deep=False
        ):
            raise ValueError(
                f"CrossValidatedSize: expected a provsel selector with n_features_to_select, got "
                f"{self.selector!r:.80}; wrap a method that chooses its own number in AtSize first."
            )
        if self.rule not in RULES:
            raise ValueError(
                f"CrossValidatedSize: expected rule to be one of {RULES}, got {self.rule!r}."
            )
        most = n_features if self.most is None else self.most
        if self.sizes is None:
            candidate_sizes: list[Any] = [most]
        else:
            candidate_sizes = list(self.sizes)
        for size in candidate_sizes:
            is_fraction = isinstance(size, float | np.floating) and 0 < size <= 1
            is_number = isinstance(size, int | np.integer) and not isinstance(
                size, bool
            )
            if not is_fraction and not (is_number and 1 <= size <= n_features):
                raise ValueError(
                    f"CrossValidatedSize: expected {'most' if self.sizes is None else 'sizes'} between 1 and the "
                    f"number of features, n_features = {n_features}, or fractions of it, got {size!r}."
                )
        if not candidate_sizes:
            raise ValueError(
                "CrossValidatedSize: expected at least one size, got none."
            )
        if self.sizes is None:
            candidate_sizes += [
                2**power for power in range(int(most).bit_length()) if 2**power < most
            ]
        numbers = []
        for size in candidate_sizes:
            is_fraction = isinstance(size, float | np.floating)
            numbers.append(max(1, int(n_features * size)) if is_fraction else int(size))
        return np.unique(np.asarray(numbers, dtype=np.int64))


def _at(
    selector: BaseSelector, size: int, seed: int | None, n_features: int
) -> BaseSelector:
    """Return an unfitted copy of the selector for `size` features; all features need no selector."""
    if size == n_features:
        return FullDataSelector()
    copy: BaseSelector = clone(selector).set_params(n_features_to_select=size)
    return copy if seed is None else copy.set_params(random_state=seed)


def _score(
    model: BaseEstimator,
    scorer: Any,
    chosen: BaseSelector,
    rows: TrainingView,
    X_test: Any,
    y_test: NDArray[Any],
) -> float:
    """Return the score of a model that is trained on the selected features of some rows."""
    fitted = clone(model).fit(chosen.reduce(rows.X), rows.y)
    return float(scorer(fitted, chosen.reduce(X_test), y_test))


def _name_of_score(
    model: BaseEstimator, scoring: Any, chosen: BaseSelector, test: NDArray[np.int64]
) -> str | None:
    """Return what determines the score of a selection; None if it may depend on more than the features."""
    keeps_columns = type(chosen).reduce is BaseSelector.reduce and not getattr(
        chosen, "rescale", False
    )
    seeds = [
        value
        for name, value in model.get_params().items()
        if name.rpartition("__")[2] == "random_state"
    ]
    is_named = scoring is None or isinstance(scoring, str)
    if not keeps_columns or None in seeds or not is_named:
        return None
    features = np.sort(chosen.indices_)
    return f"score of {described(model)} by {scoring} {joblib.hash([features, test])}"
