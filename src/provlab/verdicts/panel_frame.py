"""The frame of the panel: what was measured of each method on each data set, as the ranks and pages read it.

It has a line per trial, which is one fold of one repeat. What only all folds of a selection tell together stands in the
line of each of its trials.
"""

from __future__ import annotations

import pandas as pd

ALL_FEATURES, OWN_SIZE, CHOSEN_SIZE = 0, -1, -2
"""In `size`: all features are kept, the method chooses their number itself, and cross-validation chooses it."""

KEY = ["method", "dataset", "size"]
"""Columns that name a selection."""

WHERE = ["environment", "git_revision"]
"""Columns that say where a trial was computed."""

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

source: of the rows, which several data sets may have. task: "classification" or "regression". size: number of features
that was asked for, or `ALL_FEATURES`, `OWN_SIZE` or `CHOSEN_SIZE`. model: the judge, which was trained on what was
selected, see `judges.yaml`. cell: the first digits of the cell's id, of which with repeat and fold the key of a trial
follows. error and balanced_accuracy: shares of the test rows, from 0 to 1; of a numeric target the latter is R^2, where
less than 0 counts as 0, and the former NaN. neg_log_loss: minus the mean log loss. roc_auc: of several classes the mean
of each against the rest. r2, mae: of a numeric target. subset_frobenius_ratio: ||X - C C^+ X||_F^2 over that of the
best rank 5, training rows. select_cpu: CPU seconds of the selection with all that it shares with others, as if it were
alone. peak_bytes: memory that the selection needs beyond what was there before, NaN where the system does not tell.
n_features: of the data set. failure: "" or why nothing could be measured, where all numbers but n_features are NaN.

Of the selection: stability is the index of Nogueira, Sechidis and Brown (2018) over the folds of a repeat, the mean of
the repeats, and stability_se its standard error. support_f1, support_recall and false_discovery: of the selected
features against those that the labels depend on, the mean over folds; NaN where these are not known. NaN of all
features, and where a fold failed.
"""


def as_panel(table: pd.DataFrame) -> pd.DataFrame:
    """Return the columns of a table that are declared here, with their types."""
    texts = [name for name, kind in COLUMNS.items() if kind == "str"]
    panel = table[[*COLUMNS]].fillna(dict.fromkeys(texts, ""))
    return panel.astype(COLUMNS | dict.fromkeys(texts, object))
