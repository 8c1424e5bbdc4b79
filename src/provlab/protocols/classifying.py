"""Train a linear model on the selected features of a fold, and test it."""

from __future__ import annotations

from provlab.protocols._base import AbstractProtocol
from provlab.protocols.columns import certificate_columns, columns
from provlab.protocols.fold import Fold
from provlab.protocols.method import Method, Record
from provsel.certificates import (
    CompressedRecovery,
    FeatureSelectiveRecovery,
    MarginPreservation,
    OnlineScoreSum,
    RadiusPreservation,
    SoftMarginBound,
    SpectralSparsification,
)

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
        from provlab.protocols.fitting import classify, fit_selector

        return classify(method, fit_selector(method, seed, fold.view), fold, seed)
