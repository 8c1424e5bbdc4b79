"""What the larger benchmark says so far: whether selection helps, with what, and where, as probabilities.

In: the pieces and the cards. Out: `_answers.csv`, a line for each method, judge, number of features and kind of new
data set. The question is always the difference to all features with the same judge, in points: of balanced error, or of
unexplained variance, 100 (1 - R^2), where more than that of the mean counts as 100.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from provlab.bench.panel import CARDS, stored_folder
from provlab.bench.pieces import read_pieces
from provlab.core.tables import write_frame
from provlab.verdicts.panel_answers import MIN_DOMAINS, answers
from provlab.verdicts.panel_frame import CHOSEN_SIZE, OWN_SIZE, as_panel
from provlab.verdicts.panel_model import fit, folds_of_panel, sets_of_folds

ANSWERS = "_answers.csv"

QUESTIONS = ((CHOSEN_SIZE, "linear"), (20, "linear"), (20, "boosting"), (20, "neighbours"), (OWN_SIZE, "linear"))
"""Numbers of features and judges of which answers are written."""

NO_VERDICT = ("ceiling", "chance")
"""States of data sets, see `provlab.bench.cards.state_of`, that do not tell methods apart by their errors."""


def panel_of_pieces(trials: pd.DataFrame, domains: Mapping[str, str]) -> pd.DataFrame:
    """Return the trials of pieces as a panel, see `provlab.verdicts.panel_frame`.

    Parameters
    ----------
    trials : DataFrame
        See `provlab.bench.pieces.read_pieces`.
    domains : mapping
        Of each data set.
    """
    errors, balanced = [], []
    for rows, wrong in zip(trials["class_rows"], trials["class_errors"], strict=True):
        if rows is None:
            errors.append(np.nan)
            balanced.append(np.nan)
            continue
        has_rows = rows > 0
        errors.append(wrong.sum() / rows.sum())
        balanced.append(1 - np.mean(wrong[has_rows] / rows[has_rows]))
    return as_panel(
        trials.rename(
            columns={"judge": "model", "subset_ratio": "subset_frobenius_ratio", "peak_memory": "peak_bytes"}
        ).assign(
            domain=trials["dataset"].map(domains),
            draw=0,
            error=errors,
            balanced_accuracy=pd.Series(balanced, index=trials.index).fillna(trials["r2"].astype(float)),
        )
    )


def answer_frame(panel: pd.DataFrame, cards: pd.DataFrame) -> pd.DataFrame:
    """Return the answers to `QUESTIONS` for each task and method: `provlab.verdicts.panel_answers.answers`.

    Data sets at the ceiling or at chance are left out, and methods that were measured in fewer than `MIN_DOMAINS`
    domains.

    Parameters
    ----------
    panel : DataFrame
    cards : DataFrame
        Of each data set dataset, source, task and state.

    Returns
    -------
    DataFrame
        task, judge, size, method, and place, the kind of new data set, before the columns of `answers`.
    """
    told = cards[~cards["state"].isin(NO_VERDICT)]
    sources = dict(zip(told["dataset"], told["source"], strict=True))
    frames = []
    for task, of_task in told.groupby("task"):
        trials = panel[panel["dataset"].isin(of_task["dataset"])]
        trials = trials.assign(balanced_accuracy=trials["balanced_accuracy"].clip(lower=0))
        for size, judge in QUESTIONS:
            of_question = trials[(trials["model"] == judge) & (trials["size"] == size)]
            for method in sorted(of_question["method"].unique()):
                folds = folds_of_panel(trials, method, sources, size=size, model=judge)
                if folds["domain"].nunique() < MIN_DOMAINS:
                    continue
                answer = answers(fit(sets_of_folds(folds))).rename_axis("place").reset_index()
                names = {"task": task, "judge": judge, "size": size, "method": method}
                frames.append(pd.DataFrame([names] * len(answer)).join(answer))
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


def write_answers(folder: Path) -> Path:
    """Write the answers of the pieces in a folder beside them, and return the path."""
    cards = pd.read_csv(stored_folder() / CARDS, keep_default_na=False)
    panel = panel_of_pieces(read_pieces(folder), dict(zip(cards["dataset"], cards["domain"], strict=True)))
    write_frame(answer_frame(panel, cards).round(4), folder / ANSWERS)
    return folder / ANSWERS
