"""A selector with features that are always kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from provsel.selectors._base import (
    BaseSelector,
    Selection,
    SelectorAround,
    checked_count,
)
from provsel.training_view import TrainingView


class AlwaysKept(SelectorAround):
    """Keep some features, and let a selector choose the others among the rest of the columns.

    Use it if the model must have certain features, such as age or a treatment.

    Parameters
    ----------
    selector : selector
        A provsel selector with `n_features_to_select`.
    n_features_to_select : int or float
        Total number of features, including the kept ones; below 1, a fraction of the
        features.
    always : sequence of int or str
        Features to keep, as column numbers, or as names if X has names.
    random_state : int, Generator, RandomState or None, default=None
        Seed of a randomised selector; None leaves the selector's own.

    Attributes
    ----------
    indices_ : ndarray of shape (n_selected,), int64
        `always` first, in the given order, then the selector's choice, in its order.
    weights_ : ndarray of shape (n_selected,)
        1 for `always`; the selector's weights for the others.
    selector_ : selector or None
        Fitted on the columns not in `always`; None if nothing is left to choose.
    n_features_in_ : int

    Raises
    ------
    ValueError
        From `fit`, if the selector is not provsel's or lacks `n_features_to_select`, if
        X lacks a feature of `always` or it is listed twice, or if `always` has more
        features than are requested.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.selectors import AlwaysKept, SVMRFESelector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 20))
    >>> y = np.where(X[:, 3] > 0, 1, -1)
    >>> AlwaysKept(SVMRFESelector(1), 2, always=[7]).fit(X, y).indices_.tolist()
    [7, 3]
    """

    algorithm_version = 1

    def __init__(
        self,
        selector: Any,
        n_features_to_select: int | float,
        *,
        always: Sequence[int | str],
        random_state: Any = None,
    ) -> None:
        self.selector = selector
        self.n_features_to_select = n_features_to_select
        self.always = always
        self.random_state = random_state

    def _select(self, view: TrainingView, rng: np.random.Generator) -> Selection:
        r, kept = (
            checked_count(self, view.n_features),
            self._checked_features(view.n_features),
        )
        if kept.size > r:
            raise ValueError(
                f"AlwaysKept: expected at most n_features_to_select = {r} features in always, got {kept.size}; ask for "
                f"more features."
            )
        if kept.size == r:
            return Selection.unweighted(kept, selector=None)
        rest = np.setdiff1d(np.arange(view.n_features), kept)
        selector = clone(self.selector).set_params(n_features_to_select=r - kept.size)
        if self.is_random and self.random_state is not None:
            selector.set_params(random_state=int(rng.integers(2**31)))
        name = f"columns but {kept.tolist()}"
        selector.fit_view(
            view.shared(
                name, lambda: TrainingView(view.X[:, rest], view.y, view.metadata)
            )
        )
        return Selection(
            np.concatenate([kept, rest[selector.indices_]]),
            np.concatenate([np.ones(kept.size), selector.weights_]),
            {"selector": selector},
        )

    def _checked_features(self, n_features: int) -> NDArray[np.int64]:
        """Return the columns of `always`, or raise."""
        own = isinstance(self.selector, BaseSelector)
        if not own or "n_features_to_select" not in self.selector.get_params(
            deep=False
        ):
            raise ValueError(
                f"AlwaysKept: expected a provsel selector with n_features_to_select, got {self.selector!r:.80}."
            )
        names = [str(name) for name in getattr(self, "feature_names_in_", ())]
        kept: list[int] = []
        for feature in self.always:
            place: Any = names.index(feature) if feature in names else feature
            number = isinstance(place, int | np.integer) and not isinstance(place, bool)
            if not number or not 0 <= place < n_features or place in kept:
                name_examples = (
                    f"names such as {', '.join(names[:3])}, or " if names else ""
                )
                raise ValueError(
                    f"AlwaysKept: expected always to list different features of X, {name_examples}numbers from 0 to "
                    f"{n_features - 1}, got {feature!r}."
                )
            kept.append(int(place))
        return np.array(kept, dtype=np.int64)
