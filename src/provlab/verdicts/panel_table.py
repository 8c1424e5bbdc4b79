"""The results of the panel as a table that claims are judged on: `evidence: panel` of a claims.yaml.

A line is a method on a data set, with a number of features and a judge: means over its folds. `provsel export --panel`
writes the table for others; `provsel verify --results` gives the same verdicts on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from provlab.verdicts.claims.schema import ClaimFile, load_claims, read_content
from provlab.verdicts.claims.table import TableEvidence
from provlab.verdicts.panel_frame import ALL_FEATURES, CHOSEN_SIZE, OWN_SIZE
from provlab.verdicts.panel_scores import Scores

SIZES = {ALL_FEATURES: "all", OWN_SIZE: "own", CHOSEN_SIZE: "chosen"}
"""What claims call the numbers of features that are none that was asked for."""

TASKS = {"classification": "classes", "regression": "numbers"}

AS_THEY_ARE = {"tier": "default", "labels": "real", "rows_a_class": "full"}
"""Columns that tell trials apart which the panel does not have yet: tuned methods, permuted labels, few rows."""

SMALL_SAMPLE = 100
"""Rows below which a data set is called small."""

DIFFICULTY = {"below 10 %": 0.0, "10 to 20 %": 0.1, "over 20 %": 0.2}
"""Least balanced error of all features, by the better judge, of a data set that is called so."""

PLACE = ["dataset", "size", "judge"]

AS_MEASURED = [
    "method", "dataset", "domain", "source", "task", "judge", "n_selected", "roc_auc", "r2", "mae", "stability",
    "support_f1", "support_recall",
]  # fmt: skip


def panel_table(panel: pd.DataFrame, datasets: pd.DataFrame) -> pd.DataFrame:
    """Return the lines that claims are judged on.

    Parameters
    ----------
    panel : DataFrame
        See `provlab.verdicts.panel_frame`.
    datasets : DataFrame
        Of each data set dataset, rows, classes, and error_..., the errors of all features on its card.

    Returns
    -------
    DataFrame
        method, size and judge, as strings; dataset, domain and source; `AS_THEY_ARE`; rows, classes and difficulty, in
        words; failed, "yes" where a fold failed: balanced_error is then the largest of any method, and all else NaN.
        balanced_error in percent, neg_log_loss, roc_auc, r2, mae, stability, support_f1, support_recall,
        false_discovery as a share, log10_seconds of the CPU, n_selected.
    """
    of_tasks = [Scores.of(panel, task).lines.assign(task=name) for task, name in TASKS.items()]
    lines = pd.concat(of_tasks, ignore_index=True).rename(columns={"model": "judge", "auc": "roc_auc"})
    largest = lines.groupby(PLACE)["balanced_error"].transform("max")
    has_failed = lines["failed"] > 0
    table = lines[AS_MEASURED].assign(
        size=lines["size"].map(SIZES).fillna(lines["size"].astype(str)),
        failed=np.where(has_failed, "yes", "no"),
        balanced_error=lines["balanced_error"].mask(has_failed, largest),
        neg_log_loss=-lines["log_loss"],
        false_discovery=lines["false_discovery"] / 100,
        log10_seconds=np.log10(lines["seconds"].where(lines["seconds"] > 0)),
        **AS_THEY_ARE,
    )
    return table.merge(_in_words(datasets), on="dataset", how="left")


def _in_words(datasets: pd.DataFrame) -> pd.DataFrame:
    """Return the columns by which claims distinguish data sets."""
    least = datasets.filter(like="error_").min(axis=1)
    difficulty = pd.cut(least, [*DIFFICULTY.values(), np.inf], labels=[*DIFFICULTY], right=False)
    return pd.DataFrame({
        "dataset": datasets["dataset"],
        "rows": np.where(datasets["rows"] < SMALL_SAMPLE, f"below {SMALL_SAMPLE}", f"{SMALL_SAMPLE} or more"),
        "classes": np.where(datasets["classes"] == 2, "two", "more"),
        "difficulty": difficulty.astype(object).fillna("not known"),
    })  # fmt: skip


def claims_on_panel(path: Path, table: pd.DataFrame) -> tuple[ClaimFile, TableEvidence]:
    """Return the claims of a file with `evidence: panel`, and the table as what they are judged on."""
    content = read_content(path)
    roles: Mapping[str, object] = content.results
    evidence = TableEvidence(Path("panel"), roles, content=content, table=table)
    return load_claims(path, evidence.layout), evidence
