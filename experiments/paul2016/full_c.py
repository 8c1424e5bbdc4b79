"""make reproduce-full_c | provsel reproduce paul2016/full_c [protocol.repeats=1] [dataset.set=[A,B]]."""

from provlab.core.recipe import Recipe, Rendering
from provlab.core.tables import write_tables

from .many_datasets import mean_over_datasets


def render(made: Rendering) -> str:
    columns, n_sets = list(made.artefact.config.artefact.columns), made.frame["dataset"].nunique()
    means, spread = "", "standard deviation"
    if n_sets > 1:
        means, spread = f", mean over {n_sets} data sets", "mean of the data sets' standard deviations"
    return write_tables(
        made.tables,
        ["", *columns],
        mean_over_datasets(made.frame, baseline=""),
        caption=f"{made.artefact.title}: test error in %{means}.",
        note=f"{made.note} In parentheses: the {spread} over folds.".strip(),
    )


RECIPE = Recipe("paul2016/full_c", render, unit="test error (%)")
