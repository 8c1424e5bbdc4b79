"""make reproduce-ofs-figure1 | provsel reproduce wang2018/ofs-figure1 [protocol.repeats=1] [artefact.only=[AR]]."""

import pandas as pd

from provlab.core.frames import seed_summary
from provlab.core.recipe import Recipe, Rendering
from provlab.core.tables import Traced, write_tables
from provlab.report.figures.curves import KEPT, draw_curves, with_kept


def render(made: Rendering) -> str:
    config = made.artefact.config
    drawn = made.frame[made.frame["column"].str.fullmatch(rf"\d+({KEPT})?")].astype({"value": float})
    how = f"k-means, mean and sd over seeds: {config.protocol.repeats}"
    title = f"{made.artefact.title} ({how}). {made.note}".strip()
    axes = {"ylabel": "clustering accuracy (%)", "from_zero": True}  # as the paper's
    paths = draw_curves(drawn, made.figures, title, flat="k-means", **axes)
    accuracy = with_kept(drawn)
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
    sizes, seeds = list(config.artefact.columns), config.protocol.repeats
    others = accuracy[accuracy["row"] != "k-means"]
    is_other = (others["x"] != others["column"].astype(float)) | (others["left"] < others["right"])
    cells = {
        (name, row, column): Traced(f"{x:.1f} ± {right - x:.1f}", row, column, name)
        for name, row, column, x, right in others[["dataset", "row", "column", "x", "right"]].itertuples(index=False)
    }
    places = others[is_other].drop_duplicates(["dataset", "row"])[["dataset", "row"]].itertuples(index=False, name=None)
    text += "\n" + write_tables(
        made.tables.with_name(f"{made.tables.name}-kept"),
        ["data set", "method", *sizes],
        [[*place, *(cells.get((*place, size), "") for size in sizes)] for place in sorted(places)],
        caption=f"Features kept by methods that do not keep as many as asked: mean and sd over {seeds} seeds.",
        note=f"{made.note} The curves of the figure are drawn at these numbers.".strip(),
    )
    return text + "\n" + "\n".join(str(path) for path in paths)


def _text(value):
    return "" if pd.isna(value) else f"{value:.2f}"


READ = ["error", "nmi", "ari", "n_selected"]
RECIPE = Recipe("wang2018/ofs-figure1", render, summarise=seed_summary, columns=READ, unit="clustering accuracy (%)")
