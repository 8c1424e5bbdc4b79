"""make reproduce-feature-selective-peers | provsel reproduce giesen2013/feature-selective-peers [--render]."""

import math

from provlab.core.frames import fold_means, mean_lines
from provlab.core.recipe import Recipe, Rendering, printed
from provlab.core.tables import Traced, write_tables
from provlab.report.figures.curves import KEPT, draw_curves

READ = ["error", "n_selected"]


def summarise(entry, trials):
    folds = fold_means(trials, READ)
    return mean_lines(
        {
            entry.column: 100 * folds["error"],
            f"{entry.column}{KEPT}": folds["n_selected"],
        }
    )


def render(rendering: Rendering) -> str:
    sizes = list(rendering.artefact.config.artefact.columns)
    numbers = rendering.frame.set_index(["dataset", "row", "column"])["value"].astype(
        float
    )
    errors = rendering.frame[rendering.frame["column"].isin(sizes)]
    rows = []
    for dataset, row in dict.fromkeys(
        zip(errors["dataset"], errors["row"], strict=True)
    ):
        cells = [cell(numbers, dataset, row, size) for size in sizes]
        rows.append([dataset, row, *cells])
    table = write_tables(
        rendering.tables,
        ["data set", "method", *sizes],
        rows,
        caption=f"{rendering.artefact.title}: test error in % of the same SVM on each selection ({rendering.folds}).",
        note=f"{rendering.note} In brackets the mean number kept where a method has no setting with as many features; "
        "the figure has each at the number kept. Full: all features, whatever the column.".strip(),
    )
    title = f"{rendering.artefact.title} ({rendering.folds}). {rendering.note}".strip()
    return printed(
        table,
        draw_curves(
            rendering.frame,
            rendering.figures,
            title,
            ylabel="test error (%)",
            flat="Full",
            log="x",
        ),
    )


def cell(numbers, dataset, row, size):
    """Return the error, with the number of features kept where that is another than asked for."""
    error = numbers.get((dataset, row, size), math.nan)
    kept = numbers.get((dataset, row, f"{size}{KEPT}"), math.nan)
    text = "" if math.isnan(error) else f"{error:.1f}"
    if text and not kept >= int(size):
        text += f" [{kept:.0f}]"
    return Traced(text, row, size, dataset)


RECIPE = Recipe(
    "giesen2013/feature-selective-peers",
    render,
    summarise=summarise,
    columns=READ,
    unit="test error (%)",
)
