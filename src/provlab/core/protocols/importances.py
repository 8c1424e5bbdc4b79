"""Check before a run that scikit-learn's weight-based selectors can read their estimator's weights."""

from __future__ import annotations

import json
import warnings
from functools import lru_cache
from operator import attrgetter
from typing import Any

import numpy as np

from provlab.project.components import build

PLACE = "sklearn.feature_selection"
"""Module of the selectors; configs without it are not built."""


@lru_cache(maxsize=1024)
def check_importances(selector: str) -> None:
    """Raise if the estimator in RFE, RFECV or SelectFromModel has no importances after fitting.

    The estimator is fitted to a few rows of random numbers. Nothing is reported if it
    does not accept these rows.

    Parameters
    ----------
    selector : str
        Selector as returned by `component_json`.

    Raises
    ------
    ValueError
        If it has none. The message names the estimator and alternatives.
    """
    if PLACE not in selector:
        return
    from sklearn.feature_selection import RFE, SelectFromModel

    outermost = build("selector", json.loads(selector)["config"])
    for component in [outermost, *outermost.get_params(deep=True).values()]:
        if not isinstance(component, RFE | SelectFromModel):
            continue
        fitted = _fitted(component.estimator)
        getter = component.importance_getter
        if fitted is not None and not _has_importances(fitted, getter):
            wanted = (
                "coef_ or feature_importances_"
                if getter == "auto"
                else f"importance_getter={getter!r:.80}"
            )
            raise ValueError(
                f"selector: expected an estimator inside {type(component).__name__} that has {wanted} after fit, got "
                f"{fitted!r:.80}, which has none; choose a linear model or a forest, or set importance_getter."
            )


def _fitted(estimator: Any) -> Any:
    """Return a copy fitted to a few rows; None if it does not accept them."""
    from sklearn.base import clone, is_regressor

    rng = np.random.default_rng(0)
    X = rng.random((24, 4))
    y = rng.random(24) if is_regressor(estimator) else np.arange(24) % 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return clone(estimator).fit(X, y)
        except Exception:  # an estimator may raise anything
            return None


def _has_importances(fitted: Any, getter: Any) -> bool:
    if getter == "auto":
        return hasattr(fitted, "coef_") or hasattr(fitted, "feature_importances_")
    read = attrgetter(getter) if isinstance(getter, str) else getter
    try:
        return read(fitted) is not None
    except AttributeError:
        return False
