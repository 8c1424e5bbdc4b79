"""make reproduce-ofs-figure1 | provsel reproduce wang2018/ofs-figure1 [protocol.repeats=1] [artefact.only=[AR]]."""

import pandas as pd

from provlab.figures.curves import draw_curves
from provlab.frames import seed_summary
from provlab.recipe import Recipe, Rendering
from provlab.tables import write_tables


def render(made: Rendering) -> str:
    config, accuracy = made.artefact.config, made.frame[made.frame["column"].str.isdecimal()].astype({"value": float})
    how = f"k-means, mean and sd over seeds: {config.protocol.repeats}"
    title = f"{made.artefact.title} ({how}). {made.note}".strip()
    axes = {"ylabel": "clustering accuracy (%)", "from_zero": True}  # as the paper's
    paths = draw_curves(accuracy, made.figures, title, flat="k-means", **axes)
    table = accuracy.groupby(["row", "dataset"], sort=False)["value"].mean().unstack(sort=False)
    datasets = list(table.columns)
    text = write_tables(
        made.tables,
        ["method", *datasets],
        [[row, *(_text(table.loc[row, name]) for name in datasets)] for row in config.artefact.rows],
        caption=f"Figure 1 in numbers. {made.artefact.title}: accuracy in %, mean over the numbers of features.",
        note=f"{made.note} Random: as many features at random, which the paper does not have. NMI, ARI and the number "
        "of features that were kept are in the CSV file.".strip(),
    )
    return text + "\n" + "\n".join(str(path) for path in paths)


def _text(value):
    return "" if pd.isna(value) else f"{value:.2f}"


READ = ["error", "nmi", "ari", "n_selected"]
RECIPE = Recipe("wang2018/ofs-figure1", render, summarise=seed_summary, columns=READ, unit="clustering accuracy (%)")
