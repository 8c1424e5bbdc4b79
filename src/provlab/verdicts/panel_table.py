"""The results of the panel as a table on which claims are judged, for `evidence: panel` in a claims.yaml.

Each row has the means over folds of a method on a data set, for one number of features
and one judge. `provsel export --panel` writes the table for others, and
`provsel verify --results` gives the same verdicts on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from provlab.verdicts.claims.schema import ClaimFile, load_claims, read_content
from provlab.verdicts.claims.table import TableEvidence
from provlab.verdicts.panel_frame import ALL_FEATURES, CHOSEN_SIZE, HALF_SIZE, OWN_SIZE
from provlab.verdicts.panel_scores import Scores

SIZES = {ALL_FEATURES: "all", OWN_SIZE: "own", CHOSEN_SIZE: "chosen", HALF_SIZE: "half"}
"""How claims name the sizes that are not a requested number of features."""

TASKS = {"classification": "classes", "regression": "numbers"}

AS_THEY_ARE = {"tier": "default", "labels": "real", "rows_a_class": "full"}
"""Columns by which trials of studies differ from those of the panel: tuned methods, permuted labels, few rows."""

ADDED = {
    "": "",
    "permuted": ", random added",
    "corrupted": ", copies added",
    "products": ", products added",
}
"""What the name of a size says of the noise columns that a study adds."""

SMALL_SAMPLE = 100
"""A data set with fewer rows is called small."""

DIFFICULTY = {"below 10 %": 0.0, "10 to 20 %": 0.1, "over 20 %": 0.2}
"""Lower limit of the balanced error with all features, by the better judge, for each level of difficulty."""

PLACE = ["dataset", "size", "judge"]

AS_MEASURED = [
    "method", "dataset", "domain", "source", "task", "judge", "n_selected", "roc_auc", "r2", "mae", "stability",
    "support_f1", "support_recall",
]  # fmt: skip


Tagged = tuple[Mapping[str, str], pd.DataFrame]
"""Trials in the columns of the panel, and values of `AS_THEY_ARE` or `added` that distinguish them."""


def panel_table(
    panel: pd.DataFrame, datasets: pd.DataFrame, studies: Iterable[Tagged] = ()
) -> pd.DataFrame:
    """Return the rows on which claims are judged.

    Parameters
    ----------
    panel : DataFrame
        See `provlab.verdicts.panel_frame`.
    datasets : DataFrame
        dataset, rows, classes and error_... of each data set; the latter are the errors
        with all features, from its card.
    studies : iterable of (mapping, DataFrame)
        Trials of studies beside the panel, each with its tags.

    Returns
    -------
    DataFrame
        method, size and judge, as strings; dataset, domain and source; `AS_THEY_ARE`;
        rows, classes and difficulty, in words. failed: "yes" if a fold failed;
        balanced_error is then the largest of any method, and all other measures are
        NaN. The measures are balanced_error in percent, neg_log_loss, roc_auc, r2, mae,
        stability, support_f1, support_recall, false_discovery as a share, log10_seconds
        of CPU time, and n_selected.
    """
    tables = [_rows(panel, {})]
    tables += [_rows(trials, tags) for tags, trials in studies]
    return pd.concat(tables, ignore_index=True).merge(
        _in_words(datasets), on="dataset", how="left"
    )


def _rows(panel: pd.DataFrame, tags: Mapping[str, str]) -> pd.DataFrame:
    """Return the rows of some trials, without what cards say."""
    of_tasks = [
        Scores.of(panel, task).lines.assign(task=name) for task, name in TASKS.items()
    ]
    lines = pd.concat(of_tasks, ignore_index=True).rename(
        columns={"model": "judge", "auc": "roc_auc"}
    )
    largest = lines.groupby(PLACE)["balanced_error"].transform("max")
    has_failed = lines["failed"] > 0
    size = lines["size"].map(SIZES).fillna(lines["size"].astype(str))
    return lines[AS_MEASURED].assign(
        size=size + ADDED[tags.get("added", "")],
        failed=np.where(has_failed, "yes", "no"),
        balanced_error=lines["balanced_error"].mask(has_failed, largest),
        neg_log_loss=-lines["log_loss"],
        false_discovery=lines["false_discovery"] / 100,
        log10_seconds=np.log10(lines["seconds"].where(lines["seconds"] > 0)),
        **{column: tags.get(column, value) for column, value in AS_THEY_ARE.items()},
    )


def _in_words(datasets: pd.DataFrame) -> pd.DataFrame:
    """Return the columns by which claims distinguish data sets."""
    least = datasets.filter(like="error_").min(axis=1)
    difficulty = pd.cut(
        least, [*DIFFICULTY.values(), np.inf], labels=[*DIFFICULTY], right=False
    )
    return pd.DataFrame({
        "dataset": datasets["dataset"],
        "rows": np.where(datasets["rows"] < SMALL_SAMPLE, f"below {SMALL_SAMPLE}", f"{SMALL_SAMPLE} or more"),
        "classes": np.where(datasets["classes"] == 2, "two", "more"),
        "difficulty": difficulty.astype(object).fillna("not known"),
    })  # fmt: skip


def claims_on_panel(path: Path, table: pd.DataFrame) -> tuple[ClaimFile, TableEvidence]:
    """Return the claims of a file with `evidence: panel`, and the table as their evidence."""
    content = read_content(path)
    evidence = TableEvidence(
        Path("panel"), content.results, content=content, table=table
    )
    return load_claims(path, evidence.layout), evidence
