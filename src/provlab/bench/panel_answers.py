"""Answers of the benchmark, as probabilities: whether selection helps, with which methods, and on which data.

The input is the stored panel and the cards. The output is `_answers.csv`, with a row
for each method, judge, number of features and kind of new data set, and tables of ranks
and pairs. Each answer is about the difference from all features with the same judge, in
points of balanced error or of unexplained variance, 100 (1 - R^2), capped at 100.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from provlab.bench.methods import TASKS, Task, panel_methods
from provlab.bench.panel import CARDS
from provlab.bench.stored_panel import read_overlaps, read_panel, rounded
from provlab.bench.studies import study_answers
from provlab.core.tables import write_frame
from provlab.verdicts.panel_answers import (
    MIN_DOMAINS,
    SAME_DOMAINS,
    answers,
    by_covariate,
    without_each_domain,
)
from provlab.verdicts.panel_families import families
from provlab.verdicts.panel_frame import CHOSEN_SIZE, OWN_SIZE
from provlab.verdicts.panel_model import fit, folds_of_panel, sets_of_folds
from provlab.verdicts.panel_pairs import compared_with_all
from provlab.verdicts.panel_ranking import leaderboard
from provlab.verdicts.panel_scores import ERROR_OF, Scores

LEADERBOARD, AGAINST_ALL, ANSWERS = (
    "_leaderboard.csv",
    "_against_all.csv",
    "_answers.csv",
)

BESIDE_RANDOM = "_beside_random.csv"

STUDIES = "_studies.csv"

TOLD_SIZE = 20
"""Number of features in the sentences."""

N_NAMED = 3
"""Number of methods named in a sentence."""

QUESTIONS = (
    (CHOSEN_SIZE, "linear"),
    (20, "linear"),
    (20, "boosting"),
    (20, "neighbours"),
    (OWN_SIZE, "linear"),
)
"""Pairs of a number of features and a judge for which answers are written."""

SHAPED = "linear"
"""Judge for which there are also answers by the shape of the data, and without each domain."""

SHAPES = (
    "few rows",
    "many rows",
    "few columns",
    "many columns",
    "few zeros",
    "many zeros",
)
"""Kinds of data sets, at the quartiles of rows, columns or the share of zeros, with the others at their average."""

WITHOUT = "without "
"""Precedes the name of a domain in the place of an answer for a new domain from the data of all other domains."""

NAMES = ["task", "judge", "size", "method", "place"]
"""Columns that identify an answer."""

NO_VERDICT = ("ceiling", "chance")
"""States of data sets whose errors do not distinguish methods, see `provlab.bench.cards.state_of`."""


def answer_frame(panel: pd.DataFrame, cards: pd.DataFrame) -> pd.DataFrame:
    """Return the answers to `QUESTIONS` for each task and method: `provlab.verdicts.panel_answers.answers`.

    Data sets at the ceiling or at chance are left out, as are methods measured in fewer
    than `MIN_DOMAINS` domains.

    Parameters
    ----------
    panel : DataFrame
    cards : DataFrame
        One row per data set: dataset, source, task, state, rows; prepared, the number
        of columns; and nonzero, the share of values other than 0.

    Returns
    -------
    DataFrame
        The columns task, judge, size, method and place, the kind of new data set,
        followed by those of `answers`. The places of `SHAPES` are in a new domain, as
        are those that begin with `WITHOUT`, which are about `TOLD_SIZE` features. Their
        judge is `SHAPED`.
    """
    questions = []
    for task, trials, judged in _tasks(panel, cards):
        shapes = pd.DataFrame({
            "rows": np.log10(judged["rows"]), "columns": np.log10(judged["prepared"]), "zeros": 1 - judged["nonzero"],
        })  # fmt: skip
        shapes.index = judged["dataset"]
        for size, judge in QUESTIONS:
            of_question = trials[(trials["model"] == judge) & (trials["size"] == size)]
            for method in sorted(of_question["method"].unique()):
                folds = folds_of_panel(
                    trials, method, _sources(judged), size=size, model=judge
                )
                if folds["domain"].nunique() >= MIN_DOMAINS:
                    questions.append(
                        delayed(_answer)(folds, shapes, task, judge, size, method)
                    )
    return _joined(Parallel(n_jobs=-1)(questions))


def _answer(
    folds: pd.DataFrame,
    shapes: pd.DataFrame,
    task: str,
    judge: str,
    size: int,
    method: str,
) -> pd.DataFrame:
    """Return the answers of `answer_frame` to one question about one method."""
    sets = sets_of_folds(folds)
    parts = [answers(fit(sets))]
    if judge == SHAPED:
        with_shapes = sets_of_folds(folds.join(shapes, on="dataset"), [*shapes])
        parts.append(by_covariate(with_shapes, [*shapes]).set_axis([*SHAPES]))
        if size == TOLD_SIZE and folds["domain"].nunique() > MIN_DOMAINS:
            parts.append(without_each_domain(sets).rename(WITHOUT.__add__))
    return _named(pd.concat(parts), task, judge, size, method)


def beside_random(panel: pd.DataFrame, cards: pd.DataFrame) -> pd.DataFrame:
    """Return the answers about methods that approximate X by columns, compared with random features.

    The number of features is `TOLD_SIZE`, and the judge is `SHAPED`. The columns are
    those of `answer_frame`.
    """
    frames = []
    for task, trials, judged in _tasks(panel, cards):
        measured = {*trials["method"]}
        for method, entry in panel_methods().items():
            if entry.family != "subset" or method not in measured:
                continue
            folds = folds_of_panel(
                trials,
                method,
                _sources(judged),
                size=TOLD_SIZE,
                model=SHAPED,
                reference="random",
            )
            if folds["domain"].nunique() < MIN_DOMAINS:
                continue
            frames.append(
                _named(
                    answers(fit(sets_of_folds(folds))), task, SHAPED, TOLD_SIZE, method
                )
            )
    return _joined(frames)


def _named(
    answer: pd.DataFrame, task: str, judge: str, size: int, method: str
) -> pd.DataFrame:
    """Return an answer preceded by the columns that identify it."""
    answer = answer.rename_axis("place").reset_index()
    names = {"task": task, "judge": judge, "size": size, "method": method}
    return pd.DataFrame([names] * len(answer)).join(answer)


def _joined(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    if not frames:
        return pd.DataFrame(columns=NAMES)
    return pd.concat(frames, ignore_index=True).astype(
        {"sources": "Int64", "sets": "Int64"}
    )


def _tasks(
    panel: pd.DataFrame, cards: pd.DataFrame
) -> Iterator[tuple[str, pd.DataFrame, pd.DataFrame]]:
    """Yield each task with its trials and its cards, without data sets that support no verdict."""
    judged = cards[~cards["state"].isin(NO_VERDICT)]
    for task, of_task in judged.groupby("task"):
        yield str(task), panel[panel["dataset"].isin(of_task["dataset"])], of_task


def _sources(cards: pd.DataFrame) -> dict[str, str]:
    return dict(zip(cards["dataset"], cards["source"], strict=True))


def write_results(folder: Path) -> Iterator[Path]:
    """Write the results of a stored panel as CSV files into its folder, and yield each path.

    `_leaderboard.csv` has a row for each task and method, see
    `provlab.verdicts.panel_ranking.leaderboard`. `_against_all.csv` compares each
    method with all features at each size, over all domains, over all sources, and in
    each domain that is judged separately, see `provlab.verdicts.panel_pairs.pairs`.
    `_answers.csv` is `answer_frame`, `_beside_random.csv` is `beside_random`, and
    `_studies.csv` is `provlab.bench.studies.study_answers`.
    """
    panel = read_panel(folder)
    boards = {}
    compared = {}
    for task in TASKS:
        scores = Scores.of(panel, task)
        if scores.lines.empty:
            continue
        boards[task] = leaderboard(scores)
        for domain, table in compared_with_all(scores).items():
            compared[task, domain] = table
    frames = {
        LEADERBOARD: pd.concat(boards, names=["task", "method"]).reset_index(),
        AGAINST_ALL: pd.concat(compared, names=["task", "domain"]).reset_index(),
    }
    for name, frame in frames.items():
        numbers = frame.select_dtypes("float").apply(rounded, digits=6)
        write_frame(frame.assign(**numbers), folder / name)
        yield folder / name
    cards = pd.read_csv(folder / CARDS, keep_default_na=False)
    alike = {task: families(read_overlaps(folder, task)) for task in TASKS}
    for name, frame in {
        ANSWERS: answer_frame(panel, cards),
        BESIDE_RANDOM: beside_random(panel, cards),
    }.items():
        groups = [
            alike[task].get(method, method)
            for task, method in zip(frame["task"], frame["method"], strict=True)
        ]
        frame.insert(frame.columns.get_loc("place"), "alike", groups)
        write_frame(frame.round(4), folder / name)
        yield folder / name
    write_frame(study_answers(panel, folder).round(3), folder / STUDIES)
    yield folder / STUDIES


def medians(answers: pd.DataFrame) -> pd.Series:
    """Return the median probabilities over methods. Methods that select nearly the same features count as one.

    The probabilities of such methods are averaged first.
    """
    means_of_groups = answers.groupby("alike")[["better", "within", "worse"]].mean()
    return means_of_groups.median()


def n_different(answers: pd.DataFrame) -> str:
    """Return in words how many methods and how many different ones there are answers for."""
    n_methods, n_groups = answers["method"].nunique(), answers["alike"].nunique()
    return (
        f"{n_methods} methods"
        if n_methods == n_groups
        else f"{n_methods} methods, {n_groups} different ones"
    )


def stored_answers(folder: Path, task: Task) -> list[str]:
    """Return sentences on whether selection helps, from the stored answers of a task, if there are any."""
    path = folder / ANSWERS
    if not path.is_file():
        return []
    lines = pd.read_csv(path)
    lines = lines[(lines["task"] == task) & (lines["place"] == SAME_DOMAINS)]
    chosen = lines[(lines["size"] == CHOSEN_SIZE) & (lines["judge"] == "linear")]
    if chosen.empty:
        return []
    best = chosen.nlargest(N_NAMED, "better")
    shares = 100 * medians(chosen)
    named = [f"{line.method} ({100 * line.better:.0f} %)" for line in best.itertuples()]
    sentences = [
        f"With a linear model and a number of features that cross-validation chooses, selection changes the "
        f"{ERROR_OF[task]} of a new data set by at most a point with probability {shares['within']:.0f} %, lowers it "
        f"by more with {shares['better']:.0f} % and raises it by more with {shares['worse']:.0f} % (medians of "
        f"{n_different(chosen)}).",
        f"The methods most likely to lower it are {', '.join(named)}.",
    ]
    for judge, model in (("linear", "a linear model"), ("boosting", "boosted trees")):
        at_size = lines[(lines["size"] == TOLD_SIZE) & (lines["judge"] == judge)]
        if len(at_size):
            better, worse = 100 * medians(at_size)[["better", "worse"]]
            sentences.append(
                f"With {TOLD_SIZE} features instead of all and {model}, it is lower by more than a point with "
                f"probability {better:.0f} % and higher with {worse:.0f} % (medians of {n_different(at_size)})."
            )
    return sentences
