"""Fit the selector of a cell on the rows of a fold, in one of three settings, and say what that gave."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from provlab.project.components import build, component_class
from provlab.project.measures import checked_values
from provlab.protocols.columns import columns
from provsel import reducers
from provsel.certificates import MeasuredTrial
from provsel.reducers import fit_reducer, is_random, is_random_model, kept_features, n_columns
from provsel.selectors import BaseSelector, OnSupportVectors, WithEnclosingBallCenter
from provsel.training_view import Meter, TrainingView, described

SETTINGS = ("supervised", "unsupervised", "unsupervised_with_center")
"""On the support vectors of the model on all features; on all training rows; on these and the centre of their ball."""

Record = dict[str, Any]


@dataclass(frozen=True)
class Method:
    """What a cell measures: a selector and a model, as configs, and how they are used."""

    selector: Mapping[str, Any]
    model: Mapping[str, Any]
    setting: str
    certify: bool
    measures: tuple[Mapping[str, Any], ...] = ()


@dataclass
class Fitted:
    """A reducer fitted on `rows`, which are those of the fold or its support vectors, and what that cost."""

    reducer: Any
    rows: TrainingView
    selecting: Meter

    COLUMNS = (
        *columns("text", "selector"),
        *columns("int32", "n_rows", "rank", "n_selected", "n_repeats"),
        *columns("number", "sampling_rate"),
        *columns("features", "features"),
        *columns("seconds", "select_cpu", "select_wall", "shared_cpu", "shared_wall"),
    )

    def as_record(self, n_features: int) -> Record:
        """Return what was selected, of so many features, and the cost of that."""
        inner, features = self.reducer, kept_features(self.reducer)
        return {
            "selector": type(inner).__name__,
            "n_rows": self.rows.n_samples,
            "rank": getattr(inner, "rank_", None),
            "n_selected": n_columns(inner, self.rows.X),
            "n_repeats": getattr(inner, "n_repeats_", None),
            "sampling_rate": getattr(inner, "sampling_rate_", None),
            "features": None if features is None or features.size == n_features else features.astype(np.int32),
            "select_cpu": self.selecting.own.cpu,
            "select_wall": self.selecting.own.wall,
            "shared_cpu": self.selecting.shared.cpu,
            "shared_wall": self.selecting.shared.wall,
        }


def fit_selector(method: Method, seed: int, view: TrainingView, *, same_rows: bool = False) -> Fitted:
    """Fit a selector on the rows of a view; with `same_rows` all repeats have them, and share what draws nothing."""
    selector: Any = build("selector", method.selector)
    if is_random(selector):
        reducers.seed(selector, seed)
    model = build("model", method.model)
    supervised = method.setting == "supervised"
    if supervised and not isinstance(selector, BaseSelector):
        return _fit_on_support_vectors(selector, model, view)
    if supervised:
        selector = OnSupportVectors(selector, svm=model)
    elif method.setting == "unsupervised_with_center":
        selector = WithEnclosingBallCenter(selector)
    with view.metered() as selecting:
        if same_rows and not is_random(selector):
            selector = view.shared(f"fitted {described(selector)}", lambda: fit_reducer(selector, view))
        else:
            fit_reducer(selector, view)
    rows = view.on_support_vectors(model) if supervised else view
    return Fitted(selector if method.setting == "unsupervised" else selector.selector_, rows, selecting)


def _fit_on_support_vectors(selector: Any, model: Any, view: TrainingView) -> Fitted:
    with view.metered() as selecting:
        rows = view.on_support_vectors(model)
        selector.fit(rows.X, rows.y)
    return Fitted(selector, rows, selecting)


def seeded(model: Mapping[str, Any], seed: int) -> Any:
    """Return a model with the seed of the trial where the model draws."""
    built = build("model", model)
    return reducers.seed(built, seed) if is_random_model(built) else built


def own_measures(method: Method, trial: MeasuredTrial) -> Record:
    """Return the columns that the project's own measures fill."""
    found: Record = {}
    for config in method.measures:
        found |= checked_values(component_class("measure", config), build("measure", config)(trial))
    return found


def is_certified(method: Method, reducer: Any) -> bool:
    """Tell whether the protocol asks for certificates and the method promises anything."""
    promises = hasattr(reducer, "budget") or hasattr(reducer, "spectral_bound_")
    return method.certify and isinstance(reducer, BaseSelector) and promises
