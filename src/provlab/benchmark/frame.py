"""The frame of the panel: what was measured of each method on each data set, as the ranks and pages read it.

Two tables. `TRIALS` has a line a trial: one fold of one repeat. `SELECTIONS` has a line for each method, data set and
number of features: what can only be said of all folds together, or of what was selected.
"""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd

LINEAR, FOREST = "linear", "forest"
"""Models that are trained on what was selected."""

ALL_FEATURES, OWN_SIZE = 0, -1
"""In `size`: all features are kept, and the method chooses their number itself."""

KEY = ["method", "dataset", "size"]
"""Columns that name a selection, in both tables."""

TRIALS = {
    **dict.fromkeys(("method", "dataset", "domain"), "str"),
    "size": "int64", "model": "str",
    **dict.fromkeys(("repeat", "fold", "draw"), "int64"),
    "cell": "str",
    **dict.fromkeys(("n_selected", "error", "balanced_accuracy", "neg_log_loss"), "float64"),
    **dict.fromkeys(("subset_frobenius_ratio", "select_cpu", "peak_bytes"), "float64"),
    "n_features": "int64", "failure": "str",
}  # fmt: skip
"""Columns of a trial. size: number of features that was asked for, or `ALL_FEATURES` or `OWN_SIZE`. model: `LINEAR` or
`FOREST`. cell: id of the cell, of which with repeat, fold and draw the key of the trial follows. error and
balanced_accuracy: shares of the test rows, from 0 to 1. neg_log_loss: minus the mean log loss, NaN of a model without
probabilities. subset_frobenius_ratio: ||X - C C^+ X||_F^2 over that of the best rank 5, training rows.
select_cpu: CPU seconds of the selection with all that it shares with others, as if it were alone. peak_bytes: memory
that the selection needs beyond what was there before, NaN where the system does not tell. n_features: of the data set.
failure: "" or why nothing could be measured, where all numbers but n_features are NaN."""

SELECTIONS = {
    **dict.fromkeys(("method", "dataset", "domain"), "str"),
    "size": "int64",
    **dict.fromkeys(("stability", "stability_se", "support_f1", "false_discovery"), "float64"),
}
"""Columns of a selection. stability: index of Nogueira, Sechidis and Brown (2018) over the folds of a repeat, the mean
of the repeats, and stability_se its standard error. support_f1 and false_discovery: of the selected features against
those that the labels depend on, the mean over folds; NaN where these are not known. NaN of all features, and where a
fold failed."""


class Panel(NamedTuple):
    """Both tables of a panel, see `TRIALS` and `SELECTIONS`."""

    trials: pd.DataFrame
    selections: pd.DataFrame

    @classmethod
    def of(cls, trials: pd.DataFrame, selections: pd.DataFrame) -> Panel:
        """Return two tables as a panel: declared columns and types, and no others.

        Raises
        ------
        ValueError
            When a column is missing, or a value does not fit its type: names the table and the column.
        """
        return cls(_checked("trials", trials, TRIALS), _checked("selections", selections, SELECTIONS))


def _checked(name: str, table: pd.DataFrame, columns: dict[str, str]) -> pd.DataFrame:
    if missing := [each for each in columns if each not in table]:
        raise ValueError(
            f"panel, {name}: expected the columns {', '.join(columns)}, got none of the name {missing[0]}; it was "
            f"written by another version, or is no panel."
        )
    texts = {each: "" for each, kind in columns.items() if kind == "str"}
    try:
        return table[[*columns]].fillna(texts).astype({k: object if k in texts else v for k, v in columns.items()})
    except (ValueError, TypeError) as error:
        raise ValueError(f"panel, {name}: expected {columns}, got another type: {error}; write it anew.") from error
