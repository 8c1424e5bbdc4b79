"""Train a linear model on the selected features of a fold, and test it."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone

from provlab.protocols._base import AbstractProtocol
from provlab.protocols.columns import certificate_columns, columns
from provlab.protocols.fitting import Fitted, Method, Record, fit_selector, is_certified, own_measures, seeded
from provlab.protocols.fold import Fold
from provsel.certificates import (
    CompressedRecovery,
    FeatureSelectiveRecovery,
    MarginPreservation,
    MeasuredTrial,
    OnlineScoreSum,
    RadiusPreservation,
    SoftMarginBound,
    SpectralSparsification,
)
from provsel.certificates.certifying import certify_trial
from provsel.certificates.compression import certify_compressed_trial, is_compressed
from provsel.models import LibsvmSVM
from provsel.reducers import is_random_model, kept_features, leaves_nothing_out, reduced_rows

THEOREMS = (
    SpectralSparsification,
    MarginPreservation,
    SoftMarginBound,
    RadiusPreservation,
    OnlineScoreSum,
    CompressedRecovery,
    FeatureSelectiveRecovery,
)
COLUMNS = (
    *columns("number", "error", "objective", "scaled_objective"),
    *certificate_columns(*THEOREMS),
    *columns("seconds", "train_cpu", "train_wall"),
)


class AbstractClassification(AbstractProtocol):
    """A protocol that trains on some rows and tests on others."""

    columns = COLUMNS

    def run(self, method: Method, fold: Fold, *, seed: int, split_seed: int) -> Record:
        """Return selection, test error and certificates."""
        return classify(method, fit_selector(method, seed, fold.view), fold, seed)


def classify(method: Method, fitted: Fitted, fold: Fold, seed: int) -> Record:
    """Return the record of a fitted selection, with the test error of a model on it and its certificates."""
    model = seeded(method.model, seed)
    inner, view, rows = fitted.reducer, fold.view, fitted.rows
    with view.metered() as training:
        if leaves_nothing_out(inner, view) and not is_random_model(model):
            # the SVM that gave the support vectors is the trained model
            trained = view.svm(model)
        else:
            trained = clone(model).fit(reduced_rows(inner, rows.X), rows.y)
        predicted = trained.predict(reduced_rows(inner, fold.X_test))
        error = float(np.mean(predicted != fold.y_test))
    record = fitted.as_record(view.n_features)
    record |= {"error": error, "train_cpu": training.own.cpu, "train_wall": training.own.wall}
    record |= {name: getattr(trained, f"{name}_", None) for name in ("objective", "scaled_objective")}
    if hasattr(trained, "indices_"):  # a model that drops features itself, of those that the selector left it
        left = kept_features(inner)
        features = trained.indices_ if left is None else np.sort(left)[trained.indices_]
        record |= {"n_selected": features.size, "features": None if left is None else features.astype(np.int32)}
    trial = MeasuredTrial(inner, rows, fold.X_test, fold.y_test, trained, predicted)
    if method.certify and is_compressed(model) and leaves_nothing_out(inner, view):
        record |= certify_compressed_trial(trial).as_record()
    elif is_certified(method, inner):
        C = model.C if isinstance(model, LibsvmSVM) else None
        record |= certify_trial(trial, C=C, radius=method.setting != "supervised").as_record()
    return record | own_measures(method, trial)
