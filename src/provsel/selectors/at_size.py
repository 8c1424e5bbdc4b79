"""Exactly r features from a selector that chooses its own number of features."""

from __future__ import annotations

import math
import warnings
from typing import Any, Literal

import numpy as np
from sklearn.base import clone

from provsel.selectors._base import (
    BaseSelector,
    Selection,
    SelectorAround,
    checked_count,
)
from provsel.selectors._size_search import SizeRange, SizeSearch, Tried
from provsel.training_view import TrainingView

IF_FEWER = ("raise", "keep")


class AtSize(SelectorAround):
    """Find the parameter with which a selector keeps the fewest features, but at least r, and keep the first r of them.

    Use it to compare methods whose parameter determines the number of features with
    other methods at equal numbers. The parameter is searched between `low` and `high`
    by bisection on a log scale, assuming that the number of features rises or falls
    with it. A fit that did not converge is not used, and the search continues towards
    fewer features. Searches on one view for different r share their common fits.

    Parameters
    ----------
    selector : selector
        A provsel selector, with the parameters that are not searched. Its `indices_`
        are in order of selection.
    n_features_to_select : int or float
        r.
    parameter : str, default=None
        Name of the parameter that is searched. None is the selector's own parameter:
        "C" of `L1SVMSelector`, "nu" of `LPSVMSelector`, "penalty" of `LassoSelector`,
        "c1" of `FeatureSelectiveSelector`. Give it for any other selector.
    low, high : float, default=None
        Ends of the search range, both tried; 0 < low < high. None takes the selector's
        range for its own parameter: 1e-6 and 100, for "penalty" 1e-4 and 0.99, for "c1"
        1e-9 and 1 if it is relative, otherwise a million.
    max_fits : int, default=30
        Limit on the number of fits in a search. 13 fits narrow twelve powers of ten to
        one percent, where the search ends.
    if_fewer : {"raise", "keep"}, default="raise"
        What to do if no tried value keeps r features: raise an error, or keep the value
        with the most features.
    random_state : int, Generator, RandomState or None, default=None
        Seed of a randomised selector, the same in all fits; None leaves the selector's
        own.

    Attributes
    ----------
    indices_, weights_, n_features_in_
        Attributes of the first r features of `selector_`.
    scores_ : ndarray of shape (n_features,)
        Those of `selector_`, if it has any.
    parameter_ : float
        The value that was used.
    selector_ : selector
        The selector fitted with this value, which may keep more than r features.
    n_fits_ : int
        Values tried.

    Raises
    ------
    ValueError
        From `fit`, if the selector is not provsel's or lacks the parameter, if the
        range is empty, or if fewer than r features are kept.

    Warns
    -----
    UserWarning
        Those of the chosen fit.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.selectors import AtSize, L1SVMSelector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 20))
    >>> y = np.where(X[:, 3] > 0, 1, -1)
    >>> AtSize(L1SVMSelector(), 2).fit(X, y).indices_.size
    2
    """

    algorithm_version = 1

    def __init__(
        self,
        selector: Any,
        n_features_to_select: int | float,
        *,
        parameter: str | None = None,
        low: float | None = None,
        high: float | None = None,
        max_fits: int = 30,
        if_fewer: Literal["raise", "keep"] = "raise",
        random_state: Any = None,
    ) -> None:
        self.selector = selector
        self.n_features_to_select = n_features_to_select
        self.parameter = parameter
        self.low = low
        self.high = high
        self.max_fits = max_fits
        self.if_fewer = if_fewer
        self.random_state = random_state

    def _select(self, view: TrainingView, rng: np.random.Generator) -> Selection:
        r = checked_count(self, view.n_features)
        wanted = self._checked_range()
        search = SizeSearch(self._seeded(rng), wanted.parameter, view, r)
        search.bisect(wanted.low, wanted.high, max_fits=int(self.max_fits))
        best = search.best() or self._most(search, r, wanted)
        for message in best.messages:
            warnings.warn(message.message, message.category, stacklevel=4)
        fitted = best.fitted
        scores = {"scores": fitted.scores_} if hasattr(fitted, "scores_") else {}
        attributes = {
            "parameter": best.value,
            "selector": fitted,
            "n_fits": len(search.tries),
            **scores,
        }
        return Selection(fitted.indices_[:r], fitted.weights_[:r], attributes)

    def _seeded(self, rng: np.random.Generator) -> BaseSelector:
        """Return a copy of the selector with one seed for all fits."""
        selector: BaseSelector = clone(self.selector)
        if self.is_random and self.random_state is not None:
            selector.set_params(random_state=int(rng.integers(2**31)))
        return selector

    def _most(self, search: SizeSearch, r: int, wanted: SizeRange) -> Tried:
        """Return the usable fit with the most features, or raise."""
        usable = [attempt for attempt in search.tries.values() if attempt.converged]
        most = max(usable, key=lambda attempt: attempt.count, default=None)
        most_text = (
            "none that converged"
            if most is None
            else f"at most {most.count} at {wanted.parameter}={most.value:g}"
        )
        if most is None or self.if_fewer == "raise":
            raise ValueError(
                f"AtSize: expected {type(self.selector).__name__} to keep at least {r} features for "
                f"{wanted.parameter} from {wanted.low:g} to {wanted.high:g}, got {most_text}; widen the "
                f"range, ask for fewer features, or set if_fewer='keep'."
            )
        return most

    def _checked_range(self) -> SizeRange:
        """Return the searched parameter and its range, or raise for an invalid option."""
        if not isinstance(self.selector, BaseSelector):
            raise ValueError(
                f"AtSize: expected a provsel selector, got {self.selector!r:.80}."
            )
        parameter: Any = self.parameter
        low: Any = self.low
        high: Any = self.high
        parameters, own = (
            sorted(self.selector.get_params(deep=False)),
            getattr(self.selector, "size_range", None),
        )
        if own is not None and parameter in (None, own.parameter):
            parameter, low, high = (
                own.parameter,
                own.low if low is None else low,
                own.high if high is None else high,
            )
        if parameter not in parameters:
            raise ValueError(
                f"AtSize: expected a parameter of {type(self.selector).__name__}, one of {', '.join(parameters)}, "
                f"got {parameter!r}; give the one that sets its number of features, with low= and high=."
            )
        ends = [low, high]
        numbers = all(
            isinstance(end, int | float | np.number) and not isinstance(end, bool)
            for end in ends
        )
        if not numbers or not 0 < low < high < math.inf:
            raise ValueError(
                f"AtSize: expected 0 < low < high, both finite, got {low!r} and {high!r}."
            )
        count = self.max_fits
        if (
            isinstance(count, bool)
            or not isinstance(count, int | np.integer)
            or count < 2
        ):
            raise ValueError(
                f"AtSize: expected max_fits to be an integer of at least 2, one for each end of the "
                f"range, got {count!r}."
            )
        if self.if_fewer not in IF_FEWER:
            raise ValueError(
                f"AtSize: expected if_fewer to be one of {IF_FEWER}, got {self.if_fewer!r}."
            )
        return SizeRange(parameter, float(low), float(high))
