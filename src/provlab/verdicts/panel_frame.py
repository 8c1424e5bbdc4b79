"""The data frame of the panel: the measurements of each method on each data set, which ranks and pages read.

It has one row per trial, which is one fold of one repeat. Quantities that need all
folds of a selection are repeated in the row of each of its trials.
"""

from __future__ import annotations

import pandas as pd

ALL_FEATURES, OWN_SIZE, CHOSEN_SIZE, HALF_SIZE = 0, -1, -2, -3
"""Values of `size`: all features are kept; the method chooses the number; cross-validation chooses it; it is the number
of real columns, if as many noise columns are added to them."""

KEY = ["method", "dataset", "size"]
"""Columns that identify a selection."""

WHERE = ["environment", "git_revision"]
"""Columns that state where a trial was computed."""

COLUMNS = {
    **dict.fromkeys(("method", "dataset", "domain", "source", "task"), "str"),
    "size": "int64", "model": "str",
    **dict.fromkeys(("repeat", "fold"), "int64"),
    "cell": "str",
    **dict.fromkeys(("n_selected", "error", "balanced_accuracy", "neg_log_loss", "roc_auc", "r2", "mae"), "float64"),
    **dict.fromkeys(("subset_frobenius_ratio", "select_cpu", "peak_bytes"), "float64"),
    "n_features": "int64", "failure": "str",
    **dict.fromkeys(("stability", "stability_se", "support_f1", "support_recall", "false_discovery"), "float64"),
    **dict.fromkeys(WHERE, "str"),
}  # fmt: skip
"""Columns and their types.

source: the origin of the rows, which several data sets may share. task:
"classification" or "regression". size: the requested number of features, or
`ALL_FEATURES`, `OWN_SIZE`, `CHOSEN_SIZE` or `HALF_SIZE`. model: the judge, that is the
model trained on the selected features, see `judges.yaml`. cell: the first digits of the
cell's id, which with repeat and fold determines the key of a trial. error and
balanced_accuracy: shares of the test rows, from 0 to 1. For a numeric target error is
NaN, and balanced_accuracy is R^2, with negative values set to 0. neg_log_loss: minus
the mean log loss. roc_auc: for more than two classes, the mean of each class against
the rest. r2, mae: for a numeric target. subset_frobenius_ratio: ||X - C C^+ X||_F^2
divided by the error of the best approximation of rank 5, on training rows. select_cpu:
CPU seconds of the selection, including computations that it shares with others.
peak_bytes: additional memory that the selection needs; NaN if the system does not
report it. n_features: the number of features of the data set. failure: "", or the
reason why nothing could be measured; all numbers but n_features are then NaN.

Quantities of the selection: stability is the index of Nogueira, Sechidis and Brown
(2018) over the folds of a repeat, averaged over repeats; stability_se is its standard
error. support_f1, support_recall and false_discovery compare the selected features with
those on which the labels depend, averaged over folds. They are NaN if the true features
are unknown. All these are NaN for `ALL_FEATURES`, and if a fold failed.
"""


def as_panel(table: pd.DataFrame) -> pd.DataFrame:
    """Return the columns of a table that `COLUMNS` declares, with their types."""
    texts = [name for name, kind in COLUMNS.items() if kind == "str"]
    panel = table[[*COLUMNS]].fillna(dict.fromkeys(texts, ""))
    return panel.astype(COLUMNS | dict.fromkeys(texts, object))
