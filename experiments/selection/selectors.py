"""make reproduce-selectors | provsel reproduce selection/selectors [protocol.repeats=1] [artefact.only=[digits]]."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

from provlab.claims.ranking import rank_methods
from provlab.figures.looks import looks
from provlab.figures.style import TWO_COLUMNS, legend_of, save_figure, style
from provlab.frames import selection_seconds
from provlab.recipe import Recipe, Rendering
from provlab.tables import write_tables, write_text
from provsel.stability import stability

CLUSTERS = "clusters"
QUALITIES = {
    "error": ("test error of a linear SVM (%)", 1),
    CLUSTERS: ("clustering accuracy (%)", -1),
    "ratio": ("squared error over the best of rank k", 1),
    "stability": ("stability over folds", -1),
    "seconds": ("CPU seconds of a selection", 1),
}
"""What is measured, and the sign with which less is better."""
ALL = "all features"
ROUNDING = 1e-12


def summarise(entry, trials):
    size, _, kind = entry.column.partition(", ")
    if kind == CLUSTERS:
        accuracy = 100 * (1 - trials["error"].astype(float))
        return [{"column": entry.column, "value": accuracy.mean(), "sd": accuracy.std(ddof=1)}]
    folds = trials.assign(seconds=selection_seconds(trials)).groupby(["repeat", "fold"])
    means = folds[["error", "subset_frobenius_ratio", "seconds"]].mean().astype(float)
    numbers = {"error": 100 * means["error"], "ratio": means["subset_frobenius_ratio"], "seconds": means["seconds"]}
    lines = [
        {"column": f"{size}, {name}", "value": found.mean(), "sd": found.std(ddof=1)} for name, found in numbers.items()
    ]
    return [*lines, {"column": f"{size}, stability", **_stability(trials)}]


def _stability(trials):
    """Mean over repeats and draws of the index of the folds, and of its standard error; none where all are kept."""
    d, found = int(trials["n_features"].iloc[0]), []
    for _, part in trials.groupby(["repeat", "draw"]):
        chosen = [features for features in part["features"] if features is not None]
        if len(chosen) == len(part) > 1:
            found.append(stability(chosen, d))
    if not found:
        return {"value": np.nan, "sd": np.nan}
    return {"value": np.mean([each.index for each in found]), "sd": np.mean([each.variance**0.5 for each in found])}


def render(made: Rendering) -> str:
    frame = made.frame.assign(value=pd.to_numeric(made.frame["value"]))
    frame[["size", "quality"]] = frame["column"].str.split(", ", n=1, expand=True).fillna("error").to_numpy()
    advice = made.tables.with_name("advice.md")
    groups = list(_groups(frame, list(made.artefact.config.artefact.rows)))
    texts, pages = zip(*(_compare(made, *group) for group in groups), strict=True)
    head = ["# Which selector should I take?", "", *([made.note, ""] if made.note else [])]
    write_text(advice, "\n".join([*head, *pages]))
    return "\n".join([*texts, str(advice)])


def _groups(frame, methods):
    """Yield a suffix, what the data are, their numbers and the methods: all methods, and then all data."""
    having = frame.groupby("dataset", sort=False)["row"].unique()
    whole = [name for name, rows in having.items() if {*rows} == {*methods}]
    if whole:
        what = f"{len(whole)} data set{'s' if len(whole) > 1 else ''}"
        two = "" if len(whole) == len(having) else " of two classes"
        yield "", f"{what}{two}, all methods", frame[frame["dataset"].isin(whole)], methods
    if len(whole) < len(having):
        shared = [row for row in methods if all(row in rows for rows in having)]
        what = f"all {len(having)} data sets, methods for any number of classes"
        yield "_all_data", what, frame[frame["row"].isin(shared)], shared


def _compare(made, suffix, what, frame, methods):
    """Write the table and the figure of a group; return the table as text and a section of advice."""
    tables, figures = (path.with_name(path.name + suffix) for path in (made.tables, made.figures))
    means = frame.pivot_table(index="row", columns="quality", values="value", aggfunc="mean", sort=False)
    means = means.reindex(index=methods, columns=list(QUALITIES))
    ranked = {name: _ranked(frame, name, sign, methods) for name, (_, sign) in QUALITIES.items()}
    title = f"{made.artefact.title} ({what})"
    unscored = ", ".join(means.index[means[CLUSTERS].isna()])
    text = write_tables(
        tables,
        ["method", *QUALITIES],
        [[row, *(_cell(means.loc[row, name], ranked[name], row) for name in QUALITIES)] for row in methods],
        caption=f"{title}. Mean over data sets and sizes, and in parentheses the average rank, 1 the best.",
        note=f"{made.note} Ranks are of the data sets' means over sizes; two that differ by less than the "
        f"critical difference (Nemenyi, 5 %) are not told apart: {_differences(ranked)}. "
        f"Ratio: ||X - C C^+ X||_F^2 over that of the best rank {made.artefact.config.protocol.measures[0].k}, "
        "training rows; below 1 where more columns than that do better. LPSVM, L1-SVM, FS-SVM and alpha-investing may "
        f"keep fewer features than asked. No clusters of {unscored or 'none'}: labels, which they use, score clusters. "
        "Each size is in the CSV file.".strip(),
    )
    styles = looks(list(made.artefact.config.artefact.rows))  # the same in both figures
    paths = _draw(means, styles, figures, f"{title}: quality against time. {made.note}".strip())
    return "\n".join([text, *map(str, paths)]), "\n".join(_advice(means, ranked, what))


def _ranked(frame, quality, sign, methods):
    part = frame[(frame["quality"] == quality) & (frame["row"] != ALL)]
    table = part.pivot_table(index="dataset", columns="row", values="value", aggfunc="mean", sort=False)
    return rank_methods(sign * table.reindex(columns=[name for name in methods if name in table]))


def _cell(value, ranking, row):
    rank = "" if ranking is None or row not in ranking.ranks else f" ({ranking.ranks[row]:.1f})"
    return "" if np.isnan(value) else f"{value if abs(value) > ROUNDING else 0:.3g}{rank}"


def _differences(ranked):
    known = [f"{name} {found.critical_difference:.1f}" for name, found in ranked.items() if found is not None]
    return ", ".join(known) or "no test with fewer than two data sets"


def _front(means, quality):
    """Return the methods that no other one beats in quality and time together."""
    sign = QUALITIES[quality][1]
    known = means[["seconds", quality]].dropna().drop(index=ALL, errors="ignore")
    best, front = np.inf, []
    for row, (_, value) in (
        known.assign(**{quality: sign * known[quality]}).sort_values(["seconds", quality]).iterrows()
    ):
        if value < best:
            best = value
            front.append(row)
    return front


def _draw(means, styles, stem, title):
    shown = [name for name in QUALITIES if name != "seconds"]
    with style():
        figure = Figure(figsize=(TWO_COLUMNS, 6.4), layout="constrained")
        for panel, quality in zip(figure.subplots(2, 2).flat, shown, strict=True):
            for row in means.index:
                x, y = means.loc[row, ["seconds", quality]]
                panel.plot([x], [y], styles[row].marker, color=styles[row].colour, markersize=4, label=row)
            front = means.loc[_front(means, quality)]
            panel.plot(front["seconds"], front[quality], color="0.6", zorder=0, drawstyle="steps-post")
            panel.set_xscale("log")
            positive = means.loc[means[quality] > ROUNDING, quality]  # the ratio of all features is 0
            if quality == "ratio" and positive.size:
                panel.set_yscale("log")
                panel.set_ylim(positive.min() / 2, 2 * positive.max())
                panel.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
                panel.yaxis.set_minor_locator(NullLocator())
                panel.yaxis.set_major_formatter("{x:g}")
            panel.set_xlabel(QUALITIES["seconds"][0])
            panel.set_ylabel(QUALITIES[quality][0])
        legend_of(figure, [panel])
        return save_figure(figure, stem, title)


def _advice(means, ranked, what):
    """Say what the numbers carry, and where they carry nothing."""
    lines = [f"## From {what}", ""]
    for quality, (label, _) in QUALITIES.items():
        found, front = ranked[quality], _front(means, quality) if quality != "seconds" else []
        lines += [f"### {label[0].upper()}{label[1:]}", ""]
        if found is None:
            lines += ["No test: it takes two data sets and three methods that have this number on all.", ""]
            continue
        best = found.ranks.index[0]
        alike = [row for row in found.ranks.index if found.ranks[row] < found.ranks.iloc[0] + found.critical_difference]
        told = f"Friedman's test that all are the same: p = {found.p_value:.2g}, {found.n} data sets."
        if found.p_value >= 0.05:
            lines += [f"{told} No method is to be preferred for this.", ""]
            continue
        lines += [f"{told} Best average rank: {best} ({found.ranks.iloc[0]:.1f}).", ""]
        near = f"Not told apart from it, within the critical difference of {found.critical_difference:.1f} ranks"
        lines += [f"{near}: {'; '.join(alike[1:]) or 'none'}.", ""]
        if quality == "seconds":
            continue
        lines += [f"Of these the fastest: {means.loc[alike, 'seconds'].idxmin()}.", ""]
        if "random" in alike:
            lines += ["Random features are among them: these data sets do not tell the best from chance.", ""]
        lines += [f"No other is better and faster, by the means: {'; '.join(front)}.", ""] if front else []
    return lines


READ = ["error", "features", "n_features", "subset_frobenius_ratio", "select_cpu", "shared_cpu", "pass_cpu"]
RECIPE = Recipe("selection/selectors", render, summarise=summarise, columns=READ)
